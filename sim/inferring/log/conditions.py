"""What the condition of a commit pins: a look at the text that engines log, no parser of it.

Spark logs Catalyst's text, in some versions with expression ids (`date#12`) and without quotes;
delta-rs logs DataFusion's.
"""

from __future__ import annotations

import json
import re
from collections.abc import Collection, Iterator, Sequence
from datetime import date, timedelta
from enum import Enum
from functools import cache

from whitecap.sim.inferring.log.observed import ObservedCommit

EQUAL = frozenset({"=", "<=>", "IN"})
ABOVE, BELOW = frozenset({">", ">="}), frozenset({"<", "<="})
"""Operators that limit a column: to values, from one on, up to one."""

_NAMES = ("mergePredicate", "predicate", "replaceWhere")
_IDS = re.compile(r"#\d+L?")
_TEXT = r"'(?:[^']|'')*'"
_BEFORE_SIDE = r"(?:(?:DATE |TIMESTAMP )(?=')|CAST\()?\s*"
_WORD = r"[\w.:\-]+"
# Catalyst's text has no quotes, but parentheses around each comparison: `(city#3 = New York)`.
_BARE = r"[.:'\-]*\w[\w.:'\-]*"
_WORDS = rf"{_BARE}(?:(?:, ?| )(?!(?:AND|OR)\b){_BARE})*(?=\))"
_OPERATOR = r"<=>|>=|<=|!=|<>|=|>|<|\bIN\b"
_MIRRORED = {">": "<", "<": ">", ">=": "<=", "<=": ">="}
_NUMBER = re.compile(r"(?<![\w?])-?\d[\w.:\-]*")
_LISTED = re.compile(r"\(\s*\?(?:\s*,\s*\?)*\s*\)")
_REPEATED = re.compile(r"([\w.]+ (?:=|<=>) \?)(?: OR \1)+")

_MOVED_DAY = re.compile(r"(?:CAST\(|DATE )'(\d{4}-\d\d-\d\d)'(?: AS DATE\))? ([+-]) (\d{1,6})")
_MOVED_NUMBER = re.compile(r"(?<=[<>=] )(\d{1,18}) ([+-]) (\d{1,18})\b(?!\.)")
"""Sums of values: Delta Lake logs what they make, exports of ours the sum."""

_BETWEEN = re.compile(rf"({_WORD}) BETWEEN ({_TEXT}|{_WORD}) AND (?={_TEXT}|{_WORD})")
"""As delta-rs logs it; Spark logs two comparisons."""

_INSET = re.compile(r"\bINSET (.+?)(?= AND | OR |\)|$)")
"""Source: Spark's `InSet.toString`: how an IN of more than ten values is optimised, and logged."""

_UNQUOTED_LIST = re.compile(r"\bIN \(([^()']+)\)")
_QUOTED_LIST = re.compile(rf"\s*\(?(?:\s*,?\s*{_BEFORE_SIDE}{_TEXT}(?: AS \w+\))?)+")

_QUOTED = re.compile(rf"(?<!\w){_TEXT}")
_NEGATION = re.compile(r"(?:^|\(|\bAND |\bOR )\s*NOT\b", re.IGNORECASE)
"""Spark logs `<>`, `!=` and NOT IN in this way: `NOT (region#1 = eu)`, `NOT region#1 IN (a,b)`."""

_BOUNDARY = re.compile(r"\(|\)|\bAND\b|\bOR\b", re.IGNORECASE)

_EITHER = re.compile(r"\bOR\b")


class ColumnLimit(Enum):
    """How a condition limits a column: to values, from one on, up to one, or from one to another.

    The value says it in words.
    """

    VALUE = "= value"
    FROM = ">= value"
    UPTO = "<= value"
    RANGE = "from a value to another"


def condition_of(commit: ObservedCommit) -> str:
    """The condition that a commit names, empty without one."""
    given = next((commit.parameters[n] for n in _NAMES if commit.parameters.get(n)), "")
    text = _with_lists(_summed(_IDS.sub("", _listed(given)).replace("`", "")))
    return _BETWEEN.sub(r"\1 >= \2 AND \1 <= ", text)


def _with_lists(text: str) -> str:
    """The condition with all its lists as SQL has them, their values in quotes."""
    text = _INSET.sub(lambda match: _quoted_list(match[1].split(", ")), text)
    return _UNQUOTED_LIST.sub(lambda match: _quoted_list(match[1].split(",")), text)


def _quoted_list(values: Sequence[str]) -> str:
    quoted = (f"'{text}'" for text in (value.strip().replace("'", "''") for value in values))
    return f"IN ({', '.join(quoted)})"


def _summed(text: str) -> str:
    """The condition with what sums of values make."""
    text = _MOVED_DAY.sub(_moved_day, text)
    return _MOVED_NUMBER.sub(lambda match: str(int(match[1]) + int(match[2] + match[3])), text)


def _moved_day(match: re.Match[str]) -> str:
    try:
        return f"'{date.fromisoformat(match[1]) + timedelta(int(match[2] + match[3]))}'"
    except (ValueError, OverflowError):
        return match[0]


