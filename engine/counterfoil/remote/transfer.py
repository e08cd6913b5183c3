"""Fetches pieces of a file side by side, waits no longer than is set, tries again, and stops when the user says so.

The transfers run in the event loop of fsspec, in a thread of its own; whoever asks waits for them here, and looks at
its token and at the clock meanwhile. A server that sends a byte now and then is never silent: so each piece has to come
at a least rate, and all of them together as well.
"""

from __future__ import annotations

import asyncio
import concurrent.futures
import time
from abc import ABC, abstractmethod
from collections.abc import AsyncIterator, Coroutine, Generator, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, BinaryIO, TypeVar

from counterfoil.remote.reasons import reason_of
from counterfoil_core.base.cancel import CancelToken
from counterfoil_core.base.errors import FileChangedError, FileReadError, FileWriteError
from counterfoil_core.base.sentence import say
from counterfoil_core.remote.address import Address
from counterfoil_core.remote.ranges import Fetched, Span

AT_ONCE = 8
"""So many pieces are asked for side by side."""
PIECE_BYTES = 2**20
"""As much of a whole file comes at once at most."""
LOOK_SECONDS = 0.1
"""How often the token of a caller is looked at."""
Brought = TypeVar("Brought")


@dataclass(frozen=True)
class Patience:
    """How long a server is waited for."""

    silence: float = 20.0  #: Seconds without a byte.
    slowest: int = 2**13  #: Bytes a second that a piece must come with.
    tries: int = 3  #: How often a piece is asked for.
    pause: float = 0.5  #: Seconds before it is asked for again; twice as many before each further try.
    grace: float = 120.0  #: Seconds that all pieces of a file may take beside what is due to each.
    answer: float = 2.0  #: Seconds that are due to a piece beside its bytes, of those that all may take.

    def seconds(self, count: int) -> float:
        """Return how long so many bytes may take."""
        return self.silence + count / self.slowest

    def altogether(self, pieces: int, count: int) -> float:
        """Return how long a file may be waited for of which so many pieces, and bytes in them, were asked for."""
        return self.grace + pieces * self.answer + count / self.slowest


class TroubleError(Exception):
    """A transfer failed in a way that may pass; the text says how."""


