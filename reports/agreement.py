"""What a replay on real Delta Lake found, as the report tells it.

Read from `replay/agreement.json`, which `whitecap replay` writes beside the runs.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from engine.errors import InvalidInput, Problem


@dataclass(frozen=True, slots=True)
class Agreement:
    """How many replayed transactions ended on real Delta as they did in the simulation."""

    matches: int
    mismatches: int
    not_comparable: int
    exceptions: tuple[str, ...]
    delta_version: str
    run: str

    @property
    def compared(self) -> int:
        """Transactions for which real Delta gave an answer to compare with."""
        return self.matches + self.mismatches

    @property
    def agrees(self) -> bool:
        """Whether every compared transaction matched, and there was one."""
        return self.mismatches == 0 and self.matches > 0

    @property
    def headline(self) -> str:
        """The agreement in one sentence."""
        if self.agrees:
            return f"Real Delta Lake agrees on all {self.compared} replayed transactions."
        return (
            f"Real Delta Lake disagrees on {self.mismatches} of {self.compared} "
            "replayed transactions."
        )

    @property
    def sentences(self) -> list[str]:
        """What was replayed, and what could not be compared."""
        told = [
            "The recorded interleaving was forced on Delta Lake "
            f"{self.delta_version}: outcome, exception class and version were compared."
        ]
        if self.exceptions:
            told.append(f"Exceptions that occurred: {', '.join(self.exceptions)}.")
        if self.not_comparable:
            told.append(f"{self.not_comparable} transactions could not be compared.")
        if self.run:
            told.append(f"Replayed run: {self.run}.")
        return told


def read_agreement(root: Path) -> Agreement | None:
    """The agreement of the replay in this directory; `None` if there was no replay.

    Raises `InvalidInput` where the file is there and cannot be read.
    """
    path = root / "replay" / "agreement.json"
    if not path.is_file():
        return None
    try:
        content: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
        return Agreement(
            matches=int(content["matches"]),
            mismatches=int(content["mismatches"]),
            not_comparable=int(content["not_comparable"]),
            exceptions=tuple(content.get("exceptions", ())),
            delta_version=str(content.get("delta_version", "")),
            run=str(content.get("run", "")),
        )
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise InvalidInput([Problem(str(path), f"is not an agreement ({error!r})")]) from None
