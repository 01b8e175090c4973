"""Which code produced a recording: the release and a fingerprint of what decides the results."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from functools import cache
from importlib import import_module, metadata
from pathlib import Path

_DECIDING = ("engine", "sim")
_NOT_DECIDING = ("sim/replay/", "engine/races/")
"""The packages whose code can change what a run records, and the parts of them that cannot."""


@cache
def code_version() -> str:
    """`0.1.0+1a2b3c4d5e6f`: the release and a hash over the sources of engine and simulator.

    A hash rather than a commit id, so that it also holds for an installed package and for
    changes that are not committed yet.
    """
    return f"{metadata.version('whitecap')}+{_fingerprint()}"


def _fingerprint() -> str:
    digest = hashlib.sha256()
    for name, path in deciding_files():
        digest.update(name.encode())
        digest.update(path.read_bytes())
    return digest.hexdigest()[:12]


def deciding_files() -> Iterator[tuple[str, Path]]:
    """The sources that can change what a run records, by their names below the package."""
    for package in _DECIDING:
        root = Path(import_module(f"whitecap.{package}").__path__[0])
        for path in sorted(root.rglob("*.py")):
            name = f"{package}/{path.relative_to(root).as_posix()}"
            if not name.startswith(_NOT_DECIDING):
                yield name, path
