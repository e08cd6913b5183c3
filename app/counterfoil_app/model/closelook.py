"""A closer look into the disputed step, in the session's worker: the rows that it read, a tensor of both sides."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial
from typing import TYPE_CHECKING, Generic, TypeVar

from PySide6.QtCore import QObject

from counterfoil import CancelToken, Dispute, DisputedRows, LookProgress, OperatorLook, TensorSides
from counterfoil_app.engine.port import Engine, LookRequest
from counterfoil_app.model.inquiry import Query

if TYPE_CHECKING:
    from counterfoil_app.model.session import Session

Found = TypeVar("Found", DisputedRows, TensorSides, OperatorLook)


class CloseLook(Query[LookProgress, Found], Generic[Found]):
    """One look; what was found belongs to the dispute that it was asked for, and is forgotten with it.

    Args:
        session: Whose run, worker and device are used.
    """

    def __init__(self, session: Session, parent: QObject | None = None) -> None:
        super().__init__(session.ask, parent)
        self._session = session
        self._request: LookRequest | None = None

    def forget(self) -> None:
        """Stop, and forget what was found."""
        self._leave()
        self._forget()
        self._request = None
        self.changed.emit()

    def look(self, step: int, *, part: str = "", tensor: str = "") -> None:
        """Look at something else than before; nothing happens where it was looked at already."""
        session = self._session
        if session.path is None or session.running:
            return
        asked = LookRequest(session.path, step, part, tensor, session.data, session.device, session.threads)
        if asked == self._request and self.failure is None and (self.working or self.found is not None):
            return
        self._leave()
        self._request = asked
        self.start()

    def _asked(self, token: CancelToken) -> Callable[[Engine], Iterator[LookProgress | Found]]:
        assert self._request is not None
        return partial(self._values, asked=self._request, token=token)

    def _values(self, engine: Engine, asked: LookRequest, token: CancelToken) -> Iterator[LookProgress | Found]:
        raise NotImplementedError


class RowsLook(CloseLook[DisputedRows]):
    """Looks at the rows of the disputed step."""

    def look_at(self, dispute: Dispute) -> None:
        """Show the rows that a disputed step read."""
        self.look(dispute.step, part=dispute.part)

    def _values(self, engine: Engine, asked: LookRequest, token: CancelToken) -> Iterator[LookProgress | DisputedRows]:
        return engine.disputed_rows(asked, token)


class InputsLook(CloseLook[OperatorLook]):
    """Looks at the first differing operator, with its inputs."""

    def look_at(self, dispute: Dispute) -> None:
        """Show what the operator was given, which replays the steps up to it."""
        self.look(dispute.step, part=dispute.part)

    def _values(self, engine: Engine, asked: LookRequest, token: CancelToken) -> Iterator[LookProgress | OperatorLook]:
        return engine.operator_look(asked, token)


class TensorLook(CloseLook[TensorSides]):
    """Looks at one tensor of both sides."""

    def look_at(self, dispute: Dispute, tensor: str) -> None:
        """Compare a tensor at the trainer's next stored state; there must be one."""
        if dispute.compared_at:
            self.look(dispute.compared_at, tensor=tensor)

    def _values(self, engine: Engine, asked: LookRequest, token: CancelToken) -> Iterator[LookProgress | TensorSides]:
        return engine.tensor_sides(asked, token)


def reads_rows(dispute: Dispute) -> bool:
    """Whether what is disputed reads rows of the data: a combination and an update do not, nor the initial state."""
    return dispute.step > 0 and (not dispute.part or dispute.share is not None)
