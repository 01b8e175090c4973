"""The text of a draft: every figure with its evidence beside it, and whole enough to run."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Sequence
from datetime import UTC, datetime

from msgspec import Struct
from msgspec.structs import replace

from whitecap.engine.errors import InvalidInput, Problem, UnsupportedFeature
from whitecap.sim.bundled import EDITOR_LINE
from whitecap.sim.describing.writers_axis import writers_axis
from whitecap.sim.inferring.cadence import Cadence, cadence_of
from whitecap.sim.inferring.domains import cluster_domains_of, domains_of
from whitecap.sim.inferring.durations.besides_compute import BesidesCompute, besides_compute
from whitecap.sim.inferring.durations.windows import TransactionWindow, window_of
from whitecap.sim.inferring.engines import Guess, guessed_dialect, guessed_store
from whitecap.sim.inferring.evidence.figures import (
    DraftFigure,
    Surety,
    counted,
    duration_text,
    guessed,
    many,
    read,
)
from whitecap.sim.inferring.groups import CommitGroup, Grouped, WriterKind, grouped
from whitecap.sim.inferring.layout import (
    Contents,
    DraftColumns,
    columns_of,
    contents_of,
    properties_kept,
)
from whitecap.sim.inferring.log.observed import ObservedTable
from whitecap.sim.inferring.naming import Names, key_text, table_name
from whitecap.sim.inferring.slices import DraftParameter, TableFacts
from whitecap.sim.inferring.statements import Drafted, alteration, drafted
from whitecap.sim.inferring.table_text import table_lines
from whitecap.sim.inferring.text import Options, comment, entry, wrapped
from whitecap.sim.loading import parse_scenario
from whitecap.sim.quantities.names import is_file_name
from whitecap.sim.quantities.units import MS_PER

JOBS_EACH = 40
"""Jobs of the slowest group in a run: with five replications enough to tell 99 % from 95 %."""

MOST_JOBS = 3000
"""Jobs of a run at most, so that it takes seconds."""

MOST_FILES_TRIED = 2000
"""Files with which a draft is run to see what it spends on its log, so that it takes seconds. With
20,000 the state is read for 50 ms longer. Ours."""

STEP = "500 ms"
"""What a change of metadata computes after the statement of its job. Ours."""

SHORTEST_MS = MS_PER["h"]
WEEK_MS = 7 * MS_PER["d"]

MONDAY_MS = 1768176000000.0
"""2026-01-12, a Monday: the week into which an anonymous draft is moved."""


class WriterDraft(Struct, frozen=True):
    """A writer group of the draft, with what it was made from; `compute` is part of its window."""

    group: CommitGroup
    window: TransactionWindow
    compute: DraftFigure
    cadence: Cadence
    work: Drafted
    dialect: Guess

    def without(self, besides: BesidesCompute | None) -> WriterDraft:
        """The same without what a run spends besides its compute and its pauses."""
        if besides is None or not self.window.is_known:
            return self
        cadence = self.cadence.without(self.window.outside_ms(besides))
        return replace(self, compute=self.window.compute(besides), cadence=cadence)

    def __str__(self) -> str:
        seen = f"{self.group.name}: {many(len(self.group.commits), 'commit')}"
        return seen if self.window.is_known else f"{seen}, how long it takes is assumed"


class DraftedScenario(Struct, frozen=True):
    """A draft: its text, its writers, what of the log is not in it, and what was seen there."""

    text: str
    writers: Sequence[WriterDraft]
    left_out: Sequence[str]
    observed: ObservedTable


def draft_of(observed: ObservedTable, options: Options) -> DraftedScenario:
    """Draft a scenario. Raises `InvalidInput`: no commit of writers, or nothing that could run."""
    made = _Making.of(observed, options)
    kept, left_out = made.that_run()
    kept = made.with_compute(kept)
    text = made.text(kept, left_out)
    parse_scenario(text, "the draft")
    return DraftedScenario(text, kept, left_out, observed)


class _Making(Struct, frozen=True):
    """What a draft is made of."""

    observed: ObservedTable
    options: Options
    contents: Contents
    facts: TableFacts
    groups: Grouped
    dialect: Guess

    @classmethod
    def of(cls, observed: ObservedTable, options: Options) -> _Making:
        all_columns = observed.snapshot.schema.names
        groups = grouped(observed.commits, all_columns, options.anonymous)
        if not groups.groups:
            seen = ", ".join(sorted({commit.operation for commit in observed.commits}))
            said = f"no commit of a writer is in its log, only {seen}"
            raise InvalidInput([Problem(observed.place, said)])
        columns, contents = columns_of(observed), contents_of(observed)
        names = _names(observed, columns, options)
        domains = domains_of(observed, columns.partitions)
        if not columns.partitions and not options.from_files:
            domains = cluster_domains_of(observed, columns.besides_key)
        files, rows_each = contents.files, contents.rows_each
        schema = observed.snapshot.schema if options.from_files else None
        kept = properties_kept(observed)
        facts = TableFacts(names, columns, domains, files, rows_each, all_columns, schema, kept)
        written = [commit for group in groups.groups for commit in group.commits]
        dialect = guessed_dialect(written, options.anonymous)
        return cls(observed, options, contents, facts, groups, dialect)

    def that_run(self) -> tuple[list[WriterDraft], list[str]]:
        """The writers that a scenario takes, and why others are left out."""
        left_out = [
            f"{many(count, 'commit')} of {operation}"
            for operation, count in sorted(self.groups.left_out.items())
        ]
        kept: list[WriterDraft] = []
        refusal = None
        for group in self.groups.groups:
            writer = self._writer(group)
            refusal = self._refusal(writer)
            if refusal is None:
                kept.append(writer)
            else:
                left_out.append(f"{group.name}, {many(len(group.commits), 'commit')}: {refusal}")
        if not kept and refusal is not None:
            said = f"nothing of it can be simulated: {refusal}"
            raise InvalidInput([Problem(self.observed.place, said)])
        return kept, left_out

    def with_compute(self, writers: Sequence[WriterDraft]) -> list[WriterDraft]:
        """The writers, their compute without what a run of them spends in their windows besides."""
        if self.options.from_files and self.contents.files > MOST_FILES_TRIED:
            return list(writers)
        rates = {writer.group.name: writer.cadence.rate for writer in writers}
        rows = MOST_FILES_TRIED * int(self.contents.rows_per_file.text)
        is_smaller = not self.options.from_files and int(self.contents.rows.text) > rows
        smaller = {"table.initial.rows": rows} if is_smaller else {}
        besides = besides_compute(self.text(writers, []), rates, smaller)
        return [writer.without(besides.get(writer.group.name)) for writer in writers]

    def _refusal(self, writer: WriterDraft) -> str | None:
        """Why a scenario does not take a writer, `None` if it does."""
        needs_key = any(parameter.name in ("rows", "keys") for parameter in writer.work.parameters)
        if needs_key and self.facts.lacks_key:
            return "its rows need a key, and no BIGINT column of the table looks like one"
        try:
            parse_scenario(self.text([writer], []), "the draft")
        except (InvalidInput, UnsupportedFeature) as error:
            return str(error).splitlines()[0]
        return None

    def _writer(self, group: CommitGroup) -> WriterDraft:
        instants = {commit.version: commit.timestamp_ms for commit in self.observed.commits}
        window = window_of(group.commits, instants)
        is_stream = group.kind is WriterKind.STREAM
        span_ms = self.observed.span_ms
        cadence = cadence_of(group.commits, window, span_ms, is_stream, group.excludes_itself)
        work = drafted(group, self.facts)
        dialect = guessed_dialect(group.commits, self.options.anonymous)
        return WriterDraft(group, window, window.figure, cadence, work, dialect)

    def text(self, writers: Sequence[WriterDraft], left_out: Sequence[str]) -> str:
        """The scenario."""
        lines = [
            *self._head(writers),
            *table_lines(self.observed, self.facts, self.contents, self.options),
            "",
            "writers:",
            *self._writers_lines(writers),
            *_tail(left_out),
            *_sweep(writers),
        ]
        return "\n".join(lines) + "\n"

    def _head(self, writers: Sequence[WriterDraft]) -> Iterator[str]:
        yield from self._introduction()
        name = self.options.name
        yield f"name: {json.dumps(name) if is_file_name(name) else 'from-log'}"
        count = many(len(self.observed.commits), "commit")
        yield f"description: Drafted from a log of {count}."
        yield from entry("", "dialect", self.dialect.figure)
        yield from self._time(writers)
        stated = self.options.store
        store = read(stated, "given by --store") if stated else guessed_store(self.observed.place)
        yield from entry("", "store", store)
        yield ""

    def _introduction(self) -> Iterator[str]:
        """Comments: what the draft is made of, how figures are known, what a log cannot tell."""
        observed, anonymous = self.observed, self.options.anonymous
        yield f"{EDITOR_LINE}scenario.schema.json"
        yield from comment(
            f"Drafted by `{self.options.command}` from {many(len(observed.commits), 'commit')}"
            + ("." if anonymous else f" of {observed.place}, {_when(observed)}.")
        )
        yield from comment(
            "Runs as it is: `whitecap run FILE`, `whitecap sweep FILE`. Read it first: above each"
            " figure stands how it is known."
        )
        for surety in Surety:
            yield f"#   {surety.value + ':':9} {surety.meaning}"
        yield from comment(
            "A log holds no aborted transaction. So no abort rate is inferred here: runs of this"
            " scenario predict them. Jobs that failed for good are missing from the rates, and of"
            " long jobs, which are refused more often, fewer are seen than ran."
        )

    def _time(self, writers: Sequence[WriterDraft]) -> Iterator[str]:
        """When the run starts, and how long it is."""
        duration_ms = _duration_ms(writers, self.observed.span_ms)
        start = datetime.fromtimestamp(self._start_ms(duration_ms) / 1000, UTC)
        moved = ", moved by whole weeks" if self.options.anonymous else ""
        because = f"UTC, the end of the log{moved}"
        yield from entry("", "start", guessed(f"{start:%Y-%m-%d %H:%M:%S}", because))
        jobs = round(sum(writer.cadence.rate for writer in writers) * duration_ms)
        spanned = duration_text(self.observed.span_ms)
        because = f"about {many(jobs, 'job')}; the log looked at spans {spanned}"
        yield from entry("", "duration", guessed(duration_text(duration_ms), because))

    def _start_ms(self, duration_ms: float) -> float:
        """A full hour, of long runs a midnight, so long before the last commit; or that commit,
        where the run goes on from there.

        It keeps its weekday where it is moved.
        """
        unit = MS_PER["d" if duration_ms >= MS_PER["d"] else "h"]
        last = max(commit.timestamp_ms for commit in self.observed.commits)
        if self.options.from_files:
            return last
        start = -((duration_ms - last) // unit) * unit
        if self.options.anonymous:
            start = MONDAY_MS + (start - MONDAY_MS) % WEEK_MS
        return start

    def _writers_lines(self, writers: Sequence[WriterDraft]) -> Iterator[str]:
        start_ms = self._start_ms(_duration_ms(writers, self.observed.span_ms))
        for writer in writers:
            yield from self._writer_lines(writer, start_ms)

    def _writer_lines(self, writer: WriterDraft, start_ms: float) -> Iterator[str]:
        group, cadence, work = writer.group, writer.cadence, writer.work
        yield f"  {group.name}:"
        who = "" if self.options.anonymous else group.who
        yield from comment(f"{group.what}{who and f' by {who}'}", "    ")
        if writer.dialect.dialect is not self.dialect.dialect:
            yield from entry("    ", "dialect", writer.dialect.figure)
        yield from entry("    ", "count", cadence.count)
        yield from _work_lines(work, group, alteration(self.facts))
        for figure in cadence.evidence:
            yield from comment(figure.comment, "    ")
        yield f"    arrival: {cadence.arrival(start_ms)}"
        yield from entry("    ", "compute", writer.compute)
        yield from comment("assumed: a log does not say what follows a refusal", "    ")
        yield "    rerun: {exponential: {base: 2 s, cap: 1 min, budget: 3}}"
        yield ""


def _names(observed: ObservedTable, columns: DraftColumns, options: Options) -> Names:
    keys = (column for column in observed.snapshot.schema if column.name == columns.key)
    named = (*columns.besides_key, *keys)
    if options.from_files:
        return Names.own(table_name(observed), named)
    return Names.of(observed, named, options.anonymous)


def _work_lines(work: Drafted, group: CommitGroup, alteration: str) -> Iterator[str]:
    for figure in work.evidence:
        yield from comment(figure.comment, "    ")
    parameters = {parameter.name: parameter for parameter in work.parameters}
    if work.statement is None:
        rows = parameters.pop("rows")
        yield from comment(rows.figure.comment, "    ")
        inner = rows.text.removeprefix("{").removesuffix("}")
        yield f"    streaming: {{checkpoint: {group.name}, {inner}}}"
        yield from _parameter_lines(parameters.values())
    elif group.steps:
        yield from _job_lines(work.statement, parameters.values(), group.steps, alteration)
    else:
        yield from _statement_lines(work.statement, parameters.values())


def _job_lines(
    statement: str, parameters: Iterable[DraftParameter], steps: Sequence[str], alteration: str
) -> Iterator[str]:
    """A job whose statement is followed by changes of metadata."""
    said = f"each followed by {' and '.join(steps)}, which refuse others that run meanwhile"
    yield from comment(counted("", said).comment, "    ")
    yield "    statements:"
    first, *rest = _statement_lines(statement, parameters)
    yield f"    - {first.lstrip()}"
    yield from (f"  {line}" for line in rest)
    for _ in steps:
        yield f"    - {{statement: {json.dumps(alteration)}, compute: {STEP}}}"


def _statement_lines(statement: str, parameters: Iterable[DraftParameter]) -> Iterator[str]:
    yield "    statement: >-"
    for line in statement.splitlines():
        yield from wrapped(line, "      ")
    yield from _parameter_lines(parameters)


def _parameter_lines(parameters: Iterable[DraftParameter]) -> Iterator[str]:
    given = list(parameters)
    if given:
        yield "    parameters:"
    for parameter in given:
        yield from comment(parameter.figure.comment, "      ")
        yield f"      {key_text(parameter.name)}: {parameter.text}"


def _tail(left_out: Sequence[str]) -> Iterator[str]:
    if left_out:
        yield "# Of the log this draft leaves out:"
        for each in left_out:
            yield from comment(f"- {each}")
        yield ""
    yield "objective: job_success_rate >= 99 %"


def _sweep(writers: Sequence[WriterDraft]) -> Iterator[str]:
    """The sweep: as many writers as today, and more; maintenance and streams stay as they are."""
    growing = {writer.group.name for writer in writers if writer.group.kind not in _SINGLE}
    if not growing:
        return
    yield ""
    yield "sweep:  # what `whitecap sweep` compares"
    yield "  replications: 5"
    yield "  axes:"
    counts = {writer.group.name: int(writer.cadence.count.text) for writer in writers}
    yield from writers_axis(counts, growing)


_SINGLE = (WriterKind.OPTIMIZE, WriterKind.REORG, WriterKind.STREAM)
"""One more of these is another thing: a second query on a checkpoint, a second compaction."""


def _when(observed: ObservedTable) -> str:
    times = [commit.timestamp_ms for commit in observed.commits]
    first, last = (datetime.fromtimestamp(t / 1000, UTC) for t in (min(times), max(times)))
    return f"{first:%Y-%m-%d %H:%M} to {last:%Y-%m-%d %H:%M} UTC"


def _duration_ms(writers: Sequence[WriterDraft], span_ms: float) -> float:
    """Long enough for jobs of all, short enough to run in seconds; a day where hours differ."""
    rates = [writer.cadence.rate for writer in writers]
    wanted = JOBS_EACH / min(rates)
    arrivals = [writer.cadence.otherwise for writer in writers]
    if any("weekdays:" in arrival for arrival in arrivals):
        wanted = max(wanted, WEEK_MS)
    elif any("hours:" in arrival for arrival in arrivals):
        wanted = max(wanted, MS_PER["d"])
    wanted = min(wanted, MOST_JOBS / sum(rates), max(span_ms, SHORTEST_MS))
    unit = MS_PER["d" if wanted >= MS_PER["d"] else "h"]
    whole = max(round(wanted / unit), 1) * unit
    return min(whole, max(MOST_JOBS / sum(rates), MS_PER["min"]))
