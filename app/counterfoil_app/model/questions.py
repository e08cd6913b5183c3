"""A closer look into the disputed step, in the session's worker: the rows that it read, a tensor of both sides."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import Generic, TypeVar

from PySide6.QtCore import QObject

from counterfoil import (
    CancelToken,
    CheckedRules,
    Digest,
    Dispute,
    DisputedRows,
    FactsProgress,
    KnownKey,
    Ledger,
    LedgerProgress,
    Located,
    LocateProgress,
    LookProgress,
    MachinePage,
    MachineProgress,
    OperatorLook,
    RatePolicy,
    Role,
    RunFacts,
    TensorSides,
    TrustStore,
    with_policy,
)
from counterfoil_app.engine.port import (
    USUAL_RATES,
    Engine,
    FactsRequest,
    LedgerRequest,
    LocateRequest,
    LookRequest,
    RulesRequest,
)
from counterfoil_app.model.inquiry import Query
from counterfoil_app.model.key_book import KeyBook
from counterfoil_app.model.session import Session

# The examination of the engine's machine: how far it is, and what was found.


class Examination(Query[MachineProgress, MachinePage]):
    """Examines the engine's machine in the session's worker.

    Args:
        session: Whose worker is used.
    """

    def __init__(self, session: Session, parent: QObject | None = None) -> None:
        super().__init__(session.ask, parent)

    def _asked(self, token: CancelToken) -> Callable[[Engine], Iterator[MachineProgress | MachinePage]]:
        return lambda engine: engine.examine(token)


# A hash, or a file of weights, looked for in a run by the worker.


def read_hash(typed: str) -> Digest | None:
    """The hash that somebody typed or pasted: 64 hexadecimal digits, large or small; None for anything else."""
    try:
        return Digest.from_hex(typed.strip().lower())
    except ValueError:
        return None


class Locating(Query[LocateProgress, Located]):
    """Says which steps of a run hold something.

    Args:
        session: Whose worker is used.
        run: The run.

    Attributes:
        run: The run.
        wanted: A hash, or a file or folder of weights; None until something is looked for.
    """

    def __init__(self, session: Session, run: Path, parent: QObject | None = None) -> None:
        super().__init__(session.ask, parent)
        self.run = run
        self.wanted: Digest | Path | None = None

    def look_for(self, wanted: Digest | Path) -> None:
        """Look for this; what is being looked for is left."""
        self._leave()
        self.wanted = wanted
        self.start()

    def _asked(self, token: CancelToken) -> Callable[[Engine], Iterator[LocateProgress | Located]]:
        assert self.wanted is not None
        asked = LocateRequest(self.run, self.wanted)
        return lambda engine: engine.locate(asked, token)


# A folder of verdicts, put together in the worker: what they say of each trainer, and the rates that follow.


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


# What the open run shows of itself, and what that comes to by rules: counted in the session's worker.


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
