"""What things of a real table are called in a draft: by their names, or by others."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import count
from pathlib import PurePosixPath

from whitecap.engine.log.schema import Field
from whitecap.sim.inferring.observed import ObservedTable
from whitecap.sim.scenario.table import PYTHON_TYPES, TABLE_NAME

_PLAIN = re.compile(r"[A-Za-z_]\w*")
_RESERVED = frozenset(
    {"t", "s", "v", "rows", "keys", "row_key", "payload"}
    | {"all", "alter", "and", "any", "as", "between", "by", "case", "cast", "check", "column"}
    | {"constraint", "create", "default", "delete", "distinct", "drop", "else", "end", "exists"}
    | {"from", "group", "having", "in", "insert", "interval", "into", "is", "join", "like"}
    | {"limit", "merge", "not", "null", "on", "or", "order", "select", "set", "table", "then"}
    | {"union", "update", "user", "using", "values", "when", "where", "with"}
)
"""What drafted statements call other things, and words of SQL."""


@dataclass(frozen=True, slots=True)
class Names:
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
        return [value if kind in _BARE else _quoted(value) for value in values]


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


def _quoted(text: str) -> str:
    """A text as YAML, which takes no control characters (https://yaml.org/spec/1.2.2/#51)."""
    quoted = json.dumps(text, ensure_ascii=False)
    return "".join(c if c.isprintable() else f"\\U{ord(c):08x}" for c in quoted)


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
    return bool(_PLAIN.fullmatch(name)) and name.lower() not in _RESERVED


def table_name(observed: ObservedTable) -> str:
    """What the table is called, as far as its metadata or its place say it."""
    metadata = observed.snapshot.metadata
    stem = (metadata and metadata.name) or PurePosixPath(observed.place.rstrip("/")).name
    name = re.sub(r"\W+", "_", stem.rpartition(".")[2] or stem).strip("_").lower()
    return name if re.fullmatch(TABLE_NAME, name) and name not in _RESERVED else "events"
