"""How an audit in a box reaches what lies outside: it asks whoever started it."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from pathlib import Path

from counterfoil.audit.boxed.messages import (
    CAPSULE_NAME,
    KEPT_NAME,
    CloseWorkers,
    DrawNonce,
    Earlier,
    Find,
    FindNonce,
    Fitting,
    GiveWorker,
    Held,
    Keep,
    OpenWorkers,
    Place,
    Question,
    Remove,
    StartWorker,
    WaitForWorkers,
)
from counterfoil.audit.keeping import Basis, KeptAudit, Shelf, audit_of, body_of
from counterfoil.audit.nonces import KeptNonce
from counterfoil.audit.outside import Outside
from counterfoil.audit.parts.executor import Executor
from counterfoil.audit.parts.result import Message
from counterfoil.audit.values.report import Kept
from counterfoil.audit.values.request import AuditRequest
from counterfoil.audit.values.sampling import SegmentRequest
from counterfoil.base.digest import Digest
from counterfoil.base.messages import decode
from counterfoil.bundle.capsule import CapsuleContents
from counterfoil.bundle.capsulewriter import write_capsule

Ask = Callable[[Question], object]
"""Asks, and waits for the answer; raises the CounterfoilError with which it was refused."""


class Asking(Outside):
    """Reaches it by asking.

    Args:
        ask: Asks.
        scratch: The folder that both sides share.
    """

    def __init__(self, ask: Ask, scratch: Path) -> None:
        self._ask = ask
        self._scratch = scratch

    @property
    def shelf(self) -> Shelf:
        """Where progress lies."""
        return _AskedShelf(self._ask, self._scratch / KEPT_NAME)

    def nonce(self, place: Path, order: Digest, run_root: Digest, segments: SegmentRequest) -> KeptNonce:
        """Return the nonce that is kept of an audit."""
        return _AskedNonce(self._ask, place, order, run_root, segments)

    def write_capsule(self, evidence: CapsuleContents, _path: Path) -> None:
        """Write a dispute capsule where the user wants it, as the other side knows; raises FileWriteError."""
        write_capsule(evidence, self._scratch / CAPSULE_NAME)
        self._ask(Place())

    def executor(self, _request: AuditRequest, segments: int) -> Executor:
        """Return what runs the workers, outside; raises WorkerError."""
        return _AskedExecutor(self._ask, segments)


class _AskedShelf(Shelf):
    def __init__(self, ask: Ask, shared: Path) -> None:
        self._ask = ask
        self._shared = shared

    def fitting(self, _place: Path, basis: Basis, *, begin: bool = False) -> KeptAudit | None:
        return self._held(Fitting(basis, begin))

    def earlier(self, _path: Path, basis: Basis) -> KeptAudit | None:
        return self._held(Earlier(basis))

    def _held(self, question: Question) -> KeptAudit | None:
        held: Held = decode(self._ask(question), Held)
        return None if held.body is None else audit_of(held.body)

    def find(self, _place: Path, basis: Basis, _run: Path) -> Kept | None:
        found: Kept | None = decode(self._ask(Find(basis)), Kept | None)
        return found

    def remove(self, _files: Iterable[Path]) -> str:
        problem: str = decode(self._ask(Remove()), str)
        return problem

    def evidence(self, _path: Path, audit: KeptAudit) -> CapsuleContents | None:
        return super().evidence(self._shared, audit)

    def put_capsule(self, _path: Path, evidence: CapsuleContents) -> Digest:
        return super().put_capsule(self._shared, evidence)

    def put(self, _path: Path, audit: KeptAudit) -> None:
        self._ask(Keep(body_of(audit)))


class _AskedNonce(KeptNonce):
    def __init__(self, ask: Ask, place: Path, order: Digest, run_root: Digest, segments: SegmentRequest) -> None:
        super().__init__(place, order, run_root, segments)
        self._ask = ask
        self._of = order, run_root

    def find(self) -> str:
        nonce: str = decode(self._ask(FindNonce(*self._of)), str)
        return nonce

    def draw(self) -> str:
        drawn: tuple[str, str] = decode(self._ask(DrawNonce(*self._of)), tuple[str, str])
        nonce, self.problem = drawn
        return nonce

    def remove(self) -> None:
        """Whoever started this process removes it with the progress."""


class _AskedExecutor:
    def __init__(self, ask: Ask, segments: int) -> None:
        self._ask = ask
        self.count: int = decode(ask(OpenWorkers(segments)), int)

    def start(self, worker: int) -> None:
        self._ask(StartWorker(worker))

    def give(self, worker: int, number: int) -> None:
        self._ask(GiveWorker(worker, number))

    def wait(self, seconds: float) -> list[Message]:
        said: tuple[Message, ...] = decode(self._ask(WaitForWorkers(seconds)), tuple[Message, ...])
        return list(said)

    def close(self) -> None:
        self._ask(CloseWorkers())
