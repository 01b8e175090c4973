"""The validation page as Markdown."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from datetime import date

from msgspec import Struct

from benchmarks.markdown import table
from benchmarks.validation.backoff_table import Contests
from benchmarks.validation.closed_forms import ClosedForm
from benchmarks.validation.free_run import section as free_run_section
from benchmarks.validation.hot_key import CHECKED, CLOSE, FITTED, RANKS, HotKeyComparison, farthest
from benchmarks.validation.lost_commits import InterleavingSearch
from benchmarks.validation.metamorphic import CheckedRelation
from whitecap.reports.statistics import Estimate


class ValidationResults(Struct, frozen=True):
    """Everything that was run, and how often."""

    made: date
    replications: int
    contest_replications: int
    laws: Sequence[tuple[ClosedForm, Estimate]]
    contests: Sequence[Contests]
    changes: Sequence[CheckedRelation]
    searches: Sequence[InterleavingSearch]
    hot_key: Sequence[HotKeyComparison]

    @property
    def failures(self) -> list[str]:
        """What did not come out as it must."""
        return [
            *(law.name for law, estimate in self.laws if not law.holds(estimate)),
            *(f"{c.clients} clients, {c.algorithm}" for c in self.contests if not c.holds),
            *(change.name for change in self.changes if not change.holds),
            *(search.name for search in self.searches if not search.is_as_it_must_be),
            *(f"{row.profile}, {row.clients} clients" for row in self.hot_key if not row.is_close),
        ]


def page(results: ValidationResults) -> str:
    """The whole page."""
    return "\n".join([*_head(results), *_laws(results), *_contests(results), *_changes(results),
                      *_searches(results), *_hot_key(results), *free_run_section(),
                      *_limits()]) + "\n"  # fmt: skip


def _head(results: ValidationResults) -> Iterator[str]:
    failures = results.failures
    parts = (results.laws, results.contests, results.changes, results.searches, results.hot_key)
    count = sum(len(part) for part in parts)
    yield "# How far the numbers may be believed"
    yield ""
    yield (
        "Made by `make validate`; short forms of all of it run in `make test`. "
        f"Last made {results.made.isoformat()}: {count - len(failures)} of {count} checks hold."
    )
    yield ""
    if failures:
        yield f"**Does not hold:** {'; '.join(failures)}."
        yield ""
    yield "![Simulated rates against laws, and writes against AWS's](images/validation.svg)"
    yield ""
    yield (
        "What is validated here is the machinery: time, queues, conflicts, reruns, random numbers "
        "and the intervals of the answers. Which transactions conflict is the engine's part, held "
        "to real Delta by the conformance cases (`docs/cases.md`); how long a store takes is a "
        "profile's (`scenarios/stores`), and its limits are at the end of this page."
    )
    yield ""


def _laws(results: ValidationResults) -> Iterator[str]:
    yield "## What can be worked out"
    yield ""
    yield (
        f"Scenarios in the public format on a store without latency, {results.replications} "
        "replications each; `benchmarks/validation/laws.py` has each law with its argument. The "
        f"intervals hold for all {len(results.laws)} rows together in 99 of 100 such tables "
        "(Bonferroni)."
    )
    yield ""
    head = ("scenario", "law", "quantity", "worked out", "simulated", "interval", "holds")
    yield from table(head, (_law(law, estimate) for law, estimate in results.laws))
    yield ""
    yield (
        "Laws for many writers hold in the limit; those rows may be 3 % off. Writers in lock-step "
        "fall out of step at the beginning and the end of a run (0.6 %)."
    )
    yield ""


def _law(law: ClosedForm, estimate: Estimate) -> tuple[str, ...]:
    return (
        law.name, f"`{law.law}`", law.quantity, _number(law.expected), _number(estimate.point),
        f"{_number(estimate.low)} to {_number(estimate.high)}", _mark(law.holds(estimate)),
    )  # fmt: skip


def _contests(results: ValidationResults) -> Iterator[str]:
    yield "## AWS's backoff simulator"
    yield ""
    yield (
        "N clients want to write one row: read, write, wait and begin again if another one was "
        "first. Kernel, writers, reruns with their waits and random streams are those of any run "
        "(`benchmarks/validation/backoff.py`). Published: 100 samples of the code behind "
        '"Exponential Backoff And Jitter" (AWS Architecture Blog, 2015), ported to Python 3. '
        f"Here: {results.contest_replications} replications. Holds: calls within 3 %, and the "
        "99 % intervals of calls and of times overlap."
    )
    yield ""
    head = ("clients", "algorithm", "calls published", "here", "off", "ms published", "here")
    yield from table((*head, "holds"), map(_contest, results.contests))
    yield ""


def _contest(contest: Contests) -> tuple[str, ...]:
    calls, _, time_ms, _ = contest.published
    return (
        f"{contest.clients}", contest.algorithm, f"{calls:,.6g}", f"{contest.calls.point:,.1f}",
        f"{100 * contest.calls_off:+.1f} %", f"{time_ms:,.0f}", f"{contest.time_ms.point:,.0f}",
        _mark(contest.holds),
    )  # fmt: skip


def _changes(results: ValidationResults) -> Iterator[str]:
    yield "## What must follow from a change"
    yield ""
    rows = ((each.name, each.claim, each.seen, _mark(each.holds)) for each in results.changes)
    yield from table(("changed", "must follow", "seen (99 % intervals)", "holds"), rows)
    yield ""


def _searches(results: ValidationResults) -> Iterator[str]:
    yield "## No commit is lost"
    yield ""
    yield (
        "The worlds of Vanlightly's model of Delta Lake, with the engine's own transactions: every "
        "order of their steps is played, and what a reader finds is held against the committed "
        "statements done one after the other to a dictionary."
    )
    yield ""
    head = ("store", "orders played", "result", "as it must be")
    yield from table(head, map(_search, results.searches))
    yield ""
    lost = next((search.lost for search in results.searches if search.lost), ())
    if lost:
        yield (
            "The shortest loss without put-if-absent, eight steps in the model's counting (begin, "
            "read, write, put; of two writers):"
        )
        yield ""
        yield from (f"{number}. {step}" for number, step in enumerate(lost, 1))
        yield ""


def _search(search: InterleavingSearch) -> tuple[str, ...]:
    shown = "a lost commit" if search.finds_a_lost_commit else "nothing is lost"
    return (search.name, f"{search.orders:,}", shown, _mark(search.is_as_it_must_be))


def _hot_key(results: ValidationResults) -> Iterator[str]:
    *usual, slow = RANKS
    medians, most, slowest = (
        f"{100 * farthest(results.hot_key, ranks):.0f} %" for ranks in ([50], usual, [slow])
    )
    yield "## Conditional writes of one key"
    yield ""
    yield (
        "Clients that write one key over and over, each on what it knows to be newest: measured "
        "(YCSB, June 2025; github.com/cdouglas/endive, analysis/distributions.json) and simulated "
        "with the shipped profiles, whose queue at the key (`at_key`) is fitted on "
        f"{_listed(FITTED)} clients; {_listed(CHECKED)} are for checking. Holds: attempts and "
        f"rate within {100 * CLOSE:.0f} %. Latencies are off as `python -m "
        f"benchmarks.validation.hot_key` prints: medians by up to {medians}, p{usual[0]} to "
        f"p{usual[-1]} by up to {most}, p{slow} by up to {slowest}. Which form the queue has was "
        f"chosen with sight of {_listed(CHECKED)} clients "
        "(`benchmarks/validation/hot_key_fit.py`)."
    )
    yield ""
    head = (
        "store", "clients", "attempts per success measured", "simulated",
        "successes per s measured", "simulated", "holds",
    )  # fmt: skip
    yield from table(head, map(_clients_of_a_key, results.hot_key))
    yield ""


def _clients_of_a_key(row: HotKeyComparison) -> tuple[str, ...]:
    measured, simulated = row.measured, row.simulated
    return (
        row.profile, f"{row.clients}", f"{measured.attempts_per_success:.2f}",
        f"{simulated.attempts_per_success:.2f} ({100 * row.attempts_error:+.1f} %)",
        f"{measured.successes_per_s:.1f}",
        f"{simulated.successes_per_s:.1f} ({100 * row.rate_error:+.1f} %)",
        _mark(row.is_close),
    )  # fmt: skip


def _listed(numbers: Sequence[int]) -> str:
    *others, last = map(str, numbers)
    return f"{', '.join(others)} and {last}"


def _limits() -> Iterator[str]:
    yield "## What is not validated"
    yield ""
    yield (
        "- **How long a contended log takes.** Nobody has published put-if-absent of new keys "
        "under contention: S3 and S3 Express rest on overwrites of one key, other stores on "
        "latencies of one client (`docs/fidelity.md`). Abort rates of jobs whose work dwarfs the "
        "store's latency do not depend on it; commits per second of one log do."
    )
    yield (
        "- **Your work.** Durations are given, not predicted: `compute` is the job between "
        "snapshot and commit, and a rate is as good as that figure."
    )
    yield (
        "- **Rates of a cluster.** The free run is one process on one machine with a local disk, "
        "in which every thread is a cluster of its own to Delta; clusters on an object store have "
        "been compared outcome by outcome (`whitecap replay`, `whitecap fuzz`), not by their "
        "rates. Threads of one driver share what one of them reads of the log, and commit more "
        "nearly in step than independent writers do: simulated, and tried on real Delta "
        "(`docs/fidelity.md`), but by a trial and not by this experiment."
    )


def _number(value: float) -> str:
    return f"{value:,.0f}" if value >= 20 else f"{value:.4f}"


def _mark(holds: bool) -> str:
    return "yes" if holds else "**no**"
