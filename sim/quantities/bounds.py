"""How large the numbers of a scenario may be.

Generous for any honest scenario, and small enough that what could never end is refused at once.
`docs/scenarios.md` lists them.
"""

from __future__ import annotations

MAX_WRITERS = 4096
"""Writers of a run; new keys have room for as many (`sim/writers/workload.py`)."""

MAX_ROWS_AT_ONCE = 4096
"""New rows of one parameter; a job's new keys have room for 16 such (`sim/writers/workload.py`)."""

MAX_KEYS_AT_ONCE = 10_000
"""Keys of one statement, each of which stands in its text."""

MAX_INITIAL_ROWS = 1_000_000_000
"""Rows at the start. They are described, not stored: only their files take memory."""

MAX_INITIAL_FILES = 1_000_000
"""Files at the start: each takes about 2 kB of memory, so that these take 2 GB, and is a line of
the log."""

MAX_ROWS_EACH = 1_000_000_000_000
"""Rows of a real table that one simulated row stands for: more than any file holds."""

MAX_REAL_FILES = 200_000
"""Files of a real table: they are kept with paths and statistics, some kB each."""

MAX_DAYS = 36_500
"""Days that a date column takes: a hundred years, each at least a partition value of its own."""

MAX_BYTES_PER_ROW = 1 << 30
"""A gibibyte: sizes of tables then stay below 2 ** 63 bytes."""

MAX_PAST_COMMITS = 100_000_000
"""Commits that the log holds at the start: a listing of them takes hours."""

MAX_PARALLEL_READS = 200
"""Tasks that read a table's log at once: Spark starts no more than there are cores."""

MAX_JOBS = 100_000_000
"""Jobs (or crashes) that a run is expected to have: a day of computing, and 100 GB of memory."""

MAX_TRACED_JOBS = 20_000
"""Jobs of a recorded trace, whose text becomes part of the scenario."""

MAX_TRACE_BYTES = 512 << 10
"""Of a recorded trace: 26 for each job. As YAML, with its lines indented, it stays below 1 MiB."""

MAX_CELLS = 1_000
"""Cells of a sweep: each is checked before the first run, and compared with every other."""

MAX_REPLICATIONS = 1_000
"""Runs of a cell: intervals then are narrower than any model of ours is right."""

MAX_COUNT = 1_000_000
"""Counts that need no bound but sense: reruns of a job, jobs at a time, days to choose from."""

MAX_THROTTLE_RETRIES = 1_000
"""Retries of one request; clients of object stores give up after ten or twenty."""

MAX_RUNS = 1_000_000
"""Of one question: more than a machine makes in days."""

MAX_SEED = (1 << 63) - 1
"""What every reader of a manifest takes for a whole number."""

FIRST_YEAR, LAST_YEAR = 1970, 8999
"""Of `start`: file times count from 1970, and dates end with the year 9999."""
