"""Table properties: defaults, types, and text without meaning."""

import pytest

from whitecap.engine.errors import DeltaError
from whitecap.engine.log import properties


def test_an_absent_property_has_its_default() -> None:
    assert properties.CHECKPOINT_INTERVAL.of({}) == 10
    assert properties.ISOLATION_LEVEL.of({}) == "Serializable"
    assert properties.DELETED_FILE_RETENTION_MS.of({}) == 7 * 24 * 3_600_000


@pytest.mark.parametrize("text", ["TRUE", "true", " True "])
def test_flags_are_read_in_any_case(text: str) -> None:
    assert properties.APPEND_ONLY.of({"delta.appendOnly": text})


@pytest.mark.parametrize(
    ("table_property", "text"),
    [
        (properties.APPEND_ONLY, "yes"),
        (properties.CHECKPOINT_INTERVAL, "0"),
        (properties.CHECKPOINT_INTERVAL, "ten"),
        (properties.LOG_RETENTION_MS, "30"),
        (properties.LOG_RETENTION_MS, "interval 1 month"),
        (properties.INDEXED_COLUMNS, "-2"),
    ],
)
def test_text_without_meaning_is_refused(
    table_property: properties.TableProperty[object], text: str
) -> None:
    with pytest.raises(DeltaError, match=table_property.key):
        table_property.of({table_property.key: text})


def test_intervals_add_up() -> None:
    assert properties.interval_ms("interval 1 day 2 hours") == 26 * 3_600_000
    assert properties.interval_ms("2 weeks") == 14 * 86_400_000
