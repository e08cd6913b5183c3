"""The order of a script, and its training executed step by step in float64."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import torch
from tests.fidelity import entry, mutants
from tests.fidelity.plainrun import drawing_nothing
from torch import Tensor

from counterfoil.training.order import OrderDraft
from counterfoil_core.arithmetic.compute.interpreter import Interpreter
from counterfoil_core.base.errors import CounterfoilError, NonFiniteError
from counterfoil_core.operators.facts import DRAWS
from counterfoil_core.order.executable import LoadedOrder


@dataclass(frozen=True)
class Ordered:
    """What became of a script that was given to the product.

    Attributes:
        refused: The sentence of a refusal; empty where there is an order.
        steps: How many steps are ordered.
        losses: The loss of each step.
        state: The last state by name, slots of optimizers included.
        draws: Whether steps draw random numbers.
        diverged: Why a step cannot be executed; empty where all can.
    """

    refused: str = ""
    steps: int = 0
    losses: tuple[float, ...] = ()
    state: dict[str, Tensor] | None = None
    draws: bool = False
    diverged: str = ""


def order_and_execute(script: Path, *, quiet: bool = False, mutant: str = "", compared: bool = True) -> Ordered:
    """Order a script, and execute the order; whatever is no refusal goes on.

    Args:
        script: The script.
        quiet: Draw nothing within a model: see :func:`tests.fidelity.plainrun.drawing_nothing`.
        mutant: The name of a mutant of the follower, or none.
        compared: Whether the product compares its order with the script.
    """
    with ExitStack() as stack:
        if quiet:
            stack.enter_context(drawing_nothing())
            stack.enter_context(entry.quiet_processes())
        if mutant:
            stack.enter_context(mutants.mutated(mutant))
        if not compared:
            stack.enter_context(entry.uncompared())
        try:
            draft = entry.ordered(script)
        except CounterfoilError as error:
            return Ordered(refused=str(error))
    return _executed(draft)


def _executed(draft: OrderDraft) -> Ordered:
    assert draft.updates is None, "steps of several shares are not executed here"
    draws = any(node.operator in DRAWS for program in draft.all_programs for node in program.nodes)
    losses: list[float] = []
    state = {name: torch.from_numpy(np.array(array)) for name, array in draft.initial.items()}
    diverged = ""
    try:
        for loss, new in _steps(draft, state):
            losses.append(loss)
            state.update(new)
    except NonFiniteError as error:
        diverged = str(error)
    return Ordered("", draft.manifest.steps, tuple(losses), state, draws, diverged)


def _steps(draft: OrderDraft, state: dict[str, Tensor]) -> Iterator[tuple[float, dict[str, Tensor]]]:
    order = LoadedOrder(
        draft.manifest, draft.programs, draft.initial, draft.schedule, draft.scalars, draft.data, draft.updates
    )
    interpreters = {program.digest: Interpreter(program, torch.device("cpu")) for program in draft.all_programs}
    for step in range(1, draft.manifest.steps + 1):
        result = interpreters[order.programs.of(step).digest].run(order.inputs(step, state))
        yield result.loss, result.state
