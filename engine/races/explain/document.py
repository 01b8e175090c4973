"""An explanation as plain values: what is written as JSON, and what pages are made from."""

from __future__ import annotations

from collections.abc import Iterator

from whitecap.engine.dialects import Vendor, dialect_named
from whitecap.engine.races.explain.conflicts import Conflict
from whitecap.engine.races.explain.damage import RowDamage
from whitecap.engine.races.explain.explanation import Explanation
from whitecap.engine.races.explain.orders import Order, Refusal
from whitecap.engine.races.explain.suggestions import OF_METADATA, Suggestion
from whitecap.engine.races.interleaving.document import (
    RaceDocument,
    step_documents,
    verdict_document,
)
from whitecap.engine.races.interleaving.story import NAMES
from whitecap.engine.rules import Rule


def explanation_document(explanation: Explanation) -> RaceDocument:
    """The whole explanation. Every key is always there; what does not apply is empty or `None`."""
    vendor = dialect_named(explanation.dialect).vendor
    return {
        "answer": answer(explanation),
        "can_conflict": explanation.can_conflict,
        "dialect": explanation.dialect,
        "table": explanation.table,
        "facts": explanation.facts,
        "statements": dict(zip(NAMES, explanation.statements, strict=True)),
        "orders": [_order(order) for order in explanation.orders],
        "damage": [_damage(damage) for damage in explanation.damage],
        "conflicts": [_conflict(each, vendor) for each in explanation.conflicts],
        "refusals": [_refusal(refusal) for refusal in explanation.refusals],
        "suggestions": [_suggestion(suggestion) for suggestion in explanation.suggestions],
        "tried": list(explanation.tried),
        "untried": explanation.untried,
        "otherwise": _otherwise(explanation),
    }


def answer(explanation: Explanation) -> str:
    """The answer in a sentence or two."""
    refused = [_refused(refusal) for refusal in explanation.refusals]
    if explanation.can_conflict:
        return " ".join([_conflicting(explanation), *refused, *_damaged(explanation)])
    if explanation.damage:
        return " ".join([*refused, *_damaged(explanation)])
    if any(refusal.always for refusal in explanation.refusals):
        return " ".join([*refused, "Nothing conflicts."])
    if any(refusal.side_by_side for refusal in explanation.refusals):
        return " ".join(refused)
    if refused:
        return " ".join(["They cannot conflict.", *refused])
    if explanation.idle:
        who = " and ".join(explanation.idle)
        verb = "have" if len(explanation.idle) > 1 else "has"
        return f"They cannot conflict on this table: {who} {verb} nothing to commit."
    return "They cannot conflict: both end well in every order."


def _conflicting(explanation: Explanation) -> str:
    exceptions = sorted({conflict.verdict.exception for conflict in explanation.conflicts})
    losers = {conflict.loser for conflict in explanation.conflicts}
    if len(losers) > 1:
        return f"They conflict: whichever commits second is aborted ({', '.join(exceptions)})."
    (loser,) = losers
    other = _other(loser)
    return f"They conflict: {loser} is aborted if {other} commits first ({', '.join(exceptions)})."


def _damaged(explanation: Explanation) -> Iterator[str]:
    """What becomes of rows where nobody is aborted, if anything does."""
    doubled = any(damage.doubled for damage in explanation.damage)
    returned = any(damage.returned for damage in explanation.damage)
    ways = [way for way, is_so in (("are doubled", doubled), ("come back", returned)) if is_so]
    if ways:
        lead = "In other orders nothing" if explanation.can_conflict else "Nothing"
        yield f"{lead} is aborted, but side by side rows {' and '.join(ways)}."


def _refused(refusal: Refusal) -> str:
    if refusal.always:
        return f"{refusal.who} is refused in any case ({refusal.error})."
    other = _other(refusal.who)
    if refusal.side_by_side:
        return f"Side by side with {other}, {refusal.who} is refused ({refusal.error})."
    return f"Run after {other}, {refusal.who} is refused ({refusal.error})."


def _other(who: str) -> str:
    first, second = NAMES
    return second if who == first else first


def _otherwise(explanation: Explanation) -> str:
    """What always avoids a conflict, empty if there is none."""
    if explanation.damage:
        return "Run them one after the other."
    if not explanation.can_conflict:
        return ""
    verdicts = [conflict.verdict for conflict in explanation.conflicts]
    if any(verdict.rule is Rule.IDENTITY_COLUMNS for verdict in verdicts):
        return (
            "Run them one after the other, or do without the identity column: it forbids concurrent"
            " transactions."
        )
    if any(conflict.is_refused_again for conflict in explanation.conflicts):
        return _without_rerun(explanation)
    if any(verdict.exception in OF_METADATA for verdict in verdicts):
        return "Change a table's metadata while nobody writes it, or run what was aborted again."
    return "Run them one after the other, or run what was aborted again."


def _without_rerun(explanation: Explanation) -> str:
    """What avoids a conflict whose loser would be refused if it ran again."""
    refused = sorted({refusal.who for refusal in explanation.refusals})
    if refused == list(NAMES):
        return "Run only one of them: whichever runs second is refused."
    (loser,) = refused
    other = _other(loser)
    return f"Run {loser} before {other}: after {other}, {loser} is refused."


def _order(order: Order) -> RaceDocument:
    return {
        "title": order.title,
        "steps": step_documents(order.lines),
        "endings": dict(zip(NAMES, order.endings, strict=True)),
        "aborted": list(order.aborted),
        "rows": order.rows,
    }


def _damage(damage: RowDamage) -> RaceDocument:
    return {
        "order": damage.order,
        "doubled": list(damage.doubled),
        "returned": list(damage.returned),
        "text": damage.text,
    }


def _conflict(conflict: Conflict, vendor: Vendor) -> RaceDocument:
    verdict = conflict.verdict
    return {
        "loser": conflict.loser,
        "winner": conflict.winner,
        **verdict_document(verdict, vendor),
        "file": conflict.file,
        "reads": conflict.reads,
        "partition": conflict.partition,
        "rerun": conflict.rerun,
    }


def _refusal(refusal: Refusal) -> RaceDocument:
    return {
        "who": refusal.who,
        "error": refusal.error,
        "message": refusal.message,
        "always": refusal.always,
        "side_by_side": refusal.side_by_side,
    }


def _suggestion(suggestion: Suggestion) -> RaceDocument:
    change = suggestion.change
    return {
        "key": change.key,
        "title": change.title,
        "how": list(change.how),
        "note": change.note,
        "statements": dict(zip(NAMES, change.case.statements, strict=True)),
        "schedules": suggestion.schedules,
    }
