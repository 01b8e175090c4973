"""What a machine without Java, packages, network or a writable cache is told."""

from __future__ import annotations

import importlib
import stat
import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from msgspec.structs import replace

from tests.conformance.seen import SEEN
from whitecap.engine.races.conformance.case import StatementCase
from whitecap.exit_codes import ExitCode, exit_code_of
from whitecap.sim.replay import conformance
from whitecap.sim.replay.real import environment, jars
from whitecap.sim.replay.real.environment import EnvironmentMissing, java_major
from whitecap.sim.replay.real.releases import INSTALLED


def _fake_java(folder: Path, version_line: str) -> Path:
    executable = folder / "bin" / "java"
    executable.parent.mkdir(parents=True)
    executable.write_text(f"#!/bin/sh\necho '{version_line}' >&2\n")
    executable.chmod(executable.stat().st_mode | stat.S_IXUSR)
    return folder


@pytest.mark.parametrize(
    ("text", "major"),
    [
        ('openjdk version "17.0.15" 2025-04-15', 17),
        ('java version "1.8.0_392"', 8),
        ('openjdk version "21" 2023-09-19', 21),
        ("no Java at all", None),
    ],
)
def test_the_release_of_a_java_is_read_from_its_version_text(text: str, major: int | None) -> None:
    assert java_major(text) == major


