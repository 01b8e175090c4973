"""How certain a number over replications is: intervals, differences, comparisons, judgements.

Pure functions on numbers. `share`, `weighted_share`, `mean` and `percentile` make an `Estimate`
from what each replication counted or measured; everything else takes estimates:

    success = share(committed, ended)                # one number per replication each
    written_estimate(success, Unit.SHARE)            # 99.2 % (98.7 to 99.5 %)
    held_against(success, at_least=0.99)             # met, missed, undecided and what would decide
    difference(success, other)                       # paired by replication
    compare_with_best({"a": success, "b": other}, higher_is_better=True)

What is stated, by which method and how often it holds: `docs/statistics.md`.
"""

from whitecap.reports.statistics.comparison import (
    ComparisonWithBest,
    compare_with_best,
    greatest_of,
)
from whitecap.reports.statistics.differences import difference
from whitecap.reports.statistics.estimate import (
    CONFIDENCE,
    FEWEST_BEYOND,
    FEWEST_EVENTS,
    Claim,
    Estimate,
    EstimatedDifference,
    confidence_of,
)
from whitecap.reports.statistics.means import mean, unnoticed
from whitecap.reports.statistics.percentiles import percentile, values_beyond
from whitecap.reports.statistics.shares import share, weighted_share
from whitecap.reports.statistics.stopping import (
    FEWEST_TO_STOP,
    WantedPrecision,
    half_width,
    replications_after,
)
from whitecap.reports.statistics.thresholds import (
    MOST_REPLICATIONS,
    WORST_FIRST,
    EstimateStanding,
    Standing,
    facing,
    held_against,
    standing_against,
    worst_of,
)
from whitecap.reports.statistics.unpaired import unpaired_difference
from whitecap.reports.statistics.wording import (
    marked,
    said_estimate,
    written_basis,
    written_bounds,
    written_difference,
    written_difference_bounds,
    written_estimate,
    written_gap,
    written_point,
)

__all__ = [
    "CONFIDENCE",
    "FEWEST_BEYOND",
    "FEWEST_EVENTS",
    "FEWEST_TO_STOP",
    "MOST_REPLICATIONS",
    "WORST_FIRST",
    "Claim",
    "ComparisonWithBest",
    "Estimate",
    "EstimateStanding",
    "EstimatedDifference",
    "Standing",
    "WantedPrecision",
    "compare_with_best",
    "confidence_of",
    "difference",
    "facing",
    "greatest_of",
    "half_width",
    "held_against",
    "marked",
    "mean",
    "percentile",
    "replications_after",
    "said_estimate",
    "share",
    "standing_against",
    "unnoticed",
    "unpaired_difference",
    "values_beyond",
    "weighted_share",
    "worst_of",
    "written_basis",
    "written_bounds",
    "written_difference",
    "written_difference_bounds",
    "written_estimate",
    "written_gap",
    "written_point",
]
