"""A close decision is taken the other way and left out of the log: nobody is accused, and it shelters nothing else."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from counterfoil.audit.events import Right
from counterfoil.audit.outcome import Outcome
from counterfoil.rounding.log import SiteLog
from support.expectations import disputed
from support.jobs import audited
from support.malicious import Trainer


@dataclass
class Concealer(Trainer):
    """Turns round one direction of the first convolution, and does not write it down."""

    def _is_chosen(self, node) -> bool:
        return self.acting and (node.module, node.phase) == ("stem", "forward")

    def directions(self, node, log):
        if not self._is_chosen(node):
            return log
        return SiteLog(log.exponent, log.indices, log.ups ^ (np.arange(len(log.indices)) == 0))

    def written(self, node, log, elements):
        return SiteLog(log.exponent, log.indices[1:], log.ups[1:]) if self._is_chosen(node) else log


@dataclass
class Poisoner(Concealer):
    """Flips the labels of the same batch as well."""

    def inputs(self, inputs):
        if not self.acting:
            return inputs
        return replace(inputs, batch={**inputs.batch, "labels": 9 - inputs.batch["labels"]})


def test_alone_it_is_what_a_margin_too_small_would_look_like(simulate, digits_job):
    report = audited(simulate(Concealer(step=3)), digits_job.order).report
    assert report.outcome is Outcome.INCONCLUSIVE
    assert report.mismatched_steps == (3,)
    assert report.dispute.finding.right is Right.MARGIN


def test_it_is_no_shelter_for_another_lie(simulate, digits_job):
    disputed(simulate(Poisoner(step=3)), digits_job.order, 3)
