"""Streams are named, so that nobody's draws depend on who else draws."""

from __future__ import annotations

from whitecap.sim.random_streams import RandomStreams, in_blocks


def _first(streams: RandomStreams, component: str, entity: str, count: int = 50) -> list[float]:
    draw = streams.uniforms(component, entity)
    return [draw() for _ in range(count)]


def test_a_stream_is_the_same_whoever_was_made_before_it() -> None:
    alone = _first(RandomStreams(7), "think", "loader-1")
    streams = RandomStreams(7)
    for other in range(20):
        _first(streams, "think", f"other-{other}")
    assert _first(streams, "think", "loader-1") == alone


def test_seed_replication_component_and_entity_each_make_another_stream() -> None:
    variants = [
        _first(RandomStreams(7), "think", "a"),
        _first(RandomStreams(8), "think", "a"),
        _first(RandomStreams(7, replication=1), "think", "a"),
        _first(RandomStreams(7), "compute", "a"),
        _first(RandomStreams(7), "think", "b"),
    ]
    assert len({tuple(draws) for draws in variants}) == len(variants)


def test_component_and_entity_are_not_glued_together() -> None:
    assert _first(RandomStreams(1), "a", "bc") != _first(RandomStreams(1), "ab", "c")


def test_drawing_in_blocks_gives_the_numbers_of_drawing_one_by_one() -> None:
    blocked = in_blocks(RandomStreams(3).generator("x", "y").random)
    single = RandomStreams(3).generator("x", "y")
    assert [blocked() for _ in range(3000)] == [single.random() for _ in range(3000)]
