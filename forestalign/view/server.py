"""The page with two text boxes, for one's own machine.

Whatever is in the texts, it is only ever aligned and drawn. Other pages open in the same browser must not reach the
aligner: a host name that somebody else's DNS pointed at this machine is refused (the `Host` header must be an address,
`localhost` or this machine's name), and so are requests from another origin or that are not JSON. What people correct
goes to `/annotations`, with a token that only the page has, and from there to the one file that the user named.
"""

from __future__ import annotations

import io
import ipaddress
import json
import secrets
import socket
import sys
import time
import traceback
from collections.abc import Callable, Sequence
from http import HTTPStatus
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import BoundedSemaphore, Lock
from typing import Any
from urllib.parse import urlsplit

from forestalign.errors import AnnotationConflict, ForestAlignError, UsageError
from forestalign.formats.codec import to_json
from forestalign.phrases.result.alignment import Alignment
from forestalign.view.page import Service, page_html, safe_json, scene_fields
from forestalign.view.scene import scene_of

MAX_BYTES = 20_000  # of a request: two sentences of ample length
MAX_ANNOTATION_BYTES = 1_000_000  # of a corrected pair: two long trees and their pairs
MAX_WORDS = 150  # of a sentence, counted at spaces
_MOST_WAITING = 8  # requests that may wait for the aligner at a time
_SECONDS = 20  # for a whole request, from its first byte to the last; and until a silent connection is closed
_MOST_CONNECTIONS = 32  # more are closed at once: each has a thread

_ALIVE = "/alive"  # pages that may save tell here that they are open

Align = Callable[[str, str], Alignment]
Annotate = Callable[[bytes], str]  # a request of the page to its answer, both JSON


class RequestRefused(Exception):
    """A request that gets an error for an answer."""

    def __init__(self, status: HTTPStatus, message: str):
        super().__init__(message)
        self.status = status


class AlignServer(ThreadingHTTPServer):
    """Serves the page and aligns one pair at a time, since models are not made for several threads."""

    daemon_threads = True
    seconds = _SECONDS

    def __init__(
        self,
        address: tuple[str, int],
        align: Align,
        *,
        quiet: bool = True,
        results: Sequence[Alignment] = (),
        annotate: Annotate | None = None,
    ):
        self.align_pair, self.quiet, self.annotate = align, quiet, annotate
        self.token = secrets.token_urlsafe(18)
        service = Service(self.token if annotate else "")
        self.page = page_html(([result] for result in results), ["forestalign"], service=service).encode()
        self.turn, self.places = Lock(), BoundedSemaphore(_MOST_WAITING)
        self.connections = BoundedSemaphore(_MOST_CONNECTIONS)
        self.names = {"localhost", address[0].lower(), socket.gethostname().lower()}
        if ":" in address[0]:
            self.address_family = socket.AF_INET6
        try:
            super().__init__(address, _Handler)
        except OSError as error:
            raise UsageError(f"cannot listen on {address[0]} port {address[1]}: {error.strerror or error}") from None

    def process_request(self, request: Any, client_address: Any) -> None:
        """A thread for the connection, if there are not too many."""
        if not self.connections.acquire(blocking=False):
            self.log("refused a connection: too many are open")
            self.shutdown_request(request)
            return
        super().process_request(request, client_address)

    def process_request_thread(self, request: Any, client_address: Any) -> None:
        """Answer one request in its own thread."""
        try:
            super().process_request_thread(request, client_address)
        finally:
            self.connections.release()

    def handle_error(self, request: Any, client_address: Any) -> None:
        """A client that has gone, or was too slow, is no error of ours: one line instead of a traceback."""
        error = sys.exception()
        if isinstance(error, OSError):
            self.log(f"lost a client: {error.strerror or error}")
        else:
            super().handle_error(request, client_address)

    def log(self, message: str) -> None:
        """One line on stderr, with control characters made visible."""
        if not self.quiet:
            line = "".join(c if c.isprintable() else "?" for c in message)
            sys.stderr.write(f"{line}\n")  # in one piece: other threads write too

    @property
    def url(self) -> str:
        """The address to open."""
        host, port = self.server_address[:2]
        name = host.decode() if isinstance(host, (bytes, bytearray)) else str(host)
        return f"http://[{name}]:{port}/" if ":" in name else f"http://{name}:{port}/"

    def align(self, source: str, target: str) -> Alignment:
        """Align a pair; one at a time."""
        if not self.places.acquire(blocking=False):
            raise RequestRefused(HTTPStatus.SERVICE_UNAVAILABLE, "too many requests are waiting; try again")
        try:
            with self.turn:
                return self.align_pair(source, target)
        finally:
            self.places.release()

    def knows(self, host: str) -> bool:
        """Whether a `Host` header names this machine in a way that no foreign DNS entry can."""
        try:
            name = (urlsplit(f"//{host}").hostname or "").lower()
        except ValueError:  # no host at all, such as "[::1"
            return False
        try:
            ipaddress.ip_address(name)
        except ValueError:
            return name in self.names
        return True


