"""Small scenarios drawn from a seed: commands, layouts, faults; to be replayed on real Delta."""

from __future__ import annotations

import random
from collections.abc import Callable
from typing import Any

Document = dict[str, Any]

COLUMNS = ["event_id BIGINT", "date DATE", "country STRING", "amount DOUBLE"]
EXTRAS = ["n INT", "price DECIMAL(10,2)", "seen TIMESTAMP", "fine BOOLEAN", "note STRING"]
LAYOUTS: list[Document] = [
    {},
    {"partition_by": ["date"]},
    {"partition_by": ["country"]},
    {"partition_by": ["date", "country"]},
    {"cluster_by": ["country"]},
]
PROPERTIES: list[Document] = [
    {"delta.enableDeletionVectors": True},
    {"delta.enableChangeDataFeed": True},
    {"delta.enableRowTracking": True},
    {"delta.enableInCommitTimestamps": True},
    {"delta.checkpointInterval": 3},
    {"delta.autoOptimize.autoCompact": True},
    {"delta.columnMapping.mode": "name"},
]
SKIPPING = "spark.databricks.delta.stats.skipping"
SETTINGS: list[Document] = [
    {"spark.databricks.delta.autoCompact.minNumFiles": 3},
    {"spark.databricks.delta.commit.idempotencyCheck.enabled": True},
    {"spark.databricks.delta.optimize.batchSize": 2000},
    {SKIPPING: False},
    {"spark.sql.sources.partitionOverwriteMode": "dynamic"},
]
FAULTS: list[Document] = [
    {"lost_reply": {"probability": 0.4}},
    {"lost_reply": {"probability": 0.3, "requests": ["get", "list"]}},
    {"late_effect": {"probability": 0.3, "delay": {"exponential": {"mean": "10 s"}}}},
    {"throttling": {"probability": 0.4}},
    {"writer_crash": {"rate": "40 per h", "restart": "5 s"}},
]
POLICIES = ["surface", "resend", "resend_and_check"]


def drawn_scenario(seed: int) -> Document:
    """A scenario of a few writers whose commands meet each other."""
    draw = random.Random(seed)
    columns = [*COLUMNS, *draw.sample(EXTRAS, draw.choice((0, 0, 1, 3)))]
    names = [column.split()[0] for column in columns]
    layout = draw.choice(LAYOUTS)
    kinds = draw.choices(list(KINDS), weights=list(KINDS.values()), k=draw.choice((2, 3, 3, 4)))
    table: Document = {
        "schema": ", ".join(columns),
        "key": "event_id",
        "values": {"date": {"days": 2}, "country": ["DE", "FR"]},
        "initial": {"rows": draw.choice((12, 40)), "rows_per_file": draw.choice((3, 5))},
        "isolation": draw.choice(("Serializable", "WriteSerializable")),
        "properties": _some(draw, PROPERTIES, (0, 0, 1, 2)),
        **layout,
    }
    settings = _some(draw, SETTINGS, (0, 0, 1))
    if "delta.enableDeletionVectors" in table["properties"]:
        settings.pop(SKIPPING, None)  # Delta 4.4 reads no vectors without skipping
    return {
        "name": f"drawn-{seed}",
        "seed": seed,
        "duration": "8 min",
        "store": {"profile": "s3", "client": {"on_lost_reply": draw.choice(POLICIES)}},
        "settings": settings,
        "table": table,
        "faults": draw.sample(FAULTS, draw.choice((0, 0, 1, 1, 2))),
        "writers": {f"w{at}": _writer(draw, kind, names, table) for at, kind in enumerate(kinds)},
    }


def _some(draw: random.Random, among: list[Document], counts: tuple[int, ...]) -> Document:
    return {k: v for each in draw.sample(among, draw.choice(counts)) for k, v in each.items()}


def _writer(draw: random.Random, kind: Kind, names: list[str], table: Document) -> Document:
    mean = draw.choice(("20 s", "40 s"))
    at_a_time = 1 if kind is _stream else 2
    arrivals: list[Document] = [
        {"closed": {"think": {"exponential": {"mean": mean}}}},
        {"schedule": {"every": mean, "offset": draw.choice(("5 s", "15 s"))}},
        {"open": {"rate": "2 per min", "concurrency": at_a_time}},
    ]
    reruns: list[Document] = [
        {"none": {}},
        {"fixed": {"wait": "2 s", "budget": 2, "after_unknown": draw.random() < 0.5}},
    ]
    computes = ["4 s", "15 s", {"lognormal": {"median": "10 s", "sigma": 0.6}}]
    return {
        "count": draw.choice((1, 1, 2)),
        "arrival": draw.choice(arrivals),
        "compute": draw.choice(computes),
        "rerun": draw.choice(reruns),
        **kind(draw, names, table),
    }


Kind = Callable[[random.Random, list[str], Document], Document]
ROWS = {"rows": {"count": 4, "existing": 0.5}}
NEW_ROWS = {"rows": {"count": 3}}
SLICE: Document = {"date": {"newest": {"within": 2}}, "country": {"uniform": {}}}


def _where(draw: random.Random) -> tuple[str, Document]:
    """A condition and the parameters that it takes."""
    keys = {"keys": {"keys": {"count": 3}}}
    conditions: list[tuple[str, Document]] = [
        ("date = :date", {"date": SLICE["date"]}),
        ("country = :country", {"country": SLICE["country"]}),
        ("date = :date AND country = :country", SLICE),
        ("event_id IN (:keys)", keys),
        ("date = :date AND event_id IN (:keys)", {**keys, "date": SLICE["date"]}),
        ("amount > :least", {"least": {"among": [100.5, 5000, 20000]}}),
        ("country = :country OR amount < 100", {"country": SLICE["country"]}),
    ]
    return draw.choice(conditions)


