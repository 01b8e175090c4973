"""What moves a result, in words."""

from __future__ import annotations

from collections.abc import Iterator

from whitecap.engine.recorded import Unit
from whitecap.reports.answers.phrases import held_text
from whitecap.reports.sensitivity.effects import Moving, ValueEffect
from whitecap.reports.sensitivity.result import MovedMeasure, Sensitivity
from whitecap.reports.statistics import said_estimate, written_difference
from whitecap.reports.words import counted, sentence


def sensitivity_text(sensitivity: Sensitivity) -> str:
    """For each measure what moves it most, and every effect; then what stands behind it."""
    lines: list[str] = []
    for moved in sensitivity.measures:
        lines += [headline(moved), verdict(moved)]
        for moving in moved.moving:
            lines.append(f"  {moving.path}")
            lines += [
                f"    {change_text(moving, effect)}: {effect_text(moved, effect)}"
                for effect in moving.effects
            ]
    return "\n".join([*lines, *notes(sensitivity)])


def headline(moved: MovedMeasure) -> str:
    """What is looked at, and how it stands."""
    stands = said_estimate(moved.stands, moved.followed.measure.unit)
    return sentence(f"{held_text(moved.followed)} as the scenario stands: {stands}")


def verdict(moved: MovedMeasure) -> str:
    """What moves it most, and how many move it at all."""
    sure = [each for each in moved.moving if each.is_distinguishable]
    many = counted(len(moved.moving), "parameter")
    if not sure:
        none = f"None of {many} moves it" if moved.moving[1:] else "The parameter does not move it"
        return f"{none} so far that these runs could tell."
    most = max((e for e in sure[0].effects if e.is_distinguishable), key=lambda each: each.size)
    change, effect = change_text(sure[0], most), effect_text(moved, most)
    can = f"{len(sure)} of {many} can be told from no effect."
    return f"{sure[0].path} moves it most: {change} is {effect}. {can}"


def change_text(moving: Moving, effect: ValueEffect) -> str:
    """`2 to 4`; where the file says nothing, `4`."""
    return f"{moving.stands} to {effect.value}" if moving.stands else effect.value


def effect_text(moved: MovedMeasure, effect: ValueEffect) -> str:
    """`-3.1 points (-4.2 to -1.9 points)`."""
    if effect.gap is None:
        return "n/a"
    return written_difference(effect.gap, moved.followed.measure.unit)


def notes(sensitivity: Sensitivity) -> Iterator[str]:
    """How many runs, what the intervals are, and what was not varied."""
    share = any(m.followed.measure.unit is Unit.SHARE for m in sensitivity.measures)
    points = " Points are percentage points." if share else ""
    yield (
        f"{counted(sensitivity.runs, 'run')}: {sensitivity.replications} replications of each "
        f"value, paired, seed {sensitivity.seed}. All intervals together hold with 95 %.{points} "
        "One parameter is changed at a time: what two do together is not seen."
    )
    if sensitivity.left_out:
        left_out = "; ".join(f"{path} ({why})" for path, why in sensitivity.left_out.items())
        yield f"Not varied: {left_out}."
