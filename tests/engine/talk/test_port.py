"""Calls of functions in another process: what may be called, and with what, is what the signatures say."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from counterfoil.talk.messages import FormError, decode, encode
from counterfoil.talk.port import Call, Form, Port, form_of


class Till:
    def __init__(self) -> None:
        self.held = 0

    def pay(self, amount: int, note: str) -> str:
        self.held += amount
        return f"{note}: {self.held}"

    def coins(self, least: int) -> Iterator[int]:
        yield from (coin for coin in (1, 5, 10) if coin >= least)

    def empty(self) -> None:
        self.held = 0


PORT = Port[Till](Till.pay, Till.coins)


def heard(call: Call) -> Call:
    return decode(encode(call), Call)


def test_a_call_is_carried_out_with_its_arguments() -> None:
    till = Till()
    assert PORT.read(heard(PORT.call(Till.pay, (3,), {"note": "tea"})))(till) == "tea: 3"
    assert list(PORT.read(heard(PORT.call(Till.coins, (5,), {})))(till)) == [5, 10]


def test_the_signature_says_what_goes_and_comes() -> None:
    assert form_of(Till.pay) == Form(tuple[int, str], str, False)
    assert form_of(Till.coins) == Form(tuple[int], int, True)
    assert form_of(Till.pay, "note") == Form(tuple[int], str, False)
    assert form_of(Till.empty).arguments == tuple[()]
    assert decode(encode(None), form_of(Till.empty).brings) is None


@pytest.mark.parametrize("name", ["empty", "__init__", "held", ""])
def test_nothing_else_is_called(name: str) -> None:
    with pytest.raises(FormError, match="not to be called"):
        PORT.read(heard(Call(1, name, ())))


@pytest.mark.parametrize(
    "arguments", [(), (1,), (1, 2), ("1", "tea"), (1, "tea", 2), {"amount": 1, "note": "tea"}, None]
)
def test_arguments_have_their_types(arguments: object) -> None:
    with pytest.raises(FormError):
        PORT.read(heard(Call(1, "pay", arguments)))


def test_a_call_that_no_function_takes_is_a_bug() -> None:
    with pytest.raises(TypeError):
        PORT.call(Till.pay, (1, "tea", 3), {})
