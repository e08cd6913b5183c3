"""What the open run shows of itself, and what that comes to by rules: counted in the session's worker."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import Generic, TypeVar, cast

from PySide6.QtCore import QObject

from counterfoil import CancelToken, CheckedRules, FactsProgress, RunFacts, TrustStore
from counterfoil_app.engine.port import Engine, FactsRequest, RulesRequest
from counterfoil_app.engine.strangers import plain
from counterfoil_app.model.inquiry import Inquiry
from counterfoil_app.model.session import Session

Found = TypeVar("Found", RunFacts, CheckedRules)


class _Asked(Inquiry[FactsProgress], Generic[Found]):
    """One question about a run, which is checked first.

    Args:
        session: Whose worker is used.
        run: The run.
        order: The client's own order file, if it is known.

    Attributes:
        run: The run.
        progress: How far it is; None before it begins.
        found: What was found, as the engine said it; None until it is.
        shown: The same with the texts of strangers as they are shown.
    """

    def __init__(self, session: Session, run: Path, order: Path | None, parent: QObject | None = None) -> None:
        super().__init__(session.ask, parent)
        self.run = run
        self.order = order

    def _forget(self) -> None:
        super()._forget()
        self.progress: FactsProgress | None = None
        self.found: Found | None = None
        self.shown: Found | None = None

    def _work(self, values: Callable[[Engine], Iterator[FactsProgress | Found]], engine: Engine) -> Found | None:
        """In the worker thread."""
        for value in values(engine):
            if not isinstance(value, FactsProgress):
                return value
            self._seen.put(value)
        return None

    def _show(self, seen: FactsProgress) -> None:
        self.progress = plain(seen)

    def _answer(self, value: object) -> None:
        if value is not None:
            self.found = cast("Found", value)
            self.shown = plain(self.found)


class FactsCount(_Asked[RunFacts]):
    """Counts what the run shows."""

    def _question(self, token: CancelToken) -> Callable[[Engine], object]:
        asked = FactsRequest(self.run, self.order)
        return partial(self._work, lambda engine: engine.run_facts(asked, token))


class RulesCheck(_Asked[CheckedRules]):
    """Checks rules on the run.

    Attributes:
        rules: The file of rules; None until one was chosen.
        verdicts: Verdicts on the run that are given with it.
        store: What the user trusts, by which verdicts are read.
    """

    def __init__(self, session: Session, run: Path, order: Path | None, parent: QObject | None = None) -> None:
        super().__init__(session, run, order, parent)
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

    def _question(self, token: CancelToken) -> Callable[[Engine], object]:
        assert self.rules is not None, "rules are chosen first"
        asked = RulesRequest(self.run, self.rules, self.verdicts, self.store, self.order)
        return partial(self._work, lambda engine: engine.check_rules(asked, token))
