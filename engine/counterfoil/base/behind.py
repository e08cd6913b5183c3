"""Work that is done in a thread of its own while its owner goes on: one thing at a time, in order, nothing lost."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from types import TracebackType
from typing import Generic, Self, TypeVar

LEAST_BEHIND = 2**20
"""A state of so many bytes is digested while the next step runs; handing over less takes longer."""
_Result = TypeVar("_Result")


class Behind(Generic[_Result]):
    """Does one thing at a time behind its owner; use it as a context manager, from one thread.

    What has begun comes to its end, also where its owner is stopped meanwhile. If it fails then, its error is raised
    when the context ends, in the place of the one that stopped the owner, unless that is none of ours to replace.
    """

    def __init__(self) -> None:
        self._thread = ThreadPoolExecutor(1, thread_name_prefix="behind")
        self._work: Future[_Result] | None = None

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._thread.shutdown()
        if self._work is not None and (error is None or isinstance(error, Exception)):
            failure = self._work.exception()
            if failure is not None:
                raise failure from error

    @property
    def busy(self) -> bool:
        """Whether something has begun that was not taken yet."""
        return self._work is not None

    @property
    def ready(self) -> bool:
        """Whether something came to its end that was not taken yet."""
        return self._work is not None and self._work.done()

    def begin(self, work: Callable[[], _Result]) -> None:
        """Begin something; what was begun before must have been taken."""
        assert self._work is None, "one thing at a time"
        self._work = self._thread.submit(work)

    def take(self) -> _Result:
        """Wait for what was begun; returns what it returned, and raises what it raised."""
        assert self._work is not None, "something was begun"
        work, self._work = self._work, None
        return work.result()
