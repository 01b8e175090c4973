"""The answer in words: a headline and the sentences behind it, the same wherever it is shown."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import groupby

from whitecap.engine.recorded import Measure, Unit
from whitecap.reports.answers.behind import behind
from whitecap.reports.answers.capacity import Capacity
from whitecap.reports.answers.choice import RANKED_BY, THEN_BY, DesignChoice
from whitecap.reports.answers.findings import AnswerFindings, UnderLoad
from whitecap.reports.answers.grid import Design, OfferedLoad
from whitecap.reports.answers.phrases import (
    asked,
    at_text,
    found_text,
    held_text,
    loads_text,
    objective_text,
    the_objectives,
)
from whitecap.reports.answers.standing import CellStanding, ObjectiveStanding
from whitecap.reports.layout import is_number
from whitecap.reports.measures import written
from whitecap.reports.measures.measured_run import Runs
from whitecap.reports.statistics import EstimatedDifference, written_difference
from whitecap.reports.words import listed, sentence

MOST_NAMED = 4
"""Designs that one sentence names; the tables have them all."""

MOST_SHORT = 2
"""Objectives of one cell that are told as missed or undecided."""


FALLING_SHORT = {
    ObjectiveStanding.MISSED: ("misses {}", "miss {}"),
    ObjectiveStanding.UNDECIDED: ("is undecided", "are undecided"),
    ObjectiveStanding.TOO_FEW: ("has too few jobs to judge by", "have too few jobs to judge by"),
}
"""What is said of a design that does not meet the objectives, and of several."""


AS_FAR = "as far as it can be judged"
"""Said where a writer group has too few jobs to judge by."""


_DAMAGE_OF_ONE = ("damages its table", "it is")
_DAMAGE_OF_SEVERAL = ("damage their tables", "they are")


def headline_of(findings: AnswerFindings) -> str:
    """The answer in one sentence, without a full stop."""
    if _is_one_cell(findings):
        return _of_one_cell(findings, findings.loads[0].standing)
    if len(findings.capacities) == 1:
        return f"The table {capacity_text(findings, findings.capacity)}"
    parts = [_of_loads(findings, list(same)) for _, same in groupby(findings.loads, _said)]
    return _capital("; ".join(parts))


def sentences_of(findings: AnswerFindings, measured: Mapping[str, Runs]) -> tuple[str, ...]:
    """What stands behind the headline, most important first."""
    every = [
        *_damaging(findings),
        _asked(findings),
        *_capacities(findings),
        *_limits(findings),
        *_by_itself(findings),
        *_counted(findings),
        *_falling_short(findings),
        *_rankings(findings),
        *_flattered(findings),
        *_to_decide(findings, measured),
        *_too_few(findings),
        *behind(findings, measured),
    ]
    return tuple(map(sentence, every))


def _capital(text: str) -> str:
    return sentence(text).removesuffix(".")


def _is_one_cell(findings: AnswerFindings) -> bool:
    return len(findings.grid.loads) == 1 and len(findings.grid.designs) == 1


def _of_one_cell(findings: AnswerFindings, standing: CellStanding) -> str:
    match standing.stands:
        case ObjectiveStanding.MET:
            verb = "is" if len(findings.objectives.each) == 1 else "are"
            as_far = f", {AS_FAR}" if standing.those(ObjectiveStanding.TOO_FEW) else ""
            return _capital(f"{the_objectives(findings.objectives)} {verb} met{as_far}")
        case ObjectiveStanding.TOO_FEW:
            least = min(standing.objectives, key=lambda each: each.judged.measured, default=None)
            detail = f": {found_text(least)}" if least else ""
            return f"Too few jobs to judge{detail}"
        case stands:
            worst, *others = standing.short
            more = f" (and {len(others)} more)" if others else ""
            return _capital(f"{stands.value}: {found_text(worst)}{more}")


def _said(under: UnderLoad) -> tuple[ObjectiveStanding, Design | None]:
    """What loads that are told together have in common."""
    stands = under.standing.stands
    return stands, None if stands is ObjectiveStanding.MISSED else under.design


def _of_loads(findings: AnswerFindings, same: Sequence[UnderLoad]) -> str:
    """What is chosen under some loads, as a clause."""
    where = at_text([under.load for under in same])
    name, objectives = same[0].design.title, the_objectives(findings.objectives)
    match same[0].standing.stands:
        case ObjectiveStanding.MET:
            return f"{where}choose {name}"
        case ObjectiveStanding.UNDECIDED:
            return f"{where}perhaps {name}: whether it meets {objectives} is undecided"
        case ObjectiveStanding.TOO_FEW:
            return f"{where}too few jobs to judge by"
        case ObjectiveStanding.MISSED:
            near = "" if len(same) > 1 else f", {name} comes nearest"
            return f"{where}nothing meets {objectives}{near}"


def _damaging(findings: AnswerFindings) -> Iterator[str]:
    """Which designs do not leave the table whole, and under which loads."""
    if _is_one_cell(findings):
        return
    loads = {
        design: [load for cell, load in findings.grid.of(design) if cell in findings.damaged]
        for design in findings.grid.designs
    }
    names = [f"{at_text(hit)}{design.title}" for design, hit in loads.items() if hit]
    if names:
        damages, are = _DAMAGE_OF_SEVERAL if names[1:] else _DAMAGE_OF_ONE
        yield (
            f"{_some(names)} {damages} (commits lost, doubled or over removed files): {are} "
            f"chosen only where nothing else meets {the_objectives(findings.objectives)}"
        )


def _asked(findings: AnswerFindings) -> str:
    stated = "; ".join(map(objective_text, findings.objectives.each))
    default = " (the default: the scenario states no objective)"
    return f"asked for: {stated}{default if findings.objectives.are_default else ''}"


def _capacities(findings: AnswerFindings) -> Iterator[str]:
    """What the named design takes, and what the others do."""
    if len(findings.capacities) == 1 or len(findings.loads) == 1:
        return
    yield f"with {findings.design.title} the table {capacity_text(findings, findings.capacity)}"
    others = {design: c for design, c in findings.capacities.items() if design != findings.design}
    for text in dict.fromkeys(capacity_text(findings, each) for each in others.values()):
        same = [d.title for d, each in others.items() if capacity_text(findings, each) == text]
        yield f"with {_some(same)} it {text}"


def capacity_text(findings: AnswerFindings, capacity: Capacity) -> str:
    """What a table takes: `takes 12 writers for sure, 16 perhaps`."""
    shown, perhaps = capacity.heaviest_shown, capacity.heaviest_perhaps
    if shown and perhaps:
        return f"takes {loads_text(shown)} {_surety(capacity)}, {_without_unit(perhaps)} perhaps"
    if shown:
        is_all = len(capacity.shown) == len(findings.loads)
        more = "the most that was tried" if is_all else "no more"
        return f"takes {loads_text(shown)} {_surety(capacity)}, {more}"
    if perhaps:
        return f"takes {loads_text(perhaps)} perhaps, nothing for sure"
    return f"does not even take {loads_text([findings.loads[0].load])}"


def _surety(capacity: Capacity) -> str:
    """How sure that is which a design is shown to take."""
    if not capacity.is_judged:
        return AS_FAR
    return "for sure" if capacity.is_sure else "as far as the runs show"


def _without_unit(loads: Sequence[OfferedLoad]) -> str:
    """`16` for `16 writers`, where these were just spoken of."""
    text = loads_text(loads)
    return text.partition(" ")[0] if len(loads) == 1 and is_number(text.split()[0]) else text


def _limits(findings: AnswerFindings) -> Iterator[str]:
    """What is undecided or missed by what is named, where that first happens and at its worst."""
    if _is_one_cell(findings):
        for each in findings.loads[0].standing.short[1:]:
            yield found_text(each)
        return
    for under in _first_of_each(findings):
        name = under.design.title or "it"
        for each in under.standing.short[:MOST_SHORT]:
            is_missed = each.stands is ObjectiveStanding.MISSED
            said = f"misses {the_objectives(findings.objectives)}" if is_missed else "is undecided"
            yield f"{at_text([under.load])}{name} {said}: {found_text(each)}"


def _by_itself(findings: AnswerFindings) -> Iterator[str]:
    """The lightest load under which what is chosen is met, but not for sure."""
    for under in findings.loads:
        if under.standing.stands is ObjectiveStanding.MET and not under.standing.is_shown:
            yield (
                f"{at_text([under.load])}{under.design.title} meets "
                f"{the_objectives(findings.objectives)} by its own interval, which is not enough "
                f"to be sure of one that was picked from {findings.picked_from}"
            )
            return


def _counted(findings: AnswerFindings) -> Iterator[str]:
    """Of the named cell, how many runs may miss a count that all of those seen meet."""
    for each in findings.standings[findings.cell].objectives:
        if each.missed_at_most is not None:
            seen = each.estimate.replications
            none = f"none of {seen} runs misses" if seen > 1 else "the one run does not miss"
            most = written(each.missed_at_most, Unit.SHARE)
            what = f"{held_text(each.held)} {asked(each.held.objective)}"
            yield f"{at_text([findings.load])}{none} {what}, so at most {most} of runs do"


def _falling_short(findings: AnswerFindings) -> Iterator[str]:
    """Which of the others do not meet the objectives; under several loads capacities tell that."""
    under, *more_loads = findings.loads
    if more_loads or under.standing.stands is ObjectiveStanding.MISSED:
        return
    others = {design: each for design, each in under.standings.items() if design != under.design}
    for stands, (of_one, of_several) in FALLING_SHORT.items():
        short: dict[str, list[str]] = {}
        for design, each in others.items():
            if each.stands is stands:
                short.setdefault(_missed_of(findings, each), []).append(design.title)
        for missed, names in short.items():
            yield f"{_some(names)} {(of_several if names[1:] else of_one).format(missed)}"


def _missed_of(findings: AnswerFindings, standing: CellStanding) -> str:
    """What a design misses: with names, where the scenario asks for several things."""
    missed = [held_text(each.held) for each in standing.those(ObjectiveStanding.MISSED)]
    is_plain = len(findings.objectives.each) == 1 or not missed
    said = the_objectives(findings.objectives)
    return said if is_plain else f"{said}: {_some(missed)}"


def _first_of_each(findings: AnswerFindings) -> Iterator[UnderLoad]:
    """The lightest load that is undecided, and the lightest that is missed."""
    for stands in (ObjectiveStanding.UNDECIDED, ObjectiveStanding.MISSED):
        for under in findings.loads:
            if under.standing.stands is stands:
                yield under
                break


def _rankings(findings: AnswerFindings) -> Iterator[str]:
    """How what is named compares with all others that meet the objectives, load by load."""
    ranked = [under for under in findings.loads if under.choice and len(under.standings) > 1]
    for (name, alike), same in groupby(ranked, _equal):
        if alike:
            yield (
                f"{at_text([under.load for under in same])}{name} cannot be told apart from "
                f"{_some(alike)}, in goodput and wasted compute"
            )
    for under in ranked:
        assert under.choice is not None
        yield from _worse(under, THEN_BY, under.choice.more_waste, under.choice.best)
        less = {cell: -gap for cell, gap in under.choice.less_goodput.items()}
        yield from _worse(under, RANKED_BY, less, under.choice.most)


def _equal(under: UnderLoad) -> tuple[str, tuple[str, ...]]:
    """What is named, and what is as good."""
    good = under.choice.good if under.choice else ()
    others = (cell for cell in good if cell != under.standing.cell)
    return under.design.title, tuple(under.design_of(cell).title for cell in others)


def _worse(
    under: UnderLoad, measure: Measure, gaps: Mapping[str, EstimatedDifference], best: str
) -> Iterator[str]:
    """Those that are distinguishably worse by one measure, nearest first."""
    if not gaps:
        return
    said = "more compute is wasted" if measure is THEN_BY else "less work gets through"
    name = under.design_of(best).title
    shown = [
        f"{under.design_of(cell).title} {written_difference(gap, measure.unit)}"
        for cell, gap in list(gaps.items())[:MOST_NAMED]
    ]
    more = f" and {len(gaps) - MOST_NAMED} more" if len(gaps) > MOST_NAMED else ""
    where = at_text([under.load])
    yield f"{where}compared with {name}, {said}: {', '.join(shown)}{more}"


def _flattered(findings: AnswerFindings) -> Iterator[str]:
    """By how much the best of those that cannot be told apart looks better than it is."""
    parts = [
        f"{at_text([under.load])}the goodput of {under.design_of(choice.most).title} may be about "
        f"{written(choice.flattered_by, RANKED_BY.unit)} too high ({_compared(choice)})"
        for under in findings.loads
        if (choice := under.choice) and choice.flattered_by > 0
    ]
    if parts:
        yield f"what was chosen as the best looks better than it is: {'; '.join(parts)}"


def _compared(choice: DesignChoice) -> str:
    alike = choice.compared - len(choice.less_goodput)
    caveat = f", {alike} of which cannot be told apart by it" if alike < choice.compared else ""
    return f"the highest of {choice.compared} that were compared{caveat}"


def _to_decide(findings: AnswerFindings, measured: Mapping[str, Runs]) -> Iterator[str]:
    """How many replications a sweep takes to decide everything that is undecided in it."""
    undecided = [s for s in findings.standings.values() if s.stands is ObjectiveStanding.UNDECIDED]
    needed = [each.needed for each in undecided if each.needed is not None]
    if _is_one_cell(findings) or not needed:
        return
    where = f"in {len(needed)} of {len(measured)} cells"
    rest = len(undecided) - len(needed)
    more = f"; {rest} more would not be decided by them" if rest else ""
    yield (
        f"to decide what is undecided {where} takes about {max(needed):,} replications "
        f"({max(needed) * len(measured):,} runs), as far as they are like those seen{more}"
    )


def _too_few(findings: AnswerFindings) -> Iterator[str]:
    """Writer groups that are not judged: of the named cell, or else where the named design takes a
    load only as far as it can be judged."""
    shown = findings.capacity.shown
    taken = (cell for cell, load in findings.grid.of(findings.design) if load in shown)
    for cell in (findings.cell, *taken):
        few = findings.standings[cell].those(ObjectiveStanding.TOO_FEW)
        if few:
            where = "" if cell == findings.cell else at_text([findings.load_of(cell)])
            yield f"{where}too few jobs to judge: {'; '.join(map(found_text, few))}"
            return


def _some(names: Sequence[str]) -> str:
    if len(names) <= MOST_NAMED:
        return listed(names)
    return f"{', '.join(names[:MOST_NAMED])} and {len(names) - MOST_NAMED} more"
