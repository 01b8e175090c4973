"""Conditions, values, engines and groups: what single commits say, and what many say together."""

from __future__ import annotations

import math
from collections.abc import Iterable
from datetime import date

import numpy as np
import pytest
from numpy.typing import NDArray

from tests.inferring.synthetic_logs import MONDAY_MS, of
from whitecap.engine.log.schema import Field
from whitecap.sim.inferring.choices import choice_of, zipf_fit, zipf_shares
from whitecap.sim.inferring.domains import DraftDomain
from whitecap.sim.inferring.engines import guessed_dialect, guessed_store
from whitecap.sim.inferring.evidence.figures import (
    DraftFigure,
    counted,
    duration_text,
    rate_interval_text,
    rate_text,
)
from whitecap.sim.inferring.groups import MOST_GROUPS, grouped
from whitecap.sim.inferring.log.conditions import (
    ColumnLimit,
    compared,
    condition_of,
    pin_of,
    template_of,
)
from whitecap.sim.inferring.log.observed import CommitOrigin, ObservedCommit
from whitecap.sim.scenario.parameters import Parameter
from whitecap.sim.scenario.yaml.text import YamlText
from whitecap.sim.writers.choices import pick

COLUMNS = ("id", "date", "country", "amount", "status", "Event Date")
DAY_MS = 86_400_000


def _condition(predicate: str, name: str = "predicate") -> str:
    return condition_of(ObservedCommit(1, 0, "DELETE", parameters={name: predicate}))


@pytest.mark.parametrize(
    ("predicate", "pins"),
    [
        ("[\"(date = DATE '2026-01-12' AND country = 'DE')\"]", {"date", "country"}),
        ('["((date#429 = 2024-01-01) AND (country#12 = DE))"]', {"date", "country"}),
        ('["(t.id#1L = s.id#9L)"]', set()),
        ("t.id = s.id AND t.date = '2026-01-02'", {"date"}),
        ("t.id = s.id AND t.date = s.date", set()),
        ("'2026-01-02' = date AND amount > 5", {"date"}),
        ("[\"(`country` IN ('DE', 'FR'))\"]", {"country"}),
        ("day = '2026-01-01' AND (id = 1 OR id = 2)", set()),
        ("[\"(country != 'DE')\"]", set()),
        ('["(country#12 = New York)"]', {"country"}),
        ('["((date#429 = 2024-01-01) AND (country#12 <=> St. John\'s))"]', {"date", "country"}),
        ('["(Event Date#7 = cast(2024-01-01 as date))"]', {"Event Date"}),
        ('["(t.Event Date#7 = s.Event Date#9)"]', set()),
        ("[\"(`Event Date` = '2024-01-01')\"]", {"Event Date"}),
        ('["(id#1L = (amount#2 + 1))"]', set()),
        ("[]", set()),
        ("true", set()),
    ],
)
def test_a_condition_pins_columns_that_it_compares_with_values(
    predicate: str, pins: set[str]
) -> None:
    pinned = {
        column
        for column in ("date", "country", "Event Date")
        if pin_of(_condition(predicate), column, COLUMNS) is ColumnLimit.VALUE
    }
    assert pinned == pins


@pytest.mark.parametrize(
    ("predicate", "limit"),
    [
        ("date >= '2026-01-01'", ColumnLimit.FROM),
        ("'2026-01-01' < date", ColumnLimit.FROM),
        ("date < '2026-01-01'", ColumnLimit.UPTO),
        ('["((date#1 >= 2026-01-01) AND (date#1 < 2026-01-03))"]', ColumnLimit.RANGE),
        ("date BETWEEN '2026-01-01' AND '2026-01-03'", ColumnLimit.RANGE),
        ("id = 1 AND date BETWEEN 2026-01-01 AND 2026-01-03", ColumnLimit.RANGE),
        ('["((date#1 < 2026-01-01) OR (date#1 > 2026-01-08))"]', None),
        ("date NOT BETWEEN '2026-01-01' AND '2026-01-03'", None),
    ],
)
def test_a_condition_may_reach_from_a_value_on_or_up_to_one(
    predicate: str, limit: ColumnLimit | None
) -> None:
    assert pin_of(_condition(predicate), "date", COLUMNS) is limit


@pytest.mark.parametrize(
    ("predicate", "value"),
    [
        ("date <= CAST('2026-01-14' AS DATE) - 4", "2026-01-10"),
        ("date < CAST('2026-02-27' AS DATE) + 2", "2026-03-01"),
        ("date < CAST('9999-12-31' AS DATE) + 2", "9999-12-31"),
        ("date <= DATE '2026-01-14' - 4", "2026-01-10"),
        ("date < DATE '9999-12-31' + 2", "9999-12-31"),
        ("id < 3 + 2", "5"),
        ("id < 3.5 - 2.5", "3.5"),
    ],
)
def test_sums_of_values_are_what_they_make(predicate: str, value: str) -> None:
    column = predicate.partition(" ")[0]
    assert [text for _, text in compared(_condition(predicate), column, COLUMNS)] == [value]


