"""SHA-256 digests as a type of their own, so that no function takes or returns bare bytes for one."""

from __future__ import annotations

import hashlib
import os
import re
from collections.abc import Callable
from functools import total_ordering
from typing import NoReturn

from counterfoil_core.base.cancel import CancelToken
from counterfoil_core.base.inputs import open_plain

DIGEST_BYTES = 32
PIECE_BYTES = 4 * 2**20
"""How much of a file is hashed at a time."""
_HEX = re.compile(f"[0-9a-f]{{{2 * DIGEST_BYTES}}}")


@total_ordering
class Digest:
    """A SHA-256 digest (FIPS 180-4). Cannot be changed.

    No dataclass: what reads and writes records by their types would take it for an object with a field.

    Raises:
        ValueError: ``value`` is not 32 bytes long.
    """

    __slots__ = ("value",)
    value: bytes

    def __init__(self, value: bytes) -> None:
        if not isinstance(value, bytes) or len(value) != DIGEST_BYTES:
            raise ValueError("a SHA-256 digest is 32 bytes")
        object.__setattr__(self, "value", value)

    def __setattr__(self, name: str, value: object) -> NoReturn:
        raise AttributeError("a digest cannot be changed")

    def __eq__(self, other: object) -> bool:
        return self.value == other.value if isinstance(other, Digest) else NotImplemented

    def __lt__(self, other: Digest) -> bool:
        return self.value < other.value if isinstance(other, Digest) else NotImplemented

    def __hash__(self) -> int:
        return hash(self.value)

    def __reduce__(self) -> tuple[type[Digest], tuple[bytes]]:
        return Digest, (self.value,)

    def __repr__(self) -> str:
        return f"Digest({self.hex})"

    @classmethod
    def of(cls, data: bytes | bytearray | memoryview) -> Digest:
        """Hash ``data``."""
        return cls(hashlib.sha256(data).digest())

    @classmethod
    def of_file(
        cls,
        path: str | os.PathLike[str],
        cancel: CancelToken | None = None,
        progress: Callable[[int, int], None] | None = None,
    ) -> Digest:
        """Hash a file.

        Args:
            path: The file.
            cancel: Looked at between pieces.
            progress: Called with the bytes done and their total.

        Raises:
            OSError: It cannot be read, or is no regular file: reading a pipe could wait for ever.
            CancelledError: The token was cancelled.
        """
        digest, done = hashlib.sha256(), 0
        buffer = memoryview(bytearray(PIECE_BYTES))
        with open_plain(path) as file:
            total = os.fstat(file.fileno()).st_size
            while count := file.readinto(buffer):
                if cancel:
                    cancel.check()
                digest.update(buffer[:count])
                done += count
                if progress:
                    progress(done, total)
        return cls(digest.digest())

    @classmethod
    def from_hex(cls, text: object) -> Digest:
        """Read 64 lower-case hexadecimal digits, out of a file of a stranger's: ``text`` may be of any type.

        Raises:
            ValueError: ``text`` is anything else.
        """
        if not isinstance(text, str) or not _HEX.fullmatch(text):
            raise ValueError("a SHA-256 digest is 64 lower-case hexadecimal digits")
        return cls(bytes.fromhex(text))

    @property
    def hex(self) -> str:
        """The digest as 64 lower-case hexadecimal digits."""
        return self.value.hex()

    @property
    def short(self) -> str:
        """The first 12 hexadecimal digits, for people."""
        return self.value.hex()[:12]

    def __str__(self) -> str:
        return self.hex
