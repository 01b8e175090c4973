"""What must agree between the parts of a scenario, beyond each part being well formed.

Columns named anywhere exist, parameters and placeholders match, writers that faults and
expectations name are there. Works on those parts that are well formed, so that all problems of a
file are told together.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, Self, TypeVar

from pydantic import BaseModel, ValidationError

from whitecap.engine.dialects import DELTA_OSS_4_4, DIALECTS, Dialect
from whitecap.engine.errors import Problem, UnsupportedFeature, nearest, unknown_name
from whitecap.engine.recorded import OF_A_PRICE
from whitecap.engine.settings import Settings
from whitecap.sim.loading.fault_checks import fault_problems
from whitecap.sim.loading.statements import (
    function_problems,
    statement_problems,
    streaming_problems,
    target_of,
)
from whitecap.sim.loading.tables import (
    TOO_DEEP,
    GivenTable,
    given_tables,
    table_named,
    well_formed,
)
from whitecap.sim.rehearsal.platform import Platform
from whitecap.sim.scenario.commit_protocol import CommitProtocol
from whitecap.sim.scenario.expect import Expectation
from whitecap.sim.scenario.faults import Fault
from whitecap.sim.scenario.objective import StatedObjective, listed, vain_objectives
from whitecap.sim.scenario.parameters import Parameter
from whitecap.sim.scenario.store import StoreSection
from whitecap.sim.scenario.sweep import SweepSection
from whitecap.sim.scenario.table import property_text
from whitecap.sim.scenario.vain import vain, vain_among
from whitecap.sim.scenario.writers import JobPart, WriterGroup, tells_statements_apart
from whitecap.sim.scenario.yaml_text import KeyPath, PlacedProblem, YamlText, within

M = TypeVar("M", bound=BaseModel)


@dataclass(frozen=True)
class Parts:
    """The well formed parts of a scenario."""

    tables: list[GivenTable]
    writer_names: list[str]
    writers: dict[str, WriterGroup] = field(default_factory=dict)
    faults: dict[int, Fault] = field(default_factory=dict)
    expectations: dict[int, Expectation] = field(default_factory=dict)
    objectives: dict[int, StatedObjective] = field(default_factory=dict)
    settings: dict[str, str] = field(default_factory=dict)
    dialect: Dialect = DELTA_OSS_4_4
    axes: dict[str, list[str]] = field(default_factory=dict)
    has_sweep: bool = False
    clusters: tuple[str, ...] = ()
    store: StoreSection | None = None
    is_priced: bool = False

    @classmethod
    def of(cls, document: dict[str, Any]) -> Self:
        """Pick what is well formed."""
        writers = document.get("writers")
        named = writers if isinstance(writers, dict) else {}
        groups = {str(name): well_formed(WriterGroup, given) for name, given in named.items()}
        settings, clusters = document.get("settings"), document.get("clusters")
        return cls(
            given_tables(document),
            [str(name) for name in named],
            {name: group for name, group in groups.items() if group is not None},
            _well_formed_items(Fault, document.get("faults")),
            _well_formed_items(Expectation, document.get("expect")),
            _well_formed_items(StatedObjective, listed(document.get("objective"))),
            _settings(settings if isinstance(settings, dict) else {}),
            DIALECTS.get(str(document.get("dialect")), DELTA_OSS_4_4),
            _axes(document.get("sweep")),
            document.get("sweep") is not None,
            tuple(map(str, clusters)) if isinstance(clusters, dict) else (),
            well_formed(StoreSection, document.get("store")),
            document.get("price") is not None,
        )


def disagreements(parts: Parts, text: YamlText) -> list[Problem]:
    """Every way in which the parts do not fit together."""
    problems = [
        *_of_settings(parts),
        *(wrong for each in parts.tables for wrong in each.problems(parts.dialect)),
        *_of_writers(parts),
        *_of_names(parts),
        *_of_expectations(parts),
        *vain_objectives(parts.objectives, parts.writer_names),
        *_of_costs(parts),
    ]
    return text.problems(problems)


def _of_costs(parts: Parts) -> Iterator[PlacedProblem]:
    """Costs are asked for, and no price is there."""
    asked = {("objective", at): each.measure for at, each in parts.objectives.items()}
    asked |= {("expect", at): each.measure for at, each in parts.expectations.items()}
    for place, measure in asked.items():
        if measure in OF_A_PRICE and not parts.is_priced:
            yield place, f"{measure} needs a price: write `price: {{per_slot_hour: 0.5}}`", None


def _of_settings(parts: Parts) -> Iterator[PlacedProblem]:
    for key, value in parts.settings.items():
        try:
            parts.dialect.settings_of({key: value})
        except UnsupportedFeature as error:
            yield ("settings", key), str(error), None


def _of_writers(parts: Parts) -> Iterator[PlacedProblem]:
    if not parts.tables:
        return
    for name, group in parts.writers.items():
        problems = _of_stream(group, parts) if group.streaming else _of_statements(group, parts)
        yield from within(("writers", name), problems)
    yield from _of_checkpoints(parts)
    yield from _written_by_nobody(parts)


def _platform(group: WriterGroup, parts: Parts) -> Platform:
    """By which dialect, with which settings, the statements of a group are tried."""
    own = DIALECTS[group.dialect] if group.dialect else None
    settings = own.settings_known(parts.settings) if own else parts.settings
    return Platform(own or parts.dialect, _sound(settings), parts.dialect)


def _of_statements(group: WriterGroup, parts: Parts) -> Iterator[PlacedProblem]:
    platform = _platform(group, parts)
    for number, part in enumerate(group.parts):
        place: KeyPath = () if group.statements is None else ("statements", number)
        name = target_of(part)
        target = parts.tables[0] if len(parts.tables) == 1 else None
        if target is None and name is not None:
            target = table_named(parts.tables, name)
        if target is None and name is not None:
            yield (*place, "statement"), *_no_such_table(f"writes {name!r}", name, parts)
        elif target is None:
            target = parts.tables[0]  # the statement cannot be read, which is then told
        if target is not None:
            yield from within(place, _of_part(part, target, parts, platform))
    if group.foreach_batch is not None:
        yield from function_problems(group, platform)


def _of_part(
    part: JobPart, target: GivenTable, parts: Parts, platform: Platform
) -> Iterator[PlacedProblem]:
    if target.schema is None:
        return
    wrong = list(_of_parameters(part.parameters, target))
    yield from wrong
    if wrong or target.broken or _is_wrong(target, parts):
        return
    others = [each.table.name for each in parts.tables if each is not target]
    try:
        yield from statement_problems(part, target.table, others, platform)
    except RecursionError:
        yield ("statement",), TOO_DEEP, None


def _of_stream(group: WriterGroup, parts: Parts) -> Iterator[PlacedProblem]:
    assert group.streaming is not None
    name = group.streaming.table
    if name is None and len(parts.tables) > 1:
        listed = ", ".join(each.table.name for each in parts.tables)
        yield ("streaming",), f"needs the table that it writes: there are {listed}", None
        return
    target = parts.tables[0] if name is None else table_named(parts.tables, name)
    if target is None:
        assert name is not None
        yield ("streaming", "table"), *_no_such_table(f"writes {name!r}", name, parts)
        return
    if target.schema is None:
        return
    wrong = list(_of_parameters(group.parameters, target))
    yield from wrong
    if target.table.key is None:
        yield ("streaming",), f"rows need {target.dotted}.key", None
    if not (wrong or target.broken or _is_wrong(target, parts)):
        yield from streaming_problems(group, target.table, _platform(group, parts))


def _no_such_table(said: str, name: str, parts: Parts) -> tuple[str, str | None]:
    names = [each.table.name for each in parts.tables]
    return f"{said}, which is none of the tables {', '.join(names)}", nearest(name, names)


def _of_checkpoints(parts: Parts) -> Iterator[PlacedProblem]:
    """A checkpoint is of one query, which appends to one table or has one function."""
    queries: dict[str, tuple[str, WriterGroup]] = {}
    for name, group in parts.writers.items():
        query = group.streaming or group.foreach_batch
        if query is None:
            continue
        first, same = queries.setdefault(query.checkpoint, (name, group))
        if group.streaming is not None and same.streaming is not None:
            if group.streaming.table != same.streaming.table:
                table = same.streaming.table
                said = f"checkpoint {query.checkpoint!r} is of a query that writes {table!r}"
                yield ("writers", name, "streaming", "table"), said, table
        elif (group.streaming, group.parts) != (same.streaming, same.parts):
            key = "foreach_batch" if group.streaming is None else "streaming"
            said = f"checkpoint {query.checkpoint!r} is of another query, that of {first!r}"
            yield ("writers", name, key, "checkpoint"), said, None


def _written_by_nobody(parts: Parts) -> Iterator[PlacedProblem]:
    """Tables among several that no writer names, where all writers are well formed."""
    if len(parts.tables) < 2 or parts.writers.keys() != set(parts.writer_names):
        return
    groups = parts.writers.values()
    named = [target_of(part) for group in groups for part in group.parts]
    named += [group.streaming.table for group in groups if group.streaming]
    if None in named:
        return
    targets = {name.lower() for name in named if name}
    for each in parts.tables:
        if each.table.name.lower() not in targets:
            yield each.place, "no writer writes it", None


def _is_wrong(target: GivenTable, parts: Parts) -> bool:
    return any(True for _ in target.problems(parts.dialect))


def _sound(settings: dict[str, str]) -> Settings:
    """The settings, or Delta's defaults where they are wrong (which is told elsewhere)."""
    try:
        return Settings.from_conf(settings)
    except UnsupportedFeature:
        return Settings()


