"""Tables of cases are built once and copied; one that could not be built is never copied."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from whitecap.engine.races.row_tables import TableOf
from whitecap.sim.replay import statement_cases
from whitecap.sim.replay.statement_cases import Templates

TABLE = TableOf(schema="x INT", partition_columns=[], properties={}, files=[], versions=1)


def test_a_table_that_was_left_half_built_is_built_again(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    tries: list[Path] = []

    def build(_spark: Any, _table: TableOf, folder: Path) -> None:
        folder.mkdir(parents=True)
        tries.append(folder)
        if len(tries) == 1:
            raise ValueError("no space left")
        (folder / "whole").touch()

    monkeypatch.setattr(statement_cases, "build_table", build)
    templates: Any = Templates(None, tmp_path / "templates")  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="no space left"):
        templates.copy(TABLE, tmp_path / "first")
    templates.copy(TABLE, tmp_path / "second")
    templates.copy(TABLE, tmp_path / "third")
    assert len(tries) == 2
    assert (tmp_path / "second" / "whole").exists()
    assert (tmp_path / "third" / "whole").exists()
