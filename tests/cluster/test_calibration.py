"""`whitecap calibrate` on moto's S3 server, which is nobody's of ours."""

from __future__ import annotations

from pathlib import Path

import pytest
from click.testing import CliRunner
from pyarrow.fs import FileSelector

from tests.cluster.machines import HOST, KEYS, bucket, s3_server
from whitecap.cli import main
from whitecap.sim.loading.profiles import profile_named
from whitecap.sim.scenario.origin import Basis

pytestmark = pytest.mark.cluster


def test_a_prefix_is_measured_and_left_empty(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name, value in {**KEYS, "AWS_DEFAULT_REGION": "us-east-1"}.items():
        monkeypatch.setenv(name, value)
    out = tmp_path / "moto.yaml"
    with s3_server(tmp_path) as port:
        where = ["s3://sweeps/place", "--endpoint-url", f"http://{HOST}:{port}"]
        result = CliRunner().invoke(
            main, ["calibrate", *where, "--count", "30", "--for", "2 min", "--out", str(out)]
        )
        assert result.exit_code == 0, result.output
        assert not bucket(port).get_file_info(FileSelector("sweeps", recursive=True))
    store = profile_named(str(out))
    for part in (store.put_if_absent.success, store.put_if_absent.loss, store.get, store.list):
        assert part.basis is Basis.MEASURED
    assert store.put_if_absent.at_key is not None
    assert store.put_if_absent.at_key.basis is Basis.FITTED
