"""Where ``transformers.Trainer.train`` begins: its own loop is gone through without training, and becomes a job.

The loop of the library itself says which batches a step has, in which order, what is counted over all of them, and the
learning rates; so nothing of it is written down here a second time. ``training_step`` is the objective: what it would
start the backward pass from is the loss.
"""

from __future__ import annotations

import copy
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from typing import Any

import torch
from torch import Tensor, nn
from torch.optim import Optimizer
from torch.optim.lr_scheduler import ReduceLROnPlateau

from counterfoil.program.update import ClipByNorm
from counterfoil.training.custom import CustomJob
from counterfoil.training.scripts.counters import Counters
from counterfoil.training.scripts.handover import Wanted
from counterfoil.training.scripts.patches import Patches
from counterfoil.training.scripts.precisions import profile_for
from counterfoil.training.scripts.refusals import callback_notes, check_trainer
from counterfoil.training.scripts.rehearsal import PARTS, Rehearsal, RehearsalEnded, rows_in
from counterfoil_core.base.errors import DataError

# The losses from which a library's code starts its backward passes.


def losses_of(step: Callable[[], object]) -> list[Tensor]:
    """Run a step of training, and return what each of its backward passes starts from, in the place of passing it.

    Args:
        step: Computes losses and calls ``backward`` of them.
    """
    losses: list[Tensor] = []
    patches = Patches()
    patches.put(Tensor, "backward", lambda loss, *_, **__: losses.append(loss))
    try:
        step()
    finally:
        patches.undo()
    return losses


MODULE = "transformers.trainer"
ARGUMENTS_MODULE = "transformers.training_args"
ITEMS = "num_items_in_batch"
"""The column of a batch that says what the Trainer counts over all batches of its step."""
_COUNTED = ("global_step", "epoch")
"""What the state of a Trainer counts."""
_CHECKPOINTS = 500
"""Steps between stored states where the script stores none: as many as a Trainer has by default."""


def take_over(library: Any, wanted: Wanted, patches: Patches) -> None:
    """Let ``Trainer.train`` hand its training over.

    Args:
        library: The module ``transformers.trainer``.
        wanted: What is wanted of the order besides.
        patches: Keeps what is replaced.
    """
    train = library.Trainer.train

    def ordered(trainer: Any, *arguments: Any, **settings: Any) -> Any:
        wanted.taken_over = not wanted.followed
        job, notes = trainer_job(trainer, wanted, lambda: train(trainer, *arguments, **settings), arguments, settings)
        wanted.hand_over(job, notes)

    patches.put(library.Trainer, "train", ordered)


def stay_on_the_processor(library: Any, _: Wanted, patches: Patches) -> None:
    """Let all ``TrainingArguments`` choose the CPU, on which an order is written.

    Args:
        library: The module ``transformers.training_args``.
        patches: Keeps what is replaced.
    """
    kind = library.TrainingArguments
    check = kind.__post_init__

    def checked(arguments: Any) -> None:
        arguments.use_cpu = True
        check(arguments)

    patches.put(kind, "__post_init__", checked)


def trainer_job(
    trainer: Any,
    wanted: Wanted,
    train: Callable[[], object],
    arguments: Sequence[Any] = (),
    settings: Mapping[str, Any] | None = None,
) -> tuple[CustomJob, list[str]]:
    """Return the job of a Trainer, and sentences on what was taken over.

    Args:
        trainer: The Trainer.
        wanted: What is wanted of the order besides.
        train: Its own ``train``, which goes through its loop.
        arguments: What ``train`` was called with.
        settings: The same, by name.

    Raises:
        DataError: Something in it cannot be ordered; the message names it.
    """
    check_trainer(trainer, arguments, settings or {})
    notes = [f"Taken over where {type(trainer).__name__}.train begins."]
    notes += profile_for(trainer.accelerator.mixed_precision, wanted)
    seen = _Seen()
    with _rehearsing(trainer, wanted, seen), suppress(RehearsalEnded):
        train()
    rehearsal = seen.rehearsal
    if not rehearsal.steps:
        raise DataError("The Trainer's loader gives no batches.", remedy="Give it rows enough for a batch.")
    loader, fixed = rehearsal.loader(seen.loader)
    parts = rehearsal.accumulate if rehearsal.is_even else 0
    trainer.model.train()
    job = CustomJob(
        title=f"{type(trainer).__name__} of {type(trainer.model).__name__}",
        model=trainer.model,
        objective=_Objective(trainer, fixed, parts, seen.counters),
        rule=seen.rule,
        data=loader,
        steps=len(rehearsal.steps),
        scheduler=rehearsal.scheduler,
        scheduler_every="step",
        seed=int(trainer.args.seed),
        precision=wanted.precision,
        checkpoint_every=_checkpoint_every(trainer, len(rehearsal.steps), seen.per_epoch),
        accumulate=rehearsal.accumulate,
        last="keep",
    )
    if rehearsal.accumulate > 1:
        notes.append(f"A step accumulates the gradients of {rehearsal.accumulate} batches.")
    if _checkpoints_activations(trainer):
        notes.append(
            "Gradient checkpointing is left out: it changes no result. --recompute-activations auto saves the memory."
        )
    return job, notes + callback_notes(trainer)


