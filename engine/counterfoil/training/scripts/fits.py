"""Where Lightning's ``Trainer.fit`` begins: its own loop is gone through without training, and becomes a job.

The loop of the library says which batches a step has and moves the learning rates, as with
:mod:`counterfoil.training.scripts.trainers`; ``training_step`` is the objective.
"""

from __future__ import annotations

import inspect
import math
import os
import sys
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from typing import Any

from torch import Tensor, nn
from torch.optim import Optimizer
from torch.optim.lr_scheduler import ReduceLROnPlateau

from counterfoil.program.update import ClipByNorm, ClipByValue
from counterfoil.program.whereabouts import in_brackets
from counterfoil.training.custom import CustomJob
from counterfoil.training.scripts.counters import Counters, reads_argument
from counterfoil.training.scripts.handover import Wanted
from counterfoil.training.scripts.patches import Patches
from counterfoil.training.scripts.precisions import profile_for
from counterfoil.training.scripts.refusals import changes_training, check_stops, place_of
from counterfoil.training.scripts.rehearsal import PARTS, Rehearsal, RehearsalEnded
from counterfoil_core.base.errors import DataError

MODULES = ("lightning.pytorch.trainer.trainer", "pytorch_lightning.trainer.trainer")
_BATCH = "batch"
"""The name of a batch, whatever it is, among what is seen of a step."""
_COUNTED = ("current_epoch", "global_step")
"""What a Trainer counts."""
_BATCH_INDEX = "batch_idx"
_COUNTED_BY_LOOP = (_BATCH_INDEX, "total_batch_idx")
"""What its loop over an epoch counts."""
_CHECKPOINTS = 500
"""Steps between stored states where the script stores none."""
_STOPS = frozenset({"should_stop"})
_CHANGE = frozenset(
    {
        "StochasticWeightAveraging", "WeightAveraging", "GradientAccumulationScheduler", "BaseFinetuning",
        "ModelPruning", "LearningRateFinder", "BatchSizeFinder", "SpikeDetection",
    }
)  # fmt: skip
"""Callbacks of Lightning that change a model, or how it is trained."""
_PART_OF_STEP = (
    "optimizer_step", "backward", "configure_gradient_clipping", "on_after_backward", "on_before_optimizer_step",
    "on_before_zero_grad", "on_before_backward", "optimizer_zero_grad", "on_train_batch_start", "on_train_batch_end",
)  # fmt: skip
"""Hooks of a module that a loop calls in each step; an order knows ``training_step`` and the optimizer's step alone."""
_REST = frozenset({"on_train_batch_start", "on_train_batch_end", "on_train_epoch_end", "on_train_end", "on_fit_end"})
"""Hooks that look back at steps, which were not made."""
_PRECISIONS: Mapping[str, str] = {"32-true": "no", "bf16-mixed": "bf16", "16-mixed": "fp16"}


def take_over(library: Any, wanted: Wanted, patches: Patches) -> None:
    """Let ``Trainer.fit`` hand its training over, on the CPU.

    Args:
        library: The module of Lightning's Trainer.
        wanted: What is wanted of the order besides.
        patches: Keeps what is replaced.
    """
    kind = library.Trainer
    make, fit = kind.__init__, kind.fit

    def made(trainer: Any, *arguments: Any, **settings: Any) -> None:
        check_alone(settings)
        make(trainer, *arguments, **{**settings, "accelerator": "cpu", "devices": 1, "strategy": "auto"})

    def ordered(trainer: Any, model: Any, *arguments: Any, **settings: Any) -> None:
        wanted.taken_over = not wanted.followed
        if settings.get("ckpt_path") is not None or (len(arguments) > 3 and arguments[3] is not None):
            raise DataError(
                "The script resumes a training from a checkpoint (ckpt_path); an order begins at its own first step.",
                remedy="Load the weights of the checkpoint as the model's, and leave ckpt_path out.",
            )
        job, notes = fit_job(trainer, model, wanted, lambda: fit(trainer, model, *arguments, **settings))
        wanted.hand_over(job, notes)

    patches.put(kind, "__init__", made)
    patches.put(kind, "fit", ordered)


def check_alone(settings: Mapping[str, Any]) -> None:
    """Check that a Trainer is one process; raises DataError."""
    devices, nodes = settings.get("devices"), settings.get("num_nodes", 1)
    count = len(devices) if isinstance(devices, (list, tuple)) else devices
    count = int(count) if isinstance(count, int) or (isinstance(count, str) and count.isdigit()) else 1
    if max(count, 1) * int(nodes) > 1:
        raise DataError(
            f"The script trains with {max(count, 1) * int(nodes)} processes, each on rows of its own.",
            remedy="Say devices=1, num_nodes=1 and the batch size of all of them together, or accumulate as many "
            "gradients (accumulate_grad_batches).",
        )


