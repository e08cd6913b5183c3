"""A process that the window starts, and the pipes to it."""

from __future__ import annotations

import queue
import subprocess
import threading
from collections.abc import Mapping, Sequence
from contextlib import suppress
from typing import BinaryIO, cast

from counterfoil.talk.frames import read_frame, write_frame
from counterfoil.talk.programs import program_command, program_environment

FAREWELL_SECONDS = 2.0
"""How long a process may take to end by itself; it only reads, so that nothing is lost when it is ended."""
_KEPT_ERRORS = 4000
"""So many bytes of what is said of errors are kept."""
_KEPT = 2
"""Messages that wait here at most: a slow reader slows the sender down."""


class Link:
    """A process, and what is said to it and by it: frames of bytes.

    To be used from one thread at a time.

    Args:
        command: What starts it.
        most: Most bytes of a frame that it may send.
        environment: Its environment.
        hear_errors: Whether what it says of errors is kept, and not left to the terminal.

    Raises:
        OSError: The system has no room for it.
    """

    def __init__(
        self, command: Sequence[str], most: int, environment: Mapping[str, str], *, hear_errors: bool = False
    ) -> None:
        self._process = subprocess.Popen(
            command,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE if hear_errors else None,
            creationflags=getattr(subprocess, "CREATE_NO_WINDOW", 0),
            env=environment,
        )
        self._errors = bytearray()
        self._listener = threading.Thread(target=self._listen, name="errors", daemon=True)
        if hear_errors:
            self._listener.start()
        self._most = most
        self._said: queue.SimpleQueue[bytes | ValueError | None] = queue.SimpleQueue()
        self._room = threading.Semaphore(_KEPT)
        self._closed = False
        self._reader = threading.Thread(target=self._read, name="answers", daemon=True)
        self._reader.start()

    @classmethod
    def to(cls, module: str, most: int) -> Link:
        """Start a process of this program.

        Args:
            module: Whose ``main`` it is.
            most: Most bytes of a frame that it may send.

        Raises:
            OSError: The system has no room for it.
        """
        # Else numpy starts threads when it is loaded, and a box binds none that were there before.
        return cls(program_command(module), most, program_environment(OPENBLAS_NUM_THREADS="1"))

    @property
    def errors(self) -> str:
        """The last that the process said of errors, where that is kept."""
        return bytes(self._errors).decode("utf-8", "replace").strip()

    @property
    def process_id(self) -> int:
        """The id of the process."""
        return self._process.pid

    def send(self, body: bytes) -> None:
        """Say something; raises OSError where nobody listens any more."""
        try:
            write_frame(cast("BinaryIO", self._process.stdin), body)
        except ValueError as error:  # closed here
            raise OSError(str(error)) from error

    def receive(self, seconds: float | None) -> bytes | None:
        """Return what the process said next; None when it said nothing for so many seconds.

        Raises:
            EOFError: It has ended.
            ValueError: It said more than it may.
        """
        try:
            said = self._said.get(timeout=seconds)
        except queue.Empty:
            return None
        self._room.release()
        if said is None:
            self._said.put(None)  # for whoever asks again
            raise EOFError
        if isinstance(said, ValueError):
            raise said
        return said

    def end(self, *, now: bool = False) -> int:
        """End the process, which may take its leave unless it is ended now; returns its exit code."""
        self._closed = True
        self._room.release(_KEPT)
        if now:
            self._process.kill()
        self._hang_up()
        try:
            self._process.wait(FAREWELL_SECONDS)
        except subprocess.TimeoutExpired:
            self._process.kill()
        code = self._process.wait()
        self._reader.join()
        cast("BinaryIO", self._process.stdout).close()
        if self._process.stderr is not None:
            self._listener.join()
            self._process.stderr.close()
        return code

    def _hang_up(self) -> None:
        with suppress(OSError):  # what was not sent yet
            cast("BinaryIO", self._process.stdin).close()

    def _listen(self) -> None:
        said = cast("BinaryIO", self._process.stderr)
        with suppress(OSError, ValueError):
            while line := said.readline(_KEPT_ERRORS):
                self._errors += line
                del self._errors[:-_KEPT_ERRORS]

    def _read(self) -> None:
        answers = cast("BinaryIO", self._process.stdout)
        said: bytes | ValueError | None = b""
        while isinstance(said, bytes):
            try:
                said = read_frame(answers, self._most)
            except ValueError as error:
                said = error
            except OSError:
                said = None
            if not self._closed:
                self._room.acquire()
                self._said.put(said)
