"""Closed forms of optimistic concurrency: what a run must come to, worked out on paper.

In all of them a commit invalidates the transactions under way that conflict with it, and one that
was invalidated finds out when it is done.
"""

from __future__ import annotations

import math


def rounds_of_all(writers: int) -> float:
    """Transactions in all when N of equal length start at once, one commits in each round, and the
    others start again together: N + (N - 1) + ... + 1."""
    return writers * (writers + 1) / 2


def lock_step(writers: int) -> float:
    """Share that aborts when N transactions of equal length start together again and again."""
    return 1 - 1 / writers


def ramanujan_q(writers: int) -> float:
    """Transactions per commit of N writers without pauses whose work is exponential.

    After a commit one valid transaction is under way; each that ends commits with k / N, else there
    are k + 1. The mean is 1 + sum over j of the products of (1 - i / N): Ramanujan's Q.
    """
    return 1 + sum(math.prod(1 - i / writers for i in range(1, j + 1)) for j in range(1, writers))


def fixed_windows(load: float) -> float:
    """Share that aborts of Poisson arrivals whose work takes `load` mean gaps, all of it fixed.

    Who is under way when another one commits is lost: Erlang's formula for one server.
    """
    return load / (1 + load)


def exponential_windows(load: float) -> float:
    """The same where the work is exponential: the number k of valid transactions is a chain whose
    weights are the products of a / (a + i), and E[k] / a of all succeed."""
    weights = [1.0]
    while weights[-1] > 1e-15 * sum(weights) or len(weights) <= load:
        weights.append(weights[-1] * load / (load + len(weights)))
    valid = sum(k * weight for k, weight in enumerate(weights)) / sum(weights)
    return 1 - valid / load


def distinct_partitions(writers: int, partitions: int) -> float:
    """Commits when N transactions start at once, each on a partition drawn by lot."""
    return partitions * (1 - (1 - 1 / partitions) ** writers)


def beside_commits(load: float) -> float:
    """Share that aborts of work beside Poisson commits, `load` of them in its time on average."""
    return -math.expm1(-load)


def given_up(load: float, budget: int) -> float:
    """Share of jobs that are given up after `budget` reruns at once, each beside new commits."""
    return float(beside_commits(load) ** (budget + 1))


def time_in_system(load: float) -> float:
    """Mean time from arrival to end in a queue with one server (M/D/1), in service times."""
    return 1 + load / (2 * (1 - load))
