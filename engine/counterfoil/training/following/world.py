"""Tensors without values that stand for a script's state, while the script itself runs as it is.

An operator whose arguments all have values is computed. One that reads the state, or what was made of it, is noted
instead: its results have shapes and no values. So a script loads, shuffles and augments as ever, and of what reaches
its models, the values are known; what its models make of them is a program.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from typing import Any

import torch
from torch import Tensor
from torch._subclasses.fake_tensor import FakeTensor, FakeTensorMode
from torch.utils._python_dispatch import TorchDispatchMode, _disable_current_modes

from counterfoil.program.asked.numbers import Asked, kind_of
from counterfoil.program.attribution import Location
from counterfoil.program.remedies import NoFormError, Notes
from counterfoil.program.tracing import SHAPELESS
from counterfoil.program.whereabouts import client_line, in_brackets
from counterfoil.training.following.calls import HALF, KEPT, note_births, same_bits, tensors_of, written_by
from counterfoil.training.following.steps import Geometry, Memory, Number, Operation, Place, Step
from counterfoil_core.base.errors import CounterfoilError

_FILLING = frozenset({"aten::zero_", "aten::fill_"})
"""Operators after which it does not matter what a tensor held."""
_INDEXED = frozenset({"aten::index", "aten::index_put", "aten::index_put_", "aten::_index_put_impl_"})
_SELECTED = torch.Tag.nondeterministic_seeded
_EACH = "_foreach_"
_DEVICE = torch.ops.prim.device.default
_OWN_DRAWS = "counterfoil"
"""Namespace of the draws, which have no arguments that are tensors."""


class World(TorchDispatchMode):  # type: ignore[no-untyped-call]
    """Notes what a script does to its state; active while its steps are followed.

    Args:
        state: The tensors of the state by name. They keep the values that they have.
        others: Tensors by name that are state from when they are changed by what has no values: those of other modules.
        location: Knows the place that is being computed.
        notes: Is told what is left out.
        is_slot: The name for a memory that is that of an entry of an optimizer's state; empty for any other.
        wrote: Is told of each tensor of the state that is written to.
    """

    def __init__(
        self,
        state: Mapping[str, Tensor],
        others: Mapping[str, Tensor],
        location: Location,
        notes: Notes,
        is_slot: Callable[[int], str],
        wrote: Callable[[Tensor], None],
    ) -> None:
        super().__init__()  # type: ignore[no-untyped-call]
        self._fake = FakeTensorMode(allow_non_fake_inputs=True)
        self._location = location
        self._notes = notes
        self._by_geometry: dict[Geometry, FakeTensor] = {}
        self._by_memory: dict[Memory, tuple[Tensor, FakeTensor]] = {}
        self._met: dict[Geometry, list[tuple[Tensor, Tensor, FakeTensor]]] = {}
        self.real: dict[str, Tensor] = {}
        """The state, by name."""
        self.stands: dict[str, FakeTensor] = {}
        """What stands for it."""
        self.names: dict[Memory, str] = {}
        """The names of the state, by the memory of what stands for it."""
        self._others = {Geometry.of(tensor): (name, tensor) for name, tensor in others.items()}
        self._kept = 0
        self._born: set[int] = set()
        self._wrote = wrote
        self._places: dict[str, Geometry] = {}
        self._is_slot = is_slot
        self.births: dict[Memory, tuple[str, str, tuple[int, ...]]] = {}
        """Where what the script made without values was made: file and line, operator and shape."""
        self.refusal: BaseException | None = None
        """The first refusal, also where the script swallowed it."""
        self.step = Step()
        for name, tensor in state.items():
            self.hold(name, tensor)

    def hold(self, name: str, tensor: Tensor) -> FakeTensor:
        """Let a tensor without values stand for a tensor of the state from now on."""
        stand = self._fake.from_tensor(tensor.detach())
        self.real[name], self.stands[name] = tensor, stand
        self._by_geometry[Geometry.of(tensor)] = stand
        self._by_memory[tensor.untyped_storage()._cdata] = tensor, stand
        place = self._places[name] = Geometry.of(stand)
        self.names[place.memory] = name
        self.step.begins = {**self.step.begins, name: place}
        self.step.ends = {**self.step.ends, name: place}
        return stand

    def rename(self, tensor: Tensor, name: str) -> bool:
        """Give a tensor of no module, that has turned out to be one's, the name that it has there.

        Args:
            tensor: The tensor.
            name: Its name.

        Returns:
            Whether it was state under another name, since this step.
        """
        known = self._by_memory.get(tensor.untyped_storage()._cdata)
        old = None if known is None else self.names.get(known[1].untyped_storage()._cdata)
        if old is None or not old.startswith(KEPT) or name in self.real:
            return False
        step = self.step
        step.begins = {name if own == old else own: place for own, place in step.begins.items()}
        step.ends = {name if own == old else own: place for own, place in step.ends.items()}
        step.written = {name if own == old else own: None for own in step.written}
        self.real[name] = self.real.pop(old).reshape(tensor.shape)
        self.stands[name], self._places[name] = self.stands.pop(old), self._places.pop(old)
        self.names[self._places[name].memory] = name
        return True

    def adopt(self, name: str, made: FakeTensor) -> None:
        """Take what the step has made as a tensor of the state from its end on: a slot that is new, or made anew.

        Args:
            name: Its name; another tensor may have had it before.
            made: The tensor.
        """
        place = Geometry.of(made)
        other = self.names.pop(place.memory, None)
        if other is not None:
            # One memory has one name: whoever looks at it by the other finds what it holds now.
            self.stands.pop(other)
            self._places.pop(other)
            self.step.ends = {own: end for own, end in self.step.ends.items() if own != other}
        before = self._places.get(name)
        if before is not None:
            self.names.pop(before.memory, None)
        else:
            with _disable_current_modes():
                self.real[name] = torch.zeros(made.shape, dtype=made.dtype)
        self.stands[name], self._places[name] = made, place
        self.names[place.memory] = name
        self.step.ends = {**self.step.ends, name: place}
        self.step.written[name] = None

    def births_of_step(self) -> Iterator[tuple[tuple[str, str, tuple[int, ...]], FakeTensor]]:
        """Yield what the step has made in memory of its own, with where it was made."""
        for tensor in self.step.born:
            yield self.births[tensor.untyped_storage()._cdata], tensor

    def begin(self) -> None:
        """Begin with the next step."""
        self._met.clear()
        self._born.clear()
        self.step = Step(begins=dict(self._places), ends=dict(self._places))

    def is_noted(self, tensor: Tensor) -> bool:
        """Whether a tensor has no values, or is of the state."""
        with torch._C.DisableTorchFunction():
            return self._is_noted(tensor)

    def _is_noted(self, tensor: Tensor) -> bool:
        if tensor.layout is not torch.strided:
            return False
        return isinstance(tensor, FakeTensor) or tensor.untyped_storage()._cdata in self._by_memory

    def __torch_dispatch__(
        self, func: Any, types: Any, args: tuple[Any, ...] = (), kwargs: Mapping[str, Any] | None = None
    ) -> Any:
        """Compute an operator on values; note any other."""
        kwargs = dict(kwargs or {})
        if func is _DEVICE and isinstance(args[0], FakeTensor):
            # Where a tensor lies is computed by nobody; the engine of autograd asks for it before each of its turns.
            return FakeTensor.__torch_dispatch__(func, types, args, kwargs)
        # What is asked of tensors here is no call of the script's.
        with torch._C.DisableTorchFunction():
            tensors: list[Tensor] = []
            tensors_of(args, tensors)
            tensors_of(kwargs, tensors)
            if func.namespace != _OWN_DRAWS and not any(map(self._is_noted, tensors)):
                result = func(*args, **kwargs)
                note_births(result, tensors, self._born)
                return result
            try:
                return self._note(func, args, kwargs)
            except (CounterfoilError, NoFormError, *SHAPELESS) as error:
                self.refusal = self.refusal or error
                raise

    def _note(self, func: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        self._location.at_line(client_line())
        place = self._location.place
        if func._opname.startswith(_EACH):
            with self:
                # What it does to each tensor is called for each.
                return func._op_dk(torch._C.DispatchKey.CompositeExplicitAutograd, *args, **kwargs)
        if kwargs.get("dtype") in HALF:
            dtype = str(kwargs["dtype"]).removeprefix("torch.")
            self._notes.add(
                f"A cast to {dtype} is left out{in_brackets(place[2])}: the profile says how it is computed."
            )
            kwargs["dtype"] = torch.float32
        if func._schema.name in _INDEXED:
            args = (args[0], [part for index in args[1] for part in _places(index)], *args[2:])
        written = {id(tensor) for tensor in written_by(func, args, kwargs)}
        given: dict[int, Tensor] = {}
        back: dict[int, Tensor] = {}

        def stand_in(item: Any) -> Any:
            if not isinstance(item, Tensor):
                return item
            stand = item if isinstance(item, FakeTensor) else self._stand_in(item, changed=id(item) in written)
            if stand is not item:
                back[id(stand)] = item
            given[id(stand)] = stand
            return stand

        args, kwargs = _mapped(args, stand_in), _mapped(kwargs, stand_in)
        asked = self._described(func, args, kwargs)
        with self._fake:
            results = func(*args, **kwargs)
        if _SELECTED in func.tags and func.namespace != _OWN_DRAWS and kwargs.get("generator") is None:
            advance_generator(lambda: func(*_mapped(args, with_values), **_mapped(kwargs, with_values)))
        changed = [stand for stand in given.values() if id(back.get(id(stand), stand)) in written]
        self._record(func, asked, results, list(given.values()), changed, place)
        return _mapped(results, lambda item: back.get(id(item), item))

    def _stand_in(self, tensor: Tensor, *, changed: bool) -> FakeTensor:
        """Return what stands for a tensor with values in the step."""
        geometry = Geometry.of(tensor)
        if changed and geometry.memory not in self._by_memory:
            if geometry in self._others:
                return self.hold(*self._others[geometry])
            if geometry.memory in self._born:
                return self._made_here(tensor)
            slot = self._is_slot(geometry.memory)
            if not slot:
                self._kept += 1
            # The whole of its memory: what it is a view of is changed, too.
            whole = torch.empty((), dtype=tensor.dtype).set_(tensor.untyped_storage())
            self.hold(slot or f"{KEPT}{self._kept}", tensor if slot else whole)
        if geometry in self._by_geometry:
            return self._by_geometry[geometry]
        if geometry.memory in self._by_memory:
            whole, stand = self._by_memory[geometry.memory]
            view = (geometry.shape, geometry.stride, geometry.offset - whole.storage_offset())
            made: FakeTensor = self._note(torch.ops.aten.as_strided.default, (stand, *view), {})
            return made
        # Contents, and not the counter of versions: numpy and .data write without counting.
        for _, copy, stand in self._met.get(geometry, ()):
            if same_bits(copy, tensor):
                return stand
        copy = tensor.detach().clone(memory_format=torch.contiguous_format)
        stand = self._fake.from_tensor(copy)
        # The tensor is kept too: another one must not get its memory.
        self._met.setdefault(geometry, []).append((tensor, copy, stand))
        self.step.met[stand.untyped_storage()._cdata] = (Geometry.of(stand), copy)
        self.step.alive.append(stand)
        return stand

    def _made_here(self, tensor: Tensor) -> FakeTensor:
        """Let what this step has made with values, and writes without, be a value of the step and no state."""
        whole = torch.empty((), dtype=tensor.dtype).set_(tensor.untyped_storage())
        made: FakeTensor = self._note(torch.ops.aten.clone.default, (self._stand_in(whole, changed=False),), {})
        self._by_geometry[Geometry.of(whole)] = made
        self._by_memory[whole.untyped_storage()._cdata] = whole, made
        return self._stand_in(tensor, changed=False)

    def _described(self, func: Any, args: Any, kwargs: Any) -> tuple[Any, Any]:
        """The arguments of a call as they are before it: ``transpose_`` and the like give a tensor another shape."""
        step = self.step

        def described(item: Any) -> Any:
            if isinstance(item, Tensor):
                return Geometry.of(item)
            if isinstance(item, float):
                step.numbers.append(item)
                return Number(len(step.numbers) - 1)
            return item

        if func.namespace == _OWN_DRAWS:
            # Which draw of the step it is shows when the step is written down.
            args = (args[0],)
        return _mapped(args, described), _mapped(kwargs, described)

    def _record(
        self,
        func: Any,
        asked: tuple[Any, Any],
        results: Any,
        given: list[Tensor],
        changed: list[Tensor],
        place: Place,
    ) -> None:
        step = self.step
        made: list[Tensor] = []
        tensors_of(results, made)
        step.alive += [*given, *made]
        changes = frozenset(tensor.untyped_storage()._cdata for tensor in changed)
        for tensor in given:
            self._check_known(func, tensor.untyped_storage()._cdata, place)
        step.known.update(tensor.untyped_storage()._cdata for tensor in made)
        before = {tensor.untyped_storage()._cdata for tensor in given}
        for tensor in made:
            memory = tensor.untyped_storage()._cdata
            if memory not in before and isinstance(tensor, FakeTensor):
                self.births[memory] = (place[2], str(func), tuple(tensor.shape))
                step.born.append(tensor)
        for memory in changes & self.names.keys():
            self.note_change(self.names[memory])
        told = _mapped(results, lambda item: Geometry.of(item) if isinstance(item, Tensor) else item)
        step.events.append(Operation(func, *asked, told, changes, place))

    def unknown(self, asked: Asked) -> Tensor:
        """Return a tensor for a number that was taken out of one and comes back: of its value, where that can be."""
        if asked.tensor is not None:
            return asked.tensor()
        dtype = {float: torch.float32, int: torch.int64, bool: torch.bool}[kind_of(asked)]
        with self._fake:
            made = torch.empty((), dtype=dtype)
        memory = made.untyped_storage()._cdata
        self.step.asked[memory] = asked.place
        self.step.known.add(memory)
        self.step.alive.append(made)
        return made

    def note_change(self, name: str) -> None:
        """Note that a tensor of the state is changed."""
        self.step.written[name] = None
        self._wrote(self.real[name])

    def _check_known(self, func: Any, memory: Memory, place: Place) -> None:
        step = self.step
        if memory in self.names or memory in step.known or memory in step.met:
            return
        if func._schema.name in _FILLING:
            step.known.add(memory)
        else:
            step.carried.setdefault(memory, place)


def advance_generator(draw: Callable[[], object]) -> None:
    """Draw numbers that nobody reads: torch's generator goes on as it does where the same is drawn with values.

    Args:
        draw: Draws them, of tensors with values.
    """
    with _disable_current_modes(), torch.no_grad(), suppress(RuntimeError):
        draw()


def with_values(item: Any) -> Any:
    """An argument of a draw with values in the place of none: how many numbers it takes hangs on the shape alone."""
    return torch.full(item.shape, 0.5).to(item.dtype) if isinstance(item, Tensor) else item


def _places(index: Tensor | None) -> Sequence[Tensor | None]:
    """Return an index, the places of a mask that has values in its stead: how many they are is a shape."""
    if index is None or isinstance(index, FakeTensor) or index.dtype is not torch.bool:
        return (index,)
    return index.nonzero(as_tuple=True)


def _mapped(item: Any, change: Callable[[Any], Any]) -> Any:
    """Return an operator's arguments with each part changed."""
    if isinstance(item, (tuple, list)):
        return type(item)(_mapped(part, change) for part in item)
    if isinstance(item, dict):
        return {name: _mapped(part, change) for name, part in item.items()}
    return change(item)