@pytest.mark.parametrize(
    ("condition", "other", "is_same"),
    [
        (
            "id IN (1, 2, 3) AND date = DATE '2026-01-12'",
            "id IN (7) AND date = DATE '2025-11-02'",
            True,
        ),
        ("id = 1 OR id = 2 OR id = 3", "id = 9", True),
        ("(country = DE)", "(country = FR)", True),
        ("(country = DE)", "(country = New York)", True),
        ("country IN (DE,FR)", "country IN (New York,DE,FR)", True),
        ("(Event Date = x)", "(amount = x)", False),
        ("status = 'new'", "status = 'old'", True),
        ("status = 'new'", "amount = 5", False),
        ("t.id = s.id", "t.id = s.amount", False),
    ],
)
def test_jobs_that_differ_in_values_alone_have_one_template(
    condition: str, other: str, is_same: bool
) -> None:
    assert (template_of(condition, COLUMNS) == template_of(other, COLUMNS)) is is_same


@pytest.mark.parametrize(
    ("engine", "dialect"),
    [
        ("Apache-Spark/4.2.0 Delta-Lake/4.4.0", "delta-oss-4.4"),
        ("Apache-Spark/3.5.0 Delta-Lake/3.2.0", "delta-oss-3.3"),
        ("Apache-Spark/4.0.0 Delta-Lake/4.0.1", "delta-oss-3.3"),
        ("Databricks-Runtime/15.4.x-photon-scala2.12", "databricks-14.3"),
        ("Databricks-Runtime/14.2.x-scala2.12", "databricks-14.2"),
        ("Databricks-Runtime/9.1.x-scala2.12", "databricks-13.3"),
        ("Databricks-Runtime/16.x-photon-scala2.12", "databricks-14.3"),
        ("Databricks-Runtime/dlt:16.1.3-delta-pipelines-photon", "databricks-14.3"),
        ("Databricks-Runtime/<unknown>", "databricks-14.3"),
        ("delta-rs:py-1.6.3", "delta-rs-1.6.3"),
        ("delta-rs.0.19.0", "delta-rs-1.6.3"),
        ("Trino-432", "delta-oss-4.4"),
        (None, "delta-oss-4.4"),
    ],
)
def test_the_dialect_is_the_nearest_one_that_is_not_newer(engine: str | None, dialect: str) -> None:
    assert guessed_dialect(of(engine, 3)).dialect.name == dialect


def test_a_log_of_delta_4_0_is_told_what_of_its_dialect_is_that_of_spark_3_5() -> None:
    of_4_0 = guessed_dialect(of("Apache-Spark/4.0.0 Delta-Lake/4.0.1", 3)).figure.because
    assert "delta-oss-3.3 stands for versions before 4.4" in of_4_0
    assert "set spark.sql.ansi.enabled: true" in of_4_0
    for older in ("3.2.0", "3.3.2"):
        engine = f"Apache-Spark/3.5.0 Delta-Lake/{older}"
        assert "ansi" not in guessed_dialect(of(engine, 3)).figure.because


def test_the_engine_of_most_commits_decides() -> None:
    commits = [*of("delta-rs:py-1.6.3", 2), *of("Databricks-Runtime/14.3.x", 5)]
    guess = guessed_dialect(commits)
    assert guess.dialect.name == "databricks-14.3"
    assert "5 of 7 commits" in guess.figure.because


def test_an_engine_that_is_not_modelled_is_named_but_not_to_others() -> None:
    commits = of("acme-loader/2.1", 3)
    assert "acme-loader" in guessed_dialect(commits).figure.because
    assert "acme" not in guessed_dialect(commits, anonymous=True).figure.because


def test_the_store_follows_from_the_uri_and_is_assumed_for_a_directory() -> None:
    assert guessed_store("abfss://c@a.dfs.core.windows.net/t").text == "abfs"
    assert guessed_store("gs://bucket/t").comment.startswith("guessed")
    assert guessed_store("data/t").comment.startswith("assumed")


def test_a_skew_comes_out_as_zipfs_law_and_an_even_choice_as_none() -> None:
    draws = np.random.default_rng(1)
    weights = np.arange(1, 9.0) ** -1.2
    skewed = draws.multinomial(400, weights / weights.sum()).astype(float)
    exponent, gain = zipf_fit(skewed)
    assert exponent == pytest.approx(1.2, abs=0.15)
    assert gain > 50
    even = draws.multinomial(400, np.full(8, 1 / 8)).astype(float)
    assert zipf_fit(even)[1] < 6.6


def _days(*behind: int) -> list[ObservedCommit]:
    today = date(2026, 1, 12)
    return [
        ObservedCommit(
            n, MONDAY_MS, "WRITE",
            partitions=frozenset({(str(date.fromordinal(today.toordinal() - days)),)}),
        )
        for n, days in enumerate(behind)
    ]  # fmt: skip


