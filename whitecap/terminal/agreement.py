"""A replay in the terminal: each transaction as it ends, then how many agree."""

from __future__ import annotations

from rich.console import Console
from rich.text import Text

from whitecap.sim.replay.agreement import Agreement, ComparedTransaction, Comparison
from whitecap.sim.replay.playing.script import TransactionResult
from whitecap.terminal.console import new_console
from whitecap.terminal.table import PrintedColumn, print_indented, show_table

STYLES = {
    Comparison.MATCH: "green",
    Comparison.MISMATCH: "bold red",
    Comparison.NOT_COMPARABLE: "yellow",
}

COLUMNS = (
    PrintedColumn("outcome", text=True),
    *(PrintedColumn(way.replace("_", " ")) for way in Comparison),
)


def show_compared(
    console: Console, compared: ComparedTransaction, with_table: bool = False
) -> None:
    """One transaction: how it ended here and there; among several tables with its own."""
    name = Text(f"{compared.comparison:15}", style=STYLES[compared.comparison])
    print_indented(console, name.append(_line(compared, with_table), style="default"), by=0)


def _line(compared: ComparedTransaction, with_table: bool) -> str:
    where = f" {compared.table}" if with_table else ""
    text = f"{compared.transaction} {compared.command}{where}: {_said(compared.recorded)}"
    if compared.reason:
        text += f" | real: {_said(compared.real)} | {compared.reason}"
    return text


def _said(result: TransactionResult | None) -> str:
    if result is None:
        return "not played"
    if result.exception is not None:
        return result.exception
    return "nothing to commit" if result.version is None else f"version {result.version}"


def show_agreement(agreement: Agreement) -> None:
    """How many transactions agree, by how they ended in the simulation; of each table, and in all.

    Of several tables also the jobs that changed one of them and not the other.
    """
    tables = agreement.by_table
    several = len(tables) > 1
    parts = tables if several else {"": agreement}
    rows = [
        [*([name] if several else []), outcome, *(str(counts[way]) for way in Comparison)]
        for name, part in parts.items()
        for outcome, counts in _by_outcome(part).items()
    ]
    whole = ["all", *([""] if several else [])]
    rows.append([*whole, *(str(agreement.count(way)) for way in Comparison)])
    columns = [*([PrintedColumn("table", text=True)] if several else []), *COLUMNS]
    title, console = "Agreement with real Delta", new_console()
    show_table(console, columns, rows, names=1 + several, title=title, stressed=[len(rows) - 1])
    if several:
        print_indented(console, f"jobs left half done: {agreement.half_done}", by=0)


def _by_outcome(agreement: Agreement) -> dict[str, dict[Comparison, int]]:
    rows: dict[str, dict[Comparison, int]] = {}
    for each in sorted(agreement.compared, key=lambda c: str(c.recorded.exception or "")):
        outcome = each.recorded.exception or str(each.recorded.end)
        counts = rows.setdefault(outcome, dict.fromkeys(Comparison, 0))
        counts[each.comparison] += 1
    return rows
