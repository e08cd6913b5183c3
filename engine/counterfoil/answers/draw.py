"""Which token is taken of a row of logits: the most probable one, or one that is drawn by a program.

Drawing is argmax p_i / e_i with exponential draws e_i, so that nothing is added up but for top-p (docs/answers.md).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import torch
from torch import Tensor, nn

from counterfoil.program.capture import capture
from counterfoil.program.update.rule import NothingTrained
from counterfoil.signing.kinds import Sampling
from counterfoil_core.arithmetic.compute.interpreter import Draws, Interpreter, StepInputs
from counterfoil_core.arithmetic.machine import Machine
from counterfoil_core.base.precision import ExactPrecision
from counterfoil_core.operators.node import TensorType

_LOGITS = "logits"


@dataclass(frozen=True)
class Choice:
    """How the tokens of an answer are chosen."""

    interpreter: Interpreter | None  #: Runs the program that draws; None where the most probable token is taken.
    seed: int  #: Seed of the draws.

    @classmethod
    def of(
        cls, sampling: Sampling | None, vocabulary: int, seed: int, machine: Machine, precision: ExactPrecision
    ) -> Choice:
        """Make ready to choose.

        Args:
            sampling: How tokens are drawn, if they are.
            vocabulary: How many there are.
            seed: Seed of the draws, 0 to 2^64 - 1.
            machine: Where to compute.
            precision: The precision profile.
        """
        if sampling is None:
            return cls(None, seed)
        batch = {_LOGITS: TensorType("float32", (1, vocabulary))}
        drawing = _Drawing(sampling)
        captured = capture(_Taken(), drawing, NothingTrained(), batch, exact=precision)
        return cls(machine.interpreter(captured.program, precision), seed)

    def token(self, row: Tensor, number: int) -> int:
        """Return the token that a row of logits leads to; of equal ones the first.

        Args:
            row: float32 ``[vocabulary]``, all finite.
            number: Which token of the answer it is, from 1.
        """
        if self.interpreter is None:
            return int(row.numpy().argmax())
        before = {"taken": torch.zeros(1, dtype=torch.int64)}
        inputs = StepInputs(before, {_LOGITS: row[None]}, {}, Draws(self.seed, number))
        return int(self.interpreter.run(inputs).state["taken"])


class _Taken(nn.Module):
    """Holds the token that was taken."""

    def __init__(self) -> None:
        super().__init__()
        self.register_buffer("taken", torch.zeros(1, dtype=torch.int64))


@dataclass(frozen=True)
class _Drawing:
    """The objective of the program that draws."""

    sampling: Sampling

    def __call__(self, model: nn.Module, batch: Mapping[str, Tensor]) -> Tensor:
        logits = batch[_LOGITS][0]
        draws = torch.empty_like(logits).exponential_()
        sorted_logits, tokens = torch.sort(logits, descending=True, stable=True)
        kept = logits.shape[0] if self.sampling.top_k is None else min(self.sampling.top_k, logits.shape[0])
        weights = torch.exp((sorted_logits[:kept] - sorted_logits[0]) / float(self.sampling.temperature))
        tokens = tokens[:kept]
        if self.sampling.top_p is not None:
            sums = torch.cumsum(weights, 0)
            # The first stays, and each whose predecessors together have less than top-p of all.
            before = torch.cat([torch.zeros(1), sums[:-1]])
            weights = torch.where(before < sums[-1] * float(self.sampling.top_p), weights, torch.zeros(()))
        model.taken = tokens.gather(0, torch.argmax(weights / draws[tokens])[None])
        return torch.zeros(())
