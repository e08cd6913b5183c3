"""The engine on another machine, reached by ssh: the window and the keys stay here.

What is said goes through the pipes of one ``ssh`` process, the same messages as to a process on this machine. ssh is
asked for nothing but that: it never asks anybody anything, and what it is told holds no text but a host, a user and a
port that were looked at.
"""

from __future__ import annotations

import os
import re
import shutil
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from counterfoil import (
    AuditReport,
    CancelToken,
    CounterfoilError,
    DataPreview,
    FileUse,
    Ledger,
    LedgerProgress,
    Recognised,
    __version__,
)
from counterfoil.audit.values.handed import HandedOut
from counterfoil.base.wholefiles import whole_file
from counterfoil.talk.programs import program_environment
from counterfoil_app.engine.link import Link
from counterfoil_app.engine.messages import MAX_BYTES
from counterfoil_app.engine.port import LedgerRequest, ReadRevocations, VerdictReading
from counterfoil_app.engine.process import ProcessEngine
from counterfoil_core.base.sentence import say

SCHEME = "ssh://"
COMMAND = "counterfoil gui --engine-process"
"""What is started there; a text of ours, which the shell of that machine reads."""
OPTIONS = (
    "BatchMode=yes", "ClearAllForwardings=yes", "PermitLocalCommand=no", "RequestTTY=no", "ServerAliveInterval=15",
    "ServerAliveCountMax=4", "ConnectTimeout=15",
)  # fmt: skip
_PLACE = re.compile(
    r"(?:(?P<user>[A-Za-z_][A-Za-z0-9_.-]{0,63})@)?"
    r"(?P<host>[A-Za-z0-9](?:[A-Za-z0-9._-]{0,251}[A-Za-z0-9])?|\[[0-9A-Fa-f:.]{2,45}\])"
    r"(?::(?P<port>[0-9]{1,5}))?/?"
)
HERE = (FileUse.PUBLIC_KEY, FileUse.PRIVATE_KEY, FileUse.VERDICT, FileUse.STATEMENT)
"""Kinds of files that are read on this machine: what is signed and what it is signed with."""


@dataclass(frozen=True)
class Elsewhere:
    """Another machine.

    Attributes:
        host: Its name, or its address.
        user: Whose account there; empty for what ssh takes.
        port: Its port; None for what ssh takes.
        config: The configuration of ssh; None for the user's own.
    """

    host: str
    user: str = ""
    port: int | None = None
    config: Path | None = None

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

    def recognise(self, path: Path) -> Recognised:
        """Say what a file is: one of that machine, or one of this that is read here.

        Raises:
            CounterfoilError: It cannot be read, or lies here and is needed there.
        """
        if path in self.files or not path.exists():
            return super().recognise(path)
        found: Recognised = self._here.recognise(path)
        if found.kind not in HERE:
            raise CounterfoilError(
                say("{0} lies on this machine, and the engine works on {1}.", path, self.place.name),
                remedy=say("Copy it there, and open it by its path there; or start the window without --engine."),
            )
        return found

    def read_key(self, path: Path) -> str:
        """Return the public key in a file of this machine."""
        found: str = self._here.read_key(path)
        return found

    def read_revocations(self, path: Path, key: str) -> ReadRevocations:
        """Check a list of revoked keys of this machine."""
        found: ReadRevocations = self._here.read_revocations(path, key)
        return found

    def preview_data(self, form: str, path: Path | None) -> DataPreview:
        """Return the first rows of data of this machine, where orders are written."""
        found: DataPreview = self._here.preview_data(form, path)
        return found

    def read_verdict(
        self, path: Path, keys: Sequence[str], bundle: Path | None, statements: Sequence[Path]
    ) -> VerdictReading:
        """Check a verdict file of this machine; a run that lies elsewhere is not compared with it."""
        near = bundle if bundle is not None and bundle not in self.files and bundle.exists() else None
        found: VerdictReading = self._here.read_verdict(path, keys, near, statements)
        return found

    def read_ledger(self, asked: LedgerRequest, cancel: CancelToken) -> Iterator[LedgerProgress | Ledger]:
        """Put the verdicts in a folder of this machine together; the last value is what they say."""
        yield from self._here.read_ledger(asked, cancel)

    def handed_out(self, capsule: Path) -> HandedOut:
        """Say what a dispute capsule of this machine hands to whoever gets it; raises CounterfoilError."""
        found: HandedOut = self._here.handed_out(capsule)
        return found

    def write_capsule(self, report: AuditReport, path: Path) -> None:
        """Write the dispute capsule of the last audit on this machine; raises CounterfoilError."""
        with whole_file(path, what=say("the dispute capsule")) as file:
            for piece in self.carry_capsule(report, CancelToken()):
                file.write(piece)

    def _start(self) -> Link:
        link = Link(self.place.command(), MAX_BYTES, program_environment(), hear_errors=True)
        self._link = link
        try:
            there = self.version()
        except CounterfoilError:
            link.end(now=True)
            self._link = None
            raise
        if there != __version__:
            link.end(now=True)
            self._link = None
            raise CounterfoilError(
                say("On {0} there is Counterfoil {1}, and here {2}.", self.place.name, there, __version__),
                remedy=say("Install the same version on both."),
            )
        return link

    def _died(self, link: Link) -> CounterfoilError:
        code = link.end()
        self._link = None
        return CounterfoilError(
            say("The connection to the engine on {0} ended ({1}). Nothing was concluded.", self.place.name, code),
            remedy=say(
                "Look whether ssh reaches that machine without a password, and finds the command counterfoil there."
            ),
            detail=link.errors,
        )