class _Handler(BaseHTTPRequestHandler):
    server: AlignServer
    server_version, sys_version = "forestalign", ""
    protocol_version = "HTTP/1.1"

    def setup(self) -> None:
        self.timeout = self.server.seconds  # type: ignore[misc]
        super().setup()
        self.rfile = _Deadline(self.connection, self.server.seconds)

    def handle_one_request(self) -> None:
        self.rfile.restart()  # type: ignore[attr-defined]
        super().handle_one_request()

    def do_HEAD(self) -> None:
        self._answer(self._page)

    def do_GET(self) -> None:
        self._answer(self._page)

    def do_POST(self) -> None:
        self._answer(self._aligned)

    def _page(self) -> tuple[str, bytes]:
        if urlsplit(self.path).path != "/":
            raise RequestRefused(HTTPStatus.NOT_FOUND, "there is only one page here: /")
        return "text/html; charset=utf-8", self.server.page

    def _aligned(self) -> tuple[str, bytes]:
        if self.path in ("/annotations", _ALIVE) and self.server.annotate:
            self._check_origin()
            if not secrets.compare_digest(self.headers.get("X-Token", "").encode(), self.server.token.encode()):
                raise RequestRefused(HTTPStatus.FORBIDDEN, "the server was started anew; reload the page")
            answer = self.server.annotate(self._body(MAX_ANNOTATION_BYTES))
            return "application/json; charset=utf-8", answer.encode("utf-8", "backslashreplace")
        if self.path not in ("/align", "/picture"):
            raise RequestRefused(HTTPStatus.NOT_FOUND, "pairs go to /align")
        self._check_origin()
        source, target = _sentences(self._body())
        record = self.server.align(source, target)
        text = to_json(record) if self.path == "/align" else safe_json(scene_fields(scene_of(record)))
        return "application/json; charset=utf-8", text.encode("utf-8", "backslashreplace")

    def _check_origin(self) -> None:
        origin = self.headers.get("Origin")
        host = self.headers.get("Host", "")
        if origin is not None and origin not in (f"http://{host}", f"https://{host}"):
            raise RequestRefused(HTTPStatus.FORBIDDEN, "requests from other pages are not answered")
        if self.headers.get_content_type() != "application/json":
            raise RequestRefused(HTTPStatus.UNSUPPORTED_MEDIA_TYPE, "expected Content-Type: application/json")

    def _body(self, most: int = MAX_BYTES) -> bytes:
        length = self.headers.get("Content-Length", "")
        if not (length.isascii() and length.isdigit()):
            raise RequestRefused(HTTPStatus.LENGTH_REQUIRED, "expected a Content-Length")
        if len(length) > 9 or int(length) > most:
            raise RequestRefused(HTTPStatus.REQUEST_ENTITY_TOO_LARGE, f"a request may have {most:,} bytes")
        return self.rfile.read(int(length))

    def _answer(self, make: Callable[[], tuple[str, bytes]]) -> None:
        status, kind = HTTPStatus.OK, "application/json; charset=utf-8"
        try:
            if not self.server.knows(self.headers.get("Host", "")):
                raise RequestRefused(HTTPStatus.MISDIRECTED_REQUEST, "this host name is not served here")
            kind, body = make()
        except RequestRefused as refused:
            status, body = refused.status, _error(str(refused))
        except AnnotationConflict as conflict:
            status, body = HTTPStatus.CONFLICT, _error(str(conflict), conflict.reason)
        except ForestAlignError as error:
            status, body = HTTPStatus.UNPROCESSABLE_ENTITY, _error(str(error))
        except TimeoutError:
            self.close_connection = True
            return
        except Exception:
            traceback.print_exc()
            status, body = HTTPStatus.INTERNAL_SERVER_ERROR, _error("the aligner failed; the terminal shows why")
        self._send(status, kind, body)

    def _send(self, status: HTTPStatus, kind: str, body: bytes) -> None:
        if status is not HTTPStatus.OK:
            self.close_connection = True  # what is left of the request is not read
        self.send_response(status)
        self.send_header("Content-Type", kind)
        self.send_header("Content-Length", str(len(body)))
        self.send_header("Content-Security-Policy", "frame-ancestors 'none'")
        self.send_header("X-Content-Type-Options", "nosniff")
        self.send_header("Referrer-Policy", "no-referrer")
        self.send_header("Cache-Control", "no-store")
        if self.close_connection:
            self.send_header("Connection", "close")
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(body)

    def log_request(self, code: int | str = "-", size: int | str = "-") -> None:
        """Nothing about pages that tell that they are open: they do so every few seconds."""
        if getattr(self, "path", "") != _ALIVE or code != HTTPStatus.OK:
            super().log_request(code, size)

    def log_message(self, format: str, *args: Any) -> None:
        """Requests only by their first line, with control characters made visible, and never the sentences."""
        self.server.log(format % args)


