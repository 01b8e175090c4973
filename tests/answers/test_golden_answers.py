"""Every shape of an answer in its words, as `golden/` has them."""

from __future__ import annotations

import json

import pytest

from tests.answers.shapes import GOLDEN, SHAPES, golden


@pytest.mark.parametrize("name", SHAPES)
def test_the_answer_is_as_it_was_looked_at(name: str) -> None:
    assert f"{SHAPES[name]()}\n" == golden(name).read_text(encoding="utf-8")


def test_every_kept_answer_is_that_of_a_shape() -> None:
    assert {path.name for path in GOLDEN.iterdir()} == {golden(name).name for name in SHAPES}


@pytest.mark.parametrize("name", SHAPES)
def test_an_answer_as_json_says_the_same_and_has_no_number_that_is_none(name: str) -> None:
    answer = SHAPES[name]()
    document = json.loads(json.dumps(answer.document, allow_nan=False))
    assert document["headline"] == answer.headline
    cells = [each["cell"] for load in document["loads"] for each in load["designs"]]
    assert document["cell"] in cells
