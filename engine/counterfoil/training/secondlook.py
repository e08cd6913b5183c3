"""A second look at what a client's code orders: once more in a process of its own, under another hash seed.

Python scatters the order of a set of names anew in each process. A step that goes through one is another program each
time, and within one process no second capture shows it. So the code that was ordered runs again while the first step is
tried; nothing is written, and of what comes out only the programs are compared.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import asdict, dataclass
from itertools import zip_longest
from typing import Any

from counterfoil.base.raised import theirs, told
from counterfoil.program.recompute import Segments
from counterfoil.talk.programs import hashing_otherwise, program_environment
from counterfoil.training.order import OrderDraft
from counterfoil_core.base.errors import CounterfoilError, ProgramError
from counterfoil_core.base.generators import finish
from counterfoil_core.base.precision import PROFILES
from counterfoil_core.operators.node import Node
from counterfoil_core.program.graph import Program
from counterfoil_core.program.limits import LARGE

_MODULE = "counterfoil.training.secondlook"
REMEDY = (
    "Go through names in an order of their own, for instance sorted(names) in the place of a set, and seed what draws "
    "before the step. --no-second-look orders it as it is now."
)


@dataclass(frozen=True)
class Source:
    """What was ordered.

    Attributes:
        reference: ``module:function``.
        profile: Name of the precision profile; empty where none was named.
        segments: Segments of the forward pass whose activations are recomputed.
        shares: Into how many shares steps are divided; None where the function says.
    """

    reference: str
    profile: str = ""
    segments: Segments | None = None
    shares: int | None = None


class SecondLook:
    """A process that drafts an order once more.

    Args:
        source: What was ordered.
    """

    def __init__(self, source: Source) -> None:
        command, hashing = hashing_otherwise(_MODULE)
        self._process = subprocess.Popen(
            command,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            creationflags=getattr(subprocess, "CREATE_NO_WINDOW", 0),
            env=program_environment(**hashing),
        )
        assert self._process.stdin is not None
        with suppress(OSError):  # where it is gone already, comparing says so
            self._process.stdin.write(json.dumps({"paths": sys.path, "source": asdict(source)}).encode())
            self._process.stdin.close()

    def close(self) -> None:
        """End the process, whatever it does."""
        self._process.kill()
        self._process.wait()
        if self._process.stdout is not None:
            self._process.stdout.close()

    def compare(self, draft: OrderDraft) -> str:
        """Wait for what it drafts, and compare the programs.

        Args:
            draft: The order.

        Returns:
            A note for the client where the second look failed; else nothing.

        Raises:
            ProgramError: A program is another one.
        """
        assert self._process.stdout is not None
        said = self._process.stdout.read()
        try:
            found = json.loads(said)
        except ValueError:
            found = {"failed": f"the process ended with the exit code {self._process.wait()}"}
        if "failed" in found:
            return f"A second look at the code, under another hash seed, came to nothing: {found['failed']}."
        own = draft.all_programs
        digests = {program.digest for program in own}
        for text in found["programs"]:
            other = Program.from_bytes(text.encode(), limits=LARGE)
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


def main() -> int:
    """Be the process: read what was ordered, draft it with nothing shown, and say the programs."""
    request = json.loads(sys.stdin.buffer.read())
    answer = os.dup(1)
    nowhere = os.open(os.devnull, os.O_RDWR)
    for stream in (0, 1, 2):
        os.dup2(nowhere, stream)
    sys.path[:] = request["paths"]
    found = programs_of(Source(**request["source"]))
    with os.fdopen(answer, "wb") as stream_out:
        stream_out.write(json.dumps(found).encode())
    return 0


def programs_of(source: Source) -> dict[str, Any]:
    """Return the programs of what was ordered as text; or why there are none."""
    from counterfoil.training.named import load_job

    try:
        job = load_job(source.reference)
        job = job if source.shares is None else job.divided(source.shares)
        draft = finish(job.drafting(PROFILES.get(source.profile), source.segments))
        return {"programs": [program.to_bytes().decode() for program in draft.all_programs]}
    except CounterfoilError as error:
        return {"failed": error.sentence.rstrip(".")}
    except BaseException as error:
        theirs(error)
        return {"failed": told(error)}
