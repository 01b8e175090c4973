"""What pages, terminals and JSON show: values that any of them can write."""

from __future__ import annotations

from typing import Any

Plain = dict[str, Any]
"""Texts, numbers, truth values and `None`, in lists and in mappings by name."""
