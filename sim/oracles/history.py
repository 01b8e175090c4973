"""What writers know of their transactions: a history, as JSON lines or made of a recording.

Each line is one object with a `type`. A line `table` says what the table promises, a line
`transaction` what one writer did and learned. Of several tables each line names its own.
`docs/oracles.md` describes them for who writes one.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path

import msgspec
from msgspec import Struct

from whitecap.engine.errors import InvalidInput, Problem, nearest, unreadable
from whitecap.engine.isolation import IsolationLevel
from whitecap.engine.recorded import RecordedOutcome

BEGINS = b'{"type":"table"'
"""How a history begins that a run wrote."""


class Promise(Struct, frozen=True, forbid_unknown_fields=True, tag="table"):
    """What the table's writers are promised, where the log does not say.

    `level` is that of a table without the property `delta.isolationLevel`; `real_time`: whether a
    transaction must see what was acknowledged before it began; `settings` are those of the Spark
    sessions; `faults_stop` is the instant after which `bound` is enough to come to an end.
    `limits`: the store refuses requests beyond its limits, whatever the table.
    """

    table: str | None = None
    level: IsolationLevel = IsolationLevel.SERIALIZABLE
    real_time: bool = True
    settings: dict[str, str] = {}
    faults_stop: float | None = None
    bound: float | None = None
    ends: float | None = None
    limits: bool = False


class HistoryTransaction(Struct, frozen=True, forbid_unknown_fields=True, tag="transaction"):
    """One transaction. Instants are milliseconds on one clock of the history's own.

    `acknowledged` are versions that it was told are its own, `wrote` those that are known to be
    (`None`: not known but from the log's transaction ids). Tries of one piece of work have one
    `job`. `read_version` is that of the snapshot that its rows were read from, `exception` the name
    of the one that ended it.
    """

    name: str
    writer: str
    outcome: RecordedOutcome
    table: str | None = None
    statement: str | None = None
    began: float | None = None
    ended: float | None = None
    read_version: int | None = None
    acknowledged: tuple[int, ...] = ()
    wrote: tuple[int, ...] | None = None
    txn_id: str | None = None
    job: str | None = None
    app_id: str | None = None
    batch_id: int | None = None
    exception: str | None = None


class History(Struct, frozen=True):
    """All transactions of a table, in the order in which they began, and what was promised."""

    transactions: tuple[HistoryTransaction, ...] = ()
    promise: Promise = Promise()


def read_history(path: Path, table: str | None = None) -> History:
    """Read JSON lines; of a history of several tables those of one.

    Raises `InvalidInput` with every line that is wrong, or if the lines name tables and not this.
    """
    lines = _of_table(path, _read_lines(path), table)
    promises = [line for line in lines if isinstance(line, Promise)]
    transactions = tuple(line for line in lines if isinstance(line, HistoryTransaction))
    return History(transactions, promises[0] if promises else Promise())


def require_history(path: Path) -> None:
    """Raises `InvalidInput` with every line that is wrong, whatever tables there are."""
    _read_lines(path)


_Line = Promise | HistoryTransaction


def _of_table(path: Path, lines: Sequence[_Line], table: str | None) -> Sequence[_Line]:
    """The lines of one table: all of them, where none names its own."""
    named = dict.fromkeys(line.table for line in lines if line.table is not None)
    if not named:
        return lines
    nameless = [
        line.name for line in lines if isinstance(line, HistoryTransaction) and not line.table
    ]
    if nameless:
        text = f"{nameless[0]} names no table, as other lines do"
        raise InvalidInput([Problem(str(path), text)])
    if table not in named:
        text = f"is of the tables {', '.join(named)}, and of no table {table!r}"
        raise InvalidInput([Problem(str(path), text, nearest(table or "", named))])
    own = [line for line in lines if line.table == table]
    return own + [line for line in lines if line.table is None]


def _read_lines(path: Path) -> list[_Line]:
    decode = msgspec.json.Decoder(Promise | HistoryTransaction).decode
    problems: list[Problem] = []
    lines: list[_Line] = []
    try:
        texts = path.read_bytes().splitlines()
    except OSError as error:
        raise unreadable(path, error) from error
    for number, text in enumerate(texts, start=1):
        if text.strip():
            try:
                lines.append(decode(text))
            except (msgspec.DecodeError, UnicodeDecodeError) as error:
                problems.append(Problem(f"{path}:{number}", str(error)))
    problems += _repeated(path, lines)
    if problems:
        raise InvalidInput(problems)
    return lines


def _repeated(path: Path, lines: Iterable[_Line]) -> list[Problem]:
    seen: set[str] = set()
    problems = []
    for line in lines:
        table = f"the table {line.table or ''}".strip()
        name = line.name if isinstance(line, HistoryTransaction) else table
        if name in seen:
            problems.append(Problem(str(path), f"has two lines of {name}"))
        seen.add(name)
    return problems


def history_lines(history: History, table: str | None = None) -> bytes:
    """The history as JSON lines, with its table's name if given; what is not known is left out."""
    lines = [history.promise, *history.transactions]
    rows = [msgspec.to_builtins(each) for each in lines]
    rows = [{**row, "table": table or row.get("table")} for row in rows]
    return b"".join(
        msgspec.json.encode({name: value for name, value in row.items() if value is not None})
        + b"\n"
        for row in rows
    )
