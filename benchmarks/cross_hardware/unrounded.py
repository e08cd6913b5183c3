"""The same jobs as ordinary training in float32, which is what differs from machine to machine."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import torch
from torch import Tensor

from counterfoil.arithmetic.compute.interpreter import Interpreter
from counterfoil.arithmetic.machine import open_machine
from counterfoil.base.digest import Digest
from counterfoil.bundle.reader import BundleReader
from counterfoil.commit.state import state_root
from counterfoil.training.loaded import load_order


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
    interpreter = Interpreter(job.program, machine.device, torch.float32)
    state: Mapping[str, Tensor] = job.initial
    for step in range(1, job.manifest.steps + 1):
        state = interpreter.run(job.inputs(step, state)).state
    return root_of(state)
