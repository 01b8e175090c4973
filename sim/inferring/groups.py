"""Which commits are of one kind of writer: by operation, who made them, and what they ask for."""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Callable, Collection, Mapping, Sequence
from enum import Enum

from msgspec import Struct
from msgspec.structs import replace

from whitecap.engine.dialects import product_of
from whitecap.sim.inferring.evidence.figures import many
from whitecap.sim.inferring.log.conditions import condition_of, template_of
from whitecap.sim.inferring.log.observed import ObservedCommit

MOST_GROUPS = 12
"""Groups at most: nobody reads more. Finer distinctions are given up first."""

FEWEST = 3
"""Commits of a group: of fewer no rate is told, unless there is nothing else."""


MOSTLY = 0.9
"""The share of commits that groups must have for the distinctions between them to be kept."""


FOLLOWS = 0.8
"""The share of commits between which one comes just before the other for both to be one job."""


class WriterKind(Enum):
    """What a writer does; its value begins the name of its group."""

    INSERT = "insert"
    OVERWRITE = "overwrite"
    STREAM = "stream"
    UPDATE = "update"
    DELETE = "delete"
    MERGE = "merge"
    OPTIMIZE = "optimize"
    REORG = "reorg"
    REPLACE = "replace"
    ALTER = "alter"


_APPENDS = frozenset({"WRITE", "COPY INTO"})
_OPTIONS = ("zOrderBy", "auto", "isFull", "isDynamicPartitionOverwrite")
"""What tells jobs of one operation apart, besides their conditions."""

_MANUAL = "Manual Update"
"""What applications write that use Delta's libraries without an engine, unless they name another.
Source: Delta Kernel's Operation.java, Delta Standalone's Operation.java."""

_KINDS = {
    "STREAMING UPDATE": WriterKind.STREAM,
    "UPDATE": WriterKind.UPDATE,
    "DELETE": WriterKind.DELETE,
    "MERGE": WriterKind.MERGE,
    "OPTIMIZE": WriterKind.OPTIMIZE,
    "REORG": WriterKind.REORG,
    "CREATE OR REPLACE TABLE AS SELECT": WriterKind.REPLACE,
    "REPLACE TABLE AS SELECT": WriterKind.REPLACE,
}


def kind_of(commit: ObservedCommit) -> WriterKind | None:
    """What made a commit; `None` for what is not drafted, or created the table."""
    if commit.sets_up:
        return None
    if commit.operation in _APPENDS:
        mode = commit.parameters.get("mode", "Append").lower()
        return WriterKind.OVERWRITE if mode == "overwrite" else WriterKind.INSERT
    if commit.operation == _MANUAL and commit.added and not commit.removed:
        return WriterKind.INSERT
    if kind := _KINDS.get(commit.operation):
        return kind
    is_alone = commit.changes_metadata and not commit.added and not commit.removed
    return WriterKind.ALTER if is_alone else None


def reads_its_table(commit: ObservedCommit) -> bool:
    """Whether it is an append that read the table, such as INSERT of what is not there yet.

    Asked of WRITE in the mode Append alone: what else adds files says by its operation whether it
    reads, or is made by applications whose word for it means other things. Source: Delta's
    OptimisticTransaction, `isBlindAppend = onlyAddFiles && !dependsOnFiles`.
    """
    is_append = commit.operation == "WRITE" and kind_of(commit) is WriterKind.INSERT
    return is_append and commit.is_blind is False


class CommitGroup(Struct, frozen=True):
    """Commits of one kind of writer, in the order of their versions.

    `steps` are the changes of metadata, by their operations, that come after each of them.
    """

    name: str
    kind: WriterKind
    commits: Sequence[ObservedCommit]
    steps: tuple[str, ...] = ()

    @property
    def what(self) -> str:
        """How many commits of which operation it has."""
        of_whom = ", auto compaction" if _is_automatic(self.commits[0]) else ""
        operations = " and ".join(sorted({commit.operation for commit in self.commits}))
        return f"{many(len(self.commits), 'commit')} of {operations}{of_whom}"

    @property
    def reads_what_it_appends_to(self) -> bool:
        """Whether its commits are appends that read the table; groups are not mixed of both."""
        return reads_its_table(self.commits[0])

    @property
    def excludes_itself(self) -> bool:
        """Whether of two of its jobs at one time one may be refused, so that a log shows none."""
        is_blind = self.kind in (WriterKind.INSERT, WriterKind.STREAM)
        return not is_blind or self.reads_what_it_appends_to

    @property
    def leaves_partitions(self) -> bool:
        """Whether it overwrites only the partitions that it writes, without naming them."""
        if self.kind is not WriterKind.OVERWRITE or any(map(condition_of, self.commits)):
            return False
        return any(each.leaves_others or _is_dynamic(each) for each in self.commits)

    @property
    def who(self) -> str:
        """Who made its commits, in the words of the log; empty where it says nothing."""
        origins = {each.origin for each in self.commits}
        said = []
        for field in ("job", "notebook", "user", "cluster"):
            names = sorted({str(v) for o in origins if (v := getattr(o, field)) is not None})
            if names:
                more = f" and {len(names) - 1} more" if len(names) > 1 else ""
                said.append(f"{field} {names[0]}{more}")
        return ", ".join(said)


