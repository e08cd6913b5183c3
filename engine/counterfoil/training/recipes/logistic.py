"""``logistic``: logistic regression on a table of numbers, read from a file or made up.

The comparison with zero-knowledge proofs of training (Garg et al. 2023) has 262,144 rows of 1,024 features.
"""

from __future__ import annotations

import io
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import numpy.typing as npt
import torch
from torch import Tensor, nn
from torch.nn import functional

from counterfoil.program.update import Sgd
from counterfoil.training.capture import capture_step
from counterfoil.training.division import WHOLE, Division
from counterfoil.training.order import OrderDraft, draft_order
from counterfoil.training.schedules import shuffled_epochs
from counterfoil_core.base.errors import CounterfoilError, DataError
from counterfoil_core.base.inputs import open_input
from counterfoil_core.base.precision import AnyPrecision, exact_profile
from counterfoil_core.kernels.exact.philox import uniform
from counterfoil_core.operators.node import TensorType

RECIPE = "logistic"
NOISE = 0.05
"""Share of made-up labels that are turned round, so that the classes overlap."""
MAX_TABLE_BYTES = 2**36
"""Largest table that is read, packed or unpacked."""
_BLOCK = 4096
_SOFTPLUS_EXACT = 40.0
"""From here on log(1 + exp(z)) equals z in float64, so softplus may return z itself."""
_DATA_STEP = 2**32 - 1
"""Made-up data is drawn as this step, which no training reaches."""


@dataclass(frozen=True)
class Table:
    """A table to classify."""

    features: npt.NDArray[np.float32]  #: float32 ``[n, d]``.
    labels: npt.NDArray[np.int64]  #: int64 ``[n]``, 0 or 1.


def synthetic_table(rows: int, features: int, seed: int) -> Table:
    """Make a table up: uniform features in [-1, 1), labels by a random hyperplane, every twentieth turned round.

    All numbers come from Philox, and the hyperplane's coefficients are -1, 0 and 1, so that the side on which a row
    lies is a sum that float64 holds exactly: every machine makes the same table.

    Args:
        rows: Number of rows.
        features: Features of a row.
        seed: Key of the draws.

    Returns:
        float32 ``[rows, features]``, and int64 ``[rows]`` of 0 and 1.

    Raises:
        DataError: The table would be empty, or have more than 2^28 features.
    """
    if rows < 1 or not 1 <= features <= 2**28:
        raise DataError(
            f"A table of {rows} rows and {features} features cannot be made.", remedy="Choose positive numbers."
        )

    def draw(shape: tuple[int, ...], number: int) -> Tensor:
        return uniform(shape, seed=seed, step=_DATA_STEP, draw=number, dtype=torch.float32, device="cpu")

    plane = torch.floor(draw((features,), 0) * 3.0).sub_(1.0).to(torch.float64).numpy()
    table = np.empty((rows, features), np.float32)
    labels = np.empty(rows, np.int64)
    for block, start in enumerate(range(0, rows, _BLOCK)):
        end = min(start + _BLOCK, rows)
        table[start:end] = draw((end - start, features), 2 * block + 1).mul_(2.0).sub_(1.0).numpy()
        turned = (draw((end - start,), 2 * block + 2) < NOISE).numpy()
        labels[start:end] = (table[start:end].astype(np.float64) @ plane > 0) ^ turned
    return Table(table, labels)


def read_table(path: Path) -> Table:
    """Read a table from a ``.npz`` file, as ``numpy.savez`` writes it.

    Args:
        path: Holds the arrays ``features``, floating-point ``[n, d]``, and ``labels``, integers ``[n]``.

    Raises:
        DataError: The file cannot be read, lacks an array, or holds one of another kind.
    """
    remedy = "Write it with numpy.savez(file, features=..., labels=...)."
    try:
        # Open it here: the library would wait for ever for a pipe.
        with io.BufferedReader(open_input(path, "a table", DataError, most=MAX_TABLE_BYTES, remedy=remedy)) as opened:
            if opened.peek(6)[:6] == b"\x93NUMPY":  # numpy would read it whole before anything is known of it
                raise DataError(f"The file {path} holds one array, not a table with its labels.", remedy=remedy)
            with np.load(opened, allow_pickle=False) as file:
                missing = {"features", "labels"} - set(file.files)
                if missing:
                    raise DataError(
                        f"The file {path} has no array {' and no array '.join(sorted(missing))}.", remedy=remedy
                    )
                if sum(member.file_size for member in file.zip.infolist()) > MAX_TABLE_BYTES:
                    raise DataError(f"The table {path} is too large when it is unpacked.", remedy=remedy)
                features, labels = file["features"], file["labels"]
    except CounterfoilError:
        raise
    except OSError as error:
        raise DataError(f"The file {path} cannot be read: {error.strerror or error}.") from error
    except Exception as error:  # zipfile and numpy let errors of a dozen kinds through
        raise DataError(
            f"The file {path} is not a table in numpy's format.", remedy=remedy, detail=str(error)
        ) from error
    if features.ndim != 2 or features.dtype.kind != "f" or not features.size:
        raise DataError(
            f"The features in {path} are {features.dtype} of shape {features.shape}; they must be floating-point, one "
            "row for each label.",
            remedy=remedy,
        )
    if labels.shape != features.shape[:1] or labels.dtype.kind not in "iub":
        raise DataError(
            f"The labels in {path} are {labels.dtype} of shape {labels.shape}; there must be one integer for each of "
            f"the {len(features)} rows.",
            remedy=remedy,
        )
    with np.errstate(over="ignore"):  # what does not fit float32 is found by the check of the order
        return Table(features.astype(np.float32), labels.astype(np.int64))


