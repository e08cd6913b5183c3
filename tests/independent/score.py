"""The score of an evaluation, read as docs/evaluations.md says it, by nothing of Counterfoil."""

from __future__ import annotations

from typing import Any

import numpy as np

from independent.bundle import Bundle, need, state_root

PREFIX = "score:"


def score(bundle: Bundle) -> dict[str, Any]:
    """Model root, data root and counts by name, of the stored last state; raises RefusedError."""
    changed = {name for program in bundle.programs.values() for name in program["updates"]}
    need(changed and all(name.startswith(PREFIX) for name in changed), "steps that change something else")
    initial, last = bundle.group("order/initial"), bundle.group(f"run/checkpoints/{bundle.steps:010d}")
    need(all(initial[name].dtype == np.int64 and not initial[name].any() for name in changed), "no zero to begin with")
    model = {name: array for name, array in initial.items() if name not in changed}
    scores = {name: last[name] for name in changed}
    need(state_root({**model, **scores}) == bundle.root_of(bundle.steps), "another last state")
    return {
        "model_root": state_root(model).hex(),
        "data_root": state_root(bundle.group("order/data")).hex(),
        "counts": {name.removeprefix(PREFIX): array for name, array in scores.items()},
    }
