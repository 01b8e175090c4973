"""What a campaign has come to until now, in a file, so that it can go on later."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

from msgspec import Struct, field
from msgspec.structs import asdict

from whitecap.engine.errors import InvalidInput, Problem, unreadable
from whitecap.sim.chaos.campaign import Campaign, Tally
from whitecap.sim.machine.code_version import code_version
from whitecap.sim.machine.places import write_whole

CAMPAIGN = "campaign.json"
"""In the directory of a campaign."""

_Document = dict[str, Any]

_NOT_KEPT = ("wrong",)
"""Of a tally: the runs themselves, whose scenarios lie beside it."""


class Course(Struct):
    """How far a campaign is: what its runs came to, and what was wrong, each as in JSON."""

    tally: Tally
    findings: list[_Document] = field(default_factory=list)


def definition_of(campaign: Campaign) -> _Document:
    """What makes two campaigns the same, however many runs they have."""
    return {
        "scenarios": [scenario.hash for scenario in campaign.scenarios],
        "seed": campaign.seed,
        "without": sorted(campaign.without),
        "rows_every": campaign.rows_every,
        "code_version": code_version(),
    }


def keep(place: Path, campaign: Campaign, course: Course) -> None:
    """Write it whole, in the place of what was there."""
    counted = {
        name: _plain(value) for name, value in asdict(course.tally).items() if name not in _NOT_KEPT
    }
    document = {
        "campaign": definition_of(campaign), "tally": counted, "findings": course.findings,
    }  # fmt: skip
    write_whole(place, json.dumps(document).encode())


def _plain(value: Any) -> Any:
    return sorted(value) if isinstance(value, set | frozenset) else value


def kept(place: Path, campaign: Campaign) -> Course:
    """How far it was.

    Raises `InvalidInput`: there is no campaign, it is damaged, or it is another one.
    """
    try:
        document = json.loads(place.read_text(encoding="utf-8"))
        was = dict(document["campaign"])
        course = Course(_tally(document["tally"]), list(document["findings"]))
    except OSError:
        raise InvalidInput([Problem(str(place), "there is no campaign to go on with")]) from None
    except json.JSONDecodeError as error:
        raise unreadable(place, error) from None
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        raise InvalidInput([Problem(str(place), f"is no campaign: {error}")]) from None
    now = definition_of(campaign)
    others = [key for key in now if was.get(key) != now[key]]
    if others:
        said = f"is another campaign: its {', '.join(others)} differ"
        raise InvalidInput([Problem(str(place), said)])
    return course


_KINDS: dict[str, Callable[[Any], Any]] = {
    "without": frozenset,
    "traces": set,
    "exercised": Counter,
    "in_vain": Counter,
    "not_checked": Counter,
}
"""Of a tally: what JSON has other kinds for."""


def _tally(counted: _Document) -> Tally:
    given: dict[str, Any] = {name: _KINDS.get(name, int)(of) for name, of in counted.items()}
    return Tally(**given)
