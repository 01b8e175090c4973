"""How much is run for a decision where nobody says; importing it loads nothing else.

All ours: some minutes on two cores for a scenario of some seconds.
"""

from __future__ import annotations

MOST_RUNS = 2000
"""Of all values, changes or designs together."""

PLAN_REPLICATIONS = 100
"""Of one value of a plan at most."""

ADVICE_REPLICATIONS = 20
"""Of one design in the search at most, and as many fresh ones of each on the way."""

SENSITIVITY_REPLICATIONS = 10
"""Of every value."""
