"""The order in which Delta's OPTIMIZE comes upon the partitions of a table.

It groups files into a hash map of Scala by their partition values, and takes groups as that map
iterates: by the bits of a mixed hash, five at a time. It shows where batches are limited in size,
since these are committed one after the other.

Source: OptimizeTableCommand.scala (`filesToProcess.groupBy(_.partitionValues)`), Scala 2.13's
IterableOnce.groupBy, immutable.HashMap, Hashing.improve and MurmurHash3.mapHash; the orders of
partitions observed on Delta Lake 4.4.0.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence

from whitecap.engine.log.file_keys import NamedValues

_32_BITS = 0xFFFFFFFF
_BITS_A_LEVEL = 5
"""Each level of the map tells 32 branches apart."""


def hash_order(partitions: Iterable[NamedValues]) -> list[NamedValues]:
    """Each of the partitions once, in the order in which Scala's hash map has them."""
    hashes = {each: _improved(_map_hash(each)) for each in partitions}
    return _iterated(list(hashes), hashes, 0)


def _iterated(
    partitions: Sequence[NamedValues], hashes: Mapping[NamedValues, int], shift: int
) -> list[NamedValues]:
    """A node of the map has what is alone in its branch first, and then the nodes below it."""
    if shift >= 32:
        return list(partitions)
    branches: dict[int, list[NamedValues]] = defaultdict(list)
    for each in partitions:
        branches[hashes[each] >> shift & 31].append(each)
    in_order = [branches[branch] for branch in sorted(branches)]
    alone = [branch[0] for branch in in_order if len(branch) == 1]
    below = (_iterated(each, hashes, shift + _BITS_A_LEVEL) for each in in_order if len(each) > 1)
    return [*alone, *(each for node in below for each in node)]


def _improved(hashed: int) -> int:
    hashed = (hashed + ~(hashed << 9)) & _32_BITS
    hashed ^= hashed >> 14
    hashed = (hashed + (hashed << 4)) & _32_BITS
    return hashed ^ hashed >> 10


def _map_hash(partition: NamedValues) -> int:
    """Of all pairs in any order: their sum, exclusive or, and product of what is made odd."""
    total, mixed, product = 0, 0, 1
    for pair in (_pair_hash(name, value) for name, value in partition):
        total, mixed, product = total + pair, mixed ^ pair, product * (pair | 1) & _32_BITS
    hashed = _mixed(_mixed(_text_hash("Map"), total & _32_BITS), mixed)
    return _finished(_mixed_last(hashed, product), len(partition))


def _pair_hash(name: str, value: str | None) -> int:
    hashed = _mixed(0xCAFEBABE, _text_hash("Tuple2"))
    return _finished(_mixed(_mixed(hashed, _text_hash(name)), _text_hash(value)), 2)


def _text_hash(text: str | None) -> int:
    """Java's String.hashCode; of null it is 0."""
    hashed = 0
    utf_16 = (text or "").encode("utf-16-be", "surrogatepass")
    for high, low in zip(utf_16[::2], utf_16[1::2], strict=True):
        hashed = (31 * hashed + (high << 8 | low)) & _32_BITS
    return hashed


def _mixed(hashed: int, data: int) -> int:
    return (_rotated(_mixed_last(hashed, data), 13) * 5 + 0xE6546B64) & _32_BITS


def _mixed_last(hashed: int, data: int) -> int:
    return hashed ^ _rotated(data * 0xCC9E2D51 & _32_BITS, 15) * 0x1B873593 & _32_BITS


def _rotated(number: int, bits: int) -> int:
    return (number << bits | number >> 32 - bits) & _32_BITS


def _finished(hashed: int, length: int) -> int:
    hashed ^= length
    hashed = (hashed ^ hashed >> 16) * 0x85EBCA6B & _32_BITS
    hashed = (hashed ^ hashed >> 13) * 0xC2B2AE35 & _32_BITS
    return hashed ^ hashed >> 16
