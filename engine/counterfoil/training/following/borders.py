"""Where the steps of a script's loop begin and end: told by what it calls of torch.

A loop that takes batches from a loader has a step from one batch to the next, once a parameter was changed. A loop
without one has a step from one ``zero_grad()``, or forward pass, to the next. The script as it is and the script as it
is followed are told apart into steps by the same :class:`Borders`, so that one can be compared with the other.
"""

from __future__ import annotations

import json
import os
import threading
import weakref
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext
from types import MethodType, ModuleType
from typing import Any, Protocol

import torch
import torch.distributed as dist
from torch import Tensor, nn
from torch.nn.modules.module import register_module_forward_pre_hook
from torch.nn.parallel import DistributedDataParallel
from torch.optim import Optimizer
from torch.optim.lr_scheduler import ReduceLROnPlateau
from torch.utils.data.dataloader import _BaseDataLoaderIter

from counterfoil.program import whereabouts
from counterfoil.program.asked.arrays import AskedArray
from counterfoil.program.asked.numbers import is_asked
from counterfoil.training.following.models import Models, find_models, number_modules
from counterfoil.training.following.tallies import Tallies
from counterfoil.training.scripts.patches import Patch, Patches, patch_modules

_CURVES = tuple(
    (f"SummaryWriter.add_{name}", 0)
    for name in (
        *(
            "audio",
            "embedding",
            "figure",
            "graph",
            "histogram",
            "histogram_raw",
            "hparams",
            "image",
            "image_with_boxes",
        ),
        *("images", "mesh", "pr_curve", "pr_curve_raw", "scalar", "scalars", "text", "video"),
    )
)
"""What a writer for TensorBoard is told; it chooses its file, and stands in the place of one here."""
_SAVING = {
    "numpy": (("save", 0), ("savez", 0), ("savez_compressed", 0)),
    "peft.peft_model": (("PeftModel.save_pretrained", 1),),
    "safetensors.torch": (("save_file", 1),),
    "tensorboardX.writer": _CURVES,
    "torch.utils.tensorboard.writer": _CURVES,
    "torchvision.utils": (("save_image", 1),),
    "transformers.modeling_utils": (("PreTrainedModel.save_pretrained", 1),),
}
"""Functions and methods of libraries that write files, each with the place of the file among its arguments."""


class Watcher(Protocol):
    """Is told what a script does."""

    def made(self, optimizer: Optimizer) -> None:
        """It made an optimizer."""

    def adds(self, optimizer: Optimizer) -> None:
        """It gave an optimizer one more group of parameters."""

    def fetches(self) -> None:
        """It asks a loader for a batch."""

    def clears(self, owner: Optimizer | nn.Module) -> None:
        """It clears gradients."""

    def runs(self, module: nn.Module) -> None:
        """It calls a module."""

    def goes_back(self, losses: Sequence[Tensor]) -> None:
        """It calls ``backward``."""

    def differentiates(self, outputs: Sequence[Tensor]) -> None:
        """It calls ``torch.autograd.grad``."""

    def lowers(self, scheduler: ReduceLROnPlateau, before: Sequence[float]) -> None:
        """A scheduler has lowered rates since a metric did not improve; they were others before."""

    def updates(self, optimizer: Optimizer, closure: Callable[[], Any] | None, step: Callable[[], Any]) -> Any:
        """It calls an optimizer's ``step()``, which is handed in; returns what that returns."""

    def keeps(self, what: Any, file: Any) -> bool:
        """It saves something by ``torch.save``; returns whether that is done."""

    def loads(self, what: Any, file: Any) -> None:
        """It has loaded something by ``torch.load``."""

    def kept(self, file: Any) -> tuple[Any] | None:
        """It loads something by ``torch.load``; returns what takes the place of what lies there."""

    def update(self) -> AbstractContextManager[None]:
        """Within, an optimizer makes its step."""

    def backward_pass(self) -> AbstractContextManager[None]:
        """Within, a backward pass is made."""

    def compiles(self) -> None:
        """It has something compiled, which stays as it is written."""

    def saves(self, file: Any) -> bool:
        """It saves something to a file; returns whether that is done."""