def says_condition(commit: ObservedCommit) -> bool:
    """Whether a commit says what its condition is, or that it has none. Trino's says nothing.

    Source: DeltaOperations.Write names a predicate beside its mode where it has one.
    """
    return any(name in commit.parameters for name in (*_NAMES, "mode"))


def _listed(given: str) -> str:
    """Spark logs a JSON list of conditions, delta-rs a text."""
    try:
        conditions = json.loads(given)
    except ValueError:
        return given
    return " AND ".join(map(str, conditions)) if isinstance(conditions, list) else given


def template_of(condition: str, columns: Collection[str]) -> str:
    """The condition with `?` for its values: equal for jobs that differ in nothing else."""
    text = re.sub(_TEXT, "?", condition)
    for name in {right for _, _, right in _comparisons(text, columns) if _is_value(right, columns)}:
        if name != "?":
            text = re.sub(rf"(?<![\w.]){re.escape(name)}(?![\w.])", "?", text)
    text = _LISTED.sub("(?)", _NUMBER.sub("?", text))
    return _REPEATED.sub(r"\1", text)


def pin_of(condition: str, column: str, columns: Collection[str]) -> ColumnLimit | None:
    """How the condition limits a column, `None` if it does not."""
    operators = {operator for operator, _ in compared(condition, column, columns)}
    if operators & EQUAL:
        return ColumnLimit.VALUE
    is_below, is_above = bool(operators & BELOW), bool(operators & ABOVE)
    if is_below and is_above:
        # Spark turns NOT BETWEEN into `(day < a) OR (day > b)`.
        return None if _EITHER.search(condition) else ColumnLimit.RANGE
    return ColumnLimit.FROM if is_above else ColumnLimit.UPTO if is_below else None


def compared(condition: str, column: str, columns: Collection[str]) -> list[tuple[str, str]]:
    """The operators and values with which the condition compares the column, as texts.

    What is negated limits a column to all other values: it compares with none.
    """
    return [
        (operator, value.removeprefix("'").removesuffix("'").replace("''", "'"))
        for name, operator, value in _comparisons(_affirmed(condition), columns)
        if _is_called(name, column) and _is_value(value, columns)
    ]


def _affirmed(condition: str) -> str:
    """The condition without what it negates."""
    masked = _QUOTED.sub(lambda match: "'" * len(match[0]), condition)
    affirmed, end = "", 0
    for negation in _NEGATION.finditer(masked):
        if negation.start() >= end:
            affirmed += condition[end : negation.end()]
            end = _end_of_operand(masked, negation.end())
    return affirmed + condition[end:]


def _end_of_operand(masked: str, start: int) -> int:
    """Where the operand ends that begins there, in a condition without parentheses in texts."""
    depth = 0
    for boundary in _BOUNDARY.finditer(masked, start):
        step = {"(": 1, ")": -1}.get(boundary[0], 0)
        if depth + step < 0 or not (depth or step):
            return boundary.start()
        depth += step
    return len(masked)


def names_column(condition: str, column: str) -> bool:
    """Whether a column is spoken of."""
    return re.search(rf"(?<!\w){re.escape(column)}(?!\w)", condition, re.IGNORECASE) is not None


def _comparisons(condition: str, columns: Collection[str]) -> Iterator[tuple[str, str, str]]:
    """Both sides of each comparison, each of them first once."""
    pattern, text = _comparison_of(frozenset(columns)), condition.replace("?", "'?'")
    for match in pattern.finditer(text):
        left, operator, right = match.groups()
        sign = operator.upper()
        if sign == "IN":
            listed = _QUOTED_LIST.match(text, match.end(2))
            yield from ((left, sign, value) for value in _values_of(listed) or [right])
        else:
            yield left, sign, right
            yield right, _MIRRORED.get(sign, sign), left


def _values_of(listed: re.Match[str] | None) -> list[str]:
    """The texts of a list, in their quotes."""
    return [] if listed is None else re.findall(_TEXT, listed[0])


@cache
def _comparison_of(columns: frozenset[str]) -> re.Pattern[str]:
    """A comparison on a table with these columns: names of several words stand unquoted too."""
    several_words = sorted(name for name in columns if not re.fullmatch(_WORD, name))
    # The longer of two that begin alike comes first.
    names = "".join(rf"(?:\w+\.)*{re.escape(name)}|" for name in reversed(several_words))
    left = rf"{_BEFORE_SIDE}({_TEXT}|{names}{_WORD})"
    right = rf"{_BEFORE_SIDE}({_TEXT}|{names}{_WORDS}|{_WORD})"
    return re.compile(rf"{left}\s*({_OPERATOR})\s*\(?\s*{right}", re.IGNORECASE)


def _is_value(text: str, columns: Collection[str]) -> bool:
    """Whether it is a value and no column: quoted, a number, or no name that the table has."""
    if text.startswith("'") or text[:1].isdigit() or text[:1] == "-":
        return True
    if any(_is_called(text, column) for column in columns):
        return False
    return "." not in text or " " in text


def _is_called(text: str, column: str) -> bool:
    """Whether it is the column's name, perhaps after that of its table."""
    return f".{text}".lower().endswith(f".{column}".lower())
