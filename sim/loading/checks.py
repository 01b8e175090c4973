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

from whitecap.engine.commands.schema.property_checks import checked
from whitecap.engine.dialects import DELTA_OSS_4_4, DIALECTS, Dialect
from whitecap.engine.errors import DeltaError, InvalidInput, Problem, UnsupportedFeature, nearest
from whitecap.engine.isolation import ISOLATION_PROPERTY
from whitecap.engine.log.property_names import is_known, nearest_property
from whitecap.engine.log.schema import Schema, parse_ddl
from whitecap.engine.settings import Settings
from whitecap.sim.loading.statements import statement_problems
from whitecap.sim.quantities.units import shown
from whitecap.sim.rehearsal.platform import Platform
from whitecap.sim.scenario.expect import Expectation
from whitecap.sim.scenario.faults import Fault
from whitecap.sim.scenario.objective import StatedObjective, listed, vain_objectives
from whitecap.sim.scenario.parameters import Parameter
from whitecap.sim.scenario.sweep import Sweep
from whitecap.sim.scenario.table import Scalar, Table, property_text
from whitecap.sim.scenario.vain import vain, vain_among
from whitecap.sim.scenario.writers import WriterGroup
from whitecap.sim.scenario.yaml_text import Place, YamlText

M = TypeVar("M", bound=BaseModel)

KEY_TYPE = "bigint"


@dataclass(frozen=True)
class Parts:
    """The well formed parts of a scenario; `broken` names the fields of a table that are not."""

    table: Table | None
    schema: Schema | None
    broken: frozenset[str]
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

    @classmethod
    def of(cls, document: dict[str, Any]) -> Self:
        """Pick what is well formed."""
        table, broken = _table(document.get("table"))
        writers = document.get("writers")
        named = writers if isinstance(writers, dict) else {}
        groups = {str(name): _well_formed(WriterGroup, given) for name, given in named.items()}
        settings, clusters = document.get("settings"), document.get("clusters")
        return cls(
            table,
            _schema(table),
            broken,
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
        )


def disagreements(parts: Parts, text: YamlText) -> list[Problem]:
    """Every way in which the parts do not fit together."""
    found = [
        *_of_settings(parts),
        *_of_table(parts),
        *_of_writers(parts),
        *_of_names(parts),
        *_of_expectations(parts),
        *vain_objectives(parts.objectives, parts.writer_names),
    ]
    return [Problem(text.where(place), said, hint) for place, said, hint in found]


Finding = tuple[Place, str, str | None]


def _of_settings(parts: Parts) -> Iterator[Finding]:
    for key, value in parts.settings.items():
        try:
            parts.dialect.settings_of({key: value})
        except UnsupportedFeature as error:
            yield ("settings", key), str(error), None


def _of_table(parts: Parts) -> Iterator[Finding]:
    table = parts.table
    if table is None:
        return
    yield from _of_properties(table, parts.dialect)
    if "schema" in parts.broken:
        return
    if parts.schema is None:
        yield from _schema_problems(table)
        return
    for position, column in enumerate(table.partition_by):
        yield from _unknown_column(("table", "partition_by", position), column, parts.schema)
        if column not in table.values and "values" not in parts.broken:
            said = f"partition column {column!r} needs its values listed in table.values"
            yield ("table", "partition_by", position), said, nearest(column, table.values)
    for position, column in enumerate(table.cluster_by):
        yield from _unknown_column(("table", "cluster_by", position), column, parts.schema)
    for column in table.values:
        yield from _unknown_column(("table", "values", column), column, parts.schema)
    yield from _of_domains(table, parts.schema)
    yield from _of_key(table, parts.schema)


def _of_properties(table: Table, dialect: Dialect) -> Iterator[Finding]:
    for key, value in table.properties.items():
        place = ("table", "properties", key)
        if key == ISOLATION_PROPERTY:
            yield place, "is set by table.isolation", None
        elif not is_known(key, dialect.own_properties):
            yield place, "Delta has no such property", nearest_property(key)
        else:
            yield from _of_value(place, key, value, dialect)


