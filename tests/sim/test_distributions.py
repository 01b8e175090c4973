"""A distribution is what its name says: shape, mean and spread follow the scenario's text."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from pydantic import ValidationError

from whitecap.scenarios import SCENARIOS
from whitecap.sim.quantities.distributions import Distribution
from whitecap.sim.quantities.quantiles import OPTIONS
from whitecap.sim.scenario.yaml.text import read_yaml
from whitecap.sim.time.random_streams import RandomStreams


def _draws(text: Any, count: int = 40_000) -> np.ndarray[Any, Any]:
    ranks = RandomStreams(11).source("test", "one").uniforms(range(count), [0])
    return Distribution.model_validate(text).quantile(ranks)[:, 0]


@pytest.mark.parametrize(
    ("text", "mean_ms", "deviation_ms"),
    [
        ("5 s", 5000, 0),
        ({"constant": "250 ms"}, 250, 0),
        ({"uniform": {"low": "1 s", "high": "3 s"}}, 2000, 2000 / 12**0.5),
        ({"exponential": {"mean": "2 s"}}, 2000, 2000),
        ({"lognormal": {"mean": "4 s", "cv": 0.5}}, 4000, 2000),
    ],
)
def test_mean_and_deviation_are_those_of_the_text(
    text: Any, mean_ms: float, deviation_ms: float
) -> None:
    draws = _draws(text)
    assert draws.mean() == pytest.approx(mean_ms, rel=0.02)
    assert draws.std() == pytest.approx(deviation_ms, rel=0.03)
    assert Distribution.model_validate(text).mean_ms() == pytest.approx(mean_ms)


@pytest.mark.parametrize(
    "text",
    [
        "5 s",
        {"uniform": {"low": "1 s", "high": "3 s"}},
        {"exponential": {"mean": "2 s"}},
        {"lognormal": {"median": "4 s", "sigma": 0.5}},
        {"quantiles": {"p5": "1 s", "p50": "2 s", "p99": "9 s"}},
        {"pareto": {"minimum": "2 s", "alpha": 1.5}},
    ],
)
def test_a_longer_duration_has_a_higher_rank(text: Any) -> None:
    distribution = Distribution.model_validate(text)
    ranks = np.linspace(0.001, 0.999, 500)
    durations = distribution.quantile(ranks)
    assert (np.diff(durations) >= 0).all()
    assert distribution.at(0.25) == pytest.approx(np.interp(0.25, ranks, durations), rel=1e-3)


def test_a_lognormal_by_median_and_sigma_has_that_median_and_sigma() -> None:
    draws = _draws({"lognormal": {"median": "20 s", "sigma": 0.4}})
    assert np.median(draws) == pytest.approx(20_000, rel=0.01)
    assert np.log(draws).std() == pytest.approx(0.4, rel=0.02)


STRAGGLERS = {
    "mixture": [
        {"share": 0.9, "of": {"exponential": {"mean": "10 s"}}},
        {"share": 0.1, "of": {"pareto": {"minimum": "1 min", "alpha": 3}}},
    ]
}


def test_a_power_law_has_its_tail() -> None:
    draws = _draws({"pareto": {"minimum": "2 s", "alpha": 1.5}}, 200_000)
    assert draws.min() >= 2000
    for times in (2, 10, 100):
        assert (draws > 2000 * times).mean() == pytest.approx(times**-1.5, rel=0.15)
    assert Distribution.model_validate({"pareto": {"minimum": "2 s", "alpha": 3}}).mean_ms() == 3000


def test_a_mixture_has_each_kind_as_often_as_its_share_says() -> None:
    draws = _draws(STRAGGLERS, 200_000)
    expected_ms = 0.9 * 10_000 + 0.1 * 90_000
    assert draws.mean() == pytest.approx(expected_ms, rel=0.02)
    assert Distribution.model_validate(STRAGGLERS).mean_ms() == pytest.approx(expected_ms)
    for limit_ms in (5_000, 20_000, 60_000, 120_000):
        short = 1 - np.exp(-limit_ms / 10_000)
        long = 1 - (60_000 / max(limit_ms, 60_000)) ** 3
        assert (draws < limit_ms).mean() == pytest.approx(0.9 * short + 0.1 * long, abs=0.004)


MEASURED = [
    ("azure", ("put_if_absent", "success", "latency")),
    ("azure", ("put_if_absent", "loss", "latency")),
    ("s3", ("put_if_absent", "out")),
    ("s3-express", ("put_if_absent", "out")),
    ("s3-express", ("get", "latency")),
]


@pytest.mark.parametrize(("store", "place"), MEASURED)
def test_measured_quantiles_are_reproduced(store: str, place: tuple[str, ...]) -> None:
    latency = read_yaml(SCENARIOS / "stores" / f"{store}.yaml").content
    for name in place:
        latency = latency[name]
    draws = _draws(latency, 200_000).round(6)
    points = {n: quantile for n, quantile in latency["quantiles"].items() if n not in OPTIONS}
    for name, quantile in points.items():
        expected = float(quantile.removesuffix(" ms"))
        rank = float(name[1:]) / 100
        assert (draws < expected).mean() <= rank + 0.004, name
        assert (draws <= expected).mean() >= rank - 0.004, name


@pytest.mark.parametrize(
    "text",
    [
        5,
        "5",
        "5 sec",
        {},
        {"constant": "1 s", "exponential": {"mean": "1 s"}},
        {"lognormal": {"median": "1 s"}},
        {"lognormal": {"median": "1 s", "sigma": 1, "mean": "1 s", "cv": 1}},
        {"uniform": {"low": "2 s", "high": "1 s"}},
        {"quantiles": {"p50": "2 s", "p90": "1 s"}},
        {"quantiles": {"p50": "2 s", "90": "3 s"}},
        {"exponential": {"mean": "0 s"}},
        {"pareto": {"minimum": "1 s", "alpha": 1}},
        {"mixture": [{"share": 1, "of": "5 s"}]},
        {"mixture": [{"share": 0.5, "of": "5 s"}, {"share": 0.4, "of": "9 s"}]},
        {"normal": {"mean": "1 s"}},
    ],
)
def test_a_text_that_is_no_distribution_is_refused(text: Any) -> None:
    with pytest.raises(ValidationError):
        Distribution.model_validate(text)


TABLE = {"p10": "1 ms", "p50": "10 ms", "p90": "1 s"}


def test_quantiles_may_be_joined_by_logarithms() -> None:
    straight = Distribution.model_validate({"quantiles": TABLE})
    joined = Distribution.model_validate({"quantiles": {**TABLE, "between": "logarithmic"}})
    assert straight.at(0.7) == pytest.approx(505)
    assert joined.at(0.7) == pytest.approx(100)
    assert joined.at(0.5) == pytest.approx(straight.at(0.5))
    assert joined.mean_ms() == pytest.approx(
        _draws({"quantiles": joined.quantiles}).mean(), rel=0.02
    )


def test_without_a_mean_nothing_lies_beyond_the_last_quantile() -> None:
    assert Distribution.model_validate({"quantiles": TABLE}).at(0.999999) == 1000


def test_a_mean_says_how_far_the_tail_goes() -> None:
    distribution = {"quantiles": {**TABLE, "between": "logarithmic", "mean": "300 ms"}}
    draws = _draws(distribution, 400_000)
    assert draws.mean() == pytest.approx(300, rel=0.02)
    assert Distribution.model_validate(distribution).mean_ms() == 300
    beyond = draws[draws > 1000] - 1000
    assert len(beyond) == pytest.approx(40_000, rel=0.02)
    assert beyond.std() == pytest.approx(beyond.mean(), rel=0.02)


def test_quantiles_that_are_too_high_for_their_mean_are_refused() -> None:
    with pytest.raises(ValidationError, match="these quantiles have a mean of 304 ms, more than"):
        Distribution.model_validate({"quantiles": {**TABLE, "mean": "200 ms"}})
    with pytest.raises(ValidationError, match="nothing lies beyond p100"):
        Distribution.model_validate({"quantiles": {"p0": "1 ms", "p100": "3 ms", "mean": "5 ms"}})
    table = {"p10": "0 ms", "p90": "9 ms", "between": "logarithmic"}
    with pytest.raises(ValidationError, match="no logarithm"):
        Distribution.model_validate({"quantiles": table})
