"""How a transaction can end. A conflict is a value here, never an exception.

Names of exceptions, error classes and texts are Delta's own (DeltaErrors, error classes JSON).
"""

from __future__ import annotations

from collections.abc import Mapping

from msgspec import Struct, field

from whitecap.engine.log.actions import AnyAction, CommitInfo
from whitecap.engine.rules import ConflictException, Rule


class Verdict(Struct, frozen=True):
    """Why a winning commit refuses the current transaction, with the evidence.

    `rule` is the check that refused, `winning_version` the commit; `evidence` what decided it: a
    file's path, a predicate's text, an application or domain id; `predicate` which read the
    winner's file falls into, where a read decided (`true`: all of it); `partition` that of the
    file, as Delta shows it.
    """

    rule: Rule
    error_class: str
    message: str
    winning_version: int
    evidence: str
    message_parameters: Mapping[str, str] = field(default_factory=dict)
    predicate: str | None = None
    partition: str | None = None

    @property
    def exception(self) -> ConflictException:
        """What Delta throws."""
        return self.rule.exception


class Committed(Struct, frozen=True):
    """The transaction took `version`; `actions` are as written, after any resolution."""

    version: int
    commit_info: CommitInfo
    actions: tuple[AnyAction, ...]
    attempts: int = 1


class NothingToCommit(Struct, frozen=True):
    """The command ended without a commit: it had nothing to do."""

    read_version: int


class Aborted(Struct, frozen=True):
    """A winning commit conflicts; nothing was written."""

    verdict: Verdict
    attempts: int = 1


class Unknown(Struct, frozen=True):
    """The reply to the put of `version` was lost: the commit may or may not have landed."""

    version: int
    attempts: int = 1


Outcome = Committed | NothingToCommit | Aborted | Unknown
