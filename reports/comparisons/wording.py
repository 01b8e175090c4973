"""How changes are said: in the terminal, in Markdown, in annotations and in JSON."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from typing import Any

from whitecap.engine.recorded import Measure
from whitecap.reports.comparisons.changes import ChangeVerdict, MeasureChange, MeasureChanges
from whitecap.reports.measures import MEASURES, written
from whitecap.reports.measures.stored import WHOLE
from whitecap.reports.measures.writing import finite
from whitecap.reports.runs import WHOLE_RUN
from whitecap.reports.statistics import written_difference
from whitecap.reports.words import counted

SHOWN_EACH = (
    ChangeVerdict.WORSE,
    ChangeVerdict.TOLERATED,
    ChangeVerdict.DIFFERENT,
    ChangeVerdict.BETTER,
)
"""What is told one by one; of the others it is told how many there are."""


def writers_text(change: MeasureChange) -> str:
    """`all writers`, or the writer group with its command."""
    return WHOLE_RUN if change.group == WHOLE else str(change.group)


def values_text(change: MeasureChange) -> str:
    """`12.3 % -> 15.1 %`, before and now."""
    unit = change.measure.unit
    return (
        f"{written(change.then.point, unit)} \N{RIGHTWARDS ARROW} {written(change.now.point, unit)}"
    )


def gap_text(change: MeasureChange) -> str:
    """`+2.8 points (+1.2 to +4.4 points)`, or that it is the same."""
    if change.verdict is ChangeVerdict.SAME:
        return "the same"
    return written_difference(change.difference, change.measure.unit)


def change_text(change: MeasureChange) -> str:
    """One sentence without a full stop."""
    where = f"{change.cell}: " if change.cell else ""
    name = MEASURES[change.measure].called
    whom = "" if change.group == WHOLE else f" of {change.group}"
    return f"{where}{name}{whom} {values_text(change)}, {gap_text(change)}"


def counts_text(changes: MeasureChanges) -> str:
    """`2 comparisons worse, 1 better, 5 not told apart, 20 the same`."""
    counts = Counter(change.verdict for change in changes.each)
    there = [each for each in ChangeVerdict if counts[each]]
    said = [f"{counts[each]} {each}" for each in there[1:]]
    said[:0] = [f"{counted(counts[each], 'comparison')} {each}" for each in there[:1]]
    return ", ".join(said) or "nothing to compare"


def basis_text(changes: MeasureChanges) -> str:
    """What the intervals rest on: `5 replications, paired`."""
    kind = "paired" if changes.is_paired else "not paired"
    return f"{counted(changes.replications, 'replication')}, {kind}"


def notes_of(changes: MeasureChanges) -> list[str]:
    """What a reader should know besides, a sentence each without a full stop."""
    notes = list(_new_damage(changes))
    if changes.changed_cells:
        is_all = {change.cell for change in changes.each} <= {*changes.changed_cells}
        at = "" if is_all else f" in {first_named(changes.changed_cells)}"
        notes.append(f"the scenario is another one than before{at}")
    if changes.only_then:
        notes.append(f"no longer there, and not compared: {first_named(changes.only_then)}")
    if changes.only_now:
        notes.append(f"new, and not compared: {first_named(changes.only_now)}")
    if changes.each and changes.replications < 2:
        notes.append("of one replication nothing is known of how far others would lie")
    return notes


DAMAGE = (Measure.LOST_COMMITS, Measure.DOUBLED_COMMITS, Measure.FINDINGS)
"""What is wrong with a table that a run leaves."""


def _new_damage(changes: MeasureChanges) -> Iterator[str]:
    """What a table lost that it did not lose before, and that is not told one by one: of a few an
    interval tells nothing, and they are enough."""
    untold = [each for each in changes.each if each.verdict not in SHOWN_EACH]
    for measure in DAMAGE:
        of_measure = (each for each in untold if each.measure is measure)
        cells = [each.cell for each in of_measure if each.now.point > 0 and not each.then.point]
        if cells:
            at = f" in {first_named(cells)}" if any(cells) else ""
            yield f"{MEASURES[measure].called} where there were none before{at}"


MOST_NAMED = 4


def first_named(names: Sequence[str]) -> str:
    """The first few, and how many more there are."""
    more = len(names) - MOST_NAMED
    listed = "; ".join(names[:MOST_NAMED])
    return f"{listed}; and {more} more" if more > 0 else listed


def changes_document(changes: MeasureChanges) -> dict[str, Any]:
    """As `--json` prints it; differences are now minus before, in the measure's unit."""
    return {
        "is_worse": changes.is_worse,
        "paired": changes.is_paired,
        "replications": changes.replications,
        "compared": changes.compared,
        "notes": notes_of(changes),
        "changes": [_change_document(change) for change in changes.each],
    }


def _change_document(change: MeasureChange) -> dict[str, Any]:
    gap = change.difference
    return {
        "cell": change.cell,
        "writer_group": change.group.writer_group or None,
        "command": change.group.command or None,
        "measure": change.measure.value,
        "unit": change.measure.unit.value,
        "before": finite(change.then.point),
        "now": finite(change.now.point),
        "difference": finite(gap.point),
        "low": finite(gap.low),
        "high": finite(gap.high),
        "confidence": gap.confidence,
        "tolerated": change.tolerated,
        "verdict": change.verdict.value,
        "text": change_text(change),
    }
