"""Close decisions are left out of the log, so that replay on other hardware may come out different."""

from __future__ import annotations

from dataclasses import dataclass

from counterfoil_core.arithmetic.grid.log import SiteLog
from support.expectations import inconclusive
from support.forgery import rewrite_log
from support.malicious import Trainer


def emptied(log: SiteLog) -> SiteLog:
    return SiteLog(log.exponent, log.indices[:0], log.ups[:0])


@dataclass
class Concealer(Trainer):
    def written(self, node, log, elements):
        return emptied(log) if self.acting else log


def test_never_written(simulate, digits_job):
    assert inconclusive(simulate(Concealer(step=5)), digits_job.order).omissions > 0


def test_edited_out(forge, digits_job):
    run = forge(lambda run: rewrite_log(run, 5, lambda sites, elements: [emptied(site) for site in sites]))
    assert inconclusive(run, digits_job.order).omissions > 0
