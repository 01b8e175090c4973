"""Every option that writes is tried before the work begins, and nothing of others is replaced."""

from __future__ import annotations

import importlib
import shutil
from functools import lru_cache
from pathlib import Path

import pytest
import yaml

import whitecap
from tests.command_line import invoked
from tests.sim.sim_worlds import document
from whitecap.cli import main
from whitecap.engine.errors import InvalidInput
from whitecap.exit_codes import ExitCode
from whitecap.sim.machine.places import require_directory, require_file, write_whole

EXPLAIN = "scenarios/explain/merge-and-optimize.yaml"
ROOT = Path(__file__).parents[2]


def _written(path: Path) -> Path:
    axes = {"size": {"one": {}, "two": {"writers.loader.count": 3}}}
    expect = [{"measure": "committed", "at_least": 1}]
    path.write_text(yaml.safe_dump(document(sweep={"axes": axes}, expect=expect)))
    return path


@pytest.fixture
def file(tmp_path: Path) -> Path:
    return _written(tmp_path / "small.yaml")


@pytest.fixture(scope="module")
def recorded(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A run for those who only ask what is there."""
    place = tmp_path_factory.mktemp("recorded")
    whitecap.run(_written(place / "small.yaml"), out=place / "a-run")
    return place / "a-run"


@pytest.fixture
def run(tmp_path: Path, recorded: Path) -> Path:
    return Path(shutil.copytree(recorded, tmp_path / "a-run"))


PLAN = ("--vary", "writers.loader.count=1..3", "--objective", "job_success_rate >= 99 %")
WRITERS = {
    "run --out": ["run", "FILE", "--out"],
    "run --export": ["run", "FILE", "--export"],
    "run --history": ["run", "FILE", "--history"],
    "plan --out": ["plan", "FILE", *PLAN, "--out"],
    "sensitivity --out": ["sensitivity", "FILE", "--replications", "5", "--out"],
    "advise --out": ["advise", "FILE", "--allow", "isolation", *PLAN[2:], "--out"],
    "sweep --out": ["sweep", "FILE", "--out"],
    "check --baseline": ["check", "FILE", "--update-baseline", "--baseline"],
    "check --junit": ["check", "FILE", "--junit"],
    "check --markdown": ["check", "FILE", "--markdown"],
    "replay --out": ["replay", "RUN", "--out"],
    "chaos --out": ["chaos", "FILE", "--out"],
    "chaos --save": ["chaos", "FILE", "--save"],
    "fuzz --out": ["fuzz", "--out"],
    "validate --out": ["validate", "--real", "--out"],
    "calibrate --out": ["calibrate", "DISK", "--out"],
    "explain --out": ["explain", "--table", str(ROOT / EXPLAIN), "--format", "json", "--out"],
    "init --out": ["init", "--writers", "merge", "--every", "2 min", "--takes", "9 s", "--out"],
    "from-log --out": ["from-log", "DISK", "--out"],
    "schema --out": ["schema", "--out"],
    "matrix --out": ["matrix", "--format", "json", "--out"],
}
"""Every option that names a place to write to; FILE, RUN and DISK stand for a scenario,
a run and a directory that is not there."""


@lru_cache(maxsize=1)
def _load_all_modules() -> None:
    """Before anything is replaced: a module that is loaded meanwhile would keep the replacement."""
    for room in ("sim", "checking", "commands"):
        for path in sorted((ROOT / "whitecap" / room).rglob("*.py")):
            parts = path.relative_to(ROOT).with_suffix("").parts
            importlib.import_module(".".join(parts))


def _work(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """What of the work was begun."""
    _load_all_modules()
    begun: list[str] = []
    for place in (
        "whitecap.sim.run.run_scenario",
        "whitecap.sim.sweeps.sweep_job._run_all",
        "whitecap.checking.check_scenarios",
        "whitecap.sim.replay.real.environment.require_delta",
        "whitecap.sim.replay.fuzz.fuzz",
        "whitecap.sim.chaos.campaign.run_campaign",
        "whitecap.sim.under_fire.campaign.run_under_fire",
        "whitecap.engine.races.explain.explanation.play",
        "whitecap.sim.calibration.measuring.measure",
        "whitecap.sim.machine.processes.Processes.map",
    ):
        monkeypatch.setattr(place, lambda *_, place=place, **__: begun.append(place))
    return begun


@pytest.mark.parametrize("option", sorted(WRITERS))
@pytest.mark.parametrize("place", ["/proc/x/y", "FILE/sub", "/sys/foo", 250 * "x", "b\udcff"])
def test_a_place_that_cannot_be_written_is_refused_before_the_work(
    option: str, place: str, file: Path, run: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    begun = _work(monkeypatch)
    names = {"FILE": str(file), "RUN": str(run), "DISK": str(file.parent / "disk")}
    target = place.replace("FILE", str(file))
    result = invoked(*(names.get(word, word) for word in WRITERS[option]), target)
    assert result.exit_code == ExitCode.BAD_INPUT, result.output
    assert f"{target}: cannot be written".replace("\udcff", "?") in result.stderr
    assert begun == []


@pytest.mark.parametrize("option", sorted(WRITERS.keys() - {"sweep --out"}))
def test_no_directory_is_made_that_is_called_like_a_scheme(
    option: str, file: Path, run: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    begun = _work(monkeypatch)
    monkeypatch.chdir(file.parent)
    names = {"FILE": str(file), "RUN": str(run), "DISK": str(file.parent / "disk")}
    words = (names.get(word, word) for word in WRITERS[option])
    result = invoked(*words, "s3a://bucket/x.json")
    assert result.exit_code == ExitCode.BAD_INPUT, result.output
    assert "s3a:/bucket/x.json: cannot be written: it is a URI" in result.stderr
    assert begun == []
    assert not Path("s3a:").exists()


BY_OTHER_NAMES = {("run", "--history"), ("check", "--baseline"), ("check", "--markdown")}


def test_every_command_that_writes_is_tried_here() -> None:
    from whitecap.cli import COMMANDS, FrontDoor

    assert isinstance(main, FrontDoor)
    written = {
        f"{name} {option}"
        for name in COMMANDS
        for parameter in main.get_command(None, name).params  # type: ignore[arg-type, union-attr]
        for option in parameter.opts
        if option in ("--out", "--export", "--junit", "--save") or (name, option) in BY_OTHER_NAMES
    }
    assert written == set(WRITERS)


@pytest.mark.parametrize(("option", "kind"), [("--out", "a run"), ("--export", "an exported")])
def test_a_result_that_is_there_is_replaced_only_where_that_is_said(
    option: str, kind: str, file: Path, tmp_path: Path
) -> None:
    place = tmp_path / "place"
    assert invoked("run", file, option, place).exit_code == ExitCode.FINE
    before = {path: path.read_bytes() for path in place.rglob("*") if path.is_file()}
    refused = invoked("run", file, "--seed", 5, option, place)
    assert refused.exit_code == ExitCode.BAD_INPUT
    assert f"{place}: holds {kind}" in refused.stderr
    assert {path: path.read_bytes() for path in before} == before
    replaced = invoked("run", file, "--seed", 5, option, place, "--overwrite")
    assert replaced.exit_code == ExitCode.FINE
    assert {path for path in place.rglob("*") if path.is_file()} != set(before) or any(
        path.read_bytes() != content for path, content in before.items()
    )


@pytest.mark.parametrize("option", ["--out", "--export"])
def test_what_belongs_to_others_is_left_alone_even_then(
    option: str, file: Path, tmp_path: Path
) -> None:
    (tmp_path / "theirs" / "_delta_log").mkdir(parents=True)
    (tmp_path / "theirs" / "_delta_log" / "0.json").write_text("precious")
    result = invoked("run", file, option, tmp_path / "theirs", "--overwrite")
    assert result.exit_code == ExitCode.BAD_INPUT
    assert "it is left alone" in result.stderr
    assert (tmp_path / "theirs" / "_delta_log" / "0.json").read_text() == "precious"


def test_an_empty_directory_is_filled_and_stays_the_same_one(file: Path, tmp_path: Path) -> None:
    place = tmp_path / "volume"
    place.mkdir()
    inode = place.stat().st_ino
    for _ in range(2):
        assert invoked("run", file, "--out", place, "--overwrite").exit_code == ExitCode.FINE
    assert place.stat().st_ino == inode
    assert not [path for path in place.iterdir() if path.name.startswith(".")]
    assert len(whitecap.load(place).transactions) > 0


def test_recording_and_table_do_not_overwrite_each_other(file: Path, tmp_path: Path) -> None:
    for out, export in (("a", "a"), ("a", "a/b"), ("a/b", "a")):
        result = invoked("run", file, "--out", tmp_path / out, "--export", tmp_path / export)
        assert result.exit_code == ExitCode.BAD_INPUT
    assert not (tmp_path / "a").exists()


def test_python_follows_the_same_rule(run: Path, file: Path) -> None:
    with pytest.raises(InvalidInput, match="overwrite=True"):
        whitecap.run(file, out=run)
    whitecap.run(file, seed=3, out=run, overwrite=True)
    assert whitecap.load(run).recording.manifest["seed"] == 3


def test_trying_a_place_leaves_nothing_there(tmp_path: Path) -> None:
    require_file(tmp_path / "a" / "b" / "c.json")
    require_directory(tmp_path / "d" / "e")
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    "arguments",
    [
        ["schema", "--out"],
        ["matrix", "--format", "json", "--out"],
        ["explain", "--table", "merge-and-optimize", "--format", "json", "--out"],
        ["check", "regression/throttled", "--junit"],
    ],
)
def test_no_result_takes_the_place_of_a_scenario(arguments: list[str], file: Path) -> None:
    before = file.read_text()
    result = invoked(*arguments, file)
    assert result.exit_code == ExitCode.BAD_INPUT
    said = "is there already and is no such result, but YAML; it is left alone"
    assert result.stderr == f"error: {file}: {said}\n"
    assert file.read_text() == before


def test_what_is_written_to_may_be_no_ordinary_file() -> None:
    require_file(Path("/dev/null"))


def test_trying_a_place_makes_nothing_that_another_process_could_find(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Runs of a sweep try their directories at the same time."""

    def making(*_: object, **__: object) -> None:
        raise AssertionError("something was made")

    monkeypatch.setattr(Path, "mkdir", making)
    require_directory(tmp_path / "runs" / "cell")
    assert not list(tmp_path.iterdir())


def test_what_finds_the_disk_full_is_printed_instead() -> None:
    words = ["explain", "--table", str(ROOT / EXPLAIN), "--format", "json"]
    printed = invoked(*words)
    refused = invoked(*words, "--out", "/dev/full")
    assert refused.exit_code == ExitCode.ENVIRONMENT_MISSING
    assert refused.stdout == printed.stdout
    assert refused.stderr == "error: [Errno 28] No space left on device: '/dev/full'\n"


def _files(directory: Path) -> dict[Path, bytes]:
    return {path: path.read_bytes() for path in directory.rglob("*") if path.is_file()}


@pytest.mark.parametrize(
    ("words", "options"),
    [
        ("check FILE --baseline b.json --markdown ./b.json", "--baseline and --markdown"),
        ("check FILE --baseline b.json --junit ../HERE/b.json", "--baseline and --junit"),
        ("check FILE --baseline b.json --junit link.json", "--baseline and --junit"),
        (
            "check FILE --baseline b.json --update-baseline --junit b.json",
            "--baseline and --junit",
        ),
        ("check FILE --junit same.xml --markdown same.xml", "--junit and --markdown"),
        ("calibrate DISK --out same.yaml --save-samples same.yaml", "--out and --save-samples"),
        (
            "calibrate --samples given.csv --out given.csv --overwrite",
            "--samples and --out",
        ),
        ("from-log DISK --failures given.csv --out given.csv --overwrite", "--failures and --out"),
        ("chaos FILE --out same --save same", "--out and --save"),
    ],
)
def test_two_options_never_name_one_place(
    words: str, options: str, file: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    begun = _work(monkeypatch)
    monkeypatch.chdir(file.parent)
    for name in ("b.json", "given.csv"):
        Path(name).write_text("precious")
    Path("link.json").symlink_to("b.json")
    before = _files(file.parent)
    names = {"FILE": str(file), "DISK": str(file.parent / "disk"), "HERE": file.parent.name}
    for name, value in names.items():
        words = words.replace(name, value)
    result = invoked(*words.split())
    assert result.exit_code == ExitCode.BAD_INPUT, result.output
    assert f"error: {options} name one place: " in result.stderr
    assert begun == []
    assert _files(file.parent) == before


@pytest.mark.parametrize("place", ["manifest.json", "deep/history.jsonl"])
@pytest.mark.parametrize("option", ["--out", "--export"])
def test_a_file_lies_in_no_directory_that_its_command_fills(
    option: str, place: str, file: Path, tmp_path: Path
) -> None:
    directory = tmp_path / "new"
    result = invoked("run", file, option, directory, "--history", directory / place)
    assert result.exit_code == ExitCode.BAD_INPUT
    assert f"error: --history must not lie within {option}: {directory / place}\n" in result.stderr
    assert not directory.exists()


def test_no_file_is_written_into_a_recording_or_a_table(
    file: Path, run: Path, tmp_path: Path
) -> None:
    sweep, table = tmp_path / "a-sweep", tmp_path / "a-table"
    swept = invoked("sweep", file, "--engine", "processes", "--out", sweep)
    assert swept.exit_code == ExitCode.FINE, swept.stderr
    assert invoked("run", file, "--export", table, "--quiet").exit_code == ExitCode.FINE
    before = _files(tmp_path)
    kinds = {run: "a run's directory", sweep: "a sweep's directory", table: "a Delta table"}
    for directory, kind in kinds.items():
        result = invoked("run", file, "--history", directory / "deep" / "x.jsonl")
        assert result.exit_code == ExitCode.BAD_INPUT
        assert f"{directory} is {kind}, which keeps to itself" in result.stderr
    assert _files(tmp_path) == before


@pytest.mark.parametrize(
    "words",
    [
        ["run", "FILE", "--quiet", "--history"],
        ["check", "FILE", "--replications", "2", "--junit"],
        ["check", "FILE", "--replications", "2", "--markdown"],
        ["schema", "--out"],
        ["schema", "--markdown", "--out"],
        ["matrix", "--pair", "UPDATE", "DELETE", "--format", "json", "--out"],
        ["matrix", "--pair", "UPDATE", "DELETE", "--format", "html", "--out"],
        ["matrix", "--pair", "UPDATE", "DELETE", "--format", "markdown", "--out"],
        ["explain", "--table", str(ROOT / EXPLAIN), "--format", "json", "--out"],
        ["explain", "--table", str(ROOT / EXPLAIN), "--format", "html", "--out"],
    ],
    ids=" ".join,
)
def test_a_result_replaces_one_of_its_kind_and_nothing_else(words: list[str], file: Path) -> None:
    words = [word.replace("FILE", str(file)) for word in words]
    place = file.parent / "result"
    place.write_text('{"dependencies": {}}')
    refused = invoked(*words, place)
    assert refused.exit_code == ExitCode.BAD_INPUT
    assert f"{place}: is there already and is no such result; it is left alone" in refused.stderr
    assert place.read_text() == '{"dependencies": {}}'
    place.write_text("")
    for _ in range(2):
        assert invoked(*words, place).exit_code == ExitCode.FINE
    assert place.stat().st_size


def test_a_file_that_could_not_be_written_whole_leaves_nothing_behind(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(*_: object) -> None:
        raise OSError(28, "No space left on device")

    write_whole(tmp_path / "x", b"before")
    monkeypatch.setattr(Path, "replace", full)
    with pytest.raises(OSError, match="No space"):
        write_whole(tmp_path / "x", b"after")
    assert _files(tmp_path) == {tmp_path / "x": b"before"}


def test_what_is_no_ordinary_file_stays_what_it_is(tmp_path: Path) -> None:
    """A link names the same file as before, and a pipe is one still."""
    (tmp_path / "link").symlink_to("file")
    write_whole(tmp_path / "link", b"content")
    assert (tmp_path / "link").is_symlink()
    assert (tmp_path / "file").read_bytes() == b"content"
    write_whole(Path("/dev/null"), b"content")
    assert Path("/dev/null").is_char_device()
