"""Commands that write other rows than their statement says, and streams that lose their place."""

from __future__ import annotations

from benchmarks.mutants.mutant import Area, Mutant

DELETE = "engine/commands/rows/delete.py"
UPDATE = "engine/commands/rows/update.py"
MERGE = "engine/commands/rows/merge.py"
MATCHING = "engine/commands/rows/merge_matching.py"
INSERT = "engine/commands/rows/insert.py"
STREAMING = "engine/commands/rows/streaming.py"
REWRITING = "engine/commands/maintenance/rewriting.py"
BATCHES = "engine/plans/batches.py"
STORED_ROWS = "engine/row_store/stored_rows.py"
SEARCH = "engine/writing/search.py"

MUTANTS = (
    Mutant(
        "DELETE leaves the file that it rewrote",
        Area.COMMANDS,
        DELETE,
        "    removes = yield from removals(file_rows.file for file_rows, _ in touched)\n",
        "    removes = yield from removals(file_rows.file for file_rows, _ in touched[1:])\n",
        "T1 deletes key k of file a: a's other rows are written to b, and a stays. All its rows "
        "are there twice, k once.",
    ),
    Mutant(
        "DELETE rewrites nothing that stays",
        Area.COMMANDS,
        DELETE,
        "    adds = yield from writer.write(by_task(tasks, kept))\n",
        "    adds = (yield from writer.write(by_task(tasks, kept)))[1:]\n",
        "T1 deletes key k of file a: the rest of a is written to b, which the commit does not "
        "name: those rows are lost.",
    ),
    Mutant(
        "DELETE of a partition leaves its last file",
        Area.COMMANDS,
        DELETE,
        "        gone = list(files)\n",
        "        gone = list(files)[:-1]\n",
        "T1 deletes monday, which is in files a and b: b stays.",
    ),
    Mutant(
        "DELETE of a partition takes all partitions",
        Area.COMMANDS,
        DELETE,
        "        files = txn.filter_files(partition) if conditions else txn.filter_all_files()\n",
        "        files = txn.filter_all_files()\n",
        "T1 deletes monday: tuesday is gone too.",
    ),
    Mutant(
        "UPDATE leaves the old file",
        Area.COMMANDS,
        UPDATE,
        "        return (yield from removals(file_rows.file for file_rows, _ in self.touched))\n",
        "        return (yield from removals(file_rows.file for file_rows, _ in "
        "self.touched[1:]))\n",
        "T1 updates k in file a into b, and a stays: k is there in both states.",
    ),
    Mutant(
        "UPDATE hides rows and does not write them",
        Area.COMMANDS,
        UPDATE,
        "        return [*(yield from self._old_rows_gone(writer)), *adds, *changes]\n",
        "        return [*(yield from self._old_rows_gone(writer)), "
        "*(adds[1:] if self.hides else adds), *changes]\n",
        "T1 updates k with a deletion vector: the old row is hidden, the new one is in a file that "
        "the commit does not name.",
    ),
    Mutant(
        "UPDATE writes rows and does not hide them",
        Area.COMMANDS,
        UPDATE,
        "hide_rows(self.touched, writer.layout, now_ms))\n",
        "hide_rows(self.touched[1:], writer.layout, now_ms))\n",
        "T1 updates k with a deletion vector: the new row is written, the old one stays visible.",
    ),
    Mutant(
        "UPDATE changes its first row alone",
        Area.COMMANDS,
        SEARCH,
        "        return [at for at, row in loaded.rows_at(positions) if self._matches(row)]\n",
        "        return [at for at, row in loaded.rows_at(positions) if self._matches(row)][:1]\n",
        "T1 updates all refunds of monday; of a file with two the second keeps its amount.",
    ),
    Mutant(
        "one of two conditions is enough for a row",
        Area.COMMANDS,
        SEARCH,
        "        return all(test(row) is True for test in self.tests)\n",
        "        return any(test(row) is True for test in self.tests)\n",
        "T1 replaces the rows with day = 'mon' AND kind = 'refund': monday's orders go as well.",
    ),
    Mutant(
        "UPDATE changes a row twice",
        Area.COMMANDS,
        UPDATE,
        "        changed = [self.change.of_row(row) for _, row in file_rows.rows_at(positions)]\n",
        "        changed = [self.change.of_row(self.change.of_row(row)) for _, row in "
        "file_rows.rows_at(positions)]\n",
        "T1 adds 1 to k with a deletion vector on its file: k grew by 2.",
    ),
    Mutant(
        "MERGE inserts what it has updated",
        Area.COMMANDS,
        MATCHING,
        "                self.used.update(hits)\n",
        "",
        "T1's MERGE finds k, updates it, and inserts it as not matched besides.",
    ),
    Mutant(
        "MERGE keeps what it has to delete",
        Area.COMMANDS,
        MATCHING,
        "                changes[at] = None if clause.make is None else clause.make(joined_row)\n",
        "                changes[at] = row if clause.make is None else clause.make(joined_row)\n",
        "T1's MERGE matches k with a refund, WHEN MATCHED ... THEN DELETE: k stays.",
    ),
    Mutant(
        "MERGE takes the last clause that applies",
        Area.COMMANDS,
        MATCHING,
        "    for clause in clauses:\n        if clause.applies is None",
        "    for clause in reversed(clauses):\n        if clause.applies is None",
        "T1's MERGE has DELETE for refunds, then UPDATE for the rest: refunds are updated instead "
        "of deleted.",
    ),
    Mutant(
        "MERGE leaves a file that it rewrote",
        Area.COMMANDS,
        MERGE,
        "        removes = yield from removals(file.scanned.file for file in touched)\n",
        "        removes = yield from removals(file.scanned.file for file in touched[1:])\n",
        "T1's MERGE rewrites file a into b, and a stays: its rows are there twice.",
    ),
    Mutant(
        "MERGE with vectors forgets its inserts",
        Area.COMMANDS,
        MERGE,
        "        rows = tasks.of_changes(touched, inserts, lambda",
        "        rows = tasks.of_changes(touched, [[] for _ in inserts], lambda",
        "T1's MERGE updates k and inserts l on a table with vectors: l is nowhere.",
    ),
    Mutant(
        "MERGE leaves a changed row visible",
        Area.COMMANDS,
        MERGE,
        "        hidden = [(file.scanned, list(changes[file.scanned.file.path])) for file in "
        "touched]\n",
        "        hidden = [(file.scanned, list(changes[file.scanned.file.path])[1:]) for file in "
        "touched]\n",
        "T1's MERGE updates k with a vector; the old k stays visible beside the new one.",
    ),
    Mutant(
        "MERGE drops a source row of several",
        Area.COMMANDS,
        MATCHING,
        "        for at in positions:\n            if at not in self.used:",
        "        for at in [*positions][:-1]:\n            if at not in self.used:",
        "T1's MERGE brings 4 rows; the last one, which matches nothing, is not inserted.",
    ),
    Mutant(
        "an overwrite keeps what it replaces",
        Area.COMMANDS,
        INSERT,
        "        return (yield from removals(files))\n",
        "        return (yield from removals(list(files)[1:]))\n",
        "T1 overwrites monday, which is in files a and b: a's rows stay.",
    ),
    Mutant(
        "REPLACE WHERE keeps what it replaces",
        Area.COMMANDS,
        INSERT,
        "        return [*self._marked(adds), *self._marked(gone)]\n",
        "        return [*self._marked(adds), *self._marked(gone if self.is_dynamic else ())]\n",
        "T1 replaces monday by 8 rows: the old ones are there as well.",
    ),
    Mutant(
        "an overwrite of partitions takes the whole table",
        Area.COMMANDS,
        INSERT,
        "            files = self.txn.filter_files_by_partitions_of(adds)\n",
        "            files = tuple(self.txn.filter_all_files())\n",
        "T1 overwrites monday in dynamic mode: tuesday is gone.",
    ),
    Mutant(
        "INSERT drops a task's last row",
        Area.COMMANDS,
        "engine/plans/inserts.py",
        "[[make(row) for row in task] for task in source.tasks]",
        "[[make(row) for row in task][:-1] for task in source.tasks]",
        "T1 inserts 3 rows; 2 are there.",
    ),
    Mutant(
        "a batch that the table has is appended again",
        Area.COMMANDS,
        STREAMING,
        "    if txn.txn_version(batch.query_id) >= batch.batch_id:\n",
        "    if txn.txn_version(batch.query_id) > batch.batch_id:\n",
        "Batch 3 is in version 6. A second run on the checkpoint takes batch 3 too, and appends it "
        "again.",
    ),
    Mutant(
        "a planned batch that the table has is appended again",
        Area.COMMANDS,
        BATCHES,
        "        if snapshot.transaction_version(batch.query_id) >= batch.batch_id:\n",
        "        if snapshot.transaction_version(batch.query_id) > batch.batch_id:\n",
        "Batch 3 is in version 6, whose reply was lost. The rerun appends it again.",
    ),
    Mutant(
        "a batch does not record its progress",
        Area.COMMANDS,
        BATCHES,
        "        actions: list[AnyAction] = [batch.progress((yield ReadClock())), *adds]\n",
        "        actions: list[AnyAction] = [*adds]\n",
        "Batch 3 is appended without a word of it: the second run appends it again.",
    ),
    Mutant(
        "a batch records the next one's progress",
        Area.COMMANDS,
        STREAMING,
        "        return SetTransaction(app_id=self.query_id, version=self.batch_id, "
        "last_updated=now_ms)\n",
        "        return SetTransaction(app_id=self.query_id, version=self.batch_id + 1, "
        "last_updated=now_ms)\n",
        "Batch 3 is recorded as 4. Batch 4 is taken for done: its rows are nowhere, though its "
        "writer was told that the table has them.",
    ),
    Mutant(
        "a batch that the table lacks counts as there",
        Area.COMMANDS,
        BATCHES,
        "        if snapshot.transaction_version(batch.query_id) >= batch.batch_id:\n",
        "        if snapshot.transaction_version(batch.query_id) >= batch.batch_id - 1:\n",
        "Batch 3 follows batch 2, which is in version 6, and is taken for done: its rows are "
        "nowhere.",
    ),
    Mutant(
        "OPTIMIZE leaves a file out",
        Area.COMMANDS,
        REWRITING,
        "    rows = joined([by_key[file_key(file)].live_rows() for file in files])\n",
        "    rows = joined([by_key[file_key(file)].live_rows() for file in files[1:]])\n",
        "T1 compacts a and b into c, which has b's rows alone: a's are lost.",
    ),
    Mutant(
        "OPTIMIZE does not remove what it compacted",
        Area.COMMANDS,
        REWRITING,
        "    removes = yield from removals(files, data_change=False)\n",
        "    removes = yield from removals(files[1:], data_change=False)\n",
        "T1 compacts a and b into c and leaves a: its rows are there twice.",
    ),
    Mutant(
        "OPTIMIZE goes on although its files have changed",
        Area.COMMANDS,
        REWRITING,
        "    return all(file in snapshot.live for file in batch.files)\n",
        "    return True\n",
        "T1 compacted a and b; T2 deleted a row of a in version 6. T1 is refused, starts again "
        "with the same actions, and brings the row back in version 7.",
    ),
    Mutant(
        "OPTIMIZE minds the paths of its files, not their vectors",
        Area.COMMANDS,
        REWRITING,
        "    return all(file in snapshot.live for file in batch.files)\n",
        "    return all(snapshot.file_at(file.path) is not None for file in batch.files)\n",
        "T1 compacted a; T2 hid a row of a in version 6. a is still there, by its path: T1 commits "
        "the row that T2 deleted.",
    ),
    Mutant(
        "OPTIMIZE adds and removes nothing",
        Area.COMMANDS,
        REWRITING,
        "        txn.track_files_read(batch.files)\n",
        "        adds = tuple(a for a in batch.actions if isinstance(a, AddFile))\n"
        "        batch = _Batch(batch.predicates, batch.files, adds, batch.operation)\n",
        "T1 adds c for a and b and removes neither: their rows are there twice.",
    ),
    Mutant(
        "a row that is rewritten keeps its place and its neighbour goes",
        Area.COMMANDS,
        STORED_ROWS,
        "        gone = [at for at, row in changes.items() if row is None]\n",
        "        gone = [max(at - 1, 0) for at, row in changes.items() if row is None]\n",
        "T1 deletes row 3 of file a: b has row 3 and lacks row 2.",
    ),
)
