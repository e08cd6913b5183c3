"""Whether an order is what its script does: judged from what both end with, and by nothing of the product's own.

An order agrees where the losses of its steps are those of the script, and each tensor of the script's trained modules
ends where the script's own does, measured by how far the script moved it. Where that fails, the script is run again
with a noise as large as rounding: a tensor that rounding alone moves as far tells nothing, and is left out.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

import torch
from tests.fidelity.orderrun import Ordered
from tests.fidelity.plainrun import Held, Plain
from torch import Tensor

AGREES, REFUSED, DIFFERENT, DRAWS, CRASH, BROKEN, MISSING = (
    "agrees",
    "refused",
    "different",
    "draws",
    "crash",
    "broken",
    "missing",
)
MOVEMENT = 2e-3
"""What a tensor may be off, by how far the script moved it: float32 against float64 in a few steps."""
ABSOLUTE = 1e-6
"""The same by its own size: a few roundings."""
LOSS = 1e-4
"""What a loss may be off, by its size."""
NOISE = 16
"""What either may be off, by what rounding alone does to the script."""
_MOST_AT_ONCE = 256
"""Losses of one step at most."""


@dataclass(frozen=True)
class Verdict:
    """What became of a script.

    Attributes:
        outcome: One of the outcomes above.
        sentence: Why.
    """

    outcome: str
    sentence: str = ""


@dataclass(frozen=True)
class Script:
    """What a script does by itself.

    Args:
        plain: A run of it.
        shake: Runs it again with a noise as large as rounding, and returns those runs; one that failed is left out.
    """

    plain: Plain
    shake: Callable[[], Sequence[Plain]]

    @cached_property
    def shaken(self) -> Sequence[Plain]:
        """Runs of the same shape with a noise as large as rounding; only made where one is asked for."""
        return [other for other in self.shake() if len(other.held) == len(self.plain.held)]

    @property
    def is_shaken(self) -> bool:
        """Whether such runs were asked for."""
        return "shaken" in self.__dict__

    def noise(self, number: int) -> float:
        """How far rounding alone moves a tensor."""
        own = self.plain.held[number].final
        others = [other.held[number].final for other in self.shaken]
        return max((_distance(own, other) for other in others if other.shape == own.shape), default=0.0)

    @cached_property
    def loss_noise(self) -> list[float]:
        """How far rounding alone moves each loss; from the first one that it moves, later ones are moved as far."""
        most, noise = 0.0, []
        for number, loss in enumerate(self.plain.losses):
            others = [other.losses[number] for other in self.shaken if number < len(other.losses)]
            most = max([most, *(abs(other - loss) for other in others if math.isfinite(other))])
            noise.append(most)
        return noise


def judge(script: Script, order: Ordered) -> Verdict:
    """Judge an order that was made of a script."""
    if order.refused:
        return Verdict(REFUSED, order.refused)
    if order.draws:
        wrong = _wrong_count(script.plain, order)
        return Verdict(DIFFERENT, wrong) if wrong else Verdict(DRAWS)
    if not script.plain.losses and not script.plain.steps:
        return Verdict(DIFFERENT, f"{order.steps} steps are ordered, and the script trains nothing")
    if order.diverged:
        return Verdict(DIFFERENT, f"the order ends at step {len(order.losses) + 1}: {order.diverged}")
    for wrong in (_wrong_losses(script, order), _wrong_state(script, order)):
        if wrong:
            return Verdict(DIFFERENT, wrong)
    return Verdict(AGREES)


def _wrong_count(plain: Plain, order: Ordered) -> str:
    """Why the number of steps cannot be right; empty where it can: a step may hold several updates, and losses."""
    updates = plain.steps
    possible = {len(updates), len(plain.losses_before_the_last_step), *map(updates.count, updates)}
    if order.steps in possible:
        return ""
    return f"{order.steps} steps are ordered, and the script makes {' or '.join(map(str, sorted(possible)))}"


def _wrong_losses(script: Script, order: Ordered) -> str:
    """Why the losses are not the script's; empty where those of each step add up to the order's."""
    plain = script.plain
    own = plain.losses_before_the_last_step
    if plain.many or not plain.losses:
        # Gradients may be computed without backward(): the state is judged.
        return ""
    close = _closeness(own, lambda: [])
    if _divided(own, order.losses, close):
        return ""
    close = _closeness(own, lambda: script.loss_noise)
    if _divided(own, order.losses, close):
        return ""
    if len(own) == len(order.losses):
        first = next(k for k, loss in enumerate(order.losses) if not close(loss, k, k + 1))
        return f"the loss of step {first + 1} is {order.losses[first]:.6g}, and the script's is {own[first]:.6g}"
    return (
        f"{order.steps} steps are ordered, and the script makes {len(plain.steps)} with {len(own)} losses; "
        f"the losses do not add up: {_some(order.losses)} and {_some(own)}"
    )


def _some(losses: Sequence[float]) -> str:
    return ", ".join(f"{loss:.5g}" for loss in losses[:4]) + (", ..." if len(losses) > 4 else "")


Close = Callable[[float, int, int], bool]


def _closeness(own: Sequence[float], noise: Callable[[], Sequence[float]]) -> Close:
    """Return what tells whether a loss is the sum of the script's losses from one to another."""
    more = list(noise()) or [0.0] * len(own)

    def close(loss: float, first: int, end: int) -> bool:
        part = own[first:end]
        if not math.isfinite(loss) or not all(map(math.isfinite, part)):
            return not math.isfinite(loss) and not all(map(math.isfinite, part))
        bound = LOSS * sum(map(abs, part)) + ABSOLUTE + NOISE * sum(more[first:end])
        return abs(loss - sum(part)) <= bound

    return close


