"""Which modules of a process are the models of a script."""

from __future__ import annotations

from torch import nn

from counterfoil.training.following.models import find_models


def test_a_lazy_module_that_nothing_went_through_is_no_model() -> None:
    lazy, model = nn.LazyLinear(4), nn.Linear(3, 2)
    found = find_models(list(model.parameters()), None)
    assert model in found.modules.values()
    assert lazy not in found.modules.values()
    assert sorted(tuple(tensor.shape) for tensor in found.tensors.values()) == [(2,), (2, 3)]
    partly = nn.Sequential(nn.Linear(2, 2), lazy)
    found = find_models(list(partly[0].parameters()), None)
    assert sorted(tuple(tensor.shape) for tensor in found.tensors.values()) == [(2,), (2, 2)], "what it has already"
