"""How every figure looks: colours, type, frame, provenance line, and how it is saved.

Colours are Okabe and Ito's palette (distinguishable with every common colour blindness); for
magnitudes its blue (more is better) or vermilion (less is) from very light to very dark, which
is read by lightness alone. Saving is
deterministic: no date, no software version, and the ids in SVG files come from a fixed salt.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from io import BytesIO
from pathlib import Path
from typing import Any

import matplotlib as mpl
from matplotlib.axes import Axes
from matplotlib.colors import LinearSegmentedColormap, to_rgb
from matplotlib.figure import Figure

from whitecap.engine.recorded import Direction
from whitecap.reports.subject import Caption

OKABE_ITO = (
    "#0072B2", "#E69F00", "#009E73", "#CC79A7", "#56B4E9", "#D55E00", "#7A5195", "#000000",
)  # fmt: skip
"""Okabe & Ito (2008), the yellow replaced by a purple: yellow lines vanish on white."""

_BLUES = ["#F1F6FA", "#A9CDE4", "#3D8FC4", "#0A5A94", "#062F52"]
_VERMILIONS = ["#FCF4EE", "#F3C5A5", "#DD7C3C", "#A8480A", "#5C2503"]
_GREYS = ["#F4F5F6", "#C9CED3", "#8A949E", "#525C66", "#2A3138"]

MAGNITUDES: Mapping[Direction | None, LinearSegmentedColormap] = {
    direction: LinearSegmentedColormap.from_list(name, colours)
    for direction, name, colours in (
        (Direction.AT_LEAST, "more is better", _BLUES),
        (Direction.AT_MOST, "less is better", _VERMILIONS),
        (None, "neither", _GREYS),
    )
}
"""Colours of tiles by the direction in which a measure gets better: light is little, dark is
much, lightness falls evenly. Blue is what one wants much of, vermilion what one wants little of,
in every map alike."""

INK = "#1F2933"
MUTED = "#66727F"
GRID = "#E4E7EB"

DPI = 160

_SETTINGS: dict[Any, Any] = {
    "font.family": "DejaVu Sans",
    "font.size": 9.5,
    "text.color": INK,
    "axes.edgecolor": "#9AA5B1",
    "axes.labelcolor": INK,
    "axes.labelsize": 9.5,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.axisbelow": True,
    "axes.titlesize": 10.5,
    "axes.titleweight": "bold",
    "axes.titlelocation": "left",
    "axes.titlepad": 8,
    "grid.color": GRID,
    "grid.linewidth": 0.9,
    "xtick.color": MUTED,
    "ytick.color": MUTED,
    "xtick.labelcolor": INK,
    "ytick.labelcolor": INK,
    "figure.facecolor": "white",
    "legend.frameon": False,
    "legend.fontsize": 9,
    "svg.hashsalt": "whitecap",
    "svg.fonttype": "path",
}


@contextmanager
def house_style() -> Iterator[None]:
    """Draw inside this context: matplotlib's settings are ours and restored afterwards."""
    with mpl.rc_context(_SETTINGS):
        yield


class Picture(Figure):
    """A figure that a notebook shows by itself, without pyplot and at its size on paper."""

    def _repr_png_(self) -> tuple[bytes, dict[str, int]]:
        content, width, height = png_of(self)
        return content, {"width": width, "height": height}


def png_of(figure: Figure) -> tuple[bytes, int, int]:
    """A picture with the width and height at which it is to be shown, in pixels of a page."""
    content = BytesIO()
    with house_style():
        figure.savefig(content, format="png", dpi=DPI, metadata={"Software": None})
    width, height = (round(96 * inches) for inches in figure.get_size_inches())
    return content.getvalue(), width, height


def new_figure(width: float, height: float) -> Picture:
    """An empty figure, in inches; not registered with pyplot, so nothing keeps it alive."""
    return Picture(figsize=(width, height), dpi=DPI)


def frame(figure: Figure, caption: Caption) -> None:
    """Put headline and reading above the figure, and its origin below, at fixed distances.

    The figure's own label, which is not drawn, is the reading: pages take their texts from there.
    """
    figure.set_label(caption.reading)
    width, height = figure.get_size_inches()
    left = 0.14 / width
    figure.text(left, 1 - 0.14 / height, caption.headline, va="top", size=13, weight="bold")
    figure.text(left, 1 - 0.44 / height, caption.reading, va="top", size=9, color=MUTED)
    figure.text(left, 0.1 / height, caption.origin, va="bottom", size=7, color=MUTED)


_INCHES_PER_CHARACTER = {"headline": 0.122, "reading": 0.073, "origin": 0.058}
"""How wide a character of the caption's three lines is at most, on average."""


def least_width(caption: Caption) -> float:
    """The width in inches that a figure needs for its caption to fit."""
    lengths = (len(getattr(caption, part)) * w for part, w in _INCHES_PER_CHARACTER.items())
    return max(lengths) + 0.3


def place(figure: Figure, *, left: float, right: float, top: float, bottom: float) -> None:
    """Set the margins of the axes in inches, which do not move when the figure grows."""
    width, height = figure.get_size_inches()
    figure.subplots_adjust(
        left=left / width, right=1 - right / width, top=1 - top / height, bottom=bottom / height
    )


def horizontal_grid_only(axes: Axes) -> None:
    """Lines to read heights by, and no other frame."""
    axes.grid(True, axis="y")
    axes.spines["left"].set_visible(False)
    axes.tick_params(axis="y", length=0)


def vertical_grid_only(axes: Axes) -> None:
    """Lines to read lengths by, and no other frame."""
    axes.grid(True, axis="x")
    axes.spines["left"].set_visible(False)
    axes.tick_params(axis="y", length=0)


def ink_on(colour: Any) -> str:
    """Dark or white, whichever is read better on `colour` (relative luminance, WCAG 2)."""
    red, green, blue = (_linear(part) for part in to_rgb(colour))
    luminance = 0.2126 * red + 0.7152 * green + 0.0722 * blue
    return "#0B1117" if luminance > 0.2 else "white"


def _linear(part: float) -> float:
    return part / 12.92 if part <= 0.04045 else float(((part + 0.055) / 1.055) ** 2.4)


def save(figure: Figure, directory: Path, name: str) -> tuple[Path, Path]:
    """Write `<name>.png` and `<name>.svg`, byte for byte the same for the same figure."""
    directory.mkdir(parents=True, exist_ok=True)
    png, svg = directory / f"{name}.png", directory / f"{name}.svg"
    with house_style():
        figure.savefig(png, dpi=DPI, metadata={"Software": None})
        figure.savefig(svg, metadata={"Date": None, "Creator": None})
    return png, svg
