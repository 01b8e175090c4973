"""A run's directory before the oracles: what it recorded, the scenario's writers run once more.

A recording holds no rows, but scenario and seed, of which the same run follows byte for byte.
"""

from __future__ import annotations

import json
from pathlib import Path

from whitecap.engine.errors import InvalidInput, Problem
from whitecap.sim.loading import load_scenario
from whitecap.sim.oracles.finding import Judgement
from whitecap.sim.oracles.of_run import judgement_of
from whitecap.sim.recording.recording import SCENARIO, Recording, read_recording
from whitecap.sim.run import run_scenario