@dataclass
class _Seen:
    """What is seen of a Trainer's loop."""

    rehearsal: Rehearsal = field(default_factory=Rehearsal)  #: Its steps.
    counters: Counters = field(default_factory=Counters)  #: What it counted at each batch.
    optimizer: Optimizer | None = None  #: Its optimizer, without the wrapper of accelerate.
    clip_norm: float | None = None  #: Largest norm of the gradients; None for any.
    per_epoch: int = 0  #: Steps of the first epoch; 0 while it is not through.
    loader: Any = None  #: The loader of its batches.

    @property
    def rule(self) -> Any:
        """The optimizer, with clipping if there is any."""
        return self.optimizer if self.clip_norm is None else ClipByNorm(self.optimizer, self.clip_norm)  # type: ignore[arg-type]


@contextmanager
def _rehearsing(trainer: Any, wanted: Wanted, seen: _Seen) -> Iterator[None]:
    """Let a Trainer go through its loop without training, evaluating, saving or logging."""
    patches = Patches()

    def begin() -> None:
        wrapped = trainer.optimizer
        seen.optimizer = _unwrapped(wrapped)
        seen.loader = trainer.callback_handler.train_dataloader
        seen.rehearsal.wanted = wanted.steps(int(trainer.state.max_steps))
        if isinstance(trainer.lr_scheduler, ReduceLROnPlateau) or type(trainer.lr_scheduler).__name__ == "GreedyLR":
            raise DataError(
                f"The Trainer's scheduler {type(trainer.lr_scheduler).__name__} sets the learning rate from measured "
                "losses, but an order lists the learning rates beforehand.",
                remedy="Choose another lr_scheduler_type, such as linear or cosine.",
            )
        patches.put(wrapped, "step", step)

    def step(*_: Any, **__: Any) -> None:
        assert seen.optimizer is not None
        seen.rehearsal.saw_step(seen.optimizer)

    # So schedulers of torch know that whoever replaced it knows of them.
    step._wrapped_by_lr_sched = True  # type: ignore[attr-defined]

    def training_step(model: nn.Module, inputs: Mapping[str, Any], *counted: Any, **named: Any) -> Tensor:
        if seen.optimizer is None:
            begin()
        items = named.get(ITEMS, counted[0] if counted else None)
        seen.rehearsal.saw_batch(_with_items(inputs, items))
        seen.counters.seen.append({name: getattr(trainer.state, name) for name in _COUNTED})
        return torch.zeros((), device=trainer.args.device)

    def clip(parameters: Any, norm: float, *_: Any, **__: Any) -> Tensor:
        if norm != float("inf"):
            seen.clip_norm = float(norm)
        return torch.zeros(())

    def epoch_ended() -> None:
        seen.per_epoch = seen.per_epoch or len(seen.rehearsal.steps)

    patches.put(trainer, "training_step", training_step)
    patches.put(trainer, "_maybe_log_save_evaluate", lambda *_, **__: None)
    patches.put(trainer, "_evaluate", lambda *_, **__: {})
    patches.put(trainer.accelerator, "clip_grad_norm_", clip)
    patches.put(trainer.callback_handler, "callbacks", [_flow(trainer, epoch_ended)])
    try:
        yield
    finally:
        patches.undo()


