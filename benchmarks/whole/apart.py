"""Ordinary float32 training on two machines at once, and how far their weights are apart after each step.

Each machine is a process that trains as the order says, with torch's own operators in float32; after each step it
leaves its weights in a file, which is all that is kept of them, since those of every step would take tens of gigabytes.
"""

from __future__ import annotations

import subprocess
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import IO

import numpy as np
import numpy.typing as npt
import torch
from torch import Tensor

from benchmarks.campaign.task import Found
from benchmarks.programs import command, environment
from benchmarks.whole.jobs import MACHINES
from benchmarks.whole.pieces import Pieces
from counterfoil.training.orderfile import load_order
from counterfoil_core.arithmetic.compute.interpreter import Interpreter
from counterfoil_core.arithmetic.machine import open_machine
from counterfoil_core.bundle.reader import BundleReader

KEEP_EVERY = 10
"""Steps after which the whole state is kept, to go on from."""
Weights = npt.NDArray[np.float32]


@dataclass(frozen=True)
class Apart:
    """How far two states of one training are apart."""

    step: int  #: The step after which they were compared.
    distance: float  #: The Euclidean distance of all weights.
    relative: float  #: That divided by the length of the first machine's weights.
    largest: float  #: The largest distance of one weight.
    differing: int  #: How many weights differ, of ``weights``.
    weights: int  #: How many there are.


def apart(step: int, one: Weights, other: Weights) -> Apart:
    """Compare the weights of two machines after a step, in float64."""
    difference = np.subtract(one, other, dtype=np.float64)
    distance = float(np.linalg.norm(difference))
    length = float(np.linalg.norm(one.astype(np.float64)))
    return Apart(
        step,
        distance,
        distance / length if length else 0.0,
        float(np.abs(difference).max(initial=0.0)),
        int(np.count_nonzero(difference)),
        one.size,
    )


def _weights_file(folder: Path, machine: str) -> Path:
    return folder / f"ordinary-{machine}.f32"


def _state_file(folder: Path, machine: str, step: int) -> Path:
    return folder / f"ordinary-{machine}-{step:05}.pt"


def train_one(pieces: Pieces, machine: str, orders: IO[str], answers: IO[str]) -> None:
    """Be one machine: train a step for each number on a line, from the state that was kept after the step before.

    Args:
        pieces: The training; its order is written.
        machine: Key of :data:`MACHINES`; the environment of this process is that machine's.
        orders: Has the number of a step on each line.
        answers: Gets it back when the weights lie in their file.
    """
    opened = open_machine("cpu", pieces.threads)
    with BundleReader.open(pieces.order) as reader:
        job = load_order(reader)
    interpreter = Interpreter(job.program, opened.device, torch.float32)
    state: Mapping[str, Tensor] | None = None
    for line in orders:
        step = int(line)
        if state is None:
            kept = _state_file(pieces.folder, machine, step - 1)
            state = job.initial if step == 1 else torch.load(kept, weights_only=True)
        state = interpreter.run(job.inputs(step, state)).state
        trained = [state[name] for name in sorted(state) if ":" not in name and state[name].is_floating_point()]
        torch.cat([tensor.float().reshape(-1) for tensor in trained]).numpy().tofile(
            _weights_file(pieces.folder, machine)
        )
        if step % KEEP_EVERY == 0:
            torch.save(dict(state), _state_file(pieces.folder, machine, step))
        print(step, file=answers, flush=True)


@contextmanager
def _machines(arguments: list[str]) -> Iterator[dict[str, subprocess.Popen[str]]]:
    started = {
        name: subprocess.Popen(
            command(*arguments, "--machine", name),
            env=environment(**variables),
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            encoding="utf-8",
        )
        for name, variables in MACHINES.items()
    }
    try:
        yield started
    finally:
        for process in started.values():
            process.kill()
            process.wait()


def train_apart(pieces: Pieces, arguments: list[str]) -> Found:
    """Train on both machines, step by step, or go on with that.

    Args:
        pieces: The training.
        arguments: The command of the laboratory that is one machine, without ``--machine``.
    """
    lines, begin = pieces.lines("apart"), _kept_step(pieces.folder) + 1
    with _machines(arguments) as machines:
        for step in range(begin, pieces.job.steps + 1):
            for process in machines.values():
                assert process.stdin is not None
                process.stdin.write(f"{step}\n")
                process.stdin.flush()
            for name, process in machines.items():
                assert process.stdout is not None
                if process.stdout.readline().strip() != str(step):
                    raise RuntimeError(f"the machine '{name}' ended at step {step}: {process.wait()}")
            found = [np.fromfile(_weights_file(pieces.folder, name), np.float32) for name in machines]
            lines.keep(**vars(apart(step, *found)))
            if step % KEEP_EVERY == 0:
                for name in machines:
                    _state_file(pieces.folder, name, step - KEEP_EVERY).unlink(missing_ok=True)
    rows = lines.rows()
    said = f"{rows[-1]['relative']:.2g} of the weights' length apart after step {rows[-1]['step']}"
    # Without a difference the machines would be no two machines, and equal replays would show nothing.
    strange = () if any(row["differing"] for row in rows) else ("Ordinary training was the same on both machines.",)
    return Found(said, {"steps": rows}, strange)


def _kept_step(folder: Path) -> int:
    """The last step whose state both machines kept; 0 when there is none."""
    kept = [{int(path.stem.rsplit("-", 1)[1]) for path in folder.glob(f"ordinary-{name}-*.pt")} for name in MACHINES]
    return max(set.intersection(*kept), default=0)
