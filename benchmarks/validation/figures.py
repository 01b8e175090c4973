"""The picture of the validation page: what was worked out against what was simulated."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from matplotlib.axes import Axes

from benchmarks.validation.backoff import ALGORITHMS
from benchmarks.validation.backoff_table import Contests
from benchmarks.validation.closed_forms import ClosedForm
from whitecap.reports.figures.style import (
    INK,
    MUTED,
    OKABE_ITO,
    frame,
    house_style,
    new_figure,
    place,
    save,
)
from whitecap.reports.statistics import Estimate
from whitecap.reports.subject import Caption

_Shares = Sequence[tuple[ClosedForm, Estimate]]


def draw(shares: _Shares, contests: Sequence[Contests], origin: str, directory: Path) -> None:
    """Write `validation.png` and `.svg`: abort rates against laws, calls against AWS's."""
    caption = Caption(
        "Simulated is as worked out",
        "Left: rates with a law, and intervals. Right: writes until all of N clients are done.",
        origin,
    )
    with house_style():
        figure = new_figure(9.2, 4.6)
        left, right = figure.subplots(1, 2)
        _against_laws(left, shares)
        _against_published(right, contests)
        frame(figure, caption)
        place(figure, left=0.7, right=0.25, top=0.95, bottom=0.8)
        figure.subplots_adjust(wspace=0.26)
    save(figure, directory, "validation")


def _against_laws(axes: Axes, shares: _Shares) -> None:
    axes.plot([0, 100], [0, 100], color=MUTED, linewidth=0.8, zorder=1)
    for law, estimate in shares:
        below, above = estimate.point - estimate.low, estimate.high - estimate.point
        axes.errorbar(
            100 * law.expected, 100 * estimate.point, yerr=[[100 * below], [100 * above]],
            fmt="o", markersize=4, color=OKABE_ITO[0], elinewidth=1.2, zorder=2,
        )  # fmt: skip
    axes.set(xlim=(0, 100), ylim=(0, 100), xlabel="worked out (%)", ylabel="simulated (%)")
    axes.grid(visible=True)
    axes.set_title("Rates")


def _against_published(axes: Axes, contests: Sequence[Contests]) -> None:
    for algorithm, colour in zip(ALGORITHMS, OKABE_ITO, strict=False):
        own = [each for each in contests if each.algorithm == algorithm]
        clients = [each.clients for each in own]
        axes.plot(clients, [each.calls.point for each in own], color=colour, label=algorithm)
        axes.plot(
            clients, [each.published[0] for each in own], linestyle="none", marker="o",
            markersize=5, markerfacecolor="none", markeredgecolor=colour,
        )  # fmt: skip
    axes.plot([], [], linestyle="none", marker="o", markerfacecolor="none", color=INK,
              label="published")  # fmt: skip
    axes.set(xscale="log", yscale="log", xlabel="clients", ylabel="writes of the row")
    axes.grid(visible=True)
    axes.legend(loc="upper left")
    axes.set_title("AWS's backoff simulator")
