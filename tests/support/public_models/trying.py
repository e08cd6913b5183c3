"""An entry of the table ordered, recorded and audited: what becomes of it under a profile."""

from __future__ import annotations

from pathlib import Path

import torch

from counterfoil import AdamW, CustomJob
from counterfoil.signing.privatekeys import key_from_seed
from counterfoil.training.custom import order_custom
from counterfoil_core.base.errors import CounterfoilError
from counterfoil_core.base.precision import AnyPrecision, ExactPrecision, Precision
from counterfoil_core.values.outcome import Outcome
from support.jobs import audited, record_job
from support.public_models.entry import Entry

_STEPS = 2
_PROFILES: dict[str, AnyPrecision] = {"float64-24": Precision(), "exact-20": ExactPrecision(20)}


def tried(entry: Entry, profile: str, folder: Path) -> str:
    """Order, record and audit two steps; every row is in each of them.

    Returns:
        ``VERIFIED``, or another outcome with its reason, or the sentence by which the order or its recording is
        refused.
    """
    torch.manual_seed(0)
    made = entry.make()
    rows = len(next(iter(made.data.values())))
    job = CustomJob(
        title=entry.name,
        model=made.model,
        objective=made.objective,
        rule=AdamW(),
        data=made.data,
        steps=_STEPS,
        batch_size=rows,
        learning_rate=1e-3,
        checkpoint_every=1,
        precision=_PROFILES[profile],
    )
    try:
        run = record_job(folder, order_custom(job), key_from_seed(bytes(32)))
    except CounterfoilError as error:
        return str(error)
    report = audited(run.run, run.order).report
    return "VERIFIED" if report.outcome is Outcome.VERIFIED else f"{report.outcome.name}: {report}"
