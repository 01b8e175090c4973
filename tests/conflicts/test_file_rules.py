"""The file checks, held against a second statement of the rules that shares no code with them.

Every combination of what a transaction read and writes, what the winner did, the level, and
whether the table is partitioned.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import product
from typing import Any

import pytest

from tests.races import DELETE, Table, add, remove, rule_of, where
from whitecap.engine.log.actions import AddCDCFile, AddFile, AnyAction


@dataclass(frozen=True)
class Winner:
    """A winning commit on the files a (x=1), a2 (x=1) and b (x=2)."""

    name: str
    adds: tuple[int, ...] = ()
    removes: tuple[str, ...] = ()
    blind: bool = False
    data_change: bool = True


WINNERS = (
    Winner("nothing", blind=True),
    Winner("blind append to 1", adds=(1,), blind=True),
    Winner("blind append to 2", adds=(2,), blind=True),
    Winner("append to 1 after reading", adds=(1,)),
    Winner("delete of a", removes=("a",)),
    Winner("delete of b", removes=("b",)),
    Winner("rewrite of a", adds=(1,), removes=("a",)),
    Winner("compaction of 1", adds=(1,), removes=("a", "a2"), data_change=False),
    Winner("move from 2 to 1", adds=(1,), removes=("b",)),
)
READS = ("nothing", "x = 1", "x = 1 AND v > 1000", "files only", "whole table")
WRITES = ("append", "append and change feed", "delete a", "rewrite a", "nothing", "rearrange a")
LEVELS = ("Serializable", "WriteSerializable", "SnapshotIsolation")


def actions_of(writes: str) -> list[AnyAction]:
    change = AddCDCFile(path="c", partition_values={"x": "1"}, size=1)
    made: dict[str, list[AnyAction]] = {
        "append": [add("n")],
        "append and change feed": [add("n"), change],
        "delete a": [remove("a")],
        "rewrite a": [remove("a"), add("n")],
        "nothing": [],
        "rearrange a": [remove("a", data_change=False), add("n", data_change=False)],
    }
    return made[writes]


def expected(level: str, partitioned: bool, reads: str, writes: str, winner: Winner) -> str:
    """What Delta's documentation of its checks comes to for these few cases, said plainly."""
    if writes in ("nothing", "rearrange a") and level == "Serializable":
        level = "SnapshotIsolation"  # a DELETE stays WriteSerializable even if it changes nothing
    blind = reads == "nothing" and writes in ("append", "nothing")
    watched = {
        "nothing": set[int](),
        "x = 1": {1},
        "x = 1 AND v > 1000": {1, 2},
        "files only": set[int](),
        "whole table": {1, 2},
    }[reads]
    visible = {"Serializable": True, "WriteSerializable": not winner.blind}.get(level, False)
    hit = winner.adds if not partitioned else [x for x in winner.adds if x in watched]
    if visible and not blind and hit:
        return "added_files"
    if files_read(partitioned, reads) & set(winner.removes) or (
        reads == "whole table" and winner.removes
    ):
        return "removed_vs_read"
    own_removes = {"a"} if writes in ("delete a", "rewrite a", "rearrange a") else set()
    return "removed_vs_removed" if own_removes & set(winner.removes) else "committed"


def files_read(partitioned: bool, reads: str) -> set[str]:
    match reads:
        case "nothing" | "whole table":
            return set()
        case "x = 1" if partitioned:
            return {"a", "a2"}
        case "files only":
            return {"a", "a2"}
        case _:
            return {"a", "a2", "b"}  # there are no statistics to leave one out by


def decided(level: str, partitioned: bool, reads: str, writes: str, winner: Winner) -> str:
    plain: dict[str, Any] = {} if partitioned else {"partition_values": {}}
    files = [add("a", 1, **plain), add("a2", 1, **plain), add("b", 2, **plain)]
    table = Table.of_files(*files, partitioned=partitioned, level=level)
    transaction = table.start()
    match reads:
        case "files only":
            live = [file for file in transaction.snapshot.all_files() if file.path != "b"]
            transaction.track_files_read(live)
        case "whole table":
            transaction.read_whole_table()
        case condition if condition != "nothing":
            transaction.filter_files(where(condition))
    change = winner.data_change
    added = [add(f"w{x}", x, change, **plain) for x in winner.adds]
    removed = [remove(path, 1, change) for path in winner.removes]
    table.commit(*removed, *added, blind=winner.blind)
    own = actions_of(writes)
    if not partitioned:
        own = [add("n", 1, a.data_change, **plain) if isinstance(a, AddFile) else a for a in own]
    return rule_of(table.end(transaction, own, DELETE))


@pytest.mark.parametrize("level", LEVELS)
@pytest.mark.parametrize("partitioned", [True, False], ids=["partitioned", "unpartitioned"])
def test_the_file_checks_say_what_the_rules_say(level: str, partitioned: bool) -> None:
    for reads, writes, winner in product(READS, WRITES, WINNERS):
        case = (level, partitioned, reads, writes, winner)
        assert decided(*case) == expected(*case), case
