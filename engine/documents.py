"""What the JSON documents of recordings hold, and all that is wrong with one that is damaged.

A shape is a type, which an enumeration is too; `[shape]`, a list of these; `Each(shape)`, keys of
any name with such values; or keys by their names, of which those that end in `?` may be missing.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from enum import EnumType
from typing import Any

from msgspec import Struct

from whitecap.engine.errors import InvalidInput, Problem, not_json, require_format
from whitecap.engine.recorded import (
    MADE_ANEW,
    PRICE,
    RECORDING_FORMAT,
    SWEEP_FORMAT,
    TABLES,
    AxisRole,
    Direction,
    Measure,
)


class Each(Struct, frozen=True):
    """Keys of any name, with values of this shape."""

    shape: Any


class DocumentKind(Struct, frozen=True):
    """A kind of document: its format, its shape, and what to do about one that is damaged."""

    format_version: int
    shape: Mapping[str, Any]
    remedy: str

    def read(self, text: str | bytes, place: str) -> dict[str, Any]:
        """What the text says. Raises `InvalidInput`: it has another format, or is damaged."""
        try:
            content = json.loads(text)
        except UnicodeDecodeError:
            raise self._damaged(place, "it is not text in UTF-8") from None
        except json.JSONDecodeError as error:
            raise self._damaged(place, not_json(error)) from None
        if not isinstance(content, dict):
            raise self._damaged(place, "it holds no keys with values")
        version = content.get("format_version", self.format_version)
        require_format(version, self.format_version, place, MADE_ANEW)
        self.require(content, place)
        return content

    def require(self, content: Mapping[str, Any], place: str) -> None:
        """Raises `InvalidInput` with everything in which the content has not this shape."""
        if wrong := list(_misfits(content, self.shape)):
            raise self._damaged(place, "; ".join(wrong))

    def _damaged(self, place: str, what: str) -> InvalidInput:
        return InvalidInput([Problem(place, f"is damaged: {what} ({self.remedy})")])


def _misfits(value: Any, shape: Any, path: str = "") -> Iterator[str]:
    """In what a value has not a shape."""
    match shape, value:
        case Each(shape=inner), dict():
            for name, part in value.items():
                yield from _misfits(part, inner, f"{path}.{name}")
        case dict(), dict():
            yield from _misfits_by_name(value, shape, path)
        case [inner], list():
            for position, part in enumerate(value):
                yield from _misfits(part, inner, f"{path}.{position}")
        case (Each() | dict(), _) | ([_], _):
            yield _needs(path, "a list" if isinstance(shape, list) else "keys with values", value)
        case EnumType(), _ if value not in list(shape):
            yield f"{path[1:]} is {_shown(value)}, none of {', '.join(shape)}"
        case _ if not (isinstance(shape, EnumType) or _is_of(value, shape)):
            yield _needs(path, _SAID[shape], value)


def _misfits_by_name(
    content: Mapping[str, Any], shape: Mapping[str, Any], path: str
) -> Iterator[str]:
    for name, inner in shape.items():
        key = name.removesuffix("?")
        inside = f"{path}.{key}"
        if key in content:
            yield from _misfits(content[key], inner, inside)
        elif key == name:
            yield f"{inside[1:]} is missing"


def _is_of(value: Any, shape: Any) -> bool:
    """Python counts true and false among the whole numbers."""
    is_number = not isinstance(value, bool)
    return isinstance(value, shape) and (is_number or shape in (bool, object))


def _needs(path: str, what: str, value: Any) -> str:
    return f"{path[1:]} needs {what}, not {_shown(value)}"


_LONGEST = 40
"""Characters of a wrong value that are shown."""


def _shown(value: Any) -> str:
    text = json.dumps(value, ensure_ascii=False)
    return text if len(text) <= _LONGEST else f"{text[: _LONGEST - 3]}..."


_NUMBER = int | float
_SAID = {
    str: "text",
    str | None: "text or null",
    int: "a whole number",
    int | None: "a whole number or null",
    _NUMBER: "a number",
    bool: "true or false",
}

_OBJECTIVES = [{"measure": Measure, "of": str | None, "direction": Direction, "threshold": _NUMBER}]

MANIFEST = DocumentKind(
    RECORDING_FORMAT,
    {
        "scenario_name": str,
        "scenario_hash": str,
        "seed": int,
        "replication": int,
        "code_version": str,
        "warm_up_ms": _NUMBER,
        "duration_ms": _NUMBER,
        "planned_duration_ms?": _NUMBER,
        "interrupted?": bool,
        "dialect?": str,
        "labels?": Each(str),
        "objectives?": _OBJECTIVES,
        "store?": {"profile": str, "assumptions": Each(str), "set_by_scenario": [str]},
        "live_rows?": int | None,
        "lost_commits?": int,
        "doubled_commits?": int,
        "findings?": Each(int),
        "real_tables?": Each({"place": str, "version": int, "left_out": [object]}),
        f"{TABLES}?": [str],
        f"{PRICE}?": {"per_slot_hour": _NUMBER, "currency": str},
        "tables?": Each({"rows?": int, "sha256?": str}),
    },
    "run it again, with --overwrite",
)
"""The `manifest.json` of a run."""

DEFINITION = DocumentKind(
    SWEEP_FORMAT,
    {
        "scenario_name": str,
        "scenario_hash": str,
        "seed": int,
        "replications": int,
        "begun_with?": int,
        "axes": Each(Each(Each(object))),
        "cells": [{"name": str, "labels": Each(str)}],
        "until?": [str],
        "axis_roles?": Each(AxisRole),
        "lightest_first?": Each([str]),
        "objectives?": _OBJECTIVES,
        "scenario?": Each(object),
    },
    "sweep again, into another place",
)
"""The `sweep.json` of a sweep."""

ANSWER = DocumentKind(
    1, {"cell": str}, "`whitecap report` writes it anew; or name a --cell instead of its"
)
"""The `answer.json` of a report, as far as it says what is replayed; its format never changed."""
