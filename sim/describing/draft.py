"""A first scenario from a few answers: commented, and whole enough to run and to sweep at once."""

from __future__ import annotations

import json
import re
from collections.abc import Sequence

from msgspec import Struct

from whitecap.engine.errors import Problem, gathered, nearest, noted
from whitecap.sim.bundled import EDITOR_LINE
from whitecap.sim.describing.writers_axis import writers_axis
from whitecap.sim.loading import parse_scenario
from whitecap.sim.loading.profiles import require_shipped
from whitecap.sim.quantities.names import is_file_name
from whitecap.sim.quantities.units import MS_PER, parse_duration, show_duration
from whitecap.sim.scenario.objective import StatedObjective

JOBS_EACH = 40
"""Jobs of each writer in a run: with five replications enough to tell 99 % from 95 %."""

SHORTEST_RUN_MS = MS_PER["h"]

ASSUMED_SIGMA = 0.4
"""Of the time from snapshot to commit, a lognormal, where nobody says it. Ours, measured nowhere:
95 % of the times are within a factor of 2.2 of the median, and the mean is 8 % above it."""

MOST_WRITERS = 1000
"""Of a kind: three times as many, which the drafted sweep compares, are few enough for a run."""

COLUMNS = ("date", "country")
"""Columns that the drafted table can be partitioned by."""

SLICE = """\
      date: {newest: {within: 2}}  # jobs work on recent days: yours?
      country: uniform
"""
ROWS = "      rows: {rows: {count: 10%s}}\n"

STATEMENTS = {
    "insert": (
        "INSERT INTO events VALUES :rows",
        "      date: newest\n" + ROWS % "",
    ),
    "update": (
        "UPDATE events SET amount = amount + 1.0 WHERE date = :date AND country = :country",
        SLICE,
    ),
    "delete": (
        "DELETE FROM events WHERE date = :date AND country = :country AND event_id IN (:keys)",
        SLICE + "      keys: {keys: {count: 3}}\n",
    ),
    "merge": (
        "MERGE INTO events AS t\n"
        "      USING (SELECT * FROM VALUES :rows AS v(event_id, date, country, amount)) AS s\n"
        "      ON t.event_id = s.event_id AND t.date = :date AND t.country = :country\n"
        "      WHEN MATCHED THEN UPDATE SET *\n"
        "      WHEN NOT MATCHED THEN INSERT *",
        SLICE + ROWS % ", existing: 0.5",
    ),
    "optimize": ("OPTIMIZE events", ""),
}
"""Kinds of jobs: their statement, and what its parameters are."""


class DraftAnswers(Struct, frozen=True):
    """What is asked, as people write it: `merge:4`, `2 min`, `30 s`, `date`, `s3`."""

    writers: str
    every: str
    takes: str
    partition_by: str
    store: str
    objectives: Sequence[str]


def drafted(answers: DraftAnswers, command: str, name: str = "") -> str:
    """The scenario's text, called `name` if it can be. `command` is what made it, for its comment.

    Raises `InvalidInput` with everything that is wrong, by the option that says it.
    """
    with gathered() as problems:
        groups = _groups(answers.writers, problems)
        every_ms = _duration("--every", answers.every, problems)
        _duration("--takes", answers.takes, problems)
        columns = _columns(answers.partition_by, problems)
        with noted(problems):
            require_shipped(answers.store, "--store")
        for objective in answers.objectives:
            _check_objective(objective, problems)
    called = json.dumps(name) if is_file_name(name) else "draft"
    text = _text(answers, groups, columns, every_ms, command, called)
    parse_scenario(text, "the draft")
    return text


def _groups(given: str, problems: list[Problem]) -> dict[str, int]:
    groups: dict[str, int] = {}
    for part in filter(None, re.split(r"[,\s]+", given)):
        kind, _, count = part.lower().partition(":")
        if kind not in STATEMENTS:
            listed = ", ".join(STATEMENTS)
            said = f"{kind!r} is no kind of job: there are {listed}"
            problems.append(Problem("--writers", said, nearest(kind, STATEMENTS)))
        elif not re.fullmatch(r"\d{0,4}", count) or not 1 <= int(count or "1") <= MOST_WRITERS:
            said = f"{part!r} needs a number of writers from 1 to {MOST_WRITERS}, such as merge:4"
            problems.append(Problem("--writers", said))
        else:
            groups[kind] = groups.get(kind, 0) + int(count or "1")
    if not groups and not problems:
        problems.append(Problem("--writers", "names none: write for instance merge:4"))
    return groups


