"""What must hold of every table, each with where it is checked, or why it cannot be."""

from __future__ import annotations

from enum import Enum

from msgspec import Struct

from whitecap.sim.oracles.finding import Anomaly


class Checked(Struct, frozen=True):
    """What must hold, where that is checked, and which anomalies say that it does not."""

    sentence: str
    where: str
    anomalies: tuple[Anomaly, ...]
    limits: str = ""


class Invariant(Enum):
    """What must hold, from the log's bytes up to the ends of transactions."""

    @classmethod
    def broken_by(cls, anomaly: Anomaly) -> Invariant:
        """The one that an anomaly breaks."""
        return next(each for each in cls if anomaly in each.value.anomalies)

    ONE_LOG = Checked(
        "Versions are contiguous, and each has one content for ever.",
        "log_validation, publication",
        (Anomaly.CONTIGUITY, Anomaly.CONTENT_CHANGED, Anomaly.LOG_FORM),
        "That a commit was written over shows only where somebody remembers the first one: a "
        "checkpoint, a history, the simulated store.",
    )
    TOLD_AND_THERE = Checked(
        "An acknowledged commit is in the log once, a refused one never, no transaction twice.",
        "acknowledged",
        (Anomaly.LOST_COMMIT, Anomaly.G1A, Anomaly.DUPLICATE),
        "Needs a history. An unknown outcome may be either; what follows from it is checked as of "
        "every version.",
    )
    LIVE_FILES = Checked(
        "Only files of the table are removed, none twice; a path is live once; row ids are unique.",
        "log_rules",
        (Anomaly.DEAD_FILE, Anomaly.FILE_TWICE, Anomaly.ROW_ID_TWICE),
        "Row ids that a file holds in a column of its own are not read.",
    )
    CONSISTENT_READ = Checked(
        "The table at each version is what its statements make of it, run one after the other.",
        "serial_replay, without_commit, content",
        (Anomaly.WRONG_ROWS,),
        "Needs a history with statements, and DuckDB. Statements that it does not run alike are "
        "named. Where none is run, only what their kinds let them do is looked at.",
    )
    REAL_TIME = Checked(
        "Who begins after an acknowledgement sees that commit.",
        "order",
        (Anomaly.STALE_READ,),
        "Needs a history; can be switched off for clients that keep a snapshot (`real_time`).",
    )
    LEVEL = Checked(
        "The isolation level that the table promises holds.",
        "graph, dependencies",
        (Anomaly.G0, Anomaly.G1B, Anomaly.G1C, Anomaly.G_SINGLE, Anomaly.G2),
        "Needs a history with statements, and DuckDB.",
    )
    REFUSALS = Checked(
        "Nothing commits that had to be refused.",
        "dependencies, serial_replay",
        (Anomaly.LOST_UPDATE,),
        "By its damage to rows, not by Delta's rules: that a harmless commit was refused, or "
        "accepted against the letter of a rule, is a matter of the conformance cases.",
    )
    PROGRESS = Checked(
        "The progress of an application rises, and no batch is recorded twice.",
        "acknowledged",
        (Anomaly.PROGRESS,),
    )
    SCHEMA = Checked(
        "Files are written for the columns and partitions that the table has.",
        "order",
        (Anomaly.SCHEMA_CHANGE,),
        "Needs a history. Changes of properties and features that touch no column are left to the "
        "conformance cases.",
    )
    TIMESTAMPS = Checked(
        "In-commit timestamps rise strictly.",
        "log_rules",
        (Anomaly.TIMESTAMPS,),
        "Without in-commit timestamps the order of file times means nothing, and is not judged.",
    )
    CATALOG = Checked(
        "Versions are decided in order, and published as they were decided.",
        "publication",
        (Anomaly.PUBLICATION,),
        "The simulated catalog keeps no second copy of a commit: there only the order is checked.",
    )
    EXTERNAL_LOG_STORE = Checked(
        "`N.json` is the temporary file that won the entry of version N.",
        "publication",
        (Anomaly.PUBLICATION,),
        "Which temporary file won stands in DynamoDB, which a directory does not hold: that "
        "`N.json` is one of them is checked. The simulated table keeps one body per entry.",
    )
    FILES_ARE_THERE = Checked(
        "No file of the newest version, nor its deletion vector, is deleted or damaged.",
        "judging",
        (Anomaly.DURABILITY,),
        "Files of older versions may be: VACUUM is for that. What a transaction under way refers "
        "to shows when it commits.",
    )
    LIVENESS = Checked(
        "When faults stop, every transaction comes to an end.",
        "order",
        (Anomaly.UNRESOLVED,),
        "Needs a history that says when faults stop, when it ends, and which time is enough.",
    )
    WRITABLE = Checked(
        "When faults stop, somebody who begins then can commit.",
        "writable",
        (Anomaly.UNWRITABLE,),
        "Needs a history that says when faults stop, and what ended who failed.",
    )
