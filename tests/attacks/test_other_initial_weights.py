"""The trainer starts from other weights than ordered, whether it commits to the ordered ones or to its own."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
import torch

from counterfoil_core.values.outcome import CheckNumber
from support.bundles import flip_bit
from support.expectations import disputed, operator_of, refused
from support.forgery import set_state_root
from support.jobs import digits_order, set_row
from support.malicious import Trainer


def other_weights():
    return digits_order(seed=12).initial


@dataclass
class Impostor(Trainer):
    def inputs(self, inputs):
        if not self.acting:
            return inputs
        return replace(inputs, state={name: torch.from_numpy(array) for name, array in other_weights().items()})


def test_trained_from_other_weights(simulate, digits_job):
    result = disputed(simulate(Impostor(step=1)), digits_job.order, 1)
    assert operator_of(result) == ("aten.convolution.default", "stem", "forward")


def test_another_state_in_the_first_leaf(forge, digits_job):
    run = forge(lambda run: set_state_root(run, 0, other_weights()))
    refused(run, digits_job.order, CheckNumber.COMMITMENTS, "another state before its first step")


def test_junk_in_the_first_leaf(forge, digits_job):
    run = forge(lambda run: set_row(run, "/run/state_roots", 0, np.arange(32)))
    refused(run, digits_job.order, CheckNumber.COMMITMENTS, "another state before its first step")


def test_the_initial_state_of_the_order_is_edited(forge, digits_job):
    run = forge(lambda run: flip_bit(run, "/order/initial/stem.weight", 2, 20))
    refused(run, digits_job.order, CheckNumber.ORDER_CONTENTS, "initial state")
