"""The report's tables: per cell, with intervals over replications, and paired differences.

Made of what was measured per run (`aggregate.py`), so that it needs no Java. Cells keep the
order of the sweep. Written as CSV (for people) and Parquet (for programs).
"""

from whitecap.reports.tables.building import LabelsByCell, Measurements, build_tables
from whitecap.reports.tables.rows import difference_in, estimate_in
from whitecap.reports.tables.tables import ReportTables

__all__ = [
    "LabelsByCell",
    "Measurements",
    "ReportTables",
    "build_tables",
    "difference_in",
    "estimate_in",
]
