"""Which column a name means: the columns of one relation, or of several side by side.

Rows of several relations are concatenated, so a column is one position in the joined row.
"""

from __future__ import annotations

import difflib
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from sqlglot import exp

from whitecap.engine.errors import InvalidInput, Problem
from whitecap.engine.sql.terms import Term, column
from whitecap.engine.sql.types import DEFAULT_SESSION, Session

if TYPE_CHECKING:
    from whitecap.engine.log.schema import Schema


UNRESOLVED = "ExtendedAnalysisException", "UNRESOLVED_COLUMN.WITH_SUGGESTION"
"""How Spark refuses a column that is not there."""


AMBIGUOUS = "column is in several tables; qualify it"


def nearest(name: str, names: Iterable[str]) -> str | None:
    """The valid name most like a misspelt one, if any is like it."""
    matches = difflib.get_close_matches(name.lower(), [n.lower() for n in names], n=1, cutoff=0.5)
    return next((n for n in names if matches and n.lower() == matches[0]), None)


@dataclass(frozen=True, slots=True)
class Relation:
    """A table or query with its alias, and where its columns start in the joined row.

    `depth`: how many queries stand around the one that it belongs to.
    """

    names: frozenset[str]
    columns: tuple[str, ...]
    types: tuple[str, ...]
    offset: int = 0
    depth: int = 0

    @classmethod
    def of(cls, schema: Schema, *names: str, offset: int = 0) -> Relation:
        """A relation with the columns of a table's schema."""
        return cls(
            frozenset(name.lower() for name in names),
            tuple(f.name for f in schema.fields),
            tuple(f.type for f in schema.fields),
            offset,
        )


@dataclass(frozen=True, slots=True)
class Scope:
    """The relations an expression may speak of, and the session."""

    relations: tuple[Relation, ...]
    session: Session = DEFAULT_SESSION
    _positions: dict[str, list[tuple[Relation, int]]] = field(init=False, default_factory=dict)

    def __post_init__(self) -> None:
        for relation in self.relations:
            for index, name in enumerate(relation.columns):
                self._positions.setdefault(name.lower(), []).append((relation, index))

    def find(self, name: str, qualifier: str) -> tuple[int, str]:
        """Position and type of a column, of the innermost query that has it.

        Raises `InvalidInput` if unknown or ambiguous.
        """
        known_as = [
            (relation, index)
            for relation, index in self._positions.get(name.lower(), ())
            if not qualifier or qualifier.lower() in relation.names
        ]
        innermost = max((relation.depth for relation, _ in known_as), default=0)
        hits = [hit for hit in known_as if hit[0].depth == innermost]
        if len(hits) == 1:
            relation, index = hits[0]
            return relation.offset + index, relation.types[index]
        shown = f"{qualifier}.{name}" if qualifier else name
        if hits:
            refused_as = "AnalysisException", "AMBIGUOUS_REFERENCE"
            raise InvalidInput([Problem(shown, AMBIGUOUS, refused_as=refused_as)])
        known = [column for relation in self.relations for column in relation.columns]
        raise InvalidInput([Problem(shown, "no such column", nearest(name, known), UNRESOLVED)])

    def resolve(self, node: exp.Column) -> Term:
        """The term of a column reference."""
        position, type_name = self.find(node.name, node.table)
        return column(position, type_name)


def schema_scope(
    schema: Schema, names: Sequence[str] = (), session: Session = DEFAULT_SESSION
) -> Scope:
    """The scope of one table."""
    return Scope((Relation.of(schema, *names),), session)
