"""Another run beside the open one: its losses, as its trainer recorded them."""

from __future__ import annotations

from functools import partial
from pathlib import Path

import numpy as np
from PySide6.QtCore import QObject, Signal

from counterfoil import BundleSummary, CounterfoilError
from counterfoil_app.engine.port import Engine
from counterfoil_app.engine.strangers import name_of
from counterfoil_app.engine.worker import Failure, JobResult
from counterfoil_app.model.divergence_table import Floats
from counterfoil_app.model.session import Session
from counterfoil_core.base.sentence import say


class OtherRun(QObject):
    """The run that is shown beside the open one; nothing is concluded from it.

    Args:
        session: Its worker reads the run.
        parent: The parent.
    """

    changed = Signal()

    def __init__(self, session: Session, parent: QObject) -> None:
        super().__init__(parent)
        self._session = session
        self._losses: Floats = np.zeros(0)
        self.name = ""
        """Name of its file; empty while there is none."""

    def show(self, path: Path) -> None:
        """Read the losses of a run; :attr:`changed` follows, or the session says what failed."""
        self._session.ask(partial(_outline, path=path), partial(self._read, path))

    def forget(self) -> None:
        """Show none any more."""
        self.name, self._losses = "", np.zeros(0)
        self.changed.emit()

    def losses(self, steps: int) -> Floats:
        """Its losses, float64 ``[steps]``: not a number behind its end."""
        result = np.full(steps, np.nan)
        known = self._losses[:steps]
        result[: len(known)] = known
        return result

    def _read(self, path: Path, result: JobResult) -> None:
        if result.failure is not None:
            self._session.failed.emit(result.failure)
            return
        assert isinstance(result.value, BundleSummary)
        if result.value.run is None:
            nothing = CounterfoilError(
                say("{0} is an order: it has no losses yet.", name_of(path)), remedy=say("Choose a run of it.")
            )
            self._session.failed.emit(Failure.of(nothing))
            return
        self.name, self._losses = name_of(path), result.value.run.recorded.trainer_loss
        self.changed.emit()


def _outline(engine: Engine, path: Path) -> BundleSummary:
    return engine.outline(path)
