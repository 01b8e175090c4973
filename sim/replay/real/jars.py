"""The Delta jars: resolved once by Ivy into a cache of our own, afterwards used by path.

Spark's own `spark.jars.packages` would ask the network and copy every jar at each start, look
into the user's local Maven repository first (where a POM without its jar ends the start), and
add a second repository. Here Ivy runs on its own, from the copy that PySpark ships, with our
settings: one repository, one cache. Jars that Spark itself ships are left out.
"""

from __future__ import annotations

import fcntl
import os
import shutil
import subprocess
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from xml.sax.saxutils import quoteattr

import msgspec

from whitecap.sim.replay.real.environment import (
    DELTA_VERSION,
    EnvironmentMissing,
    Missing,
    java_executable,
    require_delta,
)

ARTIFACT = "delta-spark_4.2_2.13"
"""Delta's artefact names carry the Spark and the Scala version since 4.1."""

SHIPPED_WITH_SPARK = (
    "com.fasterxml.jackson.core",
    "com.github.luben",
    "com.google.code.findbugs",
    "commons-logging",
    "commons-pool",
    "io.airlift",
    "org.apache.hadoop",
    "org.apache.logging.log4j",
    "org.apache.parquet",
    "org.locationtech.jts",
    "org.roaringbitmap",
    "org.scala-lang",
    "org.slf4j",
    "org.xerial.snappy",
)
"""Organisations of the dependencies that are already in PySpark's own jar folder."""

RESOLVE_WITHIN_S = 600
INVENTORY = "jars.json"
MIRROR_VARIABLE = "WHITECAP_MAVEN_MIRROR"
CACHE_VARIABLE = "WHITECAP_CACHE"


def cache_folder() -> Path:
    """Where downloads are kept: WHITECAP_CACHE, else `whitecap` in the XDG cache folder."""
    own = os.environ.get(CACHE_VARIABLE)
    if own:
        return Path(own)
    shared = os.environ.get("XDG_CACHE_HOME")
    return (Path(shared) if shared else Path.home() / ".cache") / "whitecap"


def delta_jars() -> tuple[Path, ...]:
    """The jars that a session with Delta Lake needs; downloads them the first time.

    Safe between processes: one downloads, the others wait for it.

    Raises EnvironmentMissing: Java or a package is missing, or the download did not succeed.
    """
    require_delta()
    folder = cache_folder() / "jars" / f"{ARTIFACT}-{DELTA_VERSION}"
    kept = _kept_jars(folder)
    if kept is not None:
        return kept
    with _alone(folder.parent):
        return _kept_jars(folder) or _fetch(folder)


def _kept_jars(folder: Path) -> tuple[Path, ...] | None:
    """The jars of a whole earlier download; `None` if there is none or a jar was damaged."""
    try:
        sizes = msgspec.json.decode((folder / INVENTORY).read_bytes(), type=dict[str, int])
        whole = all((folder / name).stat().st_size == size for name, size in sizes.items())
    except (OSError, msgspec.DecodeError):
        return None
    return tuple(folder / name for name in sorted(sizes)) if whole and sizes else None


@contextmanager
def _alone(folder: Path) -> Iterator[None]:
    try:
        folder.mkdir(parents=True, exist_ok=True)
        lock = (folder / ".lock").open("w")
    except OSError as error:
        raise _cache_unusable(error) from error
    with lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield


def _cache_unusable(error: OSError) -> EnvironmentMissing:
    remedy = f"Name a writable folder in {CACHE_VARIABLE}."
    return EnvironmentMissing([Missing(f"The cache folder cannot be used: {error}", remedy)])


def _fetch(folder: Path) -> tuple[Path, ...]:
    work = Path(tempfile.mkdtemp(prefix=".download-", dir=folder.parent))
    try:
        _resolve(work)
        _put_in_place(work / "jars", folder)
    finally:
        shutil.rmtree(work, ignore_errors=True)
    kept = _kept_jars(folder)
    if kept is None:
        raise _not_downloaded("the downloaded jars did not survive the move into the cache")
    return kept


