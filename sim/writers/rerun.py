"""How long an aborted job waits before it is run again, by its application or by a restart of it.

This is a rerun: a new transaction with a new snapshot. It is not the retry of a lost put inside a
transaction, for which Delta does not wait at all. A job that its application gives up may be
started again from outside. Source of the jitter variants: AWS Architecture Blog, "Exponential
Backoff And Jitter" (2015).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

from msgspec import Struct

from whitecap.sim.quantities.bounds import MAX_COUNT
from whitecap.sim.scenario.writers import ExponentialRerun, FixedRerun, Rerun, Restart

UniformOf = Callable[[int], float]
"""The uniform number for a rerun, by its number from 1 on."""


class JobReruns(Struct):
    """Reruns of one job: how many were made, and how long the last wait was."""

    policy: FixedRerun | ExponentialRerun | None
    uniform: UniformOf
    count: int = 0
    last_wait_ms: float = 0.0

    def next_wait_ms(self, number: int, is_unknown: bool) -> float | None:
        """How long to wait before the rerun of this number; `None` when the job is given up.

        A job whose outcome is unknown is run again, at the risk of doing it twice, where the
        policy says so.
        """
        if self.policy is None or self.count >= self.policy.budget:
            return None
        if is_unknown and not self.policy.after_unknown:
            return None
        self.count += 1
        self.last_wait_ms = self._wait_ms(self.policy, number)
        return self.last_wait_ms

    def _wait_ms(self, policy: FixedRerun | ExponentialRerun, number: int) -> float:
        if isinstance(policy, FixedRerun):
            return policy.wait
        doubled = min(policy.cap, policy.base * 2.0 ** min(self.count - 1, 62))
        match policy.jitter:
            case "none":
                return doubled
            case "full":
                return doubled * self.uniform(number)
            case "equal":
                return doubled / 2 * (1 + self.uniform(number))
            case "decorrelated":
                longest = 3 * max(self.last_wait_ms, policy.base)
                drawn = policy.base + (longest - policy.base) * self.uniform(number)
                return min(policy.cap, drawn)


class NextRun(Struct, frozen=True):
    """A job runs again after `wait_ms`; is its application started anew for that?"""

    wait_ms: float
    starts_anew: bool


@dataclass(slots=True)
class JobTries:
    """All reruns of one job; `count` includes those after a restart.

    The uniform number for a wait has the number of the rerun that follows it.
    """

    rerun: Rerun
    restart: Restart | None
    rerun_uniform: UniformOf
    restart_uniform: UniformOf
    count: int = 0
    _reruns: JobReruns = field(init=False)
    _restarts: JobReruns = field(init=False)

    def __post_init__(self) -> None:
        policy = None if self.restart is None else self.restart.policy
        self._restarts = JobReruns(policy, self.restart_uniform)
        self._reruns = self._of_an_application()

    def _of_an_application(self) -> JobReruns:
        return JobReruns(policy_of(self.rerun), self.rerun_uniform)

    def of_next_part(self) -> None:
        """A statement of the job succeeded; the next one has reruns of its own."""
        self._reruns = self._of_an_application()

    def next_run(self, is_unknown: bool) -> NextRun | None:
        """When the job runs again, its outcome being unknown or not; `None` if it is given up."""
        if self.count >= MAX_COUNT:
            return None
        number = self.count + 1
        following = self._rerun_of(number, is_unknown) or self._restart_of(number, is_unknown)
        if following is not None:
            self.count = number
        return following

    def _rerun_of(self, number: int, is_unknown: bool) -> NextRun | None:
        wait_ms = self._reruns.next_wait_ms(number, is_unknown)
        return None if wait_ms is None else NextRun(wait_ms, starts_anew=False)

    def _restart_of(self, number: int, is_unknown: bool) -> NextRun | None:
        """The application's own reruns begin anew with it."""
        wait_ms = self._restarts.next_wait_ms(number, is_unknown)
        if wait_ms is None or self.restart is None:
            return None
        self._reruns = self._of_an_application()
        return NextRun(wait_ms + self.restart.takes, starts_anew=True)


def policy_of(rerun: Rerun) -> FixedRerun | ExponentialRerun | None:
    """The policy that a scenario chose, `None` for no reruns."""
    return rerun.fixed or rerun.exponential