def _of_parameters(
    parameters: Mapping[str, Parameter], target: GivenTable
) -> Iterator[PlacedProblem]:
    if target.broken & {"values", "key"}:
        return
    for name, parameter in parameters.items():
        yield from within(("parameters", name), _of_parameter(name, parameter, target))


def _of_parameter(name: str, parameter: Parameter, target: GivenTable) -> Iterator[PlacedProblem]:
    table, column = target.table, parameter.column or name
    if parameter.of_domain and column not in table.values:
        said = f"{target.dotted}.values lists no values of {column!r}"
        yield (), said, nearest(column, table.values)
    if parameter.column is not None and not parameter.of_domain:
        yield ("column",), "is not used by this kind of parameter", None
    if (parameter.keys or parameter.rows) and table.key is None:
        yield (), f"keys and rows need {target.dotted}.key", None


def _of_names(parts: Parts) -> Iterator[PlacedProblem]:
    named = [group.cluster for group in parts.writers.values() if group.cluster is not None]
    for cluster in parts.clusters:
        if cluster not in named and parts.writers.keys() == set(parts.writer_names):
            said = "no writer runs on it: name it as the cluster of a writer"
            yield ("clusters", cluster), said, nearest(cluster, named)
    if parts.writers.keys() == set(parts.writer_names):
        for position, fault in parts.faults.items():
            problems = fault_problems(fault, parts.writers, parts.store)
            yield from within(("faults", position), problems)
    yield from _of_log_stores(parts)
    for position, expectation in parts.expectations.items():
        if expectation.writer is not None:
            place = ("expect", position, "writer")
            yield from _unknown_writer(place, expectation.writer, parts)
        for axis, variant in expectation.when.items():
            yield from _unknown_variant(("expect", position, "when", axis), axis, variant, parts)


