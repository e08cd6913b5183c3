"""The engine on another machine, reached by ssh: the window and the keys stay here.

What is said goes through the pipes of one ``ssh`` process, the same messages as to a process on this machine. ssh is
asked for nothing but that: it never asks anybody anything, and what it is told holds no text but a host, a user and a
port that were looked at.
"""

from __future__ import annotations

import os
import re
import shutil
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Concatenate, ParamSpec, TypeVar

from counterfoil import AuditReport, CancelToken, CounterfoilError, FileUse, TrustStore, __version__
from counterfoil.base.wholefiles import whole_file
from counterfoil.talk import table
from counterfoil.talk.failure import Failure
from counterfoil.talk.process import Process, Start
from counterfoil.talk.programs import program_environment
from counterfoil_app.engine.incoming import Incoming
from counterfoil_app.engine.port import TRAITS, VerdictReading
from counterfoil_app.engine.process import EngineWords, ProcessEngine
from counterfoil_core.base.sentence import say

SCHEME = "ssh://"
COMMAND = "counterfoil gui --engine-process"
"""What is started there; a text of ours, which the shell of that machine reads."""
OPTIONS = (
    "BatchMode=yes", "ClearAllForwardings=yes", "ForwardAgent=no", "ForwardX11=no", "PermitLocalCommand=no",
    "RequestTTY=no", "ServerAliveInterval=15", "ServerAliveCountMax=4", "ConnectTimeout=15",
)  # fmt: skip
_PLACE = re.compile(
    r"(?:(?P<user>[A-Za-z_][A-Za-z0-9_.-]{0,63})@)?"
    r"(?P<host>[A-Za-z0-9](?:[A-Za-z0-9._-]{0,251}[A-Za-z0-9])?|\[[0-9A-Fa-f:.]{2,45}\])"
    r"(?::(?P<port>[0-9]{1,5}))?/?"
)
P = ParamSpec("P")
T = TypeVar("T")
HERE = (
    FileUse.PUBLIC_KEY, FileUse.PRIVATE_KEY, FileUse.VERDICT, FileUse.STATEMENT, FileUse.REVOCATIONS, FileUse.WITNESS,
    FileUse.SIGNED, FileUse.ANSWER,
)  # fmt: skip
"""Kinds of files that are read on this machine: what is signed and what it is signed with."""


@dataclass(frozen=True)
class Elsewhere:
    """Another machine."""

    host: str  #: Its name, or its address.
    user: str = ""  #: Whose account there; empty for what ssh takes.
    port: int | None = None  #: Its port; None for what ssh takes.
    config: Path | None = None  #: The configuration of ssh; None for the user's own.

    @classmethod
    def read(cls, text: str) -> Elsewhere:
        """Read ``ssh://[user@]host[:port]``; raises CounterfoilError for anything else."""
        found = _PLACE.fullmatch(text[len(SCHEME) :]) if text.startswith(SCHEME) else None
        port = None if found is None or found["port"] is None else int(found["port"])
        if found is None or (port is not None and not 0 < port < 2**16):
            raise CounterfoilError(
                say("{0} names no machine.", text),
                remedy=say("Write ssh://host, ssh://user@host or ssh://user@host:port."),
            )
        return cls(found["host"].strip("[]"), found["user"] or "", port)

    @property
    def name(self) -> str:
        """What it is called in the window."""
        return f"{self.user}@{self.host}" if self.user else self.host

    def command(self) -> list[str]:
        """Return the command that starts the engine there; raises CounterfoilError where this machine has no ssh."""
        ssh = shutil.which("ssh")
        if ssh is None or not os.path.isabs(ssh):
            raise CounterfoilError(
                say("This machine has no ssh."), remedy=say("Install it (on Debian: apt-get install openssh-client).")
            )
        options = [part for option in OPTIONS for part in ("-o", option)]
        where = ["-F", str(self.config.absolute())] if self.config is not None else []
        who = ["-l", self.user] if self.user else []
        port = ["-p", str(self.port)] if self.port is not None else []
        return [ssh, "-T", *where, *options, *who, *port, "--", self.host, COMMAND]


class FarEngine(ProcessEngine):
    """Carries out each call on another machine; what is signed, and keys, are read here.

    Args:
        place: That machine.

    Attributes:
        files: Files that the user named as those of that machine.
    """

    def __init__(self, place: Elsewhere, files: set[Path] | None = None) -> None:
        super().__init__()
        self.place = place
        self.files: set[Path] = set() if files is None else files
        self._here = ProcessEngine()

    @property
    def where(self) -> str:
        """The machine that it works on."""
        return self.place.name

    def note_file(self, path: Path) -> None:
        """Know that a path is one of that machine."""
        self.files.add(path)

    def another(self) -> FarEngine:
        """Return an engine on the same machine, with a connection of its own."""
        return FarEngine(self.place, self.files)

    def close(self) -> None:
        """End the connection; a later call makes it again."""
        super().close()
        self._here.close()

    def incoming(self, paths: Sequence[Path], cancel: CancelToken) -> Iterator[Incoming]:
        """Say what files are: those of that machine, and those of this that are read here; raises CancelledError."""
        far, here = list[Path](), list[Path]()
        for path in paths:
            (far if path in self.files or not path.exists() else here).append(path)
        if far:
            yield from super().incoming(far, cancel)
        for told in self._here.incoming(here, cancel) if here else ():
            if told.found is None or told.found.kind in HERE:
                yield told
                continue
            error = CounterfoilError(
                say("{0} lies on this machine, and the engine works on {1}.", told.path, self.place.name),
                remedy=say("Copy it there, and open it by its path there; or start the window without --engine."),
            )
            yield Incoming(told.path, None, Failure.of(error))

    def read_verdict(
        self, path: Path, store: TrustStore, bundle: Path | None, statements: Sequence[Path]
    ) -> VerdictReading:
        """Check a verdict file of this machine; a run that lies elsewhere is not compared with it."""
        near = bundle if bundle is not None and bundle not in self.files and bundle.exists() else None
        return self._here.read_verdict(path, store, near, statements)

    def write_capsule(self, report: AuditReport, path: Path) -> None:
        """Write the dispute capsule of the last audit on this machine; raises CounterfoilError."""
        with whole_file(path, what=say("the dispute capsule")) as file:
            for piece in self.carry_capsule(report, CancelToken()):
                file.write(piece)

    def _carry_out(self, method: Callable[Concatenate[Any, P], T], /, *arguments: P.args, **named: P.kwargs) -> T:
        if TRAITS[method.__name__].here:
            return self._here._carry_out(method, *arguments, **named)
        return super()._carry_out(method, *arguments, **named)

    def _start(self) -> Process:
        start = Start(self.place.command(), program_environment(), keeps_errors=True)
        words = _Words(self.place.name)
        words.process = self._process = Process(table.BROKER, words, start)
        try:
            there = self.version()
        except CounterfoilError:
            self._process.end(now=True)
            raise
        if there != __version__:
            self._process.end(now=True)
            raise CounterfoilError(
                say("On {0} there is Counterfoil {1}, and here {2}.", self.place.name, there, __version__),
                remedy=say("Install the same version on both."),
            )
        return self._process


class _Words(EngineWords):
    def __init__(self, place: str) -> None:
        self._place = place
        self.process: Process | None = None

    def ended(self, code: int) -> CounterfoilError:
        return CounterfoilError(
            say("The connection to the engine on {0} ended ({1}). Nothing was concluded.", self._place, code),
            remedy=say(
                "Look whether ssh reaches that machine without a password, and finds the command counterfoil there."
            ),
            detail="" if self.process is None else self.process.errors,
        )
