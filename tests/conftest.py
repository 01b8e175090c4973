"""What tests of several rooms share: one Spark session, its place in a run, Hypothesis's profile.

Tests run on two workers. All that need real Delta Lake stay together on one of them, so that only
one session is started; they come first, because they take longest.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from hypothesis import settings

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

# No deadline per example: the machines that run this have busy neighbours.
settings.register_profile("house", deadline=None)
settings.load_profile("house")


@pytest.fixture(scope="session")
def spark() -> SparkSession:
    """One session with Delta Lake for the whole run: it takes seconds to start."""
    from sim.replay.session import delta_session

    return delta_session()


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Keep the tests with Spark on one worker, and let them begin first."""
    for item in items:
        if item.get_closest_marker("spark"):
            item.add_marker(pytest.mark.xdist_group("spark"))
    items.sort(key=lambda item: item.get_closest_marker("spark") is None)
