"""A real client in a process of its own, as its leader sees it: it answers, or it is dead."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from whitecap.sim.replay.delta_rs.cases import WORKER
from whitecap.sim.replay.delta_rs.process import PackageProcess

CLIENT = Path(__file__).with_name("client_process.py")


class RealClient:
    """A running client. All methods except `kill` and `close` raise ProcessDied."""

    def __init__(self, python: str | None = None) -> None:
        """Raises EnvironmentMissing."""
        self._process = PackageProcess(python, CLIENT, str(WORKER))
        self.version = self._process.version
        self.kill = self._process.kill
        self.close = self._process.close

    def create(self, url: str, table: Mapping[str, Any]) -> None:
        """Make a table of a schema and the rows of its files."""
        self._process.ask({"ask": "create", "url": url, "table": table})

    def open(self, url: str, environment: Mapping[str, str] | None = None) -> dict[str, Any]:
        """Take a handle of the newest version, which the answer names."""
        asked = {"ask": "open", "url": url, "environment": dict(environment or {})}
        return self._process.ask(asked)

    def run(self, operation: Mapping[str, Any]) -> dict[str, Any]:
        """Run an operation through the handle."""
        return self._process.ask({"ask": "run", "operation": operation})


@contextmanager
def real_client(python: str | None = None) -> Iterator[RealClient]:
    """A client for the time of a block. Raises `EnvironmentMissing` if there is no deltalake."""
    client = RealClient(python)
    try:
        yield client
    finally:
        client.close()
