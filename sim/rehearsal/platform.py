"""Where a statement is tried before a run: whose rules, which settings, whose table."""

from __future__ import annotations

from msgspec import Struct

from whitecap.engine.dialects import Dialect
from whitecap.engine.settings import Settings


class Platform(Struct, frozen=True):
    """What runs a statement, and when; `maker` is the dialect that made the table.

    `start_ms` is the wall clock, in epoch milliseconds.
    """

    dialect: Dialect
    settings: Settings
    maker: Dialect
    start_ms: int
