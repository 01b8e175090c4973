"""An explanation as plain values: what is written as JSON, and what pages are made from."""

from __future__ import annotations

from typing import Any

from engine.explain.explanation import Conflict, Explanation, Order, Suggestion

Plain = dict[str, Any]


def plain(explanation: Explanation) -> Plain:
    """The whole explanation. Every key is always there; what does not apply is empty or `None`."""
    return {
        "answer": answer(explanation),
        "can_conflict": explanation.can_conflict,
        "dialect": explanation.dialect,
        "table": explanation.table,
        "facts": explanation.facts,
        "statements": dict(zip("AB", explanation.statements, strict=True)),
        "orders": [_order(order) for order in explanation.orders],
        "conflicts": [_conflict(conflict) for conflict in explanation.conflicts],
        "suggestions": [_suggestion(one) for one in explanation.suggestions],
        "tried": list(explanation.tried),
        "untried": explanation.untried,
    }


def answer(explanation: Explanation) -> str:
    """The answer in one sentence."""
    if not explanation.can_conflict:
        return "They cannot conflict: both end well in every order."
    exceptions = sorted({conflict.verdict.exception for conflict in explanation.conflicts})
    losers = {conflict.loser for conflict in explanation.conflicts}
    if len(losers) > 1:
        return f"They conflict: whichever commits second is aborted ({', '.join(exceptions)})."
    (loser,) = losers
    other = "B" if loser == "A" else "A"
    return f"They conflict: {loser} is aborted if {other} commits first ({', '.join(exceptions)})."


def _order(order: Order) -> Plain:
    return {
        "title": order.title,
        "steps": [
            {"who": line.who, "text": line.text, "is_conflict": line.is_conflict}
            for line in order.lines
        ],
        "endings": dict(zip("AB", order.endings, strict=True)),
        "aborted": list(order.aborted),
        "rows": order.rows,
    }


def _conflict(conflict: Conflict) -> Plain:
    verdict = conflict.verdict
    return {
        "loser": conflict.loser,
        "winner": conflict.winner,
        "exception": verdict.exception.value,
        "error_class": verdict.error_class,
        "message": verdict.message,
        "rule": verdict.rule,
        "rule_text": conflict.rule.text,
        "source": conflict.rule.source,
        "evidence": verdict.evidence,
        "file": conflict.file,
        "reads": conflict.reads,
        "partition": conflict.partition,
        "rerun": conflict.rerun,
    }


def _suggestion(suggestion: Suggestion) -> Plain:
    change = suggestion.change
    return {
        "key": change.key,
        "title": change.title,
        "how": list(change.how),
        "note": change.note,
        "statements": dict(zip("AB", change.case.statements, strict=True)),
        "schedules": suggestion.schedules,
    }
