"""What an evaluation is: an order whose steps change nothing of the state but scores, integers that begin at zero.

That is a property of the order's programs and of its initial state, and of no name that somebody gave it. Whatever a
score counts, the program says; docs/evaluations.md.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping

import numpy as np

from counterfoil_core.base.arrays import Array
from counterfoil_core.base.digest import Digest
from counterfoil_core.bundle.schema import OrderManifest
from counterfoil_core.commit.state import state_tree, tensor_digest
from counterfoil_core.program.graph import Program
from counterfoil_core.values.runfacts import MAX_SCORES, Score, ScoreCount

SCORE = "score:"
"""What the names of scores begin with. Tensors of a module have no colon, and slots have a parameter's name behind."""

NATS = f"{SCORE}nats"
"""The score that is a sum of losses, in units of 2^-20."""


def score_names(programs: Iterable[Program]) -> tuple[str, ...]:
    """Return the state tensors that are the scores of an evaluation, sorted; none where the steps change others.

    Args:
        programs: The programs of an order whose steps have no shares.
    """
    changed = {name for program in programs for name in program.updates}
    return tuple(sorted(changed)) if all(name.startswith(SCORE) for name in changed) else ()


def score_of(
    manifest: OrderManifest, initial: Mapping[str, Array], last: Mapping[str, Array], state_root: Digest
) -> Score | None:
    """Return what a model scored; None where that does not follow from what order and run commit to.

    Args:
        manifest: The order, an evaluation.
        initial: The initial state as it was read, and as it is digested here.
        last: The scores after the last step as they were read, by the names of :func:`score_names`.
        state_root: What the run commits to for that step.
    """
    before = {name: tensor_digest(name, array) for name, array in initial.items()}
    after = before | {name: tensor_digest(name, array) for name, array in last.items()}
    if state_tree(before).root != manifest.initial_root or state_tree(after).root != state_root:
        return None
    from_zero = all(name in initial and not np.any(initial[name]) for name in last)
    whole = all(array.dtype == np.int64 and not np.any(array < 0) for array in last.values())
    if not from_zero or not whole or sum(array.size for array in last.values()) > MAX_SCORES:
        return None
    counts = tuple(
        ScoreCount(name.removeprefix(SCORE), tuple(array.shape), tuple(map(int, array.flat)))
        for name, array in sorted(last.items())
    )
    model = {name: digest for name, digest in before.items() if name not in last}
    return Score(state_tree(model).root, manifest.data_root, counts)