def _divided(own: Sequence[float], losses: Sequence[float], close: Close) -> bool:
    """Whether the script's losses are, in order and without one left over, those of the steps."""
    ends = {0}
    for loss in losses:
        reached = {
            end
            for begin in ends
            for end in range(begin + 1, min(len(own), begin + _MOST_AT_ONCE) + 1)
            if close(loss, begin, end)
        }
        if not reached:
            return False
        ends = reached
    return len(own) in ends


def _wrong_state(script: Script, order: Ordered) -> str:
    """Why the order does not end where the script does; empty where it does."""
    assert order.state is not None
    own = {name.replace("/", ".") for held in script.plain.held for name in held.names}
    # A slot is called after its parameter, behind a colon, and a tensor may have one in its name.
    left = {name: tensor for name, tensor in order.state.items() if ":" not in name or name in own}
    moved = agreeing = 0
    wrong: list[tuple[float, str]] = []
    for number, held in enumerate(script.plain.held):
        changed = held.initial is not None and not _same(held.initial, held.final)
        if not held.beside_trained and not changed:
            continue
        name = _name(held, left)
        if name is None:
            if changed or held.trained:
                wrong.append((math.inf, f"{held.names[-1]} is changed by the script, and is not in the order"))
            continue
        away, bound = _distance(left[name], held.final), _bound(held)
        if away > bound and held.final.is_floating_point():
            bound = max(bound, NOISE * script.noise(number))
        moved += changed
        agreeing += changed and away <= bound
        if not away <= bound:
            far = away / max(_movement(held), 1e-30)
            wrong.append((far, f"{held.names[-1]} ends {100 * far:.2g} % of its movement away from the script's"))
        left.pop(name)
    if wrong:
        _, worst = max(wrong)
        return worst if len(wrong) == 1 else f"{worst}, and so do {len(wrong) - 1} other tensors of {moved}"
    return ""


def _name(held: Held, left: Mapping[str, Tensor]) -> str | None:
    """The order's name for a tensor: by the script's names for it, or else the nearest of its shape."""
    fitting = [name for name, tensor in left.items() if tensor.shape == held.final.shape]
    # A name of the order is no path.
    spelled = {name.replace("/", ".") for name in held.names}
    named = [name for name in fitting if name in spelled]
    chosen = named or fitting
    return min(chosen, key=lambda name: _distance(left[name], held.final), default=None)


def _same(one: Tensor, other: Tensor) -> bool:
    return one.shape == other.shape and one.dtype == other.dtype and torch.equal(one, other)


def _double(tensor: Tensor) -> Tensor:
    return (
        tensor.detach().to_dense().double().reshape(-1)
        if tensor.layout != torch.strided
        else tensor.double().reshape(-1)
    )


def _distance(one: Tensor, other: Tensor) -> float:
    """The norm of a difference; infinite where one is not finite, and the other is."""
    a, b = _double(one), _double(other)
    if not torch.equal(a.isfinite(), b.isfinite()):
        return math.inf
    finite = a.isfinite()
    return float((a[finite] - b[finite]).norm())


def _movement(held: Held) -> float:
    if held.initial is None or held.initial.shape != held.final.shape:
        return float(_double(held.final).norm())
    return _distance(held.initial, held.final)


def _bound(held: Held) -> float:
    if not held.final.is_floating_point():
        return 0.0
    return MOVEMENT * _movement(held) + ABSOLUTE * float(_double(held.final).norm()) + 1e-9


def outcomes(verdicts: Sequence[Verdict]) -> Iterator[tuple[str, int]]:
    """How many have each outcome."""
    for outcome in (AGREES, REFUSED, DIFFERENT, DRAWS, CRASH, BROKEN, MISSING):
        yield outcome, sum(verdict.outcome == outcome for verdict in verdicts)
