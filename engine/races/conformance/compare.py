"""Holds what a case expects against what was found, key by key, for either kind of engine."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping
from datetime import UTC, date, datetime
from decimal import Decimal, InvalidOperation
from typing import Any

from whitecap.engine.races.conformance.case import Case, CaseResult, CaseStatus, UnmetExpectation
from whitecap.engine.values.types import WIDE

NOT_FOUND = "(nothing)"
"""Shown where a case expects a value and the engine came to none."""


def judge(case: Case, observed: Mapping[str, Any]) -> CaseResult:
    """Passed if every key under `expect` holds; `observed` has the same keys, and `message`."""
    differences = tuple(
        UnmetExpectation(key, expected, _shown(key, observed))
        for key, expected in case.expect.items()
        if not _holds(key, expected, observed)
    )
    status = CaseStatus.FAILED if differences else CaseStatus.PASSED
    return CaseResult(case.id, status, differences)


def skipped(case: Case, reason: str) -> CaseResult:
    """A case that the engine cannot run, with what it lacks."""
    return CaseResult(case.id, CaseStatus.SKIPPED, reason=reason)


def failed(case: Case, key: str, expected: Any, actual: Any) -> CaseResult:
    """A case that could not be held against all it expects: `key` says what is in the way."""
    return CaseResult(case.id, CaseStatus.FAILED, (UnmetExpectation(key, expected, actual),))


def _row_bag(rows: Iterable[Mapping[str, Any]]) -> list[str]:
    """Rows as a bag: their texts in order, whatever the order of rows and columns was."""
    return sorted(str(sorted((name, _plain(value)) for name, value in row.items())) for row in rows)


_INSTANT = re.compile(r"\d{4}-\d\d-\d\d[ T]\d\d:\d\d(?::\d\d(?:\.\d+)?)?(?:Z|[+-]\d\d:?\d\d)?\Z")
_FRACTION = re.compile(r"[+-]?\d+\.\d+\Z")


def _plain(value: Any) -> str:
    """A value's text, the same however JSON wrote it: instants in UTC, numbers by their value."""
    match value:
        case datetime():
            aware = value if value.tzinfo else value.replace(tzinfo=UTC)
            return aware.astimezone(UTC).isoformat()
        case date():
            return value.isoformat()
        case float() | Decimal():
            return _number(str(value))
        case str() if _INSTANT.match(value):
            return _plain(datetime.fromisoformat(value))
        case str() if _FRACTION.match(value):
            return _number(value)
        case Mapping():
            return str(sorted((str(key), _plain(entry)) for key, entry in value.items()))
        case list() | tuple():
            return str([_plain(element) for element in value])
    return str(value)


def _number(text: str) -> str:
    try:
        return f"{Decimal(text).normalize(WIDE):f}"
    except InvalidOperation:
        return text


def _shown(key: str, observed: Mapping[str, Any]) -> Any:
    if key == "message_contains":
        return observed.get("message", NOT_FOUND)
    return observed.get(key, NOT_FOUND)


def _holds(key: str, expected: Any, observed: Mapping[str, Any]) -> bool:
    if expected is None:
        return not _is_observed(observed.get(key))
    rule = _RULES.get(key)
    if rule is not None:
        return rule(expected, observed)
    return key in observed and bool(observed[key] == expected)


def _is_observed(value: Any) -> bool:
    """Whether there is a value: an empty text and an empty mapping are as good as none."""
    return value is not None and value != "" and value != {}


def _message_contains(expected: Any, observed: Mapping[str, Any]) -> bool:
    return str(expected) in str(observed.get("message", ""))


def _rows(expected: Any, observed: Mapping[str, Any]) -> bool:
    return "rows" in observed and _row_bag(observed["rows"]) == _row_bag(expected)


def _winner(expected: Any, observed: Mapping[str, Any]) -> bool:
    """A winner that had nothing to do also counts as `committed`: it ended without an error."""
    wanted = expected if isinstance(expected, list) else [expected]
    endings = observed.get("winner", [])
    endings = endings if isinstance(endings, list) else [endings]
    ended = {"committed": {"committed", "nothing_to_commit"}}
    return len(endings) == len(wanted) and all(
        ending in ended.get(want, {want}) for want, ending in zip(wanted, endings, strict=True)
    )


def _same_set(key: str) -> Callable[[Any, Mapping[str, Any]], bool]:
    def rule(expected: Any, observed: Mapping[str, Any]) -> bool:
        return key in observed and sorted(observed[key]) == sorted(expected)

    return rule


def _within(key: str) -> Callable[[Any, Mapping[str, Any]], bool]:
    def rule(expected: Any, observed: Mapping[str, Any]) -> bool:
        return _contains(observed.get(key), expected)

    return rule


def _contains(whole: Any, part: Any) -> bool:
    """Whether every name in `part` has its value in `whole`; absent and empty are the same."""
    if not (_is_observed(whole) or _is_observed(part)):
        return True
    if isinstance(part, dict) and isinstance(whole, Mapping):
        return all(_contains(whole.get(name), value) for name, value in part.items())
    return bool(whole == part)


_RULES: dict[str, Callable[[Any, Mapping[str, Any]], bool]] = {
    "message_contains": _message_contains,
    "rows": _rows,
    "winner": _winner,
    "read_files": _same_set("read_files"),
    "active_files": _same_set("active_files"),
    "adds": _within("adds"),
    "tags": _within("tags"),
    "action_counts": _within("action_counts"),
    "transactions": _within("transactions"),
    "message_parameters": _within("message_parameters"),
}