def _duration(option: str, given: str, problems: list[Problem]) -> float:
    try:
        duration_ms = parse_duration(given)
    except ValueError as error:
        problems.append(Problem(option, str(error)))
        return 0.0
    if duration_ms < MS_PER["s"]:
        problems.append(Problem(option, f"{given!r} is less than a second"))
    return duration_ms


def _columns(given: str, problems: list[Problem]) -> list[str]:
    columns = [each for each in re.split(r"[,\s]+", given.lower()) if each not in ("", "none")]
    for each in columns:
        if each not in COLUMNS:
            said = f"the drafted table has no {each!r} to be partitioned by: date, country or none"
            problems.append(Problem("--partition-by", said, nearest(each, COLUMNS)))
    return list(dict.fromkeys(columns))


def _objective(given: Sequence[str]) -> str:
    """One as it is said, several as a list."""
    if len(given) == 1:
        return f"objective: {given[0]}"
    return "\n".join(["objective:", *(f"- {each}" for each in given)])


def _check_objective(given: str, problems: list[Problem]) -> None:
    try:
        StatedObjective.model_validate(given)
    except ValueError:
        said = f"{given!r} is no objective: write 'job_success_rate >= 99 %'"
        problems.append(Problem("--objective", said))


def _text(
    answers: DraftAnswers,
    groups: dict[str, int],
    columns: Sequence[str],
    every_ms: float,
    command: str,
    name: str,
) -> str:
    duration_ms = max(SHORTEST_RUN_MS, JOBS_EACH * every_ms)
    writers = "\n".join(_writer(kind, count, answers) for kind, count in groups.items())
    return f"""\
{EDITOR_LINE}scenario.schema.json
# Drafted by `{command}`.
# Runs as it is: `whitecap run FILE`, `whitecap sweep FILE`. Change it to what your table is like:
# columns, statements and durations decide most. `whitecap scenarios` has more to copy from.
format_version: 1
name: {name}
description: A first draft.
duration: {show_duration(duration_ms)}  # about {JOBS_EACH} jobs of each writer
store: {answers.store}  # `whitecap stores` has others, and where their figures are from

table:
  name: events
  schema: "event_id BIGINT, date DATE, country STRING, amount DOUBLE"
  partition_by: [{", ".join(columns)}]
  key: event_id  # the column that identifies a row
  isolation: WriteSerializable
  values:  # which dates and countries there are
    date: {{days: 7}}
    country: [DE, FR, GB, IT, PL, US]
  initial: {{rows: 4200, rows_per_file: 100}}

writers:
{writers}
{_objective(answers.objectives)}

sweep:  # what `whitecap sweep` compares
  replications: 5
  axes:
    partitioning:
{_layouts(columns)}
{_axis(groups)}
"""


def _writer(kind: str, count: int, answers: DraftAnswers) -> str:
    statement, parameters = STATEMENTS[kind]
    every = answers.every
    window = f"{{median: {answers.takes}, sigma: {ASSUMED_SIGMA}}}"
    jitter = f"{{uniform: {{low: 0 s, high: {every}}}}}"
    bound = f"    parameters:\n{parameters}" if parameters else ""
    return f"""\
  {kind}:
    count: {count}
    statement: >-
      {statement}
{bound}    arrival: {{schedule: {{every: {every}, jitter: {jitter}}}}}
    compute: {{lognormal: {window}}}  # snapshot to commit, in the median
    rerun:  # what your code does when it is refused; `none` if nothing
      exponential: {{base: 2 s, cap: 1 min, budget: 3}}
"""


def _layouts(columns: Sequence[str]) -> str:
    layouts = {"unpartitioned": [], "by date": ["date"], "by date and country": [*COLUMNS]}
    if list(columns) not in layouts.values():
        layouts = {f"by {' and '.join(columns)}": list(columns)} | layouts
    return "\n".join(
        f"      {name}: {{table.partition_by: [{', '.join(by)}]}}" for name, by in layouts.items()
    )


def _axis(groups: dict[str, int]) -> str:
    """How many writers; one OPTIMIZE stays what it is, unless there is nothing else."""
    growing = [kind for kind in groups if kind != "optimize"]
    return "\n".join(writers_axis(groups, growing or groups))
