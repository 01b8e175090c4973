"""A plan in words: the boundary of each variant, and why it is not narrower."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from whitecap.reports.answers.overload import overload_text
from whitecap.reports.answers.phrases import NO_JOB_DUE, held_text, objective_text
from whitecap.reports.answers.survivors import unasked
from whitecap.reports.planning.planned import Boundary, Plan, PlannedVariant
from whitecap.reports.planning.search import Sense
from whitecap.reports.planning.trying import Quantity, TriedValue
from whitecap.reports.statistics import Standing, said_estimate
from whitecap.reports.words import counted, listed, sentence


def plan_text(plan: Plan) -> str:
    """The headline, a line per variant, and what stands behind it."""
    width = max(len(each.name) for each in plan.variants)
    lines = [f"{headline(plan)}:"]
    for variant in plan.variants:
        boundary = boundary_text(variant.boundary, plan.labels)
        lines.append(f"  {variant.name:{width}}  {boundary}")
        lines += [f"    {each}" for each in (*variant.warnings, *reasons(plan, variant))]
    lines.append(ending(plan))
    return "\n".join(lines)


def headline(plan: Plan) -> str:
    """What the boundaries are of: `Largest writers.etl.count at which job success rate of every
    writer group at least 99 % holds`."""
    senses = {each.boundary.sense for each in plan.variants}
    sense = sense_text(senses.pop() if len(senses) == 1 else None)
    verb = "holds" if len(plan.objectives) == 1 else "hold"
    objectives = listed([objective_text(each) for each in plan.objectives])
    text = sentence(f"{sense} {plan.path} at which {objectives} {verb}").removesuffix(".")
    return f"{text}, with its 95 % interval"


def sense_text(sense: Sense | None) -> str:
    """Which end of the values that hold it is."""
    return "boundary of" if sense is None else sense.value


def ending(plan: Plan) -> str:
    """How many runs it took, and what ended it."""
    text = f"{counted(plan.runs, 'run')} with the same random numbers everywhere, seed {plan.seed}"
    if plan.is_interrupted:
        return f"{text}; interrupted, this is what was known then"
    if any(each.is_cut for each in plan.variants):
        return f"{text}; more than {plan.most_runs:,} would have been needed to end the search"
    return text


def boundary_text(boundary: Boundary, labels: Sequence[str]) -> str:
    """`14 [13, 15]`, `not even 1`, `at least 200`, `at most 3, perhaps not even 1`."""
    first, last, end = labels[0], labels[-1], len(labels)
    low, high = boundary.low, boundary.high
    if boundary.point is not None and not _is_all(boundary, end):
        return f"{labels[boundary.point]} [{labels[low]}, {labels[high]}]"
    match boundary.sense:
        case Sense.LARGEST:
            return _largest(low, high, labels)
        case Sense.SMALLEST:
            return _smallest(low, high, labels)
        case None:
            return f"undecided from {first} to {last}"


def _is_all(boundary: Boundary, end: int) -> bool:
    """Whether the boundary lies at or beyond an end of the grid, for all that is known."""
    if boundary.sense is Sense.LARGEST:
        return boundary.high == end - 1
    return boundary.low == 0


def _largest(low: int, high: int, labels: Sequence[str]) -> str:
    first, last, end = labels[0], labels[-1], len(labels)
    match low < 0, high == end - 1:
        case True, True:
            return f"undecided from {first} to {last}"
        case True, False:
            none = f"not even {first}"
            return none if high < 0 else f"at most {labels[high]}, perhaps {none}"
        case _:
            return f"at least {labels[low]}" + (f", perhaps {last} or more" if low < high else "")


def _smallest(low: int, high: int, labels: Sequence[str]) -> str:
    first, last, end = labels[0], labels[-1], len(labels)
    match low == 0, high == end:
        case True, True:
            return f"undecided from {first} to {last}"
        case False, True:
            none = f"not even {last}"
            return none if low == end else f"at least {labels[low]}, perhaps {none}"
        case _:
            return f"at most {labels[high]}" + (f", perhaps {first} or less" if low < high else "")


def reasons(plan: Plan, variant: PlannedVariant) -> Iterator[str]:
    """What fails first beyond the boundary, what stays undecided at it, and what nobody judged."""
    failing = {at: t for at, t in variant.tried.items() if t.standing is Standing.MISSED}
    is_largest = variant.boundary.sense is not Sense.SMALLEST
    if failing:
        at = min(failing) if is_largest else max(failing)
        yield _at(plan, at, failing[at], Standing.MISSED, "misses")
    undecided = [at for at, t in sorted(variant.tried.items()) if t.standing is Standing.UNDECIDED]
    if undecided:
        near = min(undecided, key=lambda at: abs(variant.tried[at].quantities[0].margin))
        said = _at(plan, near, variant.tried[near], Standing.UNDECIDED, "is undecided")
        others = f" (as {counted(len(undecided) - 1, 'other value')})" if undecided[1:] else ""
        yield f"{said}{others}"
        shown = [plan.labels[at] for at in variant.shown_within]
        if shown:
            yield f"{_shown(shown, is_largest)}: the interval ends at the first undecided value"
    yield from _surviving(plan, variant)
    yield from unjudged({plan.labels[at]: tried for at, tried in sorted(variant.tried.items())})


def _surviving(plan: Plan, variant: PlannedVariant) -> Iterator[str]:
    """What the latency at the boundary is of: how many jobs committed there."""
    for each in variant.survivors[:1]:
        yield f"at {plan.labels[variant.stands_for_it]} {each.text}"
    yield from unasked(variant.survivors)


def unjudged(tried: Mapping[str, TriedValue]) -> Iterator[str]:
    """What is not judged, as no job of it was due, and at which values by their labels."""
    where: dict[str, list[str]] = {}
    for label, value in tried.items():
        for quantity in value.quantities:
            if quantity.is_idle:
                where.setdefault(held_text(quantity.held), []).append(label)
    for held, labels in where.items():
        at = f" at {listed(labels)}" if len(labels) < len(tried) else ""
        yield f"not judged{at}: {held}, of which {NO_JOB_DUE}"


def _shown(labels: Sequence[str], is_largest: bool) -> str:
    """`4, 8 and 12 hold, each by itself`."""
    if labels[1:]:
        return f"{listed(labels)} {'hold' if is_largest else 'miss'}, each by itself"
    return f"{labels[0]} {'holds' if is_largest else 'misses'} by itself"


def _at(plan: Plan, at: int, tried: TriedValue, standing: Standing, verb: str) -> str:
    worst = next(each for each in tried.quantities if each.standing is standing)
    replications = counted(tried.replications, "replication")
    said = f"{plan.labels[at]} {verb} after {replications}: {quantity_text(worst)}"
    if standing is Standing.UNDECIDED and worst.seems_decided:
        return f"{said}, and a search judges more strictly than one interval"
    return said


def quantity_text(quantity: Quantity) -> str:
    """`job success rate of etl is 99.4 % (98.9 to 99.7 %)`, and whether its jobs pile up."""
    held = quantity.held
    said = said_estimate(quantity.estimate, held.measure.unit, held.thresholds.values())
    text = f"{held_text(held)} is {said}"
    if quantity.overload:
        return f"{text}, but {overload_text(quantity.overload)}"
    if quantity.balance and quantity.standing is Standing.UNDECIDED:
        return f"{text}, but it cannot be told whether {overload_text(quantity.balance)}"
    return text
