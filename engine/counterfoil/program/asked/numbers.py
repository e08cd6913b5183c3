"""The placeholder of a number.

It is no ``float``, although ``isinstance`` says so: of a subclass of ``float`` the libraries written in C read the
number past it, and whatever they make of it bears no mark. So each way to a plain number leads through here.
"""

from __future__ import annotations

import builtins
import math
import operator
import re
from collections.abc import Callable
from contextvars import ContextVar
from typing import Any, Protocol

import numpy as np
from torch import Tensor

from counterfoil.program import whereabouts
from counterfoil.program.remedies import NoFormError

SHOWN = "?"
"""What a placeholder looks like; no text that could be read back as a number."""
Kind = type[float] | type[int] | type[bool]
_SPEC = re.compile(r"(?:(.)?([<>=^]))?[-+ ]?z?#?0?(\d*)[,_]?(?:\.\d+)?[a-zA-Z%]?")
REMEDY = (
    "Keep it a tensor instead of taking it out with item(), float(), tolist() or a condition; choose with torch.where."
)
_SIZE_REMEDY = (
    "Keep shapes and numbers of things fixed, or weigh by a mask; what is known before may be a data array. Leave out "
    "what is only shown."
)


class Asker(Protocol):
    """Who answers for the step that is running."""

    def truth(self, asked: Asked) -> bool:
        """The truth of a placeholder, where Python asks for it."""

    def plain(self, asked: Asked, kind: Kind) -> Any:
        """The plain number of a placeholder, where a library asks for it."""

    def as_tensor(self, asked: Asked) -> Tensor:
        """The tensor that a placeholder is where it meets one; refused where there is none."""

    def looked_up(self, asked: Asked) -> None:
        """Refuse that something is looked up by a placeholder, if that is refused."""

    def refuse(self, error: NoFormError) -> NoFormError:
        """Keep a refusal, so that nobody can swallow it, and return it."""


current: ContextVar[Asker | None] = ContextVar("counterfoil_asker", default=None)
"""Who answers now; None where no step is running."""


class Asked:
    """A number that a step was asked for while it had none.

    Args:
        kind: What it stands for.
        place: File and line at which it was asked for.
        tensor: Makes a tensor of the same value, where it can be told as one.
        answer: What it was where the same was run with values; None where nobody knows. It decides what Python asks
            for, and goes nowhere else: a program that held it would hold a value of one run.
    """

    __slots__ = ("_kind", "_tensor", "answer", "asker", "place")

    def __init__(self, kind: Kind, place: str, tensor: Callable[[], Tensor] | None = None, answer: Any = None) -> None:
        self._kind = kind
        self._tensor = tensor
        self.answer = answer
        self.place = place
        self.asker = current.get()

    @property
    def __class__(self) -> Any:
        """The type that it stands for, for ``isinstance``."""
        return self._kind

    @__class__.setter
    def __class__(self, _kind: Any) -> None:
        raise TypeError("a value that was asked for stays what it is")

    @property
    def tensor(self) -> Callable[[], Tensor] | None:
        """What makes a tensor of the same value; None where there is none, or it is one of another run of the step."""
        return self._tensor if self.asker is not None and self.asker is current.get() else None

    def count_from(self, zero: float) -> None:
        """Be zero where it comes back from here on: what it stood for was added up elsewhere."""
        self._tensor = lambda: zero  # type: ignore[assignment]

    def made(self, kind: Kind, tensor: Callable[[], Tensor] | None = None, answer: Any = None) -> Asked:
        """Return what was computed from this one."""
        return Asked(kind, self.place, tensor, answer)

    # Shown.

    def __repr__(self) -> str:
        """A text that is no number."""
        return SHOWN

    def __format__(self, spec: str) -> str:
        """The same, as wide as a number would be."""
        found = _SPEC.fullmatch(spec)
        if found is None:
            return format(SHOWN, spec)
        fill, align, width = found.groups()
        return format(SHOWN, f"{fill or ' '}{'>' if align in (None, '=') else align}{width}")

    # Kept.

    def __hash__(self) -> int:
        """Refused while a step runs: what is looked up by a value, or told apart by it, hangs on it."""
        asker = current.get()
        if asker is not None:
            asker.looked_up(self)
        return object.__hash__(self)

    def __copy__(self) -> Asked:
        """Itself: nothing can change it."""
        return self

    def __deepcopy__(self, _memo: Any) -> Asked:
        """Itself: nothing can change it."""
        return self

    # Asked for once more.

    def __bool__(self) -> bool:
        """What the policy answers."""
        return _asker(self).truth(self)

    def __float__(self) -> float:
        """For who writes it; refused to who computes with it."""
        return float(_asker(self).plain(self, float))

    def __int__(self) -> int:
        """As for ``float``."""
        return int(_asker(self).plain(self, int))

    def __index__(self) -> int:
        """Refused: it would be a size, or an index."""
        raise _asker(self).refuse(decides_size(self))

    def __round__(self, digits: int | None = None) -> Asked:
        """Another placeholder."""
        answer = None if self.answer is None else round(self.answer, digits)
        return self.made(int if digits is None else _number(self._kind), None, answer)

    def item(self) -> Asked:
        """Itself, as numpy's numbers give themselves."""
        return self

    tolist = conjugate = item

    def is_integer(self) -> Asked:
        """A truth value that was asked for."""
        return self.made(bool, None, None if self.answer is None else float(self.answer).is_integer())


def kind_of(asked: Asked) -> Kind:
    """What a placeholder stands for."""
    return asked._kind


def is_asked(value: Any) -> bool:
    """Whether something is a placeholder of a number."""
    return type(value) is Asked


