"""Scenarios of tables of all kinds, and what is to be inferred of them from nothing but their logs.

Maintenance and rewrites of single rows leave files of a few hundred rows, so that rows weigh 4 MB:
a table has some dozens of files then, as real ones do, and OPTIMIZE leaves more than one.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

Document = dict[str, Any]

HOURS = 4

SCHEMA = "id BIGINT, date DATE, country STRING, tier INT, amount DOUBLE"
COLUMNS = "id, date, country, tier, amount"
VALUES: Document = {
    "date": {"days": 6},
    "country": ["DE", "FR", "GB", "IT", "PL", "US"],
    "tier": [1, 2, 3, 4, 5, 6],
}

DAY: Document = {"date": "newest"}
DAYS: Document = {"date": {"newest": {"within": 3}}}
ANY_DAY: Document = {"date": "uniform"}
COUNTRY: Document = {"country": "uniform"}
TIER: Document = {"tier": "uniform"}


@dataclass(frozen=True)
class Job:
    """A writer group, `becomes` what its drafted statement has after its command.

    A stream has no statement.
    """

    statement: str | None
    becomes: str
    parameters: Document = field(default_factory=dict)
    per_hour: int = 20
    from_files: str | None = None

    @property
    def command(self) -> str:
        """The first word of the statement."""
        return (self.statement or "").partition(" ")[0]

    @property
    def rows(self) -> int:
        """The rows that it brings."""
        return int(self.parameters["rows"]["rows"]["count"])

    @property
    def document(self) -> Document:
        """The group as a scenario has it."""
        common: Document = {
            "compute": {"lognormal": {"median": "20 s", "sigma": 0.4}},
            "rerun": {"exponential": {"base": "2 s", "cap": "1 min", "budget": 5}},
        }
        parameters = dict(self.parameters)
        if self.statement is not None:
            arrival = {"open": {"rate": f"{self.per_hour} per h", "concurrency": 1}}
            return common | {
                "statement": self.statement, "parameters": parameters, "arrival": arrival,
            }  # fmt: skip
        rows = parameters.pop("rows")["rows"]
        return common | {
            "streaming": {"checkpoint": f"of {rows['count']}", "rows": rows},
            "parameters": parameters,
            "arrival": {"closed": {"think": "100 s"}},
        }


@dataclass(frozen=True)
class Original:
    """A table with the groups that write it."""

    jobs: Mapping[str, Job]
    table: Document = field(default_factory=dict)
    dialect: str = "delta-oss-4.4"

    @property
    def text(self) -> str:
        """The scenario; JSON is YAML."""
        table = {
            "name": "events",
            "schema": SCHEMA,
            "key": "id",
            "values": VALUES,
            "initial": {"rows": 3000, "rows_per_file": 50},
            "bytes_per_row": 4_000_000,
            "isolation": "Serializable",
        }
        return json.dumps(
            {
                "name": "original",
                "seed": 4,
                "duration": f"{HOURS} h",
                "store": "s3",
                "dialect": self.dialect,
                "table": table | self.table,
                "writers": {name: job.document for name, job in self.jobs.items()},
            }
        )


def rows(count: int, existing: float | None = None) -> Document:
    """So many rows of a job, and which share of them is there."""
    share = {} if existing is None else {"existing": existing}
    return {"rows": {"rows": {"count": count, **share}}}


def keys(count: int) -> Document:
    """So many keys."""
    return {"keys": {"keys": {"count": count}}}


def inserts(where: Document) -> Job:
    """Jobs that append, where these parameters say."""
    statement = "INSERT INTO events VALUES :rows"
    return Job(statement, statement, where | rows(20), per_hour=30)


def merges(on: str, where: Document, from_files: str | None = None) -> Job:
    """Jobs that merge rows by key and by what else stands in ON."""
    statement = (
        f"MERGE INTO events AS t USING (SELECT * FROM VALUES :rows AS v({COLUMNS})) AS s ON {on}"
        " WHEN MATCHED THEN UPDATE SET * WHEN NOT MATCHED THEN INSERT *"
    )
    return Job(statement, f"ON {on}", where | rows(5, existing=0.5), from_files=from_files)


def updates(where: str, parameters: Document, becomes: str | None = None, **more: Any) -> Job:
    """Jobs that change what lies there."""
    statement = f"UPDATE events SET amount = amount + 1.0 WHERE {where}"
    return Job(statement, f"WHERE {becomes or where}", parameters, **more)


def deletes(where: str, parameters: Document, becomes: str | None = None, **more: Any) -> Job:
    """Jobs that delete what lies there."""
    return Job(f"DELETE FROM events WHERE {where}", f"WHERE {becomes or where}", parameters, **more)


def maintains(statement: str, becomes: str = "", parameters: Document | None = None) -> Job:
    """Jobs that change no row."""
    return Job(statement, becomes or "OPTIMIZE events", parameters or {}, per_hour=6)


def stream(count: int, parameters: Document) -> Job:
    """A streaming query with batches of so many rows."""
    return Job(None, "", parameters | rows(count))


_BY_KEY = {
    "loader": inserts({}),
    "upserter": merges("t.id = s.id", {}),
    "corrector": updates("id IN (:keys)", keys(3)),
    "optimizer": maintains("OPTIMIZE events ZORDER BY (country)", "ZORDER BY (id)"),
}

ORIGINALS = {
    "partitioned by date": Original(
        {
            "loader": inserts(DAY),
            "eraser": deletes("date = :date AND id IN (:keys)", ANY_DAY | keys(3)),
            "corrector": updates(
                "date = :date AND amount > 20", DAYS, "date = :date AND id IN (:keys)"
            ),
            "upserter": merges("t.id = s.id AND t.date = :date", DAYS),
        },
        {"partition_by": ["date"], "isolation": "WriteSerializable"},
    ),
    "partitioned by two columns": Original(
        {
            "loader": inserts(DAY | COUNTRY),
            "overwriter": Job(
                "INSERT INTO events REPLACE WHERE date = :date AND country = :country VALUES :rows",
                "REPLACE WHERE date = :date AND country = :country VALUES :rows",
                DAYS | COUNTRY | rows(20),
            ),
            "corrector": updates("date = :date AND country = :country", DAYS | COUNTRY),
            "wide": updates("country = :country", COUNTRY),
            "optimizer": maintains(
                "OPTIMIZE events WHERE date = :date", "OPTIMIZE events WHERE date = :date", DAY
            ),
        },
        {"partition_by": ["date", "country"]},
    ),
    "not partitioned, with a key": Original(_BY_KEY),
    "with deletion vectors": Original(
        _BY_KEY, {"properties": {"delta.enableDeletionVectors": "true"}}
    ),
    "row-level on Databricks": Original(
        {
            "loader": inserts({}),
            "upserter": merges("t.id = s.id", {}),
            "eraser": deletes("id IN (:keys)", keys(3)),
        },
        {
            "properties": {"delta.enableDeletionVectors": "true"},
            "isolation": "WriteSerializable",
        },
        dialect="databricks-14.3",
    ),
    "ranges of days": Original(
        {
            "loader": inserts(ANY_DAY),
            "eraser": deletes("date <= :date - 4", DAY, per_hour=10),
            "repairer": updates("date >= :date AND date < :date + 2", ANY_DAY,
                                "date >= :date AND date <= :date + 1"),
            "corrector": updates("date >= :date - 1", DAY),
        },
        {"partition_by": ["date"]},
    ),
    "ranges of numbers": Original(
        {
            "loader": inserts(TIER),
            "eraser": deletes("tier <= :tier AND id IN (:keys)", TIER | keys(2)),
            "repairer": updates("tier >= :tier AND tier < :tier + 2", TIER,
                                "tier >= :tier AND tier <= :tier + 1"),
        },
        {"partition_by": ["tier"]},
    ),
    "overwritten": Original(
        {
            "rebuilder": Job("INSERT OVERWRITE events VALUES :rows", "INSERT OVERWRITE events",
                             rows(100), per_hour=6),
            "loader": inserts(DAY),
            "replacer": Job(
                "INSERT INTO events REPLACE WHERE date >= :date VALUES :rows",
                "REPLACE WHERE date >= :date VALUES :rows",
                {"date": {"newest": {"within": 2}}} | rows(20),
                per_hour=10,
            ),
        },
        {"partition_by": ["date"]},
    ),
    "made anew": Original(
        {
            "rebuilder": Job(
                "CREATE OR REPLACE TABLE events USING DELTA PARTITIONED BY (date) AS SELECT"
                " CAST(v.id AS BIGINT) AS id, CAST(v.date AS DATE) AS date, v.country,"
                " CAST(v.tier AS INT) AS tier, CAST(v.amount AS DOUBLE) AS amount"
                f" FROM VALUES :rows AS v({COLUMNS})",
                "PARTITIONED BY (date)",
                rows(100),
                per_hour=6,
            ),
            "loader": inserts(DAY),
        },
        {"partition_by": ["date"]},
    ),
    "streams": Original(
        {
            "clicks": stream(10, DAY),
            "views": stream(20, DAY),
            "corrector": updates("date = :date", DAYS),
        },
        {"partition_by": ["date"]},
    ),
    "clustered by one column": Original(
        {
            "loader": inserts(COUNTRY),
            "corrector": updates("country = :country", COUNTRY, from_files="WHERE id IN (:keys)"),
            "upserter": merges("t.id = s.id AND t.country = :country", COUNTRY,
                               from_files="ON t.id = s.id"),
            "optimizer": maintains("OPTIMIZE events"),
        },
        {"cluster_by": ["country"], "isolation": "WriteSerializable"},
    ),
    "clustered by two columns": Original(
        {
            "loader": inserts(DAY | TIER),
            "corrector": updates("date >= :date - 1", DAY, from_files="WHERE id IN (:keys)"),
            "eraser": deletes("tier = :tier AND id IN (:keys)", TIER | keys(2),
                              from_files="WHERE id IN (:keys)"),
            "optimizer": maintains("OPTIMIZE events"),
        },
        {"cluster_by": ["date", "tier"], "isolation": "WriteSerializable"},
    ),
}  # fmt: skip
