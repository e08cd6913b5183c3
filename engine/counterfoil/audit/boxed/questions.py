"""How an audit in a box reaches what lies outside: it asks whoever started it."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import Concatenate, ParamSpec, TypeVar

from counterfoil.audit.boxed.answers import QUESTIONS, Answers
from counterfoil.audit.boxed.files import CAPSULE_NAME, KEPT_NAME
from counterfoil.audit.outside import KeptNonce, LocalOutside
from counterfoil.audit.parts.executor import Executor
from counterfoil.audit.parts.partfile import Message
from counterfoil.audit.progressfile import Shelf
from counterfoil.bundle.capsulewriter import write_capsule
from counterfoil.talk.port import Link
from counterfoil_core.base.cancel import CancelToken
from counterfoil_core.base.digest import Digest
from counterfoil_core.bundle.capsule import CapsuleContents
from counterfoil_core.hearing.keptaudit import Basis, KeptAudit, audit_of, body_of
from counterfoil_core.remote.address import Address
from counterfoil_core.remote.ranges import Ranges, Span
from counterfoil_core.values.report import Kept
from counterfoil_core.values.request import AuditRequest
from counterfoil_core.values.sampling import SegmentRequest

Given = ParamSpec("Given")
Brought = TypeVar("Brought")


class Asking(LocalOutside):
    """Reaches it by asking.

    Args:
        line: Where it asks.
        scratch: The folder that both sides share.
    """

    def __init__(self, line: Link, scratch: Path) -> None:
        self._line = line
        self._scratch = scratch

    def ask(
        self,
        question: Callable[Concatenate[Answers, Given], Brought],
        *arguments: Given.args,
        **named: Given.kwargs,
    ) -> Brought:
        """Ask one of :data:`QUESTIONS`; raises the CounterfoilError with which it was refused."""
        return self._line.ask(QUESTIONS, question, *arguments, **named)

    @property
    def shelf(self) -> Shelf:
        """Where progress lies."""
        return _AskedShelf(self, self._scratch / KEPT_NAME)

    def nonce(self, place: Path, order: Digest, run_root: Digest, segments: SegmentRequest) -> KeptNonce:
        """Return the nonce that is kept of an audit."""
        return _AskedNonce(self, place, order, run_root, segments)

    def ranges(self, address: Address, _cancel: CancelToken) -> Ranges:
        """Open the run of the audit, outside; raises GivenFileError, FileReadError and CancelledError."""
        return _AskedRanges(self, address)

    def write_capsule(self, evidence: CapsuleContents, _path: Path) -> None:
        """Write a dispute capsule where the user wants it, as the other side knows; raises FileWriteError."""
        write_capsule(evidence, self._scratch / CAPSULE_NAME)
        self.ask(Answers.place)

    def executor(self, _request: AuditRequest, segments: int) -> Executor:
        """Return what runs the workers, outside; raises WorkerError."""
        return _AskedExecutor(self, segments)


class _AskedShelf(Shelf):
    def __init__(self, asking: Asking, shared: Path) -> None:
        self._ask = asking.ask
        self._shared = shared

    def fitting(self, _place: Path, basis: Basis, *, begin: bool = False) -> KeptAudit | None:
        return _held(self._ask(Answers.fitting, basis, begin))

    def earlier(self, _path: Path, basis: Basis) -> KeptAudit | None:
        return _held(self._ask(Answers.earlier, basis))

    def find(self, _place: Path, basis: Basis, _run: Path) -> Kept | None:
        return self._ask(Answers.find, basis)

    def remove(self, _files: Iterable[Path]) -> str:
        return self._ask(Answers.remove)

    def evidence(self, _path: Path, audit: KeptAudit) -> CapsuleContents | None:
        return super().evidence(self._shared, audit)

    def put_capsule(self, _path: Path, evidence: CapsuleContents) -> Digest:
        return super().put_capsule(self._shared, evidence)

    def put(self, _path: Path, audit: KeptAudit) -> None:
        self._ask(Answers.keep, body_of(audit))


def _held(body: bytes | None) -> KeptAudit | None:
    return None if body is None else audit_of(body)


class _AskedNonce(KeptNonce):
    def __init__(self, asking: Asking, place: Path, order: Digest, run_root: Digest, segments: SegmentRequest) -> None:
        super().__init__(place, order, run_root, segments)
        self._ask = asking.ask
        self._of = order, run_root

    def find(self) -> str:
        return self._ask(Answers.find_nonce, *self._of)

    def draw(self) -> str:
        nonce, self.problem = self._ask(Answers.draw_nonce, *self._of)
        return nonce

    def remove(self) -> None:
        """Whoever started this process removes it with the progress."""


class _AskedRanges:
    def __init__(self, asking: Asking, address: Address) -> None:
        self._ask = asking.ask
        self.address = address
        self.size = self._ask(Answers.open_run)

    def fetch(self, spans: Sequence[Span]) -> Sequence[bytes]:
        return self._ask(Answers.fetch_run, tuple(spans))

    def check_unchanged(self) -> None:
        self._ask(Answers.compare_run)

    def close(self) -> None:
        self._ask(Answers.close_run)


class _AskedExecutor:
    def __init__(self, asking: Asking, segments: int) -> None:
        self._ask = asking.ask
        self.count = self._ask(Answers.open_workers, segments)

    def start(self, worker: int) -> None:
        self._ask(Answers.start_worker, worker)

    def give(self, worker: int, number: int) -> None:
        self._ask(Answers.give_worker, worker, number)

    def wait(self, seconds: float) -> list[Message]:
        return list(self._ask(Answers.wait_for_workers, seconds))

    def close(self) -> None:
        self._ask(Answers.close)
