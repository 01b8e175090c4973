"""However a command ends: one message, one exit code, no traceback, and the same in the help."""

from __future__ import annotations

import importlib
import io
import json
import os
import signal
import subprocess
import sys
from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import IO

import click
import pytest
from click.testing import CliRunner

from tests.command_line import invoked
from whitecap import cli
from whitecap.exit_codes import TESTS, ExitCode, exit_codes_of
from whitecap.process import sound_streams
from whitecap.sim.machine.processes import ProcessKilled

ROOT = Path(__file__).parents[2]
COMMAND_LINE = (ROOT / "docs" / "command-line.md").read_text(encoding="utf-8")


@pytest.mark.parametrize("option", ["-h", "--help"])
@pytest.mark.parametrize("name", [None, *sorted(cli.COMMANDS)])
def test_help_ends_with_the_exit_codes(name: str | None, option: str) -> None:
    result = CliRunner().invoke(cli.main, [option] if name is None else [name, option])
    assert result.exit_code == ExitCode.FINE
    lines = [f"    {code:<4} {meaning}" for code, meaning in exit_codes_of(name).items()]
    assert result.output.splitlines()[-len(lines) :] == lines
    assert max(map(len, lines)) <= 60


def test_only_commands_that_test_something_exit_1() -> None:
    assert set(TESTS) < set(cli.COMMANDS)
    assert ExitCode.EXPECTATION_MISSED not in exit_codes_of("run")
    assert exit_codes_of("replay")[ExitCode.EXPECTATION_MISSED] == TESTS["replay"]


def test_the_documentation_has_the_same_exit_codes() -> None:
    for code in ExitCode:
        assert f"| {code.value} | {code.meaning} |" in COMMAND_LINE
    for command, meaning in TESTS.items():
        assert f"| `{command}` | {meaning}" in COMMAND_LINE


@pytest.mark.parametrize("command", ["plan", "sensitivity", "advise"])
def test_what_python_calls_otherwise_goes_by_its_option(command: str) -> None:
    needed = {"plan": ["--vary", "writers.etl.count=1..3"], "advise": ["--allow", "isolation"]}
    asked = [command, "capacity", *needed.get(command, []), "--max-runs", "3"]
    result = CliRunner().invoke(cli.main, asked)
    assert result.exit_code == ExitCode.BAD_INPUT
    assert result.stderr.startswith("error: --max-runs: 3 are not enough to")


@pytest.fixture
def failing(monkeypatch: pytest.MonkeyPatch) -> list[BaseException]:
    """Makes `whitecap dialects` end with the error that a test puts in here."""
    errors: list[BaseException] = []

    @click.command()
    def dialects() -> None:
        raise errors[0]

    module = importlib.import_module("whitecap.commands.dialects")
    monkeypatch.setattr(module, "dialects", dialects)
    return errors


def _invoke() -> tuple[int, str]:
    result = CliRunner().invoke(cli.main, ["dialects"])
    return result.exit_code, result.stderr


