"""One fault: a command runs while a call fails, then runs on without; what it concluded and left is looked at."""

from __future__ import annotations

import errno
import json
import random
import re
import shutil
import time
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from faults.jobs import WORKS, Work, facts
from faults.shim import KINDS
from support.fork_server import Ended, ForkServer

SECONDS = 60.0
"""A command that takes longer hangs; without a fault each takes a few."""
ERRORS: dict[str, tuple[tuple[int, bool, bool], ...]] = {
    # Error number, half of what was asked instead of an error, every later call too.
    "open": ((errno.EIO, False, False), (errno.EMFILE, False, True), (errno.EACCES, False, False)),
    "read": ((errno.EIO, False, False), (errno.EIO, False, True), (errno.EINTR, False, False), (0, True, False)),
    "write": (
        (errno.ENOSPC, False, True),
        (errno.EIO, False, False),
        (errno.EINTR, False, False),
        (0, True, False),
    ),
    "sync": ((errno.EIO, False, False), (errno.ENOSPC, False, True)),
    "rename": ((errno.EIO, False, False), (errno.ENOSPC, False, True)),
    "link": ((errno.EIO, False, False), (errno.ENOSPC, False, True), (errno.EPERM, False, True)),
    "unlink": ((errno.EIO, False, False),),
    "truncate": ((errno.ENOSPC, False, True),),
    "mkdir": ((errno.ENOSPC, False, True),),
    "map": ((errno.ENOMEM, False, False),),
    "allocate": ((errno.ENOMEM, False, False),),
    "allocate much": ((errno.ENOMEM, False, False), (errno.ENOMEM, False, True)),
}
_OUTCOMES = {0: "VERIFIED", 1: "DISPUTED", 2: "INCONCLUSIVE", 4: "ERROR"}
STOPPED, ERROR, CRASHED = 2, 4, 99
_PART = re.compile(r"\..*\.[0-9a-f]{16}\.part")


@dataclass(frozen=True)
class Fault:
    """A call that fails: so manieth of its kind, with an error or by half, once or from there on."""

    work: str
    kind: str
    call: int
    number: int
    half: bool = False
    lasting: bool = False
    children: bool = False

    @property
    def what(self) -> str:
        """The fault in words, as the table names it."""
        error = "half of it" if self.half else errno.errorcode[self.number]
        place = " of the signer" if self.children else ""
        return f"{self.kind}{place}: {error}{', from then on' if self.lasting else ''}"


@dataclass(frozen=True)
class Tried:
    """What became of it.

    Attributes:
        fault: The fault.
        ended: ``right``, ``INCONCLUSIVE``, ``ERROR``, or ``stopped`` for a process that was ended by a signal.
        failed: Calls that failed; 0 where the command ended before; -1 where nobody could count.
        wrong: What should not be, as sentences; empty where all is well.
        said: What the command said.
        seconds: How long it all took.
    """

    fault: Fault
    ended: str
    failed: int
    wrong: tuple[str, ...]
    said: str
    seconds: float

    @property
    def line(self) -> str:
        """As it is kept, and read by :meth:`of`."""
        return json.dumps(asdict(self))

    @classmethod
    def of(cls, line: str) -> Tried:
        """Read a line."""
        found = json.loads(line)
        return cls(**{**found, "fault": Fault(**found["fault"]), "wrong": tuple(found["wrong"])})


