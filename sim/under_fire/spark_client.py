"""Real Delta Lake in one JVM, told by lines of JSON what to do: a thread for each writer.

The first line in says where the table lies and what statements call it; the first line out, that
the session is there. Then each line in is a statement of a writer, each line out how one ended.
Threads run freely: what a writer is told to do begins at once, or when it has done the last.
"""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Callable, Mapping
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any

from whitecap.engine.recorded import CONFLICTS
from whitecap.sim.replay.real.failures import failure_of
from whitecap.sim.replay.real.jvm import Jvm
from whitecap.sim.replay.real.session import SOON_DONE, delta_session
from whitecap.sim.replay.real.session_settings import session_settings
from whitecap.sim.replay.real.tables import name_table
from whitecap.sim.replay.real.transaction_notes import TransactionNotes

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

MEMORY = "1g"
"""Tables are small, and others need the machine too."""

LAST_COMMIT = "spark.databricks.delta.lastCommitVersionInSession"
"""Set by Delta after each commit (DeltaSQLConf.scala: DELTA_LAST_COMMIT_VERSION_IN_SESSION)."""

Say = Callable[[Mapping[str, Any]], None]


def main() -> None:
    """Name the table of the first line, then hand each line to the thread of its writer."""
    say = _own_output()
    table = json.loads(sys.stdin.readline())
    spark = delta_session(MEMORY, jvm_options=SOON_DONE)
    with session_settings(spark, table["settings"]):
        _warm(spark)
    name_table(spark, table["name"], Path(table["folder"]))
    notes = TransactionNotes(spark)
    hands: dict[str, SparkThread] = {}
    say({"is_ready": True})
    for line in sys.stdin:
        asked = json.loads(line)
        writer = asked["writer"]
        if writer not in hands:
            file = Path(table["notes"], writer)
            hands[writer] = SparkThread(spark, table["settings"], notes, file, say)
        hands[writer].asked(asked)
    os._exit(0)


def _warm(spark: SparkSession) -> None:
    """The first statement of each kind takes many times as long as the next one."""
    with TemporaryDirectory(prefix="whitecap-warm-") as folder:
        for text in WARMING:
            spark.sql(text.format(table=f"delta.`{folder}`")).collect()


WARMING = (
    "CREATE TABLE {table} (k BIGINT, v BIGINT) USING delta",
    "INSERT INTO {table} VALUES (1, 1)",
    "UPDATE {table} SET v = 2 WHERE k = 1",
    "MERGE INTO {table} AS t USING (SELECT 1 AS k, 3 AS v) AS s ON t.k = s.k "
    "WHEN MATCHED THEN UPDATE SET v = s.v WHEN NOT MATCHED THEN INSERT *",
    "OPTIMIZE {table}",
)


def _own_output() -> Say:
    """Answers by a way that nobody else in this process, or in its JVM, writes to."""
    answers = os.fdopen(os.dup(1), "w", buffering=1)
    os.dup2(os.open(os.devnull, os.O_WRONLY), 1)

    def say(answer: Mapping[str, Any]) -> None:
        answers.write(json.dumps(answer) + "\n")

    return say


class SparkThread:
    """One writer: a thread, which has a session of its own in the JVM."""

    def __init__(
        self, spark: SparkSession, settings: Mapping[str, str], notes: TransactionNotes,
        file: Path, say: Say,
    ) -> None:  # fmt: skip
        self._spark, self._say = spark, say
        self._thread = ThreadPoolExecutor(1)
        self._thread.submit(self._begin, settings, notes, file)

    def asked(self, asked: Mapping[str, Any]) -> None:
        """Do it as soon as this thread is free."""
        self._thread.submit(self._do, asked)

    def _begin(self, settings: Mapping[str, str], notes: TransactionNotes, file: Path) -> None:
        Jvm(self._spark).silence_console()
        self._notes = notes.of_this_thread(file)
        # A session of its own: Delta tells each what its last commit was.
        self._session = self._spark.newSession()
        for key, value in settings.items():
            self._session.conf.set(key, value)

    def _do(self, asked: Mapping[str, Any]) -> None:
        try:
            answer = self._run(asked)
        except Exception as error:
            answer = {"outcome": "unknown", "error": _first_line(error)}
        self._say({**answer, "number": asked["number"]})

    def _run(self, asked: Mapping[str, Any]) -> dict[str, Any]:
        before = self._session.conf.get(LAST_COMMIT, None)
        self._notes.begin(asked["label"], asked["hold_ms"])
        try:
            self._session.sql(asked["statement"]).collect()
        except Exception as error:
            exception = failure_of(error).exception
            if exception not in CONFLICTS:
                raise
            return {"outcome": "aborted", "exception": exception}
        after = self._session.conf.get(LAST_COMMIT, None)
        version = None if after is None or after == before else int(after)
        return {"outcome": "committed", "version": version}


def _first_line(error: Exception) -> str:
    failure = failure_of(error)
    lines = failure.message.splitlines() or [""]
    return f"{failure.exception}: {lines[0]}"


if __name__ == "__main__":
    main()
