"""Where the numbers are from: what every figure and page carries, read from the manifests."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from typing import Any

from msgspec import Struct
from msgspec.structs import asdict

from whitecap.engine.recorded import COMPACTED_IN_NO_TIME
from whitecap.reports.measures import duration
from whitecap.reports.runs import RunSet
from whitecap.reports.words import counted


class StoreOrigin(Struct, frozen=True):
    """On what the figures of one store rest: `assumptions` by the names of figures in `store`."""

    profile: str
    assumptions: Mapping[str, str]
    set_by_scenario: tuple[str, ...]

    @property
    def sentences(self) -> list[str]:
        """Which figures take something for granted, and which the scenario says otherwise."""
        name = f"store {self.profile}"
        assumed, given = ", ".join(self.assumptions), ", ".join(self.set_by_scenario)
        return [
            *([f"{name} rests on assumptions: {assumed}"] if assumed else []),
            *([f"{name}, set by the scenario: {given}"] if given else []),
        ]

    def rows(self) -> list[tuple[str, str]]:
        """The same as rows of a table, each assumption with what it is."""
        return [
            ("store", self.profile),
            *(
                [("set by the scenario", ", ".join(self.set_by_scenario))]
                * bool(self.set_by_scenario)
            ),
            *((f"{name} assumes", text) for name, text in self.assumptions.items()),
        ]


class TableOrigin(Struct, frozen=True):
    """The real table whose files a simulated one began with, and what was left out of it."""

    name: str
    place: str
    version: int
    files: int
    rows_each: int
    left_out: tuple[str, ...]

    @property
    def sentences(self) -> list[str]:
        """What it is, and what of it plays no part."""
        stands = f", a row for {self.rows_each:,} of theirs" if self.rows_each > 1 else ""
        begins = f"begins with the {self.files:,} files of {self.place} at version {self.version}"
        without = f"table {self.name} leaves out: {'; '.join(self.left_out)}"
        return [f"table {self.name} {begins}{stands}", *([without] if self.left_out else [])]


class Provenance(Struct, frozen=True):
    """Everything needed to make the same numbers again."""

    scenario_name: str
    scenario_hash: str
    seed: int
    replications: int
    code_version: str
    dialect: str
    finished: int
    planned: int
    interrupted: str = ""
    stores: tuple[StoreOrigin, ...] = ()
    tables: tuple[TableOrigin, ...] = ()
    compactions: tuple[str, ...] = ()

    @property
    def line(self) -> str:
        """All of it on one line, for the foot of a figure."""
        parts = [origin_line(asdict(self), counted(self.replications, "replication"))]
        if self.finished < self.planned:
            parts.append(f"{self.finished} of {self.planned} runs finished")
        if self.interrupted:
            parts.append(f"interrupted after {self.interrupted}")
        return " · ".join(parts)

    def rows(self) -> list[tuple[str, str]]:
        """All of it as a table."""
        return [
            ("scenario", self.scenario_name),
            ("scenario hash", self.scenario_hash),
            ("seed", str(self.seed)),
            ("replications", str(self.replications)),
            ("code version", self.code_version),
            ("engine dialect", self.dialect),
            ("runs", f"{self.finished} of {self.planned} finished"),
            *([("interrupted after", self.interrupted)] if self.interrupted else []),
            *(row for store in self.stores for row in store.rows()),
            *(("table", sentence) for table in self.tables for sentence in table.sentences),
            *(("auto compaction", sentence) for sentence in self.compactions),
        ]


def origin_line(made: Mapping[str, Any], *details: str) -> str:
    """What some numbers were made of, on one line; `details` follow the seed.

    `made` is a manifest, or has these of its keys.
    """
    parts = (
        made["scenario_name"], f"scenario {made['scenario_hash'][:12]}", f"seed {made['seed']}",
        *details, made["dialect"], f"whitecap {made['code_version']}",
    )  # fmt: skip
    return " · ".join(map(str, parts))


def provenance_of(runs: RunSet) -> Provenance:
    """The provenance of a sweep (its definition's hash and seed) or of one run."""
    manifests = [run.manifest for run in runs.runs]
    source = runs.definition or manifests[0]
    return Provenance(
        scenario_name=str(source["scenario_name"]),
        scenario_hash=str(source["scenario_hash"]),
        seed=int(source["seed"]),
        replications=len({run.replication for run in runs.runs}),
        code_version=_all(manifest["code_version"] for manifest in manifests),
        dialect=_all(manifest.get("dialect", "unknown") for manifest in manifests),
        finished=len(runs.runs),
        planned=runs.planned,
        interrupted=next(filter(None, map(_interrupted, manifests)), ""),
        stores=stores_of(manifests),
        tables=tables_of(manifests),
        compactions=tuple(compaction_sentences(manifests)),
    )


def stores_of(manifests: Iterable[Mapping[str, Any]]) -> tuple[StoreOrigin, ...]:
    """The stores of some runs, by name, each with all that rests on an assumption in any of them.

    Recordings made before manifests said so have none.
    """
    assumptions: dict[str, dict[str, str]] = {}
    given: dict[str, dict[str, None]] = {}
    for store in (manifest["store"] for manifest in manifests if "store" in manifest):
        assumptions.setdefault(store["profile"], {}).update(store["assumptions"])
        given.setdefault(store["profile"], {}).update(dict.fromkeys(store["set_by_scenario"]))
    return tuple(
        StoreOrigin(name, assumptions[name], tuple(given[name])) for name in sorted(assumptions)
    )


def tables_of(manifests: Iterable[Mapping[str, Any]]) -> tuple[TableOrigin, ...]:
    """The real tables that some runs began with, each version of each once."""
    origins = {
        TableOrigin(
            name, real["place"], real["version"], real["files"], real["rows_each"],
            tuple(real["left_out"]),
        )
        for manifest in manifests
        for name, real in manifest.get("real_tables", {}).items()
    }  # fmt: skip
    return tuple(sorted(origins, key=lambda each: (each.name, each.place, each.version)))


def compaction_sentences(manifests: Iterable[Mapping[str, Any]]) -> list[str]:
    """Which auto compactions of some runs took no time, so that they cost nothing."""
    counts: Counter[str] = Counter()
    for manifest in manifests:
        counts.update(manifest.get(COMPACTED_IN_NO_TIME, {}))
    if not counts:
        return []
    whose = ", ".join(f"{count:,} of {group}" for group, count in counts.items())
    return [
        f"auto compaction took no time ({whose}), so it is free and hardly conflicts: it takes "
        "per_file, per_gib and per_million_rows of its writer's compute, and none of them is set"
    ]


def _interrupted(manifest: Mapping[str, Any]) -> str:
    """How much of a run there is, if it was ended early."""
    if not manifest.get("interrupted"):
        return ""
    reached, planned = manifest["duration_ms"], manifest["planned_duration_ms"]
    return f"{duration(reached)} of {duration(planned)}"


def _all(values: Iterable[Any]) -> str:
    return ", ".join(sorted({str(value) for value in values}))
