"""What a client's own code orders with a library's Trainer at hand, in the place of a script that is run."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from typing import Any

import torch
from rich.console import Console

from counterfoil.training.custom import CustomJob
from counterfoil.training.scripts.handover import Wanted
from counterfoil_core.base.errors import DataError
from counterfoil_core.base.precision import AnyPrecision
from counterfoil_core.bundle.schema import OrderManifest
from counterfoil_core.signing.keys import SigningKey


def wanted_of(precision: AnyPrecision | None, max_steps: int | None) -> Wanted:
    """Return what is wanted of an order besides what the Trainer says; nobody is asked.

    Args:
        precision: The precision profile; None leaves it to the Trainer.
        max_steps: Most steps; None leaves it to the Trainer.

    Raises:
        DataError: There would be no step.
    """
    if max_steps is not None and max_steps < 1:
        raise DataError(f"max_steps is {max_steps}; an order has a step at least.", remedy="Give 1 or more, or None.")
    return Wanted(precision, max_steps, _refuse_to_choose)


def _refuse_to_choose(question: str, profiles: Sequence[str]) -> AnyPrecision:
    named = " or ".join(f'precision=counterfoil.PROFILES["{name}"]' for name in profiles)
    raise DataError(question, remedy=f"Choose a profile: {named}; docs/profiles.md says which.")


def check_kind(trainer: Any, libraries: Sequence[str], name: str) -> None:
    """Check that something is a Trainer of a library, which need not be installed.

    Args:
        trainer: What was given.
        libraries: Names of the library, its own first.
        name: The class, as the library calls it.

    Raises:
        DataError: It is something else.
    """
    kinds = type(trainer).__mro__
    if not any(kind.__name__ == name and kind.__module__.split(".")[0] in libraries for kind in kinds):
        raise DataError(
            f"What is to be ordered is no {libraries[0]}.{name}, but {type(trainer).__name__}.",
            remedy=f"Give the {name} of the library {libraries[0]}; it comes with pip install 'counterfoil[models]'.",
        )


def check_on_the_processor(device: torch.device, setting: str) -> None:
    """Check that a Trainer computes on the CPU, on which an order is written.

    Args:
        device: Its device.
        setting: What puts it there.

    Raises:
        DataError: It has another.
    """
    if device.type != "cpu":
        raise DataError(
            f"The Trainer computes on {device}, and an order is written on the CPU.",
            remedy=f"Make the Trainer with {setting}; whoever trains chooses where (counterfoil train --device).",
        )


def write_order(
    job: Callable[[], tuple[CustomJob, list[str]]],
    wanted: Wanted,
    path: str | os.PathLike[str],
    external_data: str | os.PathLike[str] | None,
    trial: bool,
    key: SigningKey | None,
) -> OrderManifest:
    """Write the order of a Trainer, tell on stderr what was taken over and what not, and return its manifest.

    Args:
        job: Returns the job, and sentences on what was taken over.
        wanted: What is wanted besides; has the profile afterwards.
        path: Where the order goes.
        external_data: See :meth:`counterfoil.training.order.OrderDraft.write`, here and below.
        trial: Whether to try the first step.
        key: The client's key, which signs the order.

    Raises:
        CounterfoilError: It cannot be ordered, or not be written.
    """
    made, notes = job()
    draft = made.draft(wanted.precision)
    console = Console(stderr=True)
    for note in (*notes, *draft.notes):
        console.print(note, markup=False, highlight=False, soft_wrap=True)
    return draft.write(path, external_data=external_data, trial=trial, key=key)
