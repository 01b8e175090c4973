"""Lists of whole numbers in options: `2,4,8`."""

from __future__ import annotations


def numbers_outside(parts: list[str], low: int, high: int) -> list[str]:
    """Those of the parts that are no whole numbers from `low` to `high`, ends included.

    Longer ones than any that can be within are not read: Python refuses thousands of digits.
    """
    return [part for part in parts if not _is_within(part, low, high)]


def _is_within(part: str, low: int, high: int) -> bool:
    return part.isdecimal() and len(part) <= len(str(high)) and low <= int(part) <= high
