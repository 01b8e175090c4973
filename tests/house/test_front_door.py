"""What `import whitecap` offers: seen at once by who looks, loaded when it is used."""

from __future__ import annotations

import whitecap


def test_everything_that_is_offered_is_shown_and_there() -> None:
    assert [name for name in dir(whitecap) if not name.startswith("_")] == whitecap.__all__
    assert all(getattr(whitecap, name) is not None for name in whitecap.__all__)
