"""Orders whose run may stop early, and trainers who stop where they like."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass

from counterfoil.training.order import OrderDraft
from counterfoil_core.base.stoprule import StopRule
from support.jobs import digits_order, replaced

ORDERED = 12
RULE = StopRule(2)
ENDS = 7
"""The step after which the rule ends an honest run of :func:`stopping_order`, in the middle of a segment and between
two digested states."""


def stopping_order() -> OrderDraft:
    """Twelve steps in three segments of four, every second state digested."""
    draft = digits_order(steps=ORDERED, seed=12, batch_size=16, commit_every=2, checkpoint_every=4)
    return draft.stopping_early(RULE)


@dataclass
class _At:
    """Fires after one step, whatever the losses are."""

    step: int | None
    seen: int = 0

    def fires(self, loss: float) -> bool:
        self.seen += 1
        return self.seen == self.step


@contextmanager
def ending_at(step: int | None) -> Iterator[None]:
    """Let trainers end their runs after a step of their choice while the block runs; None for never."""
    with replaced(StopRule, "watch", lambda rule: _At(step)):
        yield
