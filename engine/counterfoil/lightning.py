"""A Trainer and a module of Lightning as an order: for code that has them at hand.

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
    module: Any,
    path: str | os.PathLike[str],
    *,
    train_dataloaders: Any = None,
    datamodule: Any = None,
    precision: AnyPrecision | None = None,
    max_steps: int | None = None,
    external_data: str | os.PathLike[str] | None = None,
    trial: bool = True,
    key: SigningKey | None = None,
) -> OrderManifest:
    """Write the order of what ``trainer.fit(module)`` would train, and return its manifest. Nothing is trained.

    Lightning's own loop is gone through to see batches and learning rates; what was taken over, and what not, is told
    on stderr.

    Args:
        trainer: A ``lightning.Trainer``, or one of ``pytorch_lightning``, on the CPU (``accelerator="cpu"``).
        module: The LightningModule.
        path: Where the order goes.
        train_dataloaders: The loader, as ``fit`` takes it; None leaves it to the module, or the datamodule.
        datamodule: A LightningDataModule, as ``fit`` takes it.
        precision: The precision profile, of ``counterfoil.PROFILES``; a Trainer in mixed precision needs one.
        max_steps: Most steps that are ordered; None for as many as the Trainer would train.
        external_data: Where the data goes, for data too large to lie in the order; None keeps it there.
        trial: Whether to try the first step, so that no order is written that nobody can train.
        key: The client's key, which signs the order; None leaves it unsigned.

    Returns:
        The order's manifest.

    Raises:
        DataError: Something in the Trainer or the module cannot be ordered, or it is none; the message names it.
        ProgramError: The step cannot be captured; the message names module, file and line.
        TrialError: The first step fails; nothing was written.
        FileWriteError: A file cannot be written.
    """
    from counterfoil.training.scripts.fits import check_alone, fit_job
    from counterfoil.training.scripts.fromcode import check_kind, check_on_the_processor, wanted_of, write_order

    check_kind(trainer, ("lightning", "pytorch_lightning"), "Trainer")
    check_alone({"devices": trainer.num_devices, "num_nodes": trainer.num_nodes})
    check_on_the_processor(trainer.strategy.root_device, 'accelerator="cpu"')
    wanted = wanted_of(precision, max_steps)

    def fit() -> None:
        trainer.fit(module, train_dataloaders=train_dataloaders, datamodule=datamodule)

    return write_order(lambda: fit_job(trainer, module, wanted, fit), wanted, path, external_data, trial, key)
