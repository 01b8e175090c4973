"""The place of a sweep: made, or accepted where it remembers the same sweep.

It holds `sweep.json` (the definition), `cells/<cell>.yaml` (each cell as a scenario that can be run
on its own) and `recordings/` (`sim/recording/dataset/layout.py`). What is finished is what lies
there, so a sweep that was interrupted resumes from it.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping
from operator import ne
from typing import Any

from whitecap.engine import documents
from whitecap.engine.errors import InvalidInput, Problem
from whitecap.sim.recording.dataset.place import CELLS, DEFINITION_FILE, DatasetPlace
from whitecap.sim.scenario.yaml.text import show_document
from whitecap.sim.sweeps.experiment import Experiment

NO_SWEEP_THERE = "is there already and is no sweep's directory"

_OTHER_SWEEP = (
    "remembers another sweep, whose finished runs are kept: use another --out, or delete what is "
    "there"
)


def open_place(experiment: Experiment, place: DatasetPlace) -> Experiment:
    """Make the sweep's place, or accept the one that is there for the same sweep, which may get
    more replications. Returns the sweep as it is there: with all that it has.

    Raises `InvalidInput` saying what differs: there is another sweep, or something else. Nothing
    in it is changed then.
    """
    remembered = place.read(DEFINITION_FILE)
    if remembered is not None:
        was = documents.DEFINITION.read(remembered, f"{place}/{DEFINITION_FILE}")
        differences = list(_differences(was, experiment))
        if differences:
            there = f"{place}/{DEFINITION_FILE}"
            raise InvalidInput([Problem(there, _OTHER_SWEEP), *differences])
        experiment = experiment.grown(was["replications"], _fewest(was))
    elif place.exists():
        raise InvalidInput([Problem(str(place), NO_SWEEP_THERE)])
    text = json.dumps(experiment.definition(), indent=1, ensure_ascii=False) + "\n"
    if text != remembered:
        _write(experiment, place, text)
    return experiment


def _write(experiment: Experiment, place: DatasetPlace, text: str) -> None:
    """The cells first: what has a definition is a sweep."""
    for cell in experiment.cells:
        place.write(f"{CELLS}/{cell.name}.yaml", show_document(cell.scenario.document))
    place.write(DEFINITION_FILE, text)


_DECIDING = ("scenario", "axes", "seed", "dialect", "code_version")
"""What makes two sweeps the same; the rest of a definition follows from these, but for how many
replications there are, to which more may be added: each is the same whatever their number."""

_JUDGING = ("expect", "objective", "format_version")
"""Keys of a scenario by which runs are judged, or it is read: they may change and the runs stay."""


def _differences(was: Mapping[str, Any], experiment: Experiment) -> Iterator[Problem]:
    now = experiment.definition()
    differs = _differ_in_words if _hashes(was) == _hashes(now) else ne
    for key in _DECIDING:
        yield from _changed(_unjudged(was.get(key)), _unjudged(now[key]), key, differs)
    if not experiment.until and experiment.replications < _fewest(was):
        number = f"was {was['replications']}, is now {experiment.replications}"
        yield Problem("replications", f"{number}: can be added, and not taken away")


def _hashes(definition: Mapping[str, Any]) -> tuple[Any, ...]:
    """What is simulated, however it is written."""
    return definition["scenario_hash"], *(cell["scenario_hash"] for cell in definition["cells"])


def _differ_in_words(was: Any, now: Any) -> bool:
    """Not so 3 and a "3" that is taken for the number: as `--set` and a file may give it."""
    return str(was) != str(now)


def _fewest(was: Mapping[str, Any]) -> int:
    """With how many replications the sweep began."""
    began: int = was.get("begun_with", was["replications"])
    return began


def _unjudged(part: Any) -> Any:
    if not isinstance(part, dict):
        return part
    return {key: value for key, value in part.items() if key not in _JUDGING}


def _changed(
    was: Any, now: Any, place: str, differs: Callable[[Any, Any], bool]
) -> Iterator[Problem]:
    """What differs, at the deepest place that both sides have."""
    if not (isinstance(was, dict) and isinstance(now, dict)):
        if differs(was, now):
            yield Problem(place, f"was {_short(was)}, is now {_short(now)}")
        return
    for key in dict.fromkeys([*was, *now]):
        inner = f"{place}.{key}"
        if key not in now:
            yield Problem(inner, f"was {_short(was[key])}, is no longer there")
        elif key not in was:
            yield Problem(inner, f"was not there, is {_short(now[key])}")
        else:
            yield from _changed(was[key], now[key], inner, differs)


def _short(value: Any) -> str:
    text = json.dumps(value, ensure_ascii=False)
    return text if len(text) <= 60 else text[:57] + "..."
