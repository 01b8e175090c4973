"""The base of every part of a scenario file, and the rule `exactly one of these keys`."""

from __future__ import annotations

from typing import Any, ClassVar, Self

from pydantic import BaseModel, ConfigDict, model_validator


class Section(BaseModel):
    """A mapping in a scenario file: frozen, and no key that it does not know."""

    model_config = ConfigDict(extra="forbid", frozen=True, populate_by_name=True)


class OneOf(Section):
    """A mapping that must hold exactly one of its alternatives.

    A choice without options may be written as a bare word: `newest` for `{newest: {}}`.
    """

    shared: ClassVar[frozenset[str]] = frozenset()
    """Fields that may stand beside any alternative."""

    @model_validator(mode="before")
    @classmethod
    def _word_is_a_choice_without_options(cls, given: Any) -> Any:
        return {given: {}} if isinstance(given, str) and given in cls.model_fields else given

    @model_validator(mode="after")
    def _exactly_one(self) -> Self:
        if len(self.chosen_names()) != 1:
            names = ", ".join(name for name in type(self).model_fields if name not in self.shared)
            raise ValueError(f"give exactly one of {names}")
        return self

    def chosen_names(self) -> list[str]:
        """The alternatives that are given."""
        names = (name for name in type(self).model_fields if name not in self.shared)
        return [name for name in names if getattr(self, name) is not None]

    @property
    def chosen(self) -> Any:
        """The value of the one alternative that is given."""
        return getattr(self, self.chosen_names()[0])
