"""Web servers of this machine that give a file: in pieces, whole, other bytes, never, or another file after a while."""

from __future__ import annotations

import re
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

_RANGE = re.compile(r"bytes=(\d+)-(\d+)")


@dataclass
class Served:
    """What a server gives, and what it was asked for.

    Attributes:
        data: The file.
        ranges: Whether pieces are given.
        tag: The ETag; none when empty.
        lie: Changes a piece, given with the place where it begins, before it is sent.
        stall: Whether a piece that begins there is never sent.
        answer: Another status than the usual one for a piece that begins there; 0 for the usual one.
        length: Whether the length of a whole file is said.
        leads: Where paths lead, by the path.
        headers: What each question came with.
        url: Where the file is.
        pieces: The pieces that were asked for, in order.
        sent: Bytes of the file that were sent.
        released: Set when stalled answers are to end.
    """

    data: bytes
    ranges: bool = True
    tag: str = '"one"'
    lie: Callable[[int, bytes], bytes] = lambda _, piece: piece
    stall: Callable[[int], bool] = lambda _: False
    answer: Callable[[int], int] = lambda _: 0
    length: bool = True
    leads: dict[str, str] = field(default_factory=dict)
    headers: list[dict[str, str]] = field(default_factory=list)
    url: str = ""
    pieces: list[tuple[int, int]] = field(default_factory=list)
    sent: int = 0
    released: threading.Event = field(default_factory=threading.Event)
    lock: threading.Lock = field(default_factory=threading.Lock)


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    served: Served

    def log_message(self, *_: object) -> None:
        """Say nothing."""

    def do_HEAD(self) -> None:
        """What a store of objects is asked for first."""
        self._begin(200, len(self.served.data))

    def do_GET(self) -> None:
        """Give the file, or a piece of it."""
        served, data = self.served, self.served.data
        with served.lock:
            served.headers.append(dict(self.headers))
        if self.path in served.leads:
            self.send_response(302)
            self.send_header("Location", served.leads[self.path])
            self.send_header("Content-Length", "0")
            self.end_headers()
            return
        if not self.path.partition("?")[0].endswith((".cfoil", ".json")):
            self._begin(404, 0)
            return
        found = _RANGE.fullmatch(self.headers.get("Range", ""))
        if found is None or not served.ranges:
            self._begin(200, len(data) if served.length else None)
            self._send(served.lie(0, data))
            return
        start, last = int(found[1]), min(int(found[2]), len(data) - 1)
        with served.lock:
            served.pieces.append((start, last + 1 - start))
        status = served.answer(start)
        if status:
            self._begin(status, 0)
            return
        if served.stall(start):
            served.released.wait(60)
            self.close_connection = True
            return
        if start >= len(data):
            self._begin(416, 0, f"bytes */{len(data)}")
            return
        self._begin(206, last + 1 - start, f"bytes {start}-{last}/{len(data)}")
        self._send(served.lie(start, data[start : last + 1]))

    def _begin(self, status: int, length: int | None, piece: str = "") -> None:
        self.send_response(status)
        if length is None:
            self.send_header("Connection", "close")
        else:
            self.send_header("Content-Length", str(length))
        if piece:
            self.send_header("Content-Range", piece)
        if self.served.ranges:
            self.send_header("Accept-Ranges", "bytes")
        if self.served.tag:
            self.send_header("ETag", self.served.tag)
        self.send_header("Last-Modified", "Tue, 24 Nov 2026 10:00:00 GMT")
        self.end_headers()

    def _send(self, data: bytes) -> None:
        # Counted before: whoever asked may look as soon as the last byte is there.
        self._count(len(data))
        try:
            self.wfile.write(data)
        except OSError:  # whoever asked has heard enough
            self.close_connection = True
            self._count(-len(data))

    def _count(self, sent: int) -> None:
        with self.served.lock:
            self.served.sent += sent


@contextmanager
def serving(data: bytes | Path, **how: object) -> Iterator[Served]:
    """Serve a file as ``http://127.0.0.1:PORT/bucket/run.cfoil``; the values of the block say how, and may change."""
    served = Served(data if isinstance(data, bytes) else data.read_bytes(), **how)  # type: ignore[arg-type]
    handler = type("Handler", (_Handler,), {"served": served})
    server = ThreadingHTTPServer(("127.0.0.1", 0), handler)
    server.daemon_threads = True
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True)
    thread.start()
    served.url = f"http://127.0.0.1:{server.server_address[1]}/bucket/run.cfoil"
    try:
        yield served
    finally:
        served.released.set()
        server.shutdown()
        server.server_close()
        thread.join()
