"""A statement run in two parts: up to one of its commits, and from there to its end."""

from __future__ import annotations

from typing import Any

from whitecap.engine.errors import DeltaError, InvalidInput, RefusedAtCommit
from whitecap.engine.log.commit_file import decode_commit, version_of_key
from whitecap.engine.outcomes import Aborted, Committed, NothingToCommit, Outcome
from whitecap.engine.storage.memory import MemoryStore
from whitecap.engine.storage.requests import PutIfAbsent, PutResult, Request, Response, Steps

_TARGET = "target"


class StagedStatement:
    """A statement that waits before it writes a commit file, or has ended.

    Only the commits to the target that it writes after its wait are described: others came before
    the race, or belong to another table.
    """

    def __init__(self, steps: Steps[Outcome], store: MemoryStore, waits_at: int = 1) -> None:
        self._steps = steps
        self._store = store
        self._answer: Any = None
        self._outcome: Outcome | None = None
        self._error: DeltaError | None = None
        self._created: dict[int, str] = {}
        self.is_waiting = False
        self._advance(waits_at)

    def finish(self) -> None:
        """Go on to the end, if it waits."""
        if not self.is_waiting:
            return
        self.is_waiting = False
        if self._error is None:
            self._created.clear()
            self._answer = self._answered(self._pending)
            self._advance(None)

    def described(self) -> dict[str, Any]:
        """The keys of a case's expectations that the ending settles."""
        if self._error is not None:
            error = self._error
            return {
                "current": error.exception,
                "error_class": error.error_class,
                "message": error.message,
            }
        match self._outcome:
            case Committed() if self._created:
                return self._commit_described()
            case Aborted(verdict):
                return {
                    "current": verdict.exception.value,
                    "error_class": verdict.error_class or None,
                    "message": verdict.message,
                }
            case Committed() | NothingToCommit():
                return {"current": "nothing_to_commit"}
        return {"current": "unknown"}

    def _advance(self, waits_at: int | None) -> None:
        """Answer requests; stop before the commit of that number, from 1, is first tried."""
        commits = 0
        try:
            while True:
                request = self._steps.send(self._answer)
                is_try = isinstance(request, PutIfAbsent)
                if is_try and commits + 1 == waits_at:
                    self._pending, self.is_waiting = request, True
                    return
                self._answer = self._answered(request)
                commits += is_try and self._answer is PutResult.CREATED
        except StopIteration as end:
            self._outcome = end.value
        except DeltaError as error:
            self._error = error
            self.is_waiting = isinstance(error, RefusedAtCommit) and commits + 1 == waits_at
        except InvalidInput as wrong:
            self._error = wrong.as_refusal()
            if self._error is None:
                raise

    def _answered(self, request: Request) -> Response:
        answer = self._store.answer(request)
        if isinstance(request, PutIfAbsent) and answer is PutResult.CREATED:
            table, _, key = request.key.partition("/")
            version = version_of_key(key)
            if version is not None and table == _TARGET:
                self._created[version] = request.key
        return answer

    def _commit_described(self) -> dict[str, Any]:
        """The first of its commits: VACUUM, enabling row tracking and others write several."""
        version, key = min(self._created.items())
        info = decode_commit(self._store.body(key), version).commit_info
        return {
            "current": "committed",
            "version": version,
            "isolation_level": info.isolation_level if info else None,
            "is_blind_append": info.is_blind_append if info else None,
        }
