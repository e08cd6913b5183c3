"""Watches a step of an optimizer: notes every operator that it calls on tensors that stand for the real ones.

Parameters, gradients and what the optimizer holds are fake tensors. Tensors of one element that the optimizer makes
itself, such as a count of its steps, are real: what it computes of these alone is no part of a program, and what they
are when they meet a fake tensor is a number of the step, as any number of Python's is.
"""

from __future__ import annotations

import builtins
import math
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from typing import Any

import torch
from torch import Tensor
from torch._ops import OpOverload
from torch._subclasses.fake_tensor import FakeTensor, FakeTensorMode
from torch.overrides import TorchFunctionMode
from torch.utils._python_dispatch import TorchDispatchMode, _disable_current_modes
from torch.utils._pytree import tree_leaves, tree_map

from counterfoil.program import whereabouts
from counterfoil.program.update.calls import Call, Fixed, Number, Ref, StepCalls, numeric
from counterfoil_core.base.errors import ProgramError

# Operators of torch on lists of tensors (`torch._foreach_add` and its kin) as operators on one after another.

_PREFIX = "aten::_foreach_"
_BY_NAME = frozenset({"addcdiv", "addcdiv_", "addcmul", "addcmul_"})
"""What takes its number by name."""
_OTHERS: Mapping[str, Callable[..., Tensor]] = {
    "norm": torch.linalg.vector_norm,
    "max": Tensor.max,
    "maximum_": Tensor.clamp_min_,
    "minimum_": Tensor.clamp_max_,
}
"""What has another name on one tensor."""


def each(func: OpOverload, args: tuple[Any, ...], kwargs: Mapping[str, Any]) -> list[Tensor] | None:
    """Do to each tensor of a list what an operator does to the list."""
    name = func._schema.name.removeprefix(_PREFIX)
    one = _OTHERS.get(name) or getattr(Tensor, name)
    length = next(len(item) for item in (*args, *kwargs.values()) if isinstance(item, (list, tuple)))

    def own(item: Any, place: int) -> Any:
        return item[place] if isinstance(item, (list, tuple)) else item

    made = []
    for place in range(length):
        given = [own(item, place) for item in args]
        named = {key: own(item, place) for key, item in kwargs.items() if key not in ("dtype", "non_blocking") or item}
        if name in _BY_NAME and len(given) == 4:
            named["value"] = given.pop()
        elif name in _BY_NAME and "scalars" in named:
            named["value"] = named.pop("scalars")
        made.append(torch.pow(*given) if name == "pow" else one(*given, **named))
    return made if func._schema.returns else None


_CPU = torch.device("cpu")
_WHOLE_VIEWS = frozenset({torch.ops.aten.detach.default, torch.ops.aten.alias.default})
_LISTS = "aten::_foreach_"
_COMPUTES = frozenset({"aten", "prims", "counterfoil"})
"""Libraries whose operators compute; others' mark a place for a profiler."""


class OtherStepError(Exception):
    """A step calls another operator than the one that is expected; ``line`` is where."""

    def __init__(self, line: str) -> None:
        super().__init__(line)
        self.line = line


class OpaqueError(Exception):
    """A tensor of one element takes in what is computed of gradients, and so is a tensor of the state.

    Attributes:
        made: Which of those that the step made it is; None for one that it was given.
        tensor: The tensor.
    """

    def __init__(self, made: int | None, tensor: Tensor) -> None:
        super().__init__()
        self.made, self.tensor = made, tensor


