"""Tables are written out where they stand: importing a module adds nothing to another one's."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

from whitecap.engine.sql.functions.function_nodes import FUNCTION_NODES
from whitecap.engine.sql.functions.operator_nodes import OPERATOR_NODES
from whitecap.engine.sql.predicates.compiler import BUILDERS

ROOT = Path(__file__).parents[2]
ROOMS = ("engine", "sim", "reports", "whitecap")


def _first_name(node: ast.expr) -> str | None:
    """`TABLE` of `TABLE.update(...)`, `TABLE["key"]` and `TABLE.own(...)(...)`."""
    match node:
        case ast.Name(id=name):
            return name
        case ast.Attribute(value=inner) | ast.Subscript(value=inner) | ast.Call(func=inner):
            return _first_name(inner)
    return None


def _imported_tables(tree: ast.Module) -> set[str]:
    """Names of values, not of modules, classes or functions, that come from another module."""
    imports = [node for node in tree.body if isinstance(node, ast.ImportFrom)]
    names = {alias.asname or alias.name for node in imports for alias in node.names}
    return {name for name in names if name.isupper() and len(name) > 1}


def _touched_on_import(tree: ast.Module) -> Iterator[ast.expr]:
    """What a module calls, fills or decorates with while it is imported."""
    for node in tree.body:
        match node:
            case ast.Expr(value=ast.Call() as call):
                yield call
            case ast.Assign(targets=targets):
                yield from (target for target in targets if not isinstance(target, ast.Name))
            case ast.AugAssign(target=target):
                yield target
            case ast.FunctionDef(decorator_list=decorators):
                yield from decorators
            case ast.ClassDef(decorator_list=decorators):
                yield from decorators


def _registrations(source: str) -> list[str]:
    tree = ast.parse(source)
    tables = _imported_tables(tree)
    return [ast.unparse(node) for node in _touched_on_import(tree) if _first_name(node) in tables]


@pytest.mark.parametrize("room", ROOMS)
def test_no_module_fills_the_table_of_another_one_by_being_imported(room: str) -> None:
    registrations = {path: _registrations(path.read_text()) for path in (ROOT / room).rglob("*.py")}
    assert registrations
    assert not {str(path): what for path, what in registrations.items() if what}


@pytest.mark.parametrize(
    "line",
    ["TABLE.update({1: 2})", "TABLE[1] = 2", "TABLE |= {1: 2}", "@TABLE.own('x')\ndef f(): ..."],
)
def test_a_registration_is_seen(line: str) -> None:
    assert _registrations(f"from whitecap.engine.somewhere import TABLE\n{line}")


def test_each_kind_of_node_has_one_builder() -> None:
    assert not OPERATOR_NODES.keys() & FUNCTION_NODES.keys()
    assert BUILDERS.keys() == OPERATOR_NODES.keys() | FUNCTION_NODES.keys()
