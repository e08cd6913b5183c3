"""The programs of a client's data: the step is captured once for each form that its batches have."""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterator, Mapping

import numpy as np
import numpy.typing as npt
from torch import Tensor, nn

from counterfoil.base.cancel import CancelToken
from counterfoil.base.turns import Turns
from counterfoil.operators.node import TensorType
from counterfoil.program.capture import CapturedStep, Objective, Parts, Weigh, capture
from counterfoil.program.update import UpdateRule
from counterfoil.program.update.torchs import captured_within
from counterfoil.training.forms import Combination
from counterfoil.training.preparing import CAPTURING, Preparing, staged
from counterfoil.training.rows import Rows

CaptureForm = Callable[[Combination | None], CapturedStep]
"""Captures the step for one combination of parts; None is the only one there is."""


def capture_form(
    model: nn.Module,
    objective: Objective,
    rule: UpdateRule,
    rows: Rows,
    schedule: npt.NDArray[np.int64],
    form: Combination | None,
    *,
    micro_batches: int = 1,
    accumulate: int = 1,
    weigh: Weigh = "parts",
    exact: bool = False,
    ignore_autocast: bool = False,
) -> CapturedStep:
    """Capture the step for one form of its batches.

    Args:
        model: The model.
        objective: Computes the loss from the model and a batch, in the form that the client's data gives it.
        rule: The update rule.
        rows: The client's data.
        schedule: The rows of each step.
        form: The form, a combination of parts; None where all steps have the same.
        micro_batches: Into how many equal pieces a step splits each batch.
        accumulate: Batches of a step.
        weigh: As for :func:`counterfoil.program.capture.capture`, and so are the others.
        exact: Whether it is for an exact profile.
        ignore_autocast: Whether ``torch.autocast`` is without effect.

    Raises:
        DataError, ProgramError: As :func:`counterfoil.program.capture.capture`.
    """
    width = schedule.shape[1]
    batch = {name: TensorType(array.dtype.name, (width, *array.shape[1:])) for name, array in rows.arrays.items()}
    forms, parts = rows.forms, None
    if forms is not None and form is not None:
        forms.check_pieces(micro_batches)
        parts, accumulate = _cutting(rows, form, micro_batches), len(form)
    return capture(
        model,
        lambda model, given: objective(model, rows.batch(given)),
        rule,
        batch,
        micro_batches=micro_batches * accumulate,
        parts=parts,
        weigh=weigh,
        exact=exact,
        ignore_autocast=ignore_autocast,
    )


def _cutting(rows: Rows, form: Combination, pieces: int) -> Parts:
    def parts(batch: Mapping[str, Tensor], number: int) -> Mapping[str, Tensor]:
        assert rows.forms is not None
        return rows.forms.cut(batch, form, number, pieces)

    return parts


def capture_forms(
    rows: Rows, each: CaptureForm, cancel: CancelToken | None = None
) -> Generator[Preparing, None, Turns[CapturedStep]]:
    """Capture the step for each form that the batches of a client's data have.

    Args:
        rows: The data.
        each: Captures one of them.
        cancel: Looked at between two of them.

    Raises:
        DataError, ProgramError: As :func:`capture_form`.
        CancelledError: ``cancel`` was set.
    """
    if rows.forms is None:
        yield CAPTURING
        return Turns.alone(each(None))
    captured: dict[str, CapturedStep] = {}
    for form, name in rows.forms.names.items():
        if cancel is not None:
            cancel.check()
        yield Preparing(CAPTURING.stage, "programs", len(captured), len(rows.forms.names))
        captured[name] = each(form)
    if len(captured) == 1:
        return Turns.alone(next(iter(captured.values())))
    return Turns(captured, rows.forms.pattern)


def foretelling(rule: UpdateRule, cancel: CancelToken | None) -> Iterator[Preparing]:
    """Find the per-step scalars of captured optimizers, and report how far that is; raises as they do."""
    for captured in captured_within(rule):
        yield from staged("Making the optimizer's steps", "steps", captured.foretelling(cancel))
