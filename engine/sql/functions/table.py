"""All functions and operators by name, and how one of them is called."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from whitecap.engine.errors import InvalidInput, Problem, nearest
from whitecap.engine.refusals import not_modelled
from whitecap.engine.sql.expressions.terms import Term
from whitecap.engine.sql.functions.choices import CHOICES
from whitecap.engine.sql.functions.guard import Function
from whitecap.engine.sql.functions.instants import INSTANTS
from whitecap.engine.sql.functions.numbers import NUMBERS
from whitecap.engine.sql.functions.operators import OPERATORS
from whitecap.engine.sql.functions.regexps import PATTERNS
from whitecap.engine.sql.functions.spark_names import SPARK_FUNCTIONS
from whitecap.engine.sql.functions.texts import TEXTS
from whitecap.engine.sql.functions.times import TIMES
from whitecap.engine.values.types import Session

NON_DETERMINISTIC = frozenset(
    {
        "rand",
        "random",
        "randn",
        "uuid",
        "monotonically_increasing_id",
        "shuffle",
        "spark_partition_id",
        "input_file_name",
    }
)
"""Functions that are `Nondeterministic` in Spark."""

_ALIASES = {
    "date_diff": "datediff",
    "dateadd": "date_add",
    "dayofmonth": "day",
    "position": "locate",
    "substr": "substring",
}
_BY_NAME = {**OPERATORS, **CHOICES, **NUMBERS, **TEXTS, **PATTERNS, **TIMES, **INSTANTS}
FUNCTIONS: Mapping[str, Function] = {
    **_BY_NAME,
    **{alias: _BY_NAME[name] for alias, name in _ALIASES.items()},
}
"""By Spark's names and signs."""

_NAMES = frozenset(name for name in FUNCTIONS if name.isidentifier())
_NO_ROUTINE = "AnalysisException", "UNRESOLVED_ROUTINE"


def call(name: str, terms: Sequence[Term], session: Session) -> Term:
    """A function of terms. Raises `InvalidInput` for an unknown name or wrong arguments.

    Raises `UnsupportedFeature` for one of Spark's that is not modelled, with the nearest that is.
    """
    check_name(name)
    return FUNCTIONS[name].call(name, terms, session)


def check_name(name: str) -> None:
    """Raises as `call` does for a name that no modelled function has."""
    if name in FUNCTIONS:
        return
    like = nearest(name, _NAMES)
    if name not in SPARK_FUNCTIONS:
        raise InvalidInput([Problem(f"{name}()", "no such function", like, _NO_ROUTINE)])
    raise not_modelled.function(name, like)
