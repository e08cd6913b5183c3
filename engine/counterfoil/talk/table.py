"""The programs of Counterfoil that speak: one table of the processes, what each may be asked, and what it reaches."""

from __future__ import annotations

from dataclasses import dataclass, replace
from enum import Enum
from importlib import import_module
from typing import Any, cast

from counterfoil.talk.port import Port

MOST_BYTES = 2**31
"""Of a message with what is said of a run: the overview of ten million steps has 240 MB."""
MOST_STATEMENT = 48 * 2**20
"""Bytes of a statement that is signed: a verdict has kilobytes; in base64 this fits into what a reader of verdicts
takes."""


class Reach(Enum):
    """Which files a process reads or writes, beside the installation."""

    NONE = "none"
    GIVEN = "those that a call names"
    SHARED = "one folder that both sides share"
    ANY = "any"


@dataclass(frozen=True)
class Program:
    """A process that speaks."""

    name: str  #: What it is called here.
    module: str  #: Whose ``main`` it is.
    port: str  #: What it may be asked: module and name of a :class:`Port`.
    asks: tuple[str, ...] = ()  #: What it may ask meanwhile of whoever started it: the same.
    reads: Reach = Reach.NONE
    writes: Reach = Reach.NONE
    boxed: bool = False  #: Whether it closes a box around itself before it reads what strangers made.
    loads_first: bool = False  #: Whether it loads what computes before it closes the box.
    secret: bool = False  #: Whether it is given a passphrase: only sentences of ours leave it.
    hears: int = MOST_BYTES  #: Most bytes of a message to it.
    says: int = MOST_BYTES  #: Most bytes of a message of it.
    heeds: float | None = None  #: Seconds in which it must end a call that is stopped; None where it may take its time.
    farewell: float = 2.0  #: Seconds that it may take to end by itself, when nobody asks it any more.

    @property
    def environment(self) -> dict[str, str]:
        """What its environment has more than that of any process of ours."""
        # Else numpy starts threads when it is loaded, and a box binds none that were there before.
        return {"OPENBLAS_NUM_THREADS": "1"} if self.loads_first else {}

    def open_port(self) -> Port[Any]:
        """Return what it may be asked."""
        return _port(self.port)

    def open_asks(self) -> tuple[Port[Any], ...]:
        """Return what it may ask."""
        return tuple(map(_port, self.asks))


def _port(place: str) -> Port[Any]:
    module, _, name = place.partition(":")
    return cast("Port[Any]", getattr(import_module(module), name))


_OUTSIDE = "counterfoil.audit.boxed.answers:QUESTIONS"
_SIGNING = "counterfoil.talk.line:SIGNING"
REPLAY = Program(
    "replay", "counterfoil.audit.boxed.inside", "counterfoil.audit.boxed.tasks:TASKS", (_OUTSIDE,),
    reads=Reach.GIVEN, writes=Reach.SHARED, boxed=True, loads_first=True,
)  # fmt: skip
LOOKUP = replace(REPLAY, name="lookup", module="counterfoil.audit.boxed.lookup", loads_first=False)
WORKER = Program(
    "worker", "counterfoil.audit.parts.worker", "counterfoil.audit.parts.worker:WORK",
    reads=Reach.GIVEN, boxed=True, loads_first=True, says=2**30,
)  # fmt: skip
ORDER = Program(
    "order", "counterfoil.cli.orderprogram", "counterfoil.cli.orderprocess:ORDERS",
    reads=Reach.ANY, writes=Reach.ANY, hears=2**24, says=2**24, heeds=3.0, farewell=3.0,
)  # fmt: skip
COMMAND = Program(
    "command", "counterfoil.cli.jobprogram", "counterfoil.cli.job:COMMANDS",
    reads=Reach.GIVEN, writes=Reach.GIVEN, boxed=True, secret=True, hears=2**20, says=2**24, heeds=0.0,
)  # fmt: skip
SECOND_LOOK = Program(
    "second look", "counterfoil.training.secondlook", "counterfoil.training.secondlook:DRAFTS",
    reads=Reach.ANY, writes=Reach.ANY, hears=2**24,
)  # fmt: skip
PLAIN_RUN = Program(
    "plain run", "counterfoil.training.following.plainrun", "counterfoil.training.following.plainrun:PLAIN",
    ("counterfoil.training.following.plainrun:READER",), reads=Reach.ANY, writes=Reach.ANY,
)  # fmt: skip
ENGINE = Program(
    "engine", "counterfoil_app.engine.child", "counterfoil_app.engine.port:ENGINE", (_OUTSIDE, _SIGNING),
    reads=Reach.GIVEN, writes=Reach.SHARED, boxed=True, loads_first=True,
)  # fmt: skip
BROKER = replace(ENGINE, name="broker", module="counterfoil_app.engine.broker", boxed=False, asks=(_SIGNING,))
COMPILER = Program(
    "compiler", "counterfoil.audit.boxed.kernels", "counterfoil.audit.boxed.compilation:COMPILES", writes=Reach.ANY,
    hears=2**20, says=2**20,
)  # fmt: skip
SIGNER = Program(
    "signer", "counterfoil.signer.server", "counterfoil.signer.server:SIGNER_PORT",
    reads=Reach.GIVEN, writes=Reach.GIVEN, secret=True, hears=MOST_STATEMENT + 2**16, says=2 * MOST_STATEMENT,
    farewell=5.0,
)  # fmt: skip
SEALED = replace(
    SIGNER, name="sealed", module="counterfoil.sealed.server", port="counterfoil.sealed.server:SEALED_PORT",
    hears=2**20, says=2**20, heeds=1.0,
)  # fmt: skip
DELIVERY = Program(
    "delivery", "counterfoil.delivery.modelinbox", "counterfoil.delivery.modelinbox:COMPARES", reads=Reach.GIVEN,
    boxed=True, loads_first=True,
)  # fmt: skip
ADMISSION = Program(
    "admission", "counterfoil.training.admission", "counterfoil.training.admission:ADMITS", reads=Reach.GIVEN,
    boxed=True, hears=2**20, says=2**20,
)  # fmt: skip
MONITOR = Program(
    "monitor", "counterfoil.cli.monitor", "counterfoil.cli.monitor:ASKED", reads=Reach.GIVEN, writes=Reach.GIVEN,
    hears=MOST_STATEMENT + 2**16,
)  # fmt: skip
LOOK_AT_SANDBOX = Program(
    "sandbox", "counterfoil.doctor.boxprobe", "counterfoil.doctor.observations:LOOKS", loads_first=True, hears=2**20,
    says=2**20, heeds=0.0,
)  # fmt: skip
LOOK_AT_KERNELS = replace(LOOK_AT_SANDBOX, name="kernels", module="counterfoil.doctor.probe", writes=Reach.ANY)
LOOK_AT_DISPLAY = replace(LOOK_AT_SANDBOX, name="display", module="counterfoil_app.desktop.display", reads=Reach.ANY)
REPORT = Program(
    "report", "counterfoil_app.verdict.report_process", "counterfoil_app.verdict.report_process:REPORTS",
    reads=Reach.GIVEN, boxed=True, loads_first=True,
)  # fmt: skip
PROGRAMS = (
    REPLAY, LOOKUP, WORKER, DELIVERY, ADMISSION, MONITOR, COMPILER, SIGNER, SEALED, ORDER, COMMAND, SECOND_LOOK,
    PLAIN_RUN, ENGINE, BROKER, REPORT, LOOK_AT_SANDBOX, LOOK_AT_KERNELS, LOOK_AT_DISPLAY,
)  # fmt: skip
"""All of them."""