def comes_back(place: str) -> NoFormError:
    """The refusal of a placeholder, asked for at a place, that comes back into a tensor."""
    return NoFormError(
        "takes a number out of a tensor and computes with it, which a program cannot: a value of this step"
        f"{f', asked for at {place},' * bool(place)} reaches the loss",
        remedy=REMEDY,
    )


def decides_size(asked: Asked) -> NoFormError:
    """The refusal of a placeholder that would be a size or an index."""
    return NoFormError(
        "decides control flow or a shape by the values of a tensor, which a program cannot: a value of this step, "
        f"asked for at {asked.place or 'a place unknown'}, is used as a size or an index",
        remedy=_SIZE_REMEDY,
    )


def looks_up(asked: Asked) -> NoFormError:
    """The refusal of a placeholder by which something is looked up, in a dict or a set."""
    return NoFormError(
        "decides control flow or a shape by the values of a tensor, which a program cannot: something is looked up by "
        f"a value of this step, asked for at {asked.place or 'a place unknown'}",
        remedy=REMEDY,
    )


def _asker(asked: Asked) -> Asker:
    asker = current.get()
    if asker is None:
        raise RuntimeError(
            f"a value that was asked for at {asked.place or 'a place unknown'}, while a step had none, has none now"
        )
    return asker


def _number(kind: Kind) -> Kind:
    return int if kind is bool else kind


def _other_kind(other: Any) -> Kind | None:
    """The kind of an operand; None for what is no number."""
    if is_asked(other):
        return kind_of(other)
    if isinstance(other, (bool, np.bool_)):
        return bool
    if isinstance(other, (builtins.int, np.integer)):
        return builtins.int
    return builtins.float if isinstance(other, (builtins.float, np.floating)) else None


def _binary(name: str, give: Callable[[Kind, Kind], Kind]) -> Callable[[Asked, Any], Any]:
    compute = getattr(operator, name, None)
    # A reflected operator is the other one with its operands exchanged.
    own = compute or (lambda one, other: getattr(operator, f"__{name[3:]}")(other, one))

    def operate(self: Asked, other: Any) -> Any:
        if isinstance(other, Tensor):
            return own(_asker(self).as_tensor(self), other)
        kind = _other_kind(other)
        if kind is None:
            return NotImplemented
        tensor = None
        made = self.tensor
        theirs = other.tensor if is_asked(other) else lambda: other
        if name in _WITH_TENSORS and made is not None and theirs is not None:
            tensor = lambda: own(made(), theirs())  # noqa: E731
        return self.made(give(self._kind, kind), tensor, apply_answers(own, self, other))

    operate.__name__ = name
    return operate


def _unary(name: str, kind: Kind | None) -> Callable[[Asked], Asked]:
    compute = getattr(operator, name, None) or getattr(math, name, None) or getattr(math, name.strip("_"), None)

    def operate(self: Asked) -> Asked:
        return self.made(kind or _number(self._kind), None, None if compute is None else apply_answers(compute, self))

    operate.__name__ = name
    return operate


_FLOATING = ("add", "sub", "mul", "truediv", "pow")


def _joint(one: Kind, other: Kind) -> Kind:
    return builtins.float if builtins.float in (one, other) else builtins.int


_WITH_TENSORS = frozenset(
    f"__{side}{name}__"
    for side, names in (("", ("lt", "le", "eq", "ne", "gt", "ge")), ("", _FLOATING), ("r", _FLOATING))
    for name in names
)
"""What tensors compute as numbers do."""
_JOINT = ("add", "sub", "mul", "mod", "floordiv", "and", "or", "xor", "lshift", "rshift")
_FRACTIONS = ("truediv", "pow")
_SAME = ("__neg__", "__pos__", "__abs__", "__invert__")
_WHOLE = ("__floor__", "__ceil__", "__trunc__")
_BY_NUMPY = ("exp", "exp2", "expm1", "log", "log2", "log10", "log1p", "sqrt", "sin", "cos", "tanh", "square", "rint")
"""What numpy calls of the elements of an array of objects."""
_COMPARED = ("__lt__", "__le__", "__eq__", "__ne__", "__gt__", "__ge__")
for _name in _COMPARED:
    setattr(Asked, _name, _binary(_name, lambda _one, _other: bool))
for _name in _JOINT:
    for _side in ("", "r"):
        setattr(Asked, f"__{_side}{_name}__", _binary(f"__{_side}{_name}__", _joint))
for _name in _FRACTIONS:
    for _side in ("", "r"):
        setattr(Asked, f"__{_side}{_name}__", _binary(f"__{_side}{_name}__", lambda _one, _other: builtins.float))
for _name in _SAME:
    setattr(Asked, _name, _unary(_name, None))
for _name in _WHOLE:
    setattr(Asked, _name, _unary(_name, builtins.int))
for _name in _BY_NUMPY:
    setattr(Asked, _name, _unary(_name, builtins.float))


def apply_answers(compute: Callable[..., Any], *operands: Any) -> Any:
    """Return what a function gives for answers; None where one of them is not known.

    Args:
        compute: The function. Whatever it raises of answers goes to the script, as it did where it ran with values.
        operands: Placeholders and plain values.
    """
    values = [item.answer if is_asked(item) else item for item in operands]
    return None if any(value is None for value in values) else compute(*values)


def placeholder_at(kind: Kind, tensor: Callable[[], Tensor] | None = None, answer: Any = None) -> Asked:
    """Return a placeholder of what is asked for now."""
    return Asked(kind, whereabouts.client_line(), tensor, answer)
