"""How far a long job is: a bar on a terminal, plain lines on stderr everywhere else.

A line comes with every tenth of the work, but not in quick succession, and after half a minute in
any case: whoever reads a log sees that something happens, and a job of seconds says nothing.
"""

from __future__ import annotations

import sys
import threading
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from typing import Protocol, TypeVar

from rich.cells import cell_len
from rich.console import RenderableType
from rich.progress import (
    BarColumn,
    Progress,
    TaskProgressColumn,
    TextColumn,
    TimeElapsedColumn,
    TimeRemainingColumn,
)
from rich.text import Text

from whitecap.terminal.console import new_console

T = TypeVar("T")

ProgressNote = str | Callable[[], str]
"""What is said beside the share, or what is asked for it whenever it is shown."""

TENTHS = 10
LATEST_S = 30.0
"""After so long without a line there is one, whatever happened."""

WIDTH = 80
"""Columns of a line: those of a terminal that nobody has made wider."""

SOONEST_S = 5.0
"""Between two lines, and before the first: tenths that pass sooner are not told, nor a rate."""


class Show(Protocol):
    """Tells how far the work is; without `total`, how much there is of it is not known."""

    def __call__(
        self, done: float, total: float | None = None, note: ProgressNote = ""
    ) -> None: ...


@contextmanager
def progress(what: str, *, quiet: bool = False, is_bound: bool = False) -> Iterator[Show]:
    """Show how far a job is while it lasts; `is_bound`: it may well end before its total."""
    if quiet:
        yield _nothing
    elif sys.stderr.isatty():
        with _bar(what, is_bound) as show:
            yield show
    else:
        with _lines(what, is_bound) as show:
            yield show


def tracked(items: Iterable[T], total: int, what: str, *, quiet: bool = False) -> Iterator[T]:
    """The same items, with how many of them there have been."""
    with progress(what, quiet=quiet) as show:
        show(0, total, f"0 of {total}")
        for done, item in enumerate(items, start=1):
            show(done, total, f"{done} of {total}")
            yield item


def _nothing(done: float, total: float | None = None, note: ProgressNote = "") -> None:
    """For those who want to see none."""


def _said(note: ProgressNote) -> str:
    return note() if callable(note) else note


BAR = 20
BESIDE = len(f" {'━' * BAR} 100% 0:00:00 0:00:00")
"""Columns of what stands beside the words."""


class _Bar(Progress):
    """One job: a note that leaves no room for the bar beside it stands below."""

    note: ProgressNote = ""

    def get_renderables(self) -> Iterable[RenderableType]:
        """Called by rich some ten times a second."""
        note = _said(self.note)
        for task in self.tasks:
            what = str(task.fields["what"])
            said = f"{what}, {note}" if note else what
            is_below = cell_len(said) + BESIDE > self.console.width
            task.description = what if is_below else said
            yield self.make_tasks_table([task])
            if is_below:
                yield Text(note)


@contextmanager
def _bar(what: str, is_bound: bool) -> Iterator[Show]:
    columns = (
        TextColumn("{task.description}"),
        BarColumn(bar_width=BAR),
        TaskProgressColumn(),
        TimeElapsedColumn(),
        *([] if is_bound else [TimeRemainingColumn()]),
    )
    # Prints go through the bar's console, which is stderr: right only if both are one terminal.
    shared = sys.stdout.isatty()
    console = new_console(stderr=True)
    with _Bar(*columns, console=console, transient=True, redirect_stdout=shared) as bar:
        task = bar.add_task(what, total=None, what=what)

        def show(done: float, total: float | None = None, note: ProgressNote = "") -> None:
            bar.note = note
            bar.update(task, completed=done, total=total)

        yield show


@contextmanager
def _lines(what: str, is_bound: bool) -> Iterator[Show]:
    lines = Lines(what, _write_line, time.monotonic, is_bound=is_bound)
    ended = threading.Event()

    def beat() -> None:
        while not ended.wait(1.0):
            lines.beat()

    thread = threading.Thread(target=beat, name="progress", daemon=True)
    thread.start()
    try:
        yield lines.show
    finally:
        ended.set()
        thread.join()


def _write_line(text: str) -> None:
    print(text, file=sys.stderr, flush=True)


class Lines:
    """Decides when a line is due, and words it. `clock` is in seconds."""

    def __init__(
        self,
        what: str,
        write: Callable[[str], None],
        clock: Callable[[], float],
        *,
        is_bound: bool = False,
    ) -> None:
        self._what = what
        self._left_word = "at most" if is_bound else "about"
        self._write = write
        self._clock = clock
        self._began = self._told_at = clock()
        self._share = 0.0
        self._told_share = 0.0
        self._first: tuple[float, float] | None = None
        self._note: ProgressNote = ""
        self._lock = threading.Lock()

    def show(self, done: float, total: float | None = None, note: ProgressNote = "") -> None:
        """The work went on."""
        with self._lock:
            self._share = done / total if total else 0.0
            self._note = note
            if self._share and self._first is None:
                self._first = self._clock(), self._share
            passed = int(self._share * TENTHS) > int(self._told_share * TENTHS)
            if passed and self._clock() - self._told_at >= SOONEST_S:
                self._tell()

    def beat(self) -> None:
        """Time went on."""
        with self._lock:
            if self._clock() - self._told_at >= LATEST_S:
                self._tell()

    def _tell(self) -> None:
        now = self._clock()
        elapsed = now - self._began
        share = f"{self._what}: {self._share:.0%}".replace("%", " %") if self._share else self._what
        note, left = _said(self._note), self._left(now)
        left_text = f"{self._left_word} {span(left)} left" if left else ""
        self._told_at, self._told_share = now, self._share
        self._write(_fitting(share, note, f"{span(elapsed)} so far", left_text))

    def _left(self, now: float) -> float | None:
        """Seconds, at the rate since the first part was done; `None` while nobody can know it.

        What came before it, a JVM that starts or runs that are kept, says nothing of the rate.
        """
        began, share = self._first or (now, self._share)
        if now - began < SOONEST_S or self._share <= share:
            return None
        return (1 - self._share) * (now - began) / (self._share - share)


def _fitting(share: str, note: str, elapsed: str, left: str) -> str:
    """A line of `WIDTH` columns: what has passed leaves it before what is to come, and the note is
    cut where it is too long even so."""
    line = ", ".join(filter(None, (share, note, elapsed, left)))
    if len(line) > WIDTH and left:
        line = ", ".join(filter(None, (share, note, left)))
    beyond = len(line) - WIDTH
    return line.replace(note, f"{note[: -beyond - 1]}…") if 0 < beyond < len(note) - 1 else line


def span(seconds: float) -> str:
    """How long, as one says it: `1 h 12 min`, `3 min 5 s`."""
    minutes, rest = divmod(round(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    if hours:
        return f"{hours} h {minutes} min"
    return f"{minutes} min {rest} s" if minutes else f"{rest} s"
