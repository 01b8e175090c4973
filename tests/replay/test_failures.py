"""A failure is told in Delta's words, whatever dress it reaches Python in."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from whitecap.sim.replay.real.failures import Failure, failure_of

if TYPE_CHECKING:
    from pathlib import Path

    from pyspark.sql import SparkSession


def test_an_error_of_python_is_told_by_its_own_name() -> None:
    failure = failure_of(ValueError("[SOME_CLASS.SUB] no"))
    assert failure == Failure("ValueError", "SOME_CLASS.SUB", "[SOME_CLASS.SUB] no")


@pytest.mark.spark
def test_an_error_that_pyspark_has_no_words_for_is_told_by_its_origin(
    spark: SparkSession, tmp_path: Path
) -> None:
    target, source = tmp_path / "target", tmp_path / "source"
    spark.sql(f"CREATE TABLE delta.`{target}` (k INT, w INT) USING delta")
    spark.sql(f"CREATE TABLE delta.`{source}` (k INT) USING delta")
    merge = f"MERGE INTO delta.`{target}` t USING delta.`{source}` s ON t.k = s.k "
    with pytest.raises(Exception, match="DELTA_MERGE_UNRESOLVED_EXPRESSION") as caught:
        spark.sql(merge + "WHEN NOT MATCHED THEN INSERT *")
    failure = failure_of(caught.value)
    assert failure.exception == "DeltaAnalysisException"
    assert failure.error_class == "DELTA_MERGE_UNRESOLVED_EXPRESSION"
