"""Deletion vectors: the bits survive, and damage is noticed."""

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.inline_vectors import inline_vector
from whitecap.engine.errors import InvalidLog
from whitecap.engine.log.actions import DeletionVector
from whitecap.engine.log.vectors import z85
from whitecap.engine.log.vectors.deletion_vectors import (
    encode_positions,
    read_vector,
    vector_key,
    write_vectors,
)
from whitecap.engine.storage.memory import MemoryStore, run

Positions = st.sets(st.integers(0, 2**40))


@given(Positions)
def test_an_inline_vector_is_read_back(positions: set[int]) -> None:
    vector = inline_vector(positions)
    assert vector.cardinality == len(positions)
    assert set(run(read_vector(vector), MemoryStore())) == positions


@given(st.lists(Positions, min_size=1, max_size=4))
def test_vectors_that_share_a_file_are_read_back_each(groups: list[set[int]]) -> None:
    store = MemoryStore()
    vectors = run(write_vectors(groups), store)
    assert [set(run(read_vector(vector), store)) for vector in vectors] == groups
    assert len(store.keys) == 1
    assert len({vector.unique_id for vector in vectors}) == len(groups)


def test_a_file_is_named_by_the_uuid_that_the_log_encodes() -> None:
    # The example of PROTOCOL.md, "Deletion Vector Descriptor Schema".
    vector = DeletionVector("u", "ab^-aqEH.-t@S}K{vb[*k^", 4, 40, 6)
    assert vector_key(vector) == "ab/deletion_vector_d2c639aa-8816-431a-aaf6-d3fe2512ff61.bin"


def test_the_first_vector_of_a_file_starts_after_its_version_byte() -> None:
    (vector,) = run(write_vectors([[1]]), MemoryStore())
    assert vector.offset == 1


@pytest.mark.parametrize("at", [0, 2, 8, -1])
def test_a_damaged_file_is_refused_by_name(at: int) -> None:
    store = MemoryStore()
    (vector,) = run(write_vectors([[1, 5, 9]]), store)
    key = vector_key(vector)
    body = bytearray(store.body(key))
    body[at] ^= 0xFF
    store.put(key, bytes(body))
    with pytest.raises(InvalidLog, match=re.escape(key)):
        run(read_vector(vector), store)


def test_a_missing_file_is_refused_by_name() -> None:
    (vector,) = run(write_vectors([[1]]), MemoryStore())
    with pytest.raises(InvalidLog, match="is missing"):
        run(read_vector(vector), MemoryStore())


@pytest.mark.parametrize("text", ["abc", "~~~~~", "#####"])
def test_text_that_is_not_z85_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match=r"Z85|multiple"):
        z85.decode(text)


def test_runs_are_kept_short() -> None:
    assert len(encode_positions(range(100_000))) < 100
