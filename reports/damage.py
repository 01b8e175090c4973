"""What runs did to their tables and must not: commits lost, made twice, or over removed files.

From the manifests, which hold a count only where it is not zero (`sim/manifest.py: damage_of`,
`sim/history/damage.py`).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from whitecap.reports.words import counted

_Manifest = Mapping[str, Any]

KEYS = ("lost_commits", "doubled_commits", "damage")
"""What a manifest calls it."""


def damage_of(manifest: _Manifest) -> dict[str, Any]:
    """What a run did to its tables; empty where it did nothing."""
    return {key: manifest[key] for key in KEYS if key in manifest}


def damage_of_runs(manifests: Sequence[_Manifest]) -> dict[str, Any]:
    """The runs of a cell that did something to its tables, by replication; empty without any."""
    damaged = [
        {"replication": manifest["replication"], **damage}
        for manifest in manifests
        if (damage := damage_of(manifest))
    ]
    return {"damaged_runs": damaged} if damaged else {}


def damage_sentences(manifests: Sequence[_Manifest]) -> list[str]:
    """What is wrong with the tables that these runs left; empty where nothing is."""
    said: tuple[Callable[[Sequence[Any]], str], ...] = _lost, _doubled, _removed_again
    return [
        _in_how_many(len(hit), len(manifests)) + sentence(hit)
        for key, sentence in zip(KEYS, said, strict=True)
        if (hit := [manifest[key] for manifest in manifests if key in manifest])
    ]


def _in_how_many(hit: int, runs: int) -> str:
    return f"in {hit:,} of {runs:,} runs " if runs > 1 else ""


def _lost(counts: Sequence[int]) -> str:
    lost = sum(counts)
    was, what = ("was", "it") if lost == 1 else ("were", "they")
    return f"{counted(lost, 'commit')} {was} written over by others: what {what} wrote is gone"


def _doubled(counts: Sequence[int]) -> str:
    doubled = sum(counts)
    stands, what = ("is", "it") if doubled == 1 else ("are", "they")
    return f"{counted(doubled, 'transaction')} {stands} in the log twice, and what {what} wrote too"


def _removed_again(counts: Sequence[Mapping[str, int]]) -> str:
    """By an engine that does not look who removed a file before it."""
    commits = counted(sum(each["commits"] for each in counts), "commit")
    files = counted(sum(each["files_removed_again"] for each in counts), "file")
    since = f", from version {counts[0]['first_version']} on," if len(counts) == 1 else ""
    return (
        f"{commits}{since} removed {files} that were gone already; rows that they held may be"
        " there twice"
    )
