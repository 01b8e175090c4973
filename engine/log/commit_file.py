"""Commit files: `_delta_log/<20-digit version>.json`, one action in JSON on each line.

Encoding is a function of the actions alone, byte for byte; decoding ignores actions and fields
that it does not know, as the protocol asks of readers. Source: PROTOCOL.md "Delta Log Entries".
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from functools import lru_cache
from typing import Any

import msgspec
from msgspec import Struct

from whitecap.engine.errors import InvalidLog, Problem
from whitecap.engine.log.actions import (
    Action,
    AddCDCFile,
    AddFile,
    AnyAction,
    CommitInfo,
    DomainMetadata,
    Metadata,
    Protocol,
    RemoveFile,
    SetTransaction,
)
from whitecap.engine.log.effects import ANY, UNUSUAL, effects_of

LOG_DIRECTORY = "_delta_log"
_COMMIT_KEY = re.compile(rf"{LOG_DIRECTORY}/(\d{{20}})\.json")

# Dictionaries are sorted: two equal actions are equal bytes however they came about.
_ENCODER = msgspec.json.Encoder(order="deterministic")
_PREFIXES: dict[type[Action], bytes] = {
    AddFile: b'{"add":',
    RemoveFile: b'{"remove":',
    AddCDCFile: b'{"cdc":',
    Metadata: b'{"metaData":',
    Protocol: b'{"protocol":',
    SetTransaction: b'{"txn":',
    DomainMetadata: b'{"domainMetadata":',
    CommitInfo: b'{"commitInfo":',
}


_ABSENT = msgspec.Raw()


class LogLine(Struct, frozen=True, gc=False):
    """One line of a commit file: the name of an action and its fields."""

    add: AddFile | None = None
    remove: RemoveFile | None = None
    cdc: AddCDCFile | None = None
    metadata: Metadata | None = msgspec.field(default=None, name="metaData")
    protocol: Protocol | None = None
    txn: SetTransaction | None = None
    domain_metadata: DomainMetadata | None = msgspec.field(default=None, name="domainMetadata")
    # Kept raw: the protocol lets writers put any JSON there, see `_commit_info`.
    commit_info: msgspec.Raw = msgspec.field(default=_ABSENT, name="commitInfo")

    def action(self) -> AnyAction | None:
        """The line's action, `None` if it is of a kind that is not known here."""
        if self.commit_info is not _ABSENT:
            return _commit_info(self.commit_info)
        return (
            self.add
            or self.remove
            or self.txn
            or self.metadata
            or self.protocol
            or self.domain_metadata
            or self.cdc
        )


_LINE_DECODER = msgspec.json.Decoder(LogLine)
_COMMIT_INFO_DECODER = msgspec.json.Decoder(CommitInfo)


class Commit(Struct, frozen=True):
    """One committed version: its actions as written, the same sorted by kind, and their effects.

    `modified_at_ms` is the file's modification time, `None` where it is not known.
    """

    version: int
    actions: Sequence[AnyAction]
    commit_info: CommitInfo | None = None
    protocol: Protocol | None = None
    metadata: Metadata | None = None
    adds: Sequence[AddFile] = ()
    removes: tuple[RemoveFile, ...] = ()
    set_transactions: tuple[SetTransaction, ...] = ()
    domains: tuple[DomainMetadata, ...] = ()
    modified_at_ms: int | None = None
    effects: int = ANY | UNUSUAL

    @property
    def timestamp_ms(self) -> int:
        """When it was committed: in-commit timestamp, else clock, else file time, else 0."""
        commit_info = self.commit_info
        if commit_info is not None and commit_info.in_commit_timestamp is not None:
            return commit_info.in_commit_timestamp
        if commit_info is not None and commit_info.timestamp is not None:
            return commit_info.timestamp
        return self.modified_at_ms or 0

    @property
    def version_made_at_ms(self) -> int:
        """How old its version is for time travel: by its in-commit timestamp, else its file.

        Source: Snapshot.scala: timestamp.
        """
        commit_info = self.commit_info
        if commit_info is not None and commit_info.in_commit_timestamp is not None:
            return commit_info.in_commit_timestamp
        return self.timestamp_ms if self.modified_at_ms is None else self.modified_at_ms


