"""Texts of a figure as they lie on the canvas: none may lie on another or leave it."""

from __future__ import annotations

import itertools

from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure
from matplotlib.text import Text
from matplotlib.transforms import Bbox


def _labels_of_ticks_outside(figure: Figure) -> set[Text]:
    """Labels that matplotlib keeps and does not draw: their ticks are not in view."""
    outside: set[Text] = set()
    for axes in figure.axes:
        for axis in (axes.xaxis, axes.yaxis):
            low, high = sorted(axis.get_view_interval())
            ticks = (tick for tick in axis.get_major_ticks() if not low <= tick.get_loc() <= high)
            outside.update(label for tick in ticks for label in (tick.label1, tick.label2))
    return outside


def texts_of(figure: Figure) -> list[tuple[str, Bbox]]:
    """Every visible text with the box that it takes on the canvas."""
    canvas = FigureCanvasAgg(figure)
    canvas.draw()
    renderer = canvas.get_renderer()
    beyond = _labels_of_ticks_outside(figure)
    texts = [
        (text.get_text(), text.get_window_extent(renderer))
        for text in figure.findobj(Text)
        if text.get_visible() and text.get_text().strip() and text not in beyond
    ]
    return [(words, box) for words, box in texts if box.width > 0]


def assert_texts_lie_apart(figure: Figure, name: str) -> None:
    """Every text inside the figure, none on another."""
    boxes = texts_of(figure)
    width, height = figure.canvas.get_width_height()
    for words, box in boxes:
        inside = box.x0 >= -1 and box.y0 >= -1 and box.x1 <= width + 1 and box.y1 <= height + 1
        assert inside, f"{name}: {words!r} leaves the figure"
    for (words, box), (others, other) in itertools.combinations(boxes, 2):
        assert not _overlap(box, other), f"{name}: {words!r} on {others!r}"


def _overlap(box: Bbox, other: Bbox) -> bool:
    """Whether two boxes share more than a sliver."""
    across = min(box.x1, other.x1) - max(box.x0, other.x0)
    down = min(box.y1, other.y1) - max(box.y0, other.y0)
    return bool(across > 2 and down > 3)