def _of_value(place: Place, key: str, value: str, dialect: Dialect) -> Iterator[Finding]:
    """What Delta itself says when SQL gives the property that value."""
    try:
        checked({key: value}, dialect)
    except (DeltaError, UnsupportedFeature) as error:
        yield place, str(error), None


TOO_DEEP = "is nested too deeply"


def _schema_problems(table: Table) -> Iterator[Finding]:
    try:
        parse_ddl(table.columns)
    except RecursionError:
        yield ("table", "schema"), TOO_DEEP, None
    except InvalidInput as error:
        for problem in error.problems:
            yield ("table", "schema"), str(problem), None


def _unknown_column(place: Place, column: str, schema: Schema) -> Iterator[Finding]:
    if column not in schema.names:
        yield place, f"the table has no column {column!r}", nearest(column, schema.names)


PYTHON_TYPES: dict[str, tuple[type, ...]] = {
    "string": (str,),
    "int": (int,),
    "bigint": (int,),
    "double": (int, float),
    "boolean": (bool,),
}
"""Types whose values a scenario can list."""


def _of_domains(table: Table, schema: Schema) -> Iterator[Finding]:
    for name, domain in table.values.items():
        column = schema.get(name)
        place = ("table", "values", name)
        if column is None:
            continue
        if domain.days is not None and column.type != "date":
            yield place, f"days are for DATE columns, {name!r} is {column.type.upper()}", None
        if domain.among is not None:
            yield from _of_listed(place, domain.among, column.type)


def _of_listed(place: Place, values: list[Scalar], kind: str) -> Iterator[Finding]:
    if kind not in PYTHON_TYPES:
        yield place, f"values of type {kind.upper()} cannot be listed", None
        return
    for position, value in enumerate(values):
        if not isinstance(value, PYTHON_TYPES[kind]):
            said = f"{shown(value)} is not a value of type {kind.upper()}"
            yield (*place, "among", position), said, None
    if len(set(values)) < len(values):
        yield place, "a value is listed twice", None


def _of_key(table: Table, schema: Schema) -> Iterator[Finding]:
    if table.key is None:
        return
    yield from _unknown_column(("table", "key"), table.key, schema)
    column = schema.get(table.key)
    if column is not None and column.type != KEY_TYPE:
        yield ("table", "key"), f"must be a BIGINT column, {table.key!r} is {column.type}", None
    if table.key in table.values:
        yield ("table", "key"), f"{table.key!r} cannot also have listed values", None


def _of_writers(parts: Parts) -> Iterator[Finding]:
    for name, group in parts.writers.items():
        if parts.table is None or parts.schema is None:
            continue
        wrong = list(_of_parameters(name, group, parts))
        yield from wrong
        if group.streaming is not None and parts.table.key is None:
            yield ("writers", name, "streaming"), "rows need table.key", None
        if not (wrong or parts.broken or _table_is_wrong(parts)):
            for where, said, hint in _of_statement(group, parts.table, parts):
                yield ("writers", name, *where), said, hint


def _of_statement(group: WriterGroup, table: Table, parts: Parts) -> Iterator[Finding]:
    own = DIALECTS[group.dialect] if group.dialect else None
    settings = own.settings_known(parts.settings) if own else parts.settings
    platform = Platform(own or parts.dialect, _sound(settings), parts.dialect)
    try:
        yield from statement_problems(group, table, platform)
    except RecursionError:
        yield ("statement",), TOO_DEEP, None


def _of_parameters(name: str, group: WriterGroup, parts: Parts) -> Iterator[Finding]:
    for parameter_name, parameter in group.parameters.items():
        place = ("writers", name, "parameters", parameter_name)
        yield from _of_parameter(place, parameter_name, parameter, parts)


def _table_is_wrong(parts: Parts) -> bool:
    return any(True for _ in _of_table(parts))


def _sound(settings: dict[str, str]) -> Settings:
    """The settings, or Delta's defaults where they are wrong (which is told elsewhere)."""
    try:
        return Settings.from_conf(settings)
    except UnsupportedFeature:
        return Settings()


