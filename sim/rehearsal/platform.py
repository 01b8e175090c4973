"""Where a statement is tried before a run: whose rules, which settings, whose table."""

from __future__ import annotations

from dataclasses import dataclass

from whitecap.engine.dialects import Dialect
from whitecap.engine.settings import Settings


@dataclass(frozen=True, slots=True)
class Platform:
    """What runs a statement; `maker` is the dialect that made the table."""

    dialect: Dialect
    settings: Settings
    maker: Dialect
