"""Statements as DuckDB understands them: from the recorded text alone, by sqlglot.

What cannot be translated with the same meaning is refused by name, so that it is told and not
passed over. The table that is written is called `target` there.
"""

from __future__ import annotations

from collections.abc import Iterable
from functools import lru_cache
from typing import Any

import msgspec
from msgspec import Struct
from sqlglot import exp

from whitecap.sim.oracles.statements.columns import TableColumns, columns_of
from whitecap.sim.oracles.statements.kinds import EffectKind, kind_of
from whitecap.sim.oracles.statements.parsing import NotTranslated, parsed
from whitecap.sim.oracles.statements.shapes import shape_of

TARGET = "target"
SOURCE = "source_rows"
CHANGES = "changes"
"""Names of tables in DuckDB: the one that is written, rows on their way, changed rows by version"""

VERSION = "whitecap_version"
"""Column of `CHANGES`, by a name that no table has."""

DYNAMIC = "spark.sql.sources.partitionOverwriteMode"

_ASKS_THE_WORLD = (
    exp.CurrentTimestamp, exp.CurrentDate, exp.CurrentTime, exp.CurrentUser, exp.Rand, exp.Uuid,
)  # fmt: skip
_ROUNDS = frozenset({"INT", "BIGINT", "SMALLINT", "TINYINT"})
"""Casts to these cut in Spark and round in DuckDB."""


class Appended(Struct, frozen=True):
    """Rows that a streaming batch brings, as JSON objects; `reads_table`: its query reads all."""

    rows: tuple[dict[str, Any], ...]
    reads_table: bool = False


class Restored(Struct, frozen=True):
    """The table becomes what it was at a version."""

    version: int


class Translated(Struct, frozen=True):
    """What a statement does, as texts for DuckDB, one after the other.

    `matches` asks which of the changed rows (`CHANGES`) it reads, by their version: empty if it
    reads no row of the target, `None` if that cannot be said.
    """

    texts: tuple[str, ...] = ()
    matches: str | None = ""


class TakenAsItIs(Struct, frozen=True):
    """The table gets the rows that a version brought, which nobody's statement tells."""

    version: int


Meaning = Translated | Appended | Restored | TakenAsItIs

NOTHING_TRANSLATED = Translated()


@lru_cache(maxsize=4096)
def meaning_of(statement: str, columns: TableColumns, dynamic: bool) -> Meaning:
    """What a statement does to the rows. Raises `NotTranslated` with the reason."""
    match kind_of(statement):
        case EffectKind.BATCH:
            return _batch(statement, columns)
        case EffectKind.RESTORES:
            return _restored(statement)
        case EffectKind.KEEPS:
            return NOTHING_TRANSLATED
        case EffectKind.COPIES:
            raise NotTranslated("CREATE with the rows of a query or of a clone")
        case EffectKind.EMPTIES:
            return Translated((f"DELETE FROM {TARGET}",), _all_changes())
    return _by_its_shape(statement, columns, dynamic)


def table_written(statement: str) -> str:
    """The one word by which a statement calls the table that it writes.

    Raises `NotTranslated`: there is none, or it asks the time or for chance.
    """
    translation = _Translation(parsed(statement), TableColumns((), frozenset(), ()), dynamic=False)
    translation.require_no_chance()
    written = translation.written()
    if written.db:
        raise NotTranslated(f"its table is {written.db}.{written.name}, not one of a name alone")
    return written.name


class _OfAShape(Struct):
    """The translation of a shape; `holds`: whether it gave what the first statement of that shape
    is translated to by itself, `None` before that was tried."""

    translated: Translated
    holds: bool | None = None


def _by_its_shape(statement: str, columns: TableColumns, dynamic: bool) -> Translated:
    shape = shape_of(statement)
    of_a_shape = None if shape is None else _of_a_shape(shape.text, columns, dynamic)
    if shape is None or of_a_shape is None or of_a_shape.holds is False:
        return _translated(statement, columns, dynamic)
    texts, matches = of_a_shape.translated.texts, of_a_shape.translated.matches
    filled = Translated(
        tuple(map(shape.filled, texts)), None if matches is None else shape.filled(matches)
    )
    if of_a_shape.holds is None:
        by_itself = _translated(statement, columns, dynamic)
        of_a_shape.holds = filled == by_itself
        return by_itself
    return filled


@lru_cache(maxsize=4096)
def _of_a_shape(text: str, columns: TableColumns, dynamic: bool) -> _OfAShape | None:
    """`None` if it cannot be translated: the statement's own words are to say why."""
    try:
        return _OfAShape(_translated(text, columns, dynamic))
    except NotTranslated:
        return None


