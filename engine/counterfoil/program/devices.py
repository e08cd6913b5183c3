"""Devices that a step names: a program has none, and whoever runs it chooses."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

import torch
from torch import Tensor
from torch.overrides import TorchFunctionMode
from torch.utils._pytree import tree_map

from counterfoil.program.remedies import Notes
from counterfoil.program.whereabouts import client_line, in_brackets

_NAME = re.compile(r"(cuda|mps|xpu|hpu|npu|xla|mtia|privateuseone)(:\d+)?")
_MOVES = {Tensor.cuda, Tensor.xpu, Tensor.pin_memory}
_HERE = torch.device("cpu")


class OneDevice(TorchFunctionMode):
    """While active, tensors stay where they are, whichever accelerator the code names.

    Args:
        notes: Is told what was left out.
    """

    def __init__(self, notes: Notes) -> None:
        super().__init__()
        self._notes = notes

    def __torch_function__(
        self, func: Callable[..., Any], types: Any, args: tuple[Any, ...] = (), kwargs: dict[str, Any] | None = None
    ) -> Any:
        """Pass on a call without its accelerator."""
        named = kwargs or {}
        if func in _MOVES:
            self._tell(func.__name__)
            return args[0]
        if func is Tensor.to or "device" in named or any(isinstance(item, torch.device) for item in args):
            found = tree_map(self._here, (args[1:], named) if func is Tensor.to else ((), named))
            moved = tuple(self._here(item) if isinstance(item, torch.device) else item for item in args)
            args = (args[0], *found[0]) if func is Tensor.to else moved
            named = found[1]
        return func(*args, **named)

    def _here(self, item: Any) -> Any:
        if isinstance(item, str) and _NAME.fullmatch(item):
            self._tell(item)
            return _HERE
        if isinstance(item, torch.device) and item.type not in ("cpu", "meta"):
            self._tell(str(item))
            return _HERE
        return item

    def _tell(self, what: str) -> None:
        self._notes.add(
            f"The step names the device {what!r}{in_brackets(client_line())}: left out, since whoever runs an order "
            "chooses where."
        )
