"""The front door: the command line and the public Python API.

`whitecap/api.py` runs and loads scenarios, `whitecap/sweeps.py` sweeps them, `whitecap/figures.py`
draws.
"""

from __future__ import annotations

import importlib
import os.path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from whitecap import figures
    from whitecap.api import Run, load, load_scenario, run
    from whitecap.deciding.advice import Advice, advise
    from whitecap.deciding.planning import Plan, plan
    from whitecap.deciding.sensitivity import Sensitivity, sensitivity
    from whitecap.drafting import Draft, Predicted, from_log
    from whitecap.engine.errors import InvalidInput, InvariantViolated, UnsupportedFeature
    from whitecap.explaining import Explained, explain
    from whitecap.recordings.comparing import Compared, compare
    from whitecap.recordings.replaying import Replayed, replay
    from whitecap.sim.machine.places import NotWritten
    from whitecap.sim.replay.real.environment import EnvironmentMissing
    from whitecap.sweeps import Sweep, load_sweep, report, sweep

__all__ = [
    "Advice",
    "Compared",
    "Draft",
    "EnvironmentMissing",
    "Explained",
    "InvalidInput",
    "InvariantViolated",
    "NotWritten",
    "Plan",
    "Predicted",
    "Replayed",
    "Run",
    "Sensitivity",
    "Sweep",
    "UnsupportedFeature",
    "advise",
    "compare",
    "explain",
    "figures",
    "from_log",
    "load",
    "load_scenario",
    "load_sweep",
    "plan",
    "replay",
    "report",
    "run",
    "sensitivity",
    "sweep",
]

_HERE = os.path.dirname(__file__)
_ROOM = os.path.join(_HERE, "engine")
if os.path.islink(_ROOM) or not os.path.isdir(_ROOM):
    # A checkout: the rooms stand beside this folder. A wheel has them inside it.
    __path__.insert(0, os.path.dirname(_HERE))

_HOMES = {
    **dict.fromkeys(("Sweep", "load_sweep", "report", "sweep"), "whitecap.sweeps"),
    **dict.fromkeys(("Compared", "compare"), "whitecap.recordings.comparing"),
    **dict.fromkeys(("Explained", "explain"), "whitecap.explaining"),
    **dict.fromkeys(("Replayed", "replay"), "whitecap.recordings.replaying"),
    **dict.fromkeys(
        ("InvalidInput", "InvariantViolated", "UnsupportedFeature"), "whitecap.engine.errors"
    ),
    "EnvironmentMissing": "whitecap.sim.replay.real.environment",
    "NotWritten": "whitecap.sim.machine.places",
    **dict.fromkeys(("Advice", "advise"), "whitecap.deciding.advice"),
    **dict.fromkeys(("Plan", "plan"), "whitecap.deciding.planning"),
    **dict.fromkeys(("Sensitivity", "sensitivity"), "whitecap.deciding.sensitivity"),
    **dict.fromkeys(("Draft", "Predicted", "from_log"), "whitecap.drafting"),
}


def __getattr__(name: str) -> Any:
    """Loaded on first use, so that the command line starts fast."""
    if name == "figures":
        return importlib.import_module("whitecap.figures")
    if name in __all__:
        home = importlib.import_module(_HOMES.get(name, "whitecap.api"))
        return getattr(home, name)
    raise AttributeError(f"module 'whitecap' has no attribute {name!r}")


def __dir__() -> list[str]:
    """What completion offers in an editor or a notebook."""
    return [*__all__, *(name for name in globals() if name.startswith("__"))]
