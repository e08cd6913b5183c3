"""What window and engine's process say to each other.

That process computes for strangers. Should one of them take it over, its messages must not take over the window, where
passphrases are typed: they are bytes that :mod:`counterfoil.talk.messages` reads. What a call brings is read by the
type that the :class:`Engine` promises of that very call.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from typing import Annotated

from msgspec import Meta

from counterfoil import CounterfoilError
from counterfoil.talk.port import Form, form_of
from counterfoil_app.engine.port import Engine
from counterfoil_app.engine.worker import Failure
from counterfoil_core.base.sentence import say

MAX_SIGNED = 2**26
"""Longest statement that is signed, with its envelope."""
MAX_BYTES = 2**31
"""Longest message; the overview of ten million steps has 240 MB."""
MOST_MESSAGES = 500
"""Most messages of one delivery: it is read in one go, and holds the window's interpreter for as long."""


@dataclass(frozen=True)
class Call:
    """Asks for a method of the engine.

    Attributes:
        number: Number of the call; what it brings carries it too.
        method: Name of the method.
        arguments: Its arguments, without a cancel token.
    """

    number: int
    method: str
    arguments: object


@dataclass(frozen=True)
class Steer:
    """Asks a call that runs to stop or to wait; ignored when that call is over.

    Attributes:
        number: Number of the call.
        cancelled: Stop for good.
        paused: Wait.
    """

    number: int
    cancelled: bool
    paused: bool


@dataclass(frozen=True)
class Item:
    """A value that an iterating call yielded."""

    number: int
    value: object


@dataclass(frozen=True)
class Returned:
    """The end of a call, with its result; None for an iterating one."""

    number: int
    value: object


@dataclass(frozen=True)
class Raised:
    """The end of a call that failed."""

    number: int
    failure: Failure


@dataclass(frozen=True)
class Signed:
    """What a call asked to have signed.

    Attributes:
        number: Number of the call.
        envelope: The signed statement.
    """

    number: int
    envelope: Annotated[bytes, Meta(max_length=MAX_SIGNED)]


Question = Call | Steer | Signed
"""What the window says."""
Answer = Item | Returned | Raised
"""What the engine's process says."""
Delivery = Annotated[tuple[Answer, ...], Meta(max_length=MOST_MESSAGES)]
"""In which form it does."""


CALLS = (
    "adjudicate", "audit", "audit_followed", "capsule_subject", "carry_capsule", "check_rules", "client_order",
    "compare_bundles", "compare_providers", "devices", "disputed_rows", "examine", "facts_as_json", "find", "follow",
    "hand_over_run", "handed_out", "has_begun", "inspect", "kept", "list_folder", "locate", "make_sample",
    "operator_look", "outline", "plan", "preview", "preview_data", "read_key", "read_ledger", "read_revocations",
    "read_verdict", "recognise", "record_run", "run_facts", "tensor_sides", "verify_weights", "version",
    "write_capsule",
)  # fmt: skip
"""The methods that the engine's process carries out."""
SIGNING = ("record_run",)
"""Those that have statements signed meanwhile, by the window's signer."""


@cache
def methods() -> Mapping[str, Form]:
    """Return what the engine's process can be asked for, by name, as the port says it: what yields can be cancelled."""
    return {name: form_of(getattr(Engine, name), "cancel", "sign") for name in CALLS}


class MessageError(CounterfoilError):
    """A message is none that the engine's process sends."""

    def __init__(self, error: Exception) -> None:
        super().__init__(
            say("A message of the engine's process cannot be read."),
            remedy=say("The process was ended. Do not use its results: the file that was open may have taken it over."),
            detail=str(error),
        )