def commit_of(
    version: int, actions: Iterable[AnyAction], modified_at_ms: int | None = None
) -> Commit:
    """Sort the actions of one version by kind. The last of two metadata or protocols counts."""
    actions = tuple(actions)
    kinds: dict[type[Any], list[Any]] = {}
    for action in actions:
        kinds.setdefault(type(action), []).append(action)
    commit_info = kinds.get(CommitInfo, _NONE)[0]
    return Commit(
        version,
        actions,
        commit_info,
        kinds.get(Protocol, _NONE)[-1],
        kinds.get(Metadata, _NONE)[-1],
        tuple(kinds.get(AddFile, ())),
        tuple(kinds.get(RemoveFile, ())),
        tuple(kinds.get(SetTransaction, ())),
        tuple(kinds.get(DomainMetadata, ())),
        modified_at_ms,
        effects_of(commit_info, kinds),
    )


_NONE = (None,)


def log_key(version: int) -> str:
    """The storage key of a version's commit file."""
    return f"{LOG_DIRECTORY}/{version:020d}.json"


@lru_cache(maxsize=4096)
def version_of_key(key: str) -> int | None:
    """The version of a commit file's key, `None` for any other key."""
    match = _COMMIT_KEY.fullmatch(key)
    return int(match.group(1)) if match else None


def encode_action(action: AnyAction) -> bytes:
    """One log line, without its end of line."""
    return _PREFIXES[type(action)] + _ENCODER.encode(action) + b"}"


def encode_commit(actions: Iterable[AnyAction]) -> bytes:
    """The body of a commit file. The caller puts `CommitInfo` first."""
    return b"".join([encode_action(action) + b"\n" for action in actions])


def decode_action(line: bytes | str) -> AnyAction | None:
    """Read one log line; `None` if its action is not known. Raises `msgspec.DecodeError`."""
    return _LINE_DECODER.decode(line).action()


def decode_commit(
    body: bytes, version: int, modified_at_ms: int | None = None, key: str | None = None
) -> Commit:
    """Read a commit file, or another file of such lines under its `key`.

    Raises `InvalidLog` with the file and line of everything that cannot be read.
    """
    try:
        actions = [line.action() for line in _LINE_DECODER.decode_lines(body)]
    except (msgspec.DecodeError, UnicodeDecodeError):
        actions = _decode_each(body, key or log_key(version))
    return commit_of(version, [action for action in actions if action], modified_at_ms)


def _decode_each(body: bytes, key: str) -> list[AnyAction | None]:
    """Read line by line, to tell where each problem is."""
    actions: list[AnyAction | None] = []
    problems: list[Problem] = []
    for number, text in enumerate(body.split(b"\n"), start=1):
        try:
            if text.strip():
                actions.append(decode_action(text))
        except (msgspec.DecodeError, UnicodeDecodeError) as error:
            problems.append(Problem(f"{key}:{number}", str(error)))
    if problems:
        raise InvalidLog(problems)
    return actions


def _commit_info(raw: msgspec.Raw) -> CommitInfo:
    """Read a `commitInfo`, leaving out fields of another type than Delta's.

    Source: PROTOCOL.md "Commit Provenance Information": any valid JSON is allowed there.
    """
    try:
        return _COMMIT_INFO_DECODER.decode(raw)
    except msgspec.ValidationError:
        return _fitting_commit_info(msgspec.json.decode(raw))


def _fitting_commit_info(fields: Any) -> CommitInfo:
    fitting: dict[str, Any] = {}
    for name, value in fields.items() if isinstance(fields, dict) else ():
        try:
            msgspec.convert({name: value}, CommitInfo)
            fitting[name] = value
        except msgspec.ValidationError:
            continue
    return msgspec.convert(fitting, CommitInfo)
