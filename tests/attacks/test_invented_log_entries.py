"""Log entries far from any midpoint: they move no value, and give the log away."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from counterfoil_core.arithmetic.compute.operation import native
from counterfoil_core.arithmetic.grid.log import SiteLog
from support.expectations import disputed, inconclusive, operator_of
from support.forgery import rewrite_log
from support.malicious import Trainer

PLACE = 7


def with_entry(log: SiteLog, place: int, up: bool) -> SiteLog:
    at = int(np.searchsorted(log.indices, place))
    return SiteLog(log.exponent, np.insert(log.indices, at, place), np.insert(log.ups, at, up))


@dataclass
class Inventor(Trainer):
    """Adds one entry to the log of the first convolution."""

    def written(self, node, log, elements):
        invent = self.acting and node.module == "stem" and node.phase == "forward" and PLACE not in log.indices
        return with_entry(log, PLACE, True) if invent else log


@dataclass
class Mover(Inventor):
    """Moves the element too, and claims that hardware did it."""

    def operator(self, operation, args, kwargs):
        result = native(operation, args, kwargs)
        if self.acting and operation.node.module == "stem" and operation.node.phase == "forward":
            result.view(-1)[PLACE] += float(result.abs().amax()) / 4
        return result


def test_an_entry_that_moves_nothing(simulate, digits_job):
    report = inconclusive(simulate(Inventor(step=5)), digits_job.order)
    assert report.contradictions == 1
    assert "log was altered" in report.reason


def test_an_entry_that_covers_a_moved_value_is_not_followed(simulate, digits_job):
    result = disputed(simulate(Mover(step=5)), digits_job.order, 5)
    assert operator_of(result) == ("aten.convolution.default", "stem", "forward")


def test_entries_of_an_edited_log(forge, digits_job):
    def add(sites, elements):
        number = next(i for i, site in enumerate(sites) if not len(site.indices) and elements[i] > 50)
        sites[number] = SiteLog(sites[number].exponent, np.array([7, 20]), np.array([True, False]))
        return sites

    report = inconclusive(forge(lambda run: rewrite_log(run, 5, add)), digits_job.order)
    assert report.contradictions == 2
