"""What a script adds up: the variables that its source adds to, and what they hold at the border of a step.

The names are the script's own: of a variable, of an attribute of an object whose class stands in the script's folder,
or of a list or dictionary with the key behind a dot. ``correct += n``, ``correct = correct + n`` and torch's own sums
in place add to something; what is only assigned is none of these.
"""

from __future__ import annotations

import ast
import linecache
import os
import re
import sys
from collections.abc import Iterator
from types import FrameType
from typing import Any

import numpy as np
from torch import Tensor, nn

from counterfoil.program import whereabouts
from counterfoil.program.asked.numbers import is_asked
from counterfoil_core.base.errors import ProgramError

_ADDING = frozenset({"add_", "index_add_", "index_put_", "scatter_add_"})
"""Methods of tensors that add in place."""
_MOST_HELD = 10_000
"""A list or dictionary of more things is not looked through."""
_LARGEST = 2**62
"""A larger number is no count."""
_DEPTH = 2
"""Objects of objects are looked through, and no deeper."""
_NO_NAME = re.compile(r"[^A-Za-z0-9_.]")
_Found = tuple[tuple[int, str], str, Any]
"""Whose it is and how it is called there; the whole path; and the value."""


class Tallies:
    """The variables that a script adds to.

    They are looked for in the frames that ran when a model was called last, which are kept: what a function has counted
    is there when it has returned.
    """

    def __init__(self) -> None:
        self._frames: list[FrameType] = []
        self._folder = ""
        self._added: dict[str, frozenset[str]] = {}
        self._names: dict[tuple[int, str], str] = {}
        self._owners: list[object] = []

    def look(self) -> None:
        """Take the frames of the script that run now as those in which it adds up."""
        frame = whereabouts.client_frame()
        found = []
        while frame is not None:
            if not whereabouts.is_inner(frame.f_code):
                found.append(frame)
            if frame.f_globals.get("__name__") == "__main__" and frame.f_code.co_name == "<module>":
                self._folder = os.path.dirname(str(frame.f_globals.get("__file__", ""))) + os.sep
                self._frames = found
                return
            frame = frame.f_back

    def held(self) -> dict[str, Any]:
        """Return what they hold now: numbers, placeholders of such, and tensors, by name.

        The last part of a path is the name of whatever has it first, and other paths are whole: names are the same in
        each run of a script that does the same.
        """
        found: dict[str, Any] = {}
        seen: set[tuple[int, str]] = set()
        for frame in self._frames:
            added = self._added_in(frame.f_code.co_filename)
            for name, value in list(frame.f_locals.items()):
                for key, path, one in self._held_by((0, name), name, value, added, _DEPTH):
                    if key not in seen:
                        seen.add(key)
                        found[self._name(key, path)] = one
        return found

    def _held_by(
        self, key: tuple[int, str], path: str, value: Any, added: frozenset[str], depth: int
    ) -> Iterator[_Found]:
        if not added.isdisjoint((key[1], f"{key[1]}[]")) and _is_number(value):
            yield key, path, value
        elif f"{key[1]}[]" in added and isinstance(value, (list, tuple, dict)) and len(value) <= _MOST_HELD:
            items = value.items() if isinstance(value, dict) else enumerate(value)
            if isinstance(value, dict) and any(map(is_asked, value)):
                raise ProgramError(
                    f"The script looks up in {path!r} by what its model gives: what it counts there would be a number "
                    "of its own run.",
                    remedy="Count with a tensor: counts.index_add_(0, answers, torch.ones_like(answers)).",
                )
            for part, item in list(items):
                if _is_number(item):
                    yield (self._identity(value), str(part)), f"{path}.{part}", item
        elif depth:
            within = self._added_by(type(value))
            scored = isinstance(value, nn.Module) and next(value.parameters(), None) is not None
            if within and not scored:
                buffers = value._buffers if isinstance(value, nn.Module) else {}
                for part, item in list({**getattr(value, "__dict__", {}), **buffers}.items()):
                    own = self._identity(value), part
                    yield from self._held_by(own, f"{path}.{part}", item, within, depth - 1)

    def _identity(self, owner: object) -> int:
        """Tell an object from others, as long as this lives."""
        if not any(one is owner for one in self._owners):
            self._owners.append(owner)
        return id(owner)

    def _name(self, key: tuple[int, str], path: str) -> str:
        if key not in self._names:
            short, whole = (_NO_NAME.sub("_", text) for text in (path.rpartition(".")[2], path))
            taken = set(self._names.values())
            # The key of a list says nothing without the list.
            name = whole if short in taken or short.isdigit() else short
            while name in taken:
                name += "_"
            self._names[key] = name
        return self._names[key]

    def _added_by(self, kind: type) -> frozenset[str]:
        """What the source of a class of the script's folder adds to."""
        files = [getattr(sys.modules.get(each.__module__), "__file__", None) or "" for each in kind.__mro__]
        own = [file for file in files if self._folder != os.sep and file.startswith(self._folder)]
        return frozenset().union(*map(self._added_in, own))

    def _added_in(self, file: str) -> frozenset[str]:
        if file not in self._added:
            linecache.checkcache(file)
            try:
                tree = ast.parse("".join(linecache.getlines(file)))
            except SyntaxError:
                tree = ast.Module([], [])
            self._added[file] = frozenset(filter(None, map(_part, _targets(tree))))
        return self._added[file]


def _is_number(value: Any) -> bool:
    if type(value) is int:
        return abs(value) < _LARGEST
    return type(value) is float or is_asked(value) or isinstance(value, (Tensor, np.integer, np.floating))


def _targets(tree: ast.Module) -> Iterator[ast.expr]:
    """What source code adds to."""
    for node in ast.walk(tree):
        if isinstance(node, ast.AugAssign) and isinstance(node.op, (ast.Add, ast.Sub)):
            yield node.target
        elif isinstance(node, ast.Assign) and isinstance(node.value, ast.BinOp):
            terms = {ast.unparse(term) for term in _terms(node.value)}
            yield from (target for target in node.targets if ast.unparse(target) in terms)
        elif isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr in _ADDING:
            yield node.func.value


def _terms(node: ast.expr) -> Iterator[ast.expr]:
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Add):
        yield from (*_terms(node.left), *_terms(node.right))
    else:
        yield node


def _part(node: ast.expr) -> str:
    """The last part of the name of what is added to; of an element that of what it is one of, and brackets."""
    if isinstance(node, ast.Subscript):
        return f"{_part(node.value).removesuffix('[]')}[]"
    return node.id if isinstance(node, ast.Name) else node.attr if isinstance(node, ast.Attribute) else ""