def _translated(statement: str, columns: TableColumns, dynamic: bool) -> Translated:
    return _Translation(parsed(statement), columns, dynamic).meaning()


def _batch(statement: str, columns: TableColumns) -> Meaning:
    batch = msgspec.json.decode(statement)
    if not isinstance(batch, dict) or "rows" not in batch or "query" in batch:
        raise NotTranslated("a batch that is more than its rows")
    given = {name.lower() for row in batch["rows"] for name in row}
    if batch["rows"] and (filled_in := columns.filled_in - given):
        listed = ", ".join(sorted(filled_in))
        raise NotTranslated(f"a batch without columns that the table may fill in: {listed}")
    return Appended(tuple(batch["rows"]), bool(batch.get("reads_table")))


def _restored(statement: str) -> Restored:
    words = statement.upper().replace(";", " ").split()
    if "VERSION" not in words or not words[-1].isdigit():
        raise NotTranslated("RESTORE to a timestamp")
    return Restored(int(words[-1]))


def _all_changes() -> str:
    return f"SELECT DISTINCT {VERSION} FROM {CHANGES}"


class _Translation(Struct):
    """One statement on its way to DuckDB."""

    tree: exp.Expr
    columns: TableColumns
    dynamic: bool

    def meaning(self) -> Translated:
        name = self.written().name.lower()
        self._check(name)
        for column in self.tree.find_all(exp.Column):
            if column.table.lower() == name:
                column.set("table", exp.to_identifier(TARGET))
        for table in self.tree.find_all(exp.Table):
            if table.name.lower() == name:
                table.set("db", None)
                table.set("catalog", None)
                table.set("this", exp.to_identifier(TARGET))
        match self.tree:
            case exp.Delete():
                return self._delete(self.tree)
            case exp.Update():
                return self._update(self.tree)
            case exp.Merge():
                return self._merge(self.tree)
            case exp.Insert():
                return self._insert(self.tree)
        raise NotTranslated(f"a statement of kind {self.tree.key.upper()}")

    def written(self) -> exp.Table:
        """The table that it writes. Raises `NotTranslated`."""
        tree = self.tree
        if not isinstance(tree, exp.Delete | exp.Update | exp.Merge | exp.Insert):
            raise NotTranslated(f"a statement of kind {tree.key.upper()}")
        table = tree.this.this if isinstance(tree.this, exp.Schema) else tree.this
        if not isinstance(table, exp.Table):
            raise NotTranslated("a statement whose table is not named")
        return table

    def _check(self, written: str) -> None:
        """Raises for what means something else in DuckDB, or nothing."""
        self.require_no_chance()
        for node in self.tree.walk():
            if isinstance(node, exp.Anonymous):
                raise NotTranslated(f"the function {node.name}")
            if isinstance(node, exp.Cast) and node.to.this.name in _ROUNDS:
                self._check_cast(node)
        # Inside of a query that a WITH names, its name is still that of the table.
        inside = {
            cte.alias.lower(): set(map(id, cte.find_all(exp.Table)))
            for cte in self.tree.find_all(exp.CTE)
        }
        for table in self.tree.find_all(exp.Table):
            name = table.name.lower()
            if name != written and id(table) in inside.get(name, {id(table)}):
                raise NotTranslated(f"it reads {table.name}, whose rows are not known")

    def require_no_chance(self) -> None:
        """Raises `NotTranslated` for what is other when it is run again."""
        for node in self.tree.find_all(*_ASKS_THE_WORLD):
            raise NotTranslated(f"{node.key.upper()}: it asks the time or for chance")

    @staticmethod
    def _check_cast(cast: exp.Cast) -> None:
        if not isinstance(cast.this, exp.Literal) or not cast.this.is_int:
            raise NotTranslated(f"{cast.sql()}, which may round")

    def _delete(self, tree: exp.Delete) -> Translated:
        alias = tree.this.alias_or_name
        return Translated((self._sql(tree),), self._matching(tree.args.get("where"), alias))

    def _update(self, tree: exp.Update) -> Translated:
        self._assign(tree)
        alias = tree.this.alias_or_name
        where = tree.args.get("where")
        if any(assignment.find(exp.Select) for assignment in tree.expressions):
            return Translated((self._sql(tree),), None)
        return Translated((self._sql(tree),), self._matching(where, alias))

    def _merge(self, tree: exp.Merge) -> Translated:
        source, target = tree.args["using"], tree.this.alias_or_name
        whens = tree.args["whens"].expressions
        for when in whens:
            self._spell_out(when, source.alias_or_name)
        reads_target = any(table.name == TARGET for table in source.find_all(exp.Table))
        if reads_target:
            matches = None
        elif any(when.args.get("source") for when in whens):
            matches = _all_changes()
        else:
            on = self._sql(tree.args["on"])
            among = f"EXISTS (SELECT 1 FROM {self._sql(source)} WHERE {on})"
            matches = f"SELECT DISTINCT {VERSION} FROM {CHANGES} AS {target} WHERE {among}"
        return Translated((self._sql(tree),), matches)

    def _spell_out(self, when: exp.When, source: str) -> None:
        """`UPDATE SET *` and `INSERT *` with the table's columns; `SET` without qualifiers."""
        action = when.args["then"]
        columns = [exp.to_identifier(name, quoted=True) for name in self.columns.names]
        values = [exp.column(column.copy(), table=source) for column in columns]
        match action:
            case exp.Update() if isinstance(action.expressions[0], exp.Star):
                pairs = zip(columns, values, strict=True)
                action.set("expressions", [exp.EQ(this=c, expression=v) for c, v in pairs])
            case exp.Update():
                self._assign(action)
            case exp.Insert() if isinstance(action.this, exp.Star):
                action.set("this", exp.Tuple(expressions=columns))
                action.set("expression", exp.Tuple(expressions=values))
            case exp.Insert():
                self._check_given(column.name for column in action.this.expressions)

    def _assign(self, update: exp.Update) -> None:
        """`SET` without qualifiers. Raises where the table would compute another column anew."""
        for assignment in update.expressions:
            _unqualified(assignment.this)
            if assignment.this.name.lower() in self.columns.read:
                computed = f"computes columns from {assignment.this.name}"
                raise NotTranslated(f"an UPDATE in a table that {computed}")

    def _insert(self, tree: exp.Insert) -> Translated:
        if self.written().args.get("partition"):
            raise NotTranslated("INSERT into a named partition")
        if isinstance(tree.this, exp.Schema):
            self._check_given(column.name for column in tree.this.expressions)
        elif tree.args.get("by_name") and self.columns.filled_in:
            self._check_given(columns_of(tree.expression))
        where, overwrite = tree.args.get("where"), tree.args.get("overwrite")
        tree.set("where", None)
        tree.set("overwrite", False)
        into = self._sql(tree)
        if where is not None:
            where = where if isinstance(where, exp.Where) else exp.Where(this=where)
            emptied = f"DELETE FROM {TARGET} {self._sql(where)}"
            return Translated(
                (*self._set_aside(tree), emptied, self._from_aside()), self._matching(where, TARGET)
            )
        if overwrite:
            return self._overwrite(tree)
        if tree.expression.find(exp.Table) is None:
            return Translated((into,))
        return Translated((into,), None)

    def _check_given(self, columns: Iterable[str]) -> None:
        """Columns that are left out may be computed by the table, which is not known here."""
        given = {name.lower() for name in columns}
        for name in sorted(self.columns.filled_in - given):
            raise NotTranslated(f"a value of column {name} that the table makes")

    def _overwrite(self, tree: exp.Insert) -> Translated:
        if not (self.dynamic and self.columns.partitions):
            emptied = f"DELETE FROM {TARGET}"
            texts = (*self._set_aside(tree), emptied, self._from_aside())
            return Translated(texts, _all_changes())
        same = " AND ".join(
            f'{SOURCE}."{name}" IS NOT DISTINCT FROM {{}}."{name}"'
            for name in self.columns.partitions
        )
        there = f"WHERE EXISTS (SELECT 1 FROM {SOURCE} WHERE {same})"
        emptied = f"DELETE FROM {TARGET} {there.format(*[TARGET] * len(self.columns.partitions))}"
        return Translated((*self._set_aside(tree), emptied, self._from_aside()), None)

    def _set_aside(self, tree: exp.Insert) -> tuple[str, str]:
        aside = tree.copy()
        (aside.this.this if isinstance(aside.this, exp.Schema) else aside.this).set(
            "this", exp.to_identifier(SOURCE)
        )
        empty = f"CREATE OR REPLACE TEMP TABLE {SOURCE} AS SELECT * FROM {TARGET} LIMIT 0"
        return empty, self._sql(aside)

    @staticmethod
    def _from_aside() -> str:
        return f"INSERT INTO {TARGET} SELECT * FROM {SOURCE}"

    def _matching(self, where: exp.Expr | None, alias: str) -> str | None:
        """Asks for the versions with rows that a condition selects."""
        if where is None:
            return _all_changes()
        if where.find(exp.Select):
            return None
        return f"SELECT DISTINCT {VERSION} FROM {CHANGES} AS {alias} {self._sql(where)}"

    @staticmethod
    def _sql(tree: exp.Expr) -> str:
        return tree.sql("duckdb")


def _unqualified(column: exp.Expr) -> None:
    if isinstance(column, exp.Column):
        column.set("table", None)
