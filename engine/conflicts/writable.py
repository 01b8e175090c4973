"""Whether this client may write a table: its own first commit, and after a winner's change.

Source: `DeltaLog.scala: protocolRead`, `protocolWrite`.
"""

from __future__ import annotations

from whitecap.engine.log.actions import Protocol
from whitecap.engine.log.features.protocols import unknown_features
from whitecap.engine.refusals import protocol_errors

MAX_READER_VERSION = 3
MAX_WRITER_VERSION = 7
CLIENT_VERSION = "4.4.0"
"""The Delta Lake that a refusal says the client is. Source: `DeltaErrors.scala`, which names
`io.delta.VERSION`."""


def check_writable(protocol: Protocol, table_name: str) -> None:
    """Raises `DeltaError` for a protocol that this client may not write."""
    too_new = (
        protocol.min_reader_version > MAX_READER_VERSION
        or protocol.min_writer_version > MAX_WRITER_VERSION
    )
    if too_new:
        raise protocol_errors.invalid_protocol_version(table_name, protocol, CLIENT_VERSION)
    unknown = unknown_features(protocol)
    to_read = [name for name in unknown if name in (protocol.reader_features or ())]
    if to_read:
        raise protocol_errors.unsupported_features(table_name, to_read, CLIENT_VERSION, "read")
    if unknown:
        raise protocol_errors.unsupported_features(table_name, unknown, CLIENT_VERSION, "write")