class Grouped(Struct, frozen=True):
    """The groups, and how many commits of which operations are in none."""

    groups: Sequence[CommitGroup]
    left_out: Counter[str]


Key = tuple[str, ...]
KeyOf = Callable[[ObservedCommit], Key]


def grouped(
    commits: Sequence[ObservedCommit], columns: Collection[str], anonymous: bool
) -> Grouped:
    """Sort commits into groups, by as much as leaves few of them."""
    kinds = {commit.version: kind_of(commit) for commit in commits}
    drafted = [commit for commit in commits if kinds[commit.version] is not None]
    left_out = Counter(each.operation for each in commits if kinds[each.version] is None)
    by_key = _few_groups(drafted, kinds, columns)
    enough = {key: group for key, group in by_key.items() if len(group) >= FEWEST} or by_key
    largest = sorted(enough, key=lambda key: -len(enough[key]))[:MOST_GROUPS]
    for key, group in by_key.items():
        if key not in largest:
            left_out.update(commit.operation for commit in group)
    chosen = [enough[key] for key in largest]
    names = _names(chosen, kinds, anonymous)
    groups = [
        CommitGroup(name, kind, group)
        for name, group in zip(names, chosen, strict=True)
        if (kind := kinds[group[0].version]) is not None
    ]
    return Grouped(_with_steps(groups), left_out)


def _with_steps(groups: Sequence[CommitGroup]) -> list[CommitGroup]:
    """A change of metadata that follows nearly each commit of a group, and hardly another, is a
    step of its job and no writer.
    """
    group_of = {commit.version: group for group in groups for commit in group.commits}
    steps: dict[str, list[str]] = defaultdict(list)
    writers = []
    for group in groups:
        name = _whose_step(group, group_of) if group.kind is WriterKind.ALTER else None
        if name is None:
            writers.append(group)
        else:
            steps[name].append(group.commits[0].operation)
    return [replace(group, steps=tuple(steps[group.name])) for group in writers]


def _whose_step(group: CommitGroup, group_of: Mapping[int, CommitGroup]) -> str | None:
    """The group after whose commits this one's come."""
    before: Counter[str] = Counter()
    commits: dict[str, int] = {}
    for commit in group.commits:
        version = commit.version - 1
        while (job := group_of.get(version)) is not None and job.kind is WriterKind.ALTER:
            version -= 1
        if job is not None and job.kind is not WriterKind.STREAM:
            before[job.name] += 1
            commits[job.name] = len(job.commits)
    for name, count in before.most_common(1):
        if count >= FOLLOWS * max(len(group.commits), commits[name]):
            return name
    return None


def _few_groups(
    commits: Sequence[ObservedCommit], kinds: dict[int, WriterKind | None], columns: Collection[str]
) -> dict[Key, list[ObservedCommit]]:
    def kind(commit: ObservedCommit) -> Key:
        reading = "reads" if reads_its_table(commit) else ""
        engine = str(_engine(commit))
        return (str(kinds[commit.version]), reading, commit.application or "", engine)

    def who(commit: ObservedCommit) -> Key:
        return (*kind(commit), commit.origin.work or commit.origin.user or "")

    def what(commit: ObservedCommit) -> Key:
        options = (commit.parameters.get(name, "") for name in _OPTIONS)
        condition = template_of(condition_of(commit), columns)
        return (*who(commit), commit.operation, condition, *options)

    keys: tuple[KeyOf, ...] = (what, who, kind)
    for key_of in keys:
        groups: dict[Key, list[ObservedCommit]] = defaultdict(list)
        for commit in commits:
            groups[key_of(commit)].append(commit)
        sizes = sorted((len(each) for each in groups.values() if len(each) >= FEWEST), reverse=True)
        if sum(sizes[:MOST_GROUPS]) >= MOSTLY * len(commits):
            break
    return groups


def _is_automatic(commit: ObservedCommit) -> bool:
    """Whether a writer compacted after a commit of its own, unasked."""
    return commit.parameters.get("auto") == "true"


def _is_dynamic(commit: ObservedCommit) -> bool:
    return commit.parameters.get("isDynamicPartitionOverwrite") == "true"


def _engine(commit: ObservedCommit) -> str | None:
    product = product_of(commit.origin.engine)
    return None if product is None else product.vendor.value


def _names(
    groups: Sequence[Sequence[ObservedCommit]], kinds: dict[int, WriterKind | None], anonymous: bool
) -> list[str]:
    """A name for each: its kind, whose it is, and a number where that is not enough."""
    names: list[str] = []
    for group in groups:
        kind = kinds[group[0].version]
        assert kind is not None
        job = "" if anonymous else _slug(group[0].origin.work)
        stem = "-".join(filter(None, (kind.value, "auto" if _is_automatic(group[0]) else "", job)))
        number = 2
        name = stem
        while name in names:
            name, number = f"{stem}-{number}", number + 1
        names.append(name)
    return names


def _slug(text: str) -> str:
    return re.sub(r"[^a-z0-9]+", "-", text.lower()).strip("-")[:30]
