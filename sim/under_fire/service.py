"""An object store on the loopback interface that speaks as much S3 as deltalake asks for.

PUT (also with `If-None-Match: *`), GET (also of a range), HEAD, DELETE (also of several), and
listings; no multipart uploads. What befalls a request is asked before it has any effect. A reply
that is lost is a connection that is closed without one.
"""

from __future__ import annotations

import hashlib
import re
import threading
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from datetime import UTC, datetime
from email.utils import formatdate
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from time import sleep, time
from urllib.parse import parse_qs, unquote, urlsplit
from xml.sax.saxutils import escape

from msgspec import Struct, field

from whitecap.engine.log.commit_file import LOG_DIRECTORY
from whitecap.sim.store.requests.faults import UNHARMED, Crash, Struck
from whitecap.sim.store.requests.kinds import RequestKind
from whitecap.sim.under_fire.bucket import Bucket, Object
from whitecap.sim.under_fire.misfortunes import JobRun

BUCKET = "whitecap"
TABLE_PREFIX = "table/"
"""Where the table lies in the bucket."""

Befall = Callable[[JobRun, RequestKind, str], tuple[Struck, int]]
Kill = Callable[[JobRun, Crash], None]

_COMMIT = re.compile(rf"{LOG_DIRECTORY}/(\d{{20}})\.json$")
_CREDENTIAL = re.compile(r"Credential=([^/]+)/")


class LandedVersion(Struct, frozen=True):
    """A version of the log that took effect by a request of this sender."""

    version: int
    sender: JobRun


class Service(Struct):
    """What the server does for a request; `later` runs something after some simulated ms."""

    bucket: Bucket
    befall: Befall
    kill: Kill
    real_s: Callable[[float], float]
    """How many real seconds some simulated milliseconds take."""
    landings: list[LandedVersion] = field(default_factory=list)
    struck: Counter[str] = field(default_factory=Counter)
    requests: Counter[str] = field(default_factory=Counter)
    url: str = ""

    def put(self, key: str, body: bytes, if_absent: bool, sender: JobRun | None) -> bool:
        """Put an object. Returns whether that had effect; notes whose version of the log landed."""
        done = self.bucket.put(key, body, if_absent=if_absent)
        commit = _COMMIT.search(key)
        if done and commit and sender is not None:
            self.landings.append(LandedVersion(int(commit[1]), sender))
        return done

    def after(self, delay_ms: float, effect: Callable[[], object]) -> None:
        """Let something happen later, whether or not anybody waits for it."""
        timer = threading.Timer(self.real_s(delay_ms), effect)
        timer.daemon = True
        timer.start()


class Server(ThreadingHTTPServer):
    """An HTTP server with a thread for each connection; many may begin at once."""

    daemon_threads = True
    request_queue_size = 128


@contextmanager
def serving(service: Service) -> Iterator[Service]:
    """The service at its `url`, for the time of a block."""
    handler = type("BoundHandler", (Handler,), {"service": service})
    server = Server(("127.0.0.1", 0), handler)
    service.url = f"http://127.0.0.1:{server.server_port}"
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    try:
        yield service
    finally:
        server.shutdown()
        server.server_close()
        thread.join()


