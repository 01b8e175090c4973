"""Which changes of a column's type are taken, refused by Delta or refused by Spark."""

from __future__ import annotations

import pytest

from whitecap.engine.values.widening import is_text_change, may_upcast, may_widen

TYPES = (
    *("tinyint", "smallint", "int", "bigint", "float", "double", "boolean", "binary"),
    *("decimal(10,0)", "decimal(12,2)", "decimal(12,4)", "decimal(20,0)", "decimal(22,2)"),
    *("decimal(10,4)", "decimal(38,10)", "date", "timestamp", "timestamp_ntz"),
    *("string", "varchar(20)", "varchar(5)", "char(8)"),
)

# Seen on Delta Lake 4.4.0 with delta.enableTypeWidening: what a column of a type may become, and
# what Spark would let it become but Delta does not. Spark refuses everything else itself.
_WHOLE = "decimal(10,0) decimal(12,2) decimal(20,0) decimal(22,2) decimal(38,10)"
SEEN = {
    "tinyint": (
        f"smallint int bigint double {_WHOLE}",
        "float decimal(12,4) decimal(10,4) string",
    ),
    "smallint": (f"int bigint double {_WHOLE}", "float decimal(12,4) decimal(10,4) string"),
    "int": (f"bigint double {_WHOLE}", "float string"),
    "bigint": ("decimal(20,0) decimal(22,2) decimal(38,10)", "float double timestamp string"),
    "float": ("double", "string"),
    "double": ("", "string"),
    "decimal(10,2)": ("decimal(12,2) decimal(12,4) decimal(22,2) decimal(38,10)", "string"),
    "decimal(5,0)": (
        f"{_WHOLE} decimal(12,4) decimal(10,4)",
        "int bigint string",
    ),
    "date": ("timestamp_ntz", "timestamp string"),
    "timestamp": ("", "bigint timestamp_ntz string"),
    "timestamp_ntz": ("", "timestamp string"),
    "string": ("", ""),
    "varchar(10)": ("string varchar(20)", ""),
    "char(4)": ("string varchar(20) varchar(5)", ""),
    "boolean": ("", "string"),
    "binary": ("", "string"),
}


@pytest.mark.parametrize("old", SEEN)
def test_a_column_may_become_what_it_was_seen_to_become(old: str) -> None:
    others = [new for new in TYPES if new != old]
    taken = [new for new in others if is_text_change(old, new) or may_widen(old, new)]
    upcast = [new for new in others if may_upcast(old, new)]
    widened, refused_by_delta = (set(text.split()) for text in SEEN[old])
    assert {new for new in taken if new in upcast} == widened
    assert {new for new in upcast if new not in taken} == refused_by_delta
