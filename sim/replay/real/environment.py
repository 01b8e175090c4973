"""What real Delta Lake needs of the machine, and what to say when something is missing.

Nothing here imports pyspark: a machine without it must get a sentence, not a traceback.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
from collections.abc import Sequence
from importlib import metadata
from pathlib import Path

from msgspec import Struct

from whitecap.sim.replay.real.releases import INSTALLED, release_here

OLDEST_JAVA = 17
"""Spark 4 runs on Java 17 and newer (its documentation, "Downloading")."""

JAVA_ANSWERS_WITHIN_S = 30
"""How long `java -version` may take on a loaded machine. Ours."""

JAVA_OPTIONS = ("JAVA_TOOL_OPTIONS", "_JAVA_OPTIONS", "JDK_JAVA_OPTIONS")
"""Variables from which every Java takes options (JVM Tool Interface; `man java`)."""


class MissingPrerequisite(Struct, frozen=True):
    """One thing that is not there, and what to do about it."""

    what: str
    remedy: str

    def __str__(self) -> str:
        return f"{self.what}. {self.remedy}"


class EnvironmentMissing(Exception):
    """Real Delta Lake cannot run here; carries everything that is missing. Exit code 4."""

    def __init__(self, missing: Sequence[MissingPrerequisite]) -> None:
        super().__init__("\n".join(str(each) for each in missing))
        self.missing = tuple(missing)


def require_spark() -> None:
    """Check what a plain Spark session needs.

    Raises EnvironmentMissing: Java or pyspark is missing or of the wrong version.
    """
    _raise_if_any([_missing_java(), _missing_package("pyspark", INSTALLED.spark)])


def require_delta() -> None:
    """Check what a Spark session with Delta Lake needs, its jars excepted.

    Raises EnvironmentMissing: Java, pyspark or delta-spark is missing or of the wrong version.
    """
    release = release_here()
    _raise_if_any(
        [
            _missing_java(),
            _missing_package("pyspark", release.spark),
            _missing_package("delta-spark", release.delta),
        ]
    )


def java_executable() -> Path | None:
    """The Java that Spark will start: that of JAVA_HOME, else the first on the PATH."""
    home = os.environ.get("JAVA_HOME")
    if home:
        candidate = Path(home, "bin", "java")
        return candidate if candidate.is_file() else None
    on_path = shutil.which("java")
    return Path(on_path) if on_path else None


def _raise_if_any(checks: Sequence[MissingPrerequisite | None]) -> None:
    missing = [each for each in checks if each is not None]
    if missing:
        raise EnvironmentMissing(missing)


def _missing_java() -> MissingPrerequisite | None:
    remedy = (
        f"Install a Java runtime {OLDEST_JAVA} or newer (Debian: openjdk-17-jre-headless) "
        "and put it on the PATH or name it in JAVA_HOME."
    )
    executable = java_executable()
    if executable is None:
        return MissingPrerequisite(_no_java(), remedy)
    answer = _version_answer(executable)
    version = java_major(answer)
    if version is None:
        return _java_without_version(executable, answer, remedy)
    if version < OLDEST_JAVA:
        return MissingPrerequisite(
            f"{executable} is Java {version}; Spark needs {OLDEST_JAVA}", remedy
        )
    return None


def _no_java() -> str:
    home = os.environ.get("JAVA_HOME")
    return f"JAVA_HOME is {home}, but there is no bin/java in it" if home else "Java is not there"


def _java_without_version(executable: Path, answer: str, remedy: str) -> MissingPrerequisite:
    """One that does not start, in its own words: most often it is its options that it refuses."""
    said = "; ".join(line.strip().rstrip(".") for line in answer.splitlines() if line.strip())
    what = f"{executable} does not say its version" + (f", but: {said}" if said else "")
    given = ", ".join(name for name in JAVA_OPTIONS if os.environ.get(name))
    of_options = f"It takes options from {given}: correct or unset what it refuses."
    return MissingPrerequisite(what, of_options if given else remedy)


def _version_answer(executable: Path) -> str:
    """What it says of its version, or instead of it; why it says nothing."""
    try:
        answer = subprocess.run(
            [executable, "-version"],
            capture_output=True,
            text=True,
            timeout=JAVA_ANSWERS_WITHIN_S,
            check=False,
        )
    except (OSError, subprocess.TimeoutExpired) as error:
        return str(error)
    return answer.stderr + answer.stdout


def java_major(version_text: str) -> int | None:
    """The feature release in the text of `java -version`; 8 for the old scheme `1.8`."""
    match = re.search(r'version "(?:1\.)?(\d+)', version_text)
    return int(match.group(1)) if match else None


def _missing_package(name: str, wanted: str) -> MissingPrerequisite | None:
    remedy = f"Install it with: pip install 'whitecap[spark]' (or {name}=={wanted})."
    try:
        installed = metadata.version(name)
    except metadata.PackageNotFoundError:
        return MissingPrerequisite(f"The Python package {name} is not installed", remedy)
    if installed != wanted:
        return MissingPrerequisite(f"{name} {installed} is installed; {wanted} is needed", remedy)
    return None
