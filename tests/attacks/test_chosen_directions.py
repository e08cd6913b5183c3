"""Log directions are chosen at will inside the margin, over a whole run: nothing to dispute, and it stands out.

Values, fingerprints and leaves follow the chosen directions, so every step matches. What gives the trainer away is how
often its directions differ from the replay's own where honest hardware has no choice.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace

import numpy as np
import pytest

from counterfoil_core.arithmetic.grid.log import SiteLog
from support.expectations import disputed, inconclusive, verified
from support.forgery import checkpoint
from support.jobs import digits_order, record_job, records_of
from support.malicious import Trainer, record_malicious


@dataclass
class Chooser(Trainer):
    """Turns round a share of its directions, in operators of one kind and module or in all."""

    share: float = 0.0
    kind: str = ""
    module: str = ""

    def directions(self, node, log):
        if not (self.share and node.entry.kind.startswith(self.kind) and node.module.startswith(self.module)):
            return log
        turned = np.random.default_rng(self.now * 1000 + len(log.indices)).random(len(log.indices)) < self.share
        return SiteLog(log.exponent, log.indices, log.ups ^ turned)

    def honest(self):
        return replace(self, share=0.0)


@pytest.mark.sampled(1)
@pytest.mark.parametrize("perturbation", [None, "reversed", "jitter"])
def test_every_direction_of_a_run(simulate, digits_job, perturbation):
    report = inconclusive(simulate(Chooser(share=1.0)), digits_job.order, perturbation=perturbation)
    assert (report.contradictions, report.omissions) == (0, 0)
    assert report.corrections > 0.9 * report.log_entries
    assert report.steering.steered > 0.9 * report.steering.steerable > 0
    assert "aten.convolution.default (forward of stem)" in report.steering.suspects
    assert "chosen them at will" in report.reason


def test_a_tenth_of_them(simulate, digits_job):
    report = inconclusive(simulate(Chooser(share=0.1)), digits_job.order)
    assert 0.05 < report.steering.steered / report.steering.steerable < 0.2


def test_one_operator_only(simulate, digits_job):
    """The others are honest, and the account names the one that is not."""
    run = simulate(Chooser(share=1.0, kind="native_batch_norm_backward"))
    report = inconclusive(run, digits_job.order)
    rows = {row.kind: row for row in report.steering.rows}
    assert rows["native_batch_norm_backward"].steered == rows["native_batch_norm_backward"].steerable > 5
    assert all(row.steered == 0 for kind, row in rows.items() if kind != "native_batch_norm_backward")
    assert all("native_batch_norm_backward" in name for name in report.steering.suspects)


def test_a_few_flips_stay_below_what_can_be_told(tmp_path, digits_job, trainer_key):
    """The bound that docs/threat-model.md states: one direction in six steps is not told from chance."""

    @dataclass
    class Once(Trainer):
        def directions(self, node, log):
            if self.now != 3 or node.module != "stem" or node.phase != "forward":
                return log
            return SiteLog(log.exponent, log.indices, log.ups ^ (np.arange(len(log.indices)) == 0))

    run = record_malicious(digits_job.order, tmp_path / "run.cfoil", trainer_key, Once())
    report = verified(run, digits_job.order)
    assert report.steering.steered == 1


def test_a_direction_beyond_the_margin_is_not_followed(simulate, digits_job):
    """More entries do not help: an element farther than twice the margin from a midpoint keeps the replay's value."""

    @dataclass
    class Greedy(Trainer):
        def operator(self, operation, args, kwargs):
            result = super().operator(operation, args, kwargs)
            if self.acting and operation.node.module == "head" and operation.node.operator == "aten.addmm.default":
                result = result * (1 + 2.0**-20)
            return result

        def written(self, node, log, elements):
            if not (self.acting and node.module == "head" and node.phase == "forward"):
                return log
            return SiteLog(log.exponent, np.arange(elements), np.ones(elements, bool))

    disputed(simulate(Greedy(step=3)), digits_job.order, 3)


# What it comes to.


def norm(state, names):
    return math.sqrt(sum(float(np.square(state[name], dtype=np.float64).sum()) for name in names))


def moved_by_choice(draft, folder, key):
    """Turn every direction of a run; how far weights, single elements and the last loss are from the honest run's."""
    job = record_job(folder, draft, key)
    run = record_malicious(job.order, folder / "chosen.cfoil", key, Chooser(share=1.0))
    steps = draft.manifest.steps
    one, other = checkpoint(job.run, steps), checkpoint(run, steps)
    weights = [n for n in one if one[n].dtype == np.float32 and "momentum:" not in n and "running" not in n]
    difference = {name: one[name] - other[name] for name in weights}
    largest = max(float(np.abs(difference[n]).max() / np.abs(one[n]).max()) for n in weights)
    losses = [records_of(path)[-1].loss for path in (job.run, run)]
    inconclusive(run, job.order)
    return norm(difference, weights) / norm(one, weights), largest, abs(losses[0] - losses[1])


@pytest.mark.slow
def test_a_short_run_of_turned_directions_hardly_moves_the_weights(tmp_path, trainer_key):
    relative, largest, loss = moved_by_choice(digits_order(), tmp_path, trainer_key)
    assert 0 < relative < 1e-6
    assert largest < 1e-5
    assert loss < 1e-5


@pytest.mark.slow
def test_a_longer_run_of_turned_directions_hardly_moves_the_weights(tmp_path, trainer_key):
    """The figures of docs/threat-model.md. Between steps 55 and 60 the two trainings part."""
    draft = digits_order(steps=55, width=16, batch_size=32, checkpoint_every=55)
    relative, largest, loss = moved_by_choice(draft, tmp_path, trainer_key)
    assert 0 < relative < 1e-6
    assert largest < 1e-5
    assert loss < 1e-5
