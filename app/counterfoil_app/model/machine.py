"""The examination of the engine's machine: how far it is, and what was found."""

from __future__ import annotations

from collections.abc import Callable

from PySide6.QtCore import QObject

from counterfoil import CancelToken, MachinePage, MachineProgress
from counterfoil_app.engine.port import Engine
from counterfoil_app.engine.strangers import plain
from counterfoil_app.model.inquiry import Inquiry
from counterfoil_app.model.session import Session


class Examination(Inquiry[MachineProgress]):
    """Examines the engine's machine in the session's worker.

    Args:
        session: Whose worker is used.

    Attributes:
        progress: How far it is; None before it begins.
        page: What was found; None until it is over.
    """

    def __init__(self, session: Session, parent: QObject | None = None) -> None:
        super().__init__(session.ask, parent)

    def _forget(self) -> None:
        super()._forget()
        self.progress: MachineProgress | None = None
        self.page: MachinePage | None = None

    def _question(self, token: CancelToken) -> Callable[[Engine], object]:
        seen = self._seen

        def examine(engine: Engine) -> MachinePage | None:
            for event in engine.examine(token):
                if isinstance(event, MachinePage):
                    return event
                seen.put(event)
            return None

        return examine

    def _show(self, seen: MachineProgress) -> None:
        self.progress = plain(seen)

    def _answer(self, value: object) -> None:
        if isinstance(value, MachinePage):
            self.page = plain(value)
