"""Read entries: the predicates of one read, as the conflict check evaluates them.

Source: `OptimisticTransaction.scala: trackReadPredicates`, `DeltaTableReadPredicate`;
`ConflictChecker.scala: getFirstFileMatchingPartitionPredicatesInternal`.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace

from msgspec import Struct

from whitecap.engine.errors import DeltaError
from whitecap.engine.log.actions import PartitionValues
from whitecap.engine.log.schema import Schema
from whitecap.engine.refusals import commit_errors
from whitecap.engine.settings import Settings, Widening
from whitecap.engine.sql.predicates.predicate import Predicate
from whitecap.engine.transaction.partition_values import PartitionNormalizer, TypedValues


@dataclass(frozen=True, slots=True)
class PredicateEntry:
    """One read by predicates: the partition ones are AND-ed, none at all means TRUE.

    `schema` is the partition schema of the read snapshot: a later change of partitioning does not
    change what was read. Answers are remembered by partition, as winners hit few of them.
    """

    partition_predicates: tuple[Predicate, ...]
    data_predicates: tuple[Predicate, ...]
    schema: Schema
    settings: Settings
    resolved: bool = True
    _answers: dict[frozenset[tuple[str, str | None]], bool] = field(
        default_factory=dict, repr=False, compare=False
    )

    def asking(self, answers: Sequence[Predicate]) -> PredicateEntry:
        """The same read, with answers of queries among its conditions."""
        if not answers:
            return self
        partition = (*self.partition_predicates, *answers)
        return replace(self, partition_predicates=partition, _answers={})

    @property
    def text(self) -> str:
        return " AND ".join(predicate.sql for predicate in self.partition_predicates) or "true"

    def matches(self, values: PartitionValues | None) -> bool:
        key = frozenset((values or {}).items())
        answer = self._answers.get(key)
        if answer is None:
            answer = self._answers[key] = self._evaluate(values or {})
        return answer

    def _evaluate(self, values: PartitionValues) -> bool:
        return all(
            predicate.evaluate_partition(values, self.schema, self.settings) is True
            for predicate in self._as_checked()
        )

    def _as_checked(self) -> Sequence[Predicate]:
        """The predicates that the check evaluates: non-deterministic parts count as TRUE.

        Source: `ConflictCheckerPredicateElimination.scala`. Only resolved expressions are
        recognised as non-deterministic.
        """
        if not self.resolved or self.settings.widen_non_deterministic is not Widening.ON:
            return self.partition_predicates
        return [predicate.widened() for predicate in self.partition_predicates]


class PartitionValuesEntry(Struct, frozen=True):
    """A dynamic partition overwrite: files whose whole partition value map is among those written.

    Source: `OptimisticTransaction.scala: filterFiles(newFiles)`, `shouldRewriteFilter = false`.
    """

    partitions: frozenset[TypedValues]
    normalizer: PartitionNormalizer

    @property
    def text(self) -> str:
        shown = sorted(str(dict(partition)) for partition in self.partitions)
        return f"partitionValues in {{{', '.join(shown)}}}"

    def holds(self, values: PartitionValues | None) -> bool:
        """Whether the values are among those written. Raises `DeltaError` if they do not parse."""
        return self.normalizer.normalize(values or {}) in self.partitions

    def matches(self, values: PartitionValues | None) -> bool:
        """The same inside the conflict check, where Delta runs it as a function of Spark's."""
        try:
            return self.holds(values)
        except DeltaError as cause:
            raise commit_errors.user_function_failed(cause.message) from cause
