"""Without a terminal: a plain line every tenth or half minute of what takes longer."""

from __future__ import annotations

import re
import sys
import time
from io import StringIO

import pytest
from rich.console import Console

from whitecap.terminal.progress import LATEST_S, Lines, progress, tracked


class Clock:
    """Seconds that pass when they are told to."""

    def __init__(self) -> None:
        self.now = 0.0

    def __call__(self) -> float:
        return self.now


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def printed() -> list[str]:
    return []


@pytest.fixture
def lines(clock: Clock, printed: list[str]) -> Lines:
    return Lines("runs", printed.append, clock)


def test_of_a_total_that_is_a_bound_the_time_left_is_one_too(
    clock: Clock, printed: list[str]
) -> None:
    lines = Lines("advise", printed.append, clock, is_bound=True)
    for done in range(0, 41, 10):
        lines.show(done, 100)
        clock.now += 10
    assert printed[-1] == "advise: 40 %, 40 s so far, at most 1 min 0 s left"


def test_there_is_a_line_for_every_tenth_of_the_work(
    lines: Lines, clock: Clock, printed: list[str]
) -> None:
    for done in range(1, 41):
        clock.now += 6
        lines.show(done, 40, f"{done} of 40")
    assert len(printed) == 10
    assert printed[0] == "runs: 10 %, 4 of 40, 24 s so far, about 3 min 36 s left"
    assert printed[-1] == "runs: 100 %, 40 of 40, 4 min 0 s so far"


def test_a_tenth_that_takes_long_has_a_line_every_half_minute(
    lines: Lines, clock: Clock, printed: list[str]
) -> None:
    lines.show(0, 100, "0 of 100")
    lines.show(1, 100, "1 of 100")
    for _ in range(300):
        clock.now += 1
        lines.beat()
    assert len(printed) == 300 / LATEST_S
    assert printed[0] == "runs: 1 %, 1 of 100, 30 s so far"


def test_what_came_before_the_first_part_was_done_is_not_taken_for_the_rate(
    lines: Lines, clock: Clock, printed: list[str]
) -> None:
    """A JVM that starts, or runs that were made before and are kept."""
    lines.show(0, 100, "starting Spark")
    clock.now = 25
    for done in range(1, 31):
        lines.show(done, 100)
        clock.now += 0.5
    lines.beat()
    assert printed[:2] == ["runs: 10 %, 30 s so far", "runs: 20 %, 34 s so far, about 40 s left"]


def test_no_rate_is_told_of_parts_that_came_together(
    lines: Lines, clock: Clock, printed: list[str]
) -> None:
    clock.now = LATEST_S
    lines.show(1, 100)
    lines.show(2, 100)
    lines.beat()
    assert printed == ["runs: 2 %, 30 s so far"]


def test_no_rate_is_told_where_more_work_came_than_was_done(
    lines: Lines, clock: Clock, printed: list[str]
) -> None:
    lines.show(5, 10)
    clock.now = LATEST_S
    lines.show(6, 20)
    lines.beat()
    assert printed == ["runs: 30 %, 30 s so far"]


def test_what_is_done_in_seconds_says_nothing(
    lines: Lines, clock: Clock, printed: list[str]
) -> None:
    for done in range(1, 11):
        clock.now += 0.4
        lines.show(done, 10)
        lines.beat()
    assert printed == []


def test_work_of_unknown_size_says_that_it_goes_on(
    lines: Lines, clock: Clock, printed: list[str]
) -> None:
    lines.show(0, None, "3 races")
    clock.now = 3700
    lines.beat()
    assert printed == ["runs, 3 races, 1 h 1 min so far"]


def test_a_note_that_is_asked_says_what_is_so_when_a_line_is_due(
    lines: Lines, clock: Clock, printed: list[str]
) -> None:
    asked = 0

    def tried() -> str:
        nonlocal asked
        asked += 1
        return f"{clock.now:.0f} tried"

    lines.show(1, 10, tried)
    for _ in range(int(2 * LATEST_S)):
        clock.now += 1
        lines.beat()
    assert [line.split(", ")[1] for line in printed] == ["30 tried", "60 tried"]
    assert asked == len(printed)


@pytest.fixture
def terminal(monkeypatch: pytest.MonkeyPatch) -> Console:
    """One of 80 columns."""
    console = Console(file=StringIO(), width=80, force_terminal=True)
    monkeypatch.setattr("whitecap.terminal.progress.new_console", lambda **_: console)
    monkeypatch.setattr(sys.stderr, "isatty", lambda: True, raising=False)
    return console


def _frames(terminal: Console) -> list[str]:
    assert isinstance(terminal.file, StringIO)
    plain = re.sub(r"\x1b\[[0-9;?]*[A-Za-z]", "", terminal.file.getvalue())
    return [line.rstrip() for line in re.split(r"[\r\n]+", plain)]


def test_a_short_note_stands_beside_its_bar(terminal: Console) -> None:
    with progress("work") as show:
        show(1, 2, "1 of 2")
    assert any(line.startswith("work, 1 of 2 ━") for line in _frames(terminal))


def test_a_note_that_would_squeeze_the_bar_stands_below_it_and_is_asked_anew(
    terminal: Console,
) -> None:
    asked = iter(range(1000))
    with progress("work") as show:
        show(1, 2, lambda: f"{'a long note, ' * 3}{next(asked)} tried")
        time.sleep(0.5)
    frames = _frames(terminal)
    [before, *_] = [line for line in frames if line.startswith("work ━") and " 50% 0:00:00" in line]
    assert len(before) <= 80
    said = {line for line in frames if line.endswith(" tried")}
    assert all(line.startswith("a long note, ") for line in said)
    assert len(said) > 2


def test_lines_go_to_stderr_alone(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("whitecap.terminal.progress.SOONEST_S", 0.0)
    assert list(tracked("abc", 3, "letters")) == ["a", "b", "c"]
    out, err = capsys.readouterr()
    assert out == ""
    assert [line.split(",")[1].strip() for line in err.splitlines()] == [
        "1 of 3", "2 of 3", "3 of 3",
    ]  # fmt: skip


def test_quiet_is_quiet(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("whitecap.terminal.progress.SOONEST_S", 0.0)
    with progress("work", quiet=True) as show:
        show(1, 2)
    assert capsys.readouterr() == ("", "")


def test_the_thread_that_looks_at_the_clock_ends_with_the_work(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    import threading

    monkeypatch.setattr(sys.stderr, "isatty", lambda: False, raising=False)
    with progress("work"):
        assert any(thread.name == "progress" for thread in threading.enumerate())
    assert not any(thread.name == "progress" for thread in threading.enumerate())


def test_a_line_fits_into_a_terminal(clock: Clock, printed: list[str]) -> None:
    lines = Lines("plan", printed.append, clock, is_bound=True)
    for done in range(0, 16, 2):
        lines.show(done, 40, f"as it stands at 1, {done} of at most 40 runs")
        clock.now += 10
    assert "plan: 20 %, as it stands at 1, 8 of at most 40 runs, at most " in "\n".join(printed)
    lines.show(20, 40, f"{'a variant with a name that is as long as a line, ' * 2}20 of 40 runs")
    assert printed[-1].endswith("…, at most 1 min 18 s left")
    assert all(len(each) <= 80 for each in printed)
