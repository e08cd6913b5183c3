"""The same jobs as ordinary training in float32, which is what differs from machine to machine.

As an order says, operator by operator, and eagerly, as everybody writes it.
"""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Mapping
from pathlib import Path

import torch
from torch import Tensor

from benchmarks.accuracy.tasks import digits_task, gpt_task
from benchmarks.accuracy.training import train_eagerly
from counterfoil.training.orderfile import load_order
from counterfoil_core.arithmetic.compute.interpreter import Interpreter
from counterfoil_core.arithmetic.machine import open_machine
from counterfoil_core.base.digest import Digest
from counterfoil_core.bundle.reader import BundleReader
from counterfoil_core.commit.state import state_root

_EAGER_STEPS = 10
_TEXT = b"Two machines add the same numbers in another order. " * 80


def root_of(state: Mapping[str, Tensor]) -> Digest:
    """Return the state root of tensors on any device."""
    return state_root({name: tensor.detach().cpu().numpy() for name, tensor in state.items()})


def unrounded(order: Path, device: str, threads: int | None) -> Digest:
    """Train as an order says with torch's own operators in float32, nothing rounded to a grid.

    Args:
        order: The order.
        device: ``cpu`` or ``cuda:0``.
        threads: Threads on the CPU.

    Returns:
        The state root after the last step.
    """
    machine = open_machine(device, threads)
    with BundleReader.open(order) as reader:
        job = load_order(reader)
    interpreters = job.programs.map(lambda program: Interpreter(program, machine.device, torch.float32))
    state: Mapping[str, Tensor] = job.initial
    for step in range(1, job.manifest.steps + 1):
        # A program of several that take turns has what it takes of the state; the rest stays as it is.
        state = {**state, **interpreters.of(step).run(job.inputs(step, state)).state}
    return root_of(state)


def _eager_digits() -> Digest:
    model, _ = train_eagerly(digits_task(_EAGER_STEPS), 1)
    return root_of(model.state_dict())


def _eager_gpt() -> Digest:
    with tempfile.TemporaryDirectory() as folder:
        text = Path(folder) / "text"
        text.write_bytes(_TEXT)
        model, _ = train_eagerly(gpt_task(text, _EAGER_STEPS), 1)
    return root_of(model.state_dict())


EAGER: Mapping[str, Callable[[], Digest]] = {
    f"digits-cnn with torch.optim, {_EAGER_STEPS} steps": _eager_digits,
    f"GPT with torch.optim, {_EAGER_STEPS} steps": _eager_gpt,
}
"""Eager training on the CPU: model, ``backward``, optimizer. Gives the model's state root."""
