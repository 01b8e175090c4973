"""Paths: the log, the store and the directories agree."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from whitecap.engine.storage.paths import data_key, log_path, partition_directory


@given(st.text(alphabet=st.characters(exclude_categories=["Cs"])))
def test_a_key_survives_the_log(key: str) -> None:
    assert data_key(log_path(key)) == key


def test_a_directory_name_is_escaped_once_and_its_log_path_again() -> None:
    directory = partition_directory({"at": "2026-01-01 10:00:00", "c": None})
    assert directory == "at=2026-01-01 10%3A00%3A00/c=__HIVE_DEFAULT_PARTITION__/"
    assert log_path(directory).startswith("at=2026-01-01%2010%253A00%253A00/")


def test_letters_beyond_ascii_stay_as_they_are() -> None:
    assert log_path("nm=ä b/%") == "nm=ä%20b/%25"


@pytest.mark.parametrize("value", ["", None])
def test_an_empty_value_is_stored_as_null(value: str | None) -> None:
    assert partition_directory({"x": value}) == "x=__HIVE_DEFAULT_PARTITION__/"
