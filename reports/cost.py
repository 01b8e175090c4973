"""What a run or a cell costs, in a sentence, where a price was stated."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from whitecap.engine.recorded import PRICE, Measure
from whitecap.reports.estimates import estimated
from whitecap.reports.measures.measured_run import Runs
from whitecap.reports.measures.writing import written
from whitecap.reports.statistics import written_estimate


def cost_sentence(manifest: Mapping[str, Any], runs: Runs) -> str:
    """`At 0.30 EUR per slot-hour: 123.45 EUR a month (411 h of slots), 12.30 EUR of it for aborted
    transactions; 0.012 EUR per job that brought data.` Nothing without a price."""
    price = manifest.get(PRICE)
    if price is None:
        return ""
    currency = price["currency"]
    return (
        f"At {price['per_slot_hour']:g} {currency} per slot-hour: "
        f"{_said(runs, Measure.COST_PER_MONTH)} {currency} a month "
        f"({_said(runs, Measure.SLOT_HOURS_PER_MONTH)} of slots), "
        f"{_said(runs, Measure.WASTED_COST_PER_MONTH)} of it for aborted transactions; "
        f"{_said(runs, Measure.COST_PER_JOB)} {currency} per job that brought data."
        f"{_at_list_prices(price, runs)}"
    )


def _at_list_prices(price: Mapping[str, Any], runs: Runs) -> str:
    """What the requests for the log cost, where a list of prices is named."""
    requests = price.get("requests")
    if requests is None:
        return ""
    unpriced = f", {', '.join(requests['unpriced'])} apart" if requests["unpriced"] else ""
    return (
        f" Requests for the log: {_said(runs, Measure.REQUEST_COST_PER_MONTH)} "
        f"{price['currency']} a month at the list prices of {requests['list']}{unpriced}."
    )


def _said(runs: Runs, measure: Measure) -> str:
    """The value of one run; of several the estimate with its interval."""
    tallies = [run.tally(measure) for _, run in sorted(runs.items())]
    if len(tallies) == 1:
        return written(tallies[0].value, measure.unit)
    return written_estimate(estimated(measure, tallies), measure.unit)
