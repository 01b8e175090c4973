"""Adding a command, job, fault, dialect or outcome: what else it takes fails until it is done.

Of measures `tests/measures/test_enumeration.py` says so, of rules `test_recorded_names.py`, and of
every field of a scenario `tests/scenario/test_every_field_counts.py`.
"""

from __future__ import annotations

import ast
import inspect
import re
from pathlib import Path
from typing import Any, get_args

import deltalake
import pytest
from deltalake.table import TableAlterer

from tests.sim.sim_worlds import INSERT, UPDATE, document
from whitecap.engine import dialects
from whitecap.engine.commands import run as commands
from whitecap.engine.dialects import DIALECTS, Dialect, Vendor
from whitecap.engine.outcomes import Outcome
from whitecap.engine.races.matrix.catalogue import EXTENDED, ON_REQUEST, PUBLISHED, Target
from whitecap.engine.races.matrix.family import FIRST_ID, Layout
from whitecap.engine.races.matrix.published import tables_of
from whitecap.engine.recorded import BRINGING_DATA, STREAMING, Measure, RecordedOutcome
from whitecap.engine.sql.parsing import parse, table_statements
from whitecap.engine.sql.parsing import statements as row_statements
from whitecap.engine.sql.parsing.parse import parse_statement
from whitecap.engine.sql.parsing.statements import Statement
from whitecap.sim.history.conservation import KEEPS_ROW_COUNT
from whitecap.sim.loading import scenario_of
from whitecap.sim.recording import records
from whitecap.sim.replay.history.recorded import (
    SEVERAL_COMMITS,
    STARTS_AGAIN_BY_ITSELF,
    recorded_transactions,
)
from whitecap.sim.replay.plan import real_command
from whitecap.sim.replay.real.commands import Sql, StreamBatch
from whitecap.sim.run import run_scenario
from whitecap.sim.scenario.faults import Fault
from whitecap.sim.writers import jobs

ROOT = Path(__file__).parents[2]

EXAMPLES = {
    "Insert": "INSERT INTO t VALUES (1, 2)",
    "Delete": "DELETE FROM t WHERE a = 1",
    "Truncate": "TRUNCATE TABLE t",
    "Update": "UPDATE t SET a = 1",
    "Merge": "MERGE INTO t USING s ON t.a = s.a WHEN MATCHED THEN DELETE",
    "Optimize": "OPTIMIZE t",
    "SetProperties": "ALTER TABLE t SET TBLPROPERTIES ('a' = 'b')",
    "UnsetProperties": "ALTER TABLE t UNSET TBLPROPERTIES ('a')",
    "CommentOnTable": "COMMENT ON TABLE t IS 'text'",
    "AddColumns": "ALTER TABLE t ADD COLUMNS (b INT)",
    "DropColumns": "ALTER TABLE t DROP COLUMN b",
    "RenameColumn": "ALTER TABLE t RENAME COLUMN a TO b",
    "ChangeColumn": "ALTER TABLE t ALTER COLUMN a DROP NOT NULL",
    "SyncIdentity": "ALTER TABLE t ALTER COLUMN a SYNC IDENTITY",
    "ReplaceColumns": "ALTER TABLE t REPLACE COLUMNS (a INT)",
    "AddConstraint": "ALTER TABLE t ADD CONSTRAINT c CHECK (a > 0)",
    "DropConstraint": "ALTER TABLE t DROP CONSTRAINT c",
    "ClusterBy": "ALTER TABLE t CLUSTER BY (a)",
    "DropFeature": "ALTER TABLE t DROP FEATURE checkConstraints",
    "CreateTable": "CREATE TABLE t (a INT) USING delta",
    "CloneTable": "CREATE TABLE u SHALLOW CLONE t",
    "Reorg": "REORG TABLE t APPLY (PURGE)",
    "Vacuum": "VACUUM t",
    "Restore": "RESTORE TABLE t TO VERSION AS OF 0",
}
"""One statement of each class."""

NOT_RACED = {
    "UnsetProperties": "as SET TBLPROPERTIES",
    "DropColumns": "as ADD COLUMN: it changes the schema",
    "RenameColumn": "as ADD COLUMN: it changes the schema",
    "ChangeColumn": "as ADD COLUMN: it changes the schema",
    "ReplaceColumns": "as ADD COLUMN: it changes the schema",
    "SyncIdentity": "the family of tables has no identity column",
    "DropConstraint": "as SET TBLPROPERTIES: it removes a property",
    "CloneTable": "as CREATE TABLE: it makes another table",
}
"""Commands that the conflict matrices leave out, with the reason."""