def fit_job(trainer: Any, model: Any, wanted: Wanted, fit: Callable[[], object]) -> tuple[CustomJob, list[str]]:
    """Return the job of a Lightning Trainer and a module, and sentences on what was taken over.

    Args:
        trainer: The Trainer.
        model: The LightningModule.
        wanted: What is wanted of the order besides.
        fit: The Trainer's own ``fit``.

    Raises:
        DataError: Something in it cannot be ordered; the message names it.
    """
    _check(trainer, model)
    notes = ["Taken over where Lightning's Trainer.fit begins."]
    notes += profile_for(_PRECISIONS.get(str(trainer.precision), str(trainer.precision)), wanted)
    seen = _Seen()
    with _rehearsing(trainer, model, wanted, seen), suppress(RehearsalEnded):
        fit()
    rehearsal = seen.rehearsal
    if not rehearsal.steps or seen.optimizer is None:
        raise DataError("Trainer.fit makes no step.", remedy="Look at its limits, and at what its loader gives.")
    loader, fixed = rehearsal.loader(getattr(trainer, "train_dataloader", None))
    model.train()
    steps = len(rehearsal.steps)
    job = CustomJob(
        title=f"Lightning's {type(model).__name__}",
        model=model,
        objective=_Objective(model, fixed, int(trainer.accumulate_grad_batches), seen.counters),
        rule=_clipped(trainer, seen.optimizer),
        data=loader,
        steps=steps,
        scheduler=rehearsal.scheduler,
        scheduler_every="step",
        seed=int(os.environ.get("PL_GLOBAL_SEED", 0)),
        precision=wanted.precision,
        checkpoint_every=_checkpoint_every(trainer, steps, seen.per_epoch),
        accumulate=rehearsal.accumulate,
        last="keep",
    )
    own = dict.fromkeys(type(c).__name__ for c in trainer.callbacks if not _of_lightning(type(c)))
    return job, notes + [f"Callbacks are not carried out, as they are no part of a step: {', '.join(own)}."] * bool(own)


def _of_lightning(kind: type) -> bool:
    return kind.__module__.split(".")[0] in ("lightning", "pytorch_lightning")


def _check(trainer: Any, model: Any) -> None:
    if not model.automatic_optimization:
        raise DataError(
            f"{type(model).__name__} optimizes by itself (automatic_optimization=False), and its steps are written "
            "nowhere else.",
            remedy="Let Lightning optimize, or say what a step does with counterfoil.loop or counterfoil.TurnsJob.",
        )
    for name in _PART_OF_STEP:
        function = getattr(type(model), name, None)
        if function is not None and not _of_lightning_function(function):
            raise DataError(
                f"{type(model).__name__}.{name} takes part in each step{in_brackets(place_of(function))}, and an order "
                "holds training_step and the optimizer's step alone.",
                remedy="Do it in training_step or leave it out; or write the loop with counterfoil.loop.",
            )
    attached = model.configure_callbacks()
    for callback in [*trainer.callbacks, *(attached if isinstance(attached, (list, tuple)) else [attached])]:
        if {base.__name__ for base in type(callback).__mro__} & _CHANGE:
            raise changes_training(f"The callback {type(callback).__name__}")
        check_stops(type(callback), _STOPS, ("Callback",), "trainer")


def _of_lightning_function(function: Any) -> bool:
    return str(getattr(function, "__module__", "")).split(".")[0] in ("lightning", "pytorch_lightning", "torch")


@dataclass
class _Seen:
    """What is seen of a loop."""

    rehearsal: Rehearsal = field(default_factory=Rehearsal)  #: Its steps.
    counters: Counters = field(default_factory=Counters)  #: What the Trainer counted at each batch.
    optimizer: Optimizer | None = None  #: Its optimizer.
    per_epoch: int = 0  #: Steps of the first epoch; 0 while it is not through.


