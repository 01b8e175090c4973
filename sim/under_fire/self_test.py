"""Before anything is believed: of many puts of one absent key exactly one wins, through HTTP."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from http.client import HTTPConnection
from urllib.parse import urlsplit

from whitecap.engine.errors import InvariantViolated
from whitecap.sim.under_fire.service import BUCKET

PUTS, ROUNDS = 16, 8
"""Puts of one key at the same time, and how often that is tried. Ours."""


def proves_one_winner(url: str) -> None:
    """Many puts at once, some times over. Raises `InvariantViolated` unless one wins each time."""
    place = urlsplit(url).netloc
    with ThreadPoolExecutor(PUTS) as threads:
        for number in range(ROUNDS):
            key = f"/{BUCKET}/self-test/{number}"
            bodies = [str(put) for put in range(PUTS)]
            statuses = list(threads.map(_putting(place, key), bodies))
            won = [body for body, status in zip(bodies, statuses, strict=True) if status == 200]
            if len(won) != 1 or _asked(place, "GET", key)[1] != won[0].encode():
                raise InvariantViolated(f"put-if-absent of one key was won by {len(won)} of {PUTS}")
            _asked(place, "DELETE", key)


def _putting(place: str, key: str) -> Callable[[str], int]:
    return lambda body: _asked(place, "PUT", key, body, {"If-None-Match": "*"})[0]


def _asked(
    place: str,
    method: str,
    key: str,
    body: str | None = None,
    headers: dict[str, str] | None = None,
) -> tuple[int, bytes]:
    connection = HTTPConnection(place, timeout=30)
    try:
        connection.request(method, key, body, headers or {})
        answer = connection.getresponse()
        return answer.status, answer.read()
    finally:
        connection.close()
