"""The models that a script trains, found among its objects, and the names of their tensors."""

from __future__ import annotations

import gc
import itertools
import re
import sys
import weakref
from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from itertools import chain
from types import FrameType
from typing import Any

from torch import Tensor, nn
from torch.nn.parallel import DataParallel, DistributedDataParallel
from torch.nn.parameter import is_lazy

from counterfoil.program.statetensors import names_in_order
from counterfoil.training.scripts.patches import Patches
from counterfoil_core.bundle.schema import check_name

_counter = itertools.count()
_numbers: dict[int, tuple[weakref.ref[nn.Module], int]] = {}
"""The order in which modules were made, by their identities: that in which they are found in the memory is another one
each time. A module may have a hash of its own, of what it has not got yet (torchmetrics), and is not asked for it."""
_WRAPPERS = (DataParallel, DistributedDataParallel)
_MOST_HELD = 10_000
"""A list or dictionary of more things is not looked through for tensors."""
_NO_NAME = re.compile(r"[^A-Za-z0-9_.:-]")


@dataclass(frozen=True)
class Models:
    """The models of a script."""

    #: The outermost modules that hold tensors, by the names that the script has for them.
    modules: Mapping[str, nn.Module]
    trained: tuple[str, ...]  #: The names of those of them that hold what is trained.
    alone: str = ""  #: The name of the only one that was trained when the first step began: its tensors have no prefix.
    #: Tensors that are trained and of no module, by the names that the script has for them.
    loose: Mapping[str, Tensor] = field(default_factory=dict)

    @cached_property
    def tensors(self) -> dict[str, Tensor]:
        """Parameters and buffers of those that are trained, by name: as the model's file names them if it is one."""
        return {**self._tensors(self.trained), **self.loose}

    @cached_property
    def others(self) -> dict[str, Tensor]:
        """Parameters and buffers of the others, by name."""
        return {name: tensor for name, tensor in self.present().items() if name not in self.tensors}

    def present(self) -> dict[str, Tensor]:
        """Return the parameters and buffers of all of them as they are now: one may have taken another's place."""
        trained = {**self._tensors(self.trained), **self.loose}
        known = {id(tensor) for tensor in trained.values()}
        found = self._tensors([name for name in self.modules if name not in self.trained])
        return {**trained, **{name: tensor for name, tensor in found.items() if id(tensor) not in known}}

    def _tensors(self, modules: Iterable[str]) -> dict[str, Tensor]:
        found: dict[str, Tensor] = {}
        seen: set[int] = set()
        for name in modules:
            for own, tensor in _own(self.modules[name]):
                if id(tensor) not in seen:
                    seen.add(id(tensor))
                    found[self._full(name, own)] = tensor
        names = names_in_order(found)
        return {names[name]: tensor for name, tensor in found.items()}

    @cached_property
    def roots(self) -> frozenset[int]:
        """The identities of those that are trained."""
        return frozenset(id(self.modules[name]) for name in self.trained)

    @cached_property
    def kept(self) -> frozenset[str]:
        """Names of the tensors whose new values count: those of every module."""
        return frozenset({*self.tensors, *self.others})

    def own(self, module: str) -> dict[str, str]:
        """Return the names of a module's tensors in the order, by its own for them."""
        return {own: self.name(module, own) for own, _ in _own(self.modules[module])}

    def name(self, module: str, own: str) -> str:
        """Return the name of a module's tensor in the order."""
        (name,) = names_in_order([self._full(module, own)]).values()
        return name

    def _full(self, module: str, own: str) -> str:
        return own if module == self.alone else f"{module}.{own}"

    def grown(self, found: Models) -> Models:
        """Return these with whatever was found later; what has a name keeps it.

        Args:
            found: The models of the script as they are now.
        """
        names = {id(module): name for name, module in self.modules.items()}
        modules, trained = dict(self.modules), list(self.trained)
        for name, module in found.modules.items():
            own = names.get(id(module), name)
            number = 2
            while own in modules and modules[own] is not module:
                own, number = f"{name}{number}", number + 1
            modules[own] = module
            if name in found.trained and own not in trained:
                trained.append(own)
        names_of_loose = {id(tensor): name for name, tensor in self.loose.items()}
        loose = {**self.loose, **{n: t for n, t in found.loose.items() if id(t) not in names_of_loose}}
        return Models(modules, tuple(trained), self.alone, loose)


