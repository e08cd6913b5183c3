"""A file on a share that somebody else writes to: changed in place, by offset, at a chosen moment of an audit."""

from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from support.bundles import opened_for_change


@dataclass(frozen=True)
class Place:
    """Where the bytes of a dataset lie in a file."""

    path: Path
    offset: int
    before: bytes

    def write(self, data: bytes, *, hide: bool = True) -> None:
        """Put other bytes there; whoever hides it puts the file's time back."""
        assert len(data) == len(self.before)
        status = self.path.stat()
        with self.path.open("r+b") as file:
            file.seek(self.offset)
            file.write(data)
        if hide:
            os.utime(self.path, ns=(status.st_atime_ns, status.st_mtime_ns))


def place_of(path: Path, dataset: str, row: int | None = None) -> Place:
    """Where a dataset, or one row of it, lies."""
    with opened_for_change(path) as file:
        found = file[dataset]
        offset, size = found.id.get_offset(), found.id.get_storage_size()
        if row is not None:
            size //= found.shape[0]
            offset += row * size
    data = path.read_bytes()[offset : offset + size]
    return Place(path, offset, data)


def flipped(data: bytes, at: int = 0) -> bytes:
    """The bytes with the lowest bit of one of them flipped."""
    spoiled = bytearray(data)
    spoiled[at] ^= 1
    return bytes(spoiled)


def stored(array: Any) -> bytes:
    """The bytes of an array as a bundle stores them."""
    return np.ascontiguousarray(array).astype(array.dtype.newbyteorder("<")).tobytes()


def before(monkeypatch: pytest.MonkeyPatch, module: Any, name: str, act: Callable[..., None]) -> list[bool]:
    """Act right before every call of a function of a module; returns a list that grows with each call."""
    function = getattr(module, name)
    calls: list[bool] = []

    def wrapped(*args: Any, **kwargs: Any) -> Any:
        calls.append(True)
        act(*args)
        return function(*args, **kwargs)

    monkeypatch.setattr(module, name, wrapped)
    return calls
