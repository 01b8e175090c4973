"""A free run in the terminal: each share with its range, and what it means."""

from __future__ import annotations

from typing import Any

from whitecap.sim.freerun.comparison import (
    ComparedShare,
    FreeRunPhase,
    FreeRunResult,
    headline,
    meaning,
    percent_text,
)
from whitecap.terminal.console import new_console
from whitecap.terminal.table import PrintedColumn, print_indented, show_table

COLUMNS = (
    PrintedColumn("real run", text=True),
    PrintedColumn("share", text=True),
    PrintedColumn("predicted", leave=2),
    PrintedColumn("range"),
    PrintedColumn("observed"),
    PrintedColumn("of", leave=1),
    PrintedColumn("holds", text=True),
)


def show_free_run(result: FreeRunResult) -> None:
    """The table, and the sentences below it."""
    console = new_console()
    missed = [at for at, (_, each) in enumerate(result.compared) if not each.holds]
    rows = [_row(phase, each) for phase, each in result.compared]
    show_table(
        console, COLUMNS, rows, names=2, stressed=missed, title="Free run on real Delta Lake"
    )
    for said in (headline(result), *meaning(result)):
        print_indented(console, said, by=0)


def _row(phase: FreeRunPhase, compared: ComparedShare) -> list[str]:
    predicted = compared.predicted
    return [
        phase.title,
        predicted.quantity,
        percent_text(predicted.mean),
        f"{100 * predicted.low:.1f} to {percent_text(predicted.high)}",
        percent_text(compared.share),
        f"{compared.statements}",
        "yes" if compared.holds else "no",
    ]


def free_run_document(result: FreeRunResult) -> dict[str, Any]:
    """What `--json` prints."""
    return {
        "holds": result.holds,
        "is_sharp": result.is_sharp,
        "headline": headline(result),
        "sentences": meaning(result),
        "machine": result.machine,
        "threads": result.threads,
        "seed": result.seed,
        "comparisons": [
            {
                "workload": phase.name,
                "share": each.predicted.quantity,
                "predicted": each.predicted.mean,
                "low": each.predicted.low,
                "high": each.predicted.high,
                "observed": each.share,
                "count": each.count,
                "statements": each.statements,
                "holds": each.holds,
                "predicted_at": phase.predicted_at,
                "began_at": phase.began_at,
            }
            for phase, each in result.compared
        ],
    }
