"""Calls of functions in another process: each is declared once, by its signature, and its messages follow from that.

Arguments and results go as :mod:`counterfoil.talk.messages` writes them, and are read by the types that the function
itself names, so that neither side can say anything else.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from inspect import signature
from typing import Any, Generic, NamedTuple, TypeVar, get_args, get_origin, get_type_hints

from counterfoil.talk.messages import FormError, decode

Given = TypeVar("Given")


@dataclass(frozen=True)
class Call:
    """Asks for a function.

    Attributes:
        name: Its name.
        arguments: Its arguments, in the order of its parameters.
    """

    name: str
    arguments: object


class Form(NamedTuple):
    """What goes to a function and comes back from it.

    Attributes:
        arguments: The type of its arguments, a tuple.
        brings: The type of what it returns, or of what it yields.
        yields: Whether it is an iterator that it returns.
    """

    arguments: Any
    brings: Any
    yields: bool


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
        functions: They. The first parameter is given by the side that carries them out.
        given: Its name.
    """

    def __init__(self, *functions: Callable[..., Any], given: str = "self") -> None:
        self._functions = {function.__name__: function for function in functions}
        self._given = given

    def call(self, function: Callable[..., Any], arguments: tuple[Any, ...], named: Mapping[str, Any]) -> Call:
        """Return the message that asks for one of them, with its arguments but the first."""
        return Call(function.__name__, signature(function).bind(None, *arguments, **named).args[1:])

    def brings(self, function: Callable[..., Any]) -> Any:
        """Return the type of what one of them returns or yields."""
        return form_of(function, self._given).brings

    def read(self, call: Call) -> Callable[[Given], Any]:
        """Return what carries a call out, once it is given the first parameter.

        Raises:
            FormError: None of them is asked for, or its arguments are of other types.
        """
        function = self._functions.get(call.name)
        if function is None:
            raise FormError("a call of something that is not to be called")
        arguments = decode(call.arguments, form_of(function, self._given).arguments)
        return lambda given: function(given, *arguments)
