"""Attributes of libraries that are replaced for a while, also of modules that are imported later, or never."""

from __future__ import annotations

import importlib.abc
import importlib.machinery
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from types import ModuleType
from typing import Any

_ABSENT = object()


class Patches:
    """Attributes that were replaced, to be put back."""

    def __init__(self) -> None:
        self._before: list[tuple[Any, str, object]] = []

    def put(self, owner: Any, name: str, value: object) -> None:
        """Replace an attribute of a module or a class.

        Args:
            owner: The module or class.
            name: The attribute, its own or an inherited one.
            value: What takes its place.
        """
        self._before.append((owner, name, vars(owner).get(name, _ABSENT)))
        setattr(owner, name, value)

    def undo(self) -> None:
        """Put everything back, the last first."""
        while self._before:
            owner, name, value = self._before.pop()
            if value is _ABSENT:
                delattr(owner, name)
            else:
                setattr(owner, name, value)


Patch = Callable[[ModuleType, Patches], None]
"""Replaces attributes of a module."""


class _Imports(importlib.abc.MetaPathFinder):
    """Calls back when one of some modules was imported; finds modules as the other finders do."""

    def __init__(self, wanted: Mapping[str, Callable[[ModuleType], None]]) -> None:
        self._wanted = wanted

    def find_spec(
        self, fullname: str, path: Sequence[str] | None, target: ModuleType | None = None
    ) -> importlib.machinery.ModuleSpec | None:
        if fullname not in self._wanted:
            return None
        others = (finder for finder in sys.meta_path if finder is not self)
        found = (finder.find_spec(fullname, path, target) for finder in others)
        spec = next((spec for spec in found if spec is not None), None)
        if spec is not None and spec.loader is not None:
            execute, then = spec.loader.exec_module, self._wanted[fullname]

            def executed(module: ModuleType) -> None:
                execute(module)
                then(module)

            spec.loader.exec_module = executed  # type: ignore[method-assign]
        return spec


@contextmanager
def patch_modules(wanted: Mapping[str, Patch]) -> Iterator[None]:
    """Patch modules that are loaded, and others as soon as they are; afterwards everything is as it was.

    Args:
        wanted: What patches each module, by its name.
    """
    patches = Patches()

    def patch(name: str) -> Callable[[ModuleType], None]:
        return lambda module: wanted[name](module, patches)

    finder = _Imports({name: patch(name) for name in wanted})
    sys.meta_path.insert(0, finder)
    try:
        for name in wanted:
            if name in sys.modules:
                patch(name)(sys.modules[name])
        yield
    finally:
        sys.meta_path.remove(finder)
        patches.undo()
