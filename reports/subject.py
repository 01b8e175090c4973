"""What a report is about: its tables, how its cells are laid out, and where they are from."""

from __future__ import annotations

import hashlib
import json
from pathlib import Path

from msgspec import Struct

from whitecap.reports.fewest import FEWEST_REPLICATIONS
from whitecap.reports.layout import SweepLayout, layout_of
from whitecap.reports.provenance import Provenance, provenance_of
from whitecap.reports.runs import RunSet
from whitecap.reports.tables import ReportTables

INTERVALS = "All replications together, with 95 % intervals."
FEW = f"All replications together; with fewer than {FEWEST_REPLICATIONS} one 95 % bound is known."

TABLES_FORMAT = 7
"""Raised when tables of an older version must be computed again."""


class Caption(Struct, frozen=True):
    """What stands above and below a figure: its headline, how to read it, where it is from."""

    headline: str
    reading: str
    origin: str = ""


class Subject(Struct, frozen=True):
    """A sweep, or one run whose writers take the place of cells."""

    runs: RunSet
    tables: ReportTables
    layout: SweepLayout
    provenance: Provenance

    @property
    def replications(self) -> int:
        """How many replications there are."""
        return self.provenance.replications

    def caption(self, headline: str, reading: str) -> Caption:
        """A caption with this subject's origin; intervals are mentioned where there are any."""
        return Caption(headline, f"{reading} {self.bounds}".rstrip(), self.provenance.line)

    @property
    def bounds(self) -> str:
        """What is shown of how certain numbers are; nothing of one replication."""
        if self.replications < 2:
            return ""
        return INTERVALS if self.replications >= FEWEST_REPLICATIONS else FEW


def subject_of(runs: RunSet) -> Subject:
    """The subject of these runs, which are measured only if no current tables are stored."""
    from whitecap.reports.aggregate import aggregate

    directory = runs.root / "report" / "tables"
    source = {"format": TABLES_FORMAT, "runs": _fingerprint(runs)}
    tables = _stored(directory, source)
    if tables is None:
        tables = aggregate(runs)
        tables.write(directory)
        (directory / "source.json").write_text(json.dumps(source, indent=1) + "\n")
    return Subject(runs, tables, _layout(runs, tables), provenance_of(runs))


def _stored(directory: Path, source: dict[str, object]) -> ReportTables | None:
    try:
        if json.loads((directory / "source.json").read_text()) == source:
            return ReportTables.read(directory)
    except (OSError, ValueError):
        pass
    return None


def _fingerprint(runs: RunSet) -> str:
    """Changes when a run is added or recorded anew: manifests hold the hashes of their tables."""
    digest = hashlib.sha256()
    for run in runs.runs:
        digest.update(f"{run.cell}/{run.replication}".encode())
        digest.update(json.dumps(run.manifest, sort_keys=True).encode())
    return digest.hexdigest()


def _layout(runs: RunSet, tables: ReportTables) -> SweepLayout:
    if runs.is_sweep:
        return layout_of(runs.cells, runs.axes)
    writers = tuple(dict.fromkeys(tables.cells["cell"]))
    return layout_of({name: {"writer": name} for name in writers}, {"writer": writers})
