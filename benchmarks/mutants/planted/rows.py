"""Conflicts settled by rows, compaction followed, and deletion vectors."""

from __future__ import annotations

from benchmarks.mutants.mutant import Area, Mutant

ROWS = "engine/row_level/row_conflicts.py"
CHANGES = "engine/row_level/changes.py"
COMPACTION = "engine/row_level/compaction.py"
RELOCATION = "engine/row_level/relocation.py"
RESOLVER = "engine/row_level/resolver.py"
REQUIREMENTS = "engine/row_level/requirements.py"
READS = "engine/query/row_reads.py"
HIDING = "engine/row_level/hiding.py"
VECTORS = "engine/log/vectors/deletion_vectors.py"
WRITING = "engine/writing/hidden_rows.py"
DATA_FILES = "engine/row_level/data_files.py"

MUTANTS = (
    Mutant(
        "rows that came do not concern anybody",
        Area.ROWS,
        ROWS,
        "    concerned = yield from _first_concerned(came, reader.brought, reads, reader)\n",
        "    concerned = None\n",
        "T1 adds 100 to all refunds as of version 5. T2 turns row k into a refund in version 6. T1 "
        "commits version 7 and k was left out.",
    ),
    Mutant(
        "rows that went do not concern anybody",
        Area.ROWS,
        ROWS,
        "    concerned = yield from _first_concerned(changes, reader.taken, reads, reader)\n",
        "    concerned = None\n",
        "T1's MERGE finds k as of version 5; T2 deletes k in version 6; T1 commits version 7 as if "
        "k were matched, where a run after version 6 inserts it.",
    ),
    Mutant(
        "rows changed by both are let pass",
        Area.ROWS,
        ROWS,
        "        if taken & (yield from reader.taken(won)):\n",
        "        if not taken:\n",
        "T1 and T2 both update row k of file a. T2 hides it in version 6; T1 hides it too and adds "
        "its own new row in version 7: k is there twice.",
        equivalent="Whoever changes a row has read it by its own condition, so that the check of "
        "rows that went refuses it before.",
    ),
    Mutant(
        "the winner's vector is forgotten in the union",
        Area.VECTORS,
        ROWS,
        "hidings.append(Hiding(won.after, (yield from reader.hidden(won.after)) | taken))",
        "hidings.append(Hiding(won.after, taken))",
        "T2 deletes row 1 of file a in version 6, T1 row 2. T1's vector holds row 2 alone: row 1 "
        "is back in version 7.",
    ),
    Mutant(
        "one's own vector is forgotten in the union",
        Area.VECTORS,
        ROWS,
        "hidings.append(Hiding(won.after, (yield from reader.hidden(won.after)) | taken))",
        "hidings.append(Hiding(won.after, (yield from reader.hidden(won.after))))",
        "T2 hides row 1 of file a in version 6, T1 updates row 2: T1's vector is T2's, so that the "
        "old row 2 stays beside the new one.",
    ),
    Mutant(
        "vectors are intersected instead of united",
        Area.VECTORS,
        ROWS,
        "hidings.append(Hiding(won.after, (yield from reader.hidden(won.after)) | taken))",
        "hidings.append(Hiding(won.after, (yield from reader.hidden(won.after)) & taken))",
        "T2 hides row 1 of file a, T1 row 2: the intersection is empty, both rows are back.",
    ),
    Mutant(
        "the first changed row is not looked at",
        Area.ROWS,
        ROWS,
        "            rows = rows_at((yield from reader.rows(file)), list(positions))\n",
        "            rows = rows_at((yield from reader.rows(file)), list(positions)[1:])\n",
        "T2 turns k into a refund in version 6, the first row of its file. T1, which adds 100 to "
        "refunds, does not look at it.",
    ),
    Mutant(
        "a condition that reads rows is taken for its opposite",
        Area.ROWS,
        READS,
        "            lambda row: all(test(row) is True for test in tests),\n",
        "            lambda row: all(test(row) is False for test in tests),\n",
        "T1 adds 100 to refunds; T2 turns k into a refund in version 6: that does not count as "
        "concerning T1.",
    ),
    Mutant(
        "a MERGE depends on no rows",
        Area.ROWS,
        READS,
        "            concerns,\n            scan.__contains__,\n",
        "            lambda _: False,\n            scan.__contains__,\n",
        "Two MERGE insert key k, both as of version 5: k is there twice in version 7.",
    ),
    Mutant(
        "a row that leaves a file counts as there before",
        Area.ROWS,
        CHANGES,
        "        return (yield from self._hidden_or_all(change, change.after)) - hidden_before\n",
        "        return hidden_before\n",
        "T2 hides row 1 of file a in version 6, where none was hidden: what it took counts as "
        "nothing, and T1 may change row 1 too.",
    ),
    Mutant(
        "a new file brings nothing",
        Area.ROWS,
        CHANGES,
        "        return (yield from self._hidden_or_all(change, change.before)) - hidden_after\n",
        "        return (yield from self.hidden(change.before)) - hidden_after\n",
        "T2 inserts a refund in a new file in version 6: nothing seems to have come, and T1's "
        "update of refunds leaves it out.",
    ),
    Mutant(
        "a file that goes takes nothing",
        Area.ROWS,
        CHANGES,
        "        return BitMap64(range((yield from self.count(change.file))))\n",
        "        return BitMap64()\n",
        "T2 removes file a whole in version 6. It seems to have taken no row, so that T1 may "
        "update one of a's rows: it is back in version 7.",
    ),
    Mutant(
        "conflicts about files are passed over",
        Area.ROWS,
        RESOLVER,
        "        if verdict is None or not self.reads:\n            return verdict or current\n",
        "        if verdict is None or self.reads:\n            return current\n",
        "T2 changes row k in version 6. T1 says what it reads by rows, and nobody looks at them: "
        "T1 commits version 7 over k.",
    ),
    Mutant(
        "row-level concurrency without deletion vectors",
        Area.ROWS,
        REQUIREMENTS,
        "    return properties.DELETION_VECTORS.of(current.metadata.configuration)\n",
        "    return True\n",
        "A table without vectors: T2 compacts file a into c in version 6. T1, which rewrote a, "
        "hides a's rows in c by a vector in version 7: who expects none there has them twice.",
    ),
    Mutant(
        "compaction is passed by",
        Area.ROWS,
        RESOLVER,
        "        if rearranges(winner):\n            return removed_vs_removed(current, winner) or "
        "reading_moved_rows(current, winner)\n",
        "        if rearranges(winner):\n            return reading_moved_rows(current, winner)\n",
        "T2 compacts files a and b into c in version 6. T1 deletes a row of a in version 7: a "
        "comes back with a vector, beside c that holds its rows.",
    ),
    Mutant(
        "two compactions of one file",
        Area.ROWS,
        COMPACTION,
        "    lost = [current.removed[r.path] for r in winner.removes if r.path in "
        "current.removed]\n",
        "    lost: list[RemoveFile] = []\n",
        "T1 and T2 both compact a and b. T2's c and T1's d are both there after version 7: every "
        "row twice.",
    ),
    Mutant(
        "a compaction that was overtaken keeps its new files",
        Area.ROWS,
        COMPACTION,
        "            return action.path in targets\n    return False\n",
        "            return False\n    return False\n",
        "T1's compaction of a and b was overtaken by T2's. It gives up removing them, and adds its "
        "file all the same: every row twice.",
    ),
    Mutant(
        "deletions are not moved onto the compacted file",
        Area.ROWS,
        COMPACTION,
        "    return current.with_actions([*rest, *(yield from hide(hidings, like, reader))])\n",
        "    return current.with_actions(rest)\n",
        "T2 compacts a into c in version 6; T1 deletes row 1 of a. What it did to a is dropped, "
        "and nothing is done to c: the row stays.",
    ),
    Mutant(
        "a compaction forgets what was deleted meanwhile",
        Area.ROWS,
        COMPACTION,
        "    return current.with_actions((yield from _with_hidden_rows(actions, hidden, "
        "reader)))\n",
        "    return current.with_actions(actions)\n",
        "T2 deletes row 1 of file a in version 6. T1 compacted a, with row 1, into c in version 7: "
        "the row is back.",
    ),
    Mutant(
        "a second deletion undoes the first in a compacted file",
        Area.ROWS,
        COMPACTION,
        "            hidden_before = yield from reader.hidden(action)\n"
        "            hidings.append(Hiding(action, hidden_before | hidden[action.path]))\n",
        "            hidings.append(Hiding(action, hidden[action.path]))\n",
        "Two winners each delete a row of files that T1 compacts. The second one's row is hidden "
        "in T1's file, the first one's is back.",
    ),
    Mutant(
        "a compacted row is looked for one place further",
        Area.ROWS,
        RELOCATION,
        "        return {target: BitMap64(first + at - left_out.rank(at) for at in positions)}\n",
        "        return {target: BitMap64(first + at for at in positions)}\n",
        "File a had row 0 hidden when it was compacted, so that its row 2 is row 1 of c. T1, which "
        "deletes row 2, hides row 2 of c: another row is gone.",
    ),
    Mutant(
        "every compacted file begins at the first row",
        Area.ROWS,
        "engine/commands/maintenance/rewriting.py",
        "            first_row += by_key[file_key(file)].live_count\n",
        "            first_row += 0\n",
        "a and b go into c. T1 deletes row 1 of b and hides row 1 of c, which was a's.",
    ),
    Mutant(
        "hidden rows count for where compacted rows are",
        Area.ROWS,
        "engine/commands/maintenance/rewriting.py",
        "            first_row += by_key[file_key(file)].live_count\n",
        "            first_row += len(by_key[file_key(file)].rows)\n",
        "a has 3 rows, one hidden, and b follows it in c from row 2 on. T1 deletes row 0 of b and "
        "hides row 3 of c: another row is gone.",
    ),
    Mutant(
        "what was hidden in the compacted file comes back",
        Area.ROWS,
        COMPACTION,
        "        hidden_before = yield from reader.hidden(added[path])\n"
        "        hidings.append(Hiding(added[path], hidden_before | positions))\n",
        "        hidings.append(Hiding(added[path], positions))\n",
        "T2's compacted file c came with a vector, since T3 had deleted a row meanwhile. T1 hides "
        "its own row in c, and T3's is back.",
    ),
    Mutant(
        "a vector is written without the rows hidden before",
        Area.VECTORS,
        WRITING,
        "            covered.append((loaded, BitMap64(positions) | (loaded.deleted or "
        "BitMap64())))\n",
        "            covered.append((loaded, BitMap64(positions)))\n",
        "Version 6 hides row 1 of file a. T1 deletes row 2 of it in version 7 with a vector of row "
        "2 alone: row 1 is back.",
    ),
    Mutant(
        "a file is taken for emptied too early",
        Area.VECTORS,
        WRITING,
        "        if len(positions) == loaded.live_count:\n",
        "        if len(positions) >= loaded.live_count - 1:\n",
        "T1 deletes 9 of the 10 rows of file a. The file is removed whole: a row is lost.",
    ),
    Mutant(
        "the file with its old vector stays",
        Area.VECTORS,
        WRITING,
        "        actions += [remove(loaded.file, at_ms) for loaded, _ in covered]\n",
        "        actions += [remove(loaded.file, at_ms) for loaded, _ in covered "
        "if loaded.deleted is None]\n",
        "File a has a vector since version 6. T1 adds it with another one in version 7 and does "
        "not remove it with the first: a is live twice.",
    ),
    Mutant(
        "positions in a vector begin at one",
        Area.VECTORS,
        VECTORS,
        "    bitmap = BitMap64(positions)\n    bitmap.run_optimize()",
        "    bitmap = BitMap64(at + 1 for at in positions)\n    bitmap.run_optimize()",
        "T1 deletes row 0 of file a; the vector in the store says row 1: another row is gone.",
    ),
    Mutant(
        "the log counts a deleted row less",
        Area.VECTORS,
        VECTORS,
        "len(body), len(payload), len(bitmap)))\n",
        "len(body), len(payload), len(bitmap) - 1))\n",
        "T1 deletes 2 rows of file a; the log says that its vector deletes 1. Who counts rows by "
        "the log counts one that is gone.",
    ),
    Mutant(
        "all vectors of a commit are the first one",
        Area.VECTORS,
        VECTORS,
        "        vectors.append(_file_vector(file_id, len(body), len(payload), len(bitmap)))\n",
        "        vectors.append(_file_vector(file_id, 1, len(payload), len(bitmap)))\n",
        "T1 deletes rows of a and b; both point at the vector of a in the shared file: other rows "
        "of b are gone.",
    ),
    Mutant(
        "hidden rows are read",
        Area.VECTORS,
        DATA_FILES,
        "        return positions if hidden is None else [at for at in positions if at not in "
        "hidden]\n",
        "        return positions\n",
        "Row k of file a was updated in version 6, the old one hidden. T1 updates k: it finds the "
        "hidden row as well, and writes k twice.",
    ),
    Mutant(
        "a rewrite brings hidden rows back",
        Area.VECTORS,
        DATA_FILES,
        "        hidden = dict.fromkeys(self.deleted or ())\n",
        "        hidden: dict[int, None] = {}\n",
        "Version 6 hid row 1 of file a. OPTIMIZE copies all of a's rows in version 7: row 1 is "
        "back.",
    ),
    Mutant(
        "a file gets a vector without being removed before",
        Area.VECTORS,
        HIDING,
        "    adds = yield from with_hidden(hidings, reader, data_change=True)\n"
        "    return [*(removal(hiding.live, like) for hiding in hidings), *adds]\n",
        "    adds = yield from with_hidden(hidings, reader, data_change=True)\n"
        "    return [*adds]\n",
        "T1's vector is united with T2's: file a is added with the union, and not removed with "
        "T2's: a is live twice.",
    ),
    Mutant(
        "a removal names the vector of before",
        Area.VECTORS,
        HIDING,
        "        deletion_vector=live.deletion_vector,\n",
        "",
        "T2 gave file a a vector in version 6. T1 unites its own with it, and removes a with the "
        "vector of version 5, which is not live: a is live twice.",
    ),
)
