"""Where the steps of a script's loop begin and end: told by what it calls of torch.

A loop that takes batches from a loader has a step from one batch to the next, once a parameter was changed. A loop
without one has a step from one ``zero_grad()``, or forward pass, to the next.
"""

from __future__ import annotations

import weakref
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, nullcontext
from types import MethodType, ModuleType
from typing import Any, Protocol

import torch
import torch.distributed as dist
from torch import Tensor, nn
from torch.nn.modules.module import register_module_forward_pre_hook
from torch.nn.parallel import DistributedDataParallel
from torch.optim import Optimizer
from torch.optim.lr_scheduler import ReduceLROnPlateau
from torch.utils.data import DataLoader
from torch.utils.data.dataloader import _BaseDataLoaderIter, _SingleProcessDataLoaderIter

from counterfoil.training.scripts.patches import Patch, Patches, patched

_SAVING = {
    "peft.peft_model": ("PeftModel.save_pretrained",),
    "safetensors.torch": ("save_file",),
    "torchvision.utils": ("save_image",),
    "transformers.modeling_utils": ("PreTrainedModel.save_pretrained",),
}
"""Functions and methods of libraries that write what they are given first to the file that they are given then."""


class Watcher(Protocol):
    """Is told what a script does."""

    def made(self, optimizer: Optimizer) -> None:
        """It made an optimizer."""

    def fetches(self, first: bool) -> bool:
        """It asks a loader for a batch, the first of this pass or another; returns whether it gets one."""

    def clears(self, owner: Optimizer | nn.Module) -> None:
        """It clears gradients."""

    def runs(self, module: nn.Module) -> None:
        """It calls a module."""

    def goes_back(self, losses: Sequence[Tensor]) -> None:
        """It calls ``backward``."""

    def waits(self, scheduler: ReduceLROnPlateau) -> None:
        """It gives a scheduler a metric."""

    def updates(self, optimizer: Optimizer, closure: Callable[[], Any] | None) -> Any:
        """It calls an optimizer's ``step()``; returns what that returns."""

    def compiles(self) -> None:
        """It has something compiled, which stays as it is written."""

    def saves(self, what: str) -> bool:
        """It saves something; returns whether that is done."""


@contextmanager
def watched(watcher: Watcher) -> Iterator[None]:
    """Tell a watcher what happens within; afterwards torch is as it was.

    Args:
        watcher: Is told.
    """
    patches = Patches()
    hook = register_module_forward_pre_hook(lambda module, _: watcher.runs(module))
    made: list[weakref.ref[Optimizer]] = []
    try:
        _optimizers(patches, watcher, made)
        _loaders(patches, watcher)
        _passes(patches, watcher)
        with patched({module: _saving(names, watcher) for module, names in _SAVING.items()}):
            yield
    finally:
        hook.remove()
        patches.undo()
        for optimizer in filter(None, (reference() for reference in made)):
            vars(optimizer).pop("step", None)


def _saving(names: Sequence[str], watcher: Watcher) -> Patch:
    """Return what has a module's functions ask before they write a file."""

    def patch(module: ModuleType, patches: Patches) -> None:
        for path in names:
            kind, _, name = path.rpartition(".")
            owner = getattr(module, kind) if kind else module
            save = getattr(owner, name)

            def saved(what: Any, file: Any, *args: Any, save: Any = save, **kwargs: Any) -> Any:
                return save(what, file, *args, **kwargs) if watcher.saves(str(file)) else None

            patches.put(owner, name, saved)

    return patch


def _optimizers(patches: Patches, watcher: Watcher, made: list[weakref.ref[Optimizer]]) -> None:
    init, clear, clear_module = Optimizer.__init__, Optimizer.zero_grad, nn.Module.zero_grad
    move = ReduceLROnPlateau.step

    def begun(self: Optimizer, *args: Any, **kwargs: Any) -> None:
        init(self, *args, **kwargs)

        def step(self: Optimizer, closure: Callable[[], Any] | None = None, *_: Any, **__: Any) -> Any:
            return watcher.updates(self, closure)

        # A method of the instance: schedulers wrap it once more, and count its calls.
        vars(self)["step"] = MethodType(step, self)
        made.append(weakref.ref(self))
        watcher.made(self)

    def cleared(self: Optimizer, *args: Any, **kwargs: Any) -> None:
        watcher.clears(self)
        clear(self, *args, **kwargs)

    def cleared_module(self: nn.Module, *args: Any, **kwargs: Any) -> None:
        watcher.clears(self)
        clear_module(self, *args, **kwargs)

    def moved(self: ReduceLROnPlateau, *args: Any, **kwargs: Any) -> None:
        watcher.waits(self)
        move(self, *args, **kwargs)

    patches.put(ReduceLROnPlateau, "step", moved)
    patches.put(Optimizer, "__init__", begun)
    patches.put(Optimizer, "zero_grad", cleared)
    patches.put(nn.Module, "zero_grad", cleared_module)


def _loaders(patches: Patches, watcher: Watcher) -> None:
    following = _BaseDataLoaderIter.__next__

    def fetched(self: Any) -> Any:
        if not watcher.fetches(self._num_yielded == 0):
            raise StopIteration
        return following(self)

    def iterator(self: DataLoader[Any]) -> Any:
        # Batches are loaded where the script is followed: what another process loads would be unknown here.
        self.__dict__.update(num_workers=0, timeout=0, prefetch_factor=None, persistent_workers=False)
        return _SingleProcessDataLoaderIter(self)

    patches.put(_BaseDataLoaderIter, "__next__", fetched)
    patches.put(DataLoader, "_get_iterator", iterator)


def _passes(patches: Patches, watcher: Watcher) -> None:
    backward, save = torch.autograd.backward, torch.save

    def gone_back(tensors: Any, *args: Any, **kwargs: Any) -> None:
        watcher.goes_back([tensors] if isinstance(tensors, Tensor) else list(tensors))
        backward(tensors, *args, **kwargs)

    def saved(obj: Any, f: Any, *args: Any, **kwargs: Any) -> None:
        if watcher.saves(str(f)):
            save(obj, f, *args, **kwargs)

    def wrapped(self: DistributedDataParallel, module: nn.Module, *_: Any, **__: Any) -> None:
        # Without its hooks on gradients, which want values; whoever calls it calls the module.
        nn.Module.__init__(self)
        self.module = module
        group = dist.group.WORLD if dist.is_available() and dist.is_initialized() else None
        self.process_group = group  # type: ignore[assignment]

    def compiled(model: Any = None, **_: Any) -> Any:
        watcher.compiles()
        return (lambda function: function) if model is None else model

    patches.put(torch, "compile", compiled)
    patches.put(nn.Module, "compile", lambda self, *args, **kwargs: watcher.compiles())
    patches.put(DistributedDataParallel, "__init__", wrapped)
    # Here too: a call that begins the first step has looked its forward up before.
    patches.put(DistributedDataParallel, "forward", lambda self, *args, **kwargs: self.module(*args, **kwargs))
    patches.put(DistributedDataParallel, "no_sync", lambda self: nullcontext())
    patches.put(torch.autograd, "backward", gone_back)
    patches.put(torch, "save", saved)
