"""The base of every part of a scenario file, and the rule `exactly one of these keys`."""

from __future__ import annotations

from typing import Any, ClassVar, Self

from pydantic import BaseModel, ConfigDict, model_validator

from whitecap.engine.remembered import once_for_each


class Section(BaseModel):
    """A mapping in a scenario file: frozen, and no key that it does not know."""

    model_config = ConfigDict(
        extra="forbid", frozen=True, populate_by_name=True, allow_inf_nan=False
    )


def word_of(section: type) -> str:
    """What users call it, in the schema and on the page of keys.

    The engine has a store, a table and rows too: the class of such a section ends in `Section`.
    """
    return section.__name__.removesuffix(Section.__name__)


class OneOf(Section):
    """A mapping that must hold exactly one of its alternatives.

    A choice without options may be written as a bare word: `newest` for `{newest: {}}`.
    """

    shared: ClassVar[frozenset[str]] = frozenset()
    """Fields that may stand beside any alternative."""

    @model_validator(mode="before")
    @classmethod
    def _word_is_a_choice_without_options(cls, given: Any) -> Any:
        if not isinstance(given, str):
            return given
        if given not in cls.model_fields:
            raise ValueError(f"{given!r} is none of {', '.join(cls.alternatives())}")
        return {given: {}}

    @model_validator(mode="after")
    def _exactly_one(self) -> Self:
        if len(self.chosen_names()) != 1:
            raise ValueError(f"give exactly one of {', '.join(self.alternatives())}")
        return self

    def chosen_names(self) -> list[str]:
        """The alternatives that are given."""
        return [name for name in self.alternatives() if getattr(self, name) is not None]

    @classmethod
    def alternatives(cls) -> list[str]:
        """The keys of which exactly one must be given."""
        return [name for name in cls.model_fields if name not in cls.shared]

    @property
    def chosen(self) -> Any:
        """The value of the one alternative that is given."""
        return _chosen(self)


@once_for_each
def _chosen(one_of: OneOf) -> Any:
    return getattr(one_of, one_of.chosen_names()[0])
