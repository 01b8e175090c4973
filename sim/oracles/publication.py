"""One content per version, decided in order and published as it was decided."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path

from whitecap.engine.log.commit_file import LOG_DIRECTORY, log_key
from whitecap.sim.oracles.evidence import Evidence
from whitecap.sim.oracles.finding import Anomaly, Finding, Oracle

COPIED_FROM = ("_staged_commits", ".tmp")
"""Directories of the log in which a commit stands before it is published as `N.json`.

Sources: PROTOCOL.md "Catalog-managed tables"; S3DynamoDBLogStore.java: temporary files.
"""


def publication_findings(evidence: Evidence) -> Iterator[Finding]:
    """Contents that were replaced, published otherwise than decided, or decided out of order."""
    for version in sorted(set(evidence.overwritten)):
        yield _finding(
            Anomaly.CONTENT_CHANGED,
            f"{log_key(version)} was written over another commit of version {version}",
            version,
        )
    for version, contents in sorted(evidence.decided.items()):
        body = evidence.log.bodies.get(version)
        if body is not None and body not in contents:
            yield _finding(
                Anomaly.PUBLICATION,
                f"{log_key(version)} is none of the {len(contents)} commits that were staged for "
                f"version {version}",
                version,
            )

    landed = sorted(evidence.landed_at.items())
    for (earlier, first_ms), (later, next_ms) in pairwise(landed):
        if next_ms < first_ms:
            text = f"version {later} took effect before version {earlier}"
            yield _finding(Anomaly.PUBLICATION, text, earlier, later)


def staged_in(directory: Path) -> dict[int, list[bytes]]:
    """What stands in a table's directory beside the log for versions: `N.<anything>`."""
    decided: dict[int, list[bytes]] = {}
    for folder in COPIED_FROM:
        for path in sorted((directory / LOG_DIRECTORY / folder).glob("*.json*")):
            number = path.name.partition(".")[0]
            if number.isdigit():
                decided.setdefault(int(number), []).append(path.read_bytes())
    return decided


def _finding(anomaly: Anomaly, sentence: str, *versions: int) -> Finding:
    return Finding(oracle=Oracle.LOG, anomaly=anomaly, sentence=sentence, versions=versions)
