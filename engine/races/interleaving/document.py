"""What pages, terminals and JSON show: values that any of them can write."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Any

from whitecap.engine.dialects import Vendor
from whitecap.engine.outcomes import Verdict
from whitecap.engine.races.interleaving.story import Line

RaceDocument = dict[str, Any]
"""Texts, numbers, truth values and `None`, in lists and in mappings by name."""


def step_documents(lines: Iterable[Line]) -> list[RaceDocument]:
    """The turns of a schedule."""
    return [{"who": line.who, "text": line.text, "is_conflict": line.is_conflict} for line in lines]


_CAPITAL = re.compile(r"(?<=[a-z])(?=[A-Z])")


def verdict_document(verdict: Verdict, vendor: Vendor) -> RaceDocument:
    """What an aborted contender is told, by which rule, and what shows it.

    delta-rs has no error classes, and no message of Delta's; its `conflict_checker.rs` has Delta's
    checks under their names, in the spelling of Rust.
    """
    if vendor is Vendor.DELTA_RS:
        check = _CAPITAL.sub("_", verdict.rule.source.partition(": ")[2]).lower()
        own = {"error_class": "", "message": "", "source": f"conflict_checker.rs: {check}"}
        return {**verdict_document(verdict, Vendor.DELTA), **own}
    return {
        "exception": verdict.exception.value,
        "error_class": verdict.error_class,
        "message": verdict.message,
        "rule": verdict.rule.value,
        "rule_text": verdict.rule.sentence,
        "source": verdict.rule.source,
        "evidence": verdict.evidence,
    }