def _flow(trainer: Any, epoch_ended: Callable[[], None]) -> Any:
    """The callback that a Trainer's loop needs to find its end; all others have a rest."""
    from transformers.trainer_callback import DefaultFlowCallback

    class Flow(DefaultFlowCallback):
        """Notes where an epoch ends; a loop that sees no batches ends there."""

        seen = 0

        def on_epoch_end(self, args: Any, state: Any, control: Any, **kwargs: Any) -> Any:
            epoch_ended()
            if state.global_step == self.seen:
                raise RehearsalEnded
            self.seen = state.global_step
            return super().on_epoch_end(args, state, control, **kwargs)

    return Flow()


def _with_items(inputs: Mapping[str, Any], items: Any) -> dict[str, Any]:
    """A batch with what the Trainer counts over its step as a column."""
    batch = dict(inputs)
    if items is None:
        return batch
    count = items.detach().cpu() if isinstance(items, Tensor) else torch.tensor(items)
    return {**batch, ITEMS: count.reshape(()).expand(rows_in(batch))}


def _unwrapped(optimizer: Any) -> Optimizer:
    """The optimizer of torch within the wrapper of accelerate."""
    while not isinstance(optimizer, Optimizer) or hasattr(optimizer, "optimizer"):
        if not isinstance(getattr(optimizer, "optimizer", None), Optimizer):
            break
        optimizer = optimizer.optimizer
    if not isinstance(optimizer, Optimizer):
        raise DataError(
            f"The Trainer's optimizer is a {type(optimizer).__name__}, which is no optimizer of torch.",
            remedy="Choose another one, for instance optim='adamw_torch'.",
        )
    return optimizer


@dataclass(frozen=True)
class _Objective:
    """The loss of a Trainer's ``training_step``."""

    trainer: Any  #: The Trainer.
    fixed: Mapping[str, Any]  #: What each batch holds besides tensors.
    parts: int  #: Batches of a step; 0 where each says so.
    counters: Counters  #: What the Trainer counted at each batch.

    def __call__(self, model: nn.Module, batch: Mapping[str, Any]) -> Tensor:
        inputs = {**batch, **self.fixed}
        items = inputs.pop(ITEMS, None)
        told = inputs.pop(PARTS, None)
        parts = self.parts if told is None else told[0]
        patches = Patches()
        patches.put(self.trainer, "current_gradient_accumulation_steps", parts)
        patches.put(self.trainer, "state", _watched(self.trainer.state, self.counters))
        # No profile computes in float16: there is no loss to scale.
        patches.put(self.trainer.accelerator, "scaler", None)
        # Whether a model is trained or tried out is said by whoever asks for its loss.
        patches.put(model, "train", lambda *_: model)
        try:
            count = None if items is None else items[0]
            losses = losses_of(lambda: self.trainer.training_step(model, inputs, count))
        finally:
            patches.undo()
        if len(losses) != 1:
            raise DataError(
                f"{type(self.trainer).__name__}.training_step has {len(losses)} backward passes; it must have one.",
                remedy="Add its losses, and let one backward pass follow; or write the loop with counterfoil.loop.",
            )
        # The loss of a step is the mean of its parts here, and their sum in a Trainer.
        return losses[0] * parts if told is not None or parts > 1 else losses[0]


def _watched(state: Any, counters: Counters) -> Any:
    """A Trainer's state that says what was counted at the moment of a capture."""
    watched = copy.copy(state)
    counted = {name: property(counters.reader(name)) for name in _COUNTED}
    watched.__class__ = type(type(state).__name__, (type(state),), counted)
    return watched


def _checkpoint_every(trainer: Any, steps: int, per_epoch: int) -> int:
    strategy = str(getattr(trainer.args.save_strategy, "value", trainer.args.save_strategy))
    if strategy == "steps":
        return max(1, int(trainer.state.save_steps))
    if strategy == "epoch":
        return per_epoch or steps
    return min(steps, _CHECKPOINTS)


def _checkpoints_activations(trainer: Any) -> bool:
    return any(getattr(trainer.args, name, False) for name in ("gradient_checkpointing", "activation_checkpointing"))
