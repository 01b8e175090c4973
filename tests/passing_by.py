"""A play in which winners that concern nobody are passed by, and again with each checked whole."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any, TypeVar

import pytest

from whitecap.engine.conflicts.current import CurrentTransaction
from whitecap.engine.log.effects import ANY
from whitecap.engine.races.conformance.case import Case, CaseResult, StatementCase
from whitecap.engine.races.conformance.run import run_cases
from whitecap.engine.races.conformance.statement_cases import tables_of
from whitecap.engine.storage.requests import Steps
from whitecap.engine.transaction import commit_loop
from whitecap.engine.transaction.lost_reply import LostReply

T = TypeVar("T")


@contextmanager
def every_winner_checked_whole() -> Iterator[None]:
    """Every effect of a winner concerns everybody, so that nothing is passed by."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(CurrentTransaction, "concerns", ANY)
        yield


@contextmanager
def attempts_noted() -> Iterator[list[tuple[str, bytes]]]:
    """Key and body of every commit file that somebody tries to put, lost ones too."""
    attempts: list[tuple[str, bytes]] = []
    put_commit = commit_loop.put_commit

    def noted(
        key: str, body: bytes, lost_reply: LostReply, actions: Any = None
    ) -> Steps[commit_loop.PutOutcome]:
        attempts.append((key, body))
        return put_commit(key, body, lost_reply, actions)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(commit_loop, "put_commit", noted)
        yield attempts


def both_ways(play: Callable[[], T]) -> tuple[T, T]:
    passing_by = play()
    with every_winner_checked_whole():
        return passing_by, play()


def result_both_ways(case: Case) -> CaseResult:
    """How a case ends; both ways put the same bytes and end the same, or it is an `AssertionError`.

    One test asks both of a case, since thousands of cases are played. Its tables are made before.
    """
    if isinstance(case, StatementCase):
        tables_of(case)

    def play() -> tuple[CaseResult, list[tuple[str, bytes]]]:
        with attempts_noted() as attempts:
            (result,) = run_cases([case])
        return result, attempts

    passing_by, whole = both_ways(play)
    assert passing_by == whole
    return passing_by[0]
