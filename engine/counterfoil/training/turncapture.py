"""Captured steps that take turns in one order: one state for all of them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from torch import Tensor

from counterfoil.program.capture import CapturedStep
from counterfoil_core.bundle.schema import ModuleNames
from counterfoil_core.commit.state import tensor_digest
from counterfoil_core.program.graph import Input, Program


def module_names(tied: Mapping[str, str], unsaved: Sequence[str]) -> ModuleNames | None:
    """Return how files of a module name its tensors; None where that goes without saying."""
    return ModuleNames(tied, tuple(sorted(unsaved))) if tied or unsaved else None


@dataclass(frozen=True)
class United:
    """What captured steps are as one order."""

    programs: dict[str, Program]  #: The program of each step, by name.
    updates: dict[str, Program]  #: The update program of each, where steps have shares; else none.
    state: dict[str, Tensor]  #: The state of all of them.
    module: ModuleNames | None  #: How files of the module name its tensors.


def united(captured: Mapping[str, CapturedStep]) -> United:
    """Return the programs, the state of all of them, and how files of the module name its tensors.

    Constants that a program met have names by number (``constant.1``): where another program's of that name is
    another, it is called after its own.

    Args:
        captured: The captured steps by the names of their programs.
    """
    programs: dict[str, Program] = {}
    updates: dict[str, Program] = {}
    state: dict[str, Tensor] = {}
    tied: dict[str, str] = {}
    unsaved: set[str] = set()
    for turn, step in captured.items():
        names = {
            name: f"{turn}.{name}" for name, tensor in step.initial_state.items() if not _same(state.get(name), tensor)
        }
        programs[turn] = _renamed(step.program, names)
        if step.update is not None:
            updates[turn] = _renamed(step.update, names)
        state |= {names.get(name, name): tensor for name, tensor in step.initial_state.items()}
        tied |= step.tied
        unsaved |= {names.get(name, name) for name in step.unsaved}
    return United(programs, updates, state, module_names(tied, tuple(unsaved)))


def _same(known: Tensor | None, tensor: Tensor) -> bool:
    """Whether a state tensor is not known under its name, or is known to be this one."""
    if known is None:
        return True
    same_type = (known.dtype, known.shape) == (tensor.dtype, tensor.shape)
    return same_type and tensor_digest("", known.numpy()) == tensor_digest("", tensor.numpy())


def _renamed(program: Program, names: Mapping[str, str]) -> Program:
    def new(item: Input) -> Input:
        return replace(item, name=names[item.name]) if item.kind == "state" and item.name in names else item

    updates = {names.get(name, name): value for name, value in program.updates.items()}
    return replace(program, inputs=tuple(map(new, program.inputs)), updates=updates) if names else program
