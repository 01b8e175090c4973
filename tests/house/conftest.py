"""What tests of an installed Whitecap share."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.house.fresh_environments import built_wheel


@pytest.fixture(scope="session")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The wheel of this checkout, built from a copy of its sources."""
    return built_wheel(tmp_path_factory.mktemp("wheel"))
