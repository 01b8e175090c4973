"""What an engine that forgets who removed a file does to a table that others keep whole.

A dialect may commit although the files that it removes are gone (`moves_concern_removers` of its
`CheckRules` says so): a compaction then adds rows again that another one has added already. That is
not a fault of the simulation but what the run was to show. It is counted here, and stands in the
manifest.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from whitecap.sim.history.conservation import broken_by
from whitecap.sim.history.walk import WalkedVersion
from whitecap.sim.scenario.model import Scenario

DAMAGE = "damage"
"""The key of the damage in a manifest, which has it only where there is some."""


class Damage:
    """The versions of a run that no sound engine would have committed.

    They are expected only of engines that are known to make such versions.
    """

    def __init__(self, scenario: Scenario) -> None:
        dialects = [scenario.dialect_of(group) for group in scenario.writers.values()]
        self._known_for_it = {
            each.engine_info for each in dialects if not each.checks.moves_concern_removers
        }
        self._versions: list[int] = []
        self._files = 0

    def unless_expected(self, step: WalkedVersion) -> Sequence[str]:
        """What a version breaks, unless its engine is known to break this."""
        broken = list(broken_by(step))
        if step.engine_info not in self._known_for_it or not broken:
            return broken
        self._versions.append(step.version)
        self._files += len(step.faults)
        return ()

    def document(self) -> dict[str, Any]:
        """For the manifest; empty where nothing is damaged."""
        if not self._versions:
            return {}
        return {
            DAMAGE: {
                "commits": len(self._versions),
                "files_removed_again": self._files,
                "first_version": self._versions[0],
            }
        }
