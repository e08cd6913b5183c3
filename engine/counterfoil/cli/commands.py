"""The commands, what each is for, and where it is: a module is loaded when its command is called.

So ``counterfoil --help``, and a command that needs little, do not wait for what the others need. What is said here of a
command is the first paragraph of what it says itself; a test compares them.
"""

from __future__ import annotations

import functools
import importlib
from collections.abc import Callable, Mapping
from contextlib import AbstractContextManager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import typer
import typer.core
import typer.main

if TYPE_CHECKING:
    from counterfoil.cli.places import Given

MOST_COLUMNS = 110
"""No line of help is longer."""


@dataclass(frozen=True)
class Place:
    """Where a command is."""

    where: str  #: Its module, below :mod:`counterfoil.cli`, and its name there: a function, or a group of commands.
    about: str  #: What it is for.
    with_key: bool = False  #: Whether it may need a passphrase.
    writes: str = ""  #: The function of its module that says whether this process writes; empty where it always does.
    open: str = ""  #: Why the process of the command is in no box; empty where it is in one.
    #: The commands of a group that are in one all the same, each with the option of the user's own code that leaves it
    #: open; empty for none.
    boxed: tuple[tuple[str, str], ...] = ()


_REPLAYS = "what a stranger made is read by the process that replays, in a box of its own"
_OWN = "it reads the user's own files"
_CLIENT = "it runs the client's own code"
# In the order in which people meet them.
PLACES: Mapping[str, Place] = {
    "order": Place(
        "orders:order_app",
        "Client: write an order, the file that says exactly what is to be trained.",
        with_key=True,
        open=_CLIENT,
        boxed=(("hf", ""), ("evaluate", "--script")),
    ),
    "sign-order": Place(
        "orders:sign_order", "Client: sign an order, so that a run of it shows who ordered it.", with_key=True
    ),
    "compare": Place(
        "compare:compare",
        "Client or auditor: hold an order against the script that it came from, step by step, and sign what agrees.",
        with_key=True,
        open=_CLIENT,
    ),
    "note": Place(
        "notes:note",
        "Whoever made an order's data: sign a note that says how, for instance which model sampled them.",
        with_key=True,
    ),
    "calibrate": Place(
        "train:calibrate",
        "Client: measure how far other hardware would differ on an order, and set its margins by that.",
    ),
    "train": Place(
        "train:train",
        "Trainer: carry out an order, record every step, and sign the run.",
        with_key=True,
        writes="writes_the_run",
    ),
    "inspect": Place(
        "inspection:inspect", "Anyone: say what is in a bundle, and check what can be checked without replaying it."
    ),
    "facts": Place(
        "facts:facts",
        "Anyone: count what a run shows of itself, operations, rows, parameters, duration, and sign it if asked to.",
        with_key=True,
    ),
    "plan": Place(
        "inspection:plan",
        "Auditor: measure a few steps here, and show what each confidence costs in segments and in time.",
    ),
    "audit": Place(
        "audit:audit",
        "Auditor: replay a run step by step, compare every step with what the trainer signed, and give a verdict.",
        with_key=True,
        open=_REPLAYS,
    ),
    "merge": Place(
        "audit:merge",
        "Auditor: give a verdict on a run that was replayed in parts on your own machines.",
        with_key=True,
        open=_REPLAYS,
    ),
    "follow": Place(
        "follow:follow",
        "Auditor: replay a run while it is recorded, stop at the first lie, and give the verdict when it is finished.",
        with_key=True,
        open=_REPLAYS,
    ),
    "adjudicate": Place(
        "disputes:adjudicate",
        "Anyone: replay the one step of a dispute capsule, and say whether the trainer or the auditor is right.",
        with_key=True,
        open=_REPLAYS,
    ),
    "referee": Place(
        "disputes:referee",
        "Client: two providers ran one order and differ; find the step by binary search, replay it, and say who is "
        "wrong.",
    ),
    "panel": Place(
        "disputes:panel",
        "Client: compare the runs of several providers; one honest one among them exposes the others.",
    ),
    "diff": Place(
        "differences:diff",
        "Anyone: say where two runs first differ: order, step, operator, element. Nobody is judged; no key is needed.",
    ),
    "verify": Place(
        "verification:verify",
        "Anyone: check who signed a statement, compare it with what it is about, and show what it says.",
    ),
    "ledger": Place(
        "ledger:ledger",
        "Client, auditor: sort verdicts by the trainer's key, and propose how much of the next run to replay.",
    ),
    "withdraw": Place(
        "statements:withdraw", "Auditor: take back a verdict, for good or for another one.", with_key=True
    ),
    "reply": Place(
        "statements:reply", "Trainer: answer a verdict on your run, with the key that signed the run.", with_key=True
    ),
    "export": Place(
        "export:export_app",
        "Write a run's weights and curves, or a verdict, in formats that others read.",
        with_key=True,
    ),
    "hand-over": Place(
        "handover:hand_over",
        "Auditor: put a verdict into a folder for others, with its report, its capsule, and how to check each.",
    ),
    "verify-weights": Place(
        "delivery:verify_weights",
        "Client: compare delivered weights, tensor by tensor, with the final state of a verified run.",
    ),
    "rules": Place(
        "rules:rules",
        "Anyone: check whether a run keeps rules: on compute, data, settings, precision, performance, verdicts.",
        with_key=True,
    ),
    "locate": Place(
        "locate:locate",
        "Anyone: say which step of which run holds a hash or a file of weights, or which steps read a row; or none.",
        with_key=True,
    ),
    "ask": Place(
        "answers:ask",
        "Client: write a question for a model, with a number that nobody foresees. Keep it: the answer names it.",
        open=_OWN,
    ),
    "answer-nonce": Place(
        "answers:answer_nonce",
        "Provider: draw a secret number for one answer, and print what binds you to it; the client's question names "
        "that.",
        open=_OWN,
    ),
    "answer": Place(
        "answers:answer",
        "Provider: let a model answer a question, token by token, so that anyone with the model can check each token.",
        with_key=True,
    ),
    "check-answer": Place(
        "answers:check_answer",
        "Anyone: check in one pass whether a model gives each token of an answer, and say which it does not.",
    ),
    "sign": Place(
        "statements:sign",
        "Anyone: sign what lies unsigned in a file, such as a verdict whose audit ended without its signature.",
        with_key=True,
    ),
    "keygen": Place(
        "statements:keygen",
        "Trainer, auditor: make a key to sign with (Ed25519); judge: one that capsules are sealed for.",
        with_key=True,
        open=_OWN,
    ),
    "public-key": Place(
        "statements:public_key",
        "Trainer, auditor, client: write the public half of a key, for instance of one in hardware.",
        with_key=True,
        open=_OWN,
    ),
    "doctor": Place(
        "machine:doctor",
        "Anyone: examine this machine: what is there, what is wrong with it, and the remedy for each.",
        open=_OWN,
    ),
    "trust": Place(
        "trust:trust_app",
        "Keep the keys that you trust, lists of revoked keys, and verdicts that were withdrawn: every command and the "
        "window read them.",
        open=_OWN,
    ),
    "revoke": Place(
        "trust:revoke",
        "Whoever answers for keys: sign a list of those that no longer count.",
        with_key=True,
        open=_OWN,
    ),
    "witness": Place(
        "witness:witness_app",
        "Third party: sign at random times what state a training has, and find each snapshot in a run later.",
        with_key=True,
    ),
    "gui": Place("window:gui", "Auditor: open the window.", open=_OWN),
    "demo": Place("window:demo", "Newcomer: see the whole job on handwritten digits, in about two minutes.", open=_OWN),
}


