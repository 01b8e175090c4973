"""What a result shows of itself at the end of a notebook's cell: sentences, tables, figures."""

from __future__ import annotations

import base64
import re
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from markupsafe import Markup

from whitecap.reports.markup.templating import template

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.figure import Figure

_CELL = re.compile("<(t[dh])>")

MOST_ROWS = 20
"""Of a table; its own name shows them all."""


def notebook_part(
    sentences: Sequence[str],
    tables: Mapping[str, pd.DataFrame] | None = None,
    figures: Mapping[str, Figure] | None = None,
) -> str:
    """HTML to stand inside another page: tables below their names, figures with what they show."""
    return template("notebook_part.html").render(
        sentences=sentences,
        tables={name: _html(table) for name, table in (tables or {}).items()},
        figures={words: _image(figure) for words, figure in (figures or {}).items()},
    )


def _html(table: pd.DataFrame) -> Markup:
    """Escaped by pandas, no text cut; rows that are only counted are not numbered.

    A table of nothing but words begins at the left, whatever the page does with numbers.
    """
    import pandas as pd

    is_named = not isinstance(table.index, pd.RangeIndex)
    is_prose = not is_named and table.select_dtypes("number").empty
    with pd.option_context("display.max_colwidth", None):
        shown = table.to_html(max_rows=MOST_ROWS, border=0, index=is_named)
    return Markup(_CELL.sub(r'<\1 style="text-align: left">', shown) if is_prose else shown)


def _image(figure: Figure) -> dict[str, str | int]:
    from whitecap.reports.figures.style import png_of

    content, width, _ = png_of(figure)
    return {"source": base64.b64encode(content).decode("ascii"), "width": width}
