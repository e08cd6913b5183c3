"""Names that make plain numbers: ``float``, ``int`` and the functions of ``math``, which know placeholders meanwhile.

What is written in C takes the number out of whatever it is given, so ``float(loss)`` could be no placeholder. In a
module that makes plain numbers of placeholders these names stand for others as long as a step runs: types and functions
that do the same, and give placeholders for placeholders. Which modules do so shows while the step runs; it is begun
again then (:class:`Again`).
"""

from __future__ import annotations

import ast
import builtins
import dis
import itertools
import linecache
import math
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from functools import wraps
from types import FrameType
from typing import Any

import numpy as np
from torch import Tensor

from counterfoil.program.asked.arrays import AskedArray
from counterfoil.program.asked.numbers import Asked, Kind, apply_answers, is_asked, kind_of

_NONSENSE = itertools.count(-(10**18))
_TRUTHS = frozenset({"isnan", "isinf", "isfinite", "isclose"})
_WHOLE = frozenset({"floor", "ceil", "trunc", "comb", "perm", "factorial", "gcd", "lcm", "isqrt"})
_REMAINDER = ("%", "%=")


class Again(BaseException):
    """The step must be begun again: more is known now, of a module that takes plain numbers or of the state."""


class _Conversion(type):
    """The type of a type that stands for another one, and is equal to it."""

    _of: Kind

    def __instancecheck__(cls, value: Any) -> bool:
        return isinstance(value, cls._of)

    def __subclasscheck__(cls, other: type) -> bool:
        return issubclass(other, cls._of)

    def __eq__(cls, other: object) -> bool:
        return other is cls or other is cls._of

    def __hash__(cls) -> int:
        return hash(cls._of)

    def __call__(cls, *args: Any, **named: Any) -> Any:
        found = _asked_of(args[0], cls._of) if len(args) == 1 else None
        return cls._of(*args, **named) if found is None else found


class _Float(builtins.float, metaclass=_Conversion):
    _of = builtins.float
    dtype = np.dtype(builtins.float)


class _Int(builtins.int, metaclass=_Conversion):
    _of = builtins.int
    dtype = np.dtype(builtins.int)


ORIGINALS: Mapping[Any, type] = {_Float: builtins.float, _Int: builtins.int}
"""The types that those of a module stand for."""


def _asked_of(value: Any, kind: Kind) -> Asked | None:
    """The placeholder that a conversion gives; None where there is a number."""
    if isinstance(value, AskedArray) and value.size == 1:
        value = value.item()
    if is_asked(value):
        made: Asked = value.made(kind, _converted(value, kind), apply_answers(kind, value))
        return made
    if isinstance(value, Tensor) and value.numel() == 1:
        found = value.item()
        return _asked_of(found, kind)
    return None


def _converted(value: Asked, kind: Kind) -> Callable[[], Tensor] | None:
    """What makes a tensor of a converted number; None where it is cut off."""
    tensor = value.tensor
    if tensor is None or kind is builtins.float:
        return tensor
    return None if kind_of(value) is builtins.float else lambda: tensor() + 0


def _in_math(name: str, function: Callable[..., Any]) -> Callable[..., Any]:
    kind: Kind = bool if name in _TRUTHS else int if name in _WHOLE else float

    @wraps(function)
    def wrapped(*args: Any, **named: Any) -> Any:
        for item in args:
            for part in item if isinstance(item, (list, tuple)) else (item,):
                asked = _asked_of(part, float)
                if asked is not None:
                    finite = _finite(name, asked) if len(args) == 1 else None
                    return asked.made(kind, finite, _answer_of(function, args, named))
        return function(*args, **named)

    return wrapped


