"""Files of which one bound is not known, as after an infinite fraction: seen on both packages."""

from __future__ import annotations

import pytest

from whitecap.engine.log.schema import Field, parse_ddl
from whitecap.engine.sql.predicates.datafusion_pruning import ColumnFacts
from whitecap.engine.sql.predicates.predicate import parse_predicate

COLUMNS = parse_ddl("q INT, s STRING")
LEAST, MOST = {"q": 7, "s": "m"}, {"q": 9, "s": "p"}


def is_kept(condition: str, least: bool, most: bool) -> bool:
    """Whether a file of 7 to 9 and m to p may match, where these bounds of it are known."""
    test = parse_predicate(condition).pruning_test(COLUMNS)
    assert test is not None

    def facts(field: Field) -> ColumnFacts:
        return ColumnFacts(
            LEAST[field.name] if least else None, MOST[field.name] if most else None, 0, 2
        )

    return test(facts)


@pytest.mark.parametrize(
    "condition",
    ["q = 1", "q < 2", "q <= 6", "q > 0 AND q < 2", "q IN (1, 2)", "s = 'a'", "s LIKE 'a%'"],
)
def test_a_smallest_value_that_is_too_large_leaves_a_file_out_by_itself(condition: str) -> None:
    assert not is_kept(condition, least=True, most=False)
    assert is_kept(condition, least=False, most=True)


@pytest.mark.parametrize("condition", ["q > 20", "s > 'x'"])
def test_a_largest_value_that_is_too_small_leaves_a_file_out_by_itself(condition: str) -> None:
    assert not is_kept(condition, least=False, most=True)
    assert is_kept(condition, least=True, most=False)


@pytest.mark.parametrize("condition", ["q > 100 OR q = 1", "q <> 7", "s NOT LIKE 'm%'"])
def test_what_takes_both_bounds_keeps_a_file_that_lacks_one(condition: str) -> None:
    assert is_kept(condition, least=True, most=False)
    assert is_kept(condition, least=False, most=True)
