"""The examination of the engine's machine: how far it is, and what was found."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from PySide6.QtCore import QObject

from counterfoil import CancelToken, MachinePage, MachineProgress
from counterfoil_app.engine.port import Engine
from counterfoil_app.model.inquiry import Query
from counterfoil_app.model.session import Session


class Examination(Query[MachineProgress, MachinePage]):
    """Examines the engine's machine in the session's worker.

    Args:
        session: Whose worker is used.
    """

    def __init__(self, session: Session, parent: QObject | None = None) -> None:
        super().__init__(session.ask, parent)

    def _asked(self, token: CancelToken) -> Callable[[Engine], Iterator[MachineProgress | MachinePage]]:
        return lambda engine: engine.examine(token)
