"""What of a plain run's tensors was made of the state: the counterpart of the tensors without values that stand for it.

Everything is computed as it is. What reads the state, or what was made of it, is marked by its memory; so the same
values count as known here and where the script is followed (:mod:`counterfoil.training.following.world`), and what is
asked of the others, drawn for them, or written of them elsewhere is seen.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import torch
from torch import Tensor
from torch.multiprocessing.reductions import StorageWeakRef
from torch.overrides import TorchFunctionMode
from torch.utils._python_dispatch import TorchDispatchMode, _disable_current_modes

from counterfoil.program import whereabouts
from counterfoil.program.asked.questions import ASKING, MOST_LISTED
from counterfoil.program.philoxdraws import dropout_of
from counterfoil.training.following.calls import HALF, SET_DATA, note_births, tensors_of, written_by
from counterfoil.training.following.scriptdraws import Draw, draws_of_call

_SAMPLES = frozenset({"multinomial", "bernoulli", "normal", "poisson", "binomial"})
"""Operators that sample from a distribution which they are given: an order samples by a seed of its own."""
_SELECTED = torch.Tag.nondeterministic_seeded


class Taint(TorchDispatchMode):  # type: ignore[no-untyped-call]
    """Marks what is made of the state; active while the steps of a plain run are watched.

    Args:
        state: The tensors of the state that are trained, by name.
        others: Those of other modules.
        is_slot: Whether a memory is that of an entry of an optimizer's state.
        wrote: Is told of each tensor of the state that is written to.

    Attributes:
        kept: Tensors that are no module's, and were written by what was made of the state: each as a whole memory.
        draws: What was drawn for the models in this step, in order.
        drawn_at: File and line of each.
        lost: Draws of the models that no order has.
        held: Names of the tensors of other modules that were written by what was made of the state.
        written_at: File and line at which a memory was written last in this step.
    """

    def __init__(
        self,
        state: Mapping[str, Tensor],
        others: Mapping[str, Tensor],
        is_slot: Callable[[int], bool],
        wrote: Callable[[Tensor], None],
    ) -> None:
        super().__init__()  # type: ignore[no-untyped-call]
        self._wrote = wrote
        self._born: set[int] = set()
        self._is_slot = is_slot
        self._state: dict[int, Tensor] = {}
        self._others = {tensor.untyped_storage()._cdata: (name, tensor) for name, tensor in others.items()}
        self._made: dict[int, StorageWeakRef] = {}
        self.kept: list[Tensor] = []
        self.draws: list[Draw] = []
        self.drawn_at: list[str] = []
        self.lost: list[str] = []
        self.held: list[str] = []
        self.written_at: dict[int, str] = {}
        self._within_dropout = 0
        self._sampled: dict[int, StorageWeakRef] = {}
        # A model that is held in half precision is no order's; it must run, so that this can be said.
        self._half = any(tensor.dtype in HALF for tensor in (*state.values(), *others.values()))
        for tensor in state.values():
            self.hold(tensor)

    def hold(self, tensor: Tensor) -> None:
        """Take a tensor as one of the state from now on."""
        self._state[tensor.untyped_storage()._cdata] = tensor

    def begin(self) -> None:
        """Begin with the next step."""
        self._born.clear()
        self.draws, self.drawn_at = [], []
        self.written_at.clear()

    def moved(self, tensor: Tensor) -> None:
        """Take note that a tensor was given another memory, by ``tensor.data = other``."""
        before = next((memory for memory, held in self._state.items() if held is tensor), None)
        if before is not None:
            del self._state[before]
            self.hold(tensor)
            self._write(tensor)

    def is_tainted(self, tensor: Tensor) -> bool:
        """Whether a tensor is of the state, or was made of it."""
        with torch._C.DisableTorchFunction():
            if tensor.layout is not torch.strided:
                return False
            memory = tensor.untyped_storage()._cdata
            if memory in self._state:
                return True
            reference = self._made.get(memory)
            if reference is not None and reference.expired():  # type: ignore[no-untyped-call]
                del self._made[memory]
                return False
            return reference is not None

    def mark(self, tensor: Tensor) -> None:
        """Mark a tensor as made of the state."""
        if tensor.layout is torch.strided:
            storage = tensor.untyped_storage()
            self._made[storage._cdata] = StorageWeakRef(storage)  # type: ignore[no-untyped-call]

    def __torch_dispatch__(
        self, func: Any, types: Any, args: tuple[Any, ...] = (), kwargs: Mapping[str, Any] | None = None
    ) -> Any:
        """Compute an operator, and mark what it made of the state."""
        named = dict(kwargs or {})
        with torch._C.DisableTorchFunction():
            tensors: list[Tensor] = []
            tensors_of((args, named), tensors)
            draws = _SELECTED in func.tags
            if not any(map(self.is_tainted, tensors)) and not (draws and self._within_dropout):
                result = func(*args, **named)
                note_births(result, tensors, self._born)
                return result
            if named.get("dtype") in HALF and not self._half:
                # As where the script is followed: the profile says how it is computed.
                named["dtype"] = torch.float32
            written = written_by(func, args, named)
            for tensor in written:
                self._write(tensor)
            result = func(*args, **named)
            if draws:
                self._draw(func, args, named, result)
            sampled = func._opname in _SAMPLES or any(map(self.is_sampled, tensors))
            made: list[Tensor] = []
            tensors_of(result, made)
            for tensor in (*made, *written):
                self.mark(tensor)
                if sampled and tensor.layout is torch.strided:
                    storage = tensor.untyped_storage()
                    self._sampled[storage._cdata] = StorageWeakRef(storage)  # type: ignore[no-untyped-call]
            return result

    def is_sampled(self, tensor: Tensor) -> bool:
        """Whether a tensor was made of what was sampled from a distribution that the models give."""
        if tensor.layout is not torch.strided:
            return False
        reference = self._sampled.get(tensor.untyped_storage()._cdata)
        return reference is not None and not reference.expired()  # type: ignore[no-untyped-call]

    def _write(self, tensor: Tensor) -> None:
        if tensor.layout is not torch.strided:
            return
        memory = tensor.untyped_storage()._cdata
        self.written_at[memory] = whereabouts.client_line()
        if memory in self._state:
            self._wrote(self._state[memory])
        elif not self.is_tainted(tensor) and memory not in self._born:
            if memory in self._others:
                name, whole = self._others[memory]
                self.held.append(name)
                self.hold(whole)
                self._wrote(whole)
                return
            if self._is_slot(memory):
                self.hold(tensor)
                return
            whole = torch.empty((), dtype=tensor.dtype).set_(tensor.untyped_storage())
            self.kept.append(whole)
            self.hold(whole)

    def _draw(self, func: Any, args: Any, kwargs: Any, result: Any) -> None:
        found = draws_of_call(func, args, kwargs, result)
        if found is None:
            self.lost.append(str(func))
        else:
            self.draws += found
            self.drawn_at += [whereabouts.client_line()] * len(found)

    def in_dropout(self, run: Callable[[], Any]) -> Any:
        """Run a dropout of something made of the state: its mask is the model's, whatever it is drawn into."""
        self._within_dropout += 1
        try:
            return run()
        finally:
            self._within_dropout -= 1


