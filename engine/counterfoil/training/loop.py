"""A training loop of one's own over recorded steps: ``for step in counterfoil.loop(...)``.

The parts of the loop become an order. Where a run and a key are given, each turn of the loop is one step of its
recording, and evaluation, logging and printing stay the caller's.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import torch
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn
from torch import Tensor, nn
from torch.optim.lr_scheduler import LRScheduler
from torch.optim.swa_utils import AveragedModel
from torch.utils.data import DataLoader

from counterfoil.program.passes import Weigh
from counterfoil.program.remedies import Notes
from counterfoil.program.update import ClipByNorm, WeightAverage
from counterfoil.program.update.handback import Handing
from counterfoil.program.update.torchs import AnyRule, optimizers_within
from counterfoil.signing.privatekeys import load_private_key
from counterfoil.training.batches import Last, left_over
from counterfoil.training.custom import CustomJob, batches_of, order_custom, rates_of_job, steps_per_epoch
from counterfoil.training.order import OrderDraft
from counterfoil.training.recorder import record
from counterfoil.training.recordingevents import RecordingResumed, StepRecorded
from counterfoil.training.recordingfolder import is_unfinished
from counterfoil.training.rows import Keep
from counterfoil.training.schedules import Every, Pace, SchedulerFactory
from counterfoil.training.wrappers import STARTS, decay_of, unwrap_job
from counterfoil_core.base.errors import DataError
from counterfoil_core.base.precision import AnyPrecision
from counterfoil_core.base.stoprule import StopRule
from counterfoil_core.bundle.reader import BundleReader
from counterfoil_core.signing.keys import SigningKey


@dataclass(frozen=True)
class LoopStep:
    """A recorded step."""

    index: int  #: Its number, from 0.
    epoch: int  #: The epoch that it belongs to, from 0.
    loss: float  #: Its loss.
    lr: float  #: Its learning rate; of several parameter groups that of the first.
    ends_epoch: bool  #: Whether it is the last of its epoch, or of all.


def loop(
    model: nn.Module,
    optimizer: AnyRule,
    loader: DataLoader[Any],
    loss_fn: Callable[[nn.Module, Any], Any],
    *,
    epochs: int | None = None,
    steps: int | None = None,
    scheduler: LRScheduler | SchedulerFactory | Sequence[LRScheduler] | None = None,
    scheduler_every: Every | None = None,
    accumulate: int = 1,
    weigh: Weigh = "parts",
    clip_norm: float | None = None,
    average: float | AveragedModel | None = None,
    data: Keep | None = None,
    last: Last | None = None,
    pad: Mapping[str, float] | None = None,
    seed: int = 0,
    precision: AnyPrecision | None = None,
    checkpoint_every: int = 10,
    may_stop_early: StopRule | None = None,
    title: str = "A training loop",
    device: str = "cpu",
    job: str | os.PathLike[str] = "job.cfoil",
    out: str | os.PathLike[str] | None = None,
    key: str | os.PathLike[str] | SigningKey | None = None,
) -> Loop:
    """Return a training loop; going through it writes the order, and records the steps where ``out`` is given.

    Args:
        model: The model, as for :class:`counterfoil.CustomJob`.
        optimizer: The optimizer, one that holds the model's parameters, a list of such, or a rule of ours.
        loader: Gives the batches, epoch after epoch.
        loss_fn: ``loss_fn(model, batch)`` returns the loss; with ``weigh="tokens"`` a sum and a count.
        epochs: How often the loader is gone through; or ``steps``.
        steps: Number of steps.
        scheduler: Of the learning rate.
        scheduler_every: Whether it moves on after each ``step`` or each ``epoch``.
        accumulate: Batches of a step, whose gradients are accumulated.
        weigh: How these are weighed, ``parts`` alike or by what they count, ``tokens``.
        clip_norm: Largest joint norm of the gradients.
        average: Decay of an average of the weights, which is kept beside them; or torch's AveragedModel that has one.
        data: Of a Dataset ``rows``, each once, or ``batches`` as they are drawn.
        last: What becomes of a shorter batch at the end of an epoch, and of batches too few for a step: ``keep``, where
            the latter make a step of their own, or ``drop``. Unless given a shorter batch is kept, and too few are an
            error.
        pad: What is padded with, by the name of the array, where batches have more shapes than an order has programs.
        seed: Seed of the random draws of a step.
        precision: The precision profile.
        checkpoint_every: The state is stored every so many steps.
        may_stop_early: The rule by which the run, and so the loop, ends before its last step.
        title: The name of the job.
        device: Where it is recorded, ``cpu`` or ``cuda:0``.
        job: Where the order goes; the same order may lie there.
        out: Where the run goes; unless given the order is written, and nothing trained.
        key: The trainer's key, or its file, which has no passphrase then.

    Raises:
        DataError: Neither or both of ``epochs`` and ``steps`` are given, or ``out`` without ``key``; going through it
            raises whatever :func:`counterfoil.order_custom` and :func:`counterfoil.record` do.
    """
    if (epochs is None) == (steps is None):
        raise DataError("A loop needs either epochs or steps.", remedy="Say for instance epochs=3.")
    if (out is None) != (key is None):
        raise DataError("A recording needs both out and key.", remedy="Give both; neither writes the order alone.")
    rule = optimizer if clip_norm is None else ClipByNorm(optimizer, clip_norm)
    rule = rule if average is None else WeightAverage(rule, decay_of(average))
    wanted = CustomJob(
        title,
        model,
        loss_fn,
        rule,
        loader,
        steps or 1,
        scheduler=scheduler,
        seed=seed,
        precision=precision,
        checkpoint_every=checkpoint_every,
        scheduler_every=scheduler_every,
        keep=data,
        accumulate=accumulate,
        weigh=weigh,
        last=last,
        pad=pad,
        may_stop_early=may_stop_early,
    )
    return Loop(wanted, epochs, Path(job), None if out is None else Path(out), key, device, average)


class Loop:
    """Goes through the recorded steps of a job; made by :func:`loop`."""

    def __init__(
        self,
        job: CustomJob,
        epochs: int | None,
        order: Path,
        out: Path | None,
        key: str | os.PathLike[str] | SigningKey | None,
        device: str,
        average: float | AveragedModel | None = None,
    ) -> None:
        self._notes = Notes()
        job = unwrap_job(job, self._notes)
        batches_of(job)
        self._epoch = steps_per_epoch(job)
        if epochs is not None:
            if not self._epoch:
                raise DataError(
                    "The length of an epoch is not known, as the loader has none.",
                    remedy="Say steps in the place of epochs.",
                )
            left = len(job.data) % job.accumulate
            if left and job.last is None:
                raise left_over(left, job.accumulate)
            job = replace(job, steps=epochs * self._epoch)
        self._job, self._order, self._out, self._key, self._device = job, order, out, key, device
        self._average = average if isinstance(average, AveragedModel) else None
        if self._average is not None and not int(self._average.n_averaged):
            self._notes.add(STARTS)
        self._last: StepRecorded | None = None
        self._rates: list[float] = []
        self._handing: Handing | None = None

    def __len__(self) -> int:
        """Number of ordered steps; the loop ends before the last where the order's rule ends the run."""
        return self._job.steps

    def __iter__(self) -> Iterator[LoopStep]:
        """Write the order; record its steps, and yield each."""
        draft = order_custom(self._job)
        self._rates = list(draft.rates[""])
        for note in (*self._notes.sentences, *draft.notes):
            Console(stderr=True).print(note, markup=False, highlight=False, soft_wrap=True)
        _write_once(draft, self._order)
        if self._out is None:
            return
        self._handing = self._handed(draft)
        assert self._key is not None
        key = load_private_key(self._key, None) if isinstance(self._key, (str, os.PathLike)) else self._key
        resume = is_unfinished(self._out)
        events = record(self._order, self._out, key, device=self._device, resume=resume, states=True)
        with _bar(self._job.steps) as show:
            for event in events:
                match event:
                    case RecordingResumed():
                        show(event.steps, None)
                    case StepRecorded():
                        self._last = event
                        show(event.step, event.loss)
                        yield self._step(event)

    def _step(self, event: StepRecorded) -> LoopStep:
        index, epoch = event.step - 1, self._epoch or event.steps
        ends = event.step % epoch == 0 or event.step == event.steps
        return LoopStep(index, index // epoch, event.loss, self._rates[index], ends)

    def sync(self) -> None:
        """Write the state after the last step into the caller's model, its AveragedModel, and optimizers of torch.

        Raises:
            DataError: No step was recorded yet.
        """
        if self._last is None or self._last.state is None:
            raise DataError("No step was recorded yet.", remedy="Call sync() within the loop.")
        state = self._last.state
        with torch.no_grad():
            for name, tensor in _tensors(self._job.model):
                if name in state:
                    tensor.copy_(state[name].to(tensor.dtype))
            if self._average is not None:
                self._average.n_averaged.fill_(self._last.step)
                for name, tensor in self._average.module.named_parameters():
                    tensor.copy_(state[f"average:{name}"].to(tensor.dtype))
        if self._handing is not None:
            self._handing.hand(state, self._last.step)

    def _handed(self, draft: OrderDraft) -> Handing:
        job = self._job
        pace = Pace.of(job.scheduler_every, steps_per_epoch(job), range(job.steps))
        ending = () if draft.updates is None else draft.updates.all
        updated = {name for program in (*draft.programs.all, *ending) for name in program.updates}
        return Handing(optimizers_within(job.rule), job.model, rates_of_job(job, pace), updated)

    @property
    def state(self) -> Mapping[str, Tensor]:
        """The state after the last step, by name: weights, buffers, slots of the optimizer, averages of weights."""
        return {} if self._last is None or self._last.state is None else self._last.state


def _tensors(model: nn.Module) -> Iterator[tuple[str, Tensor]]:
    yield from model.named_parameters()
    yield from model.named_buffers()


def _write_once(draft: OrderDraft, path: Path) -> None:
    """Write an order, unless the same one lies there; another is not replaced."""
    if path.exists():
        with BundleReader.open(path) as reader:
            if not reader.has_run and reader.manifest.digest == draft.manifest.digest:
                return
        raise DataError(
            f"Another order, or a run, lies at {path}.", remedy="Remove it, or give the loop another place: job='...'."
        )
    draft.write(path)


@contextmanager
def _bar(steps: int) -> Iterator[Callable[[int, float | None], None]]:
    """Show a bar on a terminal, and nothing in a pipe; it is told the steps that are done, and the last one's loss."""
    console = Console(stderr=True)
    columns = (BarColumn(), MofNCompleteColumn(), TextColumn("{task.fields[loss]}"), TimeRemainingColumn())
    with Progress(*columns, console=console, disable=not console.is_terminal) as bar:
        task = bar.add_task("", total=steps, loss="")
        yield lambda done, loss: bar.update(task, completed=done, loss="" if loss is None else f"loss {loss:.4g}")
