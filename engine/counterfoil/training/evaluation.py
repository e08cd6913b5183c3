"""Orders of evaluations: what a model scores on data, as exact sums over its rows.

An evaluation is a training whose steps train nothing. Each step reads a batch, and adds what was counted of it to
integers of the state, the scores. So whatever records, replays, samples, disputes and shows a run does that for an
evaluation as it is, and the score of a model is the scores of the last state (docs/evaluations.md).
"""

from __future__ import annotations

import copy
from collections.abc import Callable, Generator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import torch
from safetensors import SafetensorError
from safetensors.torch import load_file
from torch import Tensor, nn
from torch.nn import functional
from torch.utils.data import DataLoader, Dataset

from counterfoil.program.recompute import Segments
from counterfoil.program.statetensors import tied_names
from counterfoil.program.update.rule import NothingTrained
from counterfoil.training.custom import ClientJob, CustomJob, check_data
from counterfoil.training.order import OrderDraft
from counterfoil.training.stages import Preparing
from counterfoil_core.base.cancel import CancelToken
from counterfoil_core.base.errors import DataError
from counterfoil_core.base.inputs import open_input
from counterfoil_core.base.precision import AnyPrecision
from counterfoil_core.order.evaluation import SCORE
from counterfoil_core.values.runfacts import MAX_SCORES, MOST_NATS, NATS_BITS

RECIPE = "evaluation"
LOSS = "loss"
"""What a function of counts may return beside them: the mean loss of the batch, which the curves of a run show."""
_LARGEST_CONFUSION = 100
"""Classes up to which they are counted in pairs."""

Counting = Callable[[nn.Module, Mapping[str, Tensor]], Mapping[str, Tensor]]
"""Counts of a batch by name: integer tensors, which are added up over all batches; and ``loss`` if there is one."""


