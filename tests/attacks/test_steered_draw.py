"""The noise of a step, drawn from a normal and an exponential distribution, is steered: one number, or all of them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import pytest
import torch
from torch import Tensor, nn

from counterfoil_core.base.precision import ExactPrecision
from counterfoil_core.operators.draws import judge
from counterfoil_core.values.dispute import Right
from counterfoil_core.values.outcome import Outcome
from support.expectations import disputed, operator_of
from support.jobs import Job, audited, draw, own_order, record_job, replaced
from support.malicious import Trainer

STEP = 3


class Noisy(nn.Module):
    """A variational autoencoder in small: a mean and a deviation, noise between them, and weights for its rows."""

    def __init__(self) -> None:
        super().__init__()
        self.encoder, self.decoder = nn.Linear(6, 4), nn.Linear(2, 6)

    def forward(self, x: Tensor) -> Tensor:
        mean, log_deviation = self.encoder(x).chunk(2, -1)
        hidden = mean + torch.randn_like(mean) * log_deviation.exp()
        weights = torch.empty(len(x), 1).exponential_()
        chosen = torch.multinomial(torch.softmax(mean, -1), 1)
        return ((self.decoder(hidden) - x).square() * weights).mean() + mean.gather(1, chosen).mean()


def loss(model: nn.Module, batch: Mapping[str, Tensor]) -> Tensor:
    result: Tensor = model(batch["x"])
    return result


@pytest.fixture(scope="module", params=["rounding", "exact"])
def job(request, tmp_path_factory, trainer_key) -> Job:
    precision = ExactPrecision(20) if request.param == "exact" else None
    draft = own_order(Noisy(), loss, {"x": draw((32, 6), 1)}, precision=precision)
    return record_job(tmp_path_factory.mktemp(request.param), draft, trainer_key)


@dataclass
class OneNumber(Trainer):
    """One number of a draw is its neighbour: half of a machine's last bit, and the result of another seed."""

    kind: str = "counterfoil.normal"

    def drawn(self, node, numbers):
        if self.acting and node.operator == self.kind:
            numbers = numbers.clone()
            flat = numbers.view(-1).to(torch.float32)
            numbers.view(-1)[5] = torch.nextafter(flat[5], torch.tensor(torch.inf)).to(numbers.dtype)
        return numbers


@dataclass
class Chosen(OneNumber):
    """All of them are chosen: less noise, so that the loss looks better."""

    def drawn(self, node, numbers):
        return numbers * 0.5 if self.acting and node.operator == self.kind else numbers


@pytest.mark.sampled(3)
@pytest.mark.parametrize("attack", [OneNumber, Chosen])
@pytest.mark.parametrize("kind", ["counterfoil.normal", "counterfoil.exponential"])
def test_a_steered_draw(simulate, job, attack, kind):
    result = audited(simulate(attack(STEP, kind=kind), job), job.order)
    assert result.report.outcome is Outcome.DISPUTED
    assert result.report.dispute.step == STEP
    assert operator_of(result) == (kind, "", "forward")
    assert result.report.dispute.finding.right is Right.REPLAY


def test_a_machine_that_draws_wrongly_accuses_nobody(simulate, job):
    """The reverse: where this machine's own numbers are not the defined ones, nothing is said against the trainer."""
    run = simulate(Chosen(STEP), job)
    disputed(run, job.order, STEP)
    with replaced(judge, "drawn_element", lambda *_, **__: 0.25):
        report = audited(run, job.order).report
    assert report.outcome is Outcome.INCONCLUSIVE
    assert report.dispute.finding.right is Right.NOBODY_KNOWN