def number_modules(patches: Patches) -> None:
    """Remember from now on in which order modules are made, so that their names are the same in each run.

    Args:
        patches: Keeps what is replaced.
    """
    make, numbers = nn.Module.__init__, _numbers

    def made(self: nn.Module, *args: Any, **kwargs: Any) -> None:
        make(self, *args, **kwargs)
        identity = id(self)
        numbers[identity] = weakref.ref(self, lambda _gone: numbers.pop(identity, None)), next(_counter)

    patches.put(nn.Module, "__init__", made)


def _number(module: nn.Module) -> int:
    return _numbers[id(module)][1] if id(module) in _numbers else sys.maxsize


def find_models(trained: Collection[Tensor], frame: FrameType | None) -> Models:
    """Find the modules of a script.

    Args:
        trained: The parameters that are trained.
        frame: A frame of the script, for the names that it has for its models.

    """
    every = [item for item in gc.get_objects() if issubclass(type(item), nn.Module)]
    inner = {id(child) for module in every for child in module.children()}
    wrapped = [module.module for module in every if isinstance(module, _WRAPPERS)]
    outer = [item for item in every if id(item) not in inner and not isinstance(item, _WRAPPERS)] + wrapped
    outer = [module for module in outer if next(_own(module), None) is not None]
    wanted = {id(tensor) for tensor in trained}
    held = {id(module): {id(tensor) for _, tensor in _own(module)} for module in outer}
    # One that holds all comes first; then whoever holds most.
    outer.sort(key=lambda module: (-len(held[id(module)] & wanted), _number(module)))
    names = _names(outer, frame)
    chosen, left = [], set(wanted)
    for name, module in names.items():
        if left & held[id(module)]:
            left -= held[id(module)]
            chosen.append(name)
    loose = [tensor for tensor in trained if id(tensor) in left]
    alone = chosen[0] if len(chosen) == 1 and not loose else ""
    return Models(names, tuple(chosen), alone, _loose_names(loose, frame, names))


def _loose_names(tensors: Iterable[Tensor], frame: FrameType | None, taken: Collection[str]) -> dict[str, Tensor]:
    """Name tensors of no module after the script's variables, also where these hold them in a list or by name."""
    found: dict[int, str] = {}
    while frame is not None:
        for place in (frame.f_locals, frame.f_globals):
            for name, value in list(place.items()):
                if isinstance(name, str) and not name.startswith("_"):
                    for path, tensor in _held_by(value, name):
                        found.setdefault(id(tensor), path)
        frame = frame.f_back
    named: dict[str, Tensor] = {}
    for number, tensor in enumerate({id(tensor): tensor for tensor in tensors}.values(), start=1):
        name = _NO_NAME.sub("_", found.get(id(tensor), f"tensor{number}"))
        while name in named or name in taken:
            name = f"{name}_"
        check_name(name)
        named[name] = tensor
    return named


def _held_by(value: object, path: str, depth: int = 3) -> Iterator[tuple[str, Tensor]]:
    """Tensors that a variable is, or holds by number or name, with how they are called."""
    if isinstance(value, Tensor):
        yield path, value
    elif depth and isinstance(value, (list, tuple)) and len(value) <= _MOST_HELD:
        for number, item in enumerate(value):
            yield from _held_by(item, f"{path}.{number}", depth - 1)
    elif depth and isinstance(value, dict) and len(value) <= _MOST_HELD:
        for name, item in list(value.items()):
            yield from _held_by(item, f"{path}.{name}", depth - 1)
    elif depth and type(value).__module__ == "__main__":
        for name, item in list(getattr(value, "__dict__", {}).items()):
            yield from _held_by(item, f"{path}.{name}", depth - 1)


def _own(module: nn.Module) -> Iterator[tuple[str, Tensor]]:
    """A module's tensors; one that a lazy module has not made yet has no values, and nobody trains it."""
    for name, tensor in chain(module.named_parameters(), module.named_buffers()):
        if not is_lazy(tensor):
            yield name, tensor


def _names(modules: Iterable[nn.Module], frame: FrameType | None) -> dict[str, nn.Module]:
    """Name modules after the script's variables, else after their classes."""
    variables: dict[int, str] = {}
    while frame is not None:
        for place in (frame.f_locals, frame.f_globals):
            for name, value in list(place.items()):
                if isinstance(name, str) and issubclass(type(value), nn.Module) and not name.startswith("_"):
                    variables.setdefault(id(getattr(value, "module", value)), name)
                    variables.setdefault(id(value), name)
        frame = frame.f_back
    named: dict[str, nn.Module] = {}
    for module in modules:
        name = _NO_NAME.sub("_", variables.get(id(module), type(module).__name__.lower()))
        number = 2
        while name in named:
            name, number = f"{name.rstrip('0123456789')}{number}", number + 1
        check_name(name)
        named[name] = module
    return named
