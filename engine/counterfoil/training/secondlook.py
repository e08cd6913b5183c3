"""A second look at what a client's code orders: once more in a process of its own, under another hash seed.

Python scatters the order of a set of names anew in each process. A step that goes through one is another program each
time, and within one process no second capture shows it. So the code that was ordered runs again while the first step is
tried; nothing is written, and of what comes out only the programs are compared.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import zip_longest

from counterfoil.base.foreignerrors import describe_error, theirs
from counterfoil.program.recompute import Segments
from counterfoil.talk.line import Line
from counterfoil.talk.port import Port
from counterfoil.talk.process import Process, Start, Words
from counterfoil.talk.programs import hashing_otherwise, program_environment
from counterfoil.talk.table import SECOND_LOOK
from counterfoil.training.order import OrderDraft
from counterfoil_core.base.errors import CounterfoilError, DataError, ProgramError
from counterfoil_core.base.generators import finish
from counterfoil_core.base.precision import PROFILES
from counterfoil_core.operators.node import Node
from counterfoil_core.program.graph import Program
from counterfoil_core.program.limits import LARGE

REMEDY = (
    "Go through names in an order of their own, for instance sorted(names) in the place of a set, and seed what draws "
    "before the step. --no-second-look orders it as it is now."
)


@dataclass(frozen=True)
class Source:
    """What was ordered."""

    reference: str  #: ``module:function``.
    profile: str = ""  #: Name of the precision profile; empty where none was named.
    segments: Segments | None = None  #: Segments of the forward pass whose activations are recomputed.
    shares: int | None = None  #: Into how many shares steps are divided; None where the function says.


class _Words(Words):
    def ended(self, code: int) -> CounterfoilError:
        return CounterfoilError(f"the process ended with the exit code {code}")


class SecondLook:
    """A process that drafts an order once more.

    Args:
        source: What was ordered.
    """

    def __init__(self, source: Source) -> None:
        command, hashing = hashing_otherwise(SECOND_LOOK.module)
        self._process = Process(SECOND_LOOK, _Words(), Start(command, program_environment(**hashing)))
        self._said = self._process.ask(DRAFTS, DRAFTS.call(programs_of, (source, tuple(sys.path)), {}))

    def close(self) -> None:
        """End the process, whatever it does."""
        self._process.end(now=True)

    def compare(self, draft: OrderDraft) -> str:
        """Wait for what it drafts, and compare the programs.

        Args:
            draft: The order.

        Returns:
            A note for the client where the second look failed; else nothing.

        Raises:
            ProgramError: A program is another one.
        """
        try:
            (found,) = self._said
        except CounterfoilError as error:
            why = error.sentence.rstrip(".")
            return f"A second look at the code, under another hash seed, came to nothing: {why}."
        own = draft.all_programs
        digests = {program.digest for program in own}
        for data in found:
            other = Program.from_bytes(data, limits=LARGE)
            if other.digest not in digests:
                raise _another(own, other)
        return ""


def begin(source: Source) -> SecondLook | None:
    """Begin a second look; None where a process cannot have another hash seed: a frozen program."""
    return None if getattr(sys, "frozen", False) else SecondLook(source)


def _another(own: Sequence[Program], other: Program) -> ProgramError:
    nearest = min(own, key=lambda program: abs(len(program.nodes) - len(other.nodes)))
    node = first_other_node(nearest, other)
    where = f": it begins to differ at {node.where}" if node is not None else ""
    return ProgramError(
        f"The step is another program in another process, under another hash seed{where}. It hangs on the order of a "
        "set, on the hash of a text, or on what else differs between two processes.",
        remedy=REMEDY,
    )


def first_other_node(one: Program, other: Program) -> Node | None:
    """Return the first operator of a program that another one does not have in its place; None where none differs."""
    for mine, its in zip_longest(one.nodes, other.nodes):
        if mine != its:
            return mine or its
    return None


def programs_of(_process: None, source: Source, paths: tuple[str, ...]) -> tuple[bytes, ...]:
    """Return the programs of what was ordered, whose modules lie in some folders; raises DataError."""
    from counterfoil.training.jobnames import load_job

    sys.path[:] = paths
    try:
        job = load_job(source.reference)
        job = job if source.shares is None else job.divided(source.shares)
        draft = finish(job.drafting(PROFILES.get(source.profile), source.segments))
        return tuple(program.to_bytes() for program in draft.all_programs)
    except CounterfoilError as error:
        raise DataError(error.sentence) from error
    except BaseException as error:
        raise DataError(describe_error(theirs(error))) from error


DRAFTS = Port[None](programs_of, given="_process")
"""What the process may be asked."""


def main() -> None:
    """Be the process: draft what was ordered, with nothing shown."""
    Line(SECOND_LOOK, DRAFTS).serve(None)