class _Deadline(io.BufferedReader):
    """Reads a connection; every read of one request together has so many seconds, however the bytes trickle in."""

    def __init__(self, connection: socket.socket, seconds: float):
        self._raw = _DeadlineRaw(connection, seconds)
        super().__init__(self._raw)

    def restart(self) -> None:
        """The next request begins."""
        self._raw.end = None


class _DeadlineRaw(io.RawIOBase):
    def __init__(self, connection: socket.socket, seconds: float):
        self._connection, self._seconds = connection, seconds
        self.end: float | None = None  # known once the first byte is there

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        left = self._seconds if self.end is None else self.end - time.monotonic()
        if left <= 0:
            raise TimeoutError("the request took too long")
        self._connection.settimeout(left)
        try:
            count = self._connection.recv_into(buffer)
        finally:
            self._connection.settimeout(self._seconds)
        self.end = self.end or time.monotonic() + self._seconds
        return count


def _sentences(body: bytes) -> tuple[str, str]:
    try:
        fields = json.loads(body)
        source, target = fields["source"], fields["target"]
    except (ValueError, KeyError, TypeError, RecursionError):
        raise RequestRefused(HTTPStatus.BAD_REQUEST, 'expected {"source": "...", "target": "..."}') from None
    for name, text in (("source", source), ("target", target)):
        if not isinstance(text, str) or not text.strip():
            raise RequestRefused(HTTPStatus.BAD_REQUEST, f"the {name} sentence is empty")
        if any(0xD800 <= ord(character) <= 0xDFFF for character in text):
            raise RequestRefused(HTTPStatus.BAD_REQUEST, f"the {name} sentence has half of a surrogate pair")
        if len(text.split()) > MAX_WORDS:
            raise RequestRefused(HTTPStatus.BAD_REQUEST, f"the {name} sentence has more than {MAX_WORDS} words")
    return source, target


def _error(message: str, reason: str = "") -> bytes:
    return json.dumps({"error": message} | ({"reason": reason} if reason else {})).encode()
