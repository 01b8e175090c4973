"""All oracles on one table: of a run in memory, or of a directory that anybody wrote."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import islice
from math import inf
from pathlib import Path

from whitecap.engine.errors import InvalidInput, Problem, gathered
from whitecap.engine.isolation import IsolationLevel
from whitecap.engine.log.commit_file import LOG_DIRECTORY, Commit
from whitecap.engine.storage.disk.directory import DirectoryStore
from whitecap.engine.storage.memory import run as drive
from whitecap.sim.oracles.acknowledged import acknowledged_findings
from whitecap.sim.oracles.content import content_findings
from whitecap.sim.oracles.dependencies import dependency_findings
from whitecap.sim.oracles.duck_table import duckdb_is_there
from whitecap.sim.oracles.effects import StatementEffects
from whitecap.sim.oracles.evidence import Evidence
from whitecap.sim.oracles.finding import Anomaly, Finding, Judgement, NotChecked, Oracle
from whitecap.sim.oracles.graph import Graph, graph_of, impossible
from whitecap.sim.oracles.history import History, read_history, require_history
from whitecap.sim.oracles.log_validation import checked_log
from whitecap.sim.oracles.order import liveness_findings, order_findings
from whitecap.sim.oracles.publication import publication_findings, staged_in
from whitecap.sim.oracles.row_changes import missing_files, missing_vectors
from whitecap.sim.oracles.serial_replay import (
    StatementReplayer,
    Unchecked,
    replay_findings,
    serial_order,
)
from whitecap.sim.oracles.without_commit import without_commit_findings
from whitecap.sim.oracles.writable import unwritable_findings
from whitecap.sim.recording.dataset.place import DEFINITION_FILE

NO_HISTORY = "there is no history (--history FILE)"
NO_DUCKDB = "DuckDB is not installed: pip install 'whitecap[oracles]'"


Judge = Callable[[Evidence], Judgement]
"""What says whether a table is what its writers were promised."""

ROWS_BY_STATEMENTS = "rows by statements"


def judge_evidence(evidence: Evidence, *, replay: bool = True) -> Judgement:
    """All that is wrong with a table, and what could not be looked at.

    Without `replay` statements are not run; what their kinds let them do is looked at instead.
    """
    findings = [*_of_the_log(evidence), *_of_the_files(evidence)]
    findings += [*_of_damage(evidence), *_of_what_is_said(evidence)]
    findings += [*publication_findings(evidence), *acknowledged_findings(evidence)]
    findings += [*order_findings(evidence), *liveness_findings(evidence)]
    findings += unwritable_findings(evidence)
    not_checked: list[NotChecked] = []
    if evidence.history is None:
        what = "acknowledgements, order, dependencies, rows by statements, liveness"
        not_checked.append(NotChecked(what, NO_HISTORY))
    elif not duckdb_is_there():
        not_checked.append(NotChecked(f"dependencies and {ROWS_BY_STATEMENTS}", NO_DUCKDB))
    else:
        findings += _of_the_rows(evidence, not_checked, replay)
    return Judgement(tuple(dict.fromkeys(findings)), tuple(not_checked))


def judge_directory(
    directory: Path, history: Path | None, judge: Judge = judge_evidence
) -> Judgement:
    """Judge the Delta table in a directory, or those below it. Raises `InvalidInput`.

    Of a history of several tables each has the lines that name it as its directory is called.
    """
    tables = {each.resolve().name: each for each in _tables_in(directory, history)}
    if not tables:
        require_judgeable(directory, history)
    histories = {name: None if history is None else read_history(history, name) for name in tables}
    named = [own for own in histories.values() if own is not None]
    if len(tables) > 1 and any(each.table is None for own in named for each in own.transactions):
        said = f"names no table in its lines, and {directory} has {', '.join(tables)}"
        raise InvalidInput([Problem(str(history), said)])
    judged = {name: judge_table(place, histories[name], judge) for name, place in tables.items()}
    return Judgement.of_tables(judged)


def require_judgeable(directory: Path, history: Path | None) -> None:
    """Raises `InvalidInput`: there is no table, or lines of the history are wrong."""
    with gathered() as problems:
        if not _tables_in(directory, history):
            problems.append(Problem(str(directory), _what_lies_instead(directory)))
        if history is not None:
            require_history(history)


def _what_lies_instead(directory: Path) -> str:
    if not directory.exists():
        return "is not there"
    if not directory.is_dir():
        return "is a file, and a Delta table is a directory"
    if (directory / DEFINITION_FILE).is_file():
        run = f"whitecap run {directory}/cells/CELL.yaml --out RUN"
        return f"is a sweep, which keeps no run's directory: make one of a cell (`{run}`)"
    lacking = f"commits in {LOG_DIRECTORY}" if _logs_in(directory) else LOG_DIRECTORY
    return f"is no Delta table: no {lacking}"


def _tables_in(directory: Path, history: Path | None) -> list[Path]:
    """The directory, if there is a table in it, else those in it where there are tables.

    Where a log holds nothing only a history can say that there was one, and that it is lost.
    """
    logs = _logs_in(directory)
    return [log.parent for log in logs if history is not None or any(log.rglob(OF_A_VERSION))]


OF_A_VERSION = "[0-9]" * 20 + ".*"
"""What commits and checkpoints are called, staged ones too."""


def _logs_in(directory: Path) -> list[Path]:
    if (directory / LOG_DIRECTORY).is_dir():
        return [directory / LOG_DIRECTORY]
    return sorted(path for path in directory.glob(f"*/{LOG_DIRECTORY}") if path.is_dir())


def judge_table(
    directory: Path, history: History | None, judge: Judge = judge_evidence
) -> Judgement:
    """Judge one Delta table by what is known of its writers. Raises `InvalidInput`."""
    store = DirectoryStore(directory)
    existing = frozenset(
        path.relative_to(directory).as_posix() for path in directory.rglob("*") if path.is_file()
    )
    log = drive(checked_log(), store)
    decided = staged_in(directory)
    return judge(
        Evidence(log, store, history, existing=existing, decided=decided, compares_files=True)
    )


def _of_the_log(evidence: Evidence) -> Iterator[Finding]:
    for breach in evidence.log.breaches:
        version = breach.version
        owner = None if version is None else evidence.owners.get(version)
        yield Finding(
            oracle=Oracle.LOG,
            anomaly=breach.anomaly,
            sentence=str(breach.problem),
            transactions=() if owner is None else (owner.name,),
            versions=() if version is None else (version,),
            files=breach.files,
        )


def _of_the_files(evidence: Evidence) -> Iterator[Finding]:
    if evidence.existing is None:
        return
    missing = tuple(missing_files(evidence.changes.live, evidence.existing))
    if missing:
        yield Finding(
            oracle=Oracle.DURABILITY,
            anomaly=Anomaly.DURABILITY,
            sentence=_missing(len(missing), len({path for path, _ in evidence.changes.live})),
            versions=(max(evidence.commits, default=0),),
            files=missing,
        )

    yield from _of_the_vectors(evidence, evidence.existing)


def _of_the_vectors(evidence: Evidence, existing: frozenset[str]) -> Iterator[Finding]:
    missing = list(missing_vectors(evidence.changes.live, existing))
    if missing:
        keys = dict.fromkeys(key for _, key in missing)
        vectors, are = ("vector", "is") if len(keys) == 1 else ("vectors", "are")
        files = "a data file" if len(missing) == 1 else f"{len(missing):,} data files"
        yield Finding(
            oracle=Oracle.DURABILITY,
            anomaly=Anomaly.DURABILITY,
            sentence=f"{len(keys):,} deletion {vectors} of the newest version {are} not in the "
            f"store: {files} cannot be read",
            versions=(max(evidence.commits, default=0),),
            files=(*keys, *(path for path, _ in missing)),
        )


def _of_damage(evidence: Evidence) -> Iterator[Finding]:
    """Files of the newest version that are there and cannot be read."""
    changes = evidence.changes
    for key, problem in changes.files.damaged.items():
        if key in changes.live:
            yield Finding(
                oracle=Oracle.DURABILITY,
                anomaly=Anomaly.DURABILITY,
                sentence=f"a data file of the newest version cannot be read: {problem}",
                versions=(max(evidence.commits, default=0),),
                files=(key[0],),
            )


def _of_what_is_said(evidence: Evidence) -> Iterator[Finding]:
    """What the log says of a file's rows, in statistics and vectors, and is not so."""
    for (path, vector), untrue in evidence.changes.files.untrue.items():
        versions = (v for v, commit in evidence.commits.items() if _adds(commit, path, vector))
        yield Finding(
            oracle=Oracle.LOG,
            anomaly=Anomaly.LOG_FORM,
            sentence=f"what is said of {path!r} is not so: {'; '.join(untrue)}",
            versions=tuple(islice(versions, 1)),
            files=(path,),
        )


