"""What tests of several rooms share: the one Spark session of a test run."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


@pytest.fixture(scope="session")
def spark() -> SparkSession:
    """One session with Delta Lake for the whole run: it takes seconds to start."""
    from sim.replay.session import delta_session

    return delta_session()
