"""Store profiles in the terminal, and as plain values for `--json`."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import groupby
from typing import Any

from rich.console import Console
from rich.text import Text

from whitecap.sim.quantities.distributions import Distribution
from whitecap.sim.quantities.units import about
from whitecap.sim.scenario.commit_protocol import CommitProtocol
from whitecap.sim.scenario.figures import ProfileFigure, figures_of
from whitecap.sim.scenario.origin import Basis
from whitecap.sim.scenario.store import ConditionalPut, Measured, StoreSection
from whitecap.terminal.console import new_console
from whitecap.terminal.table import EMPTY, PrintedColumn, print_indented, print_named, show_table

PROFILES = (
    PrintedColumn("profile", text=True),
    PrintedColumn("protocol", text=True),
    PrintedColumn("commit"),
    PrintedColumn("refused"),
    PrintedColumn("get"),
    PrintedColumn("list"),
    PrintedColumn("figures", leave=1),
    PrintedColumn("assumed"),
)
CAPTION = (
    "Medians of one client without rivals. commit: a put-if-absent that creates; refused: one that"
    " finds the version taken (other protocols take several requests: docs/commit-protocols.md)."
    " assumed: figures that rest on an assumption. `whitecap stores PROFILE` shows them all."
)

LEGEND = (
    "Each is set or swept by its name: store.put_if_absent.success.latency, for instance. "
    + "; ".join(f"{b}: {b.meaning}" for b in Basis if b is not Basis.GIVEN)
    + "."
)


def show_profiles(stores: Sequence[StoreSection]) -> None:
    """A line per profile."""
    show_table(new_console(), PROFILES, [list(_line(store)) for store in stores], caption=CAPTION)


def _line(store: StoreSection) -> Iterator[str]:
    figures = figures_of(store)
    protocol = store.log_store.protocol
    yield store.profile
    yield protocol.replace("_", " ")
    for taken in (False, True):
        is_one_put = protocol is CommitProtocol.CONDITIONAL_PUT
        yield about(_put_ms(store.put_if_absent, taken, 0.5)) if is_one_put else EMPTY
    yield about(_median_ms(store.get))
    yield about(_median_ms(store.list))
    yield str(len(figures))
    yield str(sum(figure.assumption is not None for figure in figures))


def _put_ms(put: ConditionalPut, taken: bool, rank: float) -> float:
    """A put without rivals, roughly where it has several parts: each of them at that rank."""
    answer = put.loss if taken else put.success
    service = None if put.at_key is None else put.at_key.loss if taken else put.at_key.success
    parts = (put.out, None if put.out is None else service, answer.back, answer.latency)
    return sum(part.at(rank) for part in parts if part is not None)


def _median_ms(measured: Measured) -> float:
    parts = (measured.latency, measured.out, measured.back)
    return sum(part.at(0.5) for part in parts if part is not None)


def show_profile(store: StoreSection) -> None:
    """Part by part its figures, how they are known, on what they rest, and where they are from."""
    console = new_console()
    print_indented(console, f"{store.profile}: {store.description}", by=0, style="bold")
    for section, part in groupby(figures_of(store), lambda figure: figure.section):
        console.print()
        _show_part(console, section, list(part))
    console.print()
    print_indented(console, LEGEND, by=0, style="dim")


def _show_part(console: Console, section: str, figures: Sequence[ProfileFigure]) -> None:
    origin = figures[0].origin
    basis = ", ".join(filter(None, (origin.basis, origin.date)))
    print_indented(console, Text.assemble((section, "bold"), f"  {basis}"), by=0)
    shown = {figure.name: _shown(figure) for figure in figures}
    print_named(console, {**shown, "assumes": _assumed(figures), "source": origin.source})


def _shown(figure: ProfileFigure) -> str:
    if figure.distribution is None:
        return figure.text or "nothing"
    if figure.distribution.constant is not None:
        return about(figure.distribution.constant)
    drawn = _of_distribution(figure.distribution)
    named = ("median", "mean", "p99")
    return ", ".join(f"{n} {about(ms)}" for n, ms in zip(named, drawn.values(), strict=True))


def _assumed(figures: Sequence[ProfileFigure]) -> str:
    """What all of them take for granted, or each by itself."""
    said = figures[0].origin.assumption
    if isinstance(said, dict):
        return "; ".join(f"of {name}: {text}" for name, text in said.items())
    return said or ""


def _of_distribution(distribution: Distribution) -> dict[str, float]:
    return {
        "median_ms": distribution.at(0.5),
        "mean_ms": distribution.mean_ms(),
        "p99_ms": distribution.at(0.99),
    }


def store_document(store: StoreSection) -> dict[str, Any]:
    """A profile with all of its figures, numbers as they are."""
    return {
        "profile": store.profile,
        "description": store.description,
        "figures": [_figure_document(figure) for figure in figures_of(store)],
    }


def _figure_document(figure: ProfileFigure) -> dict[str, Any]:
    drawn = figure.distribution
    return {
        "path": f"store.{figure.path}",
        "value": figure.text,
        **({} if drawn is None else _of_distribution(drawn)),
        **figure.origin.model_dump(include={"basis", "date", "source"}),
        "assumption": figure.assumption,
    }
