"""Rules of the conflict check and of the isolation level, dropped or weakened."""

from __future__ import annotations

from benchmarks.mutants.mutant import Area, Mutant

CHECKER = "engine/conflicts/checker.py"
FILES = "engine/conflicts/files.py"
DOMAINS = "engine/conflicts/domains_and_progress.py"
CURRENT = "engine/conflicts/current.py"
LEVELS = "engine/transaction/commit_level.py"
RENUMBERING = "engine/conflicts/renumbering.py"

MUTANTS = (
    Mutant(
        "no file check",
        Area.RULES,
        CHECKER,
        "    for file_check in FILES:\n",
        "    for file_check in ():\n",
        "T1 and T2 read version 5 and add 1 to row k. T1 commits version 6; T2 removes the same "
        "file in version 7. k grew by 1, not by 2, and is in two files.",
    ),
    Mutant(
        "added files are not checked",
        Area.RULES,
        CHECKER,
        "FILES = (added_files, removed_vs_read, removed_vs_removed)",
        "FILES = (removed_vs_read, removed_vs_removed)",
        "T1 reads version 5 to delete all refunds. T2 commits version 6 with a new refund. T1 "
        "commits version 7: the refund is there after a DELETE that comes later.",
    ),
    Mutant(
        "removed files are not held against read ones",
        Area.RULES,
        CHECKER,
        "FILES = (added_files, removed_vs_read, removed_vs_removed)",
        "FILES = (added_files, removed_vs_removed)",
        "T1, an insert-only MERGE, reads in version 5 that key k is there. T2 deletes k's file in "
        "version 6. T1 commits version 7 without k, which a run after version 6 inserts.",
    ),
    Mutant(
        "removed files are not held against removed ones",
        Area.RULES,
        CHECKER,
        "FILES = (added_files, removed_vs_read, removed_vs_removed)",
        "FILES = (added_files, removed_vs_read)",
        "T1 overwrites monday, of which it read no rows. T2 deletes monday's only file in version "
        "6. T1 removes it again in version 7: two commits claim one removal.",
    ),
    Mutant(
        "of several added files the first is checked",
        Area.RULES,
        FILES,
        "        for file in files\n",
        "        for file in files[:1]\n",
        "T2 adds a file to monday and one to tuesday in version 6. T1, which reads tuesday, looks "
        "at the first alone and commits version 7 without tuesday's new rows.",
    ),
    Mutant(
        "of several reads the first is forgotten",
        Area.RULES,
        FILES,
        "        for entry in current.read_set.entries\n",
        "        for entry in current.read_set.entries[1:]\n",
        "T1 updates monday's refunds, read in version 5. T2 adds a refund to monday in version 6, "
        "as no blind append. T1 commits version 7 and has not updated it.",
    ),
    Mutant(
        "unpartitioned tables have no added files",
        Area.RULES,
        FILES,
        "not current.snapshot.partition_columns:\n        return files[0], TRUE.sql\n",
        "not current.snapshot.partition_columns:\n        return None\n",
        "Serializable, no partitions: T1 deletes refunds as of version 5, T2 adds one in version "
        "6, T1 commits version 7: the refund outlives a later DELETE.",
    ),
    Mutant(
        "every winner is taken for a blind append",
        Area.RULES,
        FILES,
        "            return () if winner.is_blind_append else winner.adds\n",
        "            return ()\n",
        "WriteSerializable: T1 writes the sum of monday into tuesday, T2 that of tuesday into "
        "monday, both read version 5. Each missed the other's row: no order explains both.",
    ),
    Mutant(
        "Serializable overlooks blind appends",
        Area.RULES,
        FILES,
        "        case _:\n            return winner.adds\n",
        "        case _:\n            return () if winner.is_blind_append else winner.adds\n",
        "Serializable: T1 deletes refunds as of version 5, an INSERT adds one in version 6, T1 "
        "commits version 7. The order of versions was promised, and is not that of the rows.",
    ),
    Mutant(
        "Serializable is checked as a snapshot",
        Area.RULES,
        FILES,
        "        case IsolationLevel.SNAPSHOT:\n            return ()\n",
        "        case IsolationLevel.SNAPSHOT | IsolationLevel.SERIALIZABLE:\n"
        "            return ()\n",
        "T1 writes the sum of monday, read in version 5; T2 adds a row to monday in version 6; "
        "T1 commits version 7 with a sum that lacks it.",
    ),
    Mutant(
        "whoever only adds files is taken for blind",
        Area.RULES,
        FILES,
        "    if current.is_blind_append or not files:\n",
        "    if not current.removed or not files:\n",
        "T1, an insert-only MERGE, sees in version 5 that key k is absent. T2 inserts k in version "
        "6. T1 inserts it again in version 7.",
    ),
    Mutant(
        "of several removed files the first is held against read ones",
        Area.RULES,
        FILES,
        "    for removed in removes:\n        read = ",
        "    for removed in removes[:1]:\n        read = ",
        "T2 deletes files a and b in version 6. T1 read b alone, in which its MERGE found key k, "
        "and commits version 7 without inserting k.",
    ),
    Mutant(
        "a double removal is let pass by path",
        Area.RULES,
        FILES,
        "        own = current.removed.get(removed.path)\n",
        "        own = None\n",
        "T1 overwrites monday without reading rows; T2 deletes monday's file in version 6; T1 "
        "removes it again in version 7.",
    ),
    Mutant(
        "progress of applications is not checked",
        Area.RULES,
        CHECKER,
        "    check_applications,\n    resolve_backfill,",
        "    resolve_backfill,",
        "Two runs of one query both find batch 3 next. One commits it in version 6, the other in "
        "version 7: its rows are there twice.",
    ),
    Mutant(
        "progress is looked up by the wrong set",
        Area.RULES,
        DOMAINS,
        "        if app_id in current.read_set.app_ids:\n",
        "        if app_id in current.snapshot.applications and not current.read_set.app_ids:\n",
        "Two runs of one query read that batch 2 is done. Both append batch 3, in versions 6 and "
        "7: its rows are doubled.",
    ),
    Mutant(
        "an early pass forgets progress",
        Area.RULES,
        CURRENT,
        "        reads_progress = PROGRESS if read.app_ids else 0\n",
        "        reads_progress = 0\n",
        "Batch 3 of a query is committed by one run in version 6; the other passes that version by "
        "as a blind append, and commits batch 3 again in version 7.",
    ),
    Mutant(
        "an early pass forgets removals",
        Area.RULES,
        CURRENT,
        "        needs_files = REMOVES if read.depends_on_files or self.removed else 0\n",
        "        needs_files = 0\n",
        "T2 deletes rows of monday by removing a file in version 6. T1, which rewrote that file "
        "as of version 5, passes it by: the deleted rows are back in version 7.",
    ),
    Mutant(
        "an early pass forgets added files",
        Area.RULES,
        CURRENT,
        "        needs_no_more = 0 if self.is_blind_append else self.visible_adds\n",
        "        needs_no_more = 0\n",
        "T1 deletes refunds as of version 5; version 6 is an INSERT of one, which only adds; T1 "
        "passes it by and commits version 7. The refund stays.",
    ),
    Mutant(
        "an early pass wants all effects instead of one",
        Area.RULES,
        CURRENT,
        "        return not winner.effects & self.concerns\n",
        "        return winner.effects & self.concerns != self.concerns\n",
        "T1 concerns itself with added and removed files. Version 6 only adds one that T1's "
        "condition matches: passed by, and missed in version 7.",
    ),
    Mutant(
        "an early pass sees only what is visible to WriteSerializable",
        Area.RULES,
        CURRENT,
        "            case _:\n                return ADDS\n",
        "            case _:\n                return VISIBLE_ADDS\n",
        "Serializable: version 6 is a blind INSERT of a refund. T1, a DELETE of refunds as of "
        "version 5, passes it by and commits version 7.",
    ),
    Mutant(
        "all tables are WriteSerializable",
        Area.ISOLATION,
        LEVELS,
        "    return default if text is None else level_named(text)\n",
        "    return IsolationLevel.WRITE_SERIALIZABLE\n",
        "A Serializable table: T1 deletes refunds as of version 5, an INSERT brings one in version "
        "6, T1 commits version 7 before which the refund stands.",
    ),
    Mutant(
        "the session's level counts more than the table's",
        Area.ISOLATION,
        LEVELS,
        "    return default if text is None else level_named(text)\n",
        "    return default\n",
        "delta.isolationLevel is Serializable where the platform's default is weaker: T1 misses an "
        "INSERT of version 6 and commits version 7.",
    ),
    Mutant(
        "everybody may fall back to a snapshot",
        Area.ISOLATION,
        LEVELS,
        "    if _only_rearranges(prepared) and _may_downgrade(level, operation):\n",
        "    if _may_downgrade(level, operation):\n",
        "T1 sums monday up as of version 5; T2 adds to monday in version 6; T1's added files make "
        "it no snapshot reader, but it is treated as one: version 7 has a sum too low.",
    ),
    Mutant(
        "adding alone counts as rearranging",
        Area.ISOLATION,
        LEVELS,
        "            return not action.data_change\n",
        "            return not action.data_change or isinstance(action, AddFile)\n",
        "T1, an insert-only MERGE, misses key k that T2 inserted in version 6, since whoever only "
        "adds is a snapshot: k is there twice in version 7.",
    ),
    Mutant(
        "the level named in the commit is Serializable, the check is not",
        Area.ISOLATION,
        "engine/transaction/commit.py",
        "        isolation_level=level,\n        table_name",
        "        isolation_level=IsolationLevel.SNAPSHOT,\n        table_name",
        "The commit says Serializable. T1 sums monday up as of version 5, T2 adds to it in version "
        "6, T1 commits version 7: what it says was not checked.",
    ),
    Mutant(
        "row ids are not moved on",
        Area.RULES,
        CHECKER,
        "    reassign_row_ids,\n    reassign_row_commit_versions,",
        "    reassign_row_commit_versions,",
        "T1 and T2 insert 3 rows each, both from watermark 9: T2 takes ids 10 to 12 in version 6, "
        "T1 the same in version 7.",
    ),
    Mutant(
        "row ids begin at the winner's last",
        Area.RULES,
        RENUMBERING,
        "            actions.append(replace(action, base_row_id=watermark + 1))",
        "            actions.append(replace(action, base_row_id=watermark))",
        "T2 takes ids up to 12 in version 6. T1's first row gets 12 again in version 7.",
    ),
    Mutant(
        "every file of a commit gets the same row ids",
        Area.RULES,
        RENUMBERING,
        "            watermark += rows_in(action)\n",
        "            watermark = won_watermark + rows_in(action)\n",
        "T1 adds two files of 3 and 1 rows after T2's watermark 12: both begin at 13 or the second "
        "at 16, and the watermark is left at 13: the next writer gives 14 again.",
    ),
    Mutant(
        "the watermark of the winner is not taken over",
        Area.RULES,
        RENUMBERING,
        "    watermark = won_watermark = read_watermark if won is None else won\n",
        "    watermark = won_watermark = read_watermark\n",
        "T2's version 6 reached watermark 12, T1 read 9: T1's rows begin at 10, as T2's did.",
    ),
    Mutant(
        "timestamps are not put in order",
        Area.RULES,
        CHECKER,
        "    resolved = order_timestamps(resolved, winner, settings)\n",
        "",
        "T1 fixes its in-commit timestamp 100 ms before T2, then comes after it: version 7 is "
        "older than version 6, and time travel to between them is wrong.",
    ),
    Mutant(
        "a timestamp may equal the one before",
        Area.RULES,
        RENUMBERING,
        "    timestamp_ms = max(own_ms, _timestamp_of(winner) + 1)\n",
        "    timestamp_ms = max(own_ms, _timestamp_of(winner))\n",
        "T1 is older than version 6 at 12:00:00.000 and gets the same instant in version 7: two "
        "versions answer for one timestamp.",
    ),
)
