"""A Spark cluster and an S3-compatible server on the loopback interface, for the time of a test."""

from __future__ import annotations

import os
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pyspark

from tests.cluster.s3_jars import S3
from whitecap.sim.replay.real.jars import jars_of

HOST = "127.0.0.1"
READY_WITHIN_S = 120
KEYS = {"AWS_ACCESS_KEY_ID": "whitecap", "AWS_SECRET_ACCESS_KEY": "whitecap"}
SPARK_HOME = Path(pyspark.__file__).parent
DEPLOY = "org.apache.spark.deploy"


def wait_until(condition: Callable[[], bool], what: str, seconds: float = READY_WITHIN_S) -> None:
    """Wait, and fail with what was waited for."""
    end = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < end, f"waited {seconds} s for {what}"
        time.sleep(0.1)


def free_port() -> int:
    """A port that nobody listens at."""
    with socket.socket() as asked:
        asked.bind((HOST, 0))
        return int(asked.getsockname()[1])


@contextmanager
def running(command: list[str], log: Path, **variables: str) -> Iterator[subprocess.Popen[bytes]]:
    """A server with all that it starts, in a session of its own; killed at the end."""
    log.parent.mkdir(parents=True, exist_ok=True)
    with log.open("wb") as output:
        process = subprocess.Popen(
            command, stdout=output, stderr=output, cwd=log.parent,
            env={**os.environ, **variables}, start_new_session=True,
        )  # fmt: skip
    try:
        yield process
    finally:
        kill(process)


def kill(process: subprocess.Popen[bytes]) -> None:
    """As a machine that loses its power: the process and everything that it started."""
    if process.poll() is None:
        os.killpg(process.pid, signal.SIGKILL)
        process.wait()


@contextmanager
def s3_server(folder: Path) -> Iterator[int]:
    """moto's server with the bucket `sweeps`; yields its port."""
    port = free_port()
    with running([os.environ["MOTO_SERVER"], "-H", HOST, "-p", str(port)], folder / "moto.log"):
        wait_until(lambda: _listens(port), "moto's server")
        bucket(port).create_dir("sweeps")
        yield port


def bucket(port: int):  # type: ignore[no-untyped-def]
    """The server's files, without Java."""
    from pyarrow.fs import S3FileSystem

    return S3FileSystem(
        access_key="whitecap", secret_key="whitecap", region="us-east-1", scheme="http",
        endpoint_override=f"{HOST}:{port}", allow_bucket_creation=True,
    )  # fmt: skip


def _listens(port: int) -> bool:
    with socket.socket() as asking:
        return asking.connect_ex((HOST, port)) == 0


def spark_settings(folder: Path, port: int) -> dict[str, str]:
    """Variables by which any Spark program finds the server, as a user would set them: through
    `spark-defaults.conf`."""
    settings = {
        "spark.jars": ",".join(str(jar) for jar in jars_of(S3)),
        "spark.driver.host": HOST,
        "spark.hadoop.fs.s3a.endpoint": f"http://{HOST}:{port}",
        "spark.hadoop.fs.s3a.endpoint.region": "us-east-1",
        "spark.hadoop.fs.s3a.path.style.access": "true",
        "spark.hadoop.fs.s3a.connection.ssl.enabled": "false",
        "spark.hadoop.fs.s3a.access.key": "whitecap",
        "spark.hadoop.fs.s3a.secret.key": "whitecap",
    }
    folder.mkdir(parents=True, exist_ok=True)
    lines = [f"{key} {value}\n" for key, value in settings.items()]
    (folder / "spark-defaults.conf").write_text("".join(lines))
    return {"SPARK_CONF_DIR": str(folder), "PYSPARK_PYTHON": sys.executable}


@contextmanager
def master(folder: Path) -> Iterator[str]:
    """A standalone master; yields its URL."""
    port = free_port()
    command = [*_spark_class("master.Master"), "--host", HOST, "--port", str(port)]
    with running([*command, "--webui-port", "0"], folder / "master.log", **_local(folder)):
        wait_until(lambda: _listens(port), "the master")
        yield f"spark://{HOST}:{port}"


@contextmanager
def worker(folder: Path, url: str) -> Iterator[subprocess.Popen[bytes]]:
    """A worker of one core with a directory of its own."""
    command = [*_spark_class("worker.Worker"), "--host", HOST, "-c", "1", "-m", "1g"]
    log = folder / "worker.log"
    with running([*command, "-d", str(folder), url], log, **_local(folder)) as process:
        said = "Successfully registered with master"
        wait_until(lambda: said in log.read_text(errors="replace"), "a worker")
        yield process


def _spark_class(name: str) -> list[str]:
    return [str(SPARK_HOME / "bin" / "spark-class"), f"{DEPLOY}.{name}"]


def _local(folder: Path) -> dict[str, str]:
    return {
        "SPARK_HOME": str(SPARK_HOME), "SPARK_LOCAL_IP": HOST, "SPARK_CONF_DIR": str(folder),
        "SPARK_WORKER_DIR": str(folder), "SPARK_LOCAL_DIRS": str(folder),
    }  # fmt: skip
