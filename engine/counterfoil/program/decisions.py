"""What a step decides by values, although it is captured without any.

Some values are known all the same: constants that the step meets, state that it never changes, and what is computed of
these alone. The edges of a graph are an example: which of them are loops, and how many, is known when the order is
written, and the order commits to them. Such values are computed beside the capture, and given where the step asks for
them. A check of values that raises becomes a part of the step: where it does not pass the loss is infinite, and
training ends there (:mod:`counterfoil.program.validation`). Whatever else asks for a value fails, and whoever captures
refuses it.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor
from torch._subclasses.fake_tensor import FakeTensor
from torch.utils._python_dispatch import TorchDispatchMode, _disable_current_modes
from torch.utils._pytree import tree_leaves, tree_map
from torch.utils.weak import WeakTensorKeyDictionary

from counterfoil.program import validation, whereabouts

_aten = torch.ops.aten
_MOST_ELEMENTS = 2**24
"""Larger values are not computed beside the capture."""
_LIKE = frozenset({"full_like", "new_full", "new_ones", "new_zeros", "ones_like", "zeros_like"})
"""Operators whose results depend on the shape of a tensor and not on its values."""
_MADE = _LIKE | {"arange", "eye", "full", "ones", "scalar_tensor", "tril_indices", "triu_indices", "zeros"}
_ASSERTIONS = frozenset({"_assert_async", "_functional_assert_async", "_assert_scalar"})
_TRUTHS: Mapping[str, Callable[..., Tensor]] = {
    "_local_scalar_dense": lambda x: x != 0,
    "equal": lambda x, y: (x == y).all() if x.shape == y.shape else torch.tensor(False),
}
"""Operators that take the truth out of tensors, and the same truth as a tensor."""
_INDEXED = frozenset({"index", "index_put", "index_put_", "_index_put_impl_"})


@dataclass(frozen=True)
class _Known:
    """A value, and the names of the state tensors that it was computed from."""

    value: Tensor
    names: frozenset[str] = frozenset()


_Values = Mapping[int, _Known | None]
"""What is known of the tensors that an operator is given, by their identities."""


class Decisions(TorchDispatchMode):  # type: ignore[no-untyped-call]
    """Answers what a step asks of values where the answer is known; active above the modes of the capture.

    Args:
        moved: Told file and line of the client's code before every operator.
        own_storages: Addresses of the memory of the model's own tensors, whose values the step must not rely on.
    """

    def __init__(self, moved: Callable[[str], None], own_storages: set[int]) -> None:
        super().__init__()  # type: ignore[no-untyped-call]
        self._moved = moved
        self._own_storages = own_storages
        self._computed = WeakTensorKeyDictionary()
        self._met: dict[int, tuple[Tensor, _Known]] = {}
        """Tensors with values that the step met, kept alive, and copies of them."""
        self._changed: dict[int, object] = {}
        """Memory whose contents are not known any more, by address, kept alive."""
        self._spread: frozenset[str] = frozenset()
        self.relied_on: set[str] = set()
        """Names of the state tensors by whose values something was decided."""
        self._asserted: list[Tensor] = []
        """What must be true in every step."""

    def know(self, name: str, given: Tensor, value: Tensor) -> None:
        """Take the value of a state tensor as known. Whoever captures finds out whether the step changes it.

        Args:
            name: Its name.
            given: The tensor that stands for it in the capture.
            value: Its value.
        """
        if value.numel() <= _MOST_ELEMENTS:
            with _disable_current_modes():
                self._computed[given] = _Known(value.detach().clone(), frozenset({name}))

    def hold(self, truth: Tensor) -> None:
        """Let the step end training where a truth value does not hold, as a check does that does not pass."""
        self._asserted.append(truth)

    def knows(self, tensor: Tensor) -> bool:
        """Whether the value of a tensor is known."""
        return self._value(tensor) is not None

    def stopping(self, loss: Tensor) -> Tensor:
        """Return the loss, infinite where a check of the step so far does not pass."""
        for truth in self._asserted:
            loss = torch.where(truth.reshape(()), loss, torch.full((), math.inf))
        self._asserted.clear()
        return loss

    def __torch_dispatch__(
        self, func: Any, types: Any, args: tuple[Any, ...] = (), kwargs: Mapping[str, Any] | None = None
    ) -> Any:
        """Pass an operator on to the capture, unless it asks for a value."""
        kwargs = dict(kwargs or {})
        self._moved(whereabouts.client_line())
        name = func._schema.name.partition("::")[2]
        if name in _ASSERTIONS:
            if isinstance(args[0], Tensor):
                self._asserted.append(args[0] != 0)
            return None
        tensors = [item for item in tree_leaves((args, kwargs)) if isinstance(item, Tensor)]
        values = {id(tensor): self._value(tensor) for tensor in tensors}
        all_known = bool(tensors) and None not in values.values()
        if all_known and _asks(func, name, args):
            return self._answer(func, args, kwargs, values)
        if name in _TRUTHS and (check := validation.check_at(whereabouts.asking_frame())) is not None:
            if check.raises:
                self._asserted.append(_TRUTHS[name](*args) == check.passes)
            return check.passes
        if name in _INDEXED:
            args = (args[0], self._without_masks(args[1], values), *args[2:])
        elif name == "masked_select" and values[id(args[1])] is not None:
            return self._selected(args[0], args[1], values)
        result = func(*args, **kwargs)
        if func._schema.is_mutable:
            self._follow_change(func, args, kwargs, values, all_known=all_known)
        elif (all_known or name in _MADE) and torch.Tag.nondeterministic_seeded not in func.tags:
            self._follow(func, args, kwargs, values, result)
        return result

    def _value(self, tensor: Tensor) -> _Known | None:
        found: _Known | None
        if isinstance(tensor, FakeTensor):
            found = self._computed.get(tensor)  # type: ignore[no-untyped-call]
        else:
            found = self._met[id(tensor)][1] if id(tensor) in self._met else self._meet(tensor)
        return None if found is None or _memory(found.value) in self._changed else found

    def _meet(self, tensor: Tensor) -> _Known | None:
        plain = type(tensor) is Tensor and tensor.layout is torch.strided and tensor.device.type == "cpu"
        if not plain or tensor.requires_grad or tensor.numel() > _MOST_ELEMENTS:
            return None
        with _disable_current_modes():
            if _memory(tensor) in self._own_storages:
                return None
            # A copy, so that nothing that is done to the value is done to the client's tensor.
            known = _Known(tensor.detach().clone())
        self._met[id(tensor)] = (tensor, known)
        return known

    def _answer(self, func: Any, args: Any, kwargs: Any, values: _Values) -> Any:
        """Compute what depends on known values alone; tensors of the result become constants of the order."""
        result = _compute(func, args, kwargs, values)
        names = self._names(values)
        self.relied_on |= names

        def given(item: Any) -> Any:
            if not isinstance(item, Tensor):
                return item
            # As torch hands out a new tensor of numbers: the step may change what it gets.
            made = _aten.lift_fresh_copy.default(item)
            with _disable_current_modes():
                self._computed[made] = _Known(item.clone(), names)
            return made

        result = tree_map(given, result)
        return result

    def _without_masks(self, indices: Any, values: _Values) -> list[Any]:
        """Indices of an operator, with the places of a known mask in its stead."""
        result: list[Any] = []
        for index in indices:
            known = values[id(index)] if isinstance(index, Tensor) and index.dtype is torch.bool else None
            result += [index] if known is None else self._places(known)
        return result

    def _places(self, mask: _Known, shape: torch.Size | None = None) -> list[Tensor]:
        self.relied_on |= mask.names | self._spread
        with _disable_current_modes():
            whole = mask.value if shape is None else mask.value.expand(shape)
            return list(whole.nonzero(as_tuple=True))

    def _selected(self, x: Tensor, mask: Tensor, values: _Values) -> Any:
        known = values[id(mask)]
        assert known is not None
        shape = torch.broadcast_shapes(x.shape, mask.shape)  # type: ignore[no-untyped-call]
        return _aten.index.Tensor(x.expand(shape), self._places(known, shape))

    def _follow(self, func: Any, args: Any, kwargs: Any, values: _Values, result: Any) -> None:
        """Compute beside the capture what an operator makes of known values alone."""
        made = [item for item in tree_leaves(result) if isinstance(item, Tensor)]
        if any(not isinstance(item, FakeTensor) or item.numel() > _MOST_ELEMENTS for item in made) or not made:
            return
        names = self._names(values)
        computed = [item for item in tree_leaves(_compute(func, args, kwargs, values)) if isinstance(item, Tensor)]
        for item, value in zip(made, computed, strict=True):
            if value.device.type == "cpu":
                self._computed[item] = _Known(value, names)

    def _follow_change(self, func: Any, args: Any, kwargs: Any, values: _Values, *, all_known: bool) -> None:
        """Change known values as the step does; what it changes by unknown ones is known no longer."""
        arguments = [*zip(func._schema.arguments, args, strict=False)]
        arguments += [
            (argument, kwargs[argument.name]) for argument in func._schema.arguments if argument.name in kwargs
        ]
        written = [
            item
            for argument, given in arguments
            if argument.alias_info is not None and argument.alias_info.is_write
            for item in tree_leaves(given)
            if isinstance(item, Tensor)
        ]
        seeded = torch.Tag.nondeterministic_seeded in func.tags
        if all_known and not seeded and all(isinstance(item, FakeTensor) for item in written):
            self._spread |= self._names(values)
            _compute(func, args, kwargs, values)
            return
        for item in written:
            known = values.get(id(item))
            if known is not None and known.value.numel():
                self._changed[_memory(known.value)] = known.value

    def _names(self, values: _Values) -> frozenset[str]:
        return self._spread.union(*(known.names for known in values.values() if known is not None))


def _asks(func: Any, name: str, args: tuple[Any, ...]) -> bool:
    """Whether the capture cannot go on without an operator's result."""
    if name == "index":
        return any(isinstance(index, Tensor) and index.dtype is torch.bool for index in args[1])
    return torch.Tag.data_dependent_output in func.tags or torch.Tag.dynamic_output_shape in func.tags


def _compute(func: Any, args: Any, kwargs: Any, values: _Values) -> Any:
    def given(item: Any) -> Any:
        if not isinstance(item, Tensor) or id(item) not in values:
            return item
        known = values[id(item)]
        # Without a value, its shape is all that is asked for.
        return torch.empty((), dtype=item.dtype).expand(item.shape) if known is None else known.value

    with _disable_current_modes(), torch.no_grad():
        real_args, real_kwargs = tree_map(given, (args, kwargs))
        return func(*real_args, **real_kwargs)


def _memory(tensor: Tensor) -> int:
    return tensor.untyped_storage().data_ptr()
