"""A server with as much of S3's interface as a calibration asks for, on the loopback interface."""

from __future__ import annotations

import re
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from urllib.parse import parse_qs, unquote, urlsplit
from xml.sax.saxutils import escape

LONG_AGO = "Mon, 12 Jan 2026 00:00:00 GMT"


@dataclass
class Bucket:
    """What the server holds; `refusing` is how many requests it answers with SlowDown first."""

    objects: dict[str, bytes] = field(default_factory=dict)
    refusing: int = 0
    written: set[str] = field(default_factory=set)
    lock: threading.Lock = field(default_factory=threading.Lock)
    url: str = ""


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    bucket: Bucket

    def log_message(self, format: str, *args: object) -> None:
        """Says nothing."""

    def _answer(self, status: int, body: str | bytes = b"", **headers: str) -> None:
        data = body.encode() if isinstance(body, str) else body
        self.send_response(status)
        for name, value in headers.items():
            self.send_header(name.replace("_", "-"), value)
        self.send_header("Content-Length", str(len(data)))
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(data)

    def _fails(self, status: int, code: str) -> None:
        self._answer(status, f"<Error><Code>{code}</Code><Message>{code}</Message></Error>")

    def _key(self) -> str | None:
        """The key, `None` where another bucket is asked for."""
        bucket, _, key = unquote(urlsplit(self.path).path).lstrip("/").partition("/")
        return key if bucket == "bucket" else None

    def _body(self) -> bytes:
        return self.rfile.read(int(self.headers.get("Content-Length", 0)))

    def _refuses(self) -> bool:
        with self.bucket.lock:
            self.bucket.refusing -= 1
            return self.bucket.refusing >= 0

    def do_PUT(self) -> None:
        key, body = str(self._key()), self._body()
        if self._refuses():
            return self._fails(503, "SlowDown")
        with self.bucket.lock:
            objects = self.bucket.objects
            if self.headers.get("If-None-Match") == "*" and key in objects:
                return self._fails(412, "PreconditionFailed")
            source = self.headers.get("x-amz-copy-source")
            copied = unquote(source or "").lstrip("/").partition("/")[2]
            objects[key] = body if source is None else objects[copied]
            self.bucket.written.add(key)
        tag = '<CopyObjectResult><ETag>"x"</ETag></CopyObjectResult>' if source else ""
        return self._answer(200, tag, ETag='"x"')

    def do_GET(self) -> None:
        key, query = self._key(), parse_qs(urlsplit(self.path).query)
        if key is None:
            return self._fails(404, "NoSuchBucket")
        if "list-type" in query:
            return self._answer(200, self._listing(query.get("prefix", [""])[0]))
        if key not in self.bucket.objects:
            return self._fails(404, "NoSuchKey")
        content = self.bucket.objects[key]
        part = re.fullmatch(r"bytes=(\d+)-(\d+)", self.headers.get("Range", ""))
        if part is None:
            return self._answer(200, content)
        first, last = int(part[1]), min(int(part[2]), len(content) - 1)
        place = f"bytes {first}-{last}/{len(content)}"
        return self._answer(206, content[first : last + 1], Content_Range=place)

    def do_HEAD(self) -> None:
        key = str(self._key())
        self._answer(200, self.bucket.objects.get(key, b""), ETag='"x"', Last_Modified=LONG_AGO)

    def do_DELETE(self) -> None:
        with self.bucket.lock:
            self.bucket.objects.pop(str(self._key()), None)
        self._answer(204)

    def do_POST(self) -> None:
        """Removes several objects."""
        keys = re.findall(r"<Key>(.*?)</Key>", self._body().decode())
        with self.bucket.lock:
            for key in keys:
                self.bucket.objects.pop(key, None)
        self._answer(200, "<DeleteResult></DeleteResult>")

    def _listing(self, prefix: str) -> str:
        with self.bucket.lock:
            keys = sorted(key for key in self.bucket.objects if key.startswith(prefix))[:1000]
        contents = "".join(map(self._contents, keys))
        return f"<ListBucketResult><KeyCount>{len(keys)}</KeyCount>{contents}</ListBucketResult>"

    def _contents(self, key: str) -> str:
        size = f"<Size>{len(self.bucket.objects[key])}</Size>"
        modified = "<LastModified>2026-01-12T00:00:00.000Z</LastModified>"
        return f"<Contents><Key>{escape(key)}</Key>{modified}{size}</Contents>"


@contextmanager
def loopback_s3() -> Iterator[Bucket]:
    """A server with one bucket, `bucket`, for the time of a test."""
    bucket = Bucket()
    handler = type("Handler", (_Handler,), {"bucket": bucket})
    server = ThreadingHTTPServer(("127.0.0.1", 0), handler)
    server.daemon_threads = True
    bucket.url = f"http://127.0.0.1:{server.server_port}"
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    try:
        yield bucket
    finally:
        server.shutdown()
        server.server_close()
        thread.join()
