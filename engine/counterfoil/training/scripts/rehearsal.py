"""What a library's loop would train, found by going through it without training: its batches and learning rates."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import torch
from torch import Tensor
from torch.optim import Optimizer
from torch.optim.lr_scheduler import LRScheduler
from torch.utils.data import DataLoader, Sampler

from counterfoil.training.leaves import leaves
from counterfoil_core.base.errors import DataError

PARTS = "parts_of_step"
"""The column of a batch that says how many batches its step has, where that differs from step to step."""


class RehearsalEnded(BaseException):
    """Ends a loop that is gone through without training, when as many steps were seen as are ordered."""


@dataclass(frozen=True)
class SeenStep:
    """A step of a loop."""

    batches: tuple[Mapping[str, Any], ...]  #: The batches whose gradients it accumulates.
    rates: tuple[float, ...]  #: The learning rate of each parameter group.


@dataclass
class Rehearsal:
    """The steps of a loop that is gone through."""

    wanted: int = 0  #: How many are ordered.
    steps: list[SeenStep] = field(default_factory=list)  #: Those that are whole.
    _open: list[Mapping[str, Any]] = field(default_factory=list)

    def saw_batch(self, batch: Mapping[str, Any]) -> None:
        """Note a batch, whose gradients the next step takes."""
        self._open.append(batch)

    def saw_step(self, optimizer: Optimizer) -> None:
        """Note a step of the optimizer.

        Raises:
            RehearsalEnded: It is the last that is ordered.
        """
        if not self._open:
            raise DataError("The optimizer made a step before a batch was seen.")
        rates = tuple(float(group["lr"]) for group in optimizer.param_groups)
        self.steps.append(SeenStep(tuple(self._open), rates))
        self._open = []
        if len(self.steps) >= self.wanted:
            raise RehearsalEnded

    @property
    def accumulate(self) -> int:
        """Most batches that a step has."""
        return max(len(step.batches) for step in self.steps)

    @property
    def is_even(self) -> bool:
        """Whether all steps have as many batches."""
        return len({len(step.batches) for step in self.steps}) == 1

    def scheduler(self, optimizer: Optimizer) -> LRScheduler:
        """Return a scheduler that gives an optimizer the learning rates that were seen."""
        return _SeenRates(optimizer, [step.rates for step in self.steps])

    def loader(self, drawn_from: Any = None) -> tuple[DataLoader[Any], Mapping[str, Any]]:
        """Return a loader that gives the batches as they were seen, and what is the same in all and no tensor.

        Going through it once gives the batches up to a step that has fewer than others, as at the end of an epoch.

        Args:
            drawn_from: The script's own loader, whose rows and collation show what batches are padded with.

        Raises:
            DataError: What is no tensor differs between batches.
        """
        steps = self.steps if self.is_even else [_told(step) for step in self.steps]
        epochs: list[int] = [0]
        for step in steps:
            epochs[-1] += len(step.batches)
            if len(step.batches) < self.accumulate:
                epochs.append(0)
        listed = [_tensors(batch) for step in steps for batch in step.batches]
        fixed = _constants([batch for step in steps for batch in step.batches])
        return SeenBatches(listed, epochs, drawn_from), fixed


class SeenBatches(DataLoader[Any]):
    """Gives batches as they were seen, epoch after epoch.

    Args:
        batches: All of them.
        epochs: How many each epoch has.
        drawn_from: The loader that gave them.
    """

    def __init__(self, batches: Sequence[Mapping[str, Any]], epochs: Sequence[int], drawn_from: Any) -> None:
        self.drawn_from = drawn_from
        super().__init__(batches, batch_size=None, sampler=_Epochs(epochs), collate_fn=_as_it_is)  # type: ignore[arg-type]


class _SeenRates(LRScheduler):
    def __init__(self, optimizer: Optimizer, rates: Sequence[Sequence[float]]) -> None:
        self._rates = rates
        super().__init__(optimizer)

    def get_lr(self) -> list[float | Tensor]:
        """Return the rates of the step."""
        return list(self._rates[self.last_epoch])


class _Epochs(Sampler[int]):
    """Numbers the batches of one epoch after the other, each time that it is gone through."""

    def __init__(self, lengths: Sequence[int]) -> None:
        self._lengths = [length for length in lengths if length]
        self._epoch = 0

    def __len__(self) -> int:
        return max(self._lengths)

    def __iter__(self) -> Iterator[int]:
        first = sum(self._lengths[: self._epoch])
        length = self._lengths[self._epoch]
        self._epoch = (self._epoch + 1) % len(self._lengths)
        return iter(range(first, first + length))


def _as_it_is(batch: Any) -> Any:
    return batch


def _told(step: SeenStep) -> SeenStep:
    """The step with a column in each batch that says how many it has."""
    parts = len(step.batches)
    return replace(step, batches=tuple({**b, PARTS: torch.full((rows_in(b),), float(parts))} for b in step.batches))


def rows_in(batch: Mapping[str, Any]) -> int:
    """Return how many rows a batch has: the length of the first tensor in it."""
    for _, item in leaves(_tensors(batch), ""):
        if isinstance(item, Tensor) and item.dim():
            return len(item)
    raise DataError("A batch of the script holds no tensor that has rows.", remedy="Return tensors from the collator.")


def _tensors(batch: Mapping[str, Any]) -> dict[str, Any]:
    return {name: item for name, item in batch.items() if not _is_constant(item)}


def _is_constant(item: Any) -> bool:
    return item is None or isinstance(item, (bool, int, float, str))


def _constants(batches: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    """What the batches hold besides tensors, if it is the same in all of them."""
    first = {name: item for name, item in batches[0].items() if _is_constant(item)}
    for number, batch in enumerate(batches):
        own = {name: item for name, item in batch.items() if _is_constant(item)}
        for name in first.keys() | own.keys():
            if first.get(name, _ABSENT) != own.get(name, _ABSENT):
                raise DataError(
                    f"Batch {number} of the script has another {name!r}, which is no tensor, than batch 0.",
                    remedy="Return a tensor with a value for each row.",
                )
    return first


_ABSENT = object()
