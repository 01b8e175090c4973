"""Jars: resolved once by Ivy into a cache of our own, afterwards used by path.

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
from msgspec import Struct

from whitecap.sim.replay.real.environment import (
    EnvironmentMissing,
    MissingPrerequisite,
    java_executable,
    require_delta,
)
from whitecap.sim.replay.real.releases import release_here

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
"""How long downloads may take on a slow network. Ours."""

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


class Artifact(Struct, frozen=True):
    """An artefact of a Maven repository, with what it depends on."""

    organisation: str
    name: str
    version: str

    def __str__(self) -> str:
        return f"{self.organisation}:{self.name}:{self.version}"


class JarSet(Struct, frozen=True):
    """Artefacts that are used together: the first gives the set its name in the cache.

    Dependencies are left out that are `left_out`: an organisation, or `organisation:name`.
    """

    artifacts: tuple[Artifact, ...]
    left_out: tuple[str, ...]

    @property
    def folder(self) -> Path:
        """Where the jars are kept."""
        first = self.artifacts[0]
        return cache_folder() / "jars" / f"{first.name}-{first.version}"


def delta_jars() -> tuple[Path, ...]:
    """The jars that a session with Delta Lake needs; downloads them the first time.

    Raises EnvironmentMissing: Java or a package is missing, or the download did not succeed.
    """
    require_delta()
    release = release_here()
    delta = Artifact("io.delta", release.artifact, release.delta)
    return jars_of(JarSet((delta,), SHIPPED_WITH_SPARK))


def jars_of(jars: JarSet) -> tuple[Path, ...]:
    """The jars of a set; downloads them the first time.

    Safe between processes: one downloads, the others wait for it.

    Raises EnvironmentMissing: the download did not succeed.
    """
    kept = _kept_jars(jars.folder)
    if kept is not None:
        return kept
    with _alone(jars.folder.parent):
        return _kept_jars(jars.folder) or _fetch(jars)


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
    return EnvironmentMissing(
        [MissingPrerequisite(f"The cache folder cannot be used: {error}", remedy)]
    )


def _fetch(jars: JarSet) -> tuple[Path, ...]:
    work = Path(tempfile.mkdtemp(prefix=".download-", dir=jars.folder.parent))
    try:
        _resolve(jars, work)
        _put_in_place(work / "jars", jars.folder)
    finally:
        shutil.rmtree(work, ignore_errors=True)
    kept = _kept_jars(jars.folder)
    if kept is None:
        raise _not_downloaded(jars, "the downloaded jars did not survive the move into the cache")
    return kept


def _resolve(jars: JarSet, work: Path) -> None:
    settings, module = work / "ivysettings.xml", work / "ivy.xml"
    settings.write_text(ivy_settings(work / "ivy", os.environ))
    module.write_text(ivy_module(jars))
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
        raise _not_downloaded(jars, f"no end after {RESOLVE_WITHIN_S} s") from error
    first = jars.artifacts[0].name
    if done.returncode != 0 or not any((work / "jars").glob(f"*{first}-*.jar")):
        raise _not_downloaded(jars, _cause(done.stdout + done.stderr))


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


def ivy_module(jars: JarSet) -> str:
    """The Ivy file that names what we want, without what is left out."""
    wanted = "".join(
        f'    <dependency org="{each.organisation}" name="{each.name}" rev="{each.version}"'
        f' conf="default->default"/>\n'
        for each in jars.artifacts
    )
    excludes = "".join(_exclude(*each.split(":")) for each in jars.left_out)
    return (
        '<ivy-module version="2.0">\n'
        '  <info organisation="whitecap" module="jars"/>\n'
        '  <configurations><conf name="default"/></configurations>\n'
        "  <dependencies>\n"
        f"{wanted}"
        f"{excludes}"
        "  </dependencies>\n"
        "</ivy-module>\n"
    )


def _exclude(organisation: str, name: str = "*") -> str:
    return f'    <exclude org="{organisation}" module="{name}"/>\n'


def _ivy_jar() -> str:
    import pyspark

    jars = sorted(Path(pyspark.__file__).parent.glob("jars/ivy-*.jar"))
    if not jars:
        remedy = "Reinstall pyspark; its jars folder should hold Ivy."
        raise EnvironmentMissing(
            [MissingPrerequisite("PySpark's jars folder holds no Ivy", remedy)]
        )
    return str(jars[-1])


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


def _not_downloaded(jars: JarSet, cause: str) -> EnvironmentMissing:
    what = f"The jar {jars.artifacts[0]} is not in the cache"
    what += f" ({cache_folder()}) and could not be downloaded: {cause}"
    remedy = (
        f"Connect to the network once, or name a Maven mirror in {MIRROR_VARIABLE}, "
        f"or name a filled cache in {CACHE_VARIABLE}."
    )
    return EnvironmentMissing([MissingPrerequisite(what, remedy)])
