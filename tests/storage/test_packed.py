"""Packed things come back equal: a packed map against a dictionary, places against a list."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from whitecap.engine.packed import blocks
from whitecap.engine.packed.blocks import (
    HashedPlaces,
    InMemory,
    PackedMap,
    Packer,
    Packing,
    hashes_of,
)


def _unpacked(content: bytes) -> Sequence[tuple[str, int]]:
    return [(key, value) for key, value in json.loads(content)]


AS_JSON: Packer[tuple[str, int]] = Packer(lambda part: json.dumps(part).encode(), _unpacked)

KEYS = st.sampled_from([f"k{number}" for number in range(12)])
STEPS = st.lists(
    st.tuples(st.sampled_from(["set", "del", "pop", "take out", "get"]), KEYS, st.integers(0, 99)),
    max_size=80,
)


@pytest.fixture(autouse=True, scope="module")
def narrow() -> Iterator[None]:
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(blocks, "KEPT", 2)
        patched.setattr(blocks, "BLOCK", 3)
        patched.setattr(blocks, "KEPT_BLOCKS", 1)
        patched.setattr(blocks, "KEPT_NUMBERS", 100)
        yield


@given(STEPS, st.booleans(), st.sampled_from([0, 1, 3]))
def test_a_packed_map_does_what_a_dictionary_does(
    steps: list[tuple[str, str, int]], some_stay: bool, weight: int
) -> None:
    expected: dict[str, int] = {}
    tried = PackedMap(
        AS_JSON,
        stays=lambda value: some_stay and value % 2 == 0,
        numbers=lambda value: weight * value,
    )
    for step, key, value in steps:
        match step:
            case "set":
                expected[key] = tried[key] = value
            case "del" if key in expected:
                del expected[key], tried[key]
            case "del":
                with pytest.raises(KeyError):
                    del tried[key]
            case "pop":
                assert tried.pop(key, None) == expected.pop(key, None)
            case "take out":
                assert tried.take_out(key) == expected.pop(key, None)
            case _:
                assert tried.look_up(key) == tried.get(key) == expected.get(key)
        assert (key in tried) == (key in expected)
        assert len(tried) == len(expected)
    assert dict(tried) == expected
    assert sorted(tried) == sorted(expected)


@dataclass
class Counting(InMemory):
    """Counts the blocks that are kept."""

    kept: int = 0

    def __post_init__(self) -> None:
        super().__init__()

    def keep(self, block: bytes) -> int:
        self.kept += 1
        return super().keep(block)


def test_of_values_that_hold_many_numbers_fewer_are_kept_as_they_are() -> None:
    shelf = Counting()
    tried = PackedMap(AS_JSON, shelf, numbers=lambda value: value)
    tried.add("large", 150)
    tried["large"] = 20
    del tried["large"]
    tried.add("k1", 60)
    tried.add("k2", 120)
    assert shelf.kept == 0
    tried.add("k3", 20)
    assert shelf.kept == 1
    assert dict(tried) == {"k1": 60, "k2": 120, "k3": 20}


@given(st.lists(st.lists(st.integers(-3, 3), max_size=8), max_size=8))
def test_places_are_found_by_their_hashes(parts: list[list[int]]) -> None:
    places, everything = HashedPlaces(), list[int]()
    for part in parts:
        numbers = np.arange(len(everything), len(everything) + len(part), dtype=np.int32)
        places = places.with_more(hashes_of(part), numbers)
        everything += part
    assert len(places) == len(everything)
    assert places.all().tolist() == list(range(len(everything)))
    for value in range(-4, 5):
        expected = [at for at, each in enumerate(everything) if hash(each) == hash(value)]
        assert sorted(places.of(hash(value))) == expected
        assert sorted(places.with_any(hashes_of([value]))) == expected
    of_all = [at for value in {hash(each) for each in everything} for at in places.of(value)]
    assert sorted(places.with_any(hashes_of({hash(each) for each in everything}))) == sorted(of_all)


def test_few_runs_are_to_be_looked_at_and_places_that_went_are_left_out() -> None:
    places = HashedPlaces()
    for number in range(200):
        hashes = np.array([number])
        places = places.with_more(hashes, hashes.astype(np.int32), lambda each: each % 2 == 0)
    assert len(places.runs) < 6
    assert 100 <= len(places) < 150


def test_things_keep_their_places_however_many_come_at_once() -> None:
    shelf = InMemory()
    packing = Packing(AS_JSON, shelf)
    entries = [(f"k{number}", number) for number in range(10)]
    places = [*packing.extend(entries[:4]), *packing.extend([]), *packing.extend(entries[4:])]
    assert [packing[place] for place in places] == entries
