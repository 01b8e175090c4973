"""What the oracles find of a run whose scenario expects something of them.

Most scenarios do not: the oracles are imported when they are asked, a twentieth of a second.
"""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from whitecap.sim.run import FinishedRun


def findings_by_name(run: FinishedRun) -> dict[str, int]:
    """How often each anomaly is found in a finished run; nothing where it is sound."""
    from whitecap.sim.oracles.runs.reopening import judgement_with_readers

    named = Counter(finding.anomaly.value for finding in judgement_with_readers(run).findings)
    return dict(sorted(named.items()))
