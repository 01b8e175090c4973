"""Scenarios of which it is known what moves them, and what would mend them."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import yaml

from tests.sim.sim_worlds import INSERT, document

STEADY: dict[str, Any] = {
    "statement": INSERT["statement"],
    "parameters": INSERT["parameters"],
    "arrival": {"closed": {"think": {"constant": "9 s"}}},
    "compute": {"constant": "1 s"},
    "count": 3,
}
"""Appends conflict with nothing: three writers, each with a job about every ten seconds."""


def written_to(path: Path, **parts: Any) -> Path:
    """The small scenario with these parts, as a file."""
    path.write_text(yaml.safe_dump(document(**parts)))
    return path