def _answer_of(function: Callable[..., Any], args: tuple[Any, ...], named: Mapping[str, Any]) -> Any:
    """What a function gives for the answers; None where one is not known."""
    values = []
    for item in args:
        parts = [_asked_of(part, float) or part for part in (item if isinstance(item, (list, tuple)) else (item,))]
        answers = [part.answer if is_asked(part) else part for part in parts]
        if any(answer is None or isinstance(answer, Tensor) for answer in answers):
            return None
        values.append(answers if isinstance(item, (list, tuple)) else answers[0])
    return function(*values, **named)


def _finite(name: str, asked: Asked) -> Callable[[], Tensor] | None:
    made = asked.tensor
    if name not in ("isnan", "isinf", "isfinite") or made is None:
        return None
    return lambda: getattr(made(), name)()


_MATH = {
    name: _in_math(name, function)
    for name, function in vars(math).items()
    if callable(function) and not name.startswith("_")
}
_REPLACED: Mapping[Any, Any] = {
    builtins.float: _Float,
    builtins.int: _Int,
    **{getattr(math, name): function for name, function in _MATH.items()},
}


class PlainNames:
    """The modules in which these names stand for others while a step runs."""

    def __init__(self) -> None:
        self._names: dict[tuple[int, str], tuple[dict[str, Any], Any]] = {}

    @contextmanager
    def replaced(self) -> Iterator[None]:
        """Let them, and ``math``'s own functions, know placeholders."""
        before = {name: getattr(math, name) for name in _MATH}
        absent = [(names, name) for (_, name), (names, _) in self._names.items() if name not in names]
        own = [(names, name, names[name]) for (_, name), (names, _) in self._names.items() if name in names]
        try:
            for name, function in _MATH.items():
                setattr(math, name, function)
            for (_, name), (names, replaced) in self._names.items():
                names[name] = replaced
            yield
        finally:
            for name, function in before.items():
                setattr(math, name, function)
            for names, name, value in own:
                names[name] = value
            for names, name in absent:
                names.pop(name, None)

    def learn_usual(self, frame: FrameType) -> None:
        """Take in ``float`` and ``int`` for the module of a frame, before its code makes numbers of placeholders."""
        for name in ("float", "int"):
            if name not in frame.f_globals and not _compares_types(frame.f_code.co_filename, name):
                self._names[id(frame.f_globals), name] = frame.f_globals, _REPLACED[getattr(builtins, name)]

    def learn(self, frame: FrameType) -> bool:
        """Take in the names that the code of a frame uses; whether one of them is new."""
        found = False
        names = frame.f_globals
        for name in frame.f_code.co_names:
            value = names.get(name, frame.f_builtins.get(name))
            try:
                replaced = _REPLACED.get(value)
            except TypeError:  # what has no hash is none of them
                continue
            if replaced is None or type(value) is _Conversion or (id(names), name) in self._names:
                continue
            if not _compares_types(frame.f_code.co_filename, name):
                self._names[id(names), name] = names, replaced
                found = True
        return found


def _compares_types(file: str, name: str) -> bool:
    """Whether a file asks if a type is just this one, which another cannot stand for."""
    try:
        tree = ast.parse("".join(linecache.getlines(file)))
    except SyntaxError:
        return True
    return any(
        isinstance(node, ast.Compare)
        and any(isinstance(how, (ast.Is, ast.IsNot)) for how in node.ops)
        and any(isinstance(each, ast.Name) and each.id == name for each in (node.left, *node.comparators))
        for node in ast.walk(tree)
    )


def nonsense() -> int:
    """Return what a placeholder is in a text that must show whole numbers: far from any, and another one each time.

    Who reads it out of the text again has another program in the second capture, and is refused.
    """
    return next(_NONSENSE)


def writes_text(frame: FrameType | None) -> bool:
    """Whether a frame is at ``text % values``: what asks an operand of it for a plain number there writes it."""
    if frame is None:
        return False
    at = [item for item in dis.get_instructions(frame.f_code) if item.offset == frame.f_lasti]
    return bool(at) and at[0].opname == "BINARY_OP" and at[0].argrepr in _REMAINDER
