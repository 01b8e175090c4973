"""Bugs that harm no data: they refuse what Delta lets pass, or say something else than Delta."""

from __future__ import annotations

from benchmarks.mutants.mutant import Area, Mutant

FILES = "engine/conflicts/files.py"
CHECKER = "engine/conflicts/checker.py"
LEVELS = "engine/transaction/commit_level.py"

MUTANTS = (
    Mutant(
        "the order of the file checks is reversed",
        Area.RULES,
        CHECKER,
        "FILES = (added_files, removed_vs_read, removed_vs_removed)",
        "FILES = (removed_vs_removed, removed_vs_read, added_files)",
        "T2 rewrites the file that T1 rewrites. Both refuse T1, by ConcurrentDeleteDelete instead "
        "of ConcurrentAppend.",
        unsafe=False,
    ),
    Mutant(
        "removals are checked before additions",
        Area.RULES,
        CHECKER,
        "FILES = (added_files, removed_vs_read, removed_vs_removed)",
        "FILES = (removed_vs_read, added_files, removed_vs_removed)",
        "T2 rewrites a file that T1 read: ConcurrentDeleteRead instead of ConcurrentAppend.",
        unsafe=False,
    ),
    Mutant(
        "blind appends are visible to WriteSerializable",
        Area.RULES,
        FILES,
        "            return () if winner.is_blind_append else winner.adds\n",
        "            return winner.adds\n",
        "WriteSerializable: T1 deletes refunds, T2 inserts one in version 6. T1 is refused, where "
        "Delta lets it come before T2.",
        equivalent="Who is a blind append is passed by before anybody looks at its files "
        "(`CurrentTransaction.passes_by`), so that either place alone keeps the rule.",
    ),
    Mutant(
        "blind appends check what was added",
        Area.RULES,
        FILES,
        "    if current.is_blind_append or not files:\n",
        "    if not files:\n",
        "T1 and T2 insert rows; T1 is refused because T2 added a file.",
        unsafe=False,
    ),
    Mutant(
        "all added files conflict whatever partition they are in",
        Area.RULES,
        FILES,
        "    if current.read_set.whole_table or not current.snapshot.partition_columns:\n",
        "    if current.read_set.entries:\n",
        "T1 updates monday, T2 adds to tuesday in version 6: T1 is refused.",
        unsafe=False,
    ),
    Mutant(
        "the conflict about progress has another name",
        Area.RULES,
        "engine/conflicts/domains_and_progress.py",
        "commit_verdict(Rule.APPLICATION_TRANSACTIONS, ",
        "commit_verdict(Rule.COMMIT_LARGE, ",
        "Two runs of one query append batch 3; the second is refused, by another exception.",
        unsafe=False,
    ),
    Mutant(
        "compaction is checked as if it changed data",
        Area.ISOLATION,
        LEVELS,
        "    if _only_rearranges(prepared) and _may_downgrade(level, operation):\n",
        "    if False:\n",
        "OPTIMIZE of version 5 beside an INSERT in version 6: refused, where Delta takes the "
        "snapshot for enough.",
        unsafe=False,
    ),
    Mutant(
        "every change of metadata conflicts",
        Area.RULES,
        "engine/conflicts/metadata.py",
        "    objection = _objection(current, winner.metadata)\n",
        '    objection: str | None = "metadata changed"\n',
        "T2 switches row tracking on in version 6; T1's INSERT is refused, where Delta adopts it.",
        unsafe=False,
    ),
    Mutant(
        "every added feature conflicts",
        Area.RULES,
        "engine/conflicts/protocol.py",
        "    return name not in FEATURES or FEATURES[name].fails_concurrent\n",
        "    return True\n",
        "T2 adds a feature that nobody needs to heed; T1 is refused.",
        unsafe=False,
    ),
    Mutant(
        "the message names another operation's place",
        Area.RULES,
        "engine/conflicts/messages.py",
        "    error_class, template = _TEMPLATES[rule.exception]\n"
        "    partition = partition_hint(values, current.partition_schema)\n",
        "    error_class, template = _TEMPLATES[rule.exception]\n"
        "    partition = partition_hint(None, current.partition_schema)\n",
        "T1 is refused about monday's file; the message says that it was somewhere.",
        unsafe=False,
    ),
    Mutant(
        "whoever read nothing is a blind append, removals or not",
        Area.READS,
        "engine/transaction/commit.py",
        "_NOT_BLIND = frozenset({RemoveFile, AddCDCFile})\n",
        "_NOT_BLIND: frozenset[type] = frozenset()\n",
        "A commit of change data, or of removals, that read nothing says isBlindAppend in the log. "
        "No command removes a file without reading it, so that none loses a row.",
        unsafe=False,
    ),
    Mutant(
        "a file that the winner removed keeps one's own actions",
        Area.ROWS,
        "engine/row_level/row_conflicts.py",
        "    rest: list[AnyAction] = without_files(current.actions, theirs)\n",
        "    rest: list[AnyAction] = list(current.actions)\n",
        "T1 and T2 hide rows of file a. T1 adds a with the united vector, and with its own as "
        "well: the check of a commit's own actions refuses that, where Databricks lets T1 pass.",
        unsafe=False,
    ),
)
