"""What things of a real table are called in a draft: by their names, or by others."""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import PurePosixPath

from whitecap.engine.log.schema import Field
from whitecap.sim.inferring.observed import ObservedTable
from whitecap.sim.scenario.table import TABLE_NAME

_PLAIN = re.compile(r"[A-Za-z_]\w*")
_RESERVED = frozenset({"t", "s", "v", "rows", "keys", "values", "select", "table", "from", "order"})
"""What drafted statements call other things, and words of SQL that columns are called by."""


@dataclass(frozen=True, slots=True)
class Names:
    """The draft's names; with `anonymous` nobody's own words are among them."""

    table: str
    columns: dict[str, str]
    anonymous: bool

    @classmethod
    def of(cls, observed: ObservedTable, columns: Sequence[Field], anonymous: bool) -> Names:
        """Names for the table and these columns."""
        named = {
            column.name: column.name
            if _is_plain(column.name) and not anonymous
            else f"column_{number}"
            for number, column in enumerate(columns, start=1)
        }
        return cls("table_1" if anonymous else _table_name(observed), named, anonymous)

    def literals(self, values: Sequence[str], type_name: str) -> list[str]:
        """Values of a column as YAML writes them, in their order."""
        if self.anonymous:
            values = _stand_ins(len(values), type_name)
        quoted = type_name not in _NUMBERS
        return [json.dumps(value, ensure_ascii=False) if quoted else value for value in values]


_NUMBERS = frozenset({"tinyint", "smallint", "int", "bigint"})


def _stand_ins(count: int, type_name: str) -> list[str]:
    """As many values of a type that say nothing."""
    match type_name:
        case "tinyint" | "smallint" | "int" | "bigint":
            return [str(number) for number in range(1, count + 1)]
        case "date":
            from datetime import date, timedelta

            return [str(date(2000, 1, 1) + timedelta(days=number)) for number in range(count)]
        case _:
            return [f"value {number}" for number in range(1, count + 1)]


def _is_plain(name: str) -> bool:
    return bool(_PLAIN.fullmatch(name)) and name.lower() not in _RESERVED


def _table_name(observed: ObservedTable) -> str:
    metadata = observed.snapshot.metadata
    stem = (metadata and metadata.name) or PurePosixPath(observed.place.rstrip("/")).name
    name = re.sub(r"\W+", "_", stem.rpartition(".")[2] or stem).strip("_").lower()
    return name if re.fullmatch(TABLE_NAME, name) and name not in _RESERVED else "events"
