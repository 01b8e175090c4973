"""The variants that are compared along one parameter, as scenarios."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import product
from pathlib import Path

from msgspec import Struct

from whitecap.engine.errors import InvalidInput, Problem, gathered, noted
from whitecap.sim.loading import load_scenario, scenario_of
from whitecap.sim.loading.objectives import readable_objectives
from whitecap.sim.scenario.model import Scenario
from whitecap.sim.scenario.sweep import Changes, shared_by_all_cells
from whitecap.sim.sweeps.axes import kept_axes, overlap
from whitecap.sim.sweeps.varied import Varied, ends_of, varied_by

_NOT_OF_VALUES = ("sweep", "expect", "may_change")
"""Keys that speak of other cells than those of a plan."""

_ASKED_OF_NONE: Changes = {"expect": [], "may_change": []}
"""What takes the place of these keys in a file; its sweep is not looked at without its cells."""

AS_IT_IS = "as it stands"
"""The variant of a scenario to which nothing was done."""


class Variants(Struct, frozen=True):
    """A scenario, what each variant changes in it, and the parameter that is varied."""

    scenario: Scenario
    changes: Mapping[str, Changes]
    varied: Varied

    def at(self, variant: str, position: int) -> Scenario:
        """A variant with one value of the parameter. Raises `InvalidInput`."""
        set_to = {self.varied.path: self.varied.values[position]}
        return plain_of(self.scenario, {**self.changes[variant], **set_to})


def variants_of(
    path: Path,
    vary: str,
    named: Mapping[str, Changes],
    only: Mapping[str, Sequence[str]],
    objective: Sequence[str],
) -> Variants:
    """The variants of a scenario file along what `vary` says: those `named` by their changes, for
    each combination of the axes that `only` keeps of its sweep, with their labels; the scenario as
    it stands without any.

    `objective` takes the place of the scenario's. Raises `InvalidInput` with all that is wrong,
    that of the first and the last value of each variant too.
    """
    with gathered() as problems:
        with noted(problems):
            varied = varied_by(vary)
        problems += shared_by_all_cells(dict.fromkeys(p for own in named.values() for p in own))
        scenario = scenario_held_to(path, objective, problems)
        of_axes: dict[str, Changes] = {"": {}}
        with noted(problems):
            of_axes = _of_axes(scenario, only)
        combined = _combined(of_axes, named or {"": {}})
        problems += _wrong_at_the_ends(scenario, combined, vary)
    return Variants(scenario, combined, varied)


def scenario_held_to(path: Path, objective: Sequence[str], problems: list[Problem]) -> Scenario:
    """The scenario with this objective in the place of its own, if any is given.

    Notes what is wrong with the objective, whatever the file is, and gives the scenario as it is
    then, so that other things are looked at too. Raises `InvalidInput` where that is wrong itself.
    """
    readable = readable_objectives(objective, problems)
    with noted(problems):
        changes = {"objective": readable} if readable else {}
        scenario = load_scenario(path, changes, cells=False)
        problems += _without_threshold(scenario, path, is_asked=bool(objective))
        return scenario
    return load_scenario(path, cells=False)


def _without_threshold(scenario: Scenario, path: Path, *, is_asked: bool) -> Iterator[Problem]:
    """What is looked for must be asked for, and be known with an interval."""
    if not (scenario.objectives or is_asked):
        said = "states no `objective:`: give one, such as --objective 'job_success_rate >= 99 %'"
        yield Problem(str(path), said)
    for each in scenario.objectives:
        if each.measure.unit.is_counted:
            said = "is a count, which has no boundary with an interval: take a share or a rate"
            yield Problem(f"objective {each.measure}", said)
    yield from auto_warm_up(scenario)


def auto_warm_up(scenario: Scenario) -> list[Problem]:
    """A warm-up that is left to be found takes all runs at once."""
    said = "`auto` is found in all values together, which come one after another: state it"
    return [Problem("warm_up", said)] if scenario.warm_up is None else []


def plain_of(scenario: Scenario, changes: Changes) -> Scenario:
    """The scenario with these changes, without what speaks of other cells.

    Raises `InvalidInput`, with the lines of its file where that is wrong in the same way.
    """
    document = scenario.document
    plain = {key: part for key, part in document.items() if key not in _NOT_OF_VALUES}
    try:
        return scenario_of(plain, changes, cells=False).is_of(scenario.source)
    except InvalidInput:
        if scenario.source:
            load_scenario(Path(scenario.source), {**_ASKED_OF_NONE, **changes}, cells=False)
        raise


def _of_axes(scenario: Scenario, only: Mapping[str, Sequence[str]]) -> dict[str, Changes]:
    kept = kept_axes(scenario.axes, only)
    return {
        ", ".join(label for label, _ in cell): {
            path: value for _, changes in cell for path, value in changes.items()
        }
        for cell in product(*(variants.items() for variants in kept.values()))
    }


def _combined(of_axes: Mapping[str, Changes], named: Mapping[str, Changes]) -> dict[str, Changes]:
    return {
        ", ".join(filter(None, (labels, name))) or AS_IT_IS: {**of_axis, **own}
        for labels, of_axis in of_axes.items()
        for name, own in named.items()
    }


def _wrong_at_the_ends(
    scenario: Scenario, variants: Mapping[str, Changes], vary: str
) -> list[Problem]:
    """What is wrong with the first and the last value of each variant."""
    problems: list[Problem] = []
    ends = list(ends_of(vary).values()) or [{}]
    for variant, own in variants.items():
        for end in ends:
            for path in end:
                problems += _overruled(variant, own, path)
            with noted(problems):
                plain_of(scenario, {**own, **end})
    return problems


def _overruled(variant: str, changes: Changes, path: str) -> Iterator[Problem]:
    """A variant that sets what is varied, or a part of it, would be overruled, or overrule it."""
    for own in changes:
        if overlap(own, path):
            yield Problem("", f"variant {variant!r} sets {own}, and {path} is varied")
