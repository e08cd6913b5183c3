"""A folder of verdicts, put together in the worker: what they say of each trainer, and the rates that follow."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING

from PySide6.QtCore import QObject

from counterfoil import CancelToken, KnownKey, Ledger, LedgerProgress, RatePolicy, Role, with_policy
from counterfoil_app.engine.port import USUAL_RATES, Engine, LedgerRequest
from counterfoil_app.model.inquiry import Query
from counterfoil_app.model.key_book import KeyBook

if TYPE_CHECKING:
    from counterfoil_app.model.session import Session


class LedgerReading(Query[LedgerProgress, Ledger]):
    """Says what the verdicts in a folder say of each trainer.

    Args:
        session: Whose worker is used.
        book: The known keys; those of auditors and the user's own count, but for those that are left out.

    Attributes:
        folder: Where the verdicts lie; None until one is chosen.
        policy: What the proposed rates are to be sure of.
    """

    def __init__(self, session: Session, book: KeyBook, parent: QObject | None = None) -> None:
        self._kept: Ledger | None = None
        super().__init__(session.ask, parent)
        self._book = book
        self._left_out: set[str] = set()
        self.folder: Path | None = None
        self.policy: RatePolicy = USUAL_RATES

    @property
    def auditors(self) -> tuple[KnownKey, ...]:
        """The keys that can count: auditors' and the user's own."""
        return tuple(key for key in self._book.keys if key.role in (Role.AUDITOR, Role.MINE))

    @property
    def counted(self) -> tuple[KnownKey, ...]:
        """Those of them that do."""
        return tuple(key for key in self.auditors if key.key_id not in self._left_out)

    def name_of_key(self, key_id: str) -> str:
        """Whose a key is, as the user says; empty where the user has not said it."""
        known = self._book.find(key_id)
        return known.name if known is not None else ""

    def choose(self, folder: Path) -> None:
        """Read another folder."""
        self.folder = folder
        self.read()

    def count_key(self, key_id: str, counts: bool) -> None:
        """Let the verdicts of an auditor count or not, and read anew."""
        self._left_out = self._left_out - {key_id} if counts else self._left_out | {key_id}
        self.read()

    def read(self) -> None:
        """Read the folder anew, where one is chosen."""
        self._leave()
        self._forget()
        if self.folder is None:
            self.changed.emit()
        else:
            self.start()

    def wish(self, policy: RatePolicy) -> None:
        """Propose other rates; nothing is read anew for that."""
        if policy == self.policy:
            return
        self.policy = policy
        if self.working and self.found is None:
            self.read()
        elif self.found is not None:
            self._leave()
            self._kept = self.found
            self.start()

    def _asked(self, token: CancelToken) -> Callable[[Engine], Iterator[LedgerProgress | Ledger]]:
        kept, self._kept, policy = self._kept, None, self.policy
        if kept is not None:  # it stays in view meanwhile
            self.found = kept
            return lambda _engine: iter((with_policy(kept, policy),))
        assert self.folder is not None
        asked = LedgerRequest(self.folder, tuple(key.public for key in self.counted), policy, self._book.store)
        return lambda engine: engine.read_ledger(asked, token)
