"""Steps with and without chains, side by side: whatever one gives the other must give, bit for bit."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from torch import Tensor

from counterfoil_core.arithmetic.compute.chainplan import ChainUnit, Made, RunChain, plan_chains
from counterfoil_core.arithmetic.compute.interpreter import Draws, Interpreter, StepInputs
from counterfoil_core.arithmetic.grid.chains import run_chain
from counterfoil_core.arithmetic.grid.fingerprints import Kernels
from counterfoil_core.arithmetic.grid.log import SiteLog
from counterfoil_core.arithmetic.grid.replayrounder import ReplayingRounder
from counterfoil_core.arithmetic.grid.rounder import RecordingRounder
from counterfoil_core.base.errors import CounterfoilError
from counterfoil_core.base.precision import Precision
from counterfoil_core.kernels.result import Counts
from counterfoil_core.operators.node import Node, TensorType, Value
from counterfoil_core.program.chains import Chain
from counterfoil_core.program.graph import Input, Program

CPU = torch.device("cpu")
KEY = 1234567
PRECISION = Precision(margin_bits=36, proven=False)
"""A margin so wide that a few thousand values have logged decisions among them."""


def with_chains(program: Program, smallest: int = 1, run: RunChain = run_chain) -> Interpreter:
    """An interpreter whose chains begin at so few elements."""
    interpreter = Interpreter(program, CPU)
    interpreter.__dict__["units"] = plan_chains(program, interpreter._prepared, run, smallest)
    return interpreter


def chains_of(interpreter: Interpreter) -> list[Chain]:
    return [unit.chain for unit in interpreter.units if isinstance(unit, ChainUnit)]


@contextmanager
def counted() -> Iterator[tuple[RunChain, dict[str, int]]]:
    """What runs chains, and how many were computed together and how many were not."""
    seen = {"together": 0, "one by one": 0}

    def run(chain: Chain, operands: Sequence[Tensor], scalars: Sequence[float], rounder: Any) -> Made | None:
        made = run_chain(chain, operands, scalars, rounder)
        seen["one by one" if made is None else "together"] += 1
        return made

    yield run, seen


@dataclass(frozen=True)
class Outcome:
    """All that a step gives; or the error that it ends with."""

    error: str = ""
    state: tuple[tuple[str, bytes], ...] = ()
    loss: str = ""
    fingerprints: bytes = b""
    logs: tuple[tuple[int, bytes, bytes], ...] = ()
    counts: tuple[Counts, ...] = ()


def outcome(interpreter: Interpreter, inputs: StepInputs, rounder: Any = None) -> Outcome:
    try:
        result = interpreter.run(inputs, rounder=rounder)
    except CounterfoilError as error:
        return Outcome(error=f"{type(error).__name__}: {error} {error.remedy}")
    return Outcome(
        state=tuple((name, tensor.numpy().tobytes()) for name, tensor in sorted(result.state.items())),
        loss=result.loss.hex(),
        fingerprints=b"" if rounder is None else rounder.fingerprints.tobytes(),
        logs=tuple((s.exponent, s.indices.tobytes(), s.ups.tobytes()) for s in getattr(rounder, "logs", ())),
        counts=tuple(getattr(rounder, "counts", ())),
    )


class Sides:
    """Both ways of a program: operator by operator, and with chains.

    Args:
        program: The program.
        kernels: Rounding kernels.
        run: What runs chains.
    """

    def __init__(self, program: Program, kernels: Kernels, run: RunChain = run_chain) -> None:
        self.program = program
        self.ordinary = Interpreter(program, CPU)
        self.together = with_chains(program, run=run)
        self._kernels = kernels
        self._recorders = [RecordingRounder(program, PRECISION, kernels) for _ in range(2)]

    def unrounded(self, inputs: StepInputs) -> tuple[Outcome, Outcome]:
        return outcome(self.ordinary, inputs), outcome(self.together, inputs)

    def recorded(self, inputs: StepInputs, key: int = KEY) -> tuple[Outcome, Outcome]:
        """The recorders stay, so that the second step assumes what the first one found."""
        for recorder in self._recorders:
            recorder.begin_step(key)
        one, two = self._recorders
        return outcome(self.ordinary, inputs, one), outcome(self.together, inputs, two)

    @property
    def logs(self) -> list[SiteLog]:
        return self._recorders[0].logs

    def replayed(
        self, inputs: StepInputs, logs: Sequence[SiteLog], looking: Mapping[str, Any] | None = None, **follow: Any
    ) -> tuple[Outcome, Outcome]:
        """A replay by a log; ``looking`` is what a replayer is asked to keep."""
        found = []
        for interpreter in (self.ordinary, self.together):
            replayer = ReplayingRounder(self.program, PRECISION, self._kernels, **(looking or {}))
            replayer.follow(KEY, logs, **follow)
            found.append(outcome(interpreter, inputs, replayer))
        return found[0], found[1]


def program_of(
    nodes: Sequence[tuple[str, tuple[Any, ...], str]],
    shape: tuple[int, ...],
    *,
    states: int,
    scalars: int,
    updates: Mapping[int, int],
) -> Program:
    """A program of elementwise operators on tensors of one shape.

    Args:
        nodes: Operator, arguments and dtype of each; a node's value is the number of inputs plus its place.
        shape: The shape.
        states: Number of state tensors, the first inputs: ``s0``, ``s1``, ...
        scalars: Number of scalars, the next inputs: ``c0``, ``c1``, ...
        updates: The value that becomes a state tensor, by its number.
    """
    whole, one = TensorType("float32", shape), TensorType("float32", ())
    inputs = [Input(f"s{n}", "state", whole) for n in range(states)]
    inputs += [Input(f"c{n}", "scalar", one) for n in range(scalars)]
    made = [
        Node(name, arguments, (), (TensorType(dtype, shape),), len(inputs) + n, "layer", "update")
        for n, (name, arguments, dtype) in enumerate(nodes)
    ]
    made.append(Node("aten.mul.Tensor", (Value(states), 1.0), (), (one,), len(inputs) + len(made), "", "update"))
    loss = Value(len(inputs) + len(made) - 1)
    return Program(tuple(inputs), tuple(made), {f"s{n}": Value(v) for n, v in updates.items()}, loss)


def inputs_of(program: Program, arrays: Sequence[np.ndarray], scalars: Sequence[float]) -> StepInputs:
    state = {item.name: torch.from_numpy(a) for item, a in zip(program.state_inputs(), arrays, strict=True)}
    names = [item.name for item in program.inputs if item.kind == "scalar"]
    return StepInputs(state, {}, dict(zip(names, scalars, strict=True)), Draws(1, 1))
