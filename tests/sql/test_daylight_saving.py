"""Instants moved and counted on the clock of a zone whose offset changes."""

from __future__ import annotations

from typing import Any

import pytest

from whitecap.engine.sql.expressions.scope import Scope
from whitecap.engine.sql.expressions.syntax_trees import parse_node
from whitecap.engine.sql.predicates.compiler import compile_term
from whitecap.engine.values.types import Session

BERLIN = Session("Europe/Berlin")

ON_THE_CLOCK = {
    # The hour from two to three comes twice on 2024-10-27, and not at all on 2024-03-31.
    "TIMESTAMP'2024-10-27 02:30:00 +01:00' + INTERVAL 30 MINUTES": "2024-10-27 03:00:00",
    "timestampadd(MINUTE, 30, TIMESTAMP'2024-10-27 02:30:00 +01:00')": "2024-10-27 03:00:00",
    "timestampadd(DAY, -1, TIMESTAMP'2024-10-28 02:30:00') = TIMESTAMP'2024-10-27 01:30:00Z'": (
        "true"
    ),
    "timestampadd(DAY, 1, TIMESTAMP'2024-10-26 02:30:00') = TIMESTAMP'2024-10-27 00:30:00Z'": (
        "true"
    ),
    "timestampadd(DAY, -1, TIMESTAMP'2024-04-01 02:30:00')": "2024-03-31 03:30:00",
    "timestampdiff(DAY, TIMESTAMP'2024-03-31 12:00:00', TIMESTAMP'2024-03-30 12:00:00')": "-1",
    "unix_timestamp(TIMESTAMP'1969-12-31 23:59:58.5Z')": "-1",
}
"""Seen on Spark 4.2, which computes by ZonedDateTime: of two equal hours that of the offset
before."""


def _text(sql: str) -> Any:
    node = parse_node(f"SELECT CAST({sql} AS STRING)").expressions[0].unalias()
    return compile_term(node, Scope((), BERLIN)).bind({}).value


@pytest.mark.parametrize("sql", ON_THE_CLOCK)
def test_an_instant_is_moved_and_counted_on_the_clock(sql: str) -> None:
    assert _text(sql) == ON_THE_CLOCK[sql]
