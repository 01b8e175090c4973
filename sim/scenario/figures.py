"""Every figure of a store with where it is from: what is listed, and what a recording tells."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from msgspec import Struct

from whitecap.sim.quantities.distributions import Distribution
from whitecap.sim.quantities.section import Section
from whitecap.sim.scenario.origin import ORIGIN, Basis, Sourced
from whitecap.sim.scenario.store import ConditionalPut, StoreSection


class ProfileFigure(Struct, frozen=True):
    """One figure: the dotted path that sets it in `store`, what it says, and its `origin`.

    `distribution` where it is drawn from one, `text` in any case as a scenario would write it.
    """

    path: str
    text: str
    distribution: Distribution | None
    origin: Sourced

    @property
    def section(self) -> str:
        """The path of the part of a profile that it stands in."""
        return self.path.rpartition(".")[0]

    @property
    def name(self) -> str:
        """Its own name there."""
        return self.path.rpartition(".")[2]

    @property
    def assumption(self) -> str | None:
        """What it takes for granted."""
        return self.origin.assumption_about(self.name)


def figures_of(store: StoreSection) -> list[ProfileFigure]:
    """All figures, in the order of the profile's keys."""
    written = store.model_dump(mode="json", by_alias=True, exclude_none=True)
    return [
        ProfileFigure(path, _text(_at(written, path)), _distribution(value), origin)
        for path, value, origin in _figures(store, "")
    ]


def assumptions_of(store: StoreSection) -> dict[str, str]:
    """What is taken for granted, by the path of a part of the store, or of a figure of it."""
    return {path: said for at, part in _parts(store, "") for path, said in _assumed(at, part)}


def _assumed(at: str, part: Sourced) -> list[tuple[str, str]]:
    match part.assumption:
        case dict() as by_figure:
            return [(f"{at}.{name}", said) for name, said in by_figure.items()]
        case str() as of_all:
            return [(at, of_all)]
    return []


def origins_of(store: StoreSection) -> dict[str, Any]:
    """What a recording's manifest says of its store."""
    parts = list(_parts(store, ""))
    return {
        "profile": store.profile,
        "assumptions": assumptions_of(store),
        "set_by_scenario": [path for path, part in parts if part.basis is Basis.GIVEN],
    }


def _sections(section: Section, at: str) -> Iterator[tuple[str, Any]]:
    """The fields of a section that are given, by path."""
    for name, field in type(section).model_fields.items():
        value = getattr(section, name)
        if value is not None and name not in ORIGIN:
            yield f"{at}{field.alias or name}", value


def _parts(section: Section, at: str) -> Iterator[tuple[str, Sourced]]:
    for path, value in _sections(section, at):
        if isinstance(value, Sourced):
            yield path, value
        if isinstance(value, ConditionalPut):
            yield from _parts(value, f"{path}.")


def _figures(section: Section, at: str) -> Iterator[tuple[str, Any, Sourced]]:
    for path, value in _sections(section, at):
        match value:
            case ConditionalPut(out=Distribution() as out):
                yield f"{path}.out", out, value.success
                yield from _figures(value, f"{path}.")
            case ConditionalPut():
                yield from _figures(value, f"{path}.")
            case Sourced():
                for inner, figure in _sections(value, f"{path}."):
                    yield inner, figure, value


def _distribution(value: Any) -> Distribution | None:
    return value if isinstance(value, Distribution) else None


def _at(written: Any, path: str) -> Any:
    for part in path.split("."):
        written = written[part]
    return written


def _text(value: Any) -> str:
    match value:
        case list():
            return ", ".join(map(str, value))
        case bool():
            return "yes" if value else "no"
        case dict():
            return ", ".join(f"{key} {_text(part)}" for key, part in value.items())
        case float():
            return f"{value:g}"
        case _:
            return str(value)
