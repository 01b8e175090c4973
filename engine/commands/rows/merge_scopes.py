"""What the columns that a MERGE names are: the target's, the source's, or one of both.

Terms are compiled over a joined row: the target's values, then the source's.
"""

from __future__ import annotations

from collections.abc import Hashable

from msgspec import Struct
from sqlglot import exp

from whitecap.engine.log.schema import Schema
from whitecap.engine.query.sources import Source
from whitecap.engine.sql.expressions.scope import Relation, Scope
from whitecap.engine.sql.parsing.statements import Match, Merge, TableName
from whitecap.engine.values.types import Session, is_integral


class MergedColumns(Struct, frozen=True):
    """What a MERGE has to do with: a target, `before` its schema evolves and after, and a source.

    Conditions and values speak of the target as it was before; only what is assigned is new.
    """

    before: Schema
    schema: Schema
    source: Source

    @property
    def key(self) -> tuple[Hashable, ...]:
        """What a plan for `schema` depends on besides."""
        before = self.before.names, self.before.types
        return before, self.source.names, self.source.types, self.source.letters

    @property
    def read(self) -> Schema:
        """The target's columns that can be named, with the types that they are computed with.

        Rows are read after evolution: of a wider column only a whole number is what it was before.
        """
        pairs = zip(self.before, self.schema, strict=False)
        narrow = (old if is_integral(new.type) else new for old, new in pairs)
        return self.schema if self.before is self.schema else Schema(tuple(narrow))


class MergeScopes(Struct, frozen=True):
    """The columns of target and source, apart and joined, under the names that the MERGE gives."""

    schema: Schema
    """The target's."""
    source: Source
    session: Session
    written: Scope
    """What can be assigned."""
    target_only: Scope
    source_only: Scope
    joined: Scope

    @staticmethod
    def of(statement: Merge, columns: MergedColumns, session: Session) -> MergeScopes:
        """Those of a statement on a target and a source with these columns."""
        names, schema = statement.table.names, columns.schema
        target = Relation.of(columns.read, *names)
        other = columns.source.relation(_source_names(statement), offset=len(schema))
        return MergeScopes(
            schema,
            columns.source,
            session,
            Scope((Relation.of(schema, *names),), session),
            Scope((target,), session),
            Scope((other,), session),
            Scope((target, other), session),
        )

    def of_clause(self, match: Match) -> Scope:
        """The columns that a clause may name: of both rows, or of the only one."""
        match match:
            case Match.NOT_MATCHED:
                return self.source_only
            case Match.NOT_MATCHED_BY_SOURCE:
                return self.target_only
        return self.joined

    def is_target_only(self, node: exp.Expr) -> bool:
        """Whether it names no column of the source; so does what names none at all."""
        return all(self._are_of_target(node))

    def is_source_only(self, node: exp.Expr) -> bool:
        """Whether it names columns, and the source's alone."""
        of_target = self._are_of_target(node)
        return bool(of_target) and not any(of_target)

    def _are_of_target(self, node: exp.Expr) -> list[bool]:
        """Of each column that is named, whether it is the target's."""
        positions = [self.joined.find(c.name, c.table)[0] for c in node.find_all(exp.Column)]
        return [position < len(self.schema) for position in positions]


def _source_names(statement: Merge) -> tuple[str, ...]:
    source = statement.source
    return source.names if isinstance(source, TableName) else (source.alias,)
