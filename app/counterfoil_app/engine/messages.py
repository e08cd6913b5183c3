"""What the engine's process sends to the window: plain values only.

That process reads files of strangers. Should one of them take it over, its messages must not take over the window,
where passphrases are typed: a pickle can name any function of any library. So only frozen values of ours are let in,
by name of their class, and columns of numbers.
"""

from __future__ import annotations

import io
import pickle
from dataclasses import is_dataclass
from enum import Enum
from typing import Any, NoReturn

import numpy as np
from msgspec import Struct
from numpy.typing import NDArray

from counterfoil import CounterfoilError
from counterfoil.sentence import Sentence, Value, say

MAX_BYTES = 2**31
"""Longest message; the overview of ten million steps has 240 MB."""
MAX_NUMBER = 4300
"""Most characters of a number in a sentence: Python writes no longer integer (sys.get_int_max_str_digits)."""
MAX_SPOKEN = 2**24
"""Most characters in all sentences of a message; parts that are named again and again would make them endless."""
_MODULES = (
    "counterfoil.audit.",
    "counterfoil.commit.",
    "counterfoil.execution.listing",
    "counterfoil.program.limits",
    "counterfoil_app.engine.child",
    "counterfoil_app.engine.port",
    "counterfoil_app.engine.sample",
    "counterfoil_app.engine.worker",
)
"""Where the classes of values are defined that an engine may send."""
_OTHERS = frozenset(
    (module, name)
    for module, names in {
        "pathlib": ("PosixPath", "WindowsPath"),
        "pathlib._local": ("PosixPath", "WindowsPath"),
        "datetime": ("datetime", "timedelta", "timezone"),
        "msgspec._core": ("UNSET",),  # a field that a statement lacks
        __name__: ("array", "scalar"),
    }.items()
    for name in names
)
_PLAIN = (Enum, Struct, int, str)
"""What a class of values is otherwise: an enumeration, fields of a statement, numbers or texts of some kind."""
_KINDS = "biuf"
"""Kinds of numpy dtypes that hold numbers and nothing else."""


class MessageError(CounterfoilError):
    """A message holds something else than plain values."""


def dumps(value: object) -> bytes:
    """Write a value for :func:`loads`."""
    out = io.BytesIO()
    _Writer(out).dump(value)
    return out.getvalue()


def loads(data: bytes) -> Any:
    """Read a message of a process that may be hostile.

    Raises:
        MessageError: It names another class or function than those that plain values are made of, or is none.
    """
    try:
        return _Reader(io.BytesIO(data)).load()
    except MessageError:
        raise
    except Exception as error:  # a broken pickle raises anything
        raise MessageError(say("A message of the engine's process cannot be read."), detail=repr(error)) from error


def array(dtype: str, shape: tuple[int, ...], data: bytes) -> NDArray[Any]:
    """Return numbers as an array."""
    kind = np.dtype(str(dtype))
    if kind.kind not in _KINDS:
        raise MessageError(say("A message of the engine's process holds an array of something else than numbers."))
    return np.frombuffer(bytes(data), kind).reshape([int(length) for length in shape]).copy()


def scalar(dtype: str, data: bytes) -> Any:
    """Return a number of numpy's."""
    return array(dtype, (1,), data)[0]


def sentence(template: str, values: tuple[Value, ...]) -> Sentence:
    """Return a sentence, put together again."""
    return Sentence(template, values)


class _Writer(pickle.Pickler):
    def reducer_override(self, value: Any) -> Any:
        """Write arrays without numpy's own functions, which trust what they read, and sentences by their parts."""
        if type(value) is np.ndarray:
            return array, (value.dtype.str, value.shape, value.tobytes())
        if isinstance(value, np.generic):
            return scalar, (value.dtype.str, value.tobytes())
        if type(value) is Sentence:
            return sentence, (value.template, value.values)
        return NotImplemented


class _Reader(pickle.Unpickler):
    _spoken = 0

    def find_class(self, module: str, name: str) -> Any:
        """Return the class of a plain value; raises MessageError for anything else."""
        if (module, name) == (__name__, "sentence"):
            return self._sentence
        if (module, name) in _OTHERS:
            return super().find_class(module, name)
        if module.startswith(_MODULES) and name.isidentifier():
            found = super().find_class(module, name)
            plain = isinstance(found, type) and (is_dataclass(found) or issubclass(found, _PLAIN))
            if plain and found.__module__ == module:
                return found
        raise MessageError(
            say("A message of the engine's process names {0}.{1}, which no plain value is made of.", module, name),
            remedy=say("The process was ended. Do not use its results: the file that was open may have taken it over."),
        )

    def _sentence(self, template: str, values: tuple[Value, ...]) -> Sentence:
        """Return a sentence as :func:`sentence` does, unless the message has too much of it."""
        longest = max((len(value) if isinstance(value, str) else MAX_NUMBER for value in values), default=0)
        self._spoken += len(template) + template.count("{") * longest
        if self._spoken > MAX_SPOKEN:
            raise MessageError(say("A message of the engine's process holds sentences that are too long."))
        return sentence(template, values)

    def persistent_load(self, _pid: Any) -> NoReturn:
        """Refuse references to anything outside of the message."""
        raise MessageError(say("A message of the engine's process points outside of itself."))
