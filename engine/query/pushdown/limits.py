"""The LIMIT that stands directly above a table, which its scan is given.

Where all conditions are on partitions, Delta then comes to only as many files as hold that many
rows. An EXISTS that is asked once for all rows is a query for one row. Source:
PrepareDeltaScan.scala, Spark's RewriteNonCorrelatedExists; observed on Delta Lake 4.4.0, which
takes the files in an order of its own, so that no race of it ends alike each time.
"""

from __future__ import annotations

from sqlglot import exp

from whitecap.engine.query.pushdown.relations import selecting
from whitecap.engine.sql.parsing.query_reading import is_plain, limit_of


def limit_on(table: exp.Table) -> int | None:
    """How many of a table's rows are asked for at most, `None` for all.

    Of an EXISTS this holds if none of its conditions speaks of a row around it.
    """
    select = selecting(table)
    if select is None or not is_plain(select):
        return None
    limit = limit_of(select)
    if isinstance(select.parent, exp.Exists):
        return 1 if limit is None else min(1, limit)
    return limit
