"""What the open run shows of itself, and what that comes to by rules: counted in the session's worker."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

from PySide6.QtCore import QObject

from counterfoil import CancelToken, CheckedRules, FactsProgress, RunFacts, TrustStore
from counterfoil_app.engine.port import Engine, FactsRequest, RulesRequest
from counterfoil_app.model.inquiry import Query
from counterfoil_app.model.session import Session


class FactsCount(Query[FactsProgress, RunFacts]):
    """Counts what the run shows.

    Args:
        session: Whose worker is used.
        run: The run.
        order: The client's own order file, if it is known.
    """

    def __init__(self, session: Session, run: Path, order: Path | None, parent: QObject | None = None) -> None:
        super().__init__(session.ask, parent)
        self.run, self._order = run, order

    def _asked(self, token: CancelToken) -> Callable[[Engine], Iterator[FactsProgress | RunFacts]]:
        asked = FactsRequest(self.run, self._order)
        return lambda engine: engine.run_facts(asked, token)


class RulesCheck(Query[FactsProgress, CheckedRules]):
    """Checks rules on the run.

    Args:
        session: Whose worker is used.
        run: The run.
        order: The client's own order file, if it is known.

    Attributes:
        rules: The file of rules; None until one was chosen.
        verdicts: Verdicts on the run that are given with it.
        store: What the user trusts, by which verdicts are read.
    """

    def __init__(self, session: Session, run: Path, order: Path | None, parent: QObject | None = None) -> None:
        super().__init__(session.ask, parent)
        self.run, self._order = run, order
        self.rules: Path | None = None
        self.verdicts: tuple[Path, ...] = ()
        self.store = TrustStore()

    def check(self, rules: Path) -> None:
        """Check other rules, or the same ones again; what was asked before is stopped."""
        self._leave()
        self.rules = rules
        self.start()

    def add(self, *verdicts: Path) -> None:
        """Count these verdicts too, and check again where rules were chosen."""
        self.verdicts = tuple(dict.fromkeys((*self.verdicts, *verdicts)))
        self.recheck()

    def leave_out_verdicts(self) -> None:
        """Count no verdict, and check again where rules were chosen."""
        self.verdicts = ()
        self.recheck()

    def recheck(self) -> None:
        """Check the same rules again, if some were chosen."""
        if self.rules is not None:
            self.check(self.rules)
        else:
            self.changed.emit()

    def _asked(self, token: CancelToken) -> Callable[[Engine], Iterator[FactsProgress | CheckedRules]]:
        assert self.rules is not None, "rules are chosen first"
        asked = RulesRequest(self.run, self.rules, self.verdicts, self.store, self._order)
        return lambda engine: engine.check_rules(asked, token)
