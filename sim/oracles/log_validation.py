"""Our own check of a whole log, stricter than any reader.

Readers of Delta tables let many broken logs pass and then disagree about the rows; this finds every
problem at once, each with file and line. The rules about one commit are in `log_rules.py`.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any

import msgspec
from msgspec import Struct, field
from msgspec.structs import replace

from whitecap.engine.errors import InvalidLog, Problem
from whitecap.engine.log.actions import AnyAction
from whitecap.engine.log.checkpoints.checkpoint import (
    LAST_CHECKPOINT_KEY,
    last_checkpoint,
    newest_checkpoint,
    read_checkpoint,
    snapshot_of,
)
from whitecap.engine.log.commit_file import (
    LOG_DIRECTORY,
    Commit,
    commit_of,
    decode_action,
    log_key,
    version_of_key,
)
from whitecap.engine.log.snapshot import EMPTY_SNAPSHOT, Snapshot
from whitecap.engine.storage.requests import Entry, Get, ListFrom, Steps
from whitecap.sim.oracles.finding import Anomaly
from whitecap.sim.oracles.log_rules import RULES, CommitInQuestion

_BYTE_ORDER_MARK = b"\xef\xbb\xbf"
_ALMOST_COMMIT = re.compile(rf"{LOG_DIRECTORY}/\d+\.json")


class Breach(Struct, frozen=True):
    """One rule that the log breaks; without `version` it is about the log as a whole."""

    anomaly: Anomaly
    problem: Problem
    version: int | None = None
    files: tuple[str, ...] = ()


class CheckedLog(Struct):
    """A log that was checked from `base` on: the table at each version, and what is wrong."""

    base: Snapshot
    snapshot: Snapshot
    breaches: list[Breach] = field(default_factory=list)
    snapshots: dict[int, Snapshot] = field(default_factory=dict)
    commits: dict[int, Commit] = field(default_factory=dict)
    bodies: dict[int, bytes] = field(default_factory=dict)


def checked_log() -> Steps[CheckedLog]:
    """Check everything in a table's log: names, commits, checkpoints and the pointer to them."""
    entries = (yield ListFrom(f"{LOG_DIRECTORY}/")).entries
    breaches = list(_misnamed(entries))
    states = yield from _checkpoint_states(entries, breaches)
    bodies = yield from _commit_bodies(entries)
    replay = _from_oldest(bodies, states)
    breaches += replay.breaches
    breaches += _contradictions(states, replay)
    pointed_at = yield from last_checkpoint()
    if pointed_at is not None and pointed_at not in states:
        text = f"points at version {pointed_at}, which has no whole checkpoint"
        breaches.append(_form_broken(Problem(LAST_CHECKPOINT_KEY, text)))
    replay.breaches = breaches
    return replay


def _form_broken(problem: Problem, version: int | None = None) -> Breach:
    return Breach(Anomaly.LOG_FORM, problem, version)


def _commit_bodies(entries: tuple[Entry, ...]) -> Steps[dict[int, bytes]]:
    bodies: dict[int, bytes] = {}
    for entry in entries:
        version = version_of_key(entry.key)
        if version is not None:
            bodies[version] = (yield Get(entry.key)).content
    return bodies


def _checkpoint_states(
    entries: tuple[Entry, ...], breaches: list[Breach]
) -> Steps[dict[int, Snapshot]]:
    """What each whole checkpoint holds, by version; unreadable ones become breaches."""
    states: dict[int, Snapshot] = {}
    for version in sorted({_version(entry) for entry in entries}):
        checkpoint = newest_checkpoint(e for e in entries if _version(e) == version)
        if checkpoint is None:
            continue
        try:
            bodies = yield from read_checkpoint(checkpoint)
            states[version] = yield from snapshot_of(checkpoint, bodies)
        except InvalidLog as error:
            breaches += [_form_broken(problem, version) for problem in error.problems]
    return states


def _from_oldest(bodies: Mapping[int, bytes], states: Mapping[int, Snapshot]) -> CheckedLog:
    """Replay from version 0, or from the oldest checkpoint where the first commits are gone."""
    first = min(bodies, default=0)
    bases = [version for version in states if version >= first - 1]
    if 0 in bodies or not bases:
        return checked_commits(bodies, EMPTY_SNAPSHOT)
    base = states[min(bases)]
    return checked_commits({v: body for v, body in bodies.items() if v > base.version}, base)


def _contradictions(states: Mapping[int, Snapshot], replay: CheckedLog) -> Iterator[Breach]:
    """Checkpoints that hold another table than the commits up to them lead to."""
    for version, held in states.items():
        replayed = replay.snapshots.get(version)
        if replayed is not None and _essence(held) != _essence(replayed):
            text = "the checkpoint holds another table than the commits up to it lead to"
            problem = Problem(log_key(version), text)
            yield Breach(Anomaly.CONTENT_CHANGED, problem, version)


def _essence(snapshot: Snapshot) -> tuple[Any, ...]:
    """What a checkpoint may not change: writers do write statistics and tags anew."""
    files = {key: (file.size, file.partition_values) for key, file in snapshot.files.items()}
    domains = dict(snapshot.domains)
    return files, snapshot.protocol, snapshot.metadata, snapshot.set_transactions, domains


def checked_commits(bodies: Mapping[int, bytes], base: Snapshot = EMPTY_SNAPSHOT) -> CheckedLog:
    """Check commit files, by version, that follow `base`."""
    replay = CheckedLog(base, base)
    if not bodies and base.version < 0:
        problem = Problem(LOG_DIRECTORY, "holds neither a commit nor a checkpoint")
        replay.breaches.append(_form_broken(problem))
    for version in sorted(bodies):
        _check_version(replay, version, bodies[version])
    return replay


def _check_version(replay: CheckedLog, version: int, body: bytes) -> None:
    key = log_key(version)
    expected = replay.snapshot.version + 1
    if version != expected:
        problem = Problem(log_key(expected), f"is missing, {key} exists")
        replay.breaches.append(Breach(Anomaly.CONTIGUITY, problem, expected))
        replay.snapshot = replace(replay.snapshot, version=version - 1)
    unreadable: list[Problem] = []
    lines = list(_lines(body, key, unreadable))
    replay.breaches += [_form_broken(problem, version) for problem in unreadable]
    replay.bodies[version] = body
    before = replay.snapshot
    commit = replay.commits[version] = commit_of(version, [action for _, action in lines])
    replay.snapshot = replay.snapshots[version] = before.apply(commit)
    question = CommitInQuestion(version, tuple(lines), before, replay.snapshot)
    paths: dict[int, str] = {line: getattr(action, "path", "") for line, action in lines}
    for rule, anomaly in RULES.items():
        for line, text in rule(question):
            files = (paths[line],) if paths.get(line) else ()
            replay.breaches.append(Breach(anomaly, Problem(f"{key}:{line}", text), version, files))


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
        action: Any = msgspec.json.decode(line)
    except (msgspec.DecodeError, UnicodeDecodeError):
        return []
    return list(action) if isinstance(action, dict) else []


def _misnamed(entries: tuple[Entry, ...]) -> Iterator[Breach]:
    for entry in entries:
        if _ALMOST_COMMIT.fullmatch(entry.key) and version_of_key(entry.key) is None:
            text = "looks like a commit, but its name does not have 20 digits"
            yield _form_broken(Problem(entry.key, text))


def _version(entry: Entry) -> int:
    """The version in the name of a log file; -1 for any other name."""
    name = entry.key.rpartition("/")[2][:20]
    return int(name) if name.isdigit() and len(name) == 20 else -1
