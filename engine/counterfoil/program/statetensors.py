"""What is held from one step to the next: the tensors of a model and of its optimizer, and their names."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from dataclasses import dataclass

import torch
from torch import Tensor, nn

from counterfoil.program import autocast, whereabouts
from counterfoil.program.update import UpdateRule
from counterfoil.program.update.rule import NothingTrained
from counterfoil_core.base.dtypes import STATE_DTYPES
from counterfoil_core.base.errors import DataError
from counterfoil_core.operators.node import TensorType
from counterfoil_core.program.graph import Input
from counterfoil_core.program.torchdtypes import TORCH_DTYPES

DTYPE_NAMES = {dtype: name for name, dtype in TORCH_DTYPES.items() if name in STATE_DTYPES}
"""Names of the dtypes that a program may hold."""


@dataclass(frozen=True)
class Held:
    """What is held from one step to the next, by name: what is trained, what stays, buffers, the optimizer's slots."""

    parameters: dict[str, Tensor]
    frozen: dict[str, Tensor]
    buffers: dict[str, Tensor]
    slots: dict[str, Tensor]

    @property
    def state(self) -> dict[str, Tensor]:
        """All of it."""
        return {**self.parameters, **self.frozen, **self.buffers, **self.slots}

    @property
    def storages(self) -> set[int]:
        """Addresses of the memory of the model's own tensors."""
        # A tensor without elements has no memory, and no address.
        own = (*self.parameters.values(), *self.frozen.values(), *self.buffers.values())
        return {tensor.untyped_storage().data_ptr() for tensor in own} - {0}

    @property
    def steady(self) -> set[str]:
        """Names of what no optimizer changes: its values are known, unless the step itself changes them."""
        return {*self.frozen, *self.buffers}

    def inputs(self, names: Collection[str] | None = None) -> list[Input]:
        """Return a program's state inputs, sorted by name: those of these names, or all."""
        state = self.state
        return [
            Input(name, "state", tensor_type(name, state[name])) for name in sorted(state if names is None else names)
        ]


def hold(model: nn.Module, rule: UpdateRule) -> Held:
    """Return what is held of a model and its optimizer.

    Args:
        model: The model.
        rule: The optimizer's update rule.

    Raises:
        DataError: Nothing is to be trained, or a bundle cannot hold a tensor.
    """
    parameters = {name: p.detach() for name, p in model.named_parameters() if p.requires_grad}
    if not parameters and not isinstance(rule, NothingTrained):
        raise DataError(
            "The model has no parameter that requires a gradient, so there is nothing to train.",
            remedy="Register its weights as nn.Parameter with requires_grad=True.",
        )
    for name, buffer in model.named_buffers():
        if buffer.layout is not torch.strided:
            raise DataError(
                f"The buffer {name!r} of the model is sparse, and an order holds dense tensors.",
                remedy="Register it as it is dense, to_dense(), or let the model refer to it without registering it.",
            )
    frozen = {name: p.detach() for name, p in model.named_parameters() if not p.requires_grad}
    buffers = {name: b.detach() for name, b in model.named_buffers()}
    return Held(parameters, frozen, buffers, dict(rule.slots(parameters)))


def tied_names(model: nn.Module, state: Collection[str]) -> dict[str, str]:
    """Return the names of tensors that the model has under another name as well, each with the one in the state.

    Args:
        model: The model.
        state: The names in the state.
    """
    names: dict[int, str] = {}
    tied = {}
    for listed in (model.named_parameters, model.named_buffers):
        for name, tensor in listed(remove_duplicate=False):
            if names.setdefault(id(tensor), name) != name and name not in state:
                tied[name] = names[id(tensor)]
    return tied


def unsaved_names(model: nn.Module) -> set[str]:
    """Return the names of the buffers that ``state_dict`` leaves out."""
    return {
        f"{path}.{name}" if path else name
        for path, module in model.named_modules()
        for name in module._non_persistent_buffers_set
    }


def names_in_order(names: Iterable[str]) -> dict[str, str]:
    """Return the name that each of a model's tensors has in an order.

    A name must not be a path, so that a slash, as in the names of Keras, becomes a dot.

    Args:
        names: The names of all its tensors.

    Raises:
        DataError: Two would have one name.
    """
    plain: dict[str, str] = {}
    for name in names:
        other = plain.setdefault(name.replace("/", "."), name)
        if other != name:
            raise DataError(
                f"The tensors {other!r} and {name!r} of the model would both be called {name.replace('/', '.')!r} in "
                "an order.",
                remedy="Give one of their layers another name.",
            )
    return {name: written for written, name in plain.items()}


def tensor_type(name: str, tensor: Tensor, place: str = "") -> TensorType:
    """Return dtype and shape of a tensor of a model.

    Args:
        name: The tensor's in the order.
        tensor: It.
        place: File and line at which it is of use, for the error.

    Raises:
        DataError: A bundle cannot hold it.
    """
    if tensor.dtype not in DTYPE_NAMES:
        raise DataError(
            f"The tensor {name!r} of the model has the dtype {tensor.dtype}{whereabouts.in_brackets(place)}, which a "
            "bundle cannot hold.",
            remedy=autocast.in_float32(tensor.dtype),
        )
    return TensorType(DTYPE_NAMES[tensor.dtype], tuple(tensor.shape))
