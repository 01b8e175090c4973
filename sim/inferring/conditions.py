"""What the condition of a commit pins: a look at the text that engines log, no parser of it.

Spark logs Catalyst's text, in some versions with expression ids (`date#12`) and without quotes;
delta-rs logs DataFusion's.
"""

from __future__ import annotations

import json
import re
from collections.abc import Collection, Iterator
from enum import Enum

from whitecap.sim.inferring.observed import ObservedCommit

_NAMES = ("mergePredicate", "predicate", "replaceWhere")
_IDS = re.compile(r"#\d+L?")
_TEXT = r"'(?:[^']|'')*'"
_SIDE = rf"(?:(?:DATE |TIMESTAMP )(?=')|CAST\()?\s*({_TEXT}|[\w.:\-]+)"
_COMPARISON = re.compile(
    rf"{_SIDE}\s*(<=>|>=|<=|!=|<>|=|>|<|\bIN\b)\s*\(?\s*{_SIDE}", re.IGNORECASE
)
_MIRRORED = {">": "<", "<": ">", ">=": "<=", "<=": ">="}
_NUMBER = re.compile(r"(?<![\w?])-?\d[\w.:\-]*")
_LISTED = re.compile(r"\(\s*\?(?:\s*,\s*\?)*\s*\)")
_REPEATED = re.compile(r"([\w.]+ (?:=|<=>) \?)(?: OR \1)+")


class ColumnLimit(Enum):
    """How a condition limits a column: to values, or from one value on."""

    VALUE = "="
    FROM = ">="


def condition_of(commit: ObservedCommit) -> str:
    """The condition that a commit names, empty without one."""
    given = next((commit.parameters[n] for n in _NAMES if commit.parameters.get(n)), "")
    return _IDS.sub("", _listed(given)).replace("`", "")


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
    for name in {right for _, _, right in _comparisons(text) if _is_value(right, columns)}:
        if name != "?":
            text = re.sub(rf"(?<![\w.]){re.escape(name)}(?![\w.])", "?", text)
    text = _LISTED.sub("(?)", _NUMBER.sub("?", text))
    return _REPEATED.sub(r"\1", text)


def pin_of(condition: str, column: str, columns: Collection[str]) -> ColumnLimit | None:
    """How the condition limits a column, `None` if it does not."""
    operators = {
        operator
        for name, operator, value in _comparisons(condition)
        if name.rpartition(".")[2].lower() == column.lower() and _is_value(value, columns)
    }
    if operators & {"=", "<=>", "IN"}:
        return ColumnLimit.VALUE
    return ColumnLimit.FROM if operators & {">", ">="} else None


def names_column(condition: str, column: str) -> bool:
    """Whether a column is spoken of."""
    return re.search(rf"(?<!\w){re.escape(column)}(?!\w)", condition, re.IGNORECASE) is not None


def _comparisons(condition: str) -> Iterator[tuple[str, str, str]]:
    """Both sides of each comparison, each of them first once."""
    for left, operator, right in _COMPARISON.findall(condition.replace("?", "'?'")):
        sign = operator.upper()
        yield left, sign, right
        if sign != "IN":
            yield right, _MIRRORED.get(sign, sign), left


def _is_value(text: str, columns: Collection[str]) -> bool:
    """Whether it is a value and no column: quoted, a number, or no name that the table has."""
    if text.startswith("'") or text[:1].isdigit() or text[:1] == "-":
        return True
    column_names = {name.lower() for name in columns}
    return "." not in text and text.lower() not in column_names