class Campaign:
    """Tries faults, one at a time.

    Args:
        folder: A folder for everything, with the files of ``jobs.prepare`` in ``files``.
        server: With the library preloaded.
    """

    def __init__(self, folder: Path, server: ForkServer) -> None:
        self._folder, self._server = folder, server
        self._number = 0
        self.counts: dict[str, dict[str, int]] = {}
        self._truth: dict[str, dict[str, Any]] = {}
        for work in WORKS:
            self._measure(work)

    def faults(self, wanted: int, seed: int) -> list[Fault]:
        """So many different faults, spread over commands and kinds of calls alike."""
        draws = [self._draws(work, random.Random(f"{seed} {work.name}")) for work in WORKS]
        found: dict[Fault, None] = {}
        while len(found) < wanted:
            for each in draws:
                found[next(each)] = None
        return list(found)[:wanted]

    def try_one(self, fault: Fault) -> Tried:
        """Run the command with the fault, and again without; look at what it left each time."""
        work = next(work for work in WORKS if work.name == fault.work)
        begun = time.monotonic()
        place = self._place(work)
        ended, failed = self._run(work, place, fault)
        wrong = list(self._look(work, place, ended, fault))
        if ended.code != work.code:
            # What was written, and could not be said to be safe on the disk, is in the way of what does not go on.
            there = any((place / name).exists() for name in work.outputs)
            more = work.resume or (("--force",) if there and work.name != "keygen" else ())
            again, _ = self._run(work, place, None, *more)
            unnoted = fault.kind.startswith("allocate") or fault.lasting
            if again.code == ERROR and "exists already" in again.said and unnoted:
                # No memory or disk was left to take note of what was written, so a person has to say that it may go.
                again, _ = self._run(work, place, None, *more, "--force")
            wrong += [f"afterwards: {each}" for each in self._finished(work, place, again)]
        shutil.rmtree(place)
        word = "right" if ended.code == work.code else _OUTCOMES.get(ended.code or 0, "wrong")
        if ended.code is None:
            word = "stopped"
        return Tried(fault, word, failed, tuple(wrong), ended.said[-2000:], round(time.monotonic() - begun, 2))

    def _measure(self, work: Work) -> None:
        place = self._place(work)
        ended, _ = self._run(work, place, Fault(work.name, "", 0, 0))
        assert ended.code == work.code, f"{work.name}: {ended.code}\n{ended.said}"
        self.counts[work.name] = json.loads((place.parent / f"{place.name}.counts").read_text())
        self._truth[work.name] = {name: facts(place / name) for name in work.outputs}
        shutil.rmtree(place)

    def _draws(self, work: Work, chosen: random.Random) -> Iterator[Fault]:
        kinds = [kind for kind in KINDS if self.counts[work.name][kind]]
        while True:
            kind = chosen.choice(kinds)
            number, half, lasting = chosen.choice(ERRORS[kind])
            children = work.signs and kind in ("open", "read", "allocate", "allocate much") and chosen.random() < 0.2
            calls = self.counts[work.name][kind]
            if children:  # nobody counted there: it reads a key
                calls = 5_000 if kind == "allocate" else 300 if kind == "allocate much" else 12
            yield Fault(work.name, kind, chosen.randint(1, calls), number, half, lasting, children)

    def _place(self, work: Work) -> Path:
        self._number += 1
        place = self._folder / f"try-{self._number}"
        place.mkdir()
        for name in work.inputs:
            shutil.copy(self._folder / "files" / name, place / name)
        return place

    def _run(self, work: Work, place: Path, fault: Fault | None, *more: str) -> tuple[Ended, int]:
        threads = ("--threads", "1") if work.arguments[0] in ("train", "audit", "merge", "adjudicate") else ()
        report = place.parent / f"{place.name}.counts"
        report.unlink(missing_ok=True)
        armed = fault or Fault(work.name, "", 0, 0)
        what = {**asdict(armed), "folder": str(place), "report": str(report)}
        ended = self._server.run(*work.arguments, *threads, *more, fault=what, kill_after=SECONDS)
        failed = json.loads(report.read_text())["failed"] if report.exists() else -1
        return ended, failed

    def _look(self, work: Work, place: Path, ended: Ended, fault: Fault) -> Iterator[str]:
        """What should not be after a command in which a call failed."""
        if ended.code not in (work.code, STOPPED, ERROR, None):
            yield f"it ended with {ended.code}"
        # A thread of Python's that cannot begin for want of memory lets its starter wait for ever (CPython 140746).
        if ended.seconds > SECONDS and not fault.kind.startswith("allocate"):
            yield "it hung"
        if "This is a bug" in ended.said:
            yield "it says that it is a bug"
        for name in work.outputs:
            path = place / name
            if not path.exists():
                if ended.code == work.code:
                    yield f"{name} is missing"
                continue
            try:
                found = facts(path)
            except Exception as error:
                yield f"{name} is not whole: {error!r}"
                continue
            allowed = (self._truth[work.name][name],)
            if name == "verdict.json":
                allowed += tuple(_OUTCOMES[code] for code in (STOPPED, ERROR) if code == ended.code)
            if found not in allowed and name != "steps.csv":
                yield f"{name} says {found}"
        if ended.code is not None and fault.kind != "unlink":
            for path in place.rglob(".*"):
                if _PART.fullmatch(path.name):
                    yield f"{path.name} was left behind"

    def _finished(self, work: Work, place: Path, ended: Ended) -> Iterator[str]:
        """What should not be after the command was run once more, with nothing that fails."""
        if ended.code != work.code:
            yield f"it ended with {ended.code}: {ended.said[-500:]}"
            return
        for name, truth in self._truth[work.name].items():
            found = facts(place / name)
            if found != truth:
                yield f"{name} says {found}"
