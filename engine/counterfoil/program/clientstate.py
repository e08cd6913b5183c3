"""What the client's code had before it ran with tensors that are none: the model, and what the objective reaches."""

from __future__ import annotations

import functools
import numbers
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from types import CellType, CodeType, FunctionType, MethodType, ModuleType
from typing import Any

import torch
from torch import Tensor, nn
from torch._subclasses.fake_tensor import FakeTensor

from counterfoil.program.asked.numbers import is_asked

_DEEPEST = 6
"""Steps from the objective to what it uses: a function's variables, their attributes and so on."""
_MOST_ITEMS = 10_000
"""Larger lists and dicts are data, and no code keeps a result of a step in them."""
_MOST_ENTERED = 256
"""Of larger ones what lies in them is looked at, and not what these hold in turn."""
_MOST_FOUND = 5_000
_SIMPLE = (str, bytes, numbers.Number, Tensor, type, ModuleType, type(None))
_LEFT = 0.7310585786300049
"""What stands for a number that a run left behind."""
_OWN = ("_parameters", "_buffers", "_modules")


class Snapshot:
    """What the modules of a model have: attributes, and what lies in their lists, sets and dicts.

    A capture runs the model with fake tensors. What a module keeps of a run for the next one, such as the sines of a
    rotary embedding or a count of its calls, would be fake ever after.
    """

    def __init__(self, model: nn.Module) -> None:
        self._kept = [(module, *_contents(module)) for module in model.modules()]

    def restore(self) -> None:
        """Give the model back what it had; the containers stay the same objects."""
        self._restore(lambda _now, _before: False)

    def settle(self, knows: Callable[[Tensor], bool]) -> None:
        """Give it back what it had between two runs, but for what tells the second that it is not the first.

        Numbers that the modules have changed stay. A tensor that hangs on values becomes one of other values: a module
        that reads in one step what an earlier one left behind is found to do so.

        Args:
            knows: Whether the value of a tensor of the run is known.
        """

        def left(now: Any, before: Any) -> bool:
            if isinstance(now, FakeTensor):
                return not knows(now)
            return isinstance(before, numbers.Number) and isinstance(now, numbers.Number) and now != before

        self._restore(left)

    def _restore(self, left: Callable[[Any, Any], bool]) -> None:
        for module, attributes, containers in self._kept:
            own = vars(module)
            stays = {name: _stood_for(now) for name, now in own.items() if left(now, attributes.get(name))}
            own.clear()
            own.update({**attributes, **stays})
            for name, container, content in containers:
                if name in _OWN or not any(left(item, None) for item in _items(container)):
                    _refill(container, content)
                else:
                    _refill(container, _stood_for(container))


class Reached:
    """What lies in the variables, attributes, lists, sets and dicts that a function reaches.

    Args:
        function: The objective.
        but: What is kept by itself: the model.
    """

    def __init__(self, function: Callable[..., Any], but: nn.Module) -> None:
        self._places: list[_Cell | _Name | _Container] = []
        self._seen = {id(module) for module in but.modules()}
        self._settled: set[int] = set()
        """Places at which other values stand now."""
        self._waiting = deque([(function, 0)])
        while self._waiting and len(self._seen) < _MOST_FOUND:
            self._visit(*self._waiting.popleft())

    def restore(self) -> None:
        """Give back what it had where something of a run lay."""
        for place in self._places:
            if id(place) in self._settled or any(map(_is_left, place.held())):
                place.restore()

    def settle(self) -> None:
        """Put other values in the place of those that a run left behind, as :meth:`Snapshot.settle` does."""
        for place in self._places:
            if any(isinstance(item, FakeTensor) for item in place.held()):
                self._settled.add(id(place))
                place.settle()

    def _later(self, values: Iterable[Any], depth: int) -> None:
        """Visit values after all that lie nearer to the function."""
        if depth < _DEEPEST:
            self._waiting.extend((value, depth + 1) for value in values if not isinstance(value, _SIMPLE))

    def _visit(self, value: Any, depth: int) -> None:
        if id(value) in self._seen:
            return
        self._seen.add(id(value))
        if isinstance(value, FunctionType):
            self._visit_function(value, depth)
        elif isinstance(value, MethodType):
            self._later((value.__self__, value.__func__), depth)
        elif isinstance(value, functools.partial):
            self._later((value.func, *value.args, *value.keywords.values()), depth)
        elif isinstance(value, tuple):
            self._later(value[:_MOST_ENTERED], depth)
        elif isinstance(value, (list, set, dict)):
            self._visit_container(value, depth)
        elif isinstance(getattr(value, "__dict__", None), dict):
            self._visit_container(vars(value), depth)

    def _visit_container(self, value: Any, depth: int) -> None:
        if len(value) <= _MOST_ITEMS:
            self._places.append(_Container(value, _copied(value)))
            if len(value) <= _MOST_ENTERED:
                self._later(_items(value), depth)

    def _visit_function(self, function: FunctionType, depth: int) -> None:
        for cell in function.__closure__ or ():
            content = _content(cell)
            self._places.append(_Cell(cell, content))
            self._later([content], depth)
        names = function.__globals__
        for name in _names(function.__code__):
            if name in names:
                self._places.append(_Name(names, name, names[name]))
                self._later([names[name]], depth)


