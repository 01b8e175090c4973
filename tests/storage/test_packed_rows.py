"""Files' rows come back from plain values as the very row versions that they were."""

from __future__ import annotations

from itertools import accumulate

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from whitecap.engine.row_store.packed_rows import Stores
from whitecap.engine.row_store.row_store import RowStore
from whitecap.engine.row_store.stored_rows import StoredRows

COLUMNS = (("k",), ("long",))
STEPS = st.lists(st.sampled_from([1, 1, 1, 2, -3, 0, 1_000_000]), max_size=40)


def again(*files: list[int]) -> list[list[int]]:
    """Row versions of files of two stores, packed and unpacked."""
    stores, places = Stores(), (RowStore(COLUMNS), RowStore(COLUMNS))
    rows = [
        StoredRows(places[at % 2], np.array(versions, np.intp)) for at, versions in enumerate(files)
    ]
    unpacked = [stores.rows(plain) for plain in [stores.plain(each) for each in rows]]
    assert [each.store for each in unpacked] == [each.store for each in rows]
    assert all(each.ids.dtype == np.intp for each in unpacked)
    return [each.ids.tolist() for each in unpacked]


@given(st.lists(STEPS, max_size=4))
def test_rows_come_back_in_their_order(files: list[list[int]]) -> None:
    versions = [list(accumulate(steps, initial=50_000_000))[1:] for steps in files]
    assert again(*versions) == versions


@pytest.mark.parametrize("count", [65_535, 65_536, 65_537, 200_000])
def test_places_may_be_far_apart(count: int) -> None:
    versions = [*range(7, 7 + count), 3]
    assert again(versions) == [versions]
