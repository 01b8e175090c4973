"""Runs conformance cases on a real Delta Lake: the other half of `whitecap conformance`."""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING

from whitecap.engine.races.conformance.case import MIXED, Case, CaseResult, TransactionCase
from whitecap.engine.races.conformance.compare import skipped
from whitecap.sim.replay.real.jvm import Jvm
from whitecap.sim.replay.real.releases import release_here
from whitecap.sim.replay.real.session import delta_session
from whitecap.sim.replay.statement_cases import Templates, run_statement_case
from whitecap.sim.replay.transaction_cases import run_transaction_case

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


def run_cases(cases: Iterable[Case], spark: SparkSession | None = None) -> Iterator[CaseResult]:
    """Run cases one after another, each in a folder of its own; results come as they are known.

    Starts the process's session if none is given. Raises EnvironmentMissing.
    """
    session = spark or delta_session()
    work = Path(tempfile.mkdtemp(prefix="whitecap-conformance-"))
    templates = Templates(session, work / "templates")
    try:
        for number, case in enumerate(cases):
            yield _run(session, case, templates, work / f"case-{number}")
    finally:
        shutil.rmtree(work, ignore_errors=True)


def _run(spark: SparkSession, case: Case, templates: Templates, folder: Path) -> CaseResult:
    here = release_here().dialect
    if case.dialect != here:
        return skipped(case, f"dialect {case.dialect}; this is {here}")
    try:
        if isinstance(case, TransactionCase):
            return run_transaction_case(spark, case, folder)
        if case.winner_dialect:
            return skipped(case, MIXED)
        return run_statement_case(spark, case, templates, folder)
    finally:
        shutil.rmtree(folder, ignore_errors=True)
        Jvm(spark).forget_tables()
