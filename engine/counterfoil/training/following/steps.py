"""What a script did in one step of its loop: operators in order, and what of them counts.

A step ends in new values of the state and a loss. Whatever leads to neither, such as an evaluation or what is logged,
is no part of it. Two steps are of one program if what is left is the same but for the values of tensors that the script
brought along, and for numbers.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from torch import Tensor

Place = tuple[str, str, str]
"""Pass, module, and file and line."""
Memory = int
"""The memory of a tensor without values, which views share."""


@dataclass(frozen=True)
class Geometry:
    """Which tensor: its memory, and how it lies in it. Two of the same geometry are the same."""

    memory: Memory
    offset: int
    shape: tuple[int, ...]
    stride: tuple[int, ...]
    dtype: str

    @classmethod
    def of(cls, tensor: Tensor) -> Geometry:
        """Return the geometry of a tensor; holds as long as its memory lives."""
        storage = tensor.untyped_storage()
        return cls(
            storage._cdata, int(tensor.storage_offset()), tuple(tensor.shape), tuple(tensor.stride()), str(tensor.dtype)
        )


@dataclass(frozen=True)
class Number:
    """A floating-point argument of an operator: which of its step."""

    index: int


@dataclass(frozen=True)
class Operation:
    """An operator that a script called."""

    function: Any  #: The operator.
    args: Any  #: Its arguments: a geometry for each tensor, a Number for each floating-point number.
    kwargs: Any  #: Its keyword arguments, likewise.
    results: Any  #: Its results, likewise.
    changes: frozenset[Memory]  #: Memory that it changes in place.
    place: Place  #: Where it was called.

    @property
    def given(self) -> list[Geometry]:
        """The tensors that it reads, in order."""
        return [*geometries(self.args), *geometries(self.kwargs)]

    @property
    def made(self) -> list[Geometry]:
        """Its results, in order."""
        return geometries(self.results)


@dataclass(frozen=True)
class Update:
    """A call of ``optimizer.step()``."""

    optimizer: int  #: Which optimizer.
    time: int  #: Which of its calls within the step, from 0.
    gradients: Mapping[str, Geometry]  #: The gradients by parameter.
    state: tuple[Geometry, ...]  #: What stands for the state that it reads and writes.
    rates: tuple[float, ...]  #: The learning rate of each of its parameter groups.
    place: Place  #: Where it was called.
    call: int  #: Which call of the optimizer it is, from 0.

    @property
    def given(self) -> list[Geometry]:
        """The tensors that it reads, in order."""
        return [*self.gradients.values(), *self.state]

    @property
    def made(self) -> list[Geometry]:
        """None: it changes what there is."""
        return []

    @property
    def changes(self) -> frozenset[Memory]:
        """Memory that it changes in place."""
        return frozenset(geometry.memory for geometry in self.state)


Event = Operation | Update


@dataclass
class Step:
    """One step while a script makes it."""

    events: list[Event] = field(default_factory=list)  #: What happened, in order.
    numbers: list[float] = field(default_factory=list)  #: The floating-point arguments, in order.
    #: Tensors with values that the script brought along, each with what stands for it, by the memory of that.
    met: dict[Memory, tuple[Geometry, Tensor]] = field(default_factory=dict)
    losses: list[Geometry] = field(default_factory=list)  #: What ``backward`` was called on.
    #: What gradients were computed of by ``torch.autograd.grad``.
    differentiated: list[Geometry] = field(default_factory=list)
    truths: list[Geometry] = field(default_factory=list)  #: What must be true, or the loss is infinite.
    written: dict[str, None] = field(default_factory=dict)  #: Names of the state that was changed.
    #: Memory of an earlier step that was used in this one, and where.
    carried: dict[Memory, Place] = field(default_factory=dict)
    #: Memory of numbers that were taken out of tensors and came back, and where they were taken out.
    asked: dict[Memory, str] = field(default_factory=dict)
    known: set[Memory] = field(default_factory=set)  #: Memory that the step made, or met.
    #: Keeps what stands for tensors alive, so that memory tells them apart.
    alive: list[Any] = field(default_factory=list)
    updates: dict[int, int] = field(default_factory=dict)  #: How often each optimizer has made its step.
    #: Which tensors the state is when the step begins, by name.
    begins: Mapping[str, Geometry] = field(default_factory=dict)
    #: Likewise, when it ends: an optimizer may have made its slots anew.
    ends: Mapping[str, Geometry] = field(default_factory=dict)
    born: list[Any] = field(default_factory=list)  #: What was made in memory of its own.
    to_update: int = 0  #: How many events there were when an optimizer made its step last.

    def note_update(self) -> None:
        """Note that an optimizer has made its step."""
        self.to_update = len(self.events)

    def until_update(self) -> Step:
        """Return the step without what was done behind the last step of an optimizer."""
        events = self.events[: self.to_update]
        there = {place.memory for event in events for place in (*event.given, *event.made)}
        there |= {place.memory for place in self.begins.values()}
        ends = {
            name: place if place.memory in there else self.begins[name]
            for name, place in self.ends.items()
            if place.memory in there or name in self.begins
        }
        written = {name: None for name in self.written if name in ends}
        truths = [truth for truth in self.truths if truth.memory in there]
        return replace(self, events=events, ends=ends, written=written, truths=truths)

    def joined(self, other: Step) -> Step:
        """Return this step and what was done behind it as one.

        Args:
            other: What was done behind it; it changes no parameter by itself.
        """
        first = len(self.numbers)
        return Step(
            [*self.events, *(_renumbered(event, first) for event in other.events)],
            [*self.numbers, *other.numbers],
            {**self.met, **other.met},
            # What is computed behind the last update is no loss of its step.
            self.losses,
            self.differentiated,
            [*self.truths, *other.truths],
            {**self.written, **other.written},
            {**self.carried, **{m: place for m, place in other.carried.items() if m not in self.known}},
            {**self.asked, **other.asked},
            self.known | other.known,
            [*self.alive, *other.alive],
            self.updates,
            {**other.begins, **self.begins},
            other.ends,
        )


def _renumbered(event: Event, first: int) -> Event:
    """An event whose numbers are counted from another one on."""
    if not isinstance(event, Operation):
        return event

    def counted(item: Any) -> Any:
        if isinstance(item, Number):
            return Number(item.index + first)
        if isinstance(item, (tuple, list)):
            return type(item)(map(counted, item))
        return {name: counted(part) for name, part in item.items()} if isinstance(item, dict) else item

    return replace(event, args=counted(event.args), kwargs=counted(event.kwargs))


@dataclass(frozen=True)
class Tape:
    """What counts of a step."""

    events: tuple[Event, ...]  #: The events that count.
    met: tuple[Geometry, ...]  #: What stands for the tensors that were brought along, in the order of their use.
    losses: tuple[Geometry, ...]  #: What ``backward`` was called on.
    truths: tuple[Geometry, ...]  #: What must be true, or the loss is infinite.
    written: tuple[str, ...]  #: Names of the state that it gives, sorted.
    begins: Mapping[str, Geometry]  #: Which tensor each of the state is when it begins.
    ends: Mapping[str, Geometry]  #: Likewise, of what it gives.
    read: frozenset[str]  #: Names of the state that it reads.
    carried: tuple[Geometry, ...]  #: What it reads of the step before that is no state, in the order of its use.
    handed: tuple[Geometry, ...]  #: What it hands to the next step likewise.
    asked: tuple[str, ...]  #: Where numbers were taken out of tensors that came back.
    used: tuple[int, ...]  #: Which of the step's numbers count, in the order of their use.
    key: str  #: Tells whether two steps are of one program.


def tape_of(step: Step, kept: Iterable[str], handed: tuple[Geometry, ...] = ()) -> Tape:
    """Return what counts of a step.

    Args:
        step: The step.
        kept: Names of the state whose new value counts.
        handed: What the next step reads of this one that is no state.
    """
    state = {place.memory: name for name, place in step.begins.items()}
    # A penalty on gradients is differentiated too: it counts as the loss only where there is no other.
    losses = step.losses or step.differentiated[-1:]
    wanted, ends = set(kept), (*losses, *step.truths, *handed)
    while True:
        results = sorted(name for name in step.written if name in wanted and name in step.ends)
        # A slot that was made in the step is a result like another, whether anything was written to it since or not.
        born = [step.ends[name] for name in results if step.ends[name].memory not in state]
        memories = {step.ends[name].memory for name in results}
        live, needed = _live(step.events, memories, (*ends, *born))
        read = {state[memory] for memory in needed if memory in state}
        # What the next step will read of it is a result, too.
        more = (read & step.written.keys()) - wanted
        if not more:
            break
        wanted |= more
    made = {
        place.memory: name
        for name, place in step.ends.items()
        if place.memory not in step.carried and place.memory not in step.met
    }
    labels = _Labels(step, {**made, **state})
    lines = [labels.text(event) for event in live]
    lines += [labels.geometry(end) for end in ends]
    return Tape(
        events=tuple(live),
        met=tuple(labels.met),
        losses=tuple(losses),
        truths=tuple(step.truths),
        written=tuple(results),
        begins=step.begins,
        ends={name: step.ends[name] for name in results},
        read=frozenset(read),
        carried=tuple(labels.carried),
        handed=handed,
        asked=tuple(place for memory, place in step.asked.items() if memory in needed),
        used=tuple(labels.used),
        key="\n".join([*lines, *results]),
    )


def geometries(item: Any) -> list[Geometry]:
    """Return the tensors of an argument, in order."""
    if isinstance(item, Geometry):
        return [item]
    if isinstance(item, dict):
        item = tuple(item.values())
    return [found for part in item for found in geometries(part)] if isinstance(item, (tuple, list)) else []


def _live(events: Sequence[Event], results: set[Memory], losses: Iterable[Geometry]) -> tuple[list[Event], set[Memory]]:
    """Return the events that lead to the results or the losses, and all memory that these need."""
    tensors = set(losses)
    needed = results | {loss.memory for loss in tensors}
    live = []
    for event in reversed(events):
        given = event.given
        # What gives a tensor as it was given makes nothing.
        made = set(event.made).difference(given)
        if event.changes & needed or not tensors.isdisjoint(made):
            # Whatever else made the same view of the same memory before is not needed.
            tensors -= made
            tensors.update(given)
            needed.update(geometry.memory for geometry in given)
            live.append(event)
    return live[::-1], needed


class _Labels:
    """Names for memory by its first use, so that equal steps read alike.

    Attributes:
        met: What stands for the tensors that were brought along, in the order of their use.
        carried: What the step before made, likewise.
        used: The numbers, likewise.
    """

    def __init__(self, step: Step, state: Mapping[Memory, str]) -> None:
        self._step = step
        # A slot that is made anew has its name behind another sign, so that it is not taken for the one before.
        begins = {place.memory for place in step.begins.values()}
        self._labels = {memory: f"{'=' if memory in begins else '+'}{name}" for memory, name in state.items()}
        self._made = 0
        self.met: list[Geometry] = []
        self.carried: list[Geometry] = []
        self.used: list[int] = []

    def text(self, event: Event) -> str:
        """Return an event as a line."""
        if isinstance(event, Update):
            given = ", ".join(f"{name} {self.geometry(item)}" for name, item in event.gradients.items())
            return f"update {event.optimizer}: {given}"
        return f"{event.function} {' '.join(map(self._item, (event.args, event.kwargs, event.results)))}"

    def geometry(self, item: Geometry) -> str:
        """Return a tensor as a part of a line."""
        label = self._labels.get(item.memory)
        if label is None:
            label = self._labels[item.memory] = self._new(item)
        return f"{label}+{item.offset}{item.shape}{item.stride}{item.dtype}"

    def _new(self, item: Geometry) -> str:
        if item.memory in self._step.met:
            self.met.append(self._step.met[item.memory][0])
            return f"?{len(self.met)}"
        if item.memory in self._step.carried:
            self.carried.append(item)
            return f"~{len(self.carried)}"
        self._made += 1
        return f"%{self._made}"

    def _item(self, item: Any) -> str:
        if isinstance(item, Geometry):
            return self.geometry(item)
        if isinstance(item, Number):
            self.used.append(item.index)
            return "#"
        if isinstance(item, (tuple, list)):
            return f"[{', '.join(map(self._item, item))}]"
        if isinstance(item, dict):
            return f"{{{', '.join(f'{name}: {self._item(part)}' for name, part in item.items())}}}"
        return repr(item)
