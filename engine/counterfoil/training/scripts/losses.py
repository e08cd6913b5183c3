"""The losses from which a library's code starts its backward passes."""

from __future__ import annotations

from collections.abc import Callable

from torch import Tensor

from counterfoil.training.scripts.patches import Patches


def losses_of(step: Callable[[], object]) -> list[Tensor]:
    """Run a step of training, and return what each of its backward passes starts from, in the place of passing it.

    Args:
        step: Computes losses and calls ``backward`` of them.
    """
    losses: list[Tensor] = []
    patches = Patches()
    patches.put(Tensor, "backward", lambda loss, *_, **__: losses.append(loss))
    try:
        step()
    finally:
        patches.undo()
    return losses
