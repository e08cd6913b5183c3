"""A Trainer of transformers, or of TRL, as an order: for code that has it at hand.

The command line needs no code: ``counterfoil order --script train.py``.
"""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from counterfoil_core.base.precision import AnyPrecision
    from counterfoil_core.bundle.schema import OrderManifest
    from counterfoil_core.signing.keys import SigningKey


def order(
    trainer: Any,
    path: str | os.PathLike[str],
    *,
    precision: AnyPrecision | None = None,
    max_steps: int | None = None,
    external_data: str | os.PathLike[str] | None = None,
    trial: bool = True,
    key: SigningKey | None = None,
) -> OrderManifest:
    """Write the order of what a Trainer would train, and return its manifest. Nothing is trained.

    The Trainer's own loop is gone through to see batches and learning rates; what was taken over, and what not, is
    told on stderr.

    Args:
        trainer: A ``transformers.Trainer``, or one of a class made of it, on the CPU (``use_cpu=True``).
        path: Where the order goes.
        precision: The precision profile, of ``counterfoil.PROFILES``; a Trainer in mixed precision needs one.
        max_steps: Most steps that are ordered; None for as many as the Trainer would train.
        external_data: Where the data goes, for data too large to lie in the order; None keeps it there.
        trial: Whether to try the first step, so that no order is written that nobody can train.
        key: The client's key, which signs the order; None leaves it unsigned.

    Returns:
        The order's manifest.

    Raises:
        DataError: Something in the Trainer cannot be ordered, or it is none; the message names it.
        ProgramError: The step cannot be captured; the message names module, file and line.
        TrialError: The first step fails; nothing was written.
        FileWriteError: A file cannot be written.
    """
    from counterfoil.training.scripts.fromcode import check_kind, check_on_the_processor, wanted_of, write_order
    from counterfoil.training.scripts.trainers import trainer_job

    check_kind(trainer, ("transformers",), "Trainer")
    check_on_the_processor(trainer.args.device, "TrainingArguments(use_cpu=True)")
    wanted = wanted_of(precision, max_steps)
    return write_order(lambda: trainer_job(trainer, wanted, trainer.train), wanted, path, external_data, trial, key)