class Borders(ABC):
    """Tells where the steps of a script begin and end, by what it calls.

    Attributes:
        made_optimizers: The optimizers that it has made, in order.
        calls: What it called in the step that it is in, as texts: what two runs of a script have in common.
        models: The models that it trains; None before the first step.
        is_updated: Whether the step that it is in has changed a parameter: an optimizer's own step, or, where there is
            no optimizer, whoever writes to a parameter behind a backward pass. Of an evaluation, whether it has called
            a model.
        tallies: What an evaluation adds up; None of a training.

    Args:
        evaluates: Whether the script scores models and trains none: a step is a batch for which it calls them.
    """

    def __init__(self, *, evaluates: bool = False) -> None:
        self.tallies = Tallies() if evaluates else None
        self._scored: list[nn.Module] = []
        self._within: set[int] = set()
        self.made_optimizers: list[Optimizer] = []
        self.calls: list[str] = []
        self.models: Models | None = None
        self._from_loader = False
        self._thread = threading.get_ident()
        self._updating = 0
        self._going_back = 0
        self._went_back = False
        self.is_updated = False

    @abstractmethod
    def begin(self) -> None:
        """The first step begins."""

    @abstractmethod
    def grow(self) -> None:
        """Models were made after the first step began."""

    @abstractmethod
    def finish(self) -> None:
        """The step that the script is in is over, and the next begins."""

    def made(self, optimizer: Optimizer) -> None:
        """Remember an optimizer."""
        if not self.is_here or self.tallies is not None:
            return
        self.made_optimizers.append(optimizer)
        if self.models is not None:
            self.adds(optimizer)
        else:
            self._from_loader = False
            trained = self._trained(None)
            if trained and not find_models(trained, whereabouts.client_frame()).trained:
                # No call of a module tells where its first step begins.
                self.start(None)

    @property
    def is_here(self) -> bool:
        """Whether the script's own thread runs: what another one calls neither begins a step nor ends one."""
        return threading.get_ident() == self._thread

    def wrote(self, tensor: Tensor) -> None:
        """Take note that a tensor of a model is written to."""
        if self._updating if self.made_optimizers else self._went_back:
            self.is_updated = self.is_updated or self._trains(tensor)

    @contextmanager
    def update(self) -> Iterator[None]:
        """Within, an optimizer makes its step."""
        self._updating += 1
        try:
            yield
        finally:
            self._updating -= 1
        if self.models is not None and not self.models.trained and self.is_updated and not self._going_back:
            # No call of a module tells where the next step begins.
            self.next_step()

    @contextmanager
    def backward_pass(self) -> Iterator[None]:
        """Within, a backward pass is made; what its hooks call ends no step."""
        self._went_back = True
        self._going_back += 1
        try:
            yield
        finally:
            self._going_back -= 1

    def next_step(self) -> None:
        """Finish the step that the script is in."""
        self.finish()
        self.is_updated = self._went_back = False
        self.calls = []

    def fetches(self) -> None:
        """End the step where a loader is asked for the next batch."""
        if not self.is_here:
            return
        if self.models is not None and self.is_updated and not self._going_back:
            self.next_step()
        self._from_loader = bool(self.made_optimizers) or self.tallies is not None
        self.calls.append("fetch")

    def clears(self, owner: Optimizer | nn.Module) -> None:
        """Begin with the first step, or with the next where there is no loader."""
        if not self.is_here or self.tallies is not None:
            return
        if self.models is None and (isinstance(owner, Optimizer) or not self.made_optimizers):
            self.start(owner)
        elif self.models is not None:
            self._next_without_loader()
        self.calls.append("clear")

    def runs(self, module: nn.Module) -> None:
        """Begin with the first step where what is trained is called, or with the next where there is no loader."""
        if self.tallies is not None:
            self._runs_scored(module)
            return
        if not self.is_here or not torch.is_grad_enabled():
            return
        models = self.models
        if models is None:
            trained = {id(parameter) for parameter in self._trained(None)}
            if any(id(parameter) in trained for parameter in module.parameters()):
                self.start(None)
        elif id(module) in models.roots:
            self._next_without_loader()

    def _runs_scored(self, module: nn.Module) -> None:
        """Begin with the first step of an evaluation where a model is called, or with the next without a loader."""
        assert self.tallies is not None
        is_known = any(module is scored for scored in self._scored)
        if not self.is_here or (
            not is_known and (id(module) in self._within or not any(True for _ in module.parameters()))
        ):
            return
        if module is next(iter(self._scored), None):
            self._next_without_loader()
        self.tallies.look()
        if not is_known:
            self._scored.append(module)
            self._within.update(map(id, module.modules()))
            self._take_in(list(module.parameters()))
        if self.models is None:
            self.start(None)
        self.is_updated = True
        self.calls.append("run")

    def start(self, owner: Optimizer | nn.Module | None) -> None:
        """Begin with the first step, where something is trained.

        Args:
            owner: What was called: of a script without an optimizer, the module that is trained.
        """
        trained = self._trained(owner)
        if trained:
            self.calls = []
            self.models = find_models(trained, whereabouts.client_frame())
            self.begin()

    def adds(self, optimizer: Optimizer) -> None:
        """Take in what an optimizer trains that nobody trained before, before anything is computed with it.

        Args:
            optimizer: It was made after the first step began, or was given one more group of parameters.
        """
        self._take_in([parameter for group in optimizer.param_groups for parameter in group["params"]])

    def _take_in(self, given: Sequence[Tensor]) -> None:
        """Take in parameters, unless no step has begun or they are known."""
        if self.models is None:
            return
        known = {id(tensor) for tensor in self.models.tensors.values()}
        if any(id(parameter) not in known for parameter in given):
            self.models = self.models.grown(find_models(self._trained(None), whereabouts.client_frame()))
            self.grow()

    def _trains(self, tensor: Tensor) -> bool:
        if not self.made_optimizers:
            return tensor.requires_grad
        return any(p is tensor for made in self.made_optimizers for group in made.param_groups for p in group["params"])

    def _trained(self, owner: Optimizer | nn.Module | None) -> list[Tensor]:
        if self._scored:
            return [parameter for module in self._scored for parameter in module.parameters()]
        if not self.made_optimizers and isinstance(owner, nn.Module):
            return [parameter for parameter in owner.parameters() if parameter.requires_grad]
        return [p for made in self.made_optimizers for group in made.param_groups for p in group["params"]]

    def _next_without_loader(self) -> None:
        if self.is_updated and not self._from_loader and not self._going_back:
            self.next_step()


