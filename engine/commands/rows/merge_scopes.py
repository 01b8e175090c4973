"""What the columns that a MERGE names are: the target's, the source's, or one of both.

Terms are compiled over a joined row: the target's values, then the source's.
"""

from __future__ import annotations

from msgspec import Struct
from sqlglot import exp

from whitecap.engine.log.schema import Schema
from whitecap.engine.query.sources import Source
from whitecap.engine.sql.expressions.scope import Relation, Scope
from whitecap.engine.sql.parsing.statements import Match, Merge, TableName
from whitecap.engine.values.types import Session


class MergeScopes(Struct, frozen=True):
    """The columns of target and source, apart and joined, under the names that the MERGE gives."""

    schema: Schema
    """The target's."""
    source: Source
    session: Session
    target_only: Scope
    source_only: Scope
    joined: Scope

    @staticmethod
    def of(statement: Merge, schema: Schema, source: Source, session: Session) -> MergeScopes:
        """Those of a statement on a target and a source with these columns."""
        target = Relation.of(schema, *statement.table.names)
        other = source.relation(_source_names(statement), offset=len(schema))
        return MergeScopes(
            schema,
            source,
            session,
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