def _of_log_stores(parts: Parts) -> Iterator[PlacedProblem]:
    for name, group in parts.writers.items():
        if group.log_store is None or parts.store is None:
            continue
        place = ("writers", name, "log_store")
        protocols = {group.log_store.protocol, parts.store.log_store.protocol}
        if CommitProtocol.CATALOG in protocols:
            yield place, "a catalog-managed table is written by nothing but its catalog", None
            continue
        try:
            parts.store.with_log_store(group.log_store)
        except ValidationError as error:
            said = "; ".join(str(each.get("ctx", {}).get("error", "")) for each in error.errors())
            yield place, f"does not fit {parts.store.profile}: {said}", None
        others = [g.log_store for g in parts.writers.values() if g.cluster == group.cluster]
        if group.cluster is not None and any(other != group.log_store for other in others):
            yield place, f"cluster {group.cluster!r} has one driver, and one log_store", None


def _of_expectations(parts: Parts) -> Iterator[PlacedProblem]:
    for position, expectation in parts.expectations.items():
        yield from within(("expect", position), vain(expectation))
    if not parts.has_sweep:
        yield from commands_nobody_runs(parts.expectations, parts)


def commands_nobody_runs(
    expectations: Mapping[int, Expectation], parts: Parts
) -> Iterator[PlacedProblem]:
    """Expectations, by their position, of a command that these writers do not run."""
    with_tables = tells_statements_apart(parts.writers.values(), len(parts.tables))
    for position, expectation in expectations.items():
        if expectation.writer is None or expectation.writer in parts.writers:
            problems = vain_among(expectation, parts.writers, with_tables=with_tables)
            yield from within(("expect", position), problems)


def _unknown_variant(
    place: KeyPath, axis: str, variant: str, parts: Parts
) -> Iterator[PlacedProblem]:
    variants = parts.axes.get(axis)
    if variants is None:
        yield place, f"the sweep has no axis {axis!r}", nearest(axis, parts.axes)
    elif variant not in variants:
        yield place, f"axis {axis!r} has no variant {variant!r}", nearest(variant, variants)


def _unknown_writer(place: KeyPath, name: str, parts: Parts) -> Iterator[PlacedProblem]:
    if name not in parts.writer_names:
        yield place, *unknown_name("writer", name, parts.writer_names)


def _well_formed_items(model: type[M], given: Any) -> dict[int, M]:
    items = given if isinstance(given, list) else []
    parsed = {position: well_formed(model, item) for position, item in enumerate(items)}
    return {position: item for position, item in parsed.items() if item is not None}


def _axes(given: Any) -> dict[str, list[str]]:
    sweep = well_formed(SweepSection, given)
    return {} if sweep is None else {axis: list(named) for axis, named in sweep.axes.items()}


def _settings(given: dict[str, Any]) -> dict[str, str]:
    shown = {str(key): property_text(value) for key, value in given.items()}
    return {key: value for key, value in shown.items() if isinstance(value, str)}
