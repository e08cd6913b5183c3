"""The data of the order is altered together with its digests; test_edited_runs.py keeps them."""

from __future__ import annotations

import numpy as np

from counterfoil.training.recipes.digits import order_digits
from counterfoil_core.values.outcome import CheckNumber
from counterfoil_resources.digits import load_digits
from support.expectations import refused, verified
from support.jobs import record_job


def test_the_root_is_altered_too(tmp_path, digits_job, trainer_key):
    """The trainer writes an order of its own around the altered data: consistent, and not the client's."""
    images, labels = load_digits()
    shifted = (np.array(labels[:200]) + 1) % 10
    draft = order_digits(images[:200], shifted, steps=6, batch_size=8, width=4, checkpoint_every=2, seed=11)
    own = record_job(tmp_path, draft, trainer_key)
    verified(own.run, own.order)
    refused(own.run, digits_job.order, CheckNumber.ORDER, "the client's order is")
