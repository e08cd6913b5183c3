"""What the operators of a step that is being traced belong to: module, pass, and line of the client's code."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from typing import Any

import torch.fx.traceback as fx_traceback
from torch import Tensor, nn

_LABEL = "counterfoil_module"
_LINE_LABEL = "counterfoil_line"
META_KEY = "nn_module_stack"
"""A node-metadata key that ``make_fx`` copies from pass to pass; ours holds ``(phase, module path, file and line)``."""


class Location:
    """Keeps track of the module, and the pass, that the operators being traced belong to."""

    def __init__(self) -> None:
        self._stack: list[str] = []
        self._set("forward", "")

    @property
    def sentence(self) -> str:
        """The place in words, to begin a sentence with."""
        return f"The module {self._path!r}" if self._path else "The step"

    @property
    def place(self) -> tuple[str, str, str]:
        """Pass, module path, and file and line, as operators that are traced now are told to belong to."""
        told: tuple[str, str, str] = _node_meta()[META_KEY]
        return told

    def at(self, place: tuple[str, str, str]) -> None:
        """Attribute the operators that follow to a :attr:`place`."""
        _node_meta()[META_KEY] = place

    def _set(self, phase: str, path: str, line: str = "") -> None:
        self._phase, self._path, self._line = phase, path, line
        self.at_line("")

    def at_line(self, line: str) -> None:
        """Attribute the operators that follow to a line of the client's code, or a library's.

        Empty for none; in a backward pass it is that of the operator whose gradient is computed.
        """
        _node_meta()[META_KEY] = (self._phase, self._path, line or self._line)

    @contextmanager
    def attribute_forward(self, model: nn.Module) -> Iterator[None]:
        """Attribute operators to the innermost module whose ``forward`` runs."""
        hooks: list[Any] = []

        def enter(path: str) -> Callable[..., None]:
            def hook(*_: Any) -> None:
                self._stack.append(path)
                self._set("forward", path)

            return hook

        def leave(path: str) -> Callable[..., None]:
            def hook(_module: nn.Module, _args: Any, output: Any) -> None:
                for tensor in _tensors(output):
                    _label(tensor, _LABEL, path)
                # A module that was running when this began was never entered.
                if self._stack and self._stack[-1] == path:
                    self._stack.pop()
                self._set("forward", self._stack[-1] if self._stack else "")

            return hook

        for path, module in model.named_modules():
            hooks += [module.register_forward_pre_hook(enter(path)), module.register_forward_hook(leave(path))]
        self._set("forward", "")
        try:
            yield
        finally:
            for hook in hooks:
                hook.remove()

    def attribute_backward(self, loss: Tensor) -> None:
        """Attribute the backward pass of each forward operator to the module that ran it."""
        _label(loss, _LABEL, "")
        seen: set[Any] = set()
        waiting = [loss.grad_fn]
        while waiting:
            node = waiting.pop()
            if node is None or node in seen:
                continue
            seen.add(node)
            path, line = _metadata(node).get(_LABEL, ""), _metadata(node).get(_LINE_LABEL, "")
            node.register_prehook(lambda _gradients, path=path, line=line: self._set("backward", path, line))
            waiting.extend(parent for parent, _ in node.next_functions)
        # The Python objects must live until the backward pass, else their hooks are lost.
        self._kept = seen

    def at_gradient(self, parameter: str) -> None:
        """Attribute the operators that follow to the sum of a parameter's gradients over micro-batches."""
        self._set("backward", parameter)

    def at_slot(self, slot: str) -> None:
        """Attribute the operators that follow to the update of a state tensor."""
        self._set("update", slot)


def _node_meta() -> dict[str, Any]:
    """The metadata that the nodes being traced receive."""
    meta: dict[str, Any] = fx_traceback.current_meta
    return meta


def _metadata(node: Any) -> dict[str, Any]:
    """The dictionary that an autograd node carries; its stub says it is a method."""
    metadata: dict[str, Any] = node.metadata
    return metadata


def _label(tensor: Tensor, key: str, text: str) -> None:
    # Inner modules finish first and label their part; what is left without a label belongs to the outer one.
    waiting = [tensor.grad_fn]
    while waiting:
        node = waiting.pop()
        if node is None or key in _metadata(node):
            continue
        _metadata(node)[key] = text
        waiting.extend(parent for parent, _ in node.next_functions)


def label_line(result: Any, line: str) -> None:
    """Note the line at which a result was computed, for the backward pass of what computed it."""
    for tensor in _tensors(result):
        if tensor.requires_grad:
            _label(tensor, _LINE_LABEL, line)


def _tensors(value: Any) -> Iterator[Tensor]:
    if isinstance(value, Tensor):
        yield value
    elif isinstance(value, Mapping):
        for item in value.values():
            yield from _tensors(item)
    elif isinstance(value, (list, tuple)):
        for item in value:
            yield from _tensors(item)