def test_an_unexpected_error_is_one_line_and_a_file_with_the_rest(
    failing: list[BaseException], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    failing.append(KeyError("nobody\nexpected this"))
    code, stderr = _invoke()
    (details,) = tmp_path.iterdir()
    assert code == ExitCode.INTERNAL_ERROR
    assert stderr.splitlines()[0] == "internal error: KeyError: 'nobody\\nexpected this'"
    assert str(details) in stderr
    assert "Traceback" not in stderr
    assert "Traceback" in details.read_text()
    assert "whitecap 0" in details.read_text()


def test_a_variable_prints_the_traceback_instead(
    failing: list[BaseException], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    monkeypatch.setenv("WHITECAP_TRACEBACK", "1")
    failing.append(ValueError("x"))
    code, stderr = _invoke()
    assert code == ExitCode.INTERNAL_ERROR
    assert "Traceback (most recent call last)" in stderr
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize(
    ("error", "expected", "said"),
    [
        (KeyboardInterrupt(), ExitCode.INTERRUPTED, "interrupted\n"),
        (KeyboardInterrupt("all is kept"), ExitCode.INTERRUPTED, "interrupted: all is kept\n"),
        (click.Abort(), ExitCode.INTERRUPTED, "interrupted\n"),
        (OSError(28, "No space left on device", "out"), ExitCode.ENVIRONMENT_MISSING, "No space"),
        (RecursionError("maximum"), ExitCode.BAD_INPUT, "nested too deeply"),
        (OSError(36, "File name too long", "x"), ExitCode.BAD_INPUT, "error: x: cannot be read: f"),
        (BrokenPipeError("of somebody else"), ExitCode.INTERNAL_ERROR, "internal error"),
    ],
)
def test_each_ending_has_its_code(
    failing: list[BaseException], error: BaseException, expected: ExitCode, said: str
) -> None:
    failing.append(error)
    code, stderr = _invoke()
    assert (code, said in stderr) == (expected, True)


def test_an_interruption_that_came_as_another_error_is_one(failing: list[BaseException]) -> None:
    try:
        try:
            raise KeyboardInterrupt
        except KeyboardInterrupt as pressed:
            raise RuntimeError("the connection was lost") from pressed
    except RuntimeError as error:
        failing.append(error)
    assert _invoke() == (ExitCode.INTERRUPTED, "interrupted\n")


CHECK = ["check", "regression/throttled", "--replications", "2"]


def _whitecap(*arguments: str) -> list[str]:
    return [sys.executable, "-m", "whitecap", *arguments]


@pytest.mark.parametrize("form", ["json", "text"])
def test_a_reader_that_goes_away_is_no_error(form: str) -> None:
    command = _whitecap("dialects", "--format", form)
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as process:
        assert process.stdout is not None
        assert process.stderr is not None
        process.stdout.close()
        stderr = process.stderr.read()
    assert (process.returncode, stderr) == (ExitCode.READER_GONE, b"")


@pytest.mark.parametrize("words", [("--help",), ("run", "--help"), ("dialects",)])
def test_what_cannot_be_printed_is_told_in_one_line(words: tuple[str, ...]) -> None:
    with Path("/dev/full").open("w") as full:
        ended = subprocess.run(
            _whitecap(*words), stdout=full, stderr=subprocess.PIPE, text=True, check=False
        )
    assert ended.returncode == ExitCode.ENVIRONMENT_MISSING
    assert ended.stderr == "error: [Errno 28] No space left on device\n"


INTERRUPTED_POOL = """
import os, signal, threading, time
from whitecap.sim.machine import processes
processes.HERE_S = -1
threading.Timer({after_s}, os.{reached}, ({whom}, signal.SIGINT)).start()
try:
    with processes.Processes(2) as two:
        list(two.map(time.sleep, [600] * 30))
except KeyboardInterrupt:
    print("interrupted")
"""


KILLED_PROCESS = """
import os
from whitecap.sim.machine import processes
processes.HERE_S = -1
with processes.Processes(2) as two:
    try:
        list(two.map(os._exit, [9, 9, 9]))
    except processes.ProcessKilled as error:
        print(error)
"""


def test_a_process_that_is_killed_is_told_with_what_helps(failing: list[BaseException]) -> None:
    ended = subprocess.run(
        [sys.executable, "-c", KILLED_PROCESS],
        capture_output=True, text=True, timeout=120, check=False,
    )  # fmt: skip
    assert "was killed, as when memory runs out" in ended.stdout
    failing.append(ProcessKilled())
    code, stderr = _invoke()
    assert code == ExitCode.ENVIRONMENT_MISSING
    assert stderr.startswith("error: a process that worked for this one was killed")


@pytest.mark.parametrize("after_s", [0.05, 1], ids=["beginning", "under way"])
@pytest.mark.parametrize(
    ("reached", "whom"), [("killpg", "0"), ("kill", "os.getpid()")], ids=["all", "only the caller"]
)
def test_processes_that_work_for_a_command_end_with_it_and_say_nothing(
    reached: str, whom: str, after_s: float
) -> None:
    script = INTERRUPTED_POOL.format(reached=reached, whom=whom, after_s=after_s)
    ended = subprocess.run(
        [sys.executable, "-c", script],
        capture_output=True, text=True, start_new_session=True, timeout=120, check=False,
    )  # fmt: skip
    assert (ended.stdout, ended.stderr, ended.returncode) == ("interrupted\n", "", 0)


POOL_IN_THE_BACKGROUND = """
import os, signal, time
from whitecap.sim.machine import processes
processes.HERE_S = -1
signal.signal(signal.SIGINT, signal.SIG_IGN)
with processes.Processes(2) as two:
    for done, _ in enumerate(two.map(time.sleep, [0, 0, 1, 1, 1])):
        if done == 1:
            os.killpg(0, signal.SIGINT)
print("done")
"""


def test_processes_ignore_ctrl_c_where_their_caller_does() -> None:
    """It reaches all of them, as of a script that is stopped whose commands go on behind it."""
    ended = subprocess.run(
        [sys.executable, "-c", POOL_IN_THE_BACKGROUND],
        capture_output=True, text=True, start_new_session=True, timeout=120, check=False,
    )  # fmt: skip
    assert (ended.stdout, ended.stderr, ended.returncode) == ("done\n", "", 0)


KILLED_CALLER = """
import os, signal, threading, time
from whitecap.sim.machine import processes
processes.HERE_S = -1
with processes.Processes(2) as two:
    for _ in two.map(time.sleep, [0, 600, 600]):
        os.kill(os.getpid(), signal.SIGKILL)
"""


def test_processes_that_work_for_a_command_end_with_it_when_it_is_killed() -> None:
    """All of them write to one pipe, which ends with the last of them."""
    ended = subprocess.run(
        [sys.executable, "-c", KILLED_CALLER],
        capture_output=True, text=True, timeout=120, check=False,
    )  # fmt: skip
    assert (ended.stdout, ended.returncode) == ("", -signal.SIGKILL)


def test_sigterm_is_what_ctrl_c_is_while_a_command_runs_and_as_before_after_it(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    terminating = click.Command("dialects", callback=partial(signal.raise_signal, signal.SIGTERM))
    monkeypatch.setattr(cli, "command_named", lambda name: terminating)
    before = signal.getsignal(signal.SIGINT), signal.getsignal(signal.SIGTERM)
    assert _invoke() == (ExitCode.INTERRUPTED, "interrupted\n")
    try:
        signal.signal(signal.SIGINT, signal.SIG_IGN)
        assert _invoke() == (ExitCode.INTERRUPTED, "interrupted\n")
    finally:
        signal.signal(signal.SIGINT, before[0])
    assert signal.getsignal(signal.SIGTERM) is before[1]


def _ended(words: Sequence[str], streams: str, **environment: str) -> tuple[int, str, str]:
    """How a command ends whose streams the shell redirects so, and what is heard of it."""
    ended = subprocess.run(
        ["sh", "-c", f'exec "$@" {streams}', "sh", *_whitecap(*words)],
        capture_output=True, env={**os.environ, **environment}, timeout=120, check=False,
    )  # fmt: skip
    return ended.returncode, ended.stdout.decode("latin-1"), ended.stderr.decode("latin-1")


@pytest.mark.parametrize("streams", ["2>/dev/full", "<&- >&- 2>&-"])
@pytest.mark.parametrize("words", ["run nothing.yaml", "run --bogus", "bogus", "init"])
def test_bad_input_has_its_code_where_it_cannot_be_told(words: str, streams: str) -> None:
    code, stdout, stderr = _ended(words.split(), f"{streams} </dev/null")
    assert (code, stdout, stderr) == (ExitCode.BAD_INPUT, "", "")


@pytest.mark.parametrize("streams", [">&-", "2>&-", "<&-"])
def test_a_closed_stream_is_one_that_nobody_listens_to(streams: str) -> None:
    code, stdout, stderr = _ended(["dialects"], streams)
    assert (code, stderr) == (ExitCode.FINE, "")
    assert (stdout == "") == (streams == ">&-")


@pytest.mark.parametrize("encoding", ["ascii", "latin-1"])
def test_what_an_encoding_has_not_is_no_end_of_a_command(encoding: str) -> None:
    code, stdout, stderr = _ended([*CHECK, "--json"], "", PYTHONIOENCODING=encoding)
    assert code == ExitCode.FINE, stderr
    assert json.loads(stdout)["scenarios"][0]["verdict"] == "ok"


def test_characters_that_a_stream_has_not_are_question_marks(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    raw = io.BytesIO()
    monkeypatch.setattr(sys, "stdout", io.TextIOWrapper(raw, encoding="latin-1"))
    with sound_streams():
        click.echo("two … \udcff")
    assert raw.getvalue() == b"two ? ?\n"
    assert sys.stdout.errors == "strict"


@pytest.mark.parametrize("form", [[], ["--json"]])
@pytest.mark.parametrize("expected", [ExitCode.ENVIRONMENT_MISSING, ExitCode.READER_GONE])
def test_files_are_written_though_nothing_can_be_printed(
    expected: ExitCode, form: list[str], tmp_path: Path
) -> None:
    files = [tmp_path / "c.xml", tmp_path / "c.md", tmp_path / "b.json"]
    words = ["--junit", files[0], "--markdown", files[1], "--baseline", files[2]]
    command = _whitecap(*CHECK, *form, *map(str, words), "--update-baseline")
    is_full = expected is ExitCode.ENVIRONMENT_MISSING
    with Path("/dev/full").open("wb") if is_full else _pipe_without_reader() as stdout:
        ended = subprocess.run(command, stdout=stdout, stderr=subprocess.PIPE, check=False)
    assert ended.returncode == expected, ended.stderr
    assert all(file.stat().st_size for file in files)


def _pipe_without_reader() -> IO[bytes]:
    reader, writer = os.pipe()
    os.close(reader)
    return os.fdopen(writer, "wb")


def test_the_result_is_printed_before_files_are_written_and_each_is_tried(tmp_path: Path) -> None:
    words = ["--json", "--junit", "/dev/full", "--markdown", str(tmp_path / "c.md")]
    result = invoked(*CHECK, *words)
    assert result.exit_code == ExitCode.ENVIRONMENT_MISSING
    assert json.loads(result.stdout)["counts"]["ok"] == 1
    assert "error: [Errno 28] No space left on device: '/dev/full'\n" in result.stderr
    assert (tmp_path / "c.md").stat().st_size


def test_every_file_that_could_not_be_written_is_told(failing: list[BaseException]) -> None:
    full = [OSError(28, "No space left on device", name) for name in ("a", "b")]
    failing.append(ExceptionGroup("results", full))
    code, stderr = _invoke()
    assert code == ExitCode.ENVIRONMENT_MISSING
    assert stderr.splitlines()[-2:] == [f"error: {each}" for each in full]


def test_a_run_that_found_the_disk_full_is_printed() -> None:
    result = invoked("run", "regression/throttled", "--json", "--history", "/dev/full")
    assert result.exit_code == ExitCode.ENVIRONMENT_MISSING
    assert json.loads(result.stdout)["history"] is None
    assert "error: [Errno 28] No space left on device: '/dev/full'\n" in result.stderr


def test_a_full_disk_is_told_with_the_place(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Parquet's writer names none, and has the number twice."""

    def full(*_: object) -> None:
        raise OSError(28, "Error writing bytes to file. Detail: [errno 28] No space left on device")

    monkeypatch.setattr("whitecap.sim.recording.recording._write_files", full)
    result = invoked("run", "regression/throttled", "--json", "--out", tmp_path / "r")
    assert result.exit_code == ExitCode.ENVIRONMENT_MISSING
    assert json.loads(result.stdout)["recording"] is None
    assert f"error: [Errno 28] No space left on device: '{tmp_path / 'r'}'\n" in result.stderr
    assert list(tmp_path.iterdir()) == []
