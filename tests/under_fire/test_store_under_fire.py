"""The store on loopback keeps what it promises, and fails as it is told to."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from http.client import HTTPConnection, RemoteDisconnected
from pathlib import Path
from time import sleep
from typing import Any
from urllib.parse import urlsplit

import pytest

from tests.sim.sim_worlds import UPDATE, scenario
from whitecap.engine.errors import InvariantViolated
from whitecap.sim.scenario.faults import Fault
from whitecap.sim.store.requests.faults import UNHARMED, Crash, Struck
from whitecap.sim.time.random_streams import RandomStreams
from whitecap.sim.under_fire.bucket import Bucket
from whitecap.sim.under_fire.misfortunes import JobRun, Misfortunes
from whitecap.sim.under_fire.self_test import proves_one_winner
from whitecap.sim.under_fire.service import Befall, LandedVersion, Service, serving

ETL = JobRun("etl-1", 3, 0)
COMMIT = "/whitecap/table/_delta_log/00000000000000000007.json"
Ask = Callable[..., tuple[int, bytes]]


class Fire:
    """A service whose requests are struck as `struck` says, and who was killed."""

    def __init__(self, root: Path, is_exclusive: bool = True) -> None:
        self.struck, self.misses = UNHARMED, 0
        self.befall: Befall = lambda *_: (self.struck, self.misses)
        self.waited_ms: list[float] = []
        self.killed: list[tuple[JobRun, Crash]] = []
        self.service = Service(
            Bucket(root, is_exclusive),
            lambda *asked: self.befall(*asked),
            lambda sender, crash: self.killed.append((sender, crash)),
            self._real_s,
        )

    def _real_s(self, simulated_ms: float) -> float:
        self.waited_ms.append(simulated_ms)
        return simulated_ms / 1000

    def ask(self, method: str, path: str, body: bytes = b"", **headers: str) -> tuple[int, bytes]:
        connection = HTTPConnection(urlsplit(self.service.url).netloc, timeout=10)
        credential = f"AWS4-HMAC-SHA256 Credential={ETL.access_key}/20260101/us-east-1/s3/x"
        try:
            named = {name.replace("_", "-"): value for name, value in headers.items()}
            connection.request(method, path, body, {"Authorization": credential, **named})
            answer = connection.getresponse()
            return answer.status, answer.read()
        finally:
            connection.close()

    def commit(self) -> int:
        return self.ask("PUT", COMMIT, b"{}", If_None_Match="*")[0]


@pytest.fixture
def fire(tmp_path: Path) -> Iterator[Fire]:
    fire = Fire(tmp_path)
    with serving(fire.service):
        yield fire


def test_of_many_puts_of_one_absent_key_one_wins(fire: Fire) -> None:
    proves_one_winner(fire.service.url)


def test_a_store_without_put_if_absent_fails_the_self_test(tmp_path: Path) -> None:
    fire = Fire(tmp_path, is_exclusive=False)
    with serving(fire.service), pytest.raises(InvariantViolated, match="won by 16 of 16"):
        proves_one_winner(fire.service.url)


def test_a_version_is_noted_as_its_writers_and_a_second_one_is_refused(fire: Fire) -> None:
    assert [fire.commit(), fire.commit()] == [200, 412]
    assert fire.service.landings == [LandedVersion(7, ETL)]


def test_a_lost_reply_has_effect_and_says_nothing(fire: Fire) -> None:
    fire.struck = Struck(loses_reply=True)
    with pytest.raises(RemoteDisconnected):
        fire.commit()
    assert fire.service.landings == [LandedVersion(7, ETL)]


def test_a_late_effect_comes_after_its_client_has_given_up(fire: Fire) -> None:
    fire.struck = Struck(late_ms=200)
    with pytest.raises(RemoteDisconnected):
        fire.commit()
    assert not fire.service.landings
    sleep(1)
    assert fire.service.landings == [LandedVersion(7, ETL)]


@pytest.mark.parametrize(
    ("struck", "status"), [(Struck(is_throttled=True), 503), (Struck(is_conflicting=True), 409)]
)
def test_what_is_throttled_or_conflicting_has_no_effect(
    fire: Fire, struck: Struck, status: int
) -> None:
    fire.struck = struck
    assert fire.commit() == status
    assert not fire.service.landings


@pytest.mark.parametrize(("when", "landed"), [("before", 0), ("during", 1), ("after", 1)])
def test_a_client_dies_before_during_or_after_its_request(
    fire: Fire, when: str, landed: int
) -> None:
    crash = Crash(when, 10.0)
    fire.struck = Struck(crash=crash)
    with pytest.raises(RemoteDisconnected):
        fire.commit()
    assert fire.killed == [(ETL, crash)]
    assert len(fire.service.landings) == landed


FAULTS: dict[str, dict[str, Any]] = {
    "lost_reply": {"probability": 1},
    "late_effect": {"probability": 1, "delay": "5 ms"},
    "throttling": {"probability": 1},
    "crash_at_request": {"nth": 1, "restart": "10 s"},
    "duplicate_delivery": {"probability": 1, "delay": "5 ms"},
    "conflict_409": {"nth": 1},
    "pause": {"nth": 1, "lasts": "5 ms"},
    "stale_listing": {"probability": 1},
}
"""What befalls requests; a writer's crash is no request's (`test_jvm_deaths.py`)."""


def _acted_out(fire: Fire, faults: list[dict[str, Any]]) -> list[object]:
    """What a client and the machine see of a commit and a listing while these faults strike."""
    given = scenario(faults=faults, writers={"etl": {**UPDATE, "count": 2}})
    fire.befall = Misfortunes(given, RandomStreams(1, 0), lambda: 0.0).befall
    fire.waited_ms.clear()
    try:
        status: object = fire.commit()
    except RemoteDisconnected:
        status = "nothing"
    _, listing = fire.ask("GET", "/whitecap?list-type=2&prefix=table/")
    return [status, fire.killed[:], [ms for ms in fire.waited_ms if ms], b"7.json" in listing]


@pytest.mark.parametrize("kind", sorted({*Fault.alternatives()} - {"writer_crash"}))
def test_every_fault_of_a_request_is_acted_out_and_counted_by_its_kind(
    tmp_path: Path, kind: str
) -> None:
    quiet, struck = Fire(tmp_path / "quiet"), Fire(tmp_path / "struck")
    with serving(quiet.service), serving(struck.service):
        assert _acted_out(struck, [{kind: FAULTS[kind]}]) != _acted_out(quiet, [])
    assert (set(quiet.service.struck), set(struck.service.struck)) == (set(), {kind})


def test_a_stale_listing_misses_the_newest_versions_and_nothing_else(fire: Fire) -> None:
    for name in ("_delta_log/00000000000000000000.json", "_delta_log/00000000000000000001.json"):
        fire.ask("PUT", f"/whitecap/table/{name}", b"{}")
    fire.ask("PUT", "/whitecap/table/part-0.parquet", b"x")
    fire.misses = 1
    _, listing = fire.ask("GET", "/whitecap?list-type=2&prefix=table/")
    assert b"0000.json" in listing
    assert b"0001.json" not in listing
    assert b"part-0.parquet" in listing


def test_a_range_of_an_object_is_had_by_its_ends_or_from_its_end(fire: Fire) -> None:
    fire.ask("PUT", "/whitecap/table/object", b"0123456789")
    answers = [
        fire.ask("GET", "/whitecap/table/object", Range=f"bytes={span}")
        for span in ("2-4", "7-", "-3")
    ]
    assert answers == [(206, b"234"), (206, b"789"), (206, b"789")]
