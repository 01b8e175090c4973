"""With how few replications intervals say anything; importing it loads nothing else."""

from __future__ import annotations

FEWEST_REPLICATIONS = 5
"""With fewer, and with fewer events, only one side is stated: `at most` or `at least`
(`docs/statistics.md`)."""