class Watching(TorchDispatchMode):  # type: ignore[no-untyped-call]
    """Notes the operators of one step.

    Args:
        roots: The tensors that the step is given, by name; fake ones.
        opaque: Which of the tensors of one element that it makes are to be fake all the same.
    """

    def __init__(self, roots: Mapping[str, Tensor], opaque: frozenset[int] = frozenset()) -> None:
        super().__init__()  # type: ignore[no-untyped-call]
        self._refs: dict[int, Ref] = {}
        self._alive: list[Tensor] = []
        self._opaque = opaque
        self._made: dict[int, int] = {}
        self._calls: list[Call] = []
        self._numbers: list[float] = []
        self._storages: dict[Ref, int] = {}
        self._described: dict[Ref, Tensor] = {}
        self.narrowed = False
        """Whether the step asked for another precision than float32."""
        self._roots = {name: self._new(tensor) for name, tensor in roots.items()}
        self._described |= {self._roots[name]: _like(tensor) for name, tensor in roots.items()}

    def step(self, held: Mapping[str, Tensor]) -> StepCalls:
        """Return what was noted.

        Args:
            held: The fake tensors that the optimizer holds after the step, by name.
        """
        finals = {name: self._ref(tensor) for name, tensor in held.items()}
        return StepCalls(self._calls, self._numbers, self._roots, finals, self._storages, self._described)

    def __torch_dispatch__(
        self, func: Any, types: Any, args: tuple[Any, ...] = (), kwargs: Mapping[str, Any] | None = None
    ) -> Any:
        """Note an operator, unless it computes of real tensors alone."""
        kwargs = dict(kwargs or {})
        if func.namespace not in _COMPUTES:
            with _disable_current_modes():
                return func(*args, **kwargs)
        if func._schema.name.startswith(_LISTS):
            with self:
                return each(func, args, kwargs)
        fake, real = False, []
        for item in _tensors(args, kwargs):
            if isinstance(item, FakeTensor):
                fake = True
            else:
                real.append(item)
        if not fake:
            return self._make(func, args, kwargs, real)
        if func in _WHOLE_VIEWS:
            # The same tensor under another name.
            whole = self._viewed(func, args[0])
            self._refs[id(whole)] = self._ref(args[0])
            self._alive.append(whole)
            return whole
        for item in real:
            if item.numel() == 1 and any(other is item for other in _written(func, args, kwargs)):
                raise OpaqueError(self._made.get(id(item)), item)
        return self._compute(func, args, kwargs)

    def _make(self, func: OpOverload, args: tuple[Any, ...], kwargs: dict[str, Any], real: list[Tensor]) -> Any:
        """An operator on no fake tensor: what it makes is real, unless it is drawn, large or opaque."""
        if not real and (torch.Tag.nondeterministic_seeded in func.tags or _elements(func, args) != 1):
            return self._compute(func, args, kwargs)
        with _disable_current_modes():
            made = func(*args, **kwargs)
        # Kept alive, so that no other object gets its identity.
        self._alive.extend(item for item in tree_leaves(made) if isinstance(item, Tensor))
        lifted = func is torch.ops.aten.lift_fresh.default
        if not isinstance(made, Tensor) or (any(made is item for item in real) and not lifted):
            return made
        if made.numel() == 1 and made.is_floating_point() and made.dtype is not torch.float64:
            # What depends on steps and learning rates alone is computed in float64, as Python does.
            with _disable_current_modes():
                made = made.double()
            self._alive.append(made)
        number = self._made.setdefault(id(made), len(self._made))
        return self._compute(func, args, kwargs) if number in self._opaque else made

    def _compute(self, func: OpOverload, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        """Note an operator on fake tensors, and let it make fake ones."""
        args, kwargs = self._in_float32(func, args, kwargs)
        named = self._named(func, args, kwargs)
        with _disable_current_modes():
            args, kwargs = tree_map(_narrow, (args, kwargs))
        result = func(*args, **kwargs)
        written = _written(func, args, kwargs)
        refs = tuple(self._ref(item) for item in written)
        if written and isinstance(result, Tensor):
            result = written[0]
        made = [item for item in tree_leaves(result) if isinstance(item, Tensor)]
        results = tuple(self._refs.get(id(item)) or self._new(item) for item in made)
        self._described |= {ref: _like(item) for ref, item in zip(results, made, strict=True)}
        self._calls.append(Call(func, *named, results, refs, whereabouts.client_line()))
        return result

    def _viewed(self, func: OpOverload, tensor: Tensor) -> Tensor:
        viewed: Tensor = func(tensor)
        return viewed

    def _in_float32(
        self, func: OpOverload, args: tuple[Any, ...], kwargs: dict[str, Any]
    ) -> tuple[tuple[Any, ...], dict[str, Any]]:
        """How precisely is computed is said by the order's profile, and the state of an order is float32."""

        def wide(item: Any) -> Any:
            if isinstance(item, torch.dtype) and item.is_floating_point and item is not torch.float32:
                self.narrowed = True
                return torch.float32
            return item

        return tuple(wide(item) for item in args), {name: wide(item) for name, item in kwargs.items()}

    def _named(
        self, func: OpOverload, args: tuple[Any, ...], kwargs: dict[str, Any]
    ) -> tuple[list[Any], dict[str, Any]]:
        takes = numeric(func)
        named = [self._argument(item, takes[position]) for position, item in enumerate(args)]
        return named, {name: self._argument(item, takes[name]) for name, item in kwargs.items()}

    def _argument(self, item: Any, takes_number: bool) -> Any:
        kind = type(item)
        if kind is float or (kind is int and takes_number):
            return self._number(float(item), None)
        if isinstance(item, FakeTensor):
            return self._ref(item)
        if isinstance(item, Tensor):
            if item.numel() == 1:
                with _disable_current_modes():
                    return self._number(float(item.item()), tuple(item.shape))
            return Fixed(item)
        if isinstance(item, (list, tuple)):
            return [self._argument(part, takes_number) for part in item]
        return item

    def _number(self, value: float, shape: tuple[int, ...] | None) -> Number:
        self._numbers.append(value)
        return Number(len(self._numbers) - 1, shape)

    def _ref(self, tensor: Tensor) -> Ref:
        """The name of a tensor that is known."""
        ref = self._refs.get(id(tensor))
        if ref is None:
            raise ProgramError(
                f"The optimizer uses a tensor of shape {tuple(tensor.shape)} of an earlier step that is not in its "
                f"state{whereabouts.in_brackets(whereabouts.client_line())}.",
                remedy="Keep it in optimizer.state, so that the order commits to it.",
            )
        return ref

    def _new(self, tensor: Tensor) -> Ref:
        """A name for a tensor."""
        ref = self._refs[id(tensor)] = Ref(len(self._refs))
        self._alive.append(tensor)
        self._storages[ref] = tensor.untyped_storage()._cdata
        return ref


class Following(Watching):  # type: ignore[no-untyped-call]
    """Follows a step that must call the operators of another one; only its numbers are its own.

    Args:
        roots: The tensors that the step is given, by name; fake ones.
        expected: The other step.
        mode: Of the fake tensors.
        opaque: As for the other step.
    """

    def __init__(
        self, roots: Mapping[str, Tensor], expected: StepCalls, mode: FakeTensorMode, opaque: frozenset[int]
    ) -> None:
        super().__init__({}, opaque)
        self._refs = {id(tensor): expected.roots[name] for name, tensor in roots.items() if name in expected.roots}
        self._like = expected
        self._fakes = mode
        self._next = 0

    def numbers(self) -> list[float]:
        """Return the step's numbers; raises OtherStepError if the other step goes on."""
        if self._next < len(self._like.calls):
            raise OtherStepError(self._like.calls[self._next].line)
        return self._numbers

    def _compute(self, func: OpOverload, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        args, kwargs = self._in_float32(func, args, kwargs)
        call = self._like.calls[self._next] if self._next < len(self._like.calls) else None
        if call is None or func is not call.func or self._named(func, args, kwargs) != (call.args, call.kwargs):
            raise OtherStepError(whereabouts.client_line() or (call.line if call else ""))
        self._next += 1
        written = _written(func, args, kwargs)
        if written or not func._schema.returns:
            return written[0] if func._schema.returns else None
        made = []
        for ref in call.results:
            tensor = FakeTensor(self._fakes, self._like.described[ref], _CPU)
            self._refs[id(tensor)] = ref
            self._alive.append(tensor)
            made.append(tensor)
        single = len(func._schema.returns) == 1 and func._schema.returns[0].type.kind() == "TensorType"
        return made[0] if single else made

    def _viewed(self, func: OpOverload, tensor: Tensor) -> Tensor:
        with _disable_current_modes():
            return FakeTensor(self._fakes, _like(tensor), _CPU)

    def _ref(self, tensor: Tensor) -> Ref:
        ref = self._refs.get(id(tensor))
        if ref is None:
            raise OtherStepError(whereabouts.client_line())
        return ref


class Loose(TorchFunctionMode):
    """Lets a step ask for values in Python as long as it goes on computing with them, and put data into parameters."""

    def __torch_function__(
        self, func: Callable[..., Any], types: Any, args: tuple[Any, ...] = (), kwargs: dict[str, Any] | None = None
    ) -> Any:
        """Pass on every call but these."""
        kwargs = kwargs or {}
        if func == Tensor.data.__set__:  # type: ignore[attr-defined]
            return args[0].copy_(args[1])
        if func is Tensor.item and isinstance(args[0], FakeTensor) and args[0].is_floating_point():
            return args[0].reshape(())
        factor = kwargs.get("alpha", kwargs.get("value"))
        if isinstance(factor, FakeTensor) and (form := _WITH_FACTOR.get(getattr(func, "__name__", ""))) is not None:
            return form(*args, factor)
        return func(*args, **kwargs)


_WITH_FACTOR: Mapping[str, Callable[..., Any]] = {
    "add": lambda x, y, factor: x + y * factor,
    "add_": lambda x, y, factor: x.add_(y * factor),
    "sub": lambda x, y, factor: x - y * factor,
    "sub_": lambda x, y, factor: x.sub_(y * factor),
    "addcmul_": lambda x, y, z, factor: x.add_(y * z * factor),
    "addcdiv_": lambda x, y, z, factor: x.add_(y / z * factor),
}
"""What takes a factor that is a tensor, where the library takes a number alone."""


@contextmanager
def watch_step(mode: Watching, fakes: FakeTensorMode) -> Iterator[None]:
    """Run an optimizer's step within, on fake tensors."""
    largest, smallest = builtins.max, builtins.min
    try:
        # Of values that are asked for the larger and the smaller are tensors, too.
        builtins.max = _choosing(largest, torch.maximum)
        builtins.min = _choosing(smallest, torch.minimum)
        with torch.no_grad(), fakes, mode, Loose():
            yield
    finally:
        builtins.max, builtins.min = largest, smallest


def _choosing(plain: Callable[..., Any], choose: Callable[[Tensor, Tensor], Tensor]) -> Callable[..., Any]:
    def chosen(*items: Any, **settings: Any) -> Any:
        if len(items) < 2 or settings or not any(isinstance(item, FakeTensor) for item in items):
            return plain(*items, **settings)
        first, *rest = (item if isinstance(item, Tensor) else torch.full((), float(item)) for item in items)
        for item in rest:
            first = choose(first, item)
        return first

    return chosen


def _tensors(args: tuple[Any, ...], kwargs: Mapping[str, Any]) -> Iterator[Tensor]:
    for item in (*args, *kwargs.values()):
        if isinstance(item, Tensor):
            yield item
        elif isinstance(item, (list, tuple)):
            yield from (part for part in item if isinstance(part, Tensor))


def _written(func: OpOverload, args: tuple[Any, ...], kwargs: Mapping[str, Any]) -> list[Tensor]:
    """The tensors among the arguments of an operator that it changes."""
    if not func._schema.is_mutable:
        return []
    given = dict(zip((argument.name for argument in func._schema.arguments), args, strict=False)) | dict(kwargs)
    return [
        item
        for argument in func._schema.arguments
        if argument.alias_info is not None and argument.alias_info.is_write
        for item in tree_leaves(given.get(argument.name))
        if isinstance(item, Tensor)
    ]


def _elements(func: OpOverload, args: tuple[Any, ...]) -> int:
    """How many elements a tensor has that an operator makes of numbers alone; 0 where that is not told by its size."""
    if not args or not isinstance(args[0], (list, tuple)):
        return int(func is torch.ops.aten.scalar_tensor.default)
    return math.prod(args[0])


def _like(tensor: Tensor) -> Tensor:
    """A tensor without memory of a tensor's shape."""
    with _disable_current_modes():
        return torch.empty_strided(tensor.shape, tensor.stride(), dtype=tensor.dtype, device="meta")


def _narrow(item: Any) -> Any:
    """A number in float64 as the state has it, so that it makes nothing else wider."""
    wide = isinstance(item, Tensor) and not isinstance(item, FakeTensor) and item.dtype is torch.float64
    return item.float() if wide else item