def _resolve(work: Path) -> None:
    settings, module = work / "ivysettings.xml", work / "ivy.xml"
    settings.write_text(ivy_settings(work / "ivy", os.environ))
    module.write_text(ivy_module())
    pattern = f"{work}/jars/[organisation]_[artifact]-[revision](-[classifier]).[ext]"
    command = [str(java_executable()), "-cp", _ivy_jar(), "org.apache.ivy.Main", "-warn"]
    command += ["-settings", str(settings), "-ivy", str(module)]
    command += ["-confs", "default", "-retrieve", pattern]
    try:
        done = subprocess.run(
            command,
            capture_output=True,
            text=True,
            timeout=RESOLVE_WITHIN_S,
            check=False,
        )
    except subprocess.TimeoutExpired as error:
        raise _not_downloaded(f"no end after {RESOLVE_WITHIN_S} s") from error
    if done.returncode != 0 or not any((work / "jars").glob(f"*{ARTIFACT}-*.jar")):
        raise _not_downloaded(_cause(done.stdout + done.stderr))


def ivy_settings(ivy_cache: Path, variables: Mapping[str, str]) -> str:
    """Ivy's settings: Maven Central (Ivy's default root) or the mirror, and a cache of our own."""
    mirror = variables.get(MIRROR_VARIABLE)
    root = f" root={quoteattr(mirror)}" if mirror else ""
    return (
        "<ivysettings>\n"
        '  <settings defaultResolver="central"/>\n'
        f"  <caches defaultCacheDir={quoteattr(str(ivy_cache))}/>\n"
        f'  <resolvers><ibiblio name="central" m2compatible="true"{root}/></resolvers>\n'
        "</ivysettings>\n"
    )


def ivy_module() -> str:
    """The Ivy file that names what we want: Delta without what Spark ships."""
    excludes = "".join(f'    <exclude org="{org}"/>\n' for org in SHIPPED_WITH_SPARK)
    return (
        '<ivy-module version="2.0">\n'
        '  <info organisation="whitecap" module="delta"/>\n'
        '  <configurations><conf name="default"/></configurations>\n'
        "  <dependencies>\n"
        f'    <dependency org="io.delta" name="{ARTIFACT}" rev="{DELTA_VERSION}"'
        ' conf="default->default"/>\n'
        f"{excludes}"
        "  </dependencies>\n"
        "</ivy-module>\n"
    )


def _ivy_jar() -> str:
    import pyspark

    found = sorted(Path(pyspark.__file__).parent.glob("jars/ivy-*.jar"))
    if not found:
        remedy = "Reinstall pyspark; its jars folder should hold Ivy."
        raise EnvironmentMissing([Missing("PySpark's jars folder holds no Ivy", remedy)])
    return str(found[-1])


def _put_in_place(jars: Path, folder: Path) -> None:
    sizes = {jar.name: jar.stat().st_size for jar in jars.glob("*.jar")}
    (jars / INVENTORY).write_bytes(msgspec.json.encode(sizes))
    if folder.exists():
        shutil.rmtree(folder)
    jars.rename(folder)


def _cause(output: str) -> str:
    """The line of Ivy's output that says most: a server error, else what was not found."""
    lines = [line.strip() for line in output.splitlines() if line.strip()]
    for sign in ("access error", "download failed", "not found"):
        for line in lines:
            if sign in line.lower():
                return line
    return lines[-1] if lines else "Ivy said nothing"


def _not_downloaded(cause: str) -> EnvironmentMissing:
    what = f"The Delta Lake jar io.delta:{ARTIFACT}:{DELTA_VERSION} is not in the cache"
    what += f" ({cache_folder()}) and could not be downloaded: {cause}"
    remedy = (
        f"Connect to the network once, or name a Maven mirror in {MIRROR_VARIABLE}, "
        f"or name a filled cache in {CACHE_VARIABLE}."
    )
    return EnvironmentMissing([Missing(what, remedy)])