def test_without_java_the_message_says_what_to_install(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.delenv("JAVA_HOME", raising=False)
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(EnvironmentMissing, match=r"Java is not there\. Install a Java runtime 17"):
        environment.require_spark()


def test_a_java_that_is_too_old_is_named_with_its_release(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("JAVA_HOME", str(_fake_java(tmp_path, 'openjdk version "11.0.2"')))
    with pytest.raises(EnvironmentMissing, match="is Java 11; Spark needs 17"):
        environment.require_spark()


@pytest.mark.parametrize("name", environment.JAVA_OPTIONS)
def test_a_java_that_refuses_its_options_is_told_in_its_own_words(
    name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(name, "--nonsense")
    with pytest.raises(EnvironmentMissing) as raised:
        environment.require_spark()
    [missing] = raised.value.missing
    assert "Unrecognized option: --nonsense" in missing.what
    assert f"{name}: --nonsense" in missing.what
    assert missing.remedy == f"It takes options from {name}: correct or unset what it refuses."


def test_options_that_java_takes_hide_no_version(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("JAVA_TOOL_OPTIONS", "-Xmx64m")
    environment.require_spark()


def test_what_is_no_java_at_all_is_told_as_what_it_is(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    for name in environment.JAVA_OPTIONS:
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("JAVA_HOME", str(_fake_java(tmp_path, "a script")))
    with pytest.raises(EnvironmentMissing, match=r"its version, but: a script\. Install a Java"):
        environment.require_spark()
    (tmp_path / "bin" / "java").write_bytes(b"\x7fELF of another machine")
    with pytest.raises(EnvironmentMissing, match="Exec format error"):
        environment.require_spark()


def test_a_java_home_without_java_is_named(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("JAVA_HOME", str(tmp_path))
    with pytest.raises(EnvironmentMissing, match=f"JAVA_HOME is {tmp_path}"):
        environment.require_spark()


def test_everything_that_is_missing_is_listed_at_once(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("JAVA_HOME", str(tmp_path))
    of_tomorrow = replace(INSTALLED, delta="0.0.0")
    monkeypatch.setattr(environment, "release_here", lambda: of_tomorrow)
    with pytest.raises(EnvironmentMissing) as raised:
        environment.require_delta()
    assert len(raised.value.missing) == 2
    assert "0.0.0 is needed" in str(raised.value)


def test_the_cache_is_our_own_folder_and_can_be_named(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.delenv("WHITECAP_CACHE", raising=False)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    assert jars.cache_folder() == tmp_path / "whitecap"
    monkeypatch.setenv("WHITECAP_CACHE", str(tmp_path / "mine"))
    assert jars.cache_folder() == tmp_path / "mine"


def test_ivy_asks_one_repository_and_a_mirror_takes_its_place(tmp_path: Path) -> None:
    plain = jars.ivy_settings(tmp_path, {})
    assert plain.count("<ibiblio") == 1
    assert "root=" not in plain
    mirrored = jars.ivy_settings(tmp_path, {"WHITECAP_MAVEN_MIRROR": "https://mirror.test/a&b"})
    assert 'root="https://mirror.test/a&amp;b"' in mirrored


@pytest.mark.spark
def test_without_network_the_message_says_where_the_jar_should_be(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("WHITECAP_CACHE", str(tmp_path))
    monkeypatch.setenv("WHITECAP_MAVEN_MIRROR", "http://127.0.0.1:9/nothing")
    with pytest.raises(EnvironmentMissing, match="could not be downloaded") as raised:
        jars.delta_jars()
    assert str(tmp_path) in str(raised.value)
    assert "WHITECAP_MAVEN_MIRROR" in str(raised.value)
    assert not [left.name for left in (tmp_path / "jars").iterdir() if left.name != ".lock"]


@pytest.mark.spark
def test_a_damaged_jar_in_the_cache_is_not_used(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    folder = tmp_path / "jars" / f"{INSTALLED.artifact}-{INSTALLED.delta}"
    folder.mkdir(parents=True)
    (folder / jars.INVENTORY).write_text('{"delta.jar": 10}')
    (folder / "delta.jar").write_bytes(b"cut")
    monkeypatch.setenv("WHITECAP_CACHE", str(tmp_path))
    monkeypatch.setenv("WHITECAP_MAVEN_MIRROR", "http://127.0.0.1:9/nothing")
    with pytest.raises(EnvironmentMissing, match="could not be downloaded"):
        jars.delta_jars()
    (folder / "delta.jar").write_bytes(b"0123456789")
    assert jars.delta_jars() == (folder / "delta.jar",)


SWEEP_THEN_REPLAY = """
from whitecap.sim.replay.real.session import SOON_DONE, delta_session, sweep_session
plain = sweep_session("local[1]", makes_runs=True)
assert plain.range(3).count() == 3
options = plain._jvm.java.lang.management.ManagementFactory.getRuntimeMXBean().getInputArguments()
assert "-XX:TieredStopAtLevel=1" in options
spark = delta_session(memory="1g", master="local[1]", jvm_options=SOON_DONE)
spark.sql(f"CREATE TABLE delta.`{FOLDER}` (x INT) USING delta")
assert sweep_session().read.format("delta").load(FOLDER).count() == 0
try:
    spark.sql(f"INSERT INTO delta.`{FOLDER}` SELECT CAST(1 / (id - id) AS INT) FROM range(2)")
except Exception as error:
    assert "DIVIDE_BY_ZERO" in str(error)
else:
    raise AssertionError("no task failed")
"""


@pytest.mark.spark
def test_a_plain_session_of_ours_makes_room_for_one_with_delta_where_refusals_are_quiet(
    tmp_path: Path,
) -> None:
    program = f"FOLDER = {str(tmp_path / 'table')!r}\n{SWEEP_THEN_REPLAY}"
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, timeout=300, check=False
    )
    assert done.returncode == 0, done.stderr
    said = [line for line in done.stderr.splitlines() if "WARN " in line or "ERROR" in line]
    assert not said


def test_a_jvm_whose_start_is_interrupted_ends_with_it() -> None:
    from whitecap.sim.replay.real.session import ended_if_interrupted

    java_gateway: Any = importlib.import_module("pyspark.java_gateway")
    usual = java_gateway.Popen
    launched: list[subprocess.Popen[bytes]] = []

    def start() -> None:
        with ended_if_interrupted():
            launched.append(java_gateway.Popen(["sleep", "600"]))
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        start()
    assert launched[0].wait(timeout=60) < 0
    assert java_gateway.Popen is usual


def _session_without_jvm() -> Any:
    """A session whose JVM no longer answers."""

    def refuse() -> None:
        raise ConnectionRefusedError(111, "Connection refused")

    delta = SimpleNamespace(DeltaLog=SimpleNamespace(clearCache=refuse))
    sql = SimpleNamespace(delta=delta)
    spark = SimpleNamespace(spark=SimpleNamespace(sql=sql))
    jvm = SimpleNamespace(org=SimpleNamespace(apache=spark))
    return SimpleNamespace(_jvm=jvm, _jsparkSession=None)


def test_a_jvm_that_ends_under_a_conformance_case_is_told_as_that(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """And not by the next call that finds nobody there, which would be a defect of ours."""

    def interrupted(*_: Any) -> None:
        raise RuntimeError("Answer from Java side is empty")

    monkeypatch.setattr(conformance, "run_statement_case", interrupted)
    case = next(c for c in SEEN if isinstance(c, StatementCase) and c.dialect == "delta-oss-4.4")
    with pytest.raises(EnvironmentMissing, match=r"^The JVM ended\.") as ended:
        list(conformance.run_cases([case], _session_without_jvm()))
    assert exit_code_of(ended.value) is ExitCode.ENVIRONMENT_MISSING