class Questions(TorchFunctionMode):
    """Notes what Python asks of tensors that were made of the state, and what the answer was.

    Args:
        taint: Knows which were.

    Attributes:
        answers: File and line, and the answer, in order.
    """

    def __init__(self, taint: Taint) -> None:
        super().__init__()
        self._taint = taint
        self.answers: list[tuple[str, Any]] = []

    def __torch_function__(
        self, func: Callable[..., Any], types: Any, args: tuple[Any, ...] = (), kwargs: dict[str, Any] | None = None
    ) -> Any:
        """Pass on every call."""
        named = kwargs or {}
        first = args[0] if args else None
        if not isinstance(first, Tensor):
            return func(*args, **named)
        if func in ASKING:
            return self._asked(func, first, args, named)
        if not self._taint.is_tainted(first):
            return func(*args, **named)
        if func is Tensor.__deepcopy__:
            # It copies the memory past every operator, or by one that knows no tensor.
            with _disable_current_modes():
                copied = func(*args, **named)
            self._taint.mark(copied)
            return copied
        if func == SET_DATA:
            func(*args, **named)
            self._taint.moved(first)
            return None
        if dropout_of(func) is not func:
            return self._taint.in_dropout(lambda: func(*args, **named))
        return func(*args, **named)

    def _asked(self, func: Callable[..., Any], first: Tensor, args: tuple[Any, ...], named: dict[str, Any]) -> Any:
        """Note an answer, of tensors that were not made of the state too: some hold what was a number in between."""
        place = whereabouts.client_line()
        if func is Tensor.__format__:
            if not first.dim():
                self.answers.append((place, first.detach().item()))
            return func(*args, **named)
        answer = func(*args, **named)
        # What was sampled another time is another sample: nobody knows what is answered then.
        told = [answer] if func is not Tensor.tolist else first.detach().reshape(-1)[:MOST_LISTED].tolist()
        self.answers += [(place, None if self._taint.is_sampled(first) else one) for one in told]
        return answer
