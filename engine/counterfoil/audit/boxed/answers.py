"""What a process in a box gets done outside: what its audit needs, and no more.

The process may be a stranger's by now. It names no path: where progress lies, whoever started it knows. What it wants
kept is read strictly and must be progress of the very file that is audited, so that another audit goes on from nothing
that this one made up.
"""

from __future__ import annotations

import hashlib
import os
import stat
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

from counterfoil.audit.boxed.compilation import compile_where_possible
from counterfoil.audit.boxed.farrun import FarRun
from counterfoil.audit.boxed.files import CAPSULE_NAME, KEPT_NAME
from counterfoil.audit.outside import KeptNonce
from counterfoil.audit.parts.executor import Executor
from counterfoil.audit.parts.helpers import executor_of
from counterfoil.audit.parts.partfile import Message
from counterfoil.audit.progressfile import Shelf, capsule_of, place_of
from counterfoil.base.wholefiles import whole_file
from counterfoil.talk.failure import refusal
from counterfoil.talk.port import Port
from counterfoil_core.base.cancel import CancelToken
from counterfoil_core.base.digest import Digest
from counterfoil_core.base.errors import FileWriteError, ProgressError
from counterfoil_core.base.sentence import say
from counterfoil_core.hearing.keptaudit import Basis, KeptAudit, audit_of, body_of
from counterfoil_core.remote.address import Address
from counterfoil_core.values.report import Kept
from counterfoil_core.values.request import AuditRequest

LONGEST_WAIT = 1.0
"""Seconds that a question may take of the time in which Ctrl-C is to be noticed."""
_PIECE_BYTES = 2**23
_OPEN = os.O_RDONLY | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NONBLOCK", 0)


