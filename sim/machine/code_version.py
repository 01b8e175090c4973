"""Which code produced a recording: the release and a fingerprint of what decides the results."""

from __future__ import annotations

import hashlib
from functools import cache
from importlib import metadata
from pathlib import Path

_DECIDING = ("engine", "sim")
_NOT_DECIDING = ("sim/replay/", "engine/races/conformance/")
"""The packages whose code can change what a run records, and the parts of them that cannot."""


@cache
def code_version() -> str:
    """`0.1.0+1a2b3c4d5e6f`: the release and a hash over the sources of engine and simulator.

    A hash rather than a commit id, so that it also holds for an installed package and for
    changes that are not committed yet.
    """
    return f"{metadata.version('whitecap')}+{_fingerprint()}"


def _fingerprint() -> str:
    root = Path(__file__).parents[1]
    digest = hashlib.sha256()
    for package in _DECIDING:
        for path in sorted((root / package).rglob("*.py")):
            name = path.relative_to(root).as_posix()
            if not name.startswith(_NOT_DECIDING):
                digest.update(name.encode())
                digest.update(path.read_bytes())
    return digest.hexdigest()[:12]
