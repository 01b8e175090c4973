"""The explanation of a race: what happens in each order, why, and what would avoid it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from datetime import UTC, datetime

from msgspec import Struct

from whitecap.engine.dialects import Dialect, Vendor
from whitecap.engine.errors import DeltaError, InvalidInput, Problem
from whitecap.engine.log import properties
from whitecap.engine.log.clustering import clustering_columns
from whitecap.engine.log.snapshot import Snapshot
from whitecap.engine.races.explain.case import RaceCase, conflicts_in, play
from whitecap.engine.races.explain.checks import check_statements
from whitecap.engine.races.explain.conflicts import Conflict, conflicts
from whitecap.engine.races.explain.damage import RowDamage, damages
from whitecap.engine.races.explain.orders import Order, Refusal, idle, order_of, refusals
from whitecap.engine.races.explain.suggestions import Suggestion, suggestions
from whitecap.engine.races.explain.tables import last_writer, snapshot_of
from whitecap.engine.races.interleaving.world import World
from whitecap.engine.sql.functions.times import asks_time
from whitecap.engine.transaction.commit_level import table_level


class Explanation(Struct, frozen=True):
    """All there is to say about two statements on one table."""

    dialect: str
    table: str
    facts: str
    statements: tuple[str, str]
    orders: tuple[Order, ...]
    conflicts: tuple[Conflict, ...]
    refusals: tuple[Refusal, ...]
    idle: tuple[str, ...]
    """The statements that have nothing to commit on this table."""
    suggestions: tuple[Suggestion, ...]
    tried: tuple[str, ...]
    """Changes that did not help."""
    untried: str = ""
    """What was not tried, and why."""
    damage: tuple[RowDamage, ...] = ()
    """Orders that end well, and leave rows that no order one after the other leaves."""

    @property
    def can_conflict(self) -> bool:
        """Whether any order of the two ends in a conflict."""
        return bool(self.conflicts)


def explain(case: RaceCase, world: World | None = None, untried: str = "") -> Explanation:
    """Race the two statements and explain.

    `world` holds the tables where `case` does not make them; `untried` says which changes cannot
    be tried, and why. Raises `InvalidInput` for statements that cannot be run.
    """
    return explained(case, tables_for(case, world), untried)


def explained(case: RaceCase, world: World, untried: str = "") -> Explanation:
    """As `explain`, on tables on which the statements are known to run (`tables_for`)."""
    played = play(world, case.statements)
    before = snapshot_of(world, case.target)
    helps, tried = suggestions(case) if conflicts_in(played) else ((), ())
    return Explanation(
        dialect=case.dialect.name,
        table=case.target,
        facts=_facts(case, before, last_writer(world, case.target)),
        statements=case.statements,
        orders=tuple(order_of(schedule, case.target) for schedule in played),
        conflicts=tuple(conflicts(played, case.statements, before)),
        refusals=tuple(refusals(played)),
        idle=idle(played),
        suggestions=helps,
        tried=tried,
        untried=untried,
        damage=tuple(damages(played, case.dialect, case.target)),
    )


def tables_for(case: RaceCase, world: World | None = None) -> World:
    """The tables of a case. Raises `InvalidInput` for statements that cannot be run on them."""
    made = world or _made(case)
    check_statements(made, case.target, case.statements)
    return made


def _made(case: RaceCase) -> World:
    """Raises `InvalidInput` for a table that Delta refuses to make."""
    try:
        return case.world()
    except DeltaError as error:
        text = f"Delta refuses to make it: {error.message}"
        raise InvalidInput([Problem(f"table {case.target}", text)]) from error


def _facts(case: RaceCase, snapshot: Snapshot, writer: str) -> str:
    metadata = snapshot.metadata
    assert metadata is not None
    level = table_level(metadata, case.dialect.default_isolation)
    return ", ".join(
        (
            _layout(snapshot),
            *_features(metadata.configuration),
            level.value,
            f"{snapshot.num_files} file{'' if snapshot.num_files == 1 else 's'}",
            *_other_platform(writer, case.dialect),
            *_time(case),
        )
    )


def _time(case: RaceCase) -> Iterator[str]:
    """What statements take for the time, where one asks for it."""
    if any(map(asks_time, case.statements)):
        yield f"at {datetime.fromtimestamp(case.begins_ms / 1000, UTC):%Y-%m-%d %H:%M:%S} UTC"


def _other_platform(writer: str, dialect: Dialect) -> Iterator[str]:
    """A word of caution where a table of Databricks is told by Delta's rules, or the reverse."""
    by_databricks = "databricks" in writer.lower()
    if writer and by_databricks is not (dialect.vendor is Vendor.DATABRICKS):
        yield f"last written by {writer} (another dialect may be meant)"


def _layout(snapshot: Snapshot) -> str:
    if snapshot.partition_columns:
        return f"partitioned by {', '.join(snapshot.partition_columns)}"
    clustered = clustering_columns(snapshot)
    return f"clustered by {', '.join(clustered)}" if clustered else "unpartitioned"


def _features(configuration: Mapping[str, str]) -> Iterator[str]:
    vectors = properties.DELETION_VECTORS.of(configuration)
    yield "deletion vectors" if vectors else "no deletion vectors"
    if properties.ROW_TRACKING.of(configuration):
        yield "row tracking"
    if properties.CHANGE_DATA_FEED.of(configuration):
        yield "change data feed"
