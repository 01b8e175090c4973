"""What to change, in words."""

from __future__ import annotations

import math
from collections.abc import Iterator

from whitecap.engine.recorded import Unit
from whitecap.reports.advice.result import Advice, Behind
from whitecap.reports.advice.steps import Bought, DesignStep, Stood
from whitecap.reports.answers.phrases import held_text, objective_text
from whitecap.reports.answers.survivors import SUCCESS, unasked
from whitecap.reports.layout import phrase
from whitecap.reports.measures import written
from whitecap.reports.planning.wording import quantity_text, unjudged
from whitecap.reports.statistics import Standing, said_estimate, written_difference
from whitecap.reports.words import counted, listed, sentence


def advice_text(advice: Advice) -> str:
    """The answer, each step with what it buys, how all stands, and what was searched."""
    lines = [headline(advice), *standings(advice)]
    for number, step in enumerate(advice.steps, 1):
        lines.append(f"{number}. {step_text(step)}")
        lines += [f"   {each}" for each in bought_texts(advice, step)]
    for behind in advice.behind:
        lines += behind_texts(behind)
    return "\n".join([*lines, *notes(advice)])


def headline(advice: Advice) -> str:
    """The answer in a sentence, and in another what of it nobody would want unseen."""
    return f"{_answer(advice)}{_at_the_cost_of_jobs(advice)}"


def _at_the_cost_of_jobs(advice: Advice) -> str:
    """A latency is kept best by losing the jobs that would be late."""
    if advice.loses is None:
        return ""
    before, after = (said_estimate(each.success, SUCCESS.unit) for each in advice.loses)
    whose = advice.loses[1].jobs
    return (
        f" But then {after} of {whose} commit instead of {before}, and nothing is asked of their "
        "success."
    )


def _answer(advice: Advice) -> str:
    objectives = listed([objective_text(each) for each in advice.objectives])
    match advice.best.value.standing, bool(advice.steps):
        case Standing.MET, False:
            return f"Nothing that may be changed is cheaper and meets {objectives}: it stays."
        case Standing.MET, True:
            return f"Cheapest found that meets {objectives}: {_way(advice)}."
        case Standing.UNDECIDED, _:
            return f"Whether the best found meets {objectives} stays undecided{_best_way(advice)}."
        case _:
            return f"Nothing that was found meets {objectives}{_best_way(advice)}."


def _best_way(advice: Advice) -> str:
    return f"; it is {_way(advice) if advice.steps else 'what stands'}"


def _way(advice: Advice) -> str:
    """Its changes; a number is named by its axis."""
    return listed([phrase({each.kind: each.label}) for each in advice.steps])


def standings(advice: Advice) -> Iterator[str]:
    """How what stands does, and the best."""
    yield f"As it stands: {_stood_text(advice, advice.stands)}."
    if advice.steps:
        yield f"Changed: {_stood_text(advice, advice.best)}."
    yield from _deciding(advice.best)
    yield from map(sentence, unasked(advice.best.value.surviving))
    both = {"as it stands": advice.stands.value, "changed": advice.best.value}
    yield from map(sentence, unjudged(both))


def _deciding(best: Stood) -> Iterator[str]:
    """How many replications would decide what is not, where anybody can say."""
    judged = best.value.judged
    needed = max((each.needed for each in judged if each.standing is Standing.UNDECIDED), default=0)
    if best.value.replications < needed < math.inf:
        about = f"About {math.ceil(needed):,} replications would decide"
        yield f"{about}, if they are like those seen."


def _stood_text(advice: Advice, stood: Stood) -> str:
    cost = said_estimate(stood.cost, Unit.MONEY)
    worst = quantity_text(stood.value.quantities[0])
    survived = "".join(f", {each.text}" for each in stood.value.surviving[:1])
    return f"{worst}{survived}, a job that brings data costs {cost} {advice.currency}"


def step_text(step: DesignStep) -> str:
    """`partitioning: events partitioned by date`."""
    return f"{step.kind}: {step.label}"


def bought_texts(advice: Advice, step: DesignStep) -> Iterator[str]:
    """What it changes of each measure; a step that shows nothing is told so."""
    for each in step.bought:
        yield _bought_text(advice, each)
    if not step.is_distinguishable:
        yield "what it buys cannot be told from nothing: leave it out"


def _bought_text(advice: Advice, bought: Bought) -> str:
    unit = bought.followed.measure.unit
    gap = "n/a" if bought.gap is None else written_difference(bought.gap, unit)
    currency = f" {advice.currency}" if unit is Unit.MONEY else ""
    before, after = (written(e.point, unit) for e in (bought.before, bought.after))
    return f"{held_text(bought.followed)} {before} to {after}{currency}: {gap}"


def behind_texts(behind: Behind) -> Iterator[str]:
    """What stands behind a refusal."""
    part = written(behind.waste, Unit.SHARE, 2)
    yield (
        f"Behind {part} of what aborts waste as it stands: {behind.loser} aborted by "
        f"{behind.winner} ({behind.exception}, {counted(behind.count, 'time')})"
    )
    if behind.statements is not None:
        yield from (f"   {each}" for each in _statement_texts(*behind.statements))
    yield f"   {behind.answer}"
    yield from (f"   avoids it: {each}" for each in behind.suggestions)


def _statement_texts(first: str, second: str) -> Iterator[str]:
    """Two that were raced; a statement that stops itself is told once."""
    if first == second:
        yield f"A and B: {first}"
    else:
        yield f"A: {first}"
        yield f"B: {second}"


def notes(advice: Advice) -> Iterator[str]:
    """What was searched, and why the numbers are not those of a winner."""
    searched = advice.searched
    kinds = ", ".join(
        f"{kind} ({counted(count, 'change')})" for kind, count in searched.kinds.items()
    )
    cut = "; it ended there, more runs would have been needed" if searched.is_cut else ""
    yield (
        f"Searched: {kinds}; {searched.looked_at:,} of {searched.designs:,} combinations, one "
        f"change after the other, {searched.runs:,} runs with at most {searched.most} "
        f"replications of each{cut}."
    )
    yield (
        f"All numbers above are from {searched.fresh} fresh replications of each design on the "
        "way, which chose nothing: the winner is not flattered. Differences are paired and hold "
        f"together with 95 %; seed {searched.seed}."
    )
    if searched.refused:
        refused = "; ".join(f"{label} ({why})" for label, why in searched.refused.items())
        yield f"Not possible: {refused}."
