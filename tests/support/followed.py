"""Scripts that are followed in tests, and the losses of the same scripts as they are."""

from __future__ import annotations

import contextlib
import runpy
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from textwrap import dedent
from typing import Any

import torch
from torch import Tensor

from counterfoil.program.steadiness import generators_kept
from counterfoil.training.following.follower import follow
from counterfoil.training.following.script import order_of_script
from counterfoil.training.order import OrderDraft
from counterfoil.training.recorder import record
from counterfoil.training.recordingevents import StepRecorded
from counterfoil.training.scripts.handover import ScriptOrder, Wanted
from counterfoil.training.scripts.run import run_script
from counterfoil.training.stages import Preparing
from support.bundles import test_key


def write_script(folder: Path, text: str) -> Path:
    """Write a script, and return its path."""
    path = folder / "train.py"
    path.write_text(dedent(text))
    return path


def followed(script: Path, *arguments: str, steps: int | None = None, wanted: Wanted | None = None) -> ScriptOrder:
    """Return the order of what a script's own loop does, which was not seen to do it: ``--compare 0``."""
    wanted = wanted or Wanted(max_steps=steps)
    # It runs where one is, and not in a copy: what it writes is for the test's own folder.
    with contextlib.chdir(script.parent):
        return run_script(script.absolute(), arguments, wanted, around=lambda run: follow(run, wanted, script.stem))


def ordered(
    script: Path,
    *arguments: str,
    steps: int | None = None,
    compare: int | None = None,
    answers: Mapping[str, bool] | None = None,
    tell: Callable[[Preparing], None] = lambda _: None,
) -> ScriptOrder:
    """Return the order of what a script trains, compared with the script: what ``counterfoil order`` makes."""
    wanted = Wanted(max_steps=steps, compare=compare, answers=answers or {}, tell=tell)
    # It runs three times in a copy of the folder that one is in; that of the repository has thousands of files.
    with contextlib.chdir(script.parent):
        return order_of_script(script.absolute(), arguments, wanted)


@dataclass(frozen=True)
class Recorded:
    """What a recording gave: the loss of each step, and the last state."""

    losses: list[float]
    state: dict[str, Tensor]


def recorded(draft: OrderDraft, folder: Path) -> Recorded:
    """Record an order, and return its losses and its last state."""
    order, run = folder / "order.cfoil", folder / "run.cfoil"
    draft.write(order, trial=False)
    losses: list[float] = []
    state: dict[str, Tensor] = {}
    for event in record(order, run, test_key(folder), states=True):
        if isinstance(event, StepRecorded):
            losses.append(event.loss)
            state = dict(event.state or {})
    return Recorded(losses, state)


@dataclass(frozen=True)
class Plain:
    """What a script did as it is: what ``backward`` was called on, and its variables."""

    losses: list[float]
    names: dict[str, Any]


def plain(script: Path, *arguments: str) -> Plain:
    """Run a script as it is."""
    losses: list[float] = []
    with generators_kept(), _noting(losses):
        sys.argv = [str(script), *arguments]
        names = runpy.run_path(str(script), run_name="__main__")
    return Plain(losses, names)


@contextmanager
def _noting(losses: list[float]) -> Iterator[None]:
    backward, arguments = torch.autograd.backward, sys.argv

    def noting(tensors: Tensor | Sequence[Tensor], *args: Any, **kwargs: Any) -> None:
        losses.extend(float(item.detach()) for item in ([tensors] if isinstance(tensors, Tensor) else tensors))
        backward(tensors, *args, **kwargs)

    torch.autograd.backward = noting  # type: ignore[assignment]
    try:
        yield
    finally:
        torch.autograd.backward, sys.argv = backward, arguments  # type: ignore[assignment]
