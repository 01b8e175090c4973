"""Statements on tables as a whole: creating, altering, restoring, cleaning up."""

from __future__ import annotations

from msgspec import Struct

from whitecap.engine.sql.parsing.statements import Query, Statement, TableName
from whitecap.engine.sql.predicates.predicate import Predicate


class SetProperties(Statement, frozen=True):
    """ALTER TABLE SET TBLPROPERTIES."""

    properties: tuple[tuple[str, str], ...]


class UnsetProperties(Statement, frozen=True):
    """ALTER TABLE UNSET TBLPROPERTIES."""

    keys: tuple[str, ...]


class CommentOnTable(Statement, frozen=True):
    """COMMENT ON TABLE; `None` takes the comment away."""

    comment: str | None


class Position(Struct, frozen=True):
    """Where a column goes: after another one, or first."""

    after: str | None = None

    def __str__(self) -> str:
        return "FIRST" if self.after is None else f"AFTER {self.after}"


class AddColumns(Statement, frozen=True):
    """ALTER TABLE ADD COLUMNS; `ddl` as in CREATE TABLE, one position for each column."""

    ddl: str
    positions: tuple[Position | None, ...]


class DropColumns(Statement, frozen=True):
    """ALTER TABLE DROP COLUMNS."""

    columns: tuple[str, ...]
    if_exists: bool = False


class RenameColumn(Statement, frozen=True):
    """ALTER TABLE RENAME COLUMN."""

    column: str
    new_name: str


class ChangeColumn(Statement, frozen=True):
    """ALTER TABLE ALTER COLUMN: what is not `None` changes. An empty default is none."""

    column: str
    type: str | None = None
    comment: str | None = None
    nullable: bool | None = None
    position: Position | None = None
    default: str | None = None

    @property
    def asks_type_alone(self) -> bool:
        """Whether nothing but the type may change."""
        others = self.comment, self.nullable, self.position, self.default
        return all(asked is None for asked in others)


class SyncIdentity(Statement, frozen=True):
    """ALTER TABLE ALTER COLUMN ... SYNC IDENTITY."""

    column: str


class ReplaceColumns(Statement, frozen=True):
    """ALTER TABLE REPLACE COLUMNS."""

    ddl: str


class AddConstraint(Statement, frozen=True):
    """ALTER TABLE ADD CONSTRAINT name CHECK (condition)."""

    name: str
    condition: str


class DropConstraint(Statement, frozen=True):
    """ALTER TABLE DROP CONSTRAINT name."""

    name: str
    if_exists: bool = False


class ClusterBy(Statement, frozen=True):
    """ALTER TABLE CLUSTER BY; no columns for NONE."""

    columns: tuple[str, ...]


class DropFeature(Statement, frozen=True):
    """ALTER TABLE DROP FEATURE."""

    feature: str
    truncate_history: bool = False


class CreateTable(Statement, frozen=True):
    """CREATE or REPLACE TABLE, with columns, AS a query, or both left out where the table exists.

    `replace` with `create`: CREATE OR REPLACE.
    """

    ddl: str
    partition_columns: tuple[str, ...] = ()
    properties: tuple[tuple[str, str], ...] = ()
    if_not_exists: bool = False
    create: bool = True
    replace: bool = False
    cluster_by: tuple[str, ...] = ()
    comment: str | None = None
    query: Query | None = None


class CloneTable(Statement, frozen=True):
    """CREATE TABLE ... SHALLOW CLONE."""

    source: TableName
    properties: tuple[tuple[str, str], ...] = ()
    if_not_exists: bool = False
    replace: bool = False


class Reorg(Statement, frozen=True):
    """REORG TABLE ... APPLY (PURGE), or (UPGRADE UNIFORM) to a version of Iceberg compatibility."""

    condition: Predicate | None = None
    iceberg_compat_version: int | None = None


class Vacuum(Statement, frozen=True):
    """VACUUM. LITE looks for files in the log, FULL in the directory."""

    dry_run: bool = False
    retain_hours: float | None = None
    lite: bool = False


class Restore(Statement, frozen=True):
    """RESTORE TABLE TO a version, or to a timestamp's text."""

    version: int | None
    timestamp: str | None = None
