"""Signed tree heads, published while training goes on: nobody can rewrite history afterwards without being told.

A file of JSON lines; each line is a DSSE envelope around an in-toto statement. A line is on the disk before training
goes on, so that it can be published at once, for instance to the client or to a public log. docs/bundle-format.md,
section 12.
"""

from __future__ import annotations

import os
from contextlib import suppress
from io import FileIO
from pathlib import Path
from types import TracebackType
from typing import Self

from counterfoil.base.joberrors import TargetExistsError
from counterfoil.base.wholefiles import check_target, open_log, write_errors, write_whole
from counterfoil.commit.frontier import MerkleFrontier
from counterfoil_core.base.digest import Digest
from counterfoil_core.base.sentence import say
from counterfoil_core.signing.claims import TreeHead
from counterfoil_core.signing.keys import SigningKey
from counterfoil_core.signing.statements import sign_said, with_signer

_WHAT = say("the file of tree heads")


class TreeHeadFile:
    """A file of tree heads that grows; use it as a context manager. What was written stays, whatever happens.

    A file that lies there stays until there is a tree head to write: the first replaces it as a whole.

    Args:
        path: Where the file goes.
        published: The lines that were published before, of a recording that is gone on with. The file must hold
            nothing else; what it lacks of them is added.

    Raises:
        TargetExistsError: It holds something else.
        FileWriteError: It cannot be written.
    """

    def __init__(self, path: str | os.PathLike[str], published: bytes = b"") -> None:
        self.path = Path(path)
        self._file: FileIO | None = None
        check_target(self.path, what=_WHAT)
        if not published:
            return
        with write_errors(self.path, _WHAT):
            found = self.path.read_bytes() if self.path.exists() else b""
        if not published.startswith(found):
            raise TargetExistsError(
                say("The file {0} holds other tree heads than those of the recording that is gone on with.", self.path),
                remedy=say("Name the file that it began, or one that does not exist."),
            )
        if found != published:
            write_whole(self.path, published, what=_WHAT)
        self._open()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._file is not None:
            self._file.close()

    def append(self, line: bytes) -> None:
        """Add a line, and wait until it is on the disk; raises FileWriteError, and then no part of it stays."""
        if self._file is None:
            write_whole(self.path, line, what=_WHAT)
            self._open()
            return
        with write_errors(self.path, _WHAT):
            size = self._file.seek(0, os.SEEK_END)
            try:
                rest = memoryview(line)
                while rest:
                    rest = rest[self._file.write(rest) :]
                os.fsync(self._file.fileno())
            except OSError:
                with suppress(OSError):
                    self._file.truncate(size)
                raise

    def _open(self) -> None:
        with write_errors(self.path, _WHAT):
            self._file = FileIO(open_log(self.path, new=False), "w")


def sign_head(order: Digest, history: MerkleFrontier, key: SigningKey) -> tuple[TreeHead, bytes]:
    """Sign the history so far.

    Args:
        order: Digest of the order.
        history: The Merkle tree over the step records.
        key: The trainer's key.

    Returns:
        The tree head, and the line to publish: its envelope and a newline.
    """
    head = with_signer(TreeHead(order, history.size, history.root), key.public)
    return head, sign_said(head, key) + b"\n"