@contextmanager
def watch(watcher: Watcher, *, plainly: bool = False) -> Iterator[None]:
    """Tell a watcher what happens within; afterwards torch is as it was.

    Args:
        watcher: Is told.
        plainly: Whether everything is done as it is; else nothing is compiled or spread over processes, and the watcher
            says what is saved.
    """
    patches = Patches()
    hook = register_module_forward_pre_hook(lambda module, _: watcher.runs(module))
    made: list[weakref.ref[Optimizer]] = []
    watching = True

    def leave() -> None:
        nonlocal watching
        if watching:
            watching = False
            hook.remove()
            patches.undo()
            for optimizer in filter(None, (reference() for reference in made)):
                vars(optimizer).pop("step", None)

    if hasattr(os, "register_at_fork"):
        # A process that the script starts is watched by nobody: what it does it does as it is.
        os.register_at_fork(after_in_child=leave)
    try:
        number_modules(patches)
        _optimizers(patches, watcher, made)
        _passes(patches, watcher)
        (_files if plainly else _replacements)(patches, watcher)
        with patch_modules({module: _saving(names, watcher) for module, names in _SAVING.items()}):
            yield
    finally:
        leave()


def _saving(names: Sequence[tuple[str, int]], watcher: Watcher) -> Patch:
    """Return what has a module's functions ask before they write a file."""

    def patch(module: ModuleType, patches: Patches) -> None:
        for path, place in names:
            kind, _, name = path.rpartition(".")
            owner = getattr(module, kind) if kind else module
            save = getattr(owner, name)

            def saved(*args: Any, save: Any = save, place: int = place, **kwargs: Any) -> Any:
                named = args[place] if len(args) > place else next(iter(kwargs.values()), "a file")
                if module.__name__ == "numpy" and not any(map(_is_unknown, (*args, *kwargs.values()))):
                    return save(*args, **kwargs)
                return save(*args, **kwargs) if watcher.saves(named) else None

            patches.put(owner, name, saved)

    return patch


def _shown(item: Any) -> Any:
    """What a text of numbers shows: nothing in the place of a value that nobody knows here."""
    if isinstance(item, (list, tuple)):
        return [_shown(part) for part in item]
    if isinstance(item, dict):
        return {name: _shown(part) for name, part in item.items()}
    return None if is_asked(item) else item


def _is_unknown(item: Any) -> bool:
    return isinstance(item, AskedArray) or is_asked(item)


def _optimizers(patches: Patches, watcher: Watcher, made: list[weakref.ref[Optimizer]]) -> None:
    init, clear, clear_module = Optimizer.__init__, Optimizer.zero_grad, nn.Module.zero_grad
    add = Optimizer.add_param_group

    def begun(self: Optimizer, *args: Any, **kwargs: Any) -> None:
        init(self, *args, **kwargs)

        def step(self: Optimizer, *args: Any, **kwargs: Any) -> Any:
            closure = args[0] if args else kwargs.get("closure")
            with watcher.update():
                return watcher.updates(self, closure, lambda: type(self).step(self, *args, **kwargs))

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

    def added(self: Optimizer, *args: Any, **kwargs: Any) -> None:
        add(self, *args, **kwargs)
        if "step" in vars(self):  # else it is being made
            watcher.adds(self)

    patches.put(Optimizer, "__init__", begun)
    patches.put(Optimizer, "add_param_group", added)
    patches.put(Optimizer, "zero_grad", cleared)
    patches.put(nn.Module, "zero_grad", cleared_module)


