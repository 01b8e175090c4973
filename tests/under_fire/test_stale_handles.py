"""Oracles find exactly what is wrong in tables that real deltalake leaves, and nothing else."""

from __future__ import annotations

from pathlib import Path

import pytest

from benchmarks.stale_handles import PAGE, REVERSED, UNSOUND_PAIRS, is_as_known, play, unsound
from whitecap.engine.isolation import IsolationLevel
from whitecap.sim.replay.delta_rs.process import ProcessDied
from whitecap.sim.replay.real.environment import EnvironmentMissing
from whitecap.sim.under_fire.clients import RealClient, real_client


def test_deltalake_1_6_3_fails_exactly_the_pairs_that_are_right_in_reverse_order() -> None:
    version, pairs = play(None)
    assert version == "1.6.3"
    assert unsound(pairs) == REVERSED
    assert not unsound(pairs, IsolationLevel.WRITE_SERIALIZABLE)
    assert is_as_known(version, pairs)
    judgements = [judged for pair in pairs for judged in pair.judged.values()]
    assert not any(judged.not_checked for judged in judgements)


@pytest.mark.parametrize("version", sorted(UNSOUND_PAIRS))
def test_the_committed_page_has_every_version_as_it_is_known(version: str) -> None:
    assert f"## deltalake {version}: as known" in PAGE.read_text()


def test_an_interpreter_without_deltalake_is_refused_by_name(tmp_path: Path) -> None:
    nobody = tmp_path / "python"
    with pytest.raises(EnvironmentMissing, match="cannot be run"):
        RealClient(str(nobody))
    nobody.write_text("#!/bin/sh\nexit 1\n")
    nobody.chmod(0o755)
    with pytest.raises(EnvironmentMissing, match="has no deltalake"):
        RealClient(str(nobody))


def test_a_killed_client_is_dead_and_not_waited_for(tmp_path: Path) -> None:
    with real_client() as client:
        client.kill()
        with pytest.raises(ProcessDied):
            client.open(str(tmp_path))
