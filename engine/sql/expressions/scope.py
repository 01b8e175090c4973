"""Which column a name means: the columns of one relation, or of several side by side.

Rows of several relations are concatenated, so a column is one position in the joined row.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

from msgspec import Struct
from sqlglot import exp

from whitecap.engine.errors import EngineError, InvalidInput, Problem, UnsupportedFeature, nearest
from whitecap.engine.log.columns.type_changes import char_letters
from whitecap.engine.log.schema import Field, Schema
from whitecap.engine.sql.expressions.terms import Term, column
from whitecap.engine.values.types import DEFAULT_SESSION, Session, has_values

UNRESOLVED = "ExtendedAnalysisException", "UNRESOLVED_COLUMN.WITH_SUGGESTION"
"""How Spark refuses a column that is not there."""


_FILE_METADATA = "_metadata"
"""The hidden column of Delta's and Spark's file sources."""
_NO_FIELDS = "AnalysisException", "INVALID_EXTRACT_BASE_FIELD_TYPE"
AMBIGUOUS = "column is in several tables; qualify it"


_NO_STAR = "AnalysisException", "CANNOT_RESOLVE_STAR_EXPAND"


def check_star(owner: str, names: Iterable[str]) -> None:
    """Raises `InvalidInput` for `owner.*` where no relation has that name."""
    names = [name.lower() for name in names]
    if owner.lower() not in names:
        text, like = "no such table here", nearest(owner, names)
        raise InvalidInput([Problem(f"{owner}.*", text, like, _NO_STAR)])


Letters = tuple[int | None, ...]
"""How many letters each column has that is a CHAR, `None` for the others."""


def letters_of(columns: Iterable[Field | None]) -> Letters:
    """The letters of columns; empty where none is a CHAR."""
    letters = tuple(map(char_letters, columns))
    return letters if any(letters) else ()


class Relation(Struct, frozen=True):
    """A table or query with its alias, and where its columns start in the joined row.

    `depth`: how many queries stand around the one that it belongs to. `letters`: how many a column
    has that is a CHAR, by its place; empty where there is none.
    """

    names: frozenset[str]
    columns: tuple[str, ...]
    types: tuple[str, ...]
    offset: int = 0
    depth: int = 0
    letters: Letters = ()

    @classmethod
    def of(cls, schema: Schema, *names: str, offset: int = 0) -> Relation:
        """A relation with the columns of a table's schema."""
        return cls(
            frozenset(name.lower() for name in names),
            tuple(f.name for f in schema.fields),
            tuple(f.type for f in schema.fields),
            offset,
            letters=letters_of(schema.fields),
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

    @property
    def width(self) -> int:
        """How many values a row of all relations side by side has."""
        return max((each.offset + len(each.columns) for each in self.relations), default=0)

    @property
    def depth(self) -> int:
        """The depth of the innermost relations, -1 without any."""
        return max((each.depth for each in self.relations), default=-1)

    def beside(self, relation: Relation) -> Scope:
        """The same relations, and another one."""
        return Scope((*self.relations, relation), self.session)

    def find(self, name: str, qualifier: str) -> tuple[int, str]:
        """Position and type of a column, of the innermost query that has it.

        Raises `InvalidInput` if unknown or ambiguous.
        """
        relation, index = self._holder(name, qualifier)
        return relation.offset + index, relation.types[index]

    def _holder(self, name: str, qualifier: str) -> tuple[Relation, int]:
        known_as = [
            (relation, index)
            for relation, index in self._positions.get(name.lower(), ())
            if not qualifier or qualifier.lower() in relation.names
        ]
        innermost = max((relation.depth for relation, _ in known_as), default=0)
        hits = [hit for hit in known_as if hit[0].depth == innermost]
        is_field = bool(qualifier) and self._is_column_within(innermost, qualifier)
        if len(hits) == 1 and not is_field:
            return hits[0]
        shown = f"{qualifier}.{name}" if qualifier else name
        if hits and not is_field:
            refused_as = "AnalysisException", "AMBIGUOUS_REFERENCE"
            raise InvalidInput([Problem(shown, AMBIGUOUS, refused_as=refused_as)])
        raise self._unknown(name, qualifier, shown)

    def _is_column_within(self, depth: int, name: str) -> bool:
        """Whether a query inside of that depth has a column of a name, which then is meant."""
        return any(each.depth > depth for each, _ in self._positions.get(name.lower(), ()))

    def _unknown(self, name: str, qualifier: str, shown: str) -> EngineError:
        """How a name is refused that no relation has: a struct may stand before it."""
        if _FILE_METADATA in (qualifier.lower(), name.lower()):
            return UnsupportedFeature(f"what Spark says of a row's file: {shown}")
        holders = self._positions.get(qualifier.lower(), ()) if qualifier else ()
        for relation, index in holders:
            kind = relation.types[index]
            if has_values(kind):
                text = f"{qualifier} is {kind} and has no fields"
                return InvalidInput([Problem(shown, text, refused_as=_NO_FIELDS)])
            return UnsupportedFeature(f"fields of structs: {shown}")
        names = {alias for relation in self.relations for alias in relation.names if alias}
        if qualifier and qualifier.lower() not in names:
            like = nearest(qualifier, names)
            return InvalidInput([Problem(shown, "no such table here", like, UNRESOLVED)])
        columns = [column for relation in self.relations for column in relation.columns]
        return InvalidInput([Problem(shown, "no such column", nearest(name, columns), UNRESOLVED)])

    def has(self, name: str) -> bool:
        """Whether one of the relations has a column of this name."""
        return name.lower() in self._positions

    def place(self, name: str) -> int:
        """The position of the column that is assigned.

        Raises `InvalidInput` or `UnsupportedFeature` for a field of one, or of a table not there.
        """
        try:
            return self.find(name, "")[0]
        except InvalidInput:
            qualifier, dot, field_name = name.rpartition(".")
            if not dot:
                raise
            raise self._unknown(field_name, qualifier, name) from None

    def resolve(self, node: exp.Column) -> Term:
        """The term of a column reference."""
        if not isinstance(node.this, exp.Identifier):
            raise UnsupportedFeature(f"a column of this form: {node}")
        *before, _, _ = [part.name for part in node.parts] if node.args.get("db") else ["", ""]
        if before and any(name.lower() in self._positions for name in before):
            raise UnsupportedFeature(f"fields inside of fields: {node}")
        relation, at = self._holder(node.name, node.table)
        letters = relation.letters[at] if relation.letters else None
        return column(relation.offset + at, relation.types[at], letters)


def schema_scope(
    schema: Schema, names: Sequence[str] = (), session: Session = DEFAULT_SESSION
) -> Scope:
    """The scope of one table."""
    return Scope((Relation.of(schema, *names),), session)