def objective(model: nn.Module, batch: Mapping[str, Tensor]) -> Tensor:
    """Binary cross entropy with logits: the mean of log(1 + exp(z)) - y z."""
    logits = model(batch["features"]).squeeze(1)
    labels = batch["labels"].to(torch.float32)
    loss: Tensor = (functional.softplus(logits, threshold=_SOFTPLUS_EXACT) - labels * logits).mean()
    return loss


def order_logistic(
    features: npt.NDArray[np.float32],
    labels: npt.NDArray[np.int64],
    *,
    steps: int = 256,
    batch_size: int = 1024,
    learning_rate: float = 0.5,
    momentum: float = 0.0,
    weight_decay: float = 0.0,
    seed: int = 0,
    commit_every: int = 1,
    checkpoint_every: int = 64,
    precision: AnyPrecision | None = None,
    division: Division = WHOLE,
) -> OrderDraft:
    """Draft an order that trains logistic regression with SGD at one learning rate, from weights of zero.

    Args:
        features: float32 ``[n, d]``.
        labels: int64 ``[n]``, 0 or 1.
        steps: Training steps.
        batch_size: Rows per step.
        learning_rate: The learning rate.
        momentum: Momentum factor; 0 for none.
        weight_decay: L2 penalty of weights and bias.
        seed: Seed of the shuffling.
        commit_every: A state is digested every so many steps.
        checkpoint_every: A state is stored every so many steps.
        precision: The precision profile.
        division: How a step is divided into shares and micro-batches; by default it is not.

    Raises:
        DataError: Features or labels have another shape, dtype or range.
    """
    if features.dtype != np.float32 or features.ndim != 2 or not features.size:
        raise DataError(f"The features must be float32 of shape (n, d), not {features.dtype} of {features.shape}.")
    if labels.dtype != np.int64 or labels.shape != features.shape[:1]:
        raise DataError(f"There must be one int64 label for each row, not {labels.dtype} of shape {labels.shape}.")
    if labels.min() < 0 or labels.max() > 1:
        raise DataError("A label is neither 0 nor 1.", remedy="Logistic regression tells two classes apart.")
    for start in range(0, len(features), _BLOCK):
        wrong = np.flatnonzero(~np.isfinite(features[start : start + _BLOCK]).all(1))
        if wrong.size:
            raise DataError(
                f"Row {start + int(wrong[0])} of the features holds a value that is infinite, not a number, or beyond "
                "float32's range.",
                remedy="Leave such rows out, or put a number in their place.",
            )
    schedule = shuffled_epochs(len(features), batch_size, steps, seed)
    model = nn.Linear(features.shape[1], 1)
    nn.init.zeros_(model.weight)
    nn.init.zeros_(model.bias)
    rule = division.updating(Sgd(momentum=momentum, weight_decay=weight_decay))
    batch = {
        "features": TensorType("float32", (batch_size, features.shape[1])),
        "labels": TensorType("int64", (batch_size,)),
    }
    return draft_order(
        title=f"Logistic regression on {len(features)} rows of {features.shape[1]} features",
        recipe=RECIPE,
        captured=capture_step(model, objective, rule, batch, division, exact=exact_profile(precision)),
        rule=rule,
        learning_rates=[learning_rate] * steps,
        schedule=schedule,
        data={"features": features, "labels": labels},
        seed=seed,
        precision=precision,
        commit_every=commit_every,
        checkpoint_every=checkpoint_every,
    )
