"""Runs cases of either form on this engine, one after another."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from whitecap.engine.errors import InvalidInput
from whitecap.engine.races.conformance import statement_cases, transaction_cases
from whitecap.engine.races.conformance.case import Case, CaseResult, StatementCase, TransactionCase
from whitecap.engine.races.conformance.compare import failed


def run_cases(cases: Iterable[Case]) -> Iterator[CaseResult]:
    """The result of each case in order. A case that makes no sense has failed, with the reason."""
    for case in cases:
        try:
            yield _run(case)
        except InvalidInput as wrong:
            yield failed(case, "case", "a case that can be run", str(wrong))
        except Exception as crash:  # our bug, but no reason to leave the other cases unrun
            yield failed(case, "engine", "an outcome", f"{type(crash).__name__}: {crash}")


def _run(case: Case) -> CaseResult:
    match case:
        case TransactionCase():
            return transaction_cases.run_case(case)
        case StatementCase():
            return statement_cases.run_case(case)
