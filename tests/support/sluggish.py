"""Servers of this machine that take a question and are slow to answer, or never do."""

from __future__ import annotations

import socket
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress

PAUSE = 0.05
"""Seconds between two bytes of a server that says little: well below what any reader waits for one."""
RIGHT = b"HTTP/1.1 206 Partial Content\r\nContent-Range: bytes 0-0/1000\r\nContent-Length: 1\r\n\r\n"
WHOLE = b"HTTP/1.1 200 OK\r\nContent-Type: application/timestamp-reply\r\n\r\n"

Answer = Callable[[socket.socket, threading.Event], None]


def hangs(_connection: socket.socket, ended: threading.Event) -> None:
    """Say nothing, ever."""
    ended.wait()


def trickled(text: bytes) -> Answer:
    """Send a text, and behind it one byte after the other."""

    def answer(connection: socket.socket, ended: threading.Event) -> None:
        connection.sendall(text)
        while not ended.wait(PAUSE):
            connection.sendall(b"x")

    return answer


def said(text: bytes) -> Answer:
    """Send a text, and hang up."""
    return lambda connection, _ended: connection.sendall(text)


SLOW_HEADERS = trickled(b"HTTP/1.1 200 OK\r\nX-Slow: ")
SLOW_STATUS = trickled(b"HTTP/1.1 200 ")
SLOW_BODY = trickled(WHOLE)
SLOW_LENGTH = trickled(WHOLE.replace(b"\r\n\r\n", b"\r\nContent-Length: 1000000\r\n\r\n"))
NEVER_ENDING = {
    "hangs": hangs, "status": SLOW_STATUS, "headers": SLOW_HEADERS, "body": SLOW_BODY, "length": SLOW_LENGTH,
}  # fmt: skip


@contextmanager
def answering(*answers: Answer) -> Iterator[str]:
    """Serve ``http://127.0.0.1:PORT``: each connection gets the next answer, and further ones the last."""
    listener = socket.create_server(("127.0.0.1", 0))
    ended = threading.Event()
    left = list(answers)

    def serve(connection: socket.socket, answer: Answer) -> None:
        with connection, suppress(OSError):
            connection.recv(2**16)
            answer(connection, ended)
            connection.shutdown(socket.SHUT_WR)
            while connection.recv(2**16):  # closed with something unread, a connection is reset
                pass

    def accept() -> None:
        with suppress(OSError):
            while True:
                connection, _ = listener.accept()
                answer = left.pop(0) if len(left) > 1 else left[0]
                threading.Thread(target=serve, args=(connection, answer), daemon=True).start()

    threading.Thread(target=accept, daemon=True).start()
    try:
        yield f"http://127.0.0.1:{listener.getsockname()[1]}"
    finally:
        ended.set()
        listener.shutdown(socket.SHUT_RDWR)
        listener.close()
