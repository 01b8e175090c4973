"""Replaying the log: the file set, progress, metadata, and checkpoints."""

from __future__ import annotations

from benchmarks.mutants.mutant import Area, Mutant

SNAPSHOT = "engine/log/snapshot.py"
FILE_SET = "engine/log/files.py"
CHECKPOINT = "engine/log/checkpoints/checkpoint.py"
PARQUET = "engine/log/checkpoints/parquet.py"
STORED_LOG = "engine/log/clients/stored_log.py"
COMMIT_FILE = "engine/log/commit_file.py"
HISTORY = "sim/store/contents/history.py"

MUTANTS = (
    Mutant(
        "removed files stay",
        Area.LOG,
        FILE_SET,
        "        key = file_key(removed)\n        self._drop(key)\n",
        "        key = file_key(removed)\n",
        "Version 6 replaces file a by b. Whoever reads version 6 sees the rows of both.",
    ),
    Mutant(
        "of several added files one is read",
        Area.LOG,
        FILE_SET,
        "        change.add_all(adds)\n    return change.finish()",
        "        change.add_all(adds[:1])\n    return change.finish()",
        "Version 6 adds files a and b; readers of it see a alone.",
    ),
    Mutant(
        "what leaves is applied after what joins",
        Area.LOG,
        FILE_SET,
        "    for _, removes, adds in reversed(since):\n",
        "    for _, removes, adds in since:\n",
        "Version 6 adds file a, version 7 removes it. Replayed backwards a is live.",
    ),
    Mutant(
        "of many versions the first is left out",
        Area.LOG,
        FILE_SET,
        "    for _, removes, adds in reversed(since):\n",
        "    for _, removes, adds in [*reversed(since)][len(since) > 2 :]:\n",
        "A reader that is three versions behind applies two of them: file a, removed in the first, "
        "is read again.",
    ),
    Mutant(
        "files with vectors are not found by their path",
        Area.LOG,
        FILE_SET,
        "        if key[1] is not None:\n"
        "            self._dv_ids[key[0]] = (*self._dv_ids.get(key[0], ()), key[1])\n",
        "",
        "File a gets a vector in version 6. T1 asks which file is at a and is told none: it does "
        "not know that it read a, or that it is gone.",
    ),
    Mutant(
        "progress is that of the first batch",
        Area.LOG,
        SNAPSHOT,
        "        applications = applications.set(action.app_id, action)\n",
        "        if action.app_id not in applications:\n"
        "            applications = applications.set(action.app_id, action)\n",
        "A query commits batches 0 and 1. A second run on its checkpoint reads progress 0, and "
        "appends batch 1 again.",
    ),
    Mutant(
        "progress is one behind",
        Area.LOG,
        SNAPSHOT,
        "        return -1 if application is None else application.version\n",
        "        return -1 if application is None else application.version - 1\n",
        "Batch 3 is in version 6. A second run reads progress 2 and appends batch 3 again.",
    ),
    Mutant(
        "metadata domains are not kept",
        Area.LOG,
        SNAPSHOT,
        "            domains = domains.set(action.domain, action)\n",
        "            domains = domains.update({action.domain: domains.get(action.domain, "
        "action)})\n",
        "The watermark of row ids stays at its first value: version 7 gives out the ids of version "
        "6 again.",
    ),
    Mutant(
        "the first metadata counts",
        Area.LOG,
        SNAPSHOT,
        "        metadata = commit.metadata or self.metadata\n",
        "        metadata = self.metadata or commit.metadata\n",
        "ALTER TABLE changes a property in version 6. Whoever opens the table reads the one of "
        "version 0.",
    ),
    Mutant(
        "one version too early",
        Area.LOG,
        HISTORY,
        "        if cached is not None and self.store.exclusive:\n            return cached\n",
        "        early = self.cache.snapshot_at(version - 1)\n"
        "        if early is not None and self.store.exclusive:\n"
        "            from msgspec.structs import replace\n\n"
        "            return replace(early, version=version)\n"
        "        if cached is not None and self.store.exclusive:\n            return cached\n",
        "T1 is told version 7 and given the files of version 6: it changes what version 7 changed.",
    ),
    Mutant(
        "the listing of winners begins one late",
        Area.LOG,
        "sim/store/log_view.py",
        "        return [(number, _NOT_SHOWN) for number in range(version + 1, newest + 1)]\n",
        "        return [(number, _NOT_SHOWN) for number in range(version + 2, newest + 1)]\n",
        "T1 lost version 6 to T2 and lists from there, one too late: T2's commit is never checked.",
    ),
    Mutant(
        "the parsed commit of another version is taken",
        Area.LOG,
        HISTORY,
        "(cached := self.cache.commit_at(version)) is not None:\n",
        "(\n"
        "            cached := self.cache.commit_at(version - 1) or self.cache.commit_at(version)\n"
        "        ) is not None:\n",
        "Version 7 is read as what version 6 says: T1 checks one winner twice and the other not.",
    ),
    Mutant(
        "what leaves with a vector leaves without",
        Area.LOG,
        COMMIT_FILE,
        "        tuple(kinds.get(RemoveFile, ())),\n",
        "        tuple(r for r in kinds.get(RemoveFile, ()) if r.deletion_vector is None),\n",
        "Version 7 gives file a its second vector: it is removed with the first. That removal is "
        "not read, so that a is live twice.",
    ),
    Mutant(
        "a checkpoint drops a file",
        Area.CHECKPOINTS,
        CHECKPOINT,
        "        *(_without_change(file) for file in snapshot.all_files()),\n",
        "        *(_without_change(file) for file in snapshot.all_files()[1:]),\n",
        "The checkpoint of version 10 lacks file a. Whoever opens the table later does not see "
        "a's rows; T1 who knew the table does.",
    ),
    Mutant(
        "checkpoints are not found",
        Area.CHECKPOINTS,
        CHECKPOINT,
        '        if match is None or (match["form"] == "json" and not match["uuid"]):\n',
        "        if match is not None:\n",
        "The checkpoint that stands for versions 0 to 10 is not found. Their commits were cleaned "
        "up: whoever opens the table finds none.",
    ),
    Mutant(
        "a checkpoint forgets progress",
        Area.CHECKPOINTS,
        CHECKPOINT,
        "        *(snapshot.applications[app] for app in sorted(snapshot.applications)),\n",
        "",
        "Batch 9 of a query is before the checkpoint. After a restart the query reads no progress "
        "and appends its batches again.",
    ),
    Mutant(
        "a checkpoint forgets domains",
        Area.CHECKPOINTS,
        CHECKPOINT,
        "        *(snapshot.domains[domain] for domain in sorted(snapshot.domains)),\n",
        "",
        "The watermark of row ids is not in the checkpoint: whoever opens the table gives out ids "
        "from 0 again.",
    ),
    Mutant(
        "a checkpoint is taken for the version before",
        Area.CHECKPOINTS,
        CHECKPOINT,
        "    return before.apply(commit_of(files.version, actions))\n",
        "    return replace(before.apply(commit_of(files.version, actions)), version=files.version "
        "- 1)\n",
        "Version 10 is applied once more on the checkpoint that holds it, or is missing: the "
        "reader fails, or reads its rows twice.",
    ),
    Mutant(
        "a checkpoint is followed by the version after the next",
        Area.CHECKPOINTS,
        STORED_LOG,
        "        for commit in (yield from self._read_commits(entries, self._snapshot.version + "
        "1)):\n",
        "        for commit in (yield from self._read_commits(entries, self._snapshot.version + "
        "1))[\n"
        "            : None if self._snapshot.version < 0 else -1\n        ]:\n",
        "Who opens the table by the checkpoint of version 10 stops before its newest version, and "
        "does not see an acknowledged commit.",
    ),
    Mutant(
        "vectors are left out of checkpoints",
        Area.CHECKPOINTS,
        CHECKPOINT,
        "    return replace(file, data_change=False)\n",
        "    return replace(file, data_change=False, deletion_vector=None)\n",
        "File a hides a deleted row by its vector; the checkpoint has a without: the row is back.",
    ),
    Mutant(
        "a checkpoint forgets the metadata",
        Area.CHECKPOINTS,
        CHECKPOINT,
        "        *([snapshot.metadata] if snapshot.metadata else []),\n",
        "        *([snapshot.metadata] if snapshot.version < 3 and snapshot.metadata else []),\n",
        "The checkpoint of version 10 has no metadata: whoever opens the table has no columns.",
    ),
)
