"""Delta comes upon partitions as Scala's hash map has them."""

from __future__ import annotations

from whitecap.engine.commands.maintenance.partition_order import hash_order


def _partition(**values: str | None) -> frozenset[tuple[str, str | None]]:
    return frozenset(values.items())


def test_partitions_come_in_the_order_in_which_real_delta_was_seen_to_take_them() -> None:
    by_number = [_partition(x=number) for number in ("1", "3", "5", "7", "9")]
    assert [dict(each)["x"] for each in hash_order(by_number)] == ["3", "1", "5", "9", "7"]
    pairs = [_partition(x=x, y=y) for x in "abc" for y in ("x", None, "z")]
    seen = [tuple(dict(each)[name] for name in "xy") for each in hash_order(pairs)]
    assert [pair for pair in seen if pair[1] is None] == [("c", None), ("b", None), ("a", None)]
    assert ["".join(filter(None, pair)) for pair in seen if pair[1]] == [
        "cx", "az", "ax", "bz", "cz", "bx",
    ]  # fmt: skip


def test_no_partition_is_lost_whatever_its_values() -> None:
    many = [_partition(x=f"💥{number}", y=None) for number in range(3000)]
    in_order = hash_order([*many, *many[:5]])
    assert len(in_order) == 3000
    assert set(in_order) == set(many)
    assert hash_order([frozenset()]) == [frozenset()]