def _passes(patches: Patches, watcher: Watcher) -> None:
    following, backward, differentiate = _BaseDataLoaderIter.__next__, torch.autograd.backward, torch.autograd.grad
    move = ReduceLROnPlateau.step

    def fetched(self: Any) -> Any:
        watcher.fetches()
        return following(self)

    def gone_back(tensors: Any, *args: Any, **kwargs: Any) -> None:
        watcher.goes_back([tensors] if isinstance(tensors, Tensor) else list(tensors))
        with watcher.backward_pass():
            backward(tensors, *args, **kwargs)

    def differentiated(outputs: Any, *args: Any, **kwargs: Any) -> Any:
        watcher.differentiates([outputs] if isinstance(outputs, Tensor) else list(outputs))
        with watcher.backward_pass():
            return differentiate(outputs, *args, **kwargs)

    def moved(self: ReduceLROnPlateau, *args: Any, **kwargs: Any) -> None:
        before = [float(group["lr"]) for group in self.optimizer.param_groups]
        move(self, *args, **kwargs)
        if before != [float(group["lr"]) for group in self.optimizer.param_groups]:
            watcher.lowers(self, before)

    patches.put(_BaseDataLoaderIter, "__next__", fetched)
    patches.put(torch.autograd, "backward", gone_back)
    patches.put(torch.autograd, "grad", differentiated)
    patches.put(ReduceLROnPlateau, "step", moved)


def _files(patches: Patches, watcher: Watcher) -> None:
    """Tell what is saved and loaded, which is done as it is."""
    save, load = torch.save, torch.load

    def saved(obj: Any, f: Any, *args: Any, **kwargs: Any) -> None:
        watcher.keeps(obj, f)
        save(obj, f, *args, **kwargs)

    def loaded(f: Any, *args: Any, **kwargs: Any) -> Any:
        found = load(f, *args, **kwargs)
        watcher.loads(found, f)
        return found

    patches.put(torch, "save", saved)
    patches.put(torch, "load", loaded)


def _replacements(patches: Patches, watcher: Watcher) -> None:
    save, load = torch.save, torch.load

    def saved(obj: Any, f: Any, *args: Any, **kwargs: Any) -> None:
        if watcher.keeps(obj, f):
            save(obj, f, *args, **kwargs)

    def loaded(f: Any, *args: Any, **kwargs: Any) -> Any:
        kept = watcher.kept(f)
        return load(f, *args, **kwargs) if kept is None else kept[0]

    def written(write: Callable[..., Any]) -> Callable[..., Any]:
        return lambda item, *args, **kwargs: write(_shown(item), *args, **kwargs)

    def wrapped(self: DistributedDataParallel, module: nn.Module, *_: Any, **__: Any) -> None:
        # Without its hooks on gradients, which want values; whoever calls it calls the module.
        nn.Module.__init__(self)
        self.module = module
        group = dist.group.WORLD if dist.is_available() and dist.is_initialized() else None
        self.process_group = group  # type: ignore[assignment]

    def compiled(model: Any = None, **_: Any) -> Any:
        watcher.compiles()
        return (lambda function: function) if model is None else model

    def entered(self: Any) -> None:
        # In inference mode views know nothing of each other, and what is noted would have no order.
        self._inference_mode_context = torch.no_grad() if self.mode else nullcontext()
        self._inference_mode_context.__enter__()

    patches.put(torch.inference_mode, "__enter__", entered)
    patches.put(torch, "compile", compiled)
    patches.put(nn.Module, "compile", lambda self, *args, **kwargs: watcher.compiles())
    patches.put(DistributedDataParallel, "__init__", wrapped)
    # Here too: a call that begins the first step has looked its forward up before.
    patches.put(DistributedDataParallel, "forward", lambda self, *args, **kwargs: self.module(*args, **kwargs))
    patches.put(DistributedDataParallel, "no_sync", lambda self: nullcontext())
    patches.put(torch, "save", saved)
    patches.put(torch, "load", loaded)
    for name in ("dump", "dumps"):
        patches.put(json, name, written(getattr(json, name)))
