"""What a profile says of samples is what they are: mean, modes, time per byte, time at the key."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from whitecap.sim.calibration import contention
from whitecap.sim.calibration.contention import fitted_at_key, simulated
from whitecap.sim.calibration.fitting import distribution_of, ms_per_unit
from whitecap.sim.calibration.profile import Calibration, profile_document
from whitecap.sim.calibration.samples import ALREADY_EXISTS, CREATED, DONE, Sample, StoreOperation
from whitecap.sim.loading import scenario_of
from whitecap.sim.quantities.distributions import Distribution
from whitecap.sim.quantities.units import parse_duration
from whitecap.sim.run import FinishedRun, run_scenario
from whitecap.sim.scenario.model import Scenario

RANDOM = np.random.default_rng(7)

SAMPLED = {
    "of one mode": RANDOM.lognormal(3, 0.4, 300),
    "of two modes": np.concatenate([RANDOM.normal(8, 0.3, 130), RANDOM.normal(250, 9, 70)]),
    "with a heavy tail": RANDOM.lognormal(0, 1.5, 500),
    "few": RANDOM.exponential(5, 20),
}


@pytest.mark.parametrize("name", SAMPLED)
def test_a_distribution_has_the_mean_and_the_quantiles_of_its_samples(name: str) -> None:
    samples = SAMPLED[name]
    fitted = Distribution.model_validate(distribution_of(samples.tolist()))
    assert fitted.mean_ms() == pytest.approx(samples.mean(), rel=0.015)
    assert fitted.at(0.0) == pytest.approx(samples.min(), rel=1e-3)
    assert fitted.at(1.0) == pytest.approx(samples.max(), rel=1e-3)
    assert fitted.at(0.5) == pytest.approx(np.median(samples), rel=0.02)


@given(st.lists(st.floats(0, 1e6), min_size=1, max_size=60))
def test_any_samples_make_a_distribution_with_their_mean(samples: list[float]) -> None:
    fitted = Distribution.model_validate(distribution_of(samples))
    assert fitted.mean_ms() == pytest.approx(np.mean(samples), rel=0.02, abs=1e-3)


def test_nothing_is_drawn_between_two_modes() -> None:
    fitted = Distribution.model_validate(distribution_of(SAMPLED["of two modes"].tolist()))
    drawn = fitted.quantile(RANDOM.random(10_000))
    assert ((drawn > 12) & (drawn < 200)).mean() < 0.02


def test_time_per_byte_is_the_slope_whatever_the_tails() -> None:
    sizes = np.repeat([4096, 1 << 16, 1 << 20, 1 << 22], 50)
    latencies = 10 + 2e-5 * sizes + RANDOM.exponential(0.2, len(sizes))
    latencies[::40] += 500
    assert ms_per_unit(sizes.tolist(), latencies.tolist()) == pytest.approx(2e-5, rel=0.05)


def test_larger_objects_never_take_less() -> None:
    assert ms_per_unit([10, 10, 20, 20], [9, 9, 5, 5]) == 0
    assert ms_per_unit([10, 10], [4, 6]) == 0


# A whole profile -------------------------------------------------------------------------------


def _alone() -> list[Sample]:
    """A put-if-absent takes 40 to 60 ms, other requests half of that, and 20 ms per MiB."""
    taken = RANDOM.uniform(40, 60, 200)
    wins = [Sample(StoreOperation.PUT_IF_ABSENT, 4096, ms, 1, CREATED) for ms in taken]
    losses = [
        Sample(StoreOperation.PUT_IF_ABSENT, 4096, ms, 1, ALREADY_EXISTS) for ms in taken[:50]
    ]
    sizes = [4096] * 40 + [1 << 20] * 40
    puts = [Sample(StoreOperation.PUT, size, 25 + 20 * size / 2**20, 1, DONE) for size in sizes]
    return [*wins, *losses, *puts]


def _calibration(samples: list[Sample]) -> Calibration:
    return Calibration(samples, "a test", "2026-11-22", "s3")


def test_what_was_measured_is_told_apart_from_what_was_not() -> None:
    profile = profile_document(_calibration(_alone()))
    assert profile["put"]["basis"] == profile["put_if_absent"]["success"]["basis"] == "measured"
    assert parse_duration(profile["put"]["per_mib"]) == pytest.approx(20, rel=0.01)
    assert "200 samples" in profile["put_if_absent"]["success"]["source"]
    for part in ("get", "head", "list", "log_store", "client"):
        assert profile[part]["basis"] == "assumed"
        assert profile[part]["assumption"] == "as s3: nothing was measured here"
    assert profile["put_if_absent"]["at_key"]["basis"] == "assumed"
    assert fitted_at_key(_calibration(_alone()), profile) is None


def _competing(held_ms: float, clients: int, profile: dict[str, object]) -> list[Sample]:
    """Samples of a store that holds its newest key so long: the simulator's."""
    contest = simulated(profile, held_ms, clients, 50)
    lost = round(100 * (contest.attempts_per_success - 1))
    wins = [Sample(StoreOperation.PUT_IF_ABSENT, 4096, contest.success_ms, clients, CREATED)] * 100
    return (
        wins
        + [Sample(StoreOperation.PUT_IF_ABSENT, 4096, contest.loss_ms, clients, ALREADY_EXISTS)]
        * lost
    )


@pytest.mark.parametrize("held_ms", [0.0, 30.0])
def test_the_time_at_the_key_is_found_again(held_ms: float) -> None:
    alone = _alone()
    profile = profile_document(_calibration(alone))
    samples = [*alone, *_competing(held_ms, 2, profile), *_competing(held_ms, 4, profile)]
    at_key = fitted_at_key(_calibration(samples), profile)
    assert at_key is not None
    assert at_key["basis"] == "fitted"
    assert parse_duration(at_key["success"]) == pytest.approx(held_ms, abs=6)
    assert "of 2 clients" in at_key["source"]


def test_clients_that_waited_for_a_processor_are_not_simulated_for_as_long(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """A machine may take a hundred times as long for the commits of many clients as for one's."""
    attempts = list[int]()

    def noted(scenario: Scenario) -> FinishedRun:
        run = run_scenario(scenario)
        attempts.append(run.recording.attempts.num_rows)
        return run

    monkeypatch.setattr(contention, "run_scenario", noted)
    took = RANDOM.uniform(4000, 6000, 100)
    wins = [Sample(StoreOperation.PUT_IF_ABSENT, 4096, ms, 4, CREATED) for ms in took]
    losses = [Sample(StoreOperation.PUT_IF_ABSENT, 4096, ms, 4, ALREADY_EXISTS) for ms in took]
    alone = _alone()
    calibration = _calibration([*alone, *wins, *losses])
    assert fitted_at_key(calibration, profile_document(_calibration(alone))) is not None
    assert len(attempts) == len(contention.SHARES)
    assert min(attempts) > contention.COMMITS
    assert max(attempts) < 8 * contention.COMMITS


def test_a_calibrated_profile_can_be_run() -> None:
    store = {"profile": {**profile_document(_calibration(_alone())), "profile": "mine"}}
    writer = {"statement": "INSERT INTO events VALUES (1)", "arrival": "closed", "compute": "1 s"}
    table = {"schema": "event_id BIGINT"}
    document = {"name": "own", "duration": "1 min", "table": table, "writers": {"one": writer}}
    run = run_scenario(scenario_of({**document, "store": store}))
    attempts = run.recording.attempts.to_pylist()
    took = [a["reply_at_ms"] - a["sent_at_ms"] for a in attempts if a["reply_at_ms"] is not None]
    assert len(took) > 10
    assert all(39 < ms < 61 for ms in took)
