"""What a library's Trainer counts, and a loss may read: it changes from step to step, where a program does not.

While a step is captured, what is read of it is noted, and the step is captured again with what it reads as it is in
other steps. A loss that hangs on it is refused so; what is read for a message alone makes no difference.
"""

from __future__ import annotations

import dis
import inspect
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field

from counterfoil.program.steadiness import Moments, ask_for, moment

_MOST = 12
"""Other moments at which a step that reads a counter is captured."""
_REMEDY = (
    "Leave it out of the loss; or write the loop in the script by hand: counterfoil order --script follows such a loop "
    "step by step, with numbers that change (docs/for-trainers.md)."
)


@dataclass
class Counters:
    """What was counted when each batch of a loop came."""

    seen: list[Mapping[str, float]] = field(default_factory=list)  #: The counters at each batch, by name.
    _read: set[str] = field(default_factory=set)

    def reader(self, name: str) -> Callable[[object], float]:
        """Return the getter of a counter, which notes that it is read."""
        return lambda _: self.read(name)

    def read(self, name: str) -> float:
        """Return a counter at the moment of the capture, and see to it that other moments are captured too."""
        if moment() == 0:
            self._read.add(name)
            others = self._others()
            if others:
                ask_for(Moments(len(others), " and ".join(sorted(self._read)), _REMEDY))
            return self.seen[0][name]
        # Nothing was read at the first moment where the step came there by another way.
        return (self._others() or [self.seen[-1]])[moment() - 1][name]

    def _others(self) -> Sequence[Mapping[str, float]]:
        """Moments that differ from the first in what is read, at most so many: the next ones, and others evenly."""
        names = sorted(self._read)
        distinct = list({tuple(counted[name] for name in names): counted for counted in reversed(self.seen)}.values())
        first = [self.seen[0][name] for name in names]
        others = [counted for counted in reversed(distinct) if [counted[name] for name in names] != first]
        if len(others) <= _MOST:
            return others
        near = _MOST // 2
        rest = others[near:]
        return others[:near] + [rest[(len(rest) - 1) * number // (near - 1)] for number in range(near)]


def reads_argument(function: Callable[..., object], name: str) -> bool:
    """Whether a function reads one of its arguments, or something in it could.

    Args:
        function: The function.
        name: The argument.
    """
    code = getattr(inspect.unwrap(function), "__code__", None)
    if code is None:
        return True
    loads = (i for i in dis.get_instructions(code) if i.opname.startswith("LOAD"))
    return any(name in (i.argval if isinstance(i.argval, tuple) else (i.argval,)) for i in loads)
