"""Signed tree heads, published while training goes on: nobody can rewrite history afterwards without being told.

A file of JSON lines; each line is a DSSE envelope around an in-toto statement. A line is on the disk before training
goes on, so that it can be published at once, for instance to the client or to a public log.
"""

from __future__ import annotations

import os
from datetime import UTC, datetime
from pathlib import Path
from types import TracebackType
from typing import Self

from counterfoil.bundle.schema import TreeHead
from counterfoil.commit.digest import Digest
from counterfoil.commit.merkle import MerkleFrontier
from counterfoil.errors import FileWriteError
from counterfoil.signing import SigningKey, sign_tree_head


class TreeHeadFile:
    """A file of tree heads being written; use it as a context manager. What was written stays, whatever happens.

    Args:
        path: Where the file goes; one that lies there is replaced.
        order: The order digest.
        key: The trainer's key.

    Raises:
        FileWriteError: The file cannot be written.
    """

    def __init__(self, path: str | os.PathLike[str], order: Digest, key: SigningKey) -> None:
        self.path = Path(path)
        self._order = order
        self._key = key
        try:
            self._file = self.path.open("wb")
        except OSError as error:
            raise self._failed(error) from error

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._file.close()

    def append(self, history: MerkleFrontier) -> None:
        """Sign the history so far, and wait until the line is on the disk; raises FileWriteError."""
        head = TreeHead(
            order=self._order,
            size=history.size,
            root=history.root,
            signed_at=datetime.now(UTC).replace(microsecond=0).isoformat().replace("+00:00", "Z"),
            public_key=self._key.public.pem,
        )
        try:
            self._file.write(sign_tree_head(head, self._key) + b"\n")
            self._file.flush()
            os.fsync(self._file.fileno())
        except OSError as error:
            raise self._failed(error) from error

    def _failed(self, error: OSError) -> FileWriteError:
        return FileWriteError(
            f"The tree heads cannot be written to {self.path}: {error.strerror or error}.",
            remedy="Choose another folder, or make room.",
        )
