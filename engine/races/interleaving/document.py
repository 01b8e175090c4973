"""What pages, terminals and JSON show: values that any of them can write."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from whitecap.engine.outcomes import Verdict
from whitecap.engine.races.interleaving.story import Line

RaceDocument = dict[str, Any]
"""Texts, numbers, truth values and `None`, in lists and in mappings by name."""


def step_documents(lines: Iterable[Line]) -> list[RaceDocument]:
    """The turns of a schedule."""
    return [{"who": line.who, "text": line.text, "is_conflict": line.is_conflict} for line in lines]


def verdict_document(verdict: Verdict) -> RaceDocument:
    """What an aborted contender is told, by which rule, and what shows it."""
    return {
        "exception": verdict.exception.value,
        "error_class": verdict.error_class,
        "message": verdict.message,
        "rule": verdict.rule.value,
        "rule_text": verdict.rule.sentence,
        "source": verdict.rule.source,
        "evidence": verdict.evidence,
    }
