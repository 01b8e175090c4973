"""The store's put-if-absent, the protocols that take its place, and what clients do in doubt."""

from __future__ import annotations

from benchmarks.mutants.mutant import Area, Mutant

OBJECTS = "sim/store/contents/objects.py"
EXCHANGE = "sim/store/exchange.py"
TABLE = "sim/store/contents/commit_table.py"
DYNAMO = "sim/store/protocols/dynamodb.py"
CATALOG = "sim/store/protocols/catalog.py"
RENAME = "sim/store/protocols/rename.py"
CONDITIONAL_PUT = "sim/store/protocols/conditional_put.py"
RERUN = "sim/writers/rerun.py"
WRITER = "sim/writers/writer.py"
BATCHES = "sim/writers/checkpoints.py"

REFUSED = (
    "        if isinstance(request, PutIfAbsent) and self.holds_version(version):\n"
    "            return PutResult.ALREADY_EXISTS\n"
)
LANDED = (
    "        self.landings.add(version, now_ms, transaction_id)\n"
    "        self.log.landed(version, len(request.body), now_ms)\n"
    "        return PutResult.CREATED\n"
)

MUTANTS = (
    Mutant(
        "a conditional put overwrites",
        Area.STORE,
        OBJECTS,
        REFUSED,
        "",
        "T1 and T2 both put version 6 if it is absent. Both succeed; T1's commit is gone.",
    ),
    Mutant(
        "a conditional put that is refused says created",
        Area.STORE,
        OBJECTS,
        REFUSED,
        REFUSED.replace("ALREADY_EXISTS", "CREATED"),
        "T2 holds version 6. T1's put is refused, and answered as done: T1's rows are nowhere.",
    ),
    Mutant(
        "a conditional put that succeeds says taken",
        Area.STORE,
        OBJECTS,
        LANDED,
        LANDED.replace(
            "        return PutResult.CREATED\n",
            "        if len(request.body) % 7 == 0:\n            return PutResult.ALREADY_EXISTS\n"
            "        return PutResult.CREATED\n",
        ),
        "T1's put makes version 6, and is answered 412. T1 finds a commit that does not conflict, "
        "and puts version 7 with the same rows.",
    ),
    Mutant(
        "a writer that looked before it sent overwrites",
        Area.STORE,
        CONDITIONAL_PUT,
        "        if not profile.exclusive:\n"
        "            sent = self.store.as_sent(commit.request)\n",
        "        sent = self.store.as_sent(commit.request)\n",
        "T1 and T2 both look when they send; version 6 is absent to both. Both write it: the first "
        "is lost.",
    ),
    Mutant(
        "who finds a key promised to another is told created",
        Area.STORE,
        CONDITIONAL_PUT,
        "        result = PutResult.ALREADY_EXISTS\n        if not turn.taken:\n",
        "        result = PutResult.CREATED\n        if not turn.taken:\n",
        "T1's put of version 6 waits for its turn; T2's, behind it, finds the key promised, and is "
        "told that it created it: T2's rows are nowhere.",
    ),
    Mutant(
        "a second item of a version takes the first one's place",
        Area.STORE,
        TABLE,
        "        if self.item(item.version, now_ms) is not None:\n            return False\n",
        "        if self.item(item.version, now_ms) is not None and item.version % 2:\n"
        "            return False\n",
        "T1 has put the item of version 6 and copies it. T2 puts its own item for version 6 over "
        "it: both were told that they have committed.",
    ),
    Mutant(
        "an item that is under way is taken for complete",
        Area.STORE,
        DYNAMO,
        "        if item is not None and not item.complete:\n",
        "        if item is not None and item.complete:\n",
        "T1 put the item of version 6 and died. T2, who lists, does not finish it: the version is "
        "taken and not in the log, so that everybody reads version 5 and nobody can commit.",
    ),
    Mutant(
        "the copy of a commit is left out",
        Area.STORE,
        DYNAMO,
        "            self.store.publish(item.version, item.body, moment[0])\n",
        "",
        "T1's item says that version 6 is complete, and there is no file of it: readers see a log "
        "that ends at 5.",
    ),
    Mutant(
        "a catalog ratifies twice",
        Area.STORE,
        OBJECTS,
        "        result = self.put_object(request, now_ms)\n"
        "        if result is PutResult.CREATED:\n"
        "            self.unpublished.append(version)\n",
        "        result = self.put_object(Put(request.key, request.body), now_ms)\n"
        "        if result is PutResult.CREATED:\n            self.unpublished.append(version)\n",
        "T1 and T2 both ask to ratify version 6, and both are told yes: T1's commit is lost.",
    ),
    Mutant(
        "a rename overwrites",
        Area.STORE,
        RENAME,
        "            return answered(self.store.put_commit(request, version, moment[0], "
        "transaction_id))\n",
        "            self.store.objects.pop(request.key, None)\n"
        "            return answered(self.store.put_commit(request, version, moment[0], "
        "transaction_id))\n",
        "T1 and T2 see that version 6 is absent and rename onto it: the second rename takes the "
        "first one's place.",
    ),
    Mutant(
        "a refusal for too many requests is taken for the answer",
        Area.CLIENT,
        EXCHANGE,
        "            if answer is THROTTLED:\n"
        "                yield from self._back_off(sending, throttled)\n",
        "            if answer is THROTTLED and ask.attempt is not None:\n"
        "                return Reply(PutResult.CREATED, result=PutResult.CREATED.value)\n"
        "            if answer is THROTTLED:\n"
        "                yield from self._back_off(sending, throttled)\n",
        "T1's put of version 6 is answered 503 and taken for done: its rows are nowhere.",
    ),
    Mutant(
        "a put without a reply counts as done",
        Area.CLIENT,
        EXCHANGE,
        'NO_REPLY = Reply(PutResult.UNKNOWN, result="unknown")\n',
        'NO_REPLY = Reply(PutResult.CREATED, result="unknown")\n',
        "T1's put of version 6 is late and gets no reply; T2 takes version 6. T1 was told that it "
        "has committed.",
    ),
    Mutant(
        "a put without a reply counts as a lost race",
        Area.CLIENT,
        EXCHANGE,
        'NO_REPLY = Reply(PutResult.UNKNOWN, result="unknown")\n',
        'NO_REPLY = Reply(PutResult.ALREADY_EXISTS, result="unknown")\n',
        "T1's INSERT became version 6 without a reply, is taken for beaten, and becomes version 7 "
        "too.",
    ),
    Mutant(
        "a put whose reply is lost is sent again without a look",
        Area.CLIENT,
        EXCHANGE,
        "            elif answer is not NO_REPLY or ask.kind.writes:\n"
        "                return answer\n",
        "            elif answer is not NO_REPLY:\n                return answer\n",
        "T1's INSERT became version 6 without a reply. Its client sends it again, is told that 6 "
        "is taken, and the engine, which does not know, commits version 7.",
    ),
    Mutant(
        "a crashed writer's job begins again as if nothing had happened",
        Area.CLIENT,
        RERUN,
        "        if is_unknown and not self.policy.after_unknown:\n",
        "        if is_unknown and self.policy.after_unknown:\n",
        "T1's INSERT became version 6 and its driver died before the reply. The job is run again: "
        "its rows are there twice.",
    ),
    Mutant(
        "a job that succeeded is run again",
        Area.CLIENT,
        WRITER,
        "            if record.outcome == RecordedOutcome.COMMITTED:\n",
        "            if record.outcome == RecordedOutcome.COMMITTED and record.attempts != 2:\n",
        "T1's INSERT commits version 7 in its second attempt. Its application takes that for a "
        "failure and runs it again: twice the rows.",
    ),
    Mutant(
        "a stream goes on with new rows after a failure",
        Area.CLIENT,
        BATCHES,
        "        if batch_id not in self._open:\n"
        "            self._open[batch_id] = self.make_work(batch_id, now_ms)\n",
        "        self._open[batch_id] = self.make_work(int(now_ms), now_ms)\n",
        "Batch 3 became version 6 without a reply. The rerun makes batch 3 of the rows that have "
        "come by now, is told that the table has batch 3, and goes on: those rows are nowhere.",
    ),
    Mutant(
        "a store keeps the bytes of another version",
        Area.STORE,
        OBJECTS,
        LANDED,
        LANDED.replace(
            "        return PutResult.CREATED\n",
            "        if version % 10 == 9:\n"
            "            self.objects[request.key] = self.objects[log_key(version - 1)]\n"
            "        return PutResult.CREATED\n",
        ),
        "The store acknowledges version 9 and keeps version 8's bytes for it: T1's rows are "
        "nowhere, T2's are counted twice.",
    ),
    Mutant(
        "an acknowledged data file is not kept",
        Area.STORE,
        OBJECTS,
        "        self.data_files.add(file.key, StoredDataFile(file, now_ms))\n",
        "        if len(self.data_files) % 10 != 9:\n"
        "            self.data_files.add(file.key, StoredDataFile(file, now_ms))\n",
        "T1 writes file a and commits version 6, which names it. The store has no a.",
    ),
)
