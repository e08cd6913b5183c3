"""What a script saves and loads again while it runs: told apart by file, in memory too."""

from __future__ import annotations

import copy
import os
from collections.abc import Iterator
from typing import Any

from torch import Tensor, nn


def file_key(file: Any) -> object:
    """Return what tells a file apart: its path, or the identity of an object that is one."""
    if isinstance(file, (str, bytes, os.PathLike)):
        return os.path.realpath(os.fsdecode(file))
    name = getattr(file, "name", None)
    return os.path.realpath(name) if isinstance(name, str) else id(file)


def tensors_in(item: Any, depth: int = 8) -> Iterator[Tensor]:
    """Yield the tensors in what is saved: in lists and dictionaries, and of modules.

    Args:
        item: What is saved.
        depth: How deep it is looked into.
    """
    if isinstance(item, Tensor):
        yield item
    elif isinstance(item, nn.Module):
        yield from (*item.parameters(), *item.buffers())
    elif depth and isinstance(item, dict):
        for part in list(item.values()):
            yield from tensors_in(part, depth - 1)
    elif depth and isinstance(item, (list, tuple)):
        for part in item:
            yield from tensors_in(part, depth - 1)


class Shelf:
    """What was saved without values, by file; it is loaded as it was then.

    What lies here is a copy, made when it was saved, of tensors that stand for values.
    """

    def __init__(self) -> None:
        self._kept: dict[object, tuple[Any, Any]] = {}

    def put(self, what: Any, file: Any) -> None:
        """Keep what is saved to a file."""
        # The file itself too: another one must not get its identity.
        self._kept[file_key(file)] = (copy.deepcopy(what), file)

    def take(self, file: Any) -> tuple[Any] | None:
        """Return what was saved to a file, as a tuple of one; None where nothing was."""
        kept = self._kept.get(file_key(file))
        return None if kept is None else (copy.deepcopy(kept[0]),)

    def has(self, file: Any) -> bool:
        """Whether something was saved to a file."""
        return file_key(file) in self._kept