@dataclass(frozen=True)
class _Cell:
    """A variable that a function shares with another one, and what it held."""

    cell: CellType
    before: Any

    def held(self) -> list[Any]:
        return [_content(self.cell)]

    def restore(self) -> None:
        self.cell.cell_contents = self.before

    def settle(self) -> None:
        self.cell.cell_contents = _stood_for(self.cell.cell_contents)


@dataclass(frozen=True)
class _Name:
    """A name of a module, and what it held."""

    names: dict[str, Any]
    name: str
    before: Any

    def held(self) -> list[Any]:
        return [self.names.get(self.name)]

    def restore(self) -> None:
        self.names[self.name] = self.before

    def settle(self) -> None:
        self.names[self.name] = _stood_for(self.names[self.name])


@dataclass(frozen=True)
class _Container:
    """A list, a set or a dict, and what it held."""

    container: Any
    before: Any

    def held(self) -> list[Any]:
        return list(_items(self.container))

    def restore(self) -> None:
        _refill(self.container, self.before)

    def settle(self) -> None:
        _refill(self.container, _stood_for(self.container))


def _content(cell: CellType) -> Any:
    """What a variable holds; None where it holds nothing."""
    try:
        return cell.cell_contents
    except ValueError:
        return None


def _names(code: CodeType) -> Iterator[str]:
    """Names that a function, and those inside it, may take from their module."""
    yield from code.co_names
    for item in code.co_consts:
        if isinstance(item, CodeType):
            yield from _names(item)


def _items(container: Any) -> Any:
    return list(dict.values(container)) if isinstance(container, dict) else container


def _copied(container: Any) -> Any:
    kind = next(kind for kind in (dict, list, set) if isinstance(container, kind))
    return kind(container)


def _is_left(value: Any) -> bool:
    """Whether something comes from a run without values."""
    if isinstance(value, (tuple, list)) and len(value) <= _MOST_ITEMS:
        return any(map(_is_left, value))
    return isinstance(value, FakeTensor) or is_asked(value)


def _stood_for(value: Any) -> Any:
    """What stands for something that a run left behind: the same with other values."""
    if isinstance(value, FakeTensor):
        number = _LEFT if value.is_floating_point() else 1
        return torch.full(tuple(value.shape), number, dtype=value.dtype)
    if isinstance(value, dict):
        return {name: _stood_for(item) if isinstance(item, FakeTensor) else item for name, item in value.items()}
    if isinstance(value, (list, set)):
        return type(value)([_stood_for(item) if isinstance(item, FakeTensor) else item for item in value])
    return value


def _refill(container: Any, content: Any) -> None:
    container.clear()
    container.extend(content) if isinstance(container, list) else container.update(content)


def _contents(module: nn.Module) -> tuple[dict[str, Any], list[tuple[str, Any, Any]]]:
    """The attributes of a module; and its lists, sets and dicts by their names, each with a copy."""
    attributes = dict(vars(module))
    containers = [(name, value) for name, value in attributes.items() if isinstance(value, (list, set, dict))]
    return attributes, [(name, container, _copied(container)) for name, container in containers]
