"""Delivered weights beside a run: what says that the run is verified, how far the comparison is, what it found."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path

from PySide6.QtCore import QObject

from counterfoil import AuditReport, CancelToken, DeliveryProgress, DeliveryReport
from counterfoil_app.engine.port import Engine
from counterfoil_app.engine.strangers import plain
from counterfoil_app.model.inquiry import Inquiry
from counterfoil_app.model.session import Session


class Delivery(Inquiry[DeliveryProgress]):
    """Compares delivered weights with a run in the session's worker.

    Args:
        session: Whose worker is used.
        weights: The folder, or the file, of weights.
        run: The run.

    Attributes:
        weights: The folder, or the file, of weights.
        run: The run.
        verdict: A verdict on the run; None for none.
        keys: Public keys to check it with, as hexadecimal digits.
        replay: The report of a replay of the run here; it counts where there is no verdict.
        progress: How far it is; None before it begins.
        report: What was found; None until it is over.
    """

    def __init__(self, session: Session, weights: Path, run: Path, parent: QObject | None = None) -> None:
        super().__init__(session.ask, parent)
        self.weights = weights
        self.run = run
        self.verdict: Path | None = None
        self.keys: Sequence[str] = ()
        self.replay: AuditReport | None = None

    def _forget(self) -> None:
        super()._forget()
        self.progress: DeliveryProgress | None = None
        self.report: DeliveryReport | None = None

    def _question(self, token: CancelToken) -> Callable[[Engine], object]:
        replay = None if self.verdict is not None else self.replay
        return partial(self._compare, self.verdict, self.keys, replay, token)

    def _compare(
        self,
        verdict: Path | None,
        keys: Sequence[str],
        replay: AuditReport | None,
        token: CancelToken,
        engine: Engine,
    ) -> DeliveryReport | None:
        """In the worker thread."""
        for event in engine.verify_weights(self.weights, self.run, verdict, keys, replay, token):
            if isinstance(event, DeliveryReport):
                return event
            self._seen.put(event)
        return None

    def _show(self, seen: DeliveryProgress) -> None:
        self.progress = plain(seen)

    def _answer(self, value: object) -> None:
        if isinstance(value, DeliveryReport):
            self.report = plain(value)
