"""Which modules of a process are the models of a script."""

from __future__ import annotations

import gc

from torch import nn

from counterfoil.training.following.models import find_models, number_modules
from counterfoil.training.scripts.patches import Patches


class Metric(nn.Module):
    """As torchmetrics makes them: with a hash of what it has once it is made, and a comparison that gives another."""

    def __init__(self) -> None:
        super().__init__()
        self.states = {"total": 0}
        self.layer = nn.Linear(2, 2)

    def __hash__(self) -> int:
        return hash((id(self), *self.states.values()))

    def __eq__(self, other: object) -> object:  # type: ignore[override]
        return Metric()


def test_a_lazy_module_that_nothing_went_through_is_no_model() -> None:
    lazy, model = nn.LazyLinear(4), nn.Linear(3, 2)
    found = find_models(list(model.parameters()), None)
    assert model in found.modules.values()
    assert lazy not in found.modules.values()
    assert sorted(tuple(tensor.shape) for tensor in found.tensors.values()) == [(2,), (2, 3)]
    partly = nn.Sequential(nn.Linear(2, 2), lazy)
    found = find_models(list(partly[0].parameters()), None)
    assert sorted(tuple(tensor.shape) for tensor in found.tensors.values()) == [(2,), (2, 2)], "what it has already"


def test_modules_are_in_the_order_in_which_they_were_made_whatever_hash_and_comparison_they_have() -> None:
    patches = Patches()
    number_modules(patches)
    try:
        metrics = [Metric() for _ in range(8)]
        metrics.reverse()
        metrics[0].states["total"] = 1
        trained = [parameter for metric in metrics for parameter in metric.parameters()]
        gc.collect()
        names = find_models(trained, None).modules
    finally:
        patches.undo()
    # The last made was put first.
    assert [id(names[f"metric{n}" if n > 1 else "metric"]) for n in range(1, 9)] == [id(m) for m in reversed(metrics)]
