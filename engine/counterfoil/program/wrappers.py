"""What torch puts around a model, or a function, to compute it elsewhere or faster: left out while a step is traced."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from typing import Any, cast

import torch
from torch import nn
from torch.nn import attention
from torch.nn.parallel import DataParallel, DistributedDataParallel

from counterfoil.program.remedies import Notes
from counterfoil_core.base.errors import ProgramError

_AROUND: tuple[type[nn.Module], ...] = (DataParallel, DistributedDataParallel)
_SWITCHES = ("enable_flash_sdp", "enable_mem_efficient_sdp", "enable_math_sdp", "enable_cudnn_sdp")
_SHARDING = {
    "FullyShardedDataParallel": "FSDP",
    "FSDPModule": "FSDP",
    "DeepSpeedEngine": "DeepSpeed",
    "DistributedModelParallel": "A distributed model",
    "PipelineStage": "A pipeline",
}
"""Names of classes, torch's and others', that hold a part of the parameters alone."""


@contextmanager
def unwrap_calls(notes: Notes) -> Iterator[None]:
    """Let wrappers call what they wrap, compiled functions what they were compiled from, and no kernel be chosen.

    Args:
        notes: Is told of each.
    """
    with ExitStack() as changed:
        for kind in _AROUND:
            _put(changed, kind, "forward", _calling(notes))
        # The operators of the plain definition are the ones that a program holds.
        _put(changed, attention, "_sdpa_kernel", lambda *_, **__: None)
        for name in _SWITCHES:
            if hasattr(torch.backends.cuda, name):
                _put(changed, torch.backends.cuda, name, lambda _enabled: None)
        dynamo = sys.modules.get("torch._dynamo")
        if dynamo is not None:
            changed.enter_context(dynamo.config.patch(error_on_nested_fx_trace=False))
        yield


def _put(changed: ExitStack, owner: Any, name: str, value: Any) -> None:
    changed.callback(setattr, owner, name, getattr(owner, name))
    setattr(owner, name, value)


def _calling(notes: Notes) -> Callable[..., Any]:
    def forward(self: Any, *args: Any, **named: Any) -> Any:
        notes.add(wrapper_note(self))
        return self.module(*args, **named)

    return forward


def wrapper_note(wrapper: nn.Module) -> str:
    """Return the note on a wrapper around a model.

    Raises:
        ProgramError: It computes on several processes.
    """
    group = getattr(wrapper, "process_group", None)
    name = type(wrapper).__name__
    if group is not None and group.size() > 1:
        raise ProgramError(
            f"The model is wrapped in {name} over {group.size()} processes, and each of them has a part of the batch.",
            remedy="Write the order in one process, with the whole batch of a step.",
        )
    return f"{name} is taken off: an order is one step of the whole model; who runs it chooses the machines."


def model_within(model: nn.Module, notes: Notes) -> nn.Module:
    """Return the model that torch's wrappers are around.

    Args:
        model: A model, in a wrapper or not.
        notes: Is told what was taken off.

    Raises:
        ProgramError: It is wrapped in what splits its parameters, or it is an average of another model.
    """
    while True:
        _check_whole(model)
        if isinstance(model, _AROUND):
            notes.add(wrapper_note(model))
            model = cast(nn.Module, model.module)
        elif isinstance(getattr(model, "_orig_mod", None), nn.Module):
            notes.add(_COMPILED)
            model = cast(nn.Module, model._orig_mod)
        else:
            break
    if any(isinstance(getattr(module, "_orig_mod", None), nn.Module) for module in model.modules()):
        notes.add(_COMPILED)
    return model


_COMPILED = "torch.compile is left out: what was compiled is captured as it was written."


def function_within(function: Callable[..., Any], notes: Notes) -> Callable[..., Any]:
    """Return the function that ``torch.compile`` was given; another one as it is."""
    original = getattr(function, "_torchdynamo_orig_callable", None)
    if original is None:
        return function
    notes.add(_COMPILED)
    return original  # type: ignore[no-any-return]


def _check_whole(model: nn.Module) -> None:
    for kind in type(model).__mro__:
        if kind.__name__ in _SHARDING:
            raise ProgramError(
                f"The model is a {type(model).__name__}: {_SHARDING[kind.__name__]} gives each process a part of the "
                "parameters, and an order holds all of them.",
                remedy="Order the model before it is wrapped; who trains chooses how to split the work.",
            )
    if isinstance(model, torch.optim.swa_utils.AveragedModel):
        raise ProgramError(
            "The model is an AveragedModel: an average of the weights of another one, which is trained.",
            remedy="Order the model that is trained; counterfoil.WeightAverage(rule, decay) keeps the average.",
        )
