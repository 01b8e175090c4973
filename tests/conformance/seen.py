"""All races that were observed, read once however many tests play them."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from whitecap.engine.races.conformance.case import Case, load_cases

CASES = Path(__file__).parent / "cases"

SEEN_BY_FILE: Mapping[str, list[Case]] = {
    file.name: load_cases(file) for file in sorted(CASES.glob("*.json"))
}
SEEN = [case for cases in SEEN_BY_FILE.values() for case in cases]
