"""What an oracle says of a table: a finding, or what it did not check and why."""

from __future__ import annotations

from collections.abc import Mapping
from enum import StrEnum
from typing import Any, Self

import msgspec
from msgspec import Struct
from msgspec.structs import replace


class Oracle(StrEnum):
    """Who found it."""

    LOG = "log"
    SERIAL_REPLAY = "serial replay"
    CONTENT = "content"
    DEPENDENCY_GRAPH = "dependency graph"
    ONCE = "at most once"
    ORDER = "session and real time"
    DURABILITY = "durability"
    LIVENESS = "liveness"


class Anomaly(StrEnum):
    """What is wrong, by the name that the field has for it; `meaning` says it in a sentence.

    Sources: Adya, "Weak Consistency" (1999) for G0 to G2; Jepsen's Elle for G-single and the names
    of lost and duplicated things; PROTOCOL.md for what a log must keep.
    """

    meaning: str

    def __new__(cls, name: str, meaning: str) -> Self:
        """A name that carries its meaning."""
        member = str.__new__(cls, name)
        member._value_ = name
        member.meaning = meaning
        return member

    G0 = "G0", "two transactions overwrite each other's rows in both orders"
    G1A = "G1a", "what an aborted transaction wrote is in the table"
    G1B = "G1b", "rows were read that their writer overwrote itself afterwards"
    G1C = "G1c", "two transactions each depend on what the other wrote"
    G_SINGLE = (
        "G-single",
        "a transaction missed one write that it had to see",
    )
    G2 = "G2", "several transactions each missed what the next one wrote"
    LOST_UPDATE = "lost update", "a row was changed by one that had not seen its last change"
    LOST_COMMIT = "lost commit", "an acknowledged commit is not in the log"
    DUPLICATE = "duplicate", "one transaction or batch is in the table more than once"
    WRONG_ROWS = "wrong rows", "the table holds other rows than its statements make"
    DURABILITY = "durability", "data of the table is gone"
    STALE_READ = "stale read", "a transaction began after a commit was acknowledged and missed it"
    UNRESOLVED = "unresolved", "a transaction came to no end"
    UNWRITABLE = (
        "unwritable",
        "after the last fault nobody could commit any more, though some tried",
    )
    SCHEMA_CHANGE = "schema change", "the table's metadata or protocol changed under a transaction"
    CONTIGUITY = "contiguity", "the versions of the log have a gap"
    CONTENT_CHANGED = "content changed", "a version has, or had, more than one content"
    DEAD_FILE = "dead file", "a commit removes a file that is not in the table"
    FILE_TWICE = "file twice", "a file is added, removed, or live, more than once"
    ROW_ID_TWICE = "row id twice", "two rows have one row id, or one above the watermark"
    PROGRESS = "progress", "an application's progress went back, or was recorded twice"
    TIMESTAMPS = "timestamps", "in-commit timestamps are missing or do not rise"
    PUBLICATION = "publication", "what was published is not what was decided, or out of order"
    LOG_FORM = "log form", "a line or name of the log is not as the protocol says"


LETS_MISS = "lets an INSERT be missed by one and seen by another"
"""What WriteSerializable does that is behind a cycle in which only INSERTs are missed."""


class Finding(Struct, frozen=True, kw_only=True):
    """One thing that is wrong, so that a person can look it up in log and history.

    `table` is named among several. `cycle`: the shortest cycle of dependencies, a step in words
    each; empty where none is needed. `only_inserts_missed`: nobody in it overwrote what it had not
    seen, or missed an earlier version but an INSERT, which WriteSerializable allows.
    `transactions` are named as in the history, `rows` are shown as `column=value` texts.
    """

    oracle: Oracle
    anomaly: Anomaly
    sentence: str
    cycle: tuple[str, ...] = ()
    transactions: tuple[str, ...] = ()
    versions: tuple[int, ...] = ()
    files: tuple[str, ...] = ()
    rows: tuple[str, ...] = ()
    table: str = ""
    only_inserts_missed: bool = False

    def as_row(self) -> dict[str, Any]:
        """For JSON."""
        row: dict[str, Any] = msgspec.to_builtins(self)
        return row


class NotChecked(Struct, frozen=True):
    """What an oracle could not look at, and why."""

    what: str
    why: str


class Judgement(Struct, frozen=True):
    """All that the oracles say of one table, or of several. Sound if nothing was found."""

    findings: tuple[Finding, ...] = ()
    not_checked: tuple[NotChecked, ...] = ()

    @classmethod
    def of_tables(cls, judged: Mapping[str, Judgement]) -> Judgement:
        """That of several tables by their names, told apart; of the only one as it is."""
        if len(judged) == 1:
            return next(iter(judged.values()))
        return cls(
            tuple(
                replace(finding, table=name)
                for name, own in judged.items()
                for finding in own.findings
            ),
            tuple(
                NotChecked(f"{name}: {gap.what}", gap.why)
                for name, own in judged.items()
                for gap in own.not_checked
            ),
        )