@dataclass(frozen=True)
class Evaluation(ClientJob):
    """What a client's own model is to be scored by: a job that trains nothing.

    ``counterfoil order --from module:function`` orders what such a function returns.
    """

    title: str  #: The client's name for it.
    model: nn.Module  #: The model, float32, on the CPU, with the weights that are scored; it is put in evaluation mode.
    #: ``counts(model, batch)`` returns what counts of a batch, such as :func:`classification_counts`. Each must have
    #: the same shape for every batch.
    counts: Counting
    data: Any  #: Arrays or tensors by name, whose first axis is the row; each row is read once. Or a DataLoader.
    batch_size: int = 64  #: Rows per step; a DataLoader has its own.
    seed: int = 0  #: Seed of random draws in the model, 0 to 2^64 - 1.
    precision: AnyPrecision | None = None  #: The precision profile; float64 to 24 significand bits by default.
    commit_every: int = 1  #: The state is digested every so many steps.
    #: The state is stored every so many steps; unless given only at the end, where nothing has changed but the scores.
    checkpoint_every: int | None = None

    def drafting(
        self,
        precision: AnyPrecision | None = None,
        recompute_activations: Segments | None = None,
        cancel: CancelToken | None = None,
    ) -> Generator[Preparing, None, OrderDraft]:
        """Draft the order; as :meth:`ClientJob.drafting`, and raises DataError where activations are recomputed."""
        if recompute_activations is not None:
            raise DataError(
                "An evaluation has no backward pass in which activations could be computed again.",
                remedy="Leave --recompute-activations out; a smaller batch takes less memory.",
            )
        loader = self.data if isinstance(self.data, DataLoader) else _in_batches(self.data, self.batch_size)
        model, steps = _frozen(self.model), len(loader)
        if not steps:
            raise DataError("The evaluation has no rows.", remedy="Give data with at least one row.")
        with torch.no_grad():
            shapes = _shapes(self.counts(model, next(iter(loader))))
        for name, shape in shapes.items():
            model.register_buffer(f"{SCORE}{name}", torch.zeros(shape, dtype=torch.int64), persistent=False)
        job = CustomJob(
            title=self.title,
            model=model,
            objective=_Adding(self.counts, tuple(shapes)),
            rule=NothingTrained(),
            data=loader,
            steps=steps,
            learning_rate=0.0,
            last="keep",
            seed=self.seed,
            precision=precision or self.precision,
            commit_every=self.commit_every,
            checkpoint_every=self.checkpoint_every or -(-steps // self.commit_every) * self.commit_every,
        )
        draft = yield from job.drafting(cancel=cancel)
        return replace(draft, manifest=replace(draft.manifest, recipe=RECIPE), rates={})


@dataclass(frozen=True)
class _Adding:
    """The objective of a step: adds the counts of its batch to the scores, and returns its loss."""

    counts: Counting  #: Counts a batch.
    names: tuple[str, ...]  #: Of what.

    def __call__(self, model: nn.Module, batch: Mapping[str, Tensor]) -> Tensor:
        found = self.counts(model, batch)
        for name in self.names:
            counted = getattr(model, f"{SCORE}{name}") + found[name].to(torch.int64)
            setattr(model, f"{SCORE}{name}", counted)
        loss = found.get(LOSS)
        return torch.zeros(()) if loss is None else loss


def classification_counts(logits: Tensor, labels: Tensor) -> dict[str, Tensor]:
    """Count what a classifier gets right.

    Args:
        logits: Floating point ``[rows, classes]``.
        labels: Integers ``[rows]``; a negative one is left out.

    Returns:
        ``counted``, ``correct`` and ``nats``, integers without axes; up to 100 classes ``confusion``, int64
        ``[classes, classes]``, by label and answer; and ``loss``. Of equal logits the first class is the answer.
    """
    classes, counts = logits.shape[-1], answer_counts(logits, labels)
    if classes <= _LARGEST_CONFUSION:
        kept = labels >= 0
        pairs = torch.where(kept, labels * classes + logits.argmax(-1), classes * classes).to(torch.int64)
        confusion = torch.zeros(classes * classes + 1, dtype=torch.int64)
        confusion = confusion.index_put((pairs,), torch.ones_like(pairs), accumulate=True)
        counts["confusion"] = confusion[:-1].reshape(classes, classes)
    return counts


def token_counts(logits: Tensor, tokens: Tensor) -> dict[str, Tensor]:
    """Count what a language model predicts: of each token but the first that which stands before it leads to.

    Args:
        logits: Floating point ``[rows, length, vocabulary]``.
        tokens: Integers ``[rows, length]``; a negative one is left out.

    Returns:
        ``counted``, ``correct``, ``nats`` and ``loss``, as :func:`classification_counts`.
    """
    return answer_counts(logits[:, :-1].flatten(0, 1), tokens[:, 1:].flatten())


def answer_counts(logits: Tensor, labels: Tensor) -> dict[str, Tensor]:
    """Count answers, as :func:`classification_counts` without the confusion."""
    labels = labels.to(torch.int64)
    kept = labels >= 0
    losses = functional.cross_entropy(logits, torch.where(kept, labels, -100), reduction="none")
    # The rounding to a multiple of 2^-20 is a definition, so that sums are exact in any order.
    nats = (losses.clamp(0.0, float(MOST_NATS)) * 2.0**NATS_BITS).round().to(torch.int64)
    counted = kept.sum()
    return {
        "counted": counted,
        "correct": ((logits.argmax(-1) == labels) & kept).sum(),
        "nats": torch.where(kept, nats, 0).sum(),
        LOSS: losses.sum() / counted.clamp(min=1).to(losses.dtype),
    }


@dataclass(frozen=True)
class GivenWeights:
    """Weights that take the place of a model's, all of them."""

    file: Path  #: Where they come from.
    tensors: Mapping[str, Tensor]  #: The weights, by name.


def read_weights(file: Path) -> GivenWeights:
    """Read a safetensors file; raises DataError where it is none."""
    try:
        open_input(file, "a safetensors file", DataError).close()
        return GivenWeights(file, load_file(file))
    except (SafetensorError, OSError) as error:
        raise DataError(
            f"The weights in {file} cannot be read.",
            remedy="Give a run (.cfoil), or a safetensors file.",
            detail=str(error),
        ) from error


def load_weights(model: nn.Module, given: GivenWeights) -> None:
    """Put all given weights into a model, and nothing else.

    Args:
        model: The model.
        given: The weights.

    Raises:
        DataError: A tensor of the model is missing, or one is left over or of another shape.
    """
    try:
        missing, extra = model.load_state_dict(given.tensors, strict=False)
    except RuntimeError as error:
        raise DataError(
            f"The weights in {given.file} are not those of the model.",
            remedy="Give weights that the model was trained to.",
            detail=str(error),
        ) from error
    lacking = sorted(set(missing) - set(tied_names(model, given.tensors)))
    for name, what in (*((name, "lack") for name in lacking), *((name, "have") for name in extra)):
        raise DataError(
            f"The weights in {given.file} {what} {name!r}, and the model {'has it' if what == 'lack' else 'does not'}.",
            remedy="Give weights that the model was trained to.",
        )


class _Rows(Dataset[dict[str, Tensor]]):
    def __init__(self, data: Mapping[str, Any]) -> None:
        self._tensors = {name: torch.as_tensor(array) for name, array in data.items()}
        self._count = check_data({name: tensor.numpy() for name, tensor in self._tensors.items()})

    def __len__(self) -> int:
        return self._count

    def __getitem__(self, row: int) -> dict[str, Tensor]:
        return {name: tensor[row] for name, tensor in self._tensors.items()}


def _in_batches(data: Any, batch_size: int) -> DataLoader[dict[str, Tensor]]:
    """Each row once, in order; the last batch may be shorter."""
    if batch_size < 1:
        raise DataError(f"The batch size is {batch_size}; it must be at least 1.")
    return DataLoader(_Rows(data) if isinstance(data, Mapping) else data, batch_size=batch_size)


def _frozen(model: nn.Module) -> nn.Module:
    """A model in evaluation mode that shares all tensors with another one, and is trained in none of them."""
    held: dict[int, Any] = {id(one): nn.Parameter(one.detach(), requires_grad=False) for one in model.parameters()}
    return copy.deepcopy(model, held).eval()


def _shapes(found: Any) -> dict[str, tuple[int, ...]]:
    """The shape of each count by name; raises DataError where they cannot be counts."""
    remedy = "Return integer tensors by name, such as {'correct': (answers == labels).sum()}."
    if not isinstance(found, Mapping):
        raise DataError(f"The counts of a batch are of the type {type(found).__name__}.", remedy=remedy)
    counts = {name: value for name, value in found.items() if name != LOSS}
    for name, value in counts.items():
        if not isinstance(name, str) or not name.isidentifier():
            raise DataError(f"A count is named {name!r}.", remedy="Choose a name of letters, digits and _.")
        if not isinstance(value, Tensor) or value.is_floating_point() or value.is_complex():
            what = str(value.dtype) if isinstance(value, Tensor) else type(value).__name__
            raise DataError(f"The count {name!r} is {what}; sums of it would hang on their order.", remedy=remedy)
    if not counts:
        raise DataError("Nothing is counted of a batch.", remedy=remedy)
    if sum(value.numel() for value in counts.values()) > MAX_SCORES:
        raise DataError(
            f"The counts have more than {MAX_SCORES:,} numbers, which no statement has room for.",
            remedy="Count fewer, for instance of each class and not of each pair.",
        )
    return {name: tuple(value.shape) for name, value in counts.items()}