DAILY = DraftDomain(Field("date", "date"), 0, 30, (), counted("", ""))


def _chosen(behind: Iterable[int]) -> DraftFigure:
    figure = choice_of(DAILY, _days(*behind)).figure
    assert figure is not None
    return figure


def test_how_far_behind_the_day_of_the_commit_days_lie_is_how_new_they_are() -> None:
    assert _chosen([0, 0, 0, 0]).text == "newest"
    assert _chosen([0, 1, 2, 0, 1, 2]).text == "{newest: {within: 3}}"
    assert _chosen(range(30)).text == "uniform"
    assert _chosen([*([0] * 19), 25]).text == "newest"


@pytest.mark.parametrize(
    ("shares", "law"),
    [
        (zipf_shares(1.5, 30), "zipf"),
        (zipf_shares(0.6, 30), "zipf"),
        (np.full(5, 1 / 5), "newest"),
        (np.array([0.8, *[0.2 / 29] * 29]), "zipf"),
        (np.full(30, 1 / 30), "uniform"),
    ],
    ids=["Zipf's law", "a slight skew", "five days", "today, and late events", "any day"],
)
def test_two_jobs_of_a_draft_take_the_same_day_as_often_as_two_of_the_log(
    shares: NDArray[np.float64], law: str
) -> None:
    truth = float((shares**2).sum())
    error = 2 * math.sqrt(max(float((shares**3).sum()) - truth**2, 0.0) / 654)
    for seed in range(20):
        behind = np.random.default_rng(seed).choice(len(shares), size=654, p=shares)
        figure = _chosen(behind.tolist())
        assert law in figure.text, figure
        assert "of 654 commits two lie equally far behind" in figure.because
        assert abs(_meeting(figure.text) - truth) <= 3 * error + 0.1 * truth, figure


def test_a_commit_that_takes_many_days_does_not_blur_which_one_most_take() -> None:
    behind = [{(str(date(2026, 1, day)),) for day in range(4, 13)}, *[{("2026-01-12",)}] * 40]
    commits = [
        ObservedCommit(n, MONDAY_MS, "WRITE", partitions=frozenset(days))
        for n, days in enumerate(behind)
    ]
    figure = choice_of(DAILY, commits).figure
    assert figure is not None
    assert figure.text == "newest"


def _meeting(text: str) -> float:
    """How likely two jobs that choose by this parameter take the same of 30 days."""
    parameter = Parameter.model_validate(YamlText(text, "date").content)
    draws = (np.arange(30_000) + 0.5) / 30_000
    ranks = [pick(parameter, 30, float(draw)) for draw in draws]
    return float(((np.bincount(ranks) / len(ranks)) ** 2).sum())


def test_jobs_are_told_apart_by_job_and_condition_but_not_by_values() -> None:
    def commit(n: int, job: str | None, predicate: str) -> ObservedCommit:
        return ObservedCommit(
            n, n, "DELETE", CommitOrigin(job=job), parameters={"predicate": predicate}
        )

    commits = [commit(n, "Late Events", f"id = {n}") for n in range(5)]
    commits += [commit(n, "Late Events", f"status = 'x{n}'") for n in range(5, 10)]
    commits += [commit(n, "gdpr", f"id = {n}") for n in range(10, 15)]
    names = [group.name for group in grouped(commits, COLUMNS, False).groups]
    assert sorted(names) == ["delete-gdpr", "delete-late-events", "delete-late-events-2"]
    hidden = [group.name for group in grouped(commits, COLUMNS, True).groups]
    assert sorted(hidden) == ["delete", "delete-2", "delete-3"]


def test_too_many_groups_are_told_apart_less_finely() -> None:
    commits = [
        ObservedCommit(n, n, "UPDATE", parameters={"predicate": f"f{n % 40}(id) = amount"})
        for n in range(200)
    ]
    assert len(grouped(commits, COLUMNS, False).groups) == 1
    users = [
        ObservedCommit(
            n,
            n,
            "UPDATE",
            CommitOrigin(user=f"u{n % 9}"),
            parameters={"predicate": f"f{n % 40}(id) = 1"},
        )
        for n in range(400)
    ]
    assert len(grouped(users, COLUMNS, False).groups) == 9 <= MOST_GROUPS


def test_rates_and_durations_are_written_as_people_read_them() -> None:
    assert rate_text(120, 7_200_000) == "1 per min"
    assert rate_text(2.5, 86_400_000 * 2) == "1.25 per d"
    assert rate_text(0.1, 86_400_000) == "0.1 per d"
    assert rate_interval_text(121, 7_200_000) == "1.01 per min [0.837, 1.2] at 95 %"
    assert duration_text(90_000) == "90 s"
    assert duration_text(0.4) == "1 ms"