def _adds(commit: Commit, path: str, vector: str | None) -> bool:
    return any(file.path == path and file.dv_id == vector for file in commit.adds)


def _missing(missing: int, live: int) -> str:
    if missing == live > 1:
        return (
            f"none of the {live:,} data files of the newest version is in the store: perhaps the "
            "log alone was copied or exported"
        )
    files, are = ("file", "is") if missing == 1 else ("files", "are")
    return f"{missing:,} data {files} of the newest version {are} not in the store"


def _of_the_rows(
    evidence: Evidence, not_checked: list[NotChecked], replay: bool
) -> Iterator[Finding]:
    effects = StatementEffects(evidence)
    graph = graph_of(evidence, effects)
    yield from dependency_findings(evidence, graph)
    if replay:
        yield from serial_findings(evidence, effects, graph, not_checked)
        yield from _of_no_commits(evidence, effects, not_checked)
    else:
        yield from content_findings(evidence, effects)
    not_checked += _grouped("what was read", graph.unknown)


def serial_findings(
    evidence: Evidence,
    effects: StatementReplayer,
    graph: Graph,
    not_checked: list[NotChecked],
    what: str = ROWS_BY_STATEMENTS,
) -> Iterator[Finding]:
    """Where the statements, in the order that the level promises, make other rows."""
    kept = [
        edge
        for edge in graph.edges
        if edge.before_version < edge.after_version
        or evidence.level_at(edge.before_version) is not IsolationLevel.SERIALIZABLE
    ]
    unchecked: Unchecked = {}
    first = min(evidence.owners, default=inf)
    in_cycles = impossible(kept)
    order = serial_order(evidence, [edge for edge in kept if edge not in in_cycles])
    while order and order[0] < first:
        order.pop(0)
    cyclic = {edge.before_version for edge in in_cycles}
    yield from replay_findings(evidence, effects, order, unchecked, cyclic)
    not_checked += _grouped(what, unchecked)


def _of_no_commits(
    evidence: Evidence, effects: StatementEffects, not_checked: list[NotChecked]
) -> Iterator[Finding]:
    unread: Unchecked = {}
    yield from without_commit_findings(evidence, effects, unread)
    not_checked += _grouped("what ended without a commit, having read one", unread)


def _grouped(what: str, reasons: Unchecked) -> Iterator[NotChecked]:
    """One line per reason."""
    of_reason: dict[str, list[int]] = {}
    for version, reason in reasons.items():
        of_reason.setdefault(reason, []).append(version)
    for reason, versions in of_reason.items():
        few = ", ".join(map(str, sorted(versions)[:5])) + (", ..." if len(versions) > 5 else "")
        yield NotChecked(f"{what} of {len(versions)} versions ({few})", reason)