OPERATIONS_OF_DELTA_RS = {
    "Insert": "write_deltalake",
    "Delete": "DeltaTable.delete",
    "Truncate": "DeltaTable.delete",
    "Update": "DeltaTable.update",
    "Merge": "DeltaTable.merge",
    "Optimize": "DeltaTable.optimize",
    "SetProperties": "DeltaTable.alter.set_table_properties",
    "CommentOnTable": "DeltaTable.alter.set_table_description",
    "AddColumns": "DeltaTable.alter.add_columns",
    "AddConstraint": "DeltaTable.alter.add_constraint",
    "DropConstraint": "DeltaTable.alter.drop_constraint",
    "CreateTable": "DeltaTable.create",
    "Vacuum": "DeltaTable.vacuum",
    "Restore": "DeltaTable.restore",
}
"""What the package deltalake has of the commands; of every other its dialects say that they lack
it."""

FAULTS: dict[str, Any] = {
    "lost_reply": {"probability": 1, "requests": ["put_if_absent", "list"]},
    "late_effect": {"probability": 1, "delay": "5 s"},
    "throttling": {"probability": 1},
    "writer_crash": {"rate": "2 per min", "restart": "10 s"},
    "crash_at_request": {"nth": 2, "restart": "10 s"},
    "duplicate_delivery": {"probability": 1, "delay": "1 s"},
    "conflict_409": {"nth": 1},
    "pause": {"nth": 1, "lasts": "10 s"},
    "stale_listing": {"probability": 1},
}
"""One fault of each kind, that strikes often."""

HARMLESS = {"duplicate_delivery"}
"""Where commits are by put-if-absent; else: tests/stores/test_lost_commits.py."""

JOBS: dict[str, tuple[dict[str, Any], type]] = {
    "StatementJob": (UPDATE, Sql),
    "InsertJob": (INSERT, Sql),
    "BatchJob": (
        {
            "streaming": {"checkpoint": "clicks", "rows": {"count": 2}},
            "arrival": INSERT["arrival"],
            "compute": "3 s",
        },
        StreamBatch,
    ),
    "FunctionJob": ({**UPDATE, "foreach_batch": {"checkpoint": "clicks"}}, Sql),
}
"""A writer with jobs of each kind, and what plays them on a real Delta Lake."""

COMMAND_LISTS = {
    "KEEPS_ROW_COUNT": KEEPS_ROW_COUNT,
    "BRINGING_DATA": BRINGING_DATA,
    "SEVERAL_COMMITS": SEVERAL_COMMITS,
    "STARTS_AGAIN_BY_ITSELF": STARTS_AGAIN_BY_ITSELF,
}
"""Where commands are named by what they do."""


def _statement_classes() -> set[str]:
    modules = (row_statements, table_statements)
    classes = [item for module in modules for item in vars(module).values()]
    return {
        item.__name__
        for item in classes
        if inspect.isclass(item) and issubclass(item, Statement) and item is not Statement
    }


def _run_by_the_engine() -> set[str]:
    """Classes in the table of commands, and those that are given rows of other tables."""
    tree = ast.parse(inspect.getsource(commands._command))
    matched = {node.cls.id for node in ast.walk(tree) if isinstance(node, ast.MatchClass)
               and isinstance(node.cls, ast.Name)}  # fmt: skip
    return matched | {kind.__name__ for kind in commands._COMMANDS}


# A command -------------------------------------------------------------------------------------


def test_every_statement_has_an_example_here() -> None:
    assert EXAMPLES.keys() == _statement_classes()


@pytest.mark.parametrize("name", EXAMPLES)
def test_every_statement_is_read_from_its_text(name: str) -> None:
    assert type(parse_statement(EXAMPLES[name])).__name__ == name


def test_every_statement_is_run_by_a_command() -> None:
    assert _run_by_the_engine() == _statement_classes()


@pytest.mark.parametrize("name", EXAMPLES)
def test_a_misspelt_statement_is_answered_with_its_first_word(name: str) -> None:
    assert EXAMPLES[name].split()[0] in parse._STATEMENTS


def test_every_statement_is_raced_in_the_matrices_or_left_out_with_a_reason() -> None:
    target = Target(FIRST_ID, True, Layout.PARTITIONED)
    texts = [command.sql(target) for command in (*PUBLISHED, *EXTENDED, *ON_REQUEST)]
    raced = {type(parse_statement(text)).__name__ for text in texts if "micro-batch" not in text}
    assert not raced & NOT_RACED.keys()
    assert raced | NOT_RACED.keys() == _statement_classes()


@pytest.mark.parametrize("listing", COMMAND_LISTS)
def test_a_list_of_commands_names_commands(listing: str) -> None:
    """Those of operations in the log are the first words of commands."""
    texts = [*EXAMPLES.values(), "OPTIMIZE t ZORDER BY (a)"]
    recorded = {parse_statement(text).command for text in texts}
    assert COMMAND_LISTS[listing] <= recorded | {STREAMING}


# A job -----------------------------------------------------------------------------------------


