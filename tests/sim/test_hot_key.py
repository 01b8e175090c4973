"""Contended commits come out as conditional writes of one key were measured."""

from __future__ import annotations

from functools import cache

import pytest

from benchmarks.validation.hot_key import CHECKED, FITTED, PROFILES, Row, rows

EVERY = [(profile, clients) for profile in PROFILES for clients in (*FITTED, *CHECKED)]


@cache
def _row(profile: str, clients: int) -> Row:
    (row,) = rows([profile], [clients], successes=500)
    return row


@pytest.mark.parametrize(("profile", "clients"), EVERY)
def test_attempts_and_successes_are_within_ten_percent(profile: str, clients: int) -> None:
    row = _row(profile, clients)
    tolerance = 0.1 if clients in CHECKED else 0.05
    assert abs(row.attempts_error) < tolerance
    assert abs(row.rate_error) < tolerance


@pytest.mark.parametrize(("profile", "clients"), EVERY)
def test_latencies_of_successes_and_losses_are_near_the_measured(
    profile: str, clients: int
) -> None:
    """S3 Express' losses, and the upper tail of 16 clients, are the farthest off."""
    row = _row(profile, clients)
    median = row.success_errors[3]
    assert abs(median) < 0.12
    assert all(abs(error) < 0.2 for error in row.success_errors[:5])
    assert all(abs(error) < 0.25 for error in row.loss_errors[:6])
