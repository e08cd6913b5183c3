"""The rule by which a run may end before its last ordered step: the loss does not fall any more. Pure.

The rule looks at the recorded losses and at nothing else, so whoever has them can say at which step the run ends.
docs/bundle-format.md defines it to the bit.
"""

from __future__ import annotations

import math
from collections import deque
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any

from counterfoil_core.base.canonical import float_text
from counterfoil_core.base.errors import BundleError
from counterfoil_core.base.fields import Fields
from counterfoil_core.base.plaintext import quote
from counterfoil_core.base.sentence import say

MAX_PATIENCE = 10_000_000
"""No order has more steps."""


@dataclass(frozen=True)
class StopRule:
    """End the run after the first step at which the loss has not fallen enough for long enough.

    It fires after step s, which is above ``patience``, if the smallest of the last ``patience`` losses is not below the
    smallest of all before them by ``min_fall`` at least; with ``min_fall`` 0, if it is not below.

    Raises:
        BundleError: The patience is below 1, or the fall is negative, infinite or not a number.
    """

    patience: int  #: How many steps back it looks.
    min_fall: float = 0.0  #: By how much the loss must have fallen in them, at least.

    def __post_init__(self) -> None:
        if not isinstance(self.patience, int) or isinstance(self.patience, bool) or self.patience < 1:
            raise BundleError(
                say("A rule to stop early looks back {0} steps; it must be a whole number from 1.", repr(self.patience))
            )
        number = isinstance(self.min_fall, (int, float)) and not isinstance(self.min_fall, bool)
        if not number or not 0.0 <= self.min_fall < math.inf or math.copysign(1.0, self.min_fall) < 0.0:
            raise BundleError(
                say("A rule to stop early asks for a fall of {0}; it must be a number from 0.", repr(self.min_fall))
            )

    def watch(self) -> Watch:
        """Return what tells, loss by loss, when the rule fires."""
        return Watch(self)

    def fires(self, losses: Iterable[float]) -> int | None:
        """Return the first step, counted from 1, after which the rule fires; None when it does after none of them."""
        watch = self.watch()
        return next((step for step, loss in enumerate(losses, 1) if watch.fires(loss)), None)

    def describe(self) -> str:
        """Return the rule in words."""
        if not self.min_fall:
            return say("ends early if the loss has not fallen in {0} steps", self.patience)
        return say("ends early if the loss has not fallen by {0} in {1} steps", repr(self.min_fall), self.patience)

    def to_json(self) -> dict[str, Any]:
        """Return the JSON form."""
        return {"patience": self.patience, "min_fall": float_text(self.min_fall)}

    @classmethod
    def from_json(cls, value: Any) -> StopRule:
        """Read the JSON form; raises BundleError."""
        fields = Fields(value, say("rule to stop early"), BundleError)
        patience, text = fields.integer("patience", 1, MAX_PATIENCE), fields.take("min_fall", str)
        fields.end()
        try:
            rule = cls(patience, float.fromhex(text))
        except (ValueError, OverflowError) as error:
            raise BundleError(say("The rule to stop early asks for a fall of {0}.", quote(text))) from error
        if rule.to_json() != value:
            raise BundleError(say("The fall of the rule to stop early, {0}, is not in canonical form.", quote(text)))
        return rule


@dataclass
class Watch:
    """Tells after each loss whether the rule fires; the losses come one after the other, from step 1."""

    rule: StopRule  #: The rule.
    _recent: deque[float] = field(default_factory=deque)
    """The last losses, at most as many as the rule looks back, oldest first."""
    _falling: deque[float] = field(default_factory=deque)
    """Those of them that are below all that came after, so the smallest of the last losses is the first here."""
    _before: float = math.inf
    """The smallest of all losses before them."""

    def fires(self, loss: float) -> bool:
        """Take the loss of the next step; return whether the rule fires after it."""
        # What is not a number is no fall.
        loss = math.inf if math.isnan(loss) else loss
        first = len(self._recent) < self.rule.patience
        if not first:
            gone = self._recent.popleft()
            self._before = min(self._before, gone)
            if self._falling[0] == gone:
                self._falling.popleft()
        self._recent.append(loss)
        while self._falling and self._falling[-1] > loss:
            self._falling.pop()
        self._falling.append(loss)
        return not first and not self._fell(self._before - self._falling[0])

    def _fell(self, fall: float) -> bool:
        """Whether a fall is one; the difference of two infinities is not a number, and none."""
        return fall > 0.0 and fall >= self.rule.min_fall
