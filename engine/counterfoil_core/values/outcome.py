"""The five outcomes of an audit, and the numbered checks that lead to one.

The numbers are the same in code, in the window, in the command line and in the signed verdict.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum, IntEnum
from typing import Literal

from counterfoil_core.base.sentence import say

OrderSource = Literal["client", "signature", "bundle"]
"""How it is known whose order a file holds: compared with the client's own file; signed with the client's key that the
auditor gave; or not at all, taken from the file itself."""


class Outcome(Enum):
    """What an audit concludes. "Could not check" is never "wrong"."""

    VERIFIED = "VERIFIED"
    """Every step was replayed and every Merkle leaf came out equal."""
    DISPUTED = "DISPUTED"
    """A step was replayed and came out different from what the trainer committed to."""
    INCONCLUSIVE = "INCONCLUSIVE"
    """The replay was cancelled or partial, or this machine's own arithmetic lies outside the margin."""
    REFUSED = "REFUSED"
    """The bundle is unreadable, unsupported, or not the ordered job; nothing was concluded about the training."""
    ERROR = "ERROR"
    """Counterfoil itself failed."""

    @property
    def exit_code(self) -> int:
        """The exit code of the command line: 0 VERIFIED, 1 DISPUTED, 2 INCONCLUSIVE, 3 REFUSED, 4 ERROR."""
        return list(Outcome).index(self)


class CheckNumber(IntEnum):
    """The checks of an audit, in the order in which they run."""

    FORMAT = 1
    ORDER = 2
    ORDER_CONTENTS = 3
    PROGRAM = 4
    SIGNATURE = 5
    COMMITMENTS = 6
    SELF_TEST = 7
    REPLAY = 8
    LOG = 9
    COVERAGE = 10

    @property
    def title(self) -> str:
        """What the check asks, in a few words."""
        return _TITLES[self]


_TITLES = {
    CheckNumber.FORMAT: say("The file is a well-formed bundle"),
    CheckNumber.ORDER: say("The run was made for this order"),
    CheckNumber.ORDER_CONTENTS: say("Program, data, schedule and initial state match the order"),
    CheckNumber.PROGRAM: say("Every operator of the program is supported"),
    CheckNumber.SIGNATURE: say("The trainer's signature holds"),
    CheckNumber.COMMITMENTS: say("The recorded steps match the signed run root"),
    CheckNumber.SELF_TEST: say("This machine computes as it should"),
    CheckNumber.REPLAY: say("Every replayed step has the trainer's Merkle leaf"),
    CheckNumber.LOG: say("The rounding log is honest"),
    CheckNumber.COVERAGE: say("Every step was replayed"),
}


class CheckState(Enum):
    """Where a check stands."""

    PENDING = "pending"
    RUNNING = "running"
    PASSED = "passed"
    FAILED = "failed"
    WARNING = "warning"
    """Done, with something the reader must know: for instance that the order came from the bundle itself."""
    SKIPPED = "skipped"
    """Not reached, because an earlier check ended the audit."""


@dataclass(frozen=True)
class Check:
    """One numbered check and its state."""

    number: CheckNumber  #: Which check.
    state: CheckState  #: Where it stands.
    detail: str = ""  #: A plain sentence on what was found; may be empty while pending.


def without_log() -> Check:
    """Check 9 under an exact profile, after the replay."""
    return Check(
        CheckNumber.LOG,
        CheckState.PASSED,
        say("There is no rounding log: under an exact profile every result is defined by mathematics."),
    )
