"""What all commit protocols share: the transaction that asks, and calls of a file system.

A protocol is written as the log store that it describes, one request after the other. State changes
only in the effect of a request, so what a driver leaves behind that dies between two of them is
what its protocol leaves behind.
"""

from __future__ import annotations

from typing import Protocol

from whitecap.sim.recording.recorder import TransactionRecord
from whitecap.sim.store.cluster import Cluster
from whitecap.sim.store.connection import Connection
from whitecap.sim.store.log_directory import Moment, Segment
from whitecap.sim.store.log_requests import LogRequests

Shown = tuple[Segment, Moment]
"""What a listing of the log shows, and when."""


class TableClient(Protocol):
    """One transaction's access to the log."""

    cluster: Cluster
    connection: Connection
    record: TransactionRecord
    requests: LogRequests