@contextmanager
def _rehearsing(trainer: Any, model: Any, wanted: Wanted, seen: _Seen) -> Iterator[None]:
    """Let a Trainer go through its loop without training, validating, saving or logging."""
    loop = trainer.fit_loop
    automatic = loop.epoch_loop.automatic_optimization
    call = sys.modules[f"{type(trainer).__module__.rpartition('.')[0]}.call"]
    calls = call._call_lightning_module_hook

    def begin() -> None:
        planned = trainer.estimated_stepping_batches
        if planned == math.inf and wanted.max_steps is None:
            raise DataError("Trainer.fit would go on without end.", remedy="Say --max-steps, or max_epochs.")
        seen.rehearsal.wanted = wanted.steps(sys.maxsize if planned == math.inf else int(planned))
        for config in trainer.lr_scheduler_configs:
            if config.reduce_on_plateau or isinstance(config.scheduler, ReduceLROnPlateau):
                raise DataError(
                    f"The scheduler {type(config.scheduler).__name__} sets the learning rate from measured losses, but "
                    "an order lists the learning rates beforehand.",
                    remedy="Choose a scheduler that depends on the step alone, such as CosineAnnealingLR.",
                )
        seen.optimizer = trainer.strategy.optimizers[0]

    def run(optimizer: Any, batch_index: int, arguments: Mapping[str, Any]) -> Any:
        if seen.optimizer is None:
            begin()
        assert seen.optimizer is not None
        given = list(arguments.values())
        seen.rehearsal.saw_batch({_BATCH: given[0]})
        own = {name: getattr(trainer, name) for name in _COUNTED}
        of_loop = {name: getattr(loop.epoch_loop, name) for name in _COUNTED_BY_LOOP}
        seen.counters.seen.append({**own, **of_loop})
        if not loop._should_accumulate():
            automatic.optim_progress.optimizer.step.increment_ready()
            seen.rehearsal.saw_step(seen.optimizer)
            automatic.optim_progress.optimizer.step.increment_completed()
        return {}

    def hook(owner: Any, name: str, *arguments: Any, **settings: Any) -> Any:
        if name == "on_train_epoch_end":
            seen.per_epoch = seen.per_epoch or len(seen.rehearsal.steps)
        return None if name in _REST else calls(owner, name, *arguments, **settings)

    patches = Patches()
    patches.put(automatic, "run", run)
    patches.put(call, "_call_lightning_module_hook", hook)
    patches.put(trainer, "callbacks", [])
    patches.put(trainer._callback_connector, "_attach_model_callbacks", lambda: None)
    patches.put(trainer, "_loggers", [])
    patches.put(trainer, "limit_val_batches", 0)
    patches.put(trainer, "num_sanity_val_steps", 0)
    try:
        yield
    finally:
        patches.undo()


@dataclass(frozen=True)
class _Objective:
    """The loss of a module's ``training_step``, as Lightning weighs it."""

    module: Any  #: The module.
    fixed: Mapping[str, Any]  #: What each batch is that is no tensor.
    accumulate: int  #: By how many Lightning divides the loss of each batch, also where a step has fewer.
    counters: Counters  #: What the Trainer counted at each batch.

    def __call__(self, model: nn.Module, batch: Mapping[str, Any]) -> Tensor:
        given = {**batch, **self.fixed}
        parts = given.get(PARTS)
        # Without its batch index, or with one.
        step = self.module.training_step
        index = [_BATCH_INDEX] if _BATCH_INDEX in (names := list(_parameters(step))) else names[1:2]
        reads = any(reads_argument(step, name) for name in index)
        arguments = [given[_BATCH], *(self.counters.read(_BATCH_INDEX) if reads else 0 for _ in index)]
        patches = Patches()
        trainer = self.module.trainer
        for owner, counted in ((trainer, _COUNTED), (trainer.fit_loop.epoch_loop, _COUNTED_BY_LOOP)):
            for name in counted:
                patches.put(type(owner), name, property(self.counters.reader(name)))
        for name in ("log", "log_dict"):
            patches.put(self.module, name, lambda *_, **__: None)
        try:
            output = self.module.training_step(*arguments)
        finally:
            patches.undo()
        loss = output.get("loss") if isinstance(output, Mapping) else output
        if not isinstance(loss, Tensor):
            raise DataError(
                f"{type(self.module).__name__}.training_step returned no loss, but {type(loss).__name__}.",
                remedy="Return a tensor, or a dict with 'loss', in every step.",
            )
        # The loss of a step is the mean of its parts here.
        return loss if parts is None else loss * (parts[0] / self.accumulate)


def _parameters(function: Callable[..., Any]) -> Iterator[str]:
    for name, parameter in inspect.signature(function).parameters.items():
        if parameter.kind not in (parameter.VAR_KEYWORD, parameter.KEYWORD_ONLY):
            yield name


def _clipped(trainer: Any, optimizer: Optimizer) -> Any:
    bound = trainer.gradient_clip_val
    if not bound:
        return optimizer
    by_value = str(getattr(trainer.gradient_clip_algorithm, "value", trainer.gradient_clip_algorithm)) == "value"
    return (ClipByValue if by_value else ClipByNorm)(optimizer, float(bound))


def _checkpoint_every(trainer: Any, steps: int, per_epoch: int) -> int:
    for callback in trainer.checkpoint_callbacks:
        every = int(getattr(callback, "_every_n_train_steps", 0) or 0)
        return every or per_epoch or steps
    return min(steps, _CHECKPOINTS)
