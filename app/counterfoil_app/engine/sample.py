"""A sample for a first try: a small order, an honest run of it and a tampered one, recorded on this machine."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from enum import Enum
from pathlib import Path

import counterfoil
from counterfoil import CancelToken, CounterfoilError
from counterfoil_core.base.sentence import say
from counterfoil_resources.digits import load_digits

STEPS = 20
BATCH_ROWS = 16
WIDTH = 8
CHECKPOINT_EVERY = 4
TAMPERED_STEP = 13


class SampleKind(Enum):
    """Which run of the sample; the value is the name of its file."""

    HONEST = "honest"
    TAMPERED = "tampered"


@dataclass(frozen=True)
class SampleFiles:
    """The files of the sample."""

    order: Path  #: The client's order.
    run: Path  #: The trainer's run.


def sample_files(folder: Path, kind: SampleKind) -> SampleFiles:
    """Where the sample lies in a folder."""
    return SampleFiles(folder / "sample-order.cfoil", folder / f"sample-{kind.value}.cfoil")


@dataclass(frozen=True)
class SampleProgress:
    """How far the recording of the sample is: steps recorded, and steps to record."""

    done: int
    total: int


def record_sample(folder: Path, kind: SampleKind, cancel: CancelToken) -> Iterator[SampleProgress]:
    """Write the order and record a run of it; files of an earlier sample are replaced.

    Args:
        folder: Where the files go; made if needed.
        kind: Which run.
        cancel: Looked at between operators.

    Yields:
        The progress after each step.

    Raises:
        CounterfoilError: The folder cannot be written, or the work was cancelled.
    """
    files = sample_files(folder, kind)
    key = folder / "sample-trainer.pem"
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise CounterfoilError(
            say("The folder {0} for the sample cannot be made: {1}.", folder, error.strerror or error),
            remedy=say("Make room there, or open a run of your own."),
        ) from error
    if not key.exists():
        counterfoil.generate_key(key, None)
    draft = counterfoil.order_digits(
        *load_digits(), steps=STEPS, batch_size=BATCH_ROWS, width=WIDTH, checkpoint_every=CHECKPOINT_EVERY, seed=1
    )
    draft.write(files.order, trial=False)
    tamper = counterfoil.LabelFlip(step=TAMPERED_STEP) if kind is SampleKind.TAMPERED else None
    signing_key = counterfoil.load_private_key(key, None)
    events = counterfoil.record(files.order, files.run, signing_key, cancel=cancel, tamper=tamper, fresh=True)
    try:
        for event in events:
            if isinstance(event, counterfoil.StepRecorded):
                yield SampleProgress(event.step, event.steps)
    finally:
        # It takes seconds: nobody goes on with a sample that was stopped.
        events.close()
        counterfoil.discard_recording(files.run)
