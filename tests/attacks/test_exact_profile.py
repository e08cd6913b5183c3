"""Under an exact profile there is no rounding to hide behind: whatever departs from what is defined is found."""

from __future__ import annotations

from dataclasses import dataclass

import pytest
import torch

from counterfoil_core.arithmetic.compute.exactly import exactly
from counterfoil_core.base.precision import ExactPrecision
from counterfoil_core.kernels.exact.forms import Profile
from counterfoil_core.values.dispute import Right
from counterfoil_core.values.outcome import Outcome
from support.expectations import disputed, operator_of, verified
from support.jobs import audited, digits_order, logged_as, record_job, record_run
from support.malicious import Trainer

STEP = 3


@pytest.fixture(scope="module")
def exact_job(tmp_path_factory, trainer_key):
    return record_job(tmp_path_factory.mktemp("exact"), digits_order(precision=ExactPrecision(20)), trainer_key)


@dataclass
class OneUnit(Trainer):
    """One element of one result is the next float32 number: what an ordinary machine's arithmetic is off by."""

    kind: str = "convolution"

    def operator(self, operation, args, kwargs):
        result = super().operator(operation, args, kwargs)
        if not self.acting or operation.node.entry.kind != self.kind or operation.node.module != "block1.conv1":
            return result
        # Of a convolution's gradients the weight's.
        changed = result[1] if isinstance(result, tuple) else result
        flat = changed.view(-1)
        flat[11] = torch.nextafter(flat[11], torch.tensor(torch.inf))
        return result


@pytest.mark.sampled(2)
@pytest.mark.parametrize("kind", ["convolution", "convolution_backward"])
def test_one_unit_in_the_last_place_of_one_element(simulate, exact_job, kind):
    # So little that the weights come out the same: what follows keeps fewer bits.
    run = simulate(OneUnit(STEP, kind=kind), exact_job)
    result = disputed(run, exact_job.order, STEP, parts=("fingerprints",))
    operator, module, _ = operator_of(result)
    assert (operator, module) == (f"aten.{kind}.default", "block1.conv1")
    finding = result.report.dispute.finding
    assert finding.right is Right.REPLAY
    (element,) = finding.elements
    assert (element.error, element.trainer) == (0.0, pytest.approx(element.replay + element.quantum, abs=0))


@dataclass
class OtherBits(Trainer):
    """Keeps another number of bits of the operands of products: fewer are faster, more are those of another order."""

    bits: int = 13

    def operator(self, operation, args, kwargs):
        if self.acting and operation.node.entry.kind == "mm":
            return exactly(Profile(self.bits))(operation, args, kwargs)
        return super().operator(operation, args, kwargs)


@dataclass
class Library(Trainer):
    """Multiplies as torch does in float32, which is as good, and not what is defined."""

    def operator(self, operation, args, kwargs):
        if self.acting and operation.node.entry.kind == "mm":
            return operation.function(*args, **kwargs)
        return super().operator(operation, args, kwargs)


@pytest.mark.sampled(1)
@pytest.mark.parametrize("trainer", [OtherBits(STEP, bits=13), OtherBits(STEP, bits=21), Library(STEP)])
def test_products_of_other_operands(simulate, exact_job, trainer):
    result = audited(simulate(trainer, exact_job), exact_job.order)
    dispute = result.report.dispute
    assert result.report.outcome is Outcome.DISPUTED
    # Whether it reaches the loss, which is a single number, is chance.
    assert (dispute.step, dispute.confirmed) == (STEP, True)
    assert {"state", "fingerprints"} <= set(dispute.parts)
    assert operator_of(result) == ("aten.mm.default", "head", "forward")
    assert "integers" in dispute.finding.sentence


def test_a_log_where_there_is_none(exact_job, tmp_path, trainer_key):
    verified(exact_job.run, exact_job.order)
    with logged_as(b"\x01\x00"):
        run = record_run(exact_job.order, tmp_path / "run.cfoil", trainer_key)
    result = disputed(run, exact_job.order, 1, parts=("log",), only=False)
    assert result.report.dispute.finding.right is Right.UNREADABLE
    assert "under an exact profile, which has none" in result.report.reason
