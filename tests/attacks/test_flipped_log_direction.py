"""The trainer claims to have rounded one element another way than its state shows."""

from __future__ import annotations

from counterfoil_core.arithmetic.grid.log import SiteLog
from counterfoil_core.values.outcome import Outcome
from support.forgery import rewrite_log
from support.jobs import audited


def test_one_direction(forge, digits_job):
    def flip(sites, elements):
        number = next(i for i, site in enumerate(sites) if len(site.indices))
        ups = sites[number].ups.copy()
        ups[0] = not ups[0]
        sites[number] = SiteLog(sites[number].exponent, sites[number].indices, ups)
        return sites

    report = audited(forge(lambda run: rewrite_log(run, 3, flip)), digits_job.order).report
    assert report.outcome is Outcome.DISPUTED
    assert report.dispute.step == 3
    assert "fingerprints" in report.dispute.parts