class Handler(BaseHTTPRequestHandler):
    """One connection of a client."""

    service: Service
    protocol_version = "HTTP/1.1"
    wbufsize = -1  # Headers and body in one packet: else each reply waits for an acknowledgement.

    def log_message(self, format: str, *args: object) -> None:
        """Nobody reads it."""

    def do_PUT(self) -> None:
        body = self.rfile.read(int(self.headers.get("Content-Length", 0)))
        if "uploadId" in self._query or "x-amz-copy-source" in self.headers:
            return self._fails(501, "NotImplemented")
        if_absent = self.headers.get("If-None-Match") == "*"
        kind = RequestKind.PUT_IF_ABSENT if if_absent else RequestKind.PUT
        sender = self._sender

        def effect() -> bool:
            return self.service.put(self._key, body, if_absent, sender)

        return self._serve(kind, effect, lambda done: self._put_answer(body, bool(done)))

    def _put_answer(self, body: bytes, done: bool) -> None:
        if done:
            return self._answer(200, ETag=_tag(body))
        return self._fails(412, "PreconditionFailed")

    def do_GET(self) -> None:
        if not self._key:
            return self._serve(RequestKind.LIST, lambda: None, lambda _: None)
        return self._serve(
            RequestKind.GET, lambda: self.service.bucket.get(self._key), self._object
        )

    def do_HEAD(self) -> None:
        self._serve(RequestKind.HEAD, lambda: self.service.bucket.get(self._key), self._object)

    def do_DELETE(self) -> None:
        self._serve(
            RequestKind.DELETE,
            lambda: self.service.bucket.delete(self._key),
            lambda _: self._answer(204),
        )

    def do_POST(self) -> None:
        body = self.rfile.read(int(self.headers.get("Content-Length", 0))).decode()
        if "delete" not in self._query:
            return self._fails(501, "NotImplemented")

        def effect() -> None:
            for key in re.findall(r"<Key>(.*?)</Key>", body):
                self.service.bucket.delete(key)

        return self._serve(
            RequestKind.DELETE,
            effect,
            lambda _: self._answer(200, b"<DeleteResult></DeleteResult>"),
        )

    def _serve(
        self, kind: RequestKind, effect: Callable[[], object], answer: Callable[[object], None]
    ) -> None:
        """Serve one request: its effect, its reply, and everything that befalls it."""
        service, sender, key = self.service, self._sender, self._key
        service.requests[kind.label] += 1
        struck, misses = UNHARMED, 0
        if sender is not None:
            struck, misses = service.befall(sender, kind, key.removeprefix(TABLE_PREFIX))
        if kind is RequestKind.LIST:
            answer = lambda _: self._listing(misses)  # noqa: E731
            service.struck.update(["stale_listing"] if misses else [])
        if struck is UNHARMED:
            return answer(effect())
        return self._under_fire(struck, sender, effect, answer)

    def _under_fire(
        self,
        struck: Struck,
        sender: JobRun | None,
        effect: Callable[[], object],
        answer: Callable[[object], None],
    ) -> None:
        service = self.service
        service.struck.update(struck.names)
        sleep(service.real_s(struck.pause_ms))
        if struck.crash is not None and sender is not None:
            return self._dies(struck.crash, sender, effect)
        if struck.is_throttled:
            return self._fails(503, "SlowDown")
        if struck.is_conflicting:
            return self._fails(409, "ConditionalRequestConflict")
        if struck.late_ms is not None:
            service.after(struck.late_ms, effect)
            return self._says_nothing()
        done = effect()
        if struck.again_ms is not None:
            service.after(struck.again_ms, effect)
        return self._says_nothing() if struck.loses_reply else answer(done)

    def _dies(self, crash: Crash, sender: JobRun, effect: Callable[[], object]) -> None:
        """The client is killed before its request is sent, while it is on its way, or after."""
        if crash.when == "after":
            effect()
        self.service.kill(sender, crash)
        if crash.when == "during":
            effect()
        self._says_nothing()

    def _says_nothing(self) -> None:
        self.close_connection = True

    def _answer(self, status: int, body: bytes = b"", **headers: str) -> None:
        self._head(status, len(body), headers)
        if self.command != "HEAD":
            self.wfile.write(body)

    def _fails(self, status: int, code: str) -> None:
        body = f"<Error><Code>{code}</Code><Message>{code}</Message></Error>"
        self._answer(status, body.encode())

    def _object(self, body: object) -> None:
        if not isinstance(body, bytes):
            return self._fails(404, "NoSuchKey")
        asked = re.fullmatch(r"bytes=(\d*)-(\d*)", self.headers.get("Range", ""))
        first, last = _span(asked, len(body)) if asked else (0, len(body) - 1)
        headers = {"ETag": _tag(body), "Last_Modified": formatdate(time(), usegmt=True)}
        if asked:
            headers["Content_Range"] = f"bytes {first}-{last}/{len(body)}"
        part = body[first : last + 1]
        if self.command == "HEAD":
            return self._head(200, len(part), headers)
        return self._answer(206 if asked else 200, part, **headers)

    def _head(self, status: int, size: int, headers: Mapping[str, str]) -> None:
        self.send_response(status)
        for name, value in headers.items():
            self.send_header(name.replace("_", "-"), value)
        self.send_header("Content-Length", str(size))
        self.end_headers()

    def _listing(self, misses: int) -> None:
        """A listing in one page; a delimiter gathers the keys below it."""
        prefix, after = (self._query.get(name, [""])[0] for name in ("prefix", "start-after"))
        deeper = self._query.get("delimiter", [""])[0]
        objects = [each for each in self.service.bucket.objects(prefix) if each.key > after]
        folders, here = set(), []
        for each in _without_newest(objects, misses):
            rest = each.key[len(prefix) :]
            if deeper and deeper in rest:
                folders.add(prefix + rest.partition(deeper)[0] + deeper)
            else:
                here.append(each)
        listing = "".join(map(_listed, here)) + "".join(
            f"<CommonPrefixes><Prefix>{escape(each)}</Prefix></CommonPrefixes>"
            for each in sorted(folders)
        )
        contents = f"<KeyCount>{len(here)}</KeyCount><IsTruncated>false</IsTruncated>{listing}"
        named = f"<Name>{BUCKET}</Name><Prefix>{escape(prefix)}</Prefix>"
        self._answer(200, f"<ListBucketResult>{named}{contents}</ListBucketResult>".encode())

    @property
    def _key(self) -> str:
        """The key of the object, empty for the bucket itself."""
        return unquote(urlsplit(self.path).path).lstrip("/").partition("/")[2]

    @property
    def _query(self) -> dict[str, list[str]]:
        return parse_qs(urlsplit(self.path).query, keep_blank_values=True)

    @property
    def _sender(self) -> JobRun | None:
        """The sender, by the access key; `None` for anybody else."""
        credential = _CREDENTIAL.search(self.headers.get("Authorization", ""))
        try:
            return None if credential is None else JobRun.of(credential[1])
        except ValueError:
            return None


def _tag(body: bytes) -> str:
    return f'"{hashlib.md5(body, usedforsecurity=False).hexdigest()}"'


def _span(asked: re.Match[str], size: int) -> tuple[int, int]:
    """The first and the last byte of a range; `-5` are the last five."""
    if not asked[1]:
        return max(0, size - int(asked[2])), size - 1
    return int(asked[1]), min(size, int(asked[2] or size) + 1) - 1


def _without_newest(objects: list[Object], misses: int) -> list[Object]:
    commits = [each for each in objects if _COMMIT.search(each.key)]
    missed = commits[len(commits) - misses :] if misses else []
    return [each for each in objects if each not in missed]


def _listed(each: Object) -> str:
    when = datetime.fromtimestamp(each.modified_s, UTC).strftime("%Y-%m-%dT%H:%M:%S.000Z")
    return (
        f"<Contents><Key>{escape(each.key)}</Key><LastModified>{when}</LastModified>"
        f"<ETag>&quot;{each.size}&quot;</ETag><Size>{each.size}</Size></Contents>"
    )
