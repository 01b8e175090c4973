"""The facts about a winning commit that checks ask for, on top of the parsed commit.

Source: `ConflictChecker.scala: WinningCommitSummary`. The commit itself is parsed and sorted by
kind once, however many transactions it beats; this only names what is asked.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from msgspec import Struct

from whitecap.engine.log.actions import (
    AddFile,
    CommitInfo,
    DomainMetadata,
    Metadata,
    Protocol,
    RemoveFile,
)
from whitecap.engine.log.commit_file import Commit
from whitecap.engine.log.effects import BACKFILL, UNBACKFILL
from whitecap.engine.log.snapshot import ROW_TRACKING_DOMAIN, watermark_of

IDENTITY_TAG = "delta.identity.schemaUpdate"
ROW_TRACKING_ONLY_TAG = "rowTrackingEnablementOnly"


class WinningCommit(Struct, frozen=True):
    """A commit that took a version which the current transaction wanted."""

    commit: Commit

    @property
    def version(self) -> int:
        return self.commit.version

    @property
    def commit_info(self) -> CommitInfo | None:
        return self.commit.commit_info

    @property
    def protocol(self) -> Protocol | None:
        """The first protocol it wrote, although replaying the log takes the last."""
        if self.commit.protocol is None:
            return None
        return next(action for action in self.commit.actions if isinstance(action, Protocol))

    @property
    def metadata(self) -> Metadata | None:
        """The first metadata it wrote (`metadataUpdates.head`)."""
        if self.commit.metadata is None:
            return None
        return next(action for action in self.commit.actions if isinstance(action, Metadata))

    @property
    def adds(self) -> Sequence[AddFile]:
        """Every added file, whatever its dataChange."""
        return self.commit.adds

    @property
    def removes(self) -> tuple[RemoveFile, ...]:
        """Every removed file, whatever its dataChange."""
        return self.commit.removes

    @property
    def operation(self) -> str | None:
        """The operation that its commitInfo names, `None` without one."""
        return None if self.commit_info is None else self.commit_info.operation

    @property
    def is_blind_append(self) -> bool:
        """Whether it says that it is one; a commit that says nothing counts as not blind."""
        return self.commit_info is not None and bool(self.commit_info.is_blind_append)

    @property
    def is_backfill(self) -> bool:
        return self.operation == BACKFILL

    @property
    def is_unbackfill(self) -> bool:
        return self.operation == UNBACKFILL

    @property
    def app_ids(self) -> Iterable[str]:
        """The applications whose progress it recorded, in order."""
        return (action.app_id for action in self.commit.set_transactions)

    @property
    def domains(self) -> dict[str, DomainMetadata]:
        """The metadata domains it wrote, by name."""
        return {domain.domain: domain for domain in self.commit.domains}

    @property
    def updates_identity_only(self) -> bool:
        """Whether its Metadata only moves identity high-water marks, by its tag."""
        return self.is_tagged(IDENTITY_TAG)

    @property
    def row_id_high_watermark(self) -> int | None:
        """The row id watermark it wrote, `None` if it wrote none."""
        domain = self.domains.get(ROW_TRACKING_DOMAIN)
        return None if domain is None else watermark_of(domain)

    def is_tagged(self, tag: str) -> bool:
        """Whether its commitInfo carries the tag with the value true."""
        tags = None if self.commit_info is None else self.commit_info.tags
        return tags is not None and (tags.get(tag) or "false").lower() == "true"
