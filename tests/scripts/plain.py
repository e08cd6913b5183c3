"""Runs a script as it is, and writes the losses that it goes back from, step by step, until so many steps are done.

``python plain.py losses.json STEPS optimizer|backward SCRIPT ARGS``: a step ends with the optimizer's, or, of a script
without one, with each backward pass.
"""

from __future__ import annotations

import json
import os
import runpy
import sys
from contextlib import suppress
from pathlib import Path
from typing import Any

import torch
from torch.optim.optimizer import register_optimizer_step_post_hook


class EnoughError(BaseException):
    """The last step is done; nothing catches this by its base class."""


class Watch:
    """What the script's backward passes begin with."""

    def __init__(self, steps: int, optimizer: bool) -> None:
        self.steps, self.optimizer = steps, optimizer
        self.losses: list[list[float]] = [[]]
        self.backward = torch.Tensor.backward
        self.within = False

    def went_back(self, loss: torch.Tensor, *args: Any, **options: Any) -> None:
        if self.within:
            # A mode of torch functions, such as a default device, asks for the method once more.
            self.backward(loss, *args, **options)
            return
        if loss.numel() == 1:
            self.losses[-1].append(loss.detach().double().item())
        self.within = True
        try:
            self.backward(loss, *args, **options)
        finally:
            self.within = False
        if not self.optimizer:
            self.step_ended()

    def step_ended(self, *_arguments: Any) -> None:
        if self.losses[-1]:
            self.losses.append([])
        if len(self.losses) > self.steps:
            raise EnoughError


def main() -> None:
    out, steps, ending, script = sys.argv[1:5]
    watch = Watch(int(steps), ending == "optimizer")
    torch.Tensor.backward = lambda loss, *args, **options: watch.went_back(loss, *args, **options)  # type: ignore[method-assign]
    register_optimizer_step_post_hook(watch.step_ended)
    sys.argv = sys.argv[4:]
    sys.path.insert(0, str(Path(script).resolve().parent))
    with suppress(EnoughError):
        runpy.run_path(script, run_name="__main__")
    Path(out).write_text(json.dumps([step for step in watch.losses if step]), encoding="utf-8")
    sys.stdout.flush()
    sys.stderr.flush()
    # Loaders' processes and the like are not waited for.
    os._exit(0)


if __name__ == "__main__":
    main()
