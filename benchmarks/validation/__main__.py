"""`make validate`: write `docs/validation.md`; exit 1 if something does not hold."""

from __future__ import annotations

import sys
from datetime import date
from pathlib import Path

from benchmarks.validation.everything import results
from benchmarks.validation.figures import draw
from benchmarks.validation.page import page

DOCS = Path(__file__).parents[2] / "docs"


def main() -> int:
    """Everything; a line for each part on the way. Exits with 2 when given anything."""
    if sys.argv[1:]:
        print(f"error: there is nothing to choose: {' '.join(sys.argv[1:])}", file=sys.stderr)
        return 2
    made = results(date.today())
    rates = [(law, estimate) for law, estimate in made.laws if law.expected <= 1]
    origin = f"make validate, {made.made.isoformat()}, {made.replications} replications"
    draw(rates, made.contests, origin, DOCS / "images")
    (DOCS / "validation.md").write_text(page(made), encoding="utf-8")
    for failure in made.failures:
        print(f"does not hold: {failure}")
    print(f"docs/validation.md: {len(made.failures)} checks do not hold")
    return 1 if made.failures else 0


if __name__ == "__main__":
    sys.exit(main())
