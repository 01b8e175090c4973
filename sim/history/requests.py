"""What the requests of a run cost, writer group by writer group."""

from __future__ import annotations

from collections import defaultdict
from typing import Any

import pyarrow as pa

from whitecap.sim.scenario.clusters import Price

PER = 1000.0
"""Stores price requests by the thousand."""


def priced_requests(price: Price, requests: pa.Table, transactions: pa.Table) -> dict[str, Any]:
    """As a manifest holds it: the list, how many there were of each kind, and the amount of each
    writer group and command (several tables: with the table's name)."""
    by_transaction = transactions.select(
        [name for name in _OF_TRANSACTIONS if name in transactions.column_names]
    )
    joined = requests.select(["transaction_id", "kind"]).join(by_transaction, "transaction_id")
    groups = [name for name in joined.column_names if name != "transaction_id"]
    counted = joined.group_by(groups).aggregate([([], "count_all")])
    costs: dict[str, dict[str, float]] = {}
    counts: defaultdict[str, int] = defaultdict(int)
    for row in sorted(counted.to_pylist(), key=str):
        counts[row["kind"]] += row["count_all"]
        own = costs.setdefault(row["writer_group"], {})
        table = row.get("table_name")
        command = row["command"] if table is None else f"{row['command']} {table}"
        amount = price.per_1000.get(row["kind"], 0.0) * row["count_all"] / PER
        own[command] = own.get(command, 0.0) + amount
    return {
        "list": price.requests,
        "counts": dict(sorted(counts.items())),
        "unpriced": sorted(set(counts) - set(price.per_1000)),
        "costs": costs,
    }


_OF_TRANSACTIONS = ("transaction_id", "writer_group", "command", "table_name")
