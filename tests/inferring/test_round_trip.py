"""A simulated log is exported, a scenario inferred from it and run: the rates are the same."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

import pytest

import whitecap
from whitecap.sim.inferring.drafting import DraftedScenario, draft_of
from whitecap.sim.inferring.log.observed import observe
from whitecap.sim.inferring.text import Options
from whitecap.sim.loading import parse_scenario
from whitecap.sim.run import run_scenario
from whitecap.sim.table.export import export_table

HOURS = 6
REPLICATIONS = 3
BEYOND = 2.8
"""Standard errors within which both must lie: beyond it by chance once in 200 comparisons."""

SCENARIO = f"""
name: original
seed: 4
duration: {HOURS} h
store: s3
table:
  name: events
  schema: "id BIGINT, date DATE, country STRING, amount DOUBLE, note STRING"
  partition_by: [date]
  key: id
  isolation: WriteSerializable
  values: {{date: {{days: 6}}, country: [DE, FR]}}
  initial: {{rows: 3000, rows_per_file: 100}}
writers:
  loader:
    count: 2
    statement: INSERT INTO events VALUES :rows
    parameters: {{date: newest, rows: {{rows: {{count: 20}}}}}}
    arrival: {{open: {{rate: 30 per h, concurrency: 1}}}}
    compute: {{lognormal: {{median: 15 s, sigma: 0.4}}}}
    rerun: &rerun {{exponential: {{base: 2 s, cap: 1 min, budget: 5}}}}
  upserter:
    count: 2
    statement: >-
      MERGE INTO events AS t
      USING (SELECT * FROM VALUES :rows AS v(id, date, country, amount, note)) AS s
      ON t.id = s.id AND t.date = :date
      WHEN MATCHED THEN UPDATE SET *
      WHEN NOT MATCHED THEN INSERT *
    parameters: {{date: {{newest: {{within: 2}}}}, rows: {{rows: {{count: 10, existing: 0.5}}}}}}
    arrival: {{open: {{rate: 20 per h, concurrency: 1}}}}
    compute: {{lognormal: {{median: 30 s, sigma: 0.4}}}}
    rerun: *rerun
  corrector:
    statement: UPDATE events SET amount = amount + 1.0 WHERE date = :date
    parameters: {{date: {{newest: {{within: 3}}}}}}
    arrival: {{open: {{rate: 40 per h, concurrency: 1}}}}
    compute: {{lognormal: {{median: 20 s, sigma: 0.4}}}}
    rerun: *rerun
"""

KINDS = {"loader": "insert", "upserter": "merge", "corrector": "update"}


@dataclass(frozen=True)
class Counts:
    """What a group did in so many hours."""

    committed: float
    aborted: float
    hours: float

    @property
    def conflict_rate(self) -> float:
        return self.aborted / (self.committed + self.aborted)

    @property
    def per_hour(self) -> float:
        return self.committed / self.hours


def _counts(transactions, hours: float) -> Mapping[str, Counts]:  # type: ignore[no-untyped-def]
    groups = transactions.groupby(transactions.writer.str.rpartition("-")[0])
    return {
        name: Counts(
            float((rows.outcome == "committed").sum()),
            float((rows.outcome == "aborted").sum()),
            hours,
        )
        for name, rows in groups
    }


@pytest.fixture(scope="module")
def original() -> Mapping[str, Counts]:
    return _counts(whitecap.run(SCENARIO).transactions, HOURS)


@pytest.fixture(scope="module")
def draft(tmp_path_factory: pytest.TempPathFactory) -> DraftedScenario:
    folder: Path = tmp_path_factory.mktemp("round") / "events"
    export_table(run_scenario(parse_scenario(SCENARIO)).world.store, folder)
    return draft_of(observe(str(folder), 5000), Options())


@pytest.fixture(scope="module")
def inferred(draft: DraftedScenario) -> Mapping[str, Counts]:
    totals: dict[str, Counts] = {}
    for replication in range(REPLICATIONS):
        run = whitecap.run(draft.text, replication=replication, changes={"duration": f"{HOURS} h"})
        for name, counts in _counts(run.transactions, HOURS).items():
            before = totals.get(name, Counts(0, 0, 0))
            totals[name] = Counts(
                before.committed + counts.committed,
                before.aborted + counts.aborted,
                before.hours + HOURS,
            )
    return totals


def test_every_group_is_told_apart(draft: DraftedScenario) -> None:
    assert {writer.group.name for writer in draft.writers} == set(KINDS.values())
    assert all(writer.window.is_known for writer in draft.writers)


@pytest.mark.parametrize("name", KINDS)
def test_commits_per_hour_are_the_same(
    name: str, original: Mapping[str, Counts], inferred: Mapping[str, Counts]
) -> None:
    given, drafted = original[name], inferred[KINDS[name]]
    error = math.sqrt(given.per_hour * (1 / given.hours + 1 / drafted.hours))
    assert abs(given.per_hour - drafted.per_hour) <= BEYOND * error, (given, drafted)


@pytest.mark.parametrize("name", ["upserter", "corrector"])
def test_the_predicted_conflict_rate_is_that_which_the_log_did_not_tell(
    name: str, original: Mapping[str, Counts], inferred: Mapping[str, Counts]
) -> None:
    given, drafted = original[name], inferred[KINDS[name]]
    assert given.aborted >= 10
    share = given.conflict_rate
    tries = [counts.committed + counts.aborted for counts in (given, drafted)]
    error = math.sqrt(share * (1 - share) * sum(1 / count for count in tries))
    assert abs(share - drafted.conflict_rate) <= BEYOND * error, (given, drafted)


def test_appends_conflict_with_nobody_there_either(inferred: Mapping[str, Counts]) -> None:
    assert inferred["insert"].aborted == 0
