"""How long an application waits before it runs an aborted job again.

This is a rerun: a new transaction with a new snapshot. It is not the retry of a lost put inside a
transaction, for which Delta does not wait at all. Source of the jitter variants: AWS Architecture
Blog, "Exponential Backoff And Jitter" (2015).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from whitecap.sim.scenario.writers import ExponentialRerun, FixedRerun, Rerun

UniformOf = Callable[[int], float]
"""The uniform number for a rerun, by its number from 1."""


@dataclass(slots=True)
class JobReruns:
    """The reruns of one job: how many were made, and how long the last wait was."""

    policy: FixedRerun | ExponentialRerun | None
    uniform: UniformOf
    count: int = 0
    last_wait_ms: float = 0.0

    def next_wait_ms(self) -> float | None:
        """How long to wait before the next rerun; `None` when the job is given up."""
        if self.policy is None or self.count >= self.policy.budget:
            return None
        self.count += 1
        self.last_wait_ms = self._wait_ms(self.policy)
        return self.last_wait_ms

    def _wait_ms(self, policy: FixedRerun | ExponentialRerun) -> float:
        if isinstance(policy, FixedRerun):
            return policy.wait
        doubled = min(policy.cap, policy.base * 2.0 ** min(self.count - 1, 62))
        match policy.jitter:
            case "none":
                return doubled
            case "full":
                return doubled * self.uniform(self.count)
            case "equal":
                return doubled / 2 * (1 + self.uniform(self.count))
            case "decorrelated":
                longest = 3 * max(self.last_wait_ms, policy.base)
                drawn = policy.base + (longest - policy.base) * self.uniform(self.count)
                return min(policy.cap, drawn)

    @property
    def after_unknown(self) -> bool:
        """Whether a job whose outcome is unknown is run again, at the risk of doing it twice."""
        return self.policy is not None and self.policy.after_unknown


def policy_of(rerun: Rerun) -> FixedRerun | ExponentialRerun | None:
    """The policy that a scenario chose, `None` for no reruns."""
    return rerun.fixed or rerun.exponential
