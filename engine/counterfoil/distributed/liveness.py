"""Which ranks live, and how those ended that do not: said and heard through the store that brought them together.

Each rank counts up a number of its own a few times a second. A broken connection does not say whose fault it is; a
number that stands still does. A rank that ends says how, before its connections break.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from enum import Enum
from typing import Protocol, TypeVar

from counterfoil.base.joberrors import RankError
from counterfoil.talk.messages import FormError, decode, encode
from counterfoil_core.base.cancel import CancelToken
from counterfoil_core.base.errors import CancelledError, CounterfoilError

BEAT_SECONDS = 0.25
"""A rank says so often that it lives."""
LOOK_SECONDS = 1.0
"""Whoever waits looks so often whether the others live."""
SILENT_SECONDS = 30.0
"""A rank of which nothing was heard for so long is lost, though its connections may stand."""
GONE_SECONDS = 5.0
"""The same, once a connection is broken."""
SHORTEST_PAUSE, LONGEST_PAUSE = 50e-6, 20e-3
"""Between two looks at what is waited for; in between an eighth of the time since the first."""
_SAID = 2_000
"""Characters of a sentence that others hear."""

_Value = TypeVar("_Value")


class Store(Protocol):
    """Values by name that all ranks reach; torch has it."""

    def add(self, key: str, amount: int, /) -> int:
        """Add to a number, which is 0 at first; returns it."""

    def set(self, key: str, value: bytes, /) -> None:
        """Put a value there."""

    def get(self, key: str, /) -> bytes:
        """Return a value; waits until it is there."""

    def check(self, keys: list[str], /) -> bool:
        """Return whether there are values of all these names."""

    def delete_key(self, key: str, /) -> bool:
        """Forget a value; returns whether there was one."""


class End(Enum):
    """How a rank ended."""

    DONE = "done"
    STOPPED = "stopped"
    FAILED = "failed"
    LOST = "lost"
    """It lost another."""


@dataclass(frozen=True)
class Farewell:
    """What a rank says when it ends."""

    end: End  #: How it ended.
    sentence: str = ""  #: What happened, if it failed.
    remedy: str = ""  #: What can be done.


class Liveness:
    """Says that this rank lives, and finds out what became of others.

    Args:
        store: Reaches all ranks of this recording, and nobody else.
        rank: The number of this one.
        size: How many there are.
        cancel: Looked at while others are waited for.
    """

    def __init__(self, store: Store, rank: int, size: int, cancel: CancelToken | None) -> None:
        self._store, self._rank, self._size, self._cancel = store, rank, size, cancel
        self._ending = threading.Event()
        self._heart = threading.Thread(target=self._beat, name="liveness", daemon=True)
        # Rank 0 looks at all; others at rank 0, which tells them.
        self._watched = range(1, size) if rank == 0 else (0,)
        self._heard = dict.fromkeys(self._watched, (-1, time.monotonic()))
        self._found: CounterfoilError | None = None

    @contextmanager
    def alive(self) -> Iterator[None]:
        """Say in the block that this rank lives, and when the block ends how it did."""
        self._heart.start()
        try:
            yield
        except CounterfoilError as error:
            self._leave(self._farewell(error))
            raise
        except (KeyboardInterrupt, GeneratorExit):
            self._leave(Farewell(End.STOPPED))
            raise
        except BaseException as error:
            self._leave(Farewell(End.FAILED, f"{type(error).__name__}: {error}"[:_SAID]))
            raise
        else:
            self._leave(Farewell(End.DONE))
        finally:
            self._ending.set()
            self._heart.join(LOOK_SECONDS)

    def wait_until(self, done: Callable[[], _Value | None]) -> _Value:
        """Ask until the answer is not None; return the answer.

        Args:
            done: What is asked.

        Raises:
            RankError: A rank is lost, or has failed.
            CancelledError: This rank or another was stopped.
        """
        begun = looked = time.monotonic()
        while True:
            with self.reaching_the_store():
                if (found := done()) is not None:
                    return found
            now = time.monotonic()
            if now - looked > LOOK_SECONDS:
                self._look()
                looked = now
            if self._cancel is not None:
                self._cancel.check()
            time.sleep(min(max(SHORTEST_PAUSE, (now - begun) / 8), LONGEST_PAUSE))

    def blame(self) -> CounterfoilError | None:
        """Find out which rank is to blame for a broken connection, or for a request to end; None where none is.

        A rank has said how it ended, or is heard, or is gone: this takes no longer than to know that.
        """
        with suppress(RankError), self.reaching_the_store():
            self._blame()
        return self._found

    # Inside.

    def _beat(self) -> None:
        # Whoever waits for something notices that the store is gone.
        with suppress(RuntimeError, CounterfoilError):
            while not self._ending.wait(BEAT_SECONDS):
                self._store.add(_beats(self._rank), 1)

    def _leave(self, farewell: Farewell) -> None:
        with suppress(RuntimeError, CounterfoilError):
            self._store.set(_left(self._rank), encode(farewell))
            self._store.add("left", 1)

    def _farewell(self, error: CounterfoilError) -> Farewell:
        if error is self._found:
            return Farewell(End.LOST)
        if isinstance(error, CancelledError):
            return Farewell(End.STOPPED)
        return Farewell(End.FAILED, error.sentence[:_SAID], error.remedy[:_SAID])

    @contextmanager
    def reaching_the_store(self) -> Iterator[None]:
        """Say in the block that rank 0 is gone where the store is; raises RankError."""
        try:
            yield
        except RuntimeError as error:
            # It ends with whoever keeps it: torchrun, or rank 0.
            self._found = self._found or RankError(_gone(0).sentence, detail=str(error))
            raise self._found from error

    def _look(self) -> None:
        """Raise what became of a watched rank, if anything did."""
        with self.reaching_the_store():
            if self._store.add("left", 0) and any(each.end is not End.DONE for each in self._farewells().values()):
                self._blame()
            elif silent := self._silent(SILENT_SECONDS):
                self._found = _gone(*silent)
        if self._found is not None:
            raise self._found

    def _blame(self) -> None:
        begun = time.monotonic()
        # What was counted until now says nothing: it may have been long ago that anybody looked.
        self._heard = {rank: (self._store.add(_beats(rank), 0), begun) for rank in self._watched}
        unknown, silent = set(self._watched), list[int]()
        while unknown and not silent:
            ended = self._farewells()
            failed = [rank for rank, farewell in sorted(ended.items()) if farewell.end is End.FAILED]
            if failed:
                self._found = self._failed(failed[0], ended[failed[0]])
                return
            silent = [rank for rank in self._silent(GONE_SECONDS) if rank in unknown]
            beating = {rank for rank, (_, at) in self._heard.items() if at > begun}
            unknown -= ended.keys() | beating
            time.sleep(BEAT_SECONDS / 4)
        ends = {farewell.end for farewell in self._farewells().values()}
        if silent:
            self._found = _gone(*silent)
        elif End.STOPPED in ends:
            self._found = CancelledError("Stopped; nothing was concluded.")
        elif self._rank and End.LOST in ends:
            self._found = RankError("Another rank ended; rank 0 says which.")

    def _failed(self, rank: int, farewell: Farewell) -> RankError:
        if self._rank:
            return RankError(f"Rank {rank} failed.")
        return RankError(f"Rank {rank} failed: {farewell.sentence}", remedy=farewell.remedy)

    def _silent(self, seconds: float) -> list[int]:
        """Return the watched ranks that have not ended, and of which nothing was heard for so long."""
        ended = self._farewells()
        for rank in self._heard:
            count = self._store.add(_beats(rank), 0)
            if count != self._heard[rank][0]:
                self._heard[rank] = count, time.monotonic()
        limit = time.monotonic() - seconds
        return [rank for rank, (_, at) in self._heard.items() if at < limit and rank not in ended]

    def _farewells(self) -> dict[int, Farewell]:
        if not self._store.add("left", 0):
            return {}
        there = [rank for rank in range(self._size) if rank != self._rank and self._store.check([_left(rank)])]
        return {rank: _read(self._store.get(_left(rank))) for rank in there}


def _read(data: bytes) -> Farewell:
    try:
        found: Farewell = decode(data, Farewell)
    except FormError:
        return Farewell(End.FAILED, "It says how in a way that this Counterfoil does not know: it is another version.")
    return found


def _gone(*ranks: int) -> RankError:
    gone = "is gone: it was killed, ran out of memory, or its machine was lost."
    if len(ranks) > 1:
        gone = "are gone: they were killed, ran out of memory, or their machines were lost."
    return RankError(f"{name_ranks(ranks)} {gone}")


def name_ranks(ranks: Sequence[int]) -> str:
    """Return ranks as the subject of a sentence: ``Rank 2``, ``Ranks 1, 2 and 5``."""
    texts = [str(rank) for rank in ranks]
    return f"Rank {texts[0]}" if len(texts) == 1 else f"Ranks {', '.join(texts[:-1])} and {texts[-1]}"


def _beats(rank: int) -> str:
    return f"beats/{rank}"


def _left(rank: int) -> str:
    return f"left/{rank}"
