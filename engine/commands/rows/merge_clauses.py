"""What the clauses of a MERGE ask of a row, and make of it.

Source: DeltaMergeInto.scala (resolution of clauses).
"""

from __future__ import annotations

from collections.abc import Sequence

from msgspec import Struct

from whitecap.engine.commands.rows.merge_scopes import MergeScopes
from whitecap.engine.errors import InvalidInput, Problem
from whitecap.engine.query.sources import Projection
from whitecap.engine.refusals import write_errors
from whitecap.engine.sql.expressions.bound_once import BoundOnce, evaluation
from whitecap.engine.sql.expressions.scope import Scope
from whitecap.engine.sql.expressions.terms import Evaluate, Term, column
from whitecap.engine.sql.parsing.statements import Act, Match, Merge, MergeClause
from whitecap.engine.sql.predicates.compiler import compile_boolean, compile_term
from whitecap.engine.writing.assigning import updated
from whitecap.engine.writing.default_keyword import is_default
from whitecap.engine.writing.generation import (
    Completion,
    Counted,
    check_changeable,
    check_given,
    completed,
    completion,
    counted_columns,
    default_term,
)


class Clause(Struct, frozen=True):
    """One WHEN: its condition, and what makes a row with its generated columns, if it does.

    Both are given a joined row, or the target's where there is no other.
    """

    act: Act
    condition: BoundOnce[Evaluate] | None
    make: BoundOnce[Projection] | None = None


class ClauseCompiler(Struct, frozen=True):
    """Compiles clauses; `evolves` if the source may lack columns."""

    scopes: MergeScopes
    evolves: bool

    def clauses(self, statement: Merge, match: Match) -> tuple[Clause, ...]:
        """Those of a statement for rows with, or without, such a match."""
        return tuple(self._clause(clause) for clause in statement.of(match))

    def counted(self, statement: Merge) -> Counted:
        """The identity columns that some INSERT gives no value for.

        Raises `DeltaError` for one that is updated, or given a value and takes none.
        """
        schema = self.scopes.schema
        self._check_identities(statement)
        inserts = [
            {name.lower() for name in self._given(clause)}
            for clause in statement.of(Match.NOT_MATCHED)
        ]
        given = [c.name for c in schema if all(c.name.lower() in names for names in inserts)]
        return counted_columns(schema, given)

    def _check_identities(self, statement: Merge) -> None:
        """Every clause by itself, whatever the others do and whether it comes to it."""
        schema = self.scopes.schema
        for clause in statement.clauses:
            if clause.act is Act.UPDATE:
                for field in filter(None, map(schema.get, self._given(clause))):
                    check_changeable(field)
        for clause in statement.of(Match.NOT_MATCHED):
            check_given(schema, self._given(clause))

    def _clause(self, clause: MergeClause) -> Clause:
        scope, condition = self.scopes.of_clause(clause.match), clause.condition
        test = None if condition is None else evaluation(compile_boolean(condition, scope))
        if clause.act is Act.DELETE:
            return Clause(clause.act, test)
        complete = completion(self.scopes.schema, self._given(clause), self.scopes.session)
        return Clause(clause.act, test, _making(self._values(clause, scope), complete))

    def _given(self, clause: MergeClause) -> Sequence[str]:
        """The columns that a clause gives values for."""
        if clause.assignments is None:
            return self.scopes.source.names
        return [name for name, _ in clause.assignments]

    def _values(self, clause: MergeClause, scope: Scope) -> tuple[Term, ...]:
        """What the columns of the target become."""
        if clause.assignments is None:
            return self._star(clause.act)
        terms = [self._left_alone(clause.act, at) for at in range(len(self.scopes.schema))]
        seen: set[str] = set()
        for name, node in clause.assignments:
            at = self.scopes.written.place(name)
            if name.lower() in seen:
                raise _TWICE[clause.act](name)
            seen.add(name.lower())
            if is_default(node):
                text, refused_as = "DEFAULT is not known to MERGE", write_errors.MERGE_UNRESOLVED
                raise InvalidInput([Problem(name, text, refused_as=refused_as)])
            terms[at] = self._fitted(compile_term(node, scope), at)
        return tuple(terms)

    def _star(self, act: Act) -> tuple[Term, ...]:
        """Every target column from the source's column of its name.

        One that is missing is left alone with schema evolution, and refused without.
        """
        terms = []
        for at, field in enumerate(self.scopes.schema):
            try:
                position, type_name = self.scopes.source_only.find(field.name, "")
            except InvalidInput as error:
                if not self.evolves:
                    columns = self.scopes.source.names
                    raise write_errors.merge_unresolved(field.name, act.value, columns) from error
                terms.append(self._left_alone(act, at))
            else:
                terms.append(self._fitted(column(position, type_name), at))
        return tuple(terms)

    def _left_alone(self, act: Act, at: int) -> Term:
        """A column that nothing is given for: the row's own value, or the column's default."""
        field = self.scopes.schema.fields[at]
        if act is Act.UPDATE:
            return column(at, field.type)
        return default_term(field, self.scopes.session)

    def _fitted(self, term: Term, at: int) -> Term:
        return updated(term, self.scopes.schema.fields[at], self.scopes.session)


_TWICE = {Act.UPDATE: write_errors.column_set_twice, Act.INSERT: write_errors.merge_column_twice}
"""How a clause is refused that gives a column two values."""


def _making(terms: Sequence[Term], complete: Completion | None) -> BoundOnce[Projection]:
    """What makes a row: of one that is wider than any, so that none is taken for the new one."""
    return BoundOnce(lambda parameters: completed(terms, parameters, -1, complete))