def _statement(text: str, parameters: Document) -> Document:
    return {"statement": text, "parameters": parameters}


def _insert(_draw: random.Random, _names: list[str], _table: Document) -> Document:
    return _statement("INSERT INTO events VALUES :rows", {**SLICE, "rows": NEW_ROWS})


def _insert_own(draw: random.Random, names: list[str], _table: Document) -> Document:
    where, parameters = _where(draw)
    items = ", ".join("event_id + 1000000" if name == "event_id" else name for name in names)
    return _statement(f"INSERT INTO events SELECT {items} FROM events WHERE {where}", parameters)


def _update(draw: random.Random, _names: list[str], _table: Document) -> Document:
    where, parameters = _where(draw)
    change = draw.choice(("amount = amount + 1", "country = 'DE'", "amount = event_id * 2.0"))
    return _statement(f"UPDATE events SET {change} WHERE {where}", parameters)


def _delete(draw: random.Random, _names: list[str], _table: Document) -> Document:
    where, parameters = _where(draw)
    return _statement(f"DELETE FROM events WHERE {where}", parameters)


MERGES = (
    "WHEN MATCHED THEN UPDATE SET * WHEN NOT MATCHED THEN INSERT *",
    "WHEN MATCHED THEN DELETE WHEN NOT MATCHED THEN INSERT *",
    "WHEN NOT MATCHED THEN INSERT *",
    "WHEN MATCHED AND t.amount > s.amount THEN UPDATE SET amount = s.amount",
)


def _merge(draw: random.Random, names: list[str], _table: Document) -> Document:
    on = draw.choice(("", " AND t.date = :date AND t.country = :country", " AND t.date = s.date"))
    source = f"(SELECT * FROM VALUES :rows AS v({', '.join(names)})) AS s"
    text = f"MERGE INTO events AS t USING {source} ON t.event_id = s.event_id{on}"
    return _statement(f"{text} {draw.choice(MERGES)}", {**SLICE, "rows": ROWS})


def _stream(draw: random.Random, _names: list[str], _table: Document) -> Document:
    streaming = {
        "checkpoint": draw.choice(("one", "two")),
        "rows": {"count": 3},
        "reads_table": draw.random() < 0.4,
    }
    return {"streaming": streaming, "parameters": {"date": SLICE["date"]}}


def _optimize(draw: random.Random, _names: list[str], table: Document) -> Document:
    forms = ["OPTIMIZE events"]
    if "cluster_by" not in table:
        forms.append("OPTIMIZE events ZORDER BY (amount)")
    if "date" in table.get("partition_by", ()):
        return _statement("OPTIMIZE events WHERE date = :date", {"date": SLICE["date"]})
    return _statement(draw.choice(forms), {})


def _overwrite(draw: random.Random, _names: list[str], _table: Document) -> Document:
    forms = [
        "INSERT OVERWRITE events VALUES :rows",
        "INSERT INTO events REPLACE WHERE country = :country AND date = :date VALUES :rows",
    ]
    text = draw.choice(forms)
    return _statement(text, {**SLICE, "rows": NEW_ROWS})


def _maintain(draw: random.Random, _names: list[str], _table: Document) -> Document:
    forms = ["VACUUM events", "REORG TABLE events APPLY (PURGE)", "TRUNCATE TABLE events"]
    return {**_statement(draw.choice(forms), {}), **_seldom(draw)}


def _define(draw: random.Random, _names: list[str], table: Document) -> Document:
    forms = [
        "ALTER TABLE events SET TBLPROPERTIES ('delta.checkpointInterval' = '7')",
        "ALTER TABLE events SET TBLPROPERTIES ('delta.enableRowTracking' = 'true')",
        "ALTER TABLE events SET TBLPROPERTIES ('delta.enableDeletionVectors' = 'true')",
        "ALTER TABLE events ALTER COLUMN amount COMMENT 'how much'",
        "ALTER TABLE events ADD COLUMN extra INT",
        "ALTER TABLE events ADD CONSTRAINT positive CHECK (amount >= -5)",
        "ALTER TABLE events CLUSTER BY (amount)",
        "CREATE OR REPLACE TABLE events (event_id BIGINT, date DATE, amount DOUBLE) USING delta",
        "RESTORE TABLE events TO VERSION AS OF 1",
        "CREATE OR REPLACE TABLE events USING delta AS SELECT * FROM events",
    ]
    if "delta.columnMapping.mode" in table["properties"]:
        forms += ["ALTER TABLE events RENAME COLUMN amount TO price"]
        forms += ["ALTER TABLE events DROP COLUMN amount"]
    return {**_statement(draw.choice(forms), {}), **_seldom(draw)}


def _seldom(draw: random.Random) -> Document:
    return {"count": 1, "arrival": {"schedule": {"at": [draw.choice(("70 s", "2 min"))]}}}


KINDS: dict[Kind, int] = {
    _insert: 4,
    _insert_own: 3,
    _update: 6,
    _delete: 4,
    _merge: 6,
    _stream: 4,
    _optimize: 5,
    _overwrite: 2,
    _maintain: 2,
    _define: 2,
}
