"""The scale exponent E is shifted, which gives a coarser or a finer grid."""

from __future__ import annotations

from dataclasses import dataclass, replace

import pytest

from counterfoil_core.arithmetic.grid.log import SiteLog
from counterfoil_core.kernels.grid import ZERO_SCALE
from counterfoil_core.values.outcome import Outcome
from support.expectations import disputed, inconclusive, operator_of
from support.forgery import rewrite_log
from support.jobs import audited
from support.malicious import Trainer


@dataclass
class Coarse(Trainer):
    """Rounds and logs with another E than the scale has, in one operator or in all, over the whole run."""

    by: int = 0
    module: str = ""

    def exponent(self, node, exponent):
        chosen = exponent != ZERO_SCALE and node.module.startswith(self.module)
        return exponent + self.by if chosen else exponent

    def honest(self):
        return replace(self, by=0)


def test_a_coarser_grid_over_the_whole_run(simulate, digits_job):
    """Within one E is used, as honest scales may lie at a power of two; here they do not, and it is a contradiction."""
    report = inconclusive(simulate(Coarse(by=1)), digits_job.order)
    assert report.contradictions > 6 * 50
    assert "log was altered" in report.reason


@pytest.mark.parametrize("by", [1, -1])
def test_one_operator(simulate, digits_job, by):
    # One site, six steps.
    assert inconclusive(simulate(Coarse(by=by, module="stem")), digits_job.order).contradictions >= 6


def test_by_more_than_one_it_is_not_used(simulate, digits_job):
    result = disputed(
        simulate(Coarse(by=6, module="head")), digits_job.order, 1, parts=("state", "fingerprints"), only=False
    )
    assert operator_of(result) == ("aten.addmm.default", "head", "forward")


@pytest.mark.sampled(2)
@pytest.mark.parametrize("by", [1, 2, -2])
def test_of_an_edited_log(forge, digits_job, by):
    """The values were rounded with the honest E: a shift by one gives another grid, by more it is not used."""

    def shift(sites, elements):
        number = next(i for i, site in enumerate(sites) if elements[i] > 50)
        sites[number] = SiteLog(sites[number].exponent + by, sites[number].indices, sites[number].ups)
        return sites

    report = audited(forge(lambda run: rewrite_log(run, 2, shift)), digits_job.order).report
    if abs(by) > 1:
        assert (report.outcome, report.contradictions) == (Outcome.INCONCLUSIVE, 1)
    else:
        assert report.outcome is Outcome.DISPUTED
        assert report.dispute.step == 2
