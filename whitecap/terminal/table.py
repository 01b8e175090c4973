"""Tables that fit: as wide as the terminal, and no number, word or name in them is ever cut.

Where a table is too wide, its texts are folded between words; then columns that may be missed are
left out, the caption says which; then rows are stacked, with all columns.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence

from msgspec import Struct
from rich import box
from rich.cells import cell_len
from rich.console import Console, RenderableType
from rich.table import Table
from rich.text import Text

from whitecap.terminal.units import held, released, with_held, with_released

CellText = str | Text

NARROWEST_TEXT = 18
"""Texts are not folded into narrower columns than this: two or three words."""

GAP = 2
"""Blanks between two columns."""

EMPTY = "·"
"""What stands where there is nothing to count."""

ALL_EMPTY = "nothing to count"
"""What stands below the name of a stacked row in which all is `EMPTY`."""


class PrintedColumn(Struct, frozen=True):
    """A column: numbers, or a `text` that may be folded.

    Columns that say when they `leave` may be left out, the one with the smallest number first.
    """

    heading: str
    text: bool = False
    leave: int | None = None


_Row = Sequence[CellText]


def show_table(
    console: Console,
    columns: Sequence[PrintedColumn],
    rows: Sequence[_Row],
    *,
    names: int = 1,
    stressed: Collection[int] = (),
    title: str = "",
    caption: str = "",
    lines: bool = False,
) -> None:
    """Print a table, with `lines` between its rows if they should be.

    Its first `names` columns name the rows; those `stressed` are bold.
    """
    if title:
        print_indented(console, title, by=0, style="bold")
    table = _PrintedTable(columns, rows, names, stressed, lines)
    shown = columns_that_fit(columns, rows, console.width)
    if shown is None:
        table.show_stacked(console)
    else:
        table.show_side_by_side(console, shown)
        missed = [column.heading for at, column in enumerate(columns) if at not in shown]
        caption = " ".join([caption, *_left_out(missed)]).strip()
    if caption:
        print_indented(console, caption, by=0, style="dim")


def _left_out(missed: Sequence[str]) -> Iterator[str]:
    if missed:
        yield f"Left out at this width: {', '.join(missed)}."


def without_empty_columns(
    columns: Sequence[PrintedColumn], rows: Sequence[_Row]
) -> tuple[list[PrintedColumn], list[_Row]]:
    """Columns and rows of a table without those columns that are `EMPTY` in every row."""
    used = [at for at in range(len(columns)) if any(row[at] != EMPTY for row in rows)]
    return [columns[at] for at in used], [[row[at] for at in used] for row in rows]


def columns_that_fit(
    columns: Sequence[PrintedColumn], rows: Sequence[_Row], width: int
) -> list[int] | None:
    """The columns that can stand side by side, without those that may be missed as far as need be.

    `None` if even the others are too wide.
    """
    least = [_least_width(column, _texts(rows, at)) for at, column in enumerate(columns)]
    shown = list(range(len(columns)))
    optional = [at for at in shown if columns[at].leave is not None]
    for first in sorted(optional, key=lambda at: columns[at].leave or 0):
        if _total(least[at] for at in shown) <= width:
            break
        shown.remove(first)
    return shown if _total(least[at] for at in shown) <= width else None


def _texts(rows: Sequence[_Row], at: int) -> list[str]:
    return [str(row[at]) for row in rows]


def _total(widths: Iterable[int]) -> int:
    each = list(widths)
    return sum(each) + GAP * (len(each) - 1)


def _least_width(column: PrintedColumn, texts: Sequence[str]) -> int:
    """Numbers stand on one line; texts may be folded, headings between their words."""
    heading = _longest_word(column.heading)
    if not column.text:
        return max([heading, *map(cell_len, texts)])
    return min(_full_width(column, texts), max(heading, NARROWEST_TEXT, *map(_longest_word, texts)))


def _full_width(column: PrintedColumn, texts: Sequence[str]) -> int:
    lines = (line for text in texts for line in text.splitlines())
    return max([_longest_word(column.heading), *map(cell_len, lines)])


def _longest_word(text: str) -> int:
    return max(map(cell_len, held(text).split()), default=0)


def _widths(
    columns: Sequence[PrintedColumn], rows: Sequence[_Row], shown: Sequence[int], width: int
) -> list[int]:
    """Texts get the room that is left, the ones that need most the most of it."""
    texts = {at: _texts(rows, at) for at in shown}
    widths = [_least_width(columns[at], texts[at]) for at in shown]
    full = [_full_width(columns[at], texts[at]) if columns[at].text else 0 for at in shown]
    room = width - _total(widths)
    while room > 0 and any(f > w for f, w in zip(full, widths, strict=True)):
        neediest = max(range(len(widths)), key=lambda i: full[i] - widths[i])
        widths[neediest] += 1
        room -= 1
    return widths


class _PrintedTable(Struct, frozen=True):
    """A table as `show_table` is given it."""

    columns: Sequence[PrintedColumn]
    rows: Sequence[_Row]
    names: int
    stressed: Collection[int]
    lines: bool

    def show_side_by_side(self, console: Console, shown: Sequence[int]) -> None:
        """Each row on a line, or on several where texts are folded; the columns at these places."""
        table = self._frame()
        widths = _widths(self.columns, self.rows, shown, console.width)
        for at, width in zip(shown, widths, strict=True):
            column = self.columns[at]
            justify = "left" if column.text else "right"
            table.add_column(column.heading, justify=justify, width=width, overflow="fold")  # type: ignore[arg-type]
        for number, row in enumerate(self.rows):
            cells = (with_held(row[at]) for at in shown)
            table.add_row(*cells, style="bold" if number in self.stressed else None)
        print_trimmed(console, table)

    def _frame(self) -> Table:
        return Table(
            box=box.SIMPLE if self.lines else box.SIMPLE_HEAD,
            show_edge=False,
            show_lines=self.lines,
            padding=(0, GAP - 1, 0, 0),
            pad_edge=False,
        )

    def show_stacked(self, console: Console) -> None:
        """Each row as a block: its name, then what it holds."""
        for number, row in enumerate(self.rows):
            name = " ".join(str(cell) for cell in row[: self.names]).strip()
            console.print(Text(name, style="bold" if number in self.stressed else "underline"))
            cells = zip(self.columns[self.names :], row[self.names :], strict=True)
            _show_block(console, [each for each in cells if str(each[1]) not in ("", EMPTY)])


def _show_block(console: Console, cells: Sequence[tuple[PrintedColumn, CellText]]) -> None:
    """Numbers in a running line, texts below each other."""
    numbers = [f"{column.heading} {cell}" for column, cell in cells if not column.text]
    if not cells:
        print_indented(console, ALL_EMPTY)
    for line in _filled(numbers, console.width - 2):
        print_indented(console, line)
    print_named(console, {column.heading: cell for column, cell in cells if column.text})


def _filled(parts: Iterable[str], width: int) -> Iterator[str]:
    """As many parts on a line as fit; a part is broken only where it is wider than a line."""
    line = ""
    for part in parts:
        longer = f"{line}   {part}" if line else part
        if line and cell_len(longer) > width:
            yield line
            longer = part
        line = longer
    if line:
        yield line


def print_trimmed(console: Console, shown: RenderableType) -> None:
    """Without the blanks that fill its lines up, which files and diffs would keep."""
    for segments in console.render_lines(shown, pad=False):
        line = Text.assemble(*((released(each.text), each.style or "") for each in segments))
        line.rstrip()
        console.print(line, soft_wrap=True)


def print_indented(
    console: Console, text: CellText, by: int = 2, style: str = "", first: str = ""
) -> None:
    """A text with all of its lines moved to the right, folded between words.

    `first` stands left of the first line, where it fits.
    """
    shown = with_held(Text(text, style=style) if isinstance(text, str) else text)
    for line in shown.wrap(console, max(console.width - by, 1), overflow="fold"):
        line.rstrip()
        console.print(Text(f"{first:{by}}").append(with_released(line)), soft_wrap=True)
        first = ""


def print_named(console: Console, texts: Mapping[str, CellText], by: int = 2) -> None:
    """Texts with their names to the left of them, or above where a word would be cut otherwise.

    Those that are empty are left out.
    """
    named = {name: text for name, text in texts.items() if str(text)}
    room = by + max(map(cell_len, named), default=0) + GAP
    for name, text in named.items():
        if room + _longest_word(str(text)) <= console.width:
            print_indented(console, text, by=room, first=f"{'':{by}}{name}")
        else:
            print_indented(console, name, by=by)
            print_indented(console, text, by=by + GAP)
