"""The names that a model's tensors have in an order."""

from __future__ import annotations

import pytest
import torch
from torch import nn

from counterfoil.program.statetensors import names_in_order
from counterfoil_core.base.errors import DataError
from counterfoil_core.bundle.schema import check_name


def layers(*paths: str) -> nn.Module:
    """A model that holds its variables as Keras does."""
    model = nn.Module()
    model.torch_params = nn.ParameterDict({path: nn.Parameter(torch.zeros(1)) for path in paths})
    return model


def test_a_slash_becomes_a_dot() -> None:
    given = [name for name, _ in layers("sequential/dense/kernel", "sequential/dense_1/kernel").named_parameters()]
    names = names_in_order([*given, "fc.weight"])
    assert names["torch_params.sequential/dense/kernel"] == "torch_params.sequential.dense.kernel"
    assert names["fc.weight"] == "fc.weight"
    assert len({check_name(name) for name in names.values()}) == len(names) == 3


def test_two_names_that_become_one_are_refused() -> None:
    with pytest.raises(DataError, match=r"'a/b' and 'a\.b' of the model would both be called 'a\.b'"):
        names_in_order(["a/b", "c", "a.b"])
