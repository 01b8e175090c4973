"""The result as Markdown: what `result.md` holds, and a part of `docs/validation.md`."""

from __future__ import annotations

from collections.abc import Iterator

from whitecap.sim.freerun.comparison import (
    ComparedShare,
    FreeRunPhase,
    FreeRunResult,
    headline,
    meaning,
    percent_text,
)


def result_page(result: FreeRunResult) -> str:
    """A page of its own."""
    return "\n".join(["# The free run on real Delta Lake", "", *result_lines(result)]) + "\n"


def result_lines(result: FreeRunResult) -> Iterator[str]:
    """How it was done, every comparison, and what it means."""
    machine = result.machine
    yield (
        f"Made {result.made[:10]} by `whitecap validate --real`: delta-spark {machine['delta']} on "
        f"Spark {machine['spark']}, {machine['cores']} cores (load before: "
        f"{machine['load before']}), {result.threads} threads, each a cluster of its own to "
        "Delta, no locks between phases, a refused statement is run again at once. For each row a "
        "run with partitions apart, where nothing can conflict, gave the durations from snapshot "
        "to commit and between, and those of the jobs that read the log where a checksum is "
        "missing; the simulator, given these, predicted shares of the run together, which were "
        f"written down before it began. {_begun_again(result)}{headline(result)}"
    )
    yield ""
    yield "| real run | share | predicted | range | observed | of | holds |"
    yield "|---|---|---|---|---|---|---|"
    for phase, compared in result.compared:
        yield _row(phase, compared)
    yield ""
    yield (
        "| real run | predicted (UTC) | begun | mean s apart | together | open apart "
        "| predicted together | together |"
    )
    yield "|---|---|---|---|---|---|---|---|"
    yield from map(_timing, result.phases)
    yield ""
    for said in meaning(result):
        yield said
        yield ""


def _begun_again(result: FreeRunResult) -> str:
    """How many runs do not count, since the local disk lost a commit of theirs."""
    if not (again := sum(phase.begun_again for phase in result.phases)):
        return ""
    runs = "run was" if again == 1 else "runs were"
    return (
        f"{again} {runs} begun again because the local disk lost a commit, which a store with "
        "put-if-absent cannot: two files were renamed to one version at the same instant. "
    )


def _row(phase: FreeRunPhase, compared: ComparedShare) -> str:
    predicted = compared.predicted
    cells = (
        phase.title, predicted.quantity, percent_text(predicted.mean),
        f"{percent_text(predicted.low)} to {percent_text(predicted.high)}",
        percent_text(compared.share), f"{compared.statements}",
        "yes" if compared.holds else "**no**",
    )  # fmt: skip
    return f"| {' | '.join(cells)} |"


def _timing(phase: FreeRunPhase) -> str:
    timing, predicted = phase.timing, phase.timing.predicted_window_share
    cells = (
        phase.title, phase.predicted_at[11:19], phase.began_at[11:19],
        f"{timing.apart_mean_ms / 1000:.2f}", f"{timing.together_mean_ms / 1000:.2f}",
        percent_text(timing.apart_window_share),
        "" if predicted is None else percent_text(predicted),
        percent_text(timing.together_window_share),
    )  # fmt: skip
    return f"| {' | '.join(cells)} |"
