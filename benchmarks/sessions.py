"""Orders recorded and runs audited as everybody's are, from files in a folder."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import torch
from torch import Tensor

from counterfoil.audit.hearings import run_audit
from counterfoil.signing.privatekeys import generate_key, load_private_key
from counterfoil.training.order import OrderDraft
from counterfoil.training.orderfile import load_order
from counterfoil.training.recorder import record
from counterfoil.training.recordingevents import StepRecorded
from counterfoil_core.arithmetic.compute.interpreter import Interpreter
from counterfoil_core.arithmetic.machine import open_machine
from counterfoil_core.base.digest import Digest
from counterfoil_core.bundle.reader import BundleReader
from counterfoil_core.commit.state import state_root
from counterfoil_core.signing.keys import SigningKey
from counterfoil_core.values.events import AuditFinished, StepReplayed
from counterfoil_core.values.outcome import Outcome
from counterfoil_core.values.request import AuditRequest


def key_in(folder: Path, name: str = "trainer.pem") -> SigningKey:
    """Return the key of a folder, which is made when it is missing. It protects nothing."""
    if not (folder / name).exists():
        generate_key(folder / name, None)
    return load_private_key(folder / name, None)


def recorded_steps(folder: Path, draft: OrderDraft, **settings: Any) -> Iterator[StepRecorded]:
    """Write an order as ``job.cfoil`` of a folder and record it as ``run.cfoil``; yields its steps.

    Args:
        folder: The folder.
        draft: The order; the trial of its first step is left out.
        settings: As :func:`counterfoil.training.recorder.record` takes them.
    """
    draft.write(folder / "job.cfoil", trial=False)
    for event in record(folder / "job.cfoil", folder / "run.cfoil", key_in(folder), fresh=True, **settings):
        if isinstance(event, StepRecorded):
            yield event


def replayed_steps(folder: Path, threads: int | None = None) -> Iterator[StepReplayed]:
    """Audit ``run.cfoil`` of a folder; yields its steps.

    Raises:
        RuntimeError: It was not VERIFIED.
    """
    for event in run_audit(AuditRequest(folder / "run.cfoil", folder / "job.cfoil", threads=threads)):
        if isinstance(event, StepReplayed):
            yield event
        elif isinstance(event, AuditFinished) and event.report.outcome is not Outcome.VERIFIED:
            raise RuntimeError(f"the recorded steps were not verified: {event.report.reason}")


def audit(request: AuditRequest, **settings: Any) -> AuditFinished:
    """Audit a run to its end.

    Args:
        request: What to audit.
        settings: As :func:`counterfoil.audit.hearings.run_audit` takes them.
    """
    *_, last = run_audit(request, **settings)
    assert isinstance(last, AuditFinished)
    return last


def root_of(state: Mapping[str, Tensor]) -> Digest:
    """Return the state root of tensors on any device."""
    return state_root({name: tensor.detach().cpu().numpy() for name, tensor in state.items()})


def train_unrounded(order: Path, device: str, threads: int | None) -> Digest:
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
