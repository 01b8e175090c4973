"""What things of a real table are called in a draft: by their names, or by others."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Sequence
from itertools import count
from pathlib import PurePosixPath

from msgspec import Struct

from whitecap.engine.column_names import quoted_if_needed, quoted_name
from whitecap.engine.log.schema import Field
from whitecap.sim.inferring.log.observed import ObservedTable
from whitecap.sim.quantities.names import TABLE_NAME
from whitecap.sim.scenario.table import PYTHON_TYPES

_PLAIN = re.compile(r"[A-Za-z_]\w*")
_OUR_WORDS = frozenset({"t", "s", "v", "rows", "keys", "row_key", "payload"})
"""What drafted statements call other things."""

_SQL_WORDS = frozenset(
    {
        "all", "alter", "and", "any", "as", "between", "by", "case", "cast", "check", "column",
        "constraint", "create", "cross", "current_date", "current_timestamp", "current_user",
        "default", "delete", "describe", "distinct", "drop", "else", "end", "except", "exists",
        "false", "fetch", "for", "from", "function", "glob", "grant", "group", "having", "ilike",
        "in", "inner", "insert", "intersect", "interval", "into", "is", "join", "lateral", "like",
        "limit", "merge", "minus", "not", "notnull", "null", "on", "or", "order", "outer",
        "qualify", "regexp", "returning", "revoke", "rlike", "rollback", "select",
        "serdeproperties", "session_user", "set", "stream", "table", "tablesample", "then", "true",
        "uncache", "union", "update", "user", "using", "values", "when", "where", "with", "xor",
    }
)  # fmt: skip
"""Words that are no names, or mean something else, where statements are read without quotes."""


class Names(Struct, frozen=True):
    """The draft's names; with `anonymous` nobody's own words are among them."""

    table: str
    columns: dict[str, str]
    anonymous: bool

    @classmethod
    def of(cls, observed: ObservedTable, columns: Sequence[Field], anonymous: bool) -> Names:
        """Names for the table and these columns."""
        named: dict[str, str] = {}
        taken: set[str] = set()
        for column in sorted(columns, key=lambda each: not _is_plain(each.name)):
            candidates = _candidates(column.name, anonymous)
            named[column.name] = next(name for name in candidates if name.lower() not in taken)
            taken.add(named[column.name].lower())
        return cls("table_1" if anonymous else table_name(observed), named, anonymous)

    @classmethod
    def own(cls, table: str, columns: Sequence[Field]) -> Names:
        """The table's own columns, whatever they are called."""
        return cls(table, {column.name: column.name for column in columns}, anonymous=False)

    @property
    def called_otherwise(self) -> dict[str, str]:
        """The draft's names of columns that could not keep theirs, by these; none if anonymous."""
        named = {} if self.anonymous else self.columns
        return {own: name for own, name in named.items() if own != name}

    def literals(self, values: Sequence[str], kind: str) -> list[str]:
        """Values of a drafted type as YAML writes them, in their order."""
        if self.anonymous and kind != "boolean":
            numbers = range(1, len(values) + 1)
            values = [str(n) if kind in _BARE else f"value {n}" for n in numbers]
        return [_bare(value) if kind in _BARE else _quoted(value) for value in values]


def key_text(name: str) -> str:
    """A column's name as a key or value of YAML."""
    is_plain = _PLAIN.fullmatch(name) and name.lower() not in _READ_OTHERWISE
    return name if is_plain else _quoted(name)


_READ_OTHERWISE = frozenset({"false", "n", "no", "null", "off", "on", "true", "y", "yes"})
"""Words that YAML 1.1 reads as truth values or nothing (https://yaml.org/type/bool.html)."""


def _candidates(name: str, anonymous: bool) -> Iterator[str]:
    """What a column may be called, the likeliest first: of `order id` it is `order_id`."""
    likely = re.sub(r"\W+", "_", name).strip("_")
    candidates = () if anonymous else (name, likely, f"{likely}_column")
    yield from filter(_is_plain, candidates)
    yield from (f"column_{n}" for n in count(1))


def _bare(value: str) -> str:
    """A number or truth value as YAML reads it: an exponent has a sign there, after a fraction.

    Spark writes `1.0E10` (https://yaml.org/type/float.html).
    """
    digits, exponent, power = value.lower().partition("e")
    if not exponent or not digits.lstrip("-").replace(".", "", 1).isdigit():
        return value
    return f"{digits if '.' in digits else f'{digits}.0'}e{int(power):+d}"


def _quoted(text: str) -> str:
    """A text as YAML, which takes no control characters (https://yaml.org/spec/1.2.2/#51)."""
    quoted = json.dumps(text, ensure_ascii=False)
    return "".join(c if c.isprintable() else f"\\U{ord(c):08x}" for c in quoted)


def sql_name(name: str) -> str:
    """A column's name as a drafted statement writes it."""
    return quoted_name(name) if name.lower() in _SQL_WORDS else quoted_if_needed(name)


_BARE = frozenset({"int", "bigint", "double", "boolean"})
"""Types whose values YAML reads without quotes."""

_AS_INT = frozenset({"tinyint", "smallint"})


def stand_in(kind: str) -> str:
    """A value for a column of which the log shows none."""
    return "false" if kind == "boolean" else "0" if kind in _BARE else "none"


def drafted_type(column: Field) -> str:
    """The type of a layout column in the draft: one whose values a scenario can list."""
    if column.type in PYTHON_TYPES:
        return column.type
    return "int" if column.type in _AS_INT else "string"


def _is_plain(name: str) -> bool:
    return bool(_PLAIN.fullmatch(name)) and name.lower() not in _OUR_WORDS | _SQL_WORDS


def table_name(observed: ObservedTable) -> str:
    """What the table is called, as far as its metadata or its place say it."""
    metadata = observed.snapshot.metadata
    stem = (metadata and metadata.name) or PurePosixPath(observed.place.rstrip("/")).name
    name = re.sub(r"\W+", "_", stem.rpartition(".")[2] or stem).strip("_").lower()
    return name if re.fullmatch(TABLE_NAME, name) and _is_plain(name) else "events"
