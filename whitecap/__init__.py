"""The front door: the command line and the public Python API (`whitecap/api.py`)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from whitecap.api import Run, load, load_scenario, run

__all__ = ["Run", "load", "load_scenario", "run"]


def __getattr__(name: str) -> Any:
    """Loaded on first use, so that the command line starts fast."""
    if name in __all__:
        from whitecap import api

        return getattr(api, name)
    raise AttributeError(f"module 'whitecap' has no attribute {name!r}")
