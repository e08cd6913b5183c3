"""Eager training as everybody writes it, which is what differs from machine to machine."""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Mapping
from pathlib import Path

from benchmarks.accuracy.tasks import digits_task, gpt_task
from benchmarks.accuracy.training import train_eagerly
from benchmarks.cross_hardware.unrounded import root_of
from counterfoil.base.digest import Digest

_EAGER_STEPS = 10
_TEXT = b"Two machines add the same numbers in another order. " * 80


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
