"""A program that uses deltalake, in an interpreter that has it: it answers lines of JSON."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from whitecap.sim.replay.real.environment import EnvironmentMissing, MissingPrerequisite

REMEDY = "See --python and `make conformance`."
QUIET = {"RUST_LOG": "off", "AWS_EC2_METADATA_DISABLED": "true"}


class ProcessDied(Exception):
    """The process ended before it answered."""


class PackageProcess:
    """A running program, whose first line names the `version` of the package.

    `kill` may be called from another thread while one waits for an answer.
    """

    def __init__(self, python: str | None, program: Path, *arguments: str) -> None:
        """Raises EnvironmentMissing: there is no such interpreter, or no deltalake in it."""
        command = [python or sys.executable, "-P", str(program), *arguments]
        try:
            self._process = subprocess.Popen(
                command, stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                stderr=subprocess.DEVNULL, text=True, env={**os.environ, **QUIET},
            )  # fmt: skip
        except OSError as error:
            what = f"{command[0]} cannot be run: {error.strerror}"
            raise EnvironmentMissing([MissingPrerequisite(what, REMEDY)]) from error
        try:
            self.version: str = self._answer()["version"]
        except ProcessDied:
            self.close()
            what = f"{command[0]} has no deltalake with pyarrow"
            raise EnvironmentMissing([MissingPrerequisite(what, REMEDY)]) from None

    def ask(self, asked: Mapping[str, Any]) -> dict[str, Any]:
        """Send a request and return its answer. Raises ProcessDied."""
        assert self._process.stdin is not None
        try:
            self._process.stdin.write(json.dumps(asked) + "\n")
            self._process.stdin.flush()
        except BrokenPipeError as error:
            raise ProcessDied from error
        return self._answer()

    def kill(self) -> None:
        """Kill it, as when a machine loses its power."""
        self._process.kill()

    def close(self) -> None:
        """Kill it if it still runs, and release it."""
        self._process.kill()
        self._process.wait()
        for pipe in (self._process.stdin, self._process.stdout):
            assert pipe is not None
            try:
                pipe.close()
            except BrokenPipeError:
                continue

    def _answer(self) -> dict[str, Any]:
        assert self._process.stdout is not None
        line = self._process.stdout.readline()
        if not line.endswith("\n"):
            raise ProcessDied
        answer: dict[str, Any] = json.loads(line)
        return answer