def test_every_kind_of_job_has_an_example_here() -> None:
    kinds = {name: item for name, item in vars(jobs).items() if hasattr(item, "is_committed")}
    made = {name for name, kind in kinds.items() if not inspect.isabstract(kind)}
    assert JOBS.keys() == made - {"Job"}


@pytest.mark.parametrize("kind", JOBS)
def test_every_kind_of_job_commits_and_can_be_replayed(kind: str) -> None:
    writer, command = JOBS[kind]
    run = run_scenario(scenario_of(document(duration="3 min", writers={"one": writer})))
    transactions = recorded_transactions(run.recording)
    replayed = [transaction for transaction in transactions if transaction.left_out is None]
    assert replayed
    assert {type(real_command(transaction)) for transaction in replayed} == {command}


# A fault ---------------------------------------------------------------------------------------


def test_every_fault_has_an_example_here() -> None:
    assert FAULTS.keys() == set(Fault.alternatives())


def _recorded_ends(faults: list[dict[str, Any]]) -> list[dict[str, Any]]:
    run = run_scenario(scenario_of(document(duration="3 min", faults=faults)))
    ends: list[dict[str, Any]] = run.recording.transactions.to_pylist()
    return ends


@pytest.mark.parametrize("kind", sorted(FAULTS.keys() - HARMLESS))
def test_every_fault_strikes_where_it_is_the_only_one(kind: str) -> None:
    """Also where no request is recorded, which lets runs take shorter ways."""
    assert _recorded_ends([{kind: FAULTS[kind]}]) != _recorded_ends([])


# A dialect -------------------------------------------------------------------------------------


def test_every_dialect_that_is_declared_can_be_chosen() -> None:
    declared = [value for value in vars(dialects).values() if isinstance(value, Dialect)]
    assert {dialect.name for dialect in declared} == DIALECTS.keys()


@pytest.mark.parametrize("dialect", DIALECTS.values(), ids=DIALECTS)
def test_every_dialect_has_published_tables_and_sources(dialect: Dialect) -> None:
    assert tables_of(dialect) or dialect.vendor is Vendor.DELTA_RS  # its makers publish none
    assert all(difference.source for difference in dialect.differences)
    assert dialect.differences or dialect.name == "delta-oss-4.4"
    assert dialect.vendor in Vendor


@pytest.mark.parametrize("dialect", [d for d in DIALECTS.values() if d.vendor is Vendor.DELTA_RS],
                         ids=lambda dialect: dialect.name)  # fmt: skip
def test_every_statement_is_an_operation_of_delta_rs_or_lacking_there(dialect: Dialect) -> None:
    words = {name: commands._words_of(parse_statement(EXAMPLES[name])) for name in EXAMPLES}
    lacking = {name for name, each in words.items() if not dialect.lacks.keys().isdisjoint(each)}
    assert not lacking & OPERATIONS_OF_DELTA_RS.keys()
    assert lacking | OPERATIONS_OF_DELTA_RS.keys() == _statement_classes()


@pytest.mark.parametrize("operation", sorted(set(OPERATIONS_OF_DELTA_RS.values())))
def test_an_operation_of_delta_rs_is_in_its_package(operation: str) -> None:
    *path, name = operation.removeprefix("DeltaTable.").split(".")
    home = deltalake if operation == "write_deltalake" else deltalake.DeltaTable
    assert hasattr(TableAlterer if path else home, name)


@pytest.mark.parametrize("room", ["engine", "sim", "reports", "whitecap"])
def test_nothing_is_decided_by_the_name_of_a_dialect(room: str) -> None:
    """A rule asks for a field of the dialect: a new one would have another name."""
    asks_the_name = r"dialect\.name\s*(?:\.startswith|\.endswith|==|!=|in\b)"
    asks_for_that_one = r"dialect (?:==|!=|is|is not) _?[A-Z]+_"
    decides = re.compile(f"{asks_the_name}|{asks_for_that_one}")
    for path in (ROOT / room).rglob("*.py"):
        assert not decides.search(path.read_text()), path.relative_to(ROOT)


# An outcome ------------------------------------------------------------------------------------


@pytest.mark.parametrize("outcome", RecordedOutcome)
def test_every_recorded_outcome_is_counted_by_a_measure(outcome: RecordedOutcome) -> None:
    (measure,) = (each for each in Measure if each == outcome.value)
    assert measure.unit.is_counted


@pytest.mark.parametrize("outcome", get_args(Outcome), ids=lambda kind: kind.__name__)
def test_every_outcome_of_the_engine_is_recorded_by_name(outcome: type) -> None:
    tree = ast.parse(inspect.getsource(records))
    matched = [node.cls.id for node in ast.walk(tree) if isinstance(node, ast.MatchClass)
               and isinstance(node.cls, ast.Name)]  # fmt: skip
    assert outcome.__name__ in matched
