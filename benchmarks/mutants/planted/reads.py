"""What counts as read: the read set, predicates, partitions, blind appends, statistics."""

from __future__ import annotations

from benchmarks.mutants.mutant import Area, Mutant

TRANSACTION = "engine/transaction/transaction.py"
SCAN = "engine/transaction/file_scan.py"
READ_SET = "engine/conflicts/read_set.py"
COMMIT = "engine/transaction/commit.py"
VALUE_INDEX = "engine/row_store/value_index.py"

MUTANTS = (
    Mutant(
        "a read's files are not kept",
        Area.READS,
        TRANSACTION,
        "        self.read_set = self.read_set.with_entry(entry.asking(answers)).with_scan(scan)\n",
        "        self.read_set = self.read_set.with_entry(entry.asking(answers))\n",
        "T1, an insert-only MERGE, found key k in file a. T2 deletes a in version 6. T1 does not "
        "know that it read a, and commits version 7 without k.",
    ),
    Mutant(
        "a read's condition is not kept",
        Area.READS,
        TRANSACTION,
        "        self.read_set = self.read_set.with_entry(entry.asking(answers)).with_scan(scan)\n",
        "        self.read_set = self.read_set.with_scan(scan)\n",
        "T1 deletes refunds of monday as of version 5; T2 adds one in version 6; T1 keeps no "
        "condition that the new file could match, and commits version 7.",
    ),
    Mutant(
        "whoever reads the whole table depends on no removal",
        Area.READS,
        READ_SET,
        "        return replace(self, whole_table=True)\n",
        "        return self\n",
        "A stream that reads its target appends as of version 5; T2 deletes a file of it in "
        "version 6; the stream commits version 7, though Serializable promises that it saw that.",
    ),
    Mutant(
        "asking for progress leaves no trace",
        Area.READS,
        TRANSACTION,
        "        self.read_set = self.read_set.with_app_id(app_id)\n",
        "",
        "Two runs of one query ask for its progress and get 2. Both append batch 3: it is there "
        "twice, in versions 6 and 7.",
    ),
    Mutant(
        "planned batches forget that they asked for progress",
        Area.READS,
        "engine/plans/batches.py",
        "        self.reads = ReadSet(app_ids=frozenset((query_id,)))\n",
        "        self.reads = ReadSet()\n",
        "Two runs of one query find batch 3 next; versions 6 and 7 both hold it.",
    ),
    Mutant(
        "whoever removes nothing is a blind append",
        Area.READS,
        COMMIT,
        "    return only_adds and not read_set.depends_on_files\n",
        "    return only_adds\n",
        "T1, an insert-only MERGE, sees in version 5 that k is absent and calls itself blind. T2 "
        "inserted k in version 6. Version 7 has it twice.",
    ),
    Mutant(
        "reading files alone makes no dependency",
        Area.READS,
        READ_SET,
        "        return bool(self.entries or self.files)\n",
        "        return bool(self.files)\n",
        "T1, an insert-only MERGE, looked for k by a condition. It counts as a blind append, and "
        "inserts k in version 7 after T2 did in version 6.",
    ),
    Mutant(
        "files read by scans are forgotten",
        Area.READS,
        READ_SET,
        "        return next((file for scan in self.scans if (file := scan.at(path)) is not None), "
        "None)\n",
        "        return None\n",
        "T1's MERGE found k in file a, which T2 deletes in version 6. T1 cannot tell that it read "
        "a, and version 7 lacks k.",
    ),
    Mutant(
        "of several scans the last is forgotten",
        Area.READS,
        READ_SET,
        "(file for scan in self.scans if",
        "(file for scan in self.scans[:-1] if",
        "T1 read file a in its only scan; T2 deletes a in version 6; T1 does not see that and "
        "commits version 7 as if k were still there.",
    ),
    Mutant(
        "a second condition takes the first one's place",
        Area.READS,
        READ_SET,
        "        return replace(self, entries=(*self.entries, entry))\n",
        "        return replace(self, entries=self.entries or ())\n",
        "T1 deletes monday's refunds as of version 5, and keeps no entry of it. T2 adds a refund "
        "to monday in version 6; T1 commits version 7.",
    ),
    Mutant(
        "a file must match none of the conditions",
        Area.READS,
        "engine/transaction/file_scan.py",
        "        return self.wanted(file.partition_values) and self._may_match(file)\n",
        "        return self.wanted(file.partition_values) and not self._may_match(file)\n",
        "T1 read file a, whose statistics fit its condition, and T2 deleted it in version 6: a "
        "counts as not read, and version 7 stands on rows that are gone.",
    ),
    Mutant(
        "one partition condition is enough",
        Area.READS,
        "engine/transaction/entries.py",
        "        return all(\n"
        "            predicate.evaluate_partition(values, self.schema, self.settings) is True\n",
        "        return not any(\n"
        "            predicate.evaluate_partition(values, self.schema, self.settings) is True\n",
        "T1 updates monday. A file of monday does not count as matched, neither when T1 reads nor "
        "when T2 adds one in version 6: T1 changes the wrong rows.",
    ),
    Mutant(
        "data conditions are taken for partition conditions",
        Area.READS,
        TRANSACTION,
        "        partition = [p for p in predicates if partition_only or p.is_over(columns)]\n",
        "        partition = [p for p in predicates if columns]\n",
        "T1 deletes by kind on a table partitioned by day: no partition has a kind, so none "
        "matches, and the refund that T2 adds in version 6 is overlooked.",
    ),
    Mutant(
        "answers about partitions are remembered for all alike",
        Area.READS,
        "engine/transaction/entries.py",
        "        key = frozenset((values or {}).items())\n",
        "        key = frozenset((values or {}).keys() and ())\n",
        "T1 reads monday. The first answer, that monday matches, or that tuesday does not, then "
        "stands for all: T2's file of monday in version 6 is overlooked.",
    ),
    Mutant(
        "statistics rule files out that hold the row",
        Area.READS,
        "engine/sql/predicates/asked_statistics.py",
        "        return self.holds(statistics) or not all(\n",
        "        return not self.holds(statistics) or not all(\n",
        "T1 deletes key k, which is in file a by its statistics. a is skipped: k stays after a "
        "DELETE that was told to have committed.",
    ),
    Mutant(
        "the index of rows leaves its first file out",
        Area.READS,
        "engine/writing/search.py",
        "            return [file for file in files if file in scan]\n",
        "            return [file for file in files if file in scan][1:]\n",
        "T1 deletes k, which is in the first of the files that its index names. That one is not "
        "read: k stays.",
    ),
    Mutant(
        "a scan leaves its last file out",
        Area.READS,
        "engine/writing/search.py",
        "    return list(scan)\n\n\nclass",
        "    return list(scan)[:-1]\n\n\nclass",
        "T1 updates all refunds, some of which are in the last file of the scan: they keep their "
        "old amount.",
    ),
    Mutant(
        "rows that a compaction hides are looked for in its file",
        Area.READS,
        VALUE_INDEX,
        "        elif hides_rows:\n",
        "        elif False:\n",
        "T2 updates monday as of version 5, k in file a among it; T3 compacts a with a newer file "
        "into b as of version 6. T2 commits k's new row in file c; T3 hides the old one in b. A "
        "DELETE of k looks in b, where k is not live: k stays.",
    ),
    Mutant(
        "a row is looked for where it is now, by who reads an older version",
        Area.READS,
        VALUE_INDEX,
        "                nodes += self._origins_with(row, node)\n",
        "                pass\n",
        "T1 reads version 5, in which k is in file a. T2 compacts a into b in version 6 before T1 "
        "looks k up: b is not in version 5, and T1's DELETE finds nothing.",
    ),
    Mutant(
        "a copy of a row is forgotten when the other one is rewritten",
        Area.READS,
        VALUE_INDEX,
        "        others.update(*(each.others for each in (*origins.values(), *beside)))\n",
        "",
        "Two compactions of delta-rs 1.6.6 write k into files a and b. T1 rewrites b into c, whose "
        "only origin is b: a DELETE of k finds c, and leaves k in a.",
    ),
)
