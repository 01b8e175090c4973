"""Kinds of refusals that many share: of the analysis, of a requirement, of an assertion."""

from __future__ import annotations

from whitecap.engine.errors import DeltaError

IN_PLAN = "ExtendedAnalysisException"
"""What Spark makes of an analysis error that it finds in a plan."""


def analysis(error_class: str, text: str, exception: str = "DeltaAnalysisException") -> DeltaError:
    """An analysis error, or another one whose text begins with its class."""
    return DeltaError.of_class(exception, error_class, text)


def requirement(text: str) -> DeltaError:
    """A Scala `require` that failed."""
    return DeltaError("IllegalArgumentException", None, f"requirement failed: {text}")


def assertion(text: str) -> DeltaError:
    """A Scala `assert` that failed."""
    return DeltaError("AssertionError", None, f"assertion failed: {text}")
