"""Our own check of a whole log, stricter than any reader.

Readers of Delta tables let many broken logs pass and then disagree about the rows; this finds every
problem at once, each with file and line. The rules about one commit are in `log_rules.py`.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

import msgspec
from msgspec.structs import replace

from tests.oracles.log_rules import RULES, CommitInQuestion
from whitecap.engine.errors import InvalidLog, Problem
from whitecap.engine.log.actions import AnyAction
from whitecap.engine.log.checkpoint import (
    LAST_CHECKPOINT_KEY,
    last_checkpoint,
    newest_checkpoint,
    read_checkpoint,
    snapshot_of,
)
from whitecap.engine.log.commit_file import (
    LOG_DIRECTORY,
    commit_of,
    decode_action,
    log_key,
    version_of_key,
)
from whitecap.engine.log.snapshot import EMPTY_SNAPSHOT, Snapshot
from whitecap.engine.storage.requests import Entry, Get, ListFrom, Steps

_BYTE_ORDER_MARK = b"\xef\xbb\xbf"
_ALMOST_COMMIT = re.compile(rf"{LOG_DIRECTORY}/\d+\.json")


@dataclass(slots=True)
class _Replay:
    """How far the check has come, and what it has found."""

    snapshot: Snapshot
    problems: list[Problem] = field(default_factory=list)
    passed: dict[int, Snapshot] = field(default_factory=dict)


def validate_commits(bodies: Mapping[int, bytes], base: Snapshot = EMPTY_SNAPSHOT) -> Snapshot:
    """Check commit files, by version, that follow `base`; answers the table they lead to.

    Raises `InvalidLog` with every problem found.
    """
    replay = _replay(bodies, base)
    if replay.problems:
        raise InvalidLog(replay.problems)
    return replay.snapshot


def validate_log() -> Steps[Snapshot]:
    """Check everything in a table's log: names, commits, checkpoints and the pointer to them.

    Raises `InvalidLog` with every problem found.
    """
    entries = (yield ListFrom(f"{LOG_DIRECTORY}/")).entries
    problems = list(_misnamed(entries))
    states = yield from _checkpoint_states(entries, problems)
    bodies = yield from _commit_bodies(entries)
    replay = _replay_from_oldest(bodies, states)
    problems += replay.problems
    problems += _contradictions(states, replay)
    pointed_at = yield from last_checkpoint()
    if pointed_at is not None and pointed_at not in states:
        text = f"points at version {pointed_at}, which has no whole checkpoint"
        problems.append(Problem(LAST_CHECKPOINT_KEY, text))
    if problems:
        raise InvalidLog(problems)
    return replay.snapshot


def _commit_bodies(entries: tuple[Entry, ...]) -> Steps[dict[int, bytes]]:
    bodies: dict[int, bytes] = {}
    for entry in entries:
        version = version_of_key(entry.key)
        if version is not None:
            bodies[version] = (yield Get(entry.key)).content
    return bodies


def _checkpoint_states(
    entries: tuple[Entry, ...], problems: list[Problem]
) -> Steps[dict[int, Snapshot]]:
    """What each whole checkpoint holds, by version; unreadable ones become problems."""
    states: dict[int, Snapshot] = {}
    for version in sorted({_version(entry) for entry in entries}):
        checkpoint = newest_checkpoint(e for e in entries if _version(e) == version)
        if checkpoint is None:
            continue
        try:
            bodies = yield from read_checkpoint(checkpoint)
            states[version] = yield from snapshot_of(checkpoint, bodies)
        except InvalidLog as error:
            problems += error.problems
    return states


def _replay_from_oldest(bodies: Mapping[int, bytes], states: Mapping[int, Snapshot]) -> _Replay:
    """Replay from version 0, or from the oldest checkpoint where the first commits are gone."""
    first = min(bodies, default=0)
    bases = [version for version in states if version >= first - 1]
    if 0 in bodies or not bases:
        return _replay(bodies, EMPTY_SNAPSHOT)
    base = states[min(bases)]
    return _replay({v: body for v, body in bodies.items() if v > base.version}, base)


def _contradictions(states: Mapping[int, Snapshot], replay: _Replay) -> Iterator[Problem]:
    """Checkpoints that hold another table than the commits up to them lead to."""
    for version, held in states.items():
        replayed = replay.passed.get(version)
        if replayed is not None and _essence(held) != _essence(replayed):
            text = "the checkpoint holds another table than the commits up to it lead to"
            yield Problem(log_key(version), text)


def _essence(snapshot: Snapshot) -> tuple[Any, ...]:
    """What a checkpoint may not change: writers do write statistics and tags anew."""
    files = {key: (file.size, file.partition_values) for key, file in snapshot.files.items()}
    domains = dict(snapshot.domains)
    return files, snapshot.protocol, snapshot.metadata, snapshot.set_transactions, domains


def _replay(bodies: Mapping[int, bytes], base: Snapshot) -> _Replay:
    replay = _Replay(base)
    if not bodies and base.version < 0:
        replay.problems.append(Problem(LOG_DIRECTORY, "holds neither a commit nor a checkpoint"))
    for version in sorted(bodies):
        _check_version(replay, version, bodies[version])
    return replay


def _check_version(replay: _Replay, version: int, body: bytes) -> None:
    key = log_key(version)
    expected = replay.snapshot.version + 1
    if version != expected:
        replay.problems.append(Problem(log_key(expected), f"is missing, {key} exists"))
        replay.snapshot = replace(replay.snapshot, version=version - 1)
    lines = list(_lines(body, key, replay.problems))
    before = replay.snapshot
    replay.snapshot = before.apply(commit_of(version, [action for _, action in lines]))
    replay.passed[version] = replay.snapshot
    question = CommitInQuestion(version, tuple(lines), before, replay.snapshot)
    for rule in RULES:
        replay.problems += [Problem(f"{key}:{line}", text) for line, text in rule(question)]


def _lines(body: bytes, key: str, problems: list[Problem]) -> Iterator[tuple[int, AnyAction]]:
    """The readable actions with their line numbers; everything else becomes a problem."""
    if not body:
        problems.append(Problem(key, "is empty"))
    for number, line in enumerate(body.removesuffix(b"\n").split(b"\n") if body else [], start=1):
        place = f"{key}:{number}"
        problems += [Problem(place, text) for text in _form(line)]
        try:
            action = decode_action(line.removeprefix(_BYTE_ORDER_MARK)) if line.strip() else None
        except (msgspec.DecodeError, UnicodeDecodeError) as error:
            problems.append(Problem(place, str(error)))
            continue
        if action is not None:
            yield number, action


def _form(line: bytes) -> Iterator[str]:
    """What is wrong with a line before it is read. Source: PROTOCOL.md "Delta Log Entries"."""
    if line.startswith(_BYTE_ORDER_MARK):
        yield "starts with a byte order mark"
    if line.endswith(b"\r"):
        yield "ends with a carriage return"
    if not line.strip():
        yield "is blank"
    elif len(_keys(line)) > 1:
        yield f"holds several actions: {', '.join(_keys(line))}"


def _keys(line: bytes) -> list[str]:
    try:
        found: Any = msgspec.json.decode(line)
    except (msgspec.DecodeError, UnicodeDecodeError):
        return []
    return list(found) if isinstance(found, dict) else []


def _misnamed(entries: tuple[Entry, ...]) -> Iterator[Problem]:
    for entry in entries:
        if _ALMOST_COMMIT.fullmatch(entry.key) and version_of_key(entry.key) is None:
            yield Problem(entry.key, "looks like a commit, but its name does not have 20 digits")


def _version(entry: Entry) -> int:
    """The version in the name of a log file; -1 for any other name."""
    name = entry.key.rpartition("/")[2][:20]
    return int(name) if name.isdigit() and len(name) == 20 else -1
