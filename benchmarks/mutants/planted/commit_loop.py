"""The commit loop: which winners are checked, whose a commit is, what an unknown outcome is."""

from __future__ import annotations

from benchmarks.mutants.mutant import Area, Mutant

LOOP = "engine/transaction/commit_loop.py"
COMMIT = "engine/transaction/commit.py"

MUTANTS = (
    Mutant(
        "the first winner is not checked",
        Area.COMMIT_LOOP,
        LOOP,
        "        for version_in_the_way, entry in (yield from _listed(self.table_log, version)):\n",
        "        for version_in_the_way, entry in (yield from _listed(self.table_log, "
        "version))[1:]:\n",
        "T1 and T2 add 1 to k as of version 5. T2 commits version 6. T1 lists from version 6 on, "
        "skips it, and removes the same file again.",
    ),
    Mutant(
        "only the first of several winners is checked",
        Area.COMMIT_LOOP,
        LOOP,
        "            version = version_in_the_way + 1\n            if self.rows is None",
        "            version = version_in_the_way + 1\n"
        "            if version_in_the_way > candidate.version:\n                continue\n"
        "            if self.rows is None",
        "Version 6 is an INSERT elsewhere, version 7 deletes row k. T1, which changes k as of "
        "version 5, checks 6 alone: k is back in version 8.",
    ),
    Mutant(
        "a refusal by a later winner is passed over",
        Area.COMMIT_LOOP,
        LOOP,
        "            if isinstance(answer, Verdict):\n"
        "                return Aborted(answer, sent)\n",
        "            if isinstance(answer, Verdict):\n"
        "                if version_in_the_way == candidate.version:\n"
        "                    return Aborted(answer, sent)\n                continue\n",
        "Version 6 does not concern T1, version 7 changes its row. The verdict about 7 is dropped: "
        "T1 commits version 8 over the change.",
    ),
    Mutant(
        "after winners the version that was wanted is skipped",
        Area.COMMIT_LOOP,
        LOOP,
        "            version = version_in_the_way + 1\n",
        "            version = version_in_the_way + 2\n",
        "T2 commits version 6. T1 puts version 8: there is no version 7, and no reader gets past "
        "6.",
    ),
    Mutant(
        "who wants version N begins at N+1",
        Area.COMMIT_LOOP,
        LOOP,
        "    candidate = Candidate(current, current.snapshot.version + 1)\n",
        "    candidate = Candidate(current, current.snapshot.version + 2)\n",
        "T1 read version 5 and puts version 7: a log with a gap.",
    ),
    Mutant(
        "unknown is taken for success",
        Area.COMMIT_LOOP,
        LOOP,
        "            case PutResult.UNKNOWN:\n                return Unknown(version, sent)\n",
        "            case PutResult.UNKNOWN:\n"
        "                return Committed(version, current.commit_info, current.lines, sent)\n",
        "T1's put of version 6 gets no reply because it arrives late; T2 takes version 6. T1 was "
        "told that it has committed version 6, which is T2's.",
    ),
    Mutant(
        "unknown is taken for a lost race",
        Area.COMMIT_LOOP,
        LOOP,
        "            case PutResult.UNKNOWN:\n                return Unknown(version, sent)\n",
        "            case PutResult.UNKNOWN:\n                contended = True\n",
        "T1's put of version 6 took effect without a reply. T1 sees a winner, blind appends do not "
        "conflict, and commits the same rows again as version 7.",
    ),
    Mutant(
        "the next version is tried after an unknown outcome",
        Area.COMMIT_LOOP,
        LOOP,
        "            case PutResult.UNKNOWN:\n                return Unknown(version, sent)\n",
        "            case PutResult.UNKNOWN:\n"
        "                candidate = Candidate(current, version + 1)\n                body = b''\n",
        "T1's put of version 6 took effect; without a reply it puts version 7 as well: one INSERT, "
        "twice the rows.",
    ),
    Mutant(
        "any commit in the way is one's own",
        Area.COMMIT_LOOP,
        LOOP,
        "commit_info.txn_id == current.txn_id\n",
        "commit_info.engine_info == current.commit_info.engine_info\n",
        "T1 and T2 run the same engine. T2 commits version 6; T1, which asks whose version 6 is, "
        "takes it for its own: T1's rows are nowhere, and it was told that they are.",
    ),
    Mutant(
        "one's own commit is never known again",
        Area.COMMIT_LOOP,
        LOOP,
        "        return checked and commit_info is not None and commit_info.txn_id == "
        "current.txn_id\n",
        "        return False\n",
        "T1's INSERT became version 6 without a reply. It is sent again, finds version 6 taken, "
        "does not conflict with it, and becomes version 7 too.",
    ),
    Mutant(
        "one's own commit is looked for behind others alone",
        Area.COMMIT_LOOP,
        LOOP,
        "            if version_in_the_way == candidate.version and self._is_own(winner, "
        "current):\n",
        "            if version_in_the_way > candidate.version and self._is_own(winner, "
        "current):\n",
        "T1's INSERT became version 6 without a reply; sent again, it does not look at version 6, "
        "and commits version 7 with the same rows.",
    ),
    Mutant(
        "a lost race is success",
        Area.COMMIT_LOOP,
        LOOP,
        "            case PutResult.ALREADY_EXISTS:\n                contended = True\n",
        "            case PutResult.ALREADY_EXISTS:\n"
        "                return Committed(version, current.commit_info, current.lines, sent)\n",
        "T2 holds version 6. T1 is told that it has committed version 6; its rows are nowhere.",
    ),
    Mutant(
        "what the check resolved is not written",
        Area.COMMIT_LOOP,
        LOOP,
        '            body = body if answer.current is candidate.current else b""\n',
        "",
        "T1 gets new row ids after T2's version 6, but the bytes that it puts as version 7 are "
        "those of its first attempt: T2's row ids again.",
    ),
    Mutant(
        "what one winner changed the next does not see",
        Area.COMMIT_LOOP,
        LOOP,
        "            current = answer\n        if self.rows",
        "        if self.rows",
        "T1's row ids follow T2's version 6 in memory; the answer is dropped, and version 7 holds "
        "the ids that T2 gave out.",
    ),
    Mutant(
        "who was refused commits all the same",
        Area.COMMIT_LOOP,
        LOOP,
        "            if isinstance(answer, Verdict):\n"
        "                return Aborted(answer, sent)\n"
        "            current = answer\n",
        "            if isinstance(answer, Verdict):\n                break\n"
        "            current = answer\n",
        "T2 changed row k in version 6. T1, which changes k too, is refused, stops checking, and "
        "puts version 7: T2's change is lost.",
    ),
    Mutant(
        "a client in doubt sends again by itself",
        Area.COMMIT_LOOP,
        LOOP,
        "        is_last = lost_reply is LostReply.SURFACE or sent > MAX_RESENDS\n",
        "        is_last = sent > MAX_RESENDS\n",
        "A client that is to ask when in doubt sends again by itself: T1's INSERT became version 6 "
        "without a reply, sent again it finds the version taken and becomes version 7 too.",
    ),
    Mutant(
        "whoever removes nothing is not committed",
        Area.COMMIT_LOOP,
        COMMIT,
        "    if may_skip and not prepared.actions and _may_skip_empty(level, settings):\n",
        "    if may_skip and not any(\n"
        "        isinstance(action, RemoveFile) for action in prepared.actions\n    ):\n",
        "T1's INSERT removes nothing and is taken for one that did nothing: it ends well, and its "
        "rows are nowhere.",
    ),
    Mutant(
        "planned appends carry the id of the first",
        Area.COMMIT_LOOP,
        "engine/plans/appends.py",
        "        txn_id=append.txn_id,\n    )\n    return first.another",
        "    )\n    return first.another",
        "All appends of a statement carry the id of the first. T1 finds T0's id in version 6, "
        "takes that for its own commit, and its rows are nowhere.",
    ),
    Mutant(
        "planned appends write the first one's rows",
        Area.COMMIT_LOOP,
        "engine/plans/appends.py",
        "        actions=tuple(append.actions),\n",
        "        actions=first.actions,\n",
        "T1's second INSERT commits the files of its first once more: the first rows are there "
        "twice, the second nowhere.",
    ),
)
