"""What ``torch.utils.checkpoint`` is given, captured as if it were called: a program says what it computes again.

Checkpointing changes no value, only what is kept. Whoever wants it asks for it in the order, of any model
(:mod:`counterfoil.program.recompute`).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager, nullcontext
from typing import Any

import torch
from torch import Tensor
from torch.utils import checkpoint


@contextmanager
def called_directly() -> Iterator[None]:
    """Let ``torch.utils.checkpoint.checkpoint`` call what it is given and keep what the backward pass needs.

    Both of its forms: what surrounds the call with ``use_reentrant=False``, and what makes it with ``True``.
    """
    # From torch 2.14 on the first of them is for others alone, and torch calls the second.
    names = {
        "_checkpoint_without_reentrant_generator": _surrounding,
        "_checkpoint_without_reentrant_generator_impl": _surrounding,
        "CheckpointFunction": _Calling,
    }
    before = {name: getattr(checkpoint, name) for name in names if hasattr(checkpoint, name)}
    try:
        for name in before:
            setattr(checkpoint, name, names[name])
        yield
    finally:
        for name, theirs in before.items():
            setattr(checkpoint, name, theirs)


def _surrounding(*_: Any, **__: Any) -> Iterator[None]:
    """Nothing before the call, and nothing after it."""
    yield


class _Calling:
    @staticmethod
    def apply(function: Callable[..., Any], _preserve: bool, *args: Any) -> Any:
        # As torch does: where no argument requires a gradient, nothing inside gets one.
        learns = any(isinstance(item, Tensor) and item.requires_grad for item in args)
        with nullcontext() if learns else torch.no_grad():
            return function(*args)
