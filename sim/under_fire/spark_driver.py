"""The JVM of all writers, as they see it: it answers, or it is dead and another one comes.

It is a process group of its own: a Python process (`sim/under_fire/spark_client.py`) and its JVM,
which die together and at once.
"""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import threading
from collections.abc import Mapping
from concurrent.futures import Future
from contextlib import suppress
from itertools import count
from pathlib import Path
from typing import Any

from whitecap.engine.errors import InvariantViolated
from whitecap.sim.replay.delta_rs.process import ProcessDied
from whitecap.sim.under_fire import spark_client

Answered = Future[dict[str, Any]]


class SparkDriver:
    """One JVM after the other, each a session on the same table. May be asked from any thread.

    `table`: the folder, the name in statements, the settings of sessions, where notes lie; `log`:
    where what it says besides goes. `back_ms`: from when on its writers have it again.
    """

    def __init__(self, table: Mapping[str, Any], log: Path) -> None:
        self._table, self._log = table, log
        self._numbers = count()
        self._waiting: dict[int, Answered] = {}
        self._lock = threading.Lock()
        self._is_up = threading.Event()
        self._process: subprocess.Popen[str] | None = None
        self.deaths = 0
        self.back_ms = 0.0

    def start(self) -> None:
        """Start a session. Raises `InvariantViolated` if that fails."""
        command = [sys.executable, "-P", "-m", spark_client.__name__]
        with self._log.open("a") as log:
            process = subprocess.Popen(
                command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=log,
                text=True, start_new_session=True,
            )  # fmt: skip
        with self._lock:
            self._process = process
            self._send(self._table)
        assert process.stdout is not None
        if not process.stdout.readline():
            raise InvariantViolated(f"real Delta Lake ended before it began: {self._log}")
        threading.Thread(target=self._read, args=(process,), daemon=True).start()
        self._is_up.set()

    def wait_up(self) -> None:
        """Until there is one."""
        self._is_up.wait()

    def require_alive(self) -> None:
        """Raises `InvariantViolated` if it ended though nobody killed it."""
        if self._process is not None and self._process.poll() is not None:
            raise InvariantViolated(f"real Delta Lake ended by itself: {self._log}")

    def run(self, asked: Mapping[str, Any]) -> dict[str, Any]:
        """Have a statement carried out. Raises `ProcessDied` if it dies before it has answered."""
        answered: Answered = Future()
        number = next(self._numbers)
        with self._lock:
            self._send({**asked, "number": number})
            self._waiting[number] = answered
        return answered.result()

    def dies(self, back_ms: float) -> None:
        """Kill it, with all that it has under way."""
        self.deaths += 1
        self.back_ms = back_ms
        self._kill()

    def close(self) -> None:
        """End it for good; whoever still waits for it gets nothing."""
        self._kill()
        self._is_up.set()

    def _kill(self) -> None:
        process, self._process = self._process, None
        if process is None:
            return
        self._is_up.clear()
        os.killpg(process.pid, signal.SIGKILL)
        process.wait()
        assert process.stdin is not None
        with self._lock:
            with suppress(BrokenPipeError):
                process.stdin.close()
            for answered in self._waiting.values():
                answered.set_exception(ProcessDied())
            self._waiting.clear()

    def _send(self, line: Mapping[str, Any]) -> None:
        process = self._process
        if process is None or process.stdin is None:
            raise ProcessDied
        try:
            process.stdin.write(json.dumps(line) + "\n")
            process.stdin.flush()
        except BrokenPipeError as error:
            raise ProcessDied from error

    def _read(self, process: subprocess.Popen[str]) -> None:
        """Read its answers and pass each to the writer that waits for it."""
        assert process.stdout is not None
        with process.stdout:
            for line in process.stdout:
                if line.endswith("\n"):
                    self._answered(json.loads(line))

    def _answered(self, answer: dict[str, Any]) -> None:
        with self._lock:
            answered = self._waiting.pop(answer["number"], None)
        if answered is not None:
            answered.set_result(answer)