class Transfer(ABC):
    """One file on one server; see :class:`counterfoil_core.remote.ranges.Ranges`.

    Attributes:
        address: Where it lies.
        size: Its length in bytes when it was opened.
        has_ranges: Whether the server gives pieces of it.
    """

    def __init__(
        self, address: Address, loop: asyncio.AbstractEventLoop, patience: Patience, cancel: CancelToken | None
    ) -> None:
        self.address = address
        self.size = 0
        self.has_ranges = True
        self._loop = loop
        self._patience = patience
        self._cancel = cancel or CancelToken()
        self._bytes = self._requests = self._due = 0
        """Bytes that came; pieces, and bytes in them, that were asked for."""
        self._waited = 0.0

    @abstractmethod
    async def _open(self) -> None:
        """Learn what the file is; raises TroubleError and errors of ours."""

    @abstractmethod
    async def _get(self, start: int, count: int) -> bytes:
        """Return a piece; raises TroubleError and errors of ours."""

    @abstractmethod
    async def _look_again(self) -> None:
        """Compare what the file is with what it was; raises TroubleError and FileChangedError."""

    @abstractmethod
    def _whole(self, most: int) -> AsyncIterator[bytes]:
        """Yield the whole file, of at most so many bytes, as it comes; raises TroubleError and errors of ours."""

    @abstractmethod
    def close(self) -> None:
        """Give up the connection."""

    @property
    def fetched(self) -> Fetched:
        """How much was fetched so far."""
        return Fetched(self.address.shown, self.size, self._bytes, self._requests)

    def open(self) -> None:
        """Learn the file's size, and whether pieces of it can be had.

        Raises:
            GivenFileError: There is no such file, or it may not be read.
            FileReadError: The server does not answer.
            CancelledError: The user stopped the work.
        """
        self._wait(self._patiently(self._open, 0))

    def fetch(self, spans: Sequence[Span]) -> list[bytes]:
        """As :class:`counterfoil_core.remote.ranges.Ranges`."""
        return self._wait(self._all(spans))

    def check_unchanged(self) -> None:
        """As :class:`counterfoil_core.remote.ranges.Ranges`."""
        self._wait(self._patiently(self._look_again, 0))

    def copy_into(self, target: BinaryIO, most: int) -> Iterator[int]:
        """Write the whole file, and yield now and then how many bytes have come.

        Raises:
            GivenFileError: It has more than ``most`` bytes.
            FileReadError, CancelledError: As :meth:`fetch`.
        """
        done = 0

        async def copied() -> None:
            nonlocal done
            target.seek(0)
            target.truncate()
            self._requests, done, begun = self._requests + 1, 0, self._loop.time()
            async with asyncio.timeout(self._patience.seconds(PIECE_BYTES)) as limit:
                async for piece in self._whole(most):
                    done += len(piece)
                    self._due += len(piece)
                    limit.reschedule(begun + self._patience.seconds(done + PIECE_BYTES))
                    write_copy(target, piece)
            self.size = done
            self._bytes += done

        for _ in self._looks(self._patiently(copied, None)):
            yield done

    def changed(self, what: str) -> FileChangedError:
        """Return the error that says that the file is another one now."""
        return FileChangedError(
            say("The file {0} changed on its server while it was read: {1}.", self.address.name, what),
            remedy=say("Start again. If it changes again, download it and give the path of the copy."),
        )

    async def _all(self, spans: Sequence[Span]) -> list[bytes]:
        gate = asyncio.Semaphore(AT_ONCE)

        async def piece(start: int, count: int) -> bytes:
            async with gate:
                self._requests += 1
                self._due += count
                data: bytes = await self._patiently(lambda: self._get(start, count), count)
                self._bytes += len(data)
                return data

        async with asyncio.TaskGroup() as group:
            tasks = [group.create_task(piece(*span)) for span in spans]
        return [task.result() for task in tasks]

    async def _patiently(self, work: Any, count: int | None) -> Any:
        """Do some work in the time that so many bytes may take, and again where it fails in a way that may pass.

        Work that knows only as they come how many bytes there are has None, and looks at its time itself.
        """
        pause = self._patience.pause
        for left in reversed(range(self._patience.tries)):
            try:
                async with asyncio.timeout(None if count is None else self._patience.seconds(count)):
                    return await work()
            except (TroubleError, TimeoutError, OSError) as error:
                if not left:
                    raise self._no_answer(error) from error
            await asyncio.sleep(pause)
            pause *= 2
        raise AssertionError("nothing is tried")

    def _no_answer(self, error: Exception) -> FileReadError:
        if isinstance(error, TimeoutError):
            what = say(
                "The server of {0} stopped answering: nothing came in {1} seconds, or less than {2} bytes a second, "
                "{3} times.",
                self.address.shown,
                self._patience.silence,
                self._patience.slowest,
                self._patience.tries,
            )
        else:
            why = str(error) if isinstance(error, TroubleError) else reason_of(error)
            what = say("The server of {0} cannot be read from: {1}.", self.address.shown, why)
        return self._unread(what, repr(error.__cause__ or error))

    def _too_slow(self) -> FileReadError:
        return self._unread(
            say(
                "The server of {0} is too slow: {1} bytes in {2} pieces were waited for for {3} seconds.",
                self.address.shown,
                self._due,
                self._requests,
                round(self._waited),
            ),
            "",
        )

    def _unread(self, what: str, detail: str) -> FileReadError:
        return FileReadError(
            say("{0} That says nothing about the file itself.", what),
            remedy=say("Try again later, or download the file and give the path of the copy."),
            detail=detail,
        )

    def _wait(self, work: Coroutine[Any, Any, Brought]) -> Brought:
        """Wait for work in the loop; raises as :meth:`_looks`."""
        looks = self._looks(work)
        while True:
            try:
                next(looks)
            except StopIteration as end:
                brought: Brought = end.value
                return brought

    def _looks(self, work: Coroutine[Any, Any, Brought]) -> Generator[None, None, Brought]:
        """Wait for work in the loop, and yield with each look at it.

        Raises:
            CancelledError: The user stopped it.
            FileReadError: All of it together is too slow; and whatever the work raises.
        """
        future = asyncio.run_coroutine_threadsafe(work, self._loop)
        begun, before = time.monotonic(), self._waited
        try:
            while not concurrent.futures.wait([future], LOOK_SECONDS).done:
                self._cancel.check()
                yield
                self._waited = before + time.monotonic() - begun
                if self._waited > self._patience.altogether(self._requests, self._due):
                    raise self._too_slow()
        except BaseException:
            future.cancel()
            raise
        self._waited = before + time.monotonic() - begun
        try:
            return future.result()
        except BaseExceptionGroup as several:
            raise _first(several) from several


def write_copy(target: BinaryIO, data: bytes) -> None:
    """Write a piece of a copy; raises FileWriteError."""
    try:
        target.write(data)
    except OSError as error:
        raise FileWriteError(
            say("The copy of the file cannot be written: {0}.", error.strerror or error),
            remedy=say("Make room in the temporary folder, or set TMPDIR to another one."),
        ) from error


def _first(error: BaseException) -> BaseException:
    """Return the first error of a group, which may hold groups."""
    while isinstance(error, BaseExceptionGroup):
        error = error.exceptions[0]
    return error
