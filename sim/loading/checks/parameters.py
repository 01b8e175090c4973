"""Do a writer's parameters draw from what its table has?"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from whitecap.engine.errors import nearest
from whitecap.sim.loading.checks.tables import GivenTable
from whitecap.sim.scenario.parameters import Parameter
from whitecap.sim.scenario.table import TableSection
from whitecap.sim.scenario.yaml.text import PlacedProblem, within
from whitecap.sim.table.derived import is_generated


def parameter_problems(
    parameters: Mapping[str, Parameter], target: GivenTable
) -> Iterator[PlacedProblem]:
    """Parameters that need values or a key which the table does not have."""
    if target.broken & {"values", "key"}:
        return
    for name, parameter in parameters.items():
        yield from within(("parameters", name), _of_parameter(name, parameter, target))


def _of_parameter(name: str, parameter: Parameter, target: GivenTable) -> Iterator[PlacedProblem]:
    table = target.table
    if lacks_values(name, parameter, table):
        column = parameter.column or name
        said = f"{target.dotted}.values lists no values of {column!r}"
        yield (), f"{said}{_of_generated(column, target)}", nearest(column, table.values)
    if parameter.column is not None and not parameter.of_domain:
        yield ("column",), "is not used by this kind of parameter", None
    if (parameter.keys or parameter.rows) and table.key is None:
        yield (), f"keys and rows need {target.dotted}.key", None


def _of_generated(column: str, target: GivenTable) -> str:
    field = None if target.schema is None else target.schema.get(column)
    if field is None or not is_generated(field):
        return ""
    return f": it is generated, so write what it follows from, such as {_INSTEAD}"


_INSTEAD = "month = MONTH(:at) with the days of `at` as values, or bucket = :id % 16"


def lacks_values(name: str, parameter: Parameter, table: TableSection) -> bool:
    """Whether a parameter is chosen among the values of a column of which none are listed."""
    return parameter.of_domain and (parameter.column or name) not in table.values