def group_of_commands(**settings: Any) -> typer.Typer:
    """Return a group of commands, whose help is plain text.

    What draws frames around it takes longer to load than everything else that ``--help`` needs.

    Args:
        settings: Those of ``typer.Typer``.
    """
    return typer.Typer(add_completion=False, pretty_exceptions_enable=False, rich_markup_mode=None, **settings)


class Later(typer.core.TyperCommand):
    """A command that is loaded when it is called.

    Args:
        name: What it is called by.
        place: Where it is.
    """

    def __init__(self, name: str, place: Place) -> None:
        super().__init__(name, help=place.about, rich_markup_mode=None)
        self._place = place

    @property
    def loaded(self) -> Any:
        """The command itself, or the group."""
        return _read(self.name or "", self._place)

    def make_context(self, *given: Any, **named: Any) -> Any:
        """Begin the command itself with its arguments."""
        return self.loaded.make_context(*given, **named)


class Commands(typer.core.TyperGroup):
    """All commands, none of which is loaded before it is called."""

    def __init__(self, **given: Any) -> None:
        super().__init__(**{**given, "commands": {name: Later(name, place) for name, place in PLACES.items()}})

    def format_commands(self, ctx: Any, formatter: Any) -> None:
        """Write what each is for, whole."""
        with formatter.section("Commands"):
            formatter.write_dl([(name, place.about) for name, place in PLACES.items()])


_is_own = False


def own_process() -> None:
    """Say that this process is a command's own, and may close a box around itself: nobody else works in it."""
    global _is_own
    _is_own = True


@functools.cache
def load_command(place: Place) -> Any:
    """Load a command: the function, or the group of functions, each of which compares its paths before it begins."""
    from counterfoil.cli.groups import flat
    from counterfoil.cli.places import claims, guard

    module, _, name = place.where.partition(":")
    home = importlib.import_module(f"counterfoil.cli.{module}")
    found = getattr(home, name)
    closing: Callable[[Given], AbstractContextManager[None]] = claims
    if _is_own:
        from counterfoil.cli.monitor import within as closing
    if not isinstance(found, typer.Typer):
        writes = getattr(home, place.writes) if place.writes else None
        return guard(flat(found), writes, claims if place.open else closing)
    for part in (*found.registered_commands, found.registered_callback):
        if part is not None and part.callback is not None:
            opened_by = dict(place.boxed).get(getattr(part, "name", None) or "") if place.open else ""
            part.callback = guard(flat(part.callback), within=_within(opened_by, claims, closing))
    return found


def _within(
    opened_by: str | None,
    claims: Callable[[Given], AbstractContextManager[None]],
    closing: Callable[[Given], AbstractContextManager[None]],
) -> Callable[[Given], AbstractContextManager[None]]:
    """What a command of a group runs within: a box, unless the option that leaves it open is given; None for never."""
    if opened_by is None:
        return claims
    if not opened_by:
        return closing
    return lambda given: (claims if any(each.parameter == opened_by for each in given.places) else closing)(given)


@functools.cache
def _read(name: str, place: Place) -> Any:
    """Load a command, and read its signature; typer would do it at each call."""
    found = load_command(place)
    if isinstance(found, typer.Typer):
        return typer.main.get_command(found)
    single = group_of_commands()
    single.command(name)(found)
    return typer.main.get_command(single)
