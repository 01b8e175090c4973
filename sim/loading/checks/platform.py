"""The dialect and the settings of a scenario: are there such, and what do writers make of them?"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, Self

from msgspec import Struct

from whitecap.engine.dialects import DEFAULT_DIALECT, DIALECTS, Dialect
from whitecap.engine.errors import UnsupportedFeature
from whitecap.engine.settings import Settings
from whitecap.sim.loading.checks.well_formed import well_formed
from whitecap.sim.quantities.section import Section
from whitecap.sim.quantities.start import DEFAULT_START, DEFAULT_START_MS, StartInstant, epoch_ms
from whitecap.sim.rehearsal.platform import Platform
from whitecap.sim.scenario.table import property_text
from whitecap.sim.scenario.writers import WriterGroup
from whitecap.sim.scenario.yaml.text import PlacedProblem


class _Started(Section):
    """The start alone."""

    start: StartInstant


class GivenPlatform(Struct, frozen=True):
    """The dialect of a scenario, or the newest one where it is unknown, settings as texts, and when
    it starts."""

    dialect: Dialect
    settings: Mapping[str, str]
    start_ms: int

    @classmethod
    def of(cls, document: Mapping[str, Any]) -> Self:
        """What a document says of them."""
        dialect = DIALECTS.get(str(document.get("dialect")), DEFAULT_DIALECT)
        started = well_formed(_Started, {"start": document.get("start", DEFAULT_START)})
        start_ms = DEFAULT_START_MS if started is None else epoch_ms(started.start)
        return cls(dialect, _as_texts(document.get("settings")), start_ms)

    def problems(self) -> Iterator[PlacedProblem]:
        """Settings that the dialect does not have, and values that they cannot have."""
        for key, value in self.settings.items():
            try:
                self.dialect.settings_of({key: value})
            except UnsupportedFeature as error:
                yield ("settings", key), str(error), None

    def of_scenario(self) -> Platform:
        """The same of a group that says nothing of its own."""
        return Platform(
            self.dialect, _sound(self.settings, self.dialect), self.dialect, self.start_ms
        )

    def of_group(self, group: WriterGroup) -> Platform:
        """By which dialect, with which settings, the statements of a group are tried."""
        if not group.dialect:
            return self.of_scenario()
        own = DIALECTS[group.dialect]
        settings = _sound(own.settings_known(self.settings), own)
        return Platform(own, settings, self.dialect, self.start_ms)


def _as_texts(given: Any) -> dict[str, str]:
    settings = given if isinstance(given, dict) else {}
    shown = {str(key): property_text(value) for key, value in settings.items()}
    return {key: value for key, value in shown.items() if isinstance(value, str)}


def _sound(settings: Mapping[str, str], dialect: Dialect) -> Settings:
    """The settings, or the dialect's defaults where they are wrong (which is told elsewhere)."""
    try:
        return dialect.adjusted(Settings.from_conf(settings))
    except UnsupportedFeature:
        return dialect.adjusted(Settings())
