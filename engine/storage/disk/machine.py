"""The machine's clock and fresh ids: what a driver of real files answers.

The only place where these enter; nothing that decides anything may import it.
"""

from __future__ import annotations

import uuid
from collections.abc import Iterator
from datetime import UTC, datetime


def wall_clock_ms() -> int:
    """Now, in epoch milliseconds."""
    return int(datetime.now(UTC).timestamp() * 1000)


def random_ids() -> Iterator[str]:
    """Random UUIDs in text, without end."""
    while True:
        yield str(uuid.uuid4())
