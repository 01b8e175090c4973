"""A real client in a process of its own, as whoever leads it sees it: it answers, or it is dead."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from whitecap.engine.errors import InvalidInput, Problem
from whitecap.sim.replay.delta_rs import operations

CLIENT = Path(__file__).with_name("client.py")
WORKER = Path(operations.__file__).with_name("worker.py")

QUIET = {"RUST_LOG": "off", "AWS_EC2_METADATA_DISABLED": "true"}


class ClientDied(Exception):
    """The process ended before it answered."""


class RealClient:
    """A running client. `kill` may come from another thread while it is waited for."""

    def __init__(self, python: str | None = None) -> None:
        command = [python or sys.executable, "-P", str(CLIENT), str(WORKER)]
        try:
            self._process = subprocess.Popen(
                command, stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                stderr=subprocess.DEVNULL, text=True, env={**os.environ, **QUIET},
            )  # fmt: skip
        except OSError as error:
            said = f"cannot be run: {error.strerror}"
            raise InvalidInput([Problem(command[0], said)]) from error
        try:
            self.version: str = self._answer()["version"]
        except ClientDied:
            self.close()
            said = "has no deltalake with pyarrow: pip install deltalake pyarrow"
            raise InvalidInput([Problem(command[0], said)]) from None

    def create(self, url: str, table: Mapping[str, Any]) -> None:
        """Make a table of a schema and the rows of its files. Raises ClientDied."""
        self._ask({"ask": "create", "url": url, "table": table})

    def open(self, url: str, environment: Mapping[str, str] | None = None) -> dict[str, Any]:
        """Take a handle of the newest version, which the answer names. Raises ClientDied."""
        return self._ask({"ask": "open", "url": url, "environment": dict(environment or {})})

    def run(self, operation: Mapping[str, Any]) -> dict[str, Any]:
        """Carry an operation out through the handle. Raises ClientDied."""
        return self._ask({"ask": "run", "operation": operation})

    def kill(self) -> None:
        """As a machine that loses its power."""
        self._process.kill()

    def close(self) -> None:
        """Kill it, if it still lives, and let go of it."""
        self._process.kill()
        self._process.wait()
        for pipe in (self._process.stdin, self._process.stdout):
            assert pipe is not None
            try:
                pipe.close()
            except BrokenPipeError:
                continue

    def _ask(self, asked: Mapping[str, Any]) -> dict[str, Any]:
        assert self._process.stdin is not None
        try:
            self._process.stdin.write(json.dumps(asked) + "\n")
            self._process.stdin.flush()
        except BrokenPipeError as error:
            raise ClientDied from error
        return self._answer()

    def _answer(self) -> dict[str, Any]:
        assert self._process.stdout is not None
        line = self._process.stdout.readline()
        if not line.endswith("\n"):
            raise ClientDied
        answer: dict[str, Any] = json.loads(line)
        return answer


@contextmanager
def real_client(python: str | None = None) -> Iterator[RealClient]:
    """A client for the time of a block. Raises `InvalidInput` if there is no deltalake."""
    client = RealClient(python)
    try:
        yield client
    finally:
        client.close()
