"""The server in anybody's hands: slow clients, many clients, clients that leave, and texts that cannot be written."""

from __future__ import annotations

import http.client
import socket
import struct
import threading
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from email.message import Message
from typing import NamedTuple

import pytest

from forestalign.view import server as server_module
from forestalign.view.server import AlignServer
from tests.builders.view_samples import record
from tests.builders.work import PATIENCE, wait_until

JSON = {"Content-Type": "application/json"}


@contextmanager
def running(seconds: float = PATIENCE, annotate: Callable[[bytes], str] | None = None) -> Iterator[AlignServer]:
    """A server whose threads have all ended when it is left, so that none writes into the next test."""
    with AlignServer(("127.0.0.1", 0), lambda source, target: record(), quiet=False, annotate=annotate) as server:
        server.daemon_threads = False
        server.seconds = seconds  # type: ignore[misc]
        thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.05})
        thread.start()
        yield server
        server.shutdown()
        thread.join()


def free_places(server: AlignServer) -> int:
    """How many more connections the server would take."""
    return int(server.connections._value)


def port(server: AlignServer) -> int:
    return int(server.server_address[1])


def connected(server: AlignServer) -> socket.socket:
    return socket.create_connection(("127.0.0.1", port(server)), timeout=PATIENCE)


class Answer(NamedTuple):
    status: int
    headers: Message
    body: bytes


def answer(server: AlignServer, method: str, path: str, body: bytes = b"", token: str = "") -> Answer:
    with closing(http.client.HTTPConnection("127.0.0.1", port(server), timeout=PATIENCE)) as connection:
        connection.request(method, path, body=body, headers=JSON | {"X-Token": token})
        response = connection.getresponse()
        return Answer(response.status, response.headers, response.read())


@pytest.mark.parametrize("path", ["/", "/?x=1", "/?a=%00&b", "/#top"])
def test_the_page_has_an_address_with_or_without_a_query(path: str) -> None:
    with running() as server:
        response = answer(server, "GET", path)
        assert (response.status, b"<!doctype html" in response.body.lower()) == (200, True)


def test_the_head_of_the_page_can_be_asked_for_alone() -> None:
    with running() as server:
        response = answer(server, "HEAD", "/")
        assert response.status == 200
        assert int(response.headers["Content-Length"]) > 1000
        assert response.body == b""
        assert answer(server, "HEAD", "/elsewhere").status == 404


@pytest.mark.parametrize("first", [b"", b"G", b"POST /align HTTP/1.1\r\nHost: localhost\r\nContent-Length: 50\r\n"])
def test_a_request_that_trickles_in_is_ended_as_a_whole(first: bytes) -> None:
    with running(seconds=0.2) as server, connected(server) as client:
        client.sendall(first)
        wait_until(lambda: is_closed(client))


def is_closed(client: socket.socket) -> bool:
    """Send another byte; whether the other side has closed the connection."""
    try:
        client.sendall(b"x")
        client.settimeout(0.05)
        return client.recv(4096) == b""
    except TimeoutError:
        return False
    except OSError:
        return True


def test_connections_have_a_cap_and_places_come_back(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(server_module, "_MOST_CONNECTIONS", 3)
    with running() as server:
        held = [connected(server) for _ in range(3)]
        for client in held:
            client.sendall(b"GET / HT")
        wait_until(lambda: free_places(server) == 0)
        with connected(server) as fourth:
            assert fourth.recv(10) == b""
        for client in held:
            client.close()
        wait_until(lambda: free_places(server) == 3)
        assert answer(server, "GET", "/").status == 200


def test_a_client_that_leaves_is_one_line_and_no_traceback(capfd: pytest.CaptureFixture[str]) -> None:
    with running() as server:
        for _ in range(5):
            client = connected(server)
            client.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
            client.sendall(b"GET / HTTP/1.1\r\nHost: localhost\r\n\r\n" * 20)
            client.close()
        wait_until(lambda: free_places(server) == server_module._MOST_CONNECTIONS)
        assert answer(server, "GET", "/").status == 200
    assert "Traceback" not in capfd.readouterr().err


def test_pages_that_tell_that_they_are_open_fill_no_terminal(capsys: pytest.CaptureFixture[str]) -> None:
    told: list[bytes] = []

    def annotate(request: bytes) -> str:
        told.append(request)
        return "{}"

    with running(annotate=annotate) as server:
        requests = (("/alive", server.token), ("/annotations", server.token), ("/alive", "wrong"))
        statuses = [answer(server, "POST", path, b"{}", token).status for path, token in requests]
    assert statuses == [200, 200, 403]
    assert told == [b"{}", b"{}"]
    lines = capsys.readouterr().err.splitlines()
    assert sorted(line.split()[1] for line in lines) == ["/alive", "/annotations"]  # the refusal is told
