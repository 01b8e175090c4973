"""What is noted of a writer when the run is over."""

from __future__ import annotations

from msgspec import Struct

from whitecap.engine.recorded import Arrivals


class WriterRecord(Struct, frozen=True):
    """One writer over the whole run: the jobs that fell due, and those that had not begun.

    A writer whose jobs have several statements has a record for each; the last one counts the jobs.
    """

    writer: str
    writer_group: str
    command: str
    arrival: Arrivals
    jobs_due: int
    jobs_not_begun: int
    table_name: str = ""
    statement_number: int = 1
    ends_job: bool = True
