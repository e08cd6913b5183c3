"""Examines this machine: asks each part of it, and makes its page of what was seen."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from importlib.util import find_spec

from counterfoil.doctor.findings import MachinePage, facts_of
from counterfoil.doctor.looking import look_at_system
from counterfoil.doctor.seen import LOOKS, Broken, Loaded, Seen, SelfTest, look
from counterfoil.talk.failure import FaultError
from counterfoil.talk.process import Process, Start, Words
from counterfoil.talk.table import LOOK_AT_DISPLAY, LOOK_AT_KERNELS, LOOK_AT_SANDBOX, Program
from counterfoil_core.base.cancel import CancelToken
from counterfoil_core.base.errors import CancelledError, CounterfoilError
from counterfoil_core.base.sentence import joined, say

FAMILIES = 4
"""How many self-tests there are for a device."""
PROGRAMS = (LOOK_AT_SANDBOX, LOOK_AT_KERNELS, LOOK_AT_DISPLAY)
"""The processes that look at a part each."""
_LAST_LINES = 3


@dataclass(frozen=True)
class MachineProgress:
    """How far the examination is."""

    done: int  #: Parts that were looked at.
    total: int  #: All parts, as far as they are known.
    part: str  #: What it is at, in a few words.


def examine_machine(cancel: CancelToken | None = None) -> Iterator[MachineProgress | MachinePage]:
    """Look at this machine and test it; the last value is its page.

    It works, and says so, where torch, numba or Qt are missing or broken: what may end a process is looked at by
    another.

    Args:
        cancel: Ends it.

    Raises:
        CancelledError: It was cancelled.
    """
    cancel = cancel or CancelToken()
    total, done = 1 + len(PROGRAMS) + FAMILIES, 0
    yield MachineProgress(done, total, say("versions and folders"))
    seen: list[Seen] = [look_at_system()]
    titles = {"sandbox": say("sandbox"), "kernels": say("devices, kernels and self-tests"), "display": say("display")}
    with cancel.looked_at():
        for program in PROGRAMS:
            done += 1
            yield MachineProgress(done, total, titles[program.name])
            for each in _asked(program.name, program, cancel):
                seen.append(each)
                if isinstance(each, Loaded):
                    total += FAMILIES * (len(each.devices) - 1)
                if isinstance(each, SelfTest):
                    done += 1
                    yield MachineProgress(done, total, say("self-test of {0}", each.profile))
    yield MachinePage(facts_of(seen))


class _Words(Words):
    def __init__(self) -> None:
        self.process: Process | None = None

    def unstarted(self, error: OSError) -> CounterfoilError:
        return CounterfoilError(say("no process can be started: {0}", error.strerror or error))

    def ended(self, code: int) -> CounterfoilError:
        last = [] if self.process is None else self.process.errors.splitlines()[-_LAST_LINES:]
        how = say("its process was ended by signal {0}", -code) if code < 0 else say("its process ended with {0}", code)
        return CounterfoilError(joined(how, " ".join(last), between=": "))

    def nonsense(self, error: Exception) -> CounterfoilError:
        return CounterfoilError(str(error))


def _asked(part: str, program: Program, cancel: CancelToken) -> Iterator[Seen]:
    """Yield what a process says of a part; raises CancelledError."""
    if program is LOOK_AT_DISPLAY and find_spec("counterfoil_app") is None:
        yield Broken(part, say("the window is not installed"), missing=True)
        return
    words = _Words()
    try:
        process = words.process = Process(program, words, Start(keeps_errors=True))
        try:
            yield from process.ask(LOOKS, LOOKS.call(look, (), {}), cancel)
        finally:
            process.end(now=True)
    except CancelledError:
        raise
    except CounterfoilError as error:
        yield Broken(part, error.sentence)
    except FaultError as error:
        yield Broken(part, str(error))
