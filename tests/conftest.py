"""What tests of several rooms share: a worker's Spark session, the order, Hypothesis's profile."""

from __future__ import annotations

import gc
import os
import signal
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from hypothesis import settings
from xdist.scheduler import LoadScopeScheduling

from whitecap.engine.dialects import Dialect
from whitecap.sim.machine import processes
from whitecap.sim.replay.real.session import FEEDS_PYTHON
from whitecap.sim.replay.real.session_settings import INTERPRETED

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

ROOT = Path(__file__).parents[1]

OTHER_JVMS = ("tests/notebooks", "tests/replay/test_environment.py", "tests/under_fire")
"""Where tests with Spark start processes, whose JVMs no worker shares."""

# The same examples for the same code everywhere: a commit that passed once passes again. New ones
# are looked for by `make properties`. No deadline per example: machines have busy neighbours.
settings.register_profile("house", deadline=None, derandomize=True)
settings.register_profile("new", deadline=None, max_examples=500, print_blob=True)
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "house"))

# A search of old objects goes through all that pytest keeps of 20,000 tests, and frees little: at
# Python's own thresholds searches take 7 to 10 % of the time. What ended runs leave is searched for
# before others begin (whitecap.sim.machine.garbage).
gc.set_threshold(7_000, 10, 100)

# As wide as in a file: xdist gives its workers 80 columns, a run without it has none.
os.environ["COLUMNS"] = "120"


# Who starts the tests in the background may have Ctrl-C ignored, for everything below as well.
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)


# No JVM of a test lives until its optimizing compiler is repaid (236 s of CPU instead of 282), and
# its collector's threads would have the cores of the workers (4 % of it).
os.environ.setdefault("SPARK_SUBMIT_OPTS", FEEDS_PYTHON)


# Every core has a worker: others beside it only take seconds to start. Tests of what happens in
# other processes start them at once instead.
processes.HERE_S = 60.0


@pytest.fixture(scope="session")
def spark() -> SparkSession:
    """One session with Delta Lake per worker: it takes seconds to start.

    Its tables are small, and plans interpreted: 156 s of CPU instead of 198 for 27 of these tests.
    """
    from whitecap.sim.replay.real.session import delta_session

    session = delta_session()
    for key, value in INTERPRETED.items():
        session.conf.set(key, value)
    return session


def pytest_make_parametrize_id(val: object) -> str | None:
    """A dialect is called by its name: its sets would be spelt otherwise by each worker."""
    return val.name if isinstance(val, Dialect) else None


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Let the tests with Spark begin first: they take longest."""
    items.sort(key=lambda item: item.get_closest_marker("spark") is None)


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config: pytest.Config, log: object) -> LoadScopeScheduling:
    """Give a worker whole files, which share what their fixtures make, and one of them Spark.

    A second session would have to be started, and its JVM to warm up again: a tenth of the CPU time
    of the tests that use it.
    """
    scheduler = LoadScopeScheduling(config, log)
    scheduler._split_scope = _group_of
    return scheduler


def _group_of(nodeid: str) -> str:
    file = nodeid.partition("::")[0]
    return "spark" if _uses_session(file) else file


@cache
def _uses_session(file: str) -> bool:
    return "mark.spark" in (ROOT / file).read_text() and not file.startswith(OTHER_JVMS)
