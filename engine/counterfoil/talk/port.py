"""Calls of functions in another process: each is declared once, by its signature, and its messages follow from that.

Arguments and results go as :mod:`counterfoil.talk.messages` writes them, and are read by the types that the function
itself names, so that neither side can say anything else.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from inspect import signature
from typing import (
    Annotated,
    Any,
    Concatenate,
    Generic,
    NamedTuple,
    ParamSpec,
    Protocol,
    TypeVar,
    get_args,
    get_origin,
    get_type_hints,
)

from msgspec import Meta

from counterfoil.talk.failure import Failure
from counterfoil.talk.messages import FormError, decode

Given = TypeVar("Given")
Asked = ParamSpec("Asked")
Brought = TypeVar("Brought")
MOST_MESSAGES = 500
"""Most messages of one delivery: it is read in one go, and holds the reader's interpreter for as long."""
BESIDE = ("cancel", "sign", "tell")
"""Parameters of functions that are in no message: whoever carries one out gives them. ``cancel`` is the token of the
call, ``sign`` has a statement signed by whoever asked, and ``tell`` says a value, as a ``yield`` does."""


@dataclass(frozen=True)
class Call:
    """Asks for a function."""

    number: int  #: Of the call; what a process asks while it carries one out has the number of that.
    name: str  #: The function.
    arguments: object  #: Its arguments, in the order of its parameters.


@dataclass(frozen=True)
class Steer:
    """Asks a call that runs to stop or to wait; ignored when that call is over."""

    number: int  #: Of the call.
    cancelled: bool  #: Stop for good.
    paused: bool  #: Wait.


@dataclass(frozen=True)
class Item:
    """A value that a function yielded."""

    number: int
    value: object


@dataclass(frozen=True)
class Returned:
    """The end of a call, with what it returned; None for one that yields."""

    number: int
    value: object


@dataclass(frozen=True)
class Raised:
    """The end of a call that failed."""

    number: int
    failure: Failure


@dataclass(frozen=True)
class Enclosure:
    """The first message to a process in a box: what the box lets through."""

    reads: tuple[str, ...] = ()  #: Files, and folders with all that is in them.
    lists: tuple[str, ...] = ()  #: Folders whose names are read, and not their files.
    scratch: str = ""  #: The one folder that it writes to; empty for none.
    open: str = ""  #: Why there is to be no box; empty where there is one.

    def lets(self, other: Enclosure) -> bool:
        """Whether a process in this box can do what another box is needed for."""
        return self.open == other.open and set(other.reads) <= set(self.reads) and set(other.lists) <= set(self.lists)


Question = Call | Steer | Returned | Raised
"""What a process is told: the last two answer what it asks itself."""
Answer = Item | Returned | Raised | Call
"""What a process says."""
Delivery = Annotated[tuple[Answer, ...], Meta(max_length=MOST_MESSAGES)]
"""In which form it does."""


class Form(NamedTuple):
    """What goes to a function and comes back from it."""

    arguments: Any  #: The type of its arguments, a tuple.
    brings: Any  #: The type of what it returns, or of what it yields.
    yields: bool  #: Whether it is an iterator that it returns.


@cache
def form_of(function: Callable[..., Any], *given: str) -> Form:
    """Return what goes to a function and comes back from it, as its signature says.

    Args:
        function: All its parameters have types, but ``self``.
        given: The parameters that whoever carries it out gives; they are in no message.
    """
    hints = get_type_hints(function, include_extras=True)
    for name in given:
        hints.pop(name, None)
    brings = hints.pop("return")
    yields = get_origin(brings) is Iterator
    return Form(tuple[tuple(hints.values())], get_args(brings)[0] if yields else brings, yields)  # type: ignore[misc]


class Port(Generic[Given]):
    """The functions that another process may call, and no others.

    Args:
        functions: They; :meth:`offer` adds more. The first parameter of each is given by the side that carries it out.
        given: The name of that, where it has a type.
    """

    def __init__(self, *functions: Callable[..., Any], given: str = "self") -> None:
        self._functions = {function.__name__: function for function in functions}
        self._given = given

    @property
    def functions(self) -> tuple[Callable[..., Any], ...]:
        """They."""
        return tuple(self._functions.values())

    @property
    def names(self) -> tuple[str, ...]:
        """The names of the functions."""
        return tuple(self._functions)

    def offer(self, function: Callable[..., Any]) -> None:
        """Let a function be called."""
        self._functions[function.__name__] = function

    def form(self, name: str) -> Form:
        """Return what goes to a function and comes back; raises FormError for one that is not to be called."""
        function = self._functions.get(name)
        if function is None:
            raise FormError("a call of something that is not to be called")
        return form_of(function, self._given, *BESIDE)

    def call(
        self, function: Callable[..., Any], arguments: tuple[Any, ...], named: Mapping[str, Any], number: int = 1
    ) -> Call:
        """Return the message that asks for one of them, with its arguments but the first."""
        bound = signature(function).bind_partial(None, *arguments, **named)
        bound.apply_defaults()
        missing = [name for name in signature(function).parameters if name not in (*bound.arguments, *BESIDE)]
        if missing:
            raise TypeError(f"{function.__name__} needs {', '.join(missing)}")
        _, *given = (value for name, value in bound.arguments.items() if name not in BESIDE)
        return Call(number, function.__name__, tuple(tuple(each) if isinstance(each, list) else each for each in given))

    def read(self, call: Call) -> Callable[..., Any]:
        """Return what carries a call out, once it is given the first parameter, and those of :data:`BESIDE`.

        Raises:
            FormError: None of them is asked for, or its arguments are of other types.
        """
        arguments = decode(call.arguments, self.form(call.name).arguments)
        function = self._functions[call.name]
        wanted = [name for name in BESIDE if name in signature(function).parameters]

        def carry_out(given: Given, **beside: Any) -> Any:
            return function(given, *arguments, **{name: beside[name] for name in wanted})

        return carry_out


class Link(Protocol):
    """Where a process asks: a :class:`counterfoil.talk.line.Line`, among others."""

    def ask(
        self,
        port: Port[Any],
        question: Callable[Concatenate[Any, Asked], Brought],
        *arguments: Asked.args,
        **named: Asked.kwargs,
    ) -> Brought:
        """Ask, and return what is answered; raises the CounterfoilError with which it was refused."""
