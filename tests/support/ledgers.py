"""A ledger of three trainers, as the engine makes it of verdicts that count; and what a run holds."""

from __future__ import annotations

from counterfoil import Ledger, LedgerVerdict, Located, NotCounted, Place, RatePolicy, StepWeights, TrainerRecord
from counterfoil.audit.values.ledger import by_time, propose, run_of
from counterfoil_core.base.digest import Digest
from counterfoil_core.base.sentence import say

TRAINERS = HONEST, LIAR, NEW = "1a" * 32, "2b" * 32, "3c" * 32
STORED = (0, 20, 40, 60)
"""The steps after which the fake run stores a state."""
STEP_OF_WEIGHTS = 40


def root(name: str) -> Digest:
    return Digest.of(name.encode())


def verdict(
    run: str, day: int, outcome: str, auditor: str, *, kind: str = "verdict", replied: bool = False, chosen: int = 12
) -> LedgerVerdict:
    """A verdict on a run of 60 steps in 12 segments; disputes and adjudications are about step 37."""
    disputed = outcome in ("DISPUTED", "CONFIRMED")
    return LedgerVerdict(
        name=f"{run}-{day}.json", kind=kind, outcome=outcome, auditor=auditor, signed_at=f"2026-03-{day:02d}T12:00:00Z",
        run_root=root(run), order=root("order"), title="Digits, small residual network", steps_replayed=5 * chosen,
        steps_recorded=60, segments=12, chosen=chosen, random=True, disputed_step=37 if disputed else None,
        replied=replied, judged=(36, 38) if kind == "adjudication" else None,
    )  # fmt: skip


def ledger_of(policy: RatePolicy, auditor: str) -> Ledger:
    """What the verdicts of an auditor say: one trainer is clean, one was disputed, one is undecided."""
    told = {
        HONEST: [verdict("a", 1, "VERIFIED", auditor), verdict("b", 2, "VERIFIED", auditor, chosen=4)],
        LIAR: [
            verdict("c", 3, "DISPUTED", auditor, replied=True),
            verdict("c", 4, "CONFIRMED", auditor, kind="adjudication"),
            verdict("d", 5, "VERIFIED", auditor),
        ],
        NEW: [verdict("e", 6, "INCONCLUSIVE", auditor, chosen=2)],
    }
    records = []
    for key, verdicts in told.items():
        roots = dict.fromkeys(one.run_root for one in verdicts)
        runs = by_time(
            run_of(each, [one for one in verdicts if one.run_root == each], policy.bad_fraction)
            for each in roots
            if each is not None
        )
        records.append(TrainerRecord(key, runs, propose(runs, policy)))
    damaged = NotCounted("below/damaged.json", say("It is neither a verdict nor about one."))
    return Ledger(tuple(records), (damaged,))


def nothing_counts() -> Ledger:
    """What a folder says where no auditor's key counts."""
    reason = say("It is signed with none of the auditors' keys that were given.")
    return Ledger((), (NotCounted("a-1.json", reason), NotCounted("c-3.json", reason)))


def places_of(wanted: Digest) -> Located:
    """Where the fake run holds a hash: a state, a chunk, or nowhere."""
    if wanted == root("state"):
        return Located(places=(Place("state", 37),))
    if wanted == root("chunk"):
        return Located(places=tuple(Place("chunk", step, "head.weight/3") for step in STORED))
    return Located(places=(Place("run root"),)) if wanted == root("run") else Located()


def weights_of(name: str) -> Located:
    """How weights compare with each stored state; those of a file whose name begins with "other" are of no step."""
    other = name.startswith("other")
    return Located(
        weights=tuple(
            StepWeights(step, 4 if other and step == 20 else 5 * (not other and step == STEP_OF_WEIGHTS), 5, int(other))
            for step in STORED
        )
    )
