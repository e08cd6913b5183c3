"""States between two honest checkpoints are interpolated in place of training, with honest roots around them."""

from __future__ import annotations

import numpy as np

from support.expectations import disputed, operator_of, tensors_of
from support.forgery import checkpoint, forge_checkpoint, set_state_root


def between(first, last, share):
    return {
        name: (first[name] + share * (last[name] - first[name])).astype(first[name].dtype)
        if first[name].dtype == np.float32
        else first[name]
        for name in first
    }


def test_interpolated(forge, digits_job):
    def edit(run):
        first, last = checkpoint(run, 2), checkpoint(run, 6)
        set_state_root(run, 3, between(first, last, 0.25))
        forge_checkpoint(run, 4, between(first, last, 0.5))
        set_state_root(run, 5, between(first, last, 0.75))

    result = disputed(forge(edit), digits_job.order, 3, parts=("state",), only=False)
    assert operator_of(result) is None
    assert {"stem.weight", "momentum:head.weight"} <= tensors_of(result)
    # Step 4 hangs on the disputed step 3; step 5 is judged from the interpolated checkpoint.
    assert result.report.mismatched_steps == (3, 5)