class Answers(FarRun):
    """Answers one process: what it may ask for is a method, whose signature says what goes in and comes out.

    Args:
        scratch: The folder that both sides share.
        request: The audit; None for work that keeps nothing and has no workers.
        target: Where a dispute capsule goes; None where none is wanted now.
        cancel: Stops what is waited for.
    """

    def __init__(
        self,
        scratch: Path,
        request: AuditRequest | None = None,
        target: Path | None = None,
        cancel: CancelToken | None = None,
    ) -> None:
        address = None if request is None else request.run
        super().__init__(address if isinstance(address, Address) else None, cancel)
        self._scratch = scratch
        self._cancel = cancel or CancelToken()
        self._target = target
        self._request = request
        self._basis: Basis | None = None
        self._file: Digest | None = None
        self._capsule: bytes | None = None
        """SHA-256 of the dispute capsule that lies beside the progress."""
        self._nonce: KeptNonce | None = None
        self._workers: Executor | None = None

    @property
    def leftover(self) -> tuple[Path, ...]:
        """Files with the progress of the audit."""
        kept: tuple[Path, ...] = ()
        if self._basis is not None:
            path = place_of(self._place, self._basis)
            kept = path, capsule_of(path)
        return kept if self._nonce is None else (*kept, self._nonce.path)

    def compile(self) -> None:
        """Compile kernels, which are kept where a process in a box cannot write."""
        compile_where_possible(self._cancel)

    def fitting(self, basis: Basis, begin: bool) -> bytes | None:
        """Return the progress to go on from, without its seal, or None; its capsule comes into the shared folder."""
        return self._held(basis, lambda: Shelf().fitting(self._place, basis, begin=begin))

    def earlier(self, basis: Basis) -> bytes | None:
        """Return the progress of this very audit that lies there, as :meth:`fitting` does."""
        return self._held(basis, lambda: Shelf().earlier(place_of(self._place, basis), basis))

    def find(self, basis: Basis) -> Kept | None:
        """Return what is kept of audits that differ from this one in the file at most."""
        return Shelf().find(self._place, basis, self._asked.file)

    def remove(self) -> str:
        """Remove the progress and the nonce of the audit, which has come to its end; returns what could not be."""
        if self._asked.retain:
            raise refusal()
        return Shelf().remove(self.leftover)

    def place(self) -> None:
        """Put the dispute capsule, which lies in the shared folder, where the user wants it."""
        if self._target is None:
            raise refusal()
        take(self._scratch, CAPSULE_NAME, self._target, say("the dispute capsule"))

    def keep(self, body: bytes) -> None:
        """Keep progress: what :func:`counterfoil_core.hearing.keptaudit.body_of` makes of it."""
        audit = audit_of(body)
        if audit.basis != self._basis or audit.basis.file != self._audited:
            raise ProgressError(say("It is not progress of the file that is audited."))
        path = place_of(self._place, audit.basis)
        if audit.capsule is not None and audit.capsule != self._capsule:
            path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
            _copy(self._scratch / capsule_of(Path(KEPT_NAME)).name, capsule_of(path), Digest(audit.capsule))
            self._capsule = audit.capsule
        Shelf().put(path, audit)

    def find_nonce(self, order: Digest, run_root: Digest) -> str:
        """Return the digits of the nonce that is kept, or nothing."""
        return self._nonce_of(order, run_root).find()

    def draw_nonce(self, order: Digest, run_root: Digest) -> tuple[str, str]:
        """Draw a nonce and keep it; returns its digits, and why it could not be kept."""
        nonce = self._nonce_of(order, run_root)
        return nonce.draw(), str(nonce.problem)

    def open_workers(self, segments: int) -> int:
        """Provide workers for so many segments; returns how many there are."""
        self.close()
        self._workers = executor_of(self._asked, segments)
        return self._workers.count

    def start_worker(self, worker: int) -> None:
        """As :class:`counterfoil.audit.parts.executor.Executor`, and so the next ones."""
        self._crew(worker).start(worker)

    def give_worker(self, worker: int, number: int) -> None:
        """Let a worker replay a segment."""
        self._crew(worker).give(worker, number)

    def wait_for_workers(self, seconds: float) -> tuple[Message, ...]:
        """Return what the workers said."""
        return tuple(self._crew().wait(min(max(seconds, 0.0), LONGEST_WAIT)))

    def close(self) -> None:
        """End all workers."""
        if self._workers is not None:
            self._workers.close()
            self._workers = None

    @property
    def _asked(self) -> AuditRequest:
        if self._request is None:
            raise refusal()
        return self._request

    @property
    def _place(self) -> Path:
        if self._asked.progress is None:
            raise refusal()
        return self._asked.progress

    def _crew(self, worker: int = 1) -> Executor:
        if self._workers is None or not 1 <= worker <= self._workers.count:
            raise refusal()
        return self._workers

    def _nonce_of(self, order: Digest, run_root: Digest) -> KeptNonce:
        if not self._asked.segments.draws:
            raise refusal()
        nonce = KeptNonce(self._place, order, run_root, self._asked.segments)
        if self._nonce is not None and self._nonce.path != nonce.path:
            raise refusal()
        self._nonce = self._nonce or nonce
        return self._nonce

    def _held(self, basis: Basis, find: Callable[[], KeptAudit | None]) -> bytes | None:
        if self._basis not in (None, basis):
            raise refusal()
        self._basis = basis
        found = find()
        if found is None:
            return None
        if found.capsule is not None:
            source = capsule_of(place_of(self._place, basis))
            with suppress(OSError, FileWriteError):  # the audit says that it is not there
                _copy(source, self._scratch / capsule_of(Path(KEPT_NAME)).name)
                self._capsule = found.capsule
        return body_of(found)

    @property
    def _audited(self) -> Digest:
        """SHA-256 of the file that is audited, as this side reads it."""
        if self._file is None:
            self._file = Digest.of_file(self._asked.file)
        return self._file


QUESTIONS = Port[Answers](
    Answers.compile, Answers.fitting, Answers.earlier, Answers.find, Answers.remove, Answers.place, Answers.keep,
    Answers.find_nonce, Answers.draw_nonce, Answers.open_workers, Answers.start_worker, Answers.give_worker,
    Answers.wait_for_workers, Answers.close, Answers.open_run, Answers.fetch_run, Answers.compare_run,
    Answers.close_run,
)  # fmt: skip
"""What a process in a box may ask for."""


def take(scratch: Path, name: str, target: Path, what: str) -> None:
    """Put a file that the process made where the user wants it.

    Raises:
        FileWriteError: It cannot be written, or there is none.
    """
    try:
        _copy(scratch / name, target, what=what)
    except OSError as error:
        raise FileWriteError(say("{0:capital} was not made: {1}.", what, error.strerror or error)) from error


def _copy(source: Path, target: Path, digest: Digest | None = None, what: str = "") -> None:
    """Copy a file that a stranger may have made: a regular one, and the one that is meant."""
    handle = os.open(source, _OPEN)
    with os.fdopen(handle, "rb") as reading:
        if not stat.S_ISREG(os.fstat(handle).st_mode):
            raise FileWriteError(say("{0} is no regular file.", source))
        copied = hashlib.sha256()
        with whole_file(target, what=what or say("the dispute capsule")) as writing:
            while piece := reading.read(_PIECE_BYTES):
                copied.update(piece)
                writing.write(piece)
            if digest is not None and copied.digest() != digest.value:
                raise ProgressError(say("The dispute capsule is not the one that it should be."))
