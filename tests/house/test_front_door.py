"""What `import whitecap` offers: seen at once by who looks, loaded when it is used."""

from __future__ import annotations

import ast
import inspect
from collections.abc import Iterator

import whitecap


def test_everything_that_is_offered_is_shown_and_there() -> None:
    assert [name for name in dir(whitecap) if not name.startswith("_")] == whitecap.__all__
    assert all(getattr(whitecap, name) is not None for name in whitecap.__all__)


def test_every_attribute_of_what_the_front_door_returns_is_described() -> None:
    offered = (getattr(whitecap, name) for name in whitecap.__all__)
    types = [each for each in offered if isinstance(each, type) and _is_of_the_front_door(each)]
    assert whitecap.Compared in types
    assert {each.__name__: list(_undescribed(each)) for each in types} == {
        each.__name__: [] for each in types
    }


def _is_of_the_front_door(offered: type) -> bool:
    return offered.__module__.split(".")[1] not in ("engine", "sim", "reports")


def _undescribed(offered: type) -> Iterator[str]:
    """Its public fields that neither a text below them nor the class's own names."""
    (written,) = ast.parse(inspect.getsource(offered)).body
    assert isinstance(written, ast.ClassDef)
    for field, below in zip(written.body, [*written.body[1:], None], strict=True):
        if not (isinstance(field, ast.AnnAssign) and isinstance(field.target, ast.Name)):
            continue
        name = field.target.id
        is_described = isinstance(below, ast.Expr) or f"`{name}`" in (offered.__doc__ or "")
        if not (name.startswith("_") or is_described):
            yield name
