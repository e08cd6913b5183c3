"""What the strict reader asks of an open file, wherever its bytes lie."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from pathlib import Path
from types import TracebackType
from typing import Self

from counterfoil_core.base.digest import Digest
from counterfoil_core.base.errors import CounterfoilError, FileChangedError
from counterfoil_core.remote.ranges import Fetched, Span


class OpenFile(ABC):
    """An open file; use it as a context manager, from one thread."""

    path: Path  #: Where the file lies; of one that lies elsewhere, its address as it may be shown.
    size: int  #: Its length in bytes when it was opened.
    digest: Digest | None = None  #: Its SHA-256; None where the whole file was not hashed.

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    @property
    def place(self) -> str:
        """Where the file lies, in full."""
        return str(self.path.resolve())

    @property
    def fetched(self) -> Fetched | None:
        """How much of a file that lies elsewhere was fetched; None of a file of this machine."""
        return None

    @abstractmethod
    def close(self) -> None:
        """Close the file; calling it twice does no harm."""

    @abstractmethod
    def read(self, offset: int, count: int) -> bytes:
        """Return the bytes from an offset on, fewer only at the end of the file; raises as :meth:`read_into`."""

    @abstractmethod
    def read_into(self, offset: int, target: memoryview, what: str) -> None:
        """Fill ``target``, bytes, with those from an offset on.

        Args:
            offset: Where to begin.
            target: Takes the bytes.
            what: The part of the file, for sentences.

        Raises:
            FileChangedError: The file ends before, or these are not the bytes that were hashed.
            FileReadError: The system, or a server, fails to read them.
            BundleError: They cannot be read.
        """

    def ahead(self, spans: Sequence[Span]) -> None:
        """Take note of what will be read soon, where that is of use."""
        del spans

    @abstractmethod
    def check_unchanged(self) -> None:
        """Check that the open file is still what it was when it was opened.

        Raises:
            FileChangedError: It changed.
            FileReadError: The system, or a server, cannot tell.
        """

    def stand_by(self, error: CounterfoilError) -> None:
        """Check that what was found in the bytes may be held against the file.

        Args:
            error: What was found.

        Raises:
            FileChangedError: It may not: the file is another one by now, or the bytes may be of somebody else.
            FileReadError: The system cannot tell.
        """
        del error
        self.check_unchanged()

    @abstractmethod
    def changed(self, what: str) -> FileChangedError:
        """Return the error that says that a part of the file is no longer what was checked."""
