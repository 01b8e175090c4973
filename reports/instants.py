"""When versions were there, beside the transactions that committed them.

A writer is not done when its version is in the log: checksum and checkpoint follow, and take long
where the store throttles. Others are refused from the version's instant on.
"""

from __future__ import annotations

import pandas as pd

from whitecap.reports.measures.groups import TABLE_COLUMN


def with_instants(transactions: pd.DataFrame, commits: pd.DataFrame) -> pd.DataFrame:
    """Recorded transactions with `committed_at_ms`, not a number where they committed nothing."""
    table = [TABLE_COLUMN] if TABLE_COLUMN in commits else []
    instants = commits.set_index([*table, "version"])["committed_at_ms"]
    return transactions.join(instants, on=[*table, "committed_version"])
