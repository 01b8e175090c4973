"""How exactly measures are known: in words, as data, and how many replications come next."""

from __future__ import annotations

import json

from tests.answers.cells import Did, replicated
from whitecap.reports.precision.asked import asked_for
from whitecap.reports.precision.reached import (
    ReachedPrecision,
    next_replications,
    reached_by,
    reached_document,
)

CALM = replicated(12, loader=Did(committed=900, aborted=100))
RARE = replicated(12, loader=Did(committed=60, aborted=40))


def reached(text: str, **cells: object) -> ReachedPrecision:
    """The first that is asked for."""
    (precision,) = reached_by(asked_for([text]), cells)  # type: ignore[arg-type]
    return precision


def test_what_is_reached_says_so_with_the_widest_interval() -> None:
    precision = reached("abort_rate +- 1 point", calm=CALM)
    assert precision.is_met
    assert str(precision).startswith("abort rate is known to ± 1 point, with 12 replications: ± 0.")
    both = reached("abort_rate +- 20 points", calm=CALM, rare=RARE)
    assert "in all 2 cells" in str(both)
    assert str(both).endswith("points at most, in rare")


def test_what_is_not_reached_says_where_and_what_would_do() -> None:
    precision = reached("abort_rate +- 1 point", calm=CALM, rare=RARE)
    assert not precision.is_met
    assert list(precision.short) == ["rare"]
    text = str(precision)
    assert "abort rate is not known to ± 1 point in 1 of 2 cells with 12 replications" in text
    assert " in rare; about " in text
    assert text.endswith("replications would do")


def test_what_has_no_bound_says_that() -> None:
    precision = reached("latency_p99_9_ms +- 5 %", rare=replicated(12, loader=Did(committed=3)))
    assert str(precision).endswith("no bound can be told")
    nothing = reached("goodput_per_minute +- 1 %", none=replicated(12, loader=Did(committed=0)))
    assert not nothing.is_met


def test_all_cells_get_as_many_replications_as_the_worst_needs() -> None:
    several = [reached("abort_rate +- 1 point", calm=CALM, rare=RARE)]
    assert 12 < next_replications(several, 12, 100) <= 24
    assert next_replications(several, 12, 14) == 14
    assert next_replications([reached("abort_rate +- 20 points", calm=CALM)], 12, 100) == 12


def test_as_data_it_says_the_same() -> None:
    precision = reached("abort_rate +- 1 point", calm=CALM, rare=RARE)
    document = json.loads(json.dumps(reached_document(precision), allow_nan=False))
    assert document["until"] == "abort_rate +- 1 point"
    assert (document["reached"], document["replications"]) == (False, 12)
    assert document["text"] == str(precision)
    assert document["cells"]["calm"]["reached"]
    assert document["cells"]["rare"]["half_width"] > document["cells"]["rare"]["wanted"] == 0.01