def _of_parameter(place: Place, name: str, parameter: Parameter, parts: Parts) -> Iterator[Finding]:
    table = parts.table
    if table is None or parts.broken & {"values", "key"}:
        return
    column = parameter.column or name
    if parameter.of_domain and column not in table.values:
        said = f"table.values lists no values of {column!r}"
        yield place, said, nearest(column, table.values)
    if parameter.column is not None and not parameter.of_domain:
        yield (*place, "column"), "is not used by this kind of parameter", None
    if (parameter.keys or parameter.rows) and table.key is None:
        yield place, "keys and rows need table.key", None


def _of_names(parts: Parts) -> Iterator[Finding]:
    named = [group.cluster for group in parts.writers.values() if group.cluster is not None]
    for cluster in parts.clusters:
        if cluster not in named and parts.writers.keys() == set(parts.writer_names):
            said = "no writer runs on it: name it as the cluster of a writer"
            yield ("clusters", cluster), said, nearest(cluster, named)
    for position, fault in parts.faults.items():
        for number, group in enumerate(fault.writers or ()):
            yield from _unknown_writer(("faults", position, "writers", number), group, parts)
    for position, expectation in parts.expectations.items():
        if expectation.writer is not None:
            place = ("expect", position, "writer")
            yield from _unknown_writer(place, expectation.writer, parts)
        for axis, variant in expectation.when.items():
            yield from _unknown_variant(("expect", position, "when", axis), axis, variant, parts)


def _of_expectations(parts: Parts) -> Iterator[Finding]:
    for position, expectation in parts.expectations.items():
        for place, said, hint in vain(expectation):
            yield ("expect", position, *place), said, hint
    if not parts.has_sweep:
        yield from commands_nobody_runs(parts.expectations, parts.writers)


def commands_nobody_runs(
    expectations: Mapping[int, Expectation], writers: Mapping[str, WriterGroup]
) -> Iterator[Finding]:
    """Expectations, by their position, of a command that these writers do not run."""
    for position, expectation in expectations.items():
        if expectation.writer is None or expectation.writer in writers:
            for place, said, hint in vain_among(expectation, writers):
                yield ("expect", position, *place), said, hint


def _unknown_variant(place: Place, axis: str, variant: str, parts: Parts) -> Iterator[Finding]:
    known = parts.axes.get(axis)
    if known is None:
        yield place, f"the sweep has no axis {axis!r}", nearest(axis, parts.axes)
    elif variant not in known:
        yield place, f"axis {axis!r} has no variant {variant!r}", nearest(variant, known)


def _unknown_writer(place: Place, name: str, parts: Parts) -> Iterator[Finding]:
    if name not in parts.writer_names:
        yield place, f"there is no writer {name!r}", nearest(name, parts.writer_names)


def _well_formed(model: type[M], given: Any) -> M | None:
    try:
        return model.model_validate(given)
    except ValidationError:
        return None


def _well_formed_items(model: type[M], given: Any) -> dict[int, M]:
    items = given if isinstance(given, list) else []
    parsed = {position: _well_formed(model, item) for position, item in enumerate(items)}
    return {position: item for position, item in parsed.items() if item is not None}


def _table(given: Any) -> tuple[Table | None, frozenset[str]]:
    """The table from those of its fields that are well formed, and the names of the others."""
    if not isinstance(given, dict):
        return None, frozenset()
    try:
        return Table.model_validate(given), frozenset()
    except ValidationError as error:
        broken = frozenset(str(detail["loc"][0]) for detail in error.errors() if detail["loc"])
    sound = {key: value for key, value in given.items() if key not in broken}
    return _well_formed(Table, {"schema": ""} | sound), broken


def _schema(table: Table | None) -> Schema | None:
    try:
        return None if table is None else parse_ddl(table.columns)
    except (InvalidInput, RecursionError):
        return None


def _axes(given: Any) -> dict[str, list[str]]:
    sweep = _well_formed(Sweep, given)
    return {} if sweep is None else {axis: list(named) for axis, named in sweep.axes.items()}


def _settings(given: dict[str, Any]) -> dict[str, str]:
    shown = {str(key): property_text(value) for key, value in given.items()}
    return {key: value for key, value in shown.items() if isinstance(value, str)}
