"""Jobs at listed instants, over and over: what a scenario lets happen once is no campaign."""

from __future__ import annotations

from whitecap.sim.quantities.units import parse_duration, show_duration
from whitecap.sim.scenario.model import Document


def in_rounds(group: Document, round_ms: float, until_ms: float) -> Document:
    """A writer group whose listed jobs come again every `round_ms`; any other as it is.

    The first round is whole; of the others what is due before `until_ms`.
    """
    schedule = group["arrival"].get("schedule", {})
    if schedule.get("at") is None:
        return group
    first = [parse_duration(instant) for instant in schedule["at"]]
    later = (
        instant + number * round_ms
        for number in range(1, int(until_ms // round_ms) + 1)
        for instant in first
    )
    instants = sorted({*first, *(each for each in later if each < until_ms)})
    listed = [show_duration(instant) for instant in instants]
    return {**group, "arrival": {"schedule": {**schedule, "at": listed}}}
