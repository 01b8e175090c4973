"""An S3 bucket, or a prefix in one, as a store; any service with S3's interface is one too.

A request is sent once: what the client does when it is refused is part of a profile, not of a
latency.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any
from urllib.parse import urlsplit

from msgspec import Struct

from whitecap.engine.errors import InvalidInput, Problem
from whitecap.sim.calibration.samples import StoreOperation
from whitecap.sim.calibration.target import Refused
from whitecap.sim.replay.real.environment import EnvironmentMissing, MissingPrerequisite

TAKEN = frozenset({"PreconditionFailed", "412"})
"""Error codes of a conditional write that finds an object."""

REFUSALS = frozenset(
    {"SlowDown", "503", "429", "ServiceUnavailable", "InternalError", "ConditionalRequestConflict"}
)
"""Error codes of requests that may be sent again."""

MISSING = frozenset({"NoSuchKey", "404"})
"""Error codes of requests for an object whose put was refused."""

TIMEOUT_S = 30
"""As the clients of the shipped profiles."""


class S3Target(Struct):
    """A prefix of a bucket; `client` is boto3's, `endpoint` another service than AWS."""

    url: str
    bucket: str
    prefix: str
    endpoint: str | None
    client: Any
    like: str = "s3"
    kinds: frozenset[StoreOperation] = frozenset(StoreOperation) - {StoreOperation.RENAME}

    @classmethod
    def of(cls, url: str, endpoint: str | None = None) -> S3Target:
        """The place of an `s3://` URL. Raises `InvalidInput`, `EnvironmentMissing`."""
        parts = urlsplit(url)
        if not parts.netloc:
            raise InvalidInput([Problem(url, "names no bucket: write s3://BUCKET/PREFIX")])
        prefix = parts.path.strip("/")
        return cls(url, parts.netloc, f"{prefix}/" if prefix else "", endpoint, _client(endpoint))

    @property
    def place(self) -> str:
        """The URL, and the service where it is not AWS."""
        return f"{self.url} at {self.endpoint}" if self.endpoint else self.url

    def another(self) -> S3Target:
        return S3Target(
            self.url, self.bucket, self.prefix, self.endpoint, _client(self.endpoint),
        )  # fmt: skip

    def is_empty(self) -> bool:
        from botocore.exceptions import BotoCoreError, ClientError

        try:
            return not self.list("")
        except (BotoCoreError, ClientError, Refused) as error:
            raise InvalidInput([Problem(self.url, f"cannot be reached: {error}")]) from None

    def put_if_absent(self, key: str, body: bytes) -> bool:
        return self._ask(lambda at: self.client.put_object(Body=body, IfNoneMatch="*", **at), key)

    def put(self, key: str, body: bytes) -> None:
        self._ask(lambda at: self.client.put_object(Body=body, **at), key)

    def get(self, key: str) -> int:
        read: list[int] = []
        self._ask(lambda at: read.append(len(self.client.get_object(**at)["Body"].read())), key)
        return read[0]

    def head(self, key: str) -> None:
        self._ask(lambda at: self.client.head_object(**at), key)

    def list(self, folder: str) -> Sequence[str]:
        prefix = f"{self.prefix}{folder}/" if folder else self.prefix
        pages: list[dict[str, Any]] = []

        def page(at: dict[str, str]) -> None:
            pages.append(self.client.list_objects_v2(Bucket=at["Bucket"], Prefix=prefix))

        self._ask(page, "")
        return [entry["Key"].removeprefix(prefix) for entry in pages[0].get("Contents", ())]

    def copy(self, source: str, target: str) -> None:
        origin = {"Bucket": self.bucket, "Key": self.prefix + source}
        self._ask(lambda at: self.client.copy_object(CopySource=origin, **at), target)

    def rename(self, source: str, target: str) -> None:
        raise NotImplementedError("S3 renames nothing: it copies and deletes")

    def delete(self, key: str) -> None:
        self._ask(lambda at: self.client.delete_object(**at), key)

    def clear(self, folder: str) -> None:
        """A thousand at a time, which is a page."""
        while names := self.list(folder):
            doomed = [{"Key": f"{self.prefix}{folder}/{name}"} for name in names]
            self.client.delete_objects(
                Bucket=self.bucket, Delete={"Objects": doomed, "Quiet": True}
            )

    def _ask(self, request: Callable[[dict[str, str]], Any], key: str) -> bool:
        """Send a request; false where a conditional one finds an object. Raises `Refused`."""
        from botocore.exceptions import ClientError

        try:
            request({"Bucket": self.bucket, "Key": self.prefix + key})
        except ClientError as error:
            code = str(error.response.get("Error", {}).get("Code"))
            if code in TAKEN:
                return False
            if code in REFUSALS | MISSING:
                raise Refused(code) from None
            raise
        return True


def _client(endpoint: str | None) -> Any:
    try:
        import boto3
        from botocore.config import Config
    except ImportError:
        missing = MissingPrerequisite("boto3 is not installed", "Run: pip install 'whitecap[s3]'")
        raise EnvironmentMissing([missing]) from None
    from botocore.exceptions import BotoCoreError

    once = Config(
        retries={"total_max_attempts": 1, "mode": "standard"},
        connect_timeout=TIMEOUT_S,
        read_timeout=TIMEOUT_S,
    )
    try:
        return boto3.session.Session().client("s3", endpoint_url=endpoint, config=once)
    except (BotoCoreError, ValueError) as error:
        raise InvalidInput([Problem("s3", str(error))]) from None
