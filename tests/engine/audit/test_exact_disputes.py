"""Disputes under exact profiles: integers show which side is wrong, in audits, capsules, and between providers."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from benchmarks.imitations import IMITATIONS
from torch import Tensor

from counterfoil import cli
from counterfoil.audit.overview import summarise
from counterfoil.training.tamper import LabelFlip
from counterfoil_core.arithmetic import machine, profiles
from counterfoil_core.arithmetic.compute.exactly import exactly
from counterfoil_core.arithmetic.compute.interpreter import StepInputs, StepResult
from counterfoil_core.arithmetic.compute.operation import Compute, Operation
from counterfoil_core.arithmetic.grid import exactresults
from counterfoil_core.hearing import adjudicator, session
from counterfoil_core.hearing.inspection import open_inspection
from counterfoil_core.judge.exactelements import same_value, spacing
from counterfoil_core.judge.explain import changed_alone
from counterfoil_core.kernels.cpu.rounding import mix_values
from counterfoil_core.panel.panel import run_panel
from counterfoil_core.signing.keys import SigningKey
from counterfoil_core.statement.verdict import sign_verdict, verify_verdict
from counterfoil_core.values.adjudication import AdjudicationOutcome
from counterfoil_core.values.dispute import Right
from counterfoil_core.values.outcome import CheckNumber, CheckState, Outcome
from counterfoil_core.values.panel import Blame, PanelFinished, PanelOutcome, PanelReport
from support.capsules import adjudicated, evidence_of, save
from support.exact_jobs import CLASSES, plain_order
from support.jobs import Audited, Job, audited, logged_as, record_job, record_run, replaced
from support.malicious import Train, Trainer, record_malicious

STEP = 3
FLIP = LabelFlip(STEP, classes=CLASSES)


@pytest.fixture(scope="module")
def job(tmp_path_factory: pytest.TempPathFactory, trainer_key: SigningKey) -> Job:
    return record_job(tmp_path_factory.mktemp("exact"), plain_order(), trainer_key)


@dataclass
class OneElement(Trainer):
    """Changes one element of what one operator gives by one unit in the last place, and goes on from there."""

    kind: str = "mm"
    place: int = 7

    def operator(self, operation: Operation, args: list[Any], kwargs: dict[str, Any]) -> Any:
        result = super().operator(operation, args, kwargs)
        if not self.acting or operation.node.entry.kind != self.kind:
            return result
        changed = result.clone()
        flat = changed.view(-1)
        flat[self.place % len(flat)] = torch.nextafter(flat[self.place % len(flat)], torch.tensor(torch.inf))
        return changed


@dataclass
class FlippedBit(Trainer):
    """Stores a state of which one bit of one weight is another one."""

    def result(self, inputs: StepInputs, result: StepResult, train: Train) -> StepResult:
        if not self.acting:
            return result
        changed = result.state["first"].clone()
        changed.view(torch.int32).view(-1)[0] ^= 1
        return replace(result, state={**result.state, "first": changed})


@dataclass
class AllElements(Trainer):
    """Computes a product in float32 as torch does, with operands that keep all of their bits."""

    def operator(self, operation: Operation, args: list[Any], kwargs: dict[str, Any]) -> Any:
        if self.acting and operation.node.entry.kind == "mm":
            return operation.function(*args, **kwargs)
        return super().operator(operation, args, kwargs)


# Audits.


def test_an_honest_run_is_verified(job: Job) -> None:
    result = audited(job.run, job.order)
    assert result.report.outcome is Outcome.VERIFIED
    log = result.check(CheckNumber.LOG)
    assert log.state is CheckState.PASSED
    assert log.detail.startswith("There is no rounding log")
    report = result.report
    assert (report.exact_bits, report.steering, report.without_bound) == (20, None, ())
    assert (report.rounded_values, report.log_entries, report.log_bytes) == (0, 0, 0)


@pytest.mark.parametrize("imitation", IMITATIONS)
def test_no_imitation_shows(job: Job, imitation: str) -> None:
    assert audited(job.run, job.order, perturbation=imitation).report.outcome is Outcome.VERIFIED


def test_a_run_recorded_on_an_imitation_is_the_same_run(job: Job, tmp_path: Path, trainer_key: SigningKey) -> None:
    for number, imitation in enumerate(("reversed+rewritten", "shuffled-5+split-4+jitter-3")):
        run = record_run(job.order, tmp_path / f"{number}.cfoil", trainer_key, perturbation=imitation)
        assert audited(run).report.run_root == audited(job.run).report.run_root


def off_by_one(kind: str) -> Callable[..., Compute]:
    """A machine whose results of one kind of operator are off by one unit in the last place, in one element."""

    def make(*settings: Any) -> Compute:
        plain = exactly(*settings)

        def compute(operation: Operation, args: list[Any], kwargs: dict[str, Any]) -> Any:
            result = plain(operation, args, kwargs)
            if operation.node.entry.kind != kind:
                return result
            flat = result.reshape(-1)
            flat[-1] = torch.nextafter(flat[-1], torch.tensor(torch.inf))
            return flat.view(result.shape)

        return compute

    return make


@contextmanager
def untested() -> Iterator[None]:
    """The self-test finds such machines; here it meets another fault, or none."""
    with replaced(session, "run_selftest", _passed), replaced(adjudicator, "run_selftest", _passed):
        yield


def _passed(*settings: Any) -> str:
    return "Nothing was tested."


@pytest.mark.parametrize("kind", ["mm", "exp", "sum"])
def test_the_self_test_finds_a_machine_that_errs_by_one_unit(job: Job, kind: str) -> None:
    with replaced(machine, "exactly", off_by_one(kind)):
        assert audited(job.run, job.order).report.outcome is Outcome.ERROR


@pytest.mark.sampled(2)
@pytest.mark.parametrize("kind", ["mm", "exp", "sum", "embedding_dense_backward"])
def test_control_a_machine_that_errs_by_one_unit_shows(job: Job, kind: str) -> None:
    """Its own arithmetic confirms nothing: another form of products gives other results."""
    with untested(), replaced(machine, "exactly", off_by_one(kind)):
        report = audited(job.run, job.order).report
    assert report.outcome is Outcome.INCONCLUSIVE
    assert "does not give its own result again" in report.reason
    assert "margin" not in report.reason


@pytest.mark.parametrize("kind", ["mm", "exp"])
def test_a_machine_that_always_errs_accuses_nobody(job: Job, kind: str) -> None:
    """One that errs in every form alike is shown to be wrong by integers."""
    make = off_by_one(kind)
    with (
        untested(),
        replaced(machine, "exactly", make),
        replaced(machine, "exactly_perturbed", lambda name, profile: make(profile)),
    ):
        report = audited(job.run, job.order).report
    assert report.outcome is Outcome.INCONCLUSIVE
    assert report.dispute is not None
    finding = report.dispute.finding
    assert finding is not None
    assert finding.right is Right.TRAINER
    assert "integer arithmetic gives the trainer's value" in finding.sentence
    (element,) = finding.elements
    assert element.error == 1
    assert element.trainer == element.exact_nearest != element.replay


def disputed(result: Audited) -> Any:
    report = result.report
    assert report.outcome is Outcome.DISPUTED, report.reason
    assert report.dispute is not None
    assert report.dispute.step == STEP
    assert report.dispute.confirmed
    assert report.dispute.finding is not None
    assert report.dispute.finding.right is Right.REPLAY
    return report.dispute


def simulated(job: Job, path: Path, key: SigningKey, trainer: Trainer) -> Audited:
    return audited(record_malicious(job.order, path, key, trainer), job.order)


@pytest.mark.sampled(2)
@pytest.mark.parametrize("kind", ["mm", "exp", "sum", "embedding_dense_backward"])
def test_one_wrong_element_is_found_and_named(job: Job, tmp_path: Path, trainer_key: SigningKey, kind: str) -> None:
    cheat = OneElement(STEP, kind=kind)
    dispute = disputed(simulated(job, tmp_path / "run.cfoil", trainer_key, cheat))
    assert dispute.operator.name.split(".")[1] == kind
    finding = dispute.finding
    assert "of two different elements one is wrong" in finding.sentence
    assert (finding.recomputed, finding.margin, finding.bound) == (1, 0.0, 0.0)
    (element,) = finding.elements
    size = int(np.prod(dispute.operator.shape))
    assert int(np.ravel_multi_index(element.index, dispute.operator.shape)) == cheat.place % size
    assert element.error == 0
    assert element.replay == element.exact_nearest
    assert element.trainer == pytest.approx(element.replay + element.quantum, rel=1e-12)
    # Control: the same trainer without the lie.
    honest = simulated(job, tmp_path / "honest.cfoil", trainer_key, cheat.honest())
    assert honest.report.outcome is Outcome.VERIFIED


def test_ordinary_float32_products_are_found(job: Job, tmp_path: Path, trainer_key: SigningKey) -> None:
    dispute = disputed(simulated(job, tmp_path / "run.cfoil", trainer_key, AllElements(STEP)))
    assert dispute.operator.name == "aten.mm.default"
    finding = dispute.finding
    assert finding.recomputed == finding.total == 8 * 6
    assert all(element.trainer is None and element.error == 0 for element in finding.elements)
    assert "all 48 elements were computed in integers" in finding.sentence


def test_a_changed_label_is_found(job: Job, tmp_path: Path, trainer_key: SigningKey) -> None:
    run = record_run(job.order, tmp_path / "run.cfoil", trainer_key, tamper=FLIP)
    dispute = disputed(audited(run, job.order))
    assert dispute.inputs == ("labels",)
    assert "the rows of 'labels'" in dispute.finding.sentence


def test_a_changed_label_behind_a_forged_fingerprint_is_found(
    job: Job, tmp_path: Path, trainer_key: SigningKey
) -> None:
    ordered: dict[str, Tensor] = {}

    def tamper(inputs: StepInputs) -> StepInputs:
        ordered["labels"] = inputs.batch["labels"]
        return FLIP(inputs)

    class Pretending(exactresults.Unrounded):
        def watch(self, place: int, value: Tensor, arguments: Any) -> None:
            super().watch(place, ordered.get(self._program.places[place].name, value), arguments)

    with replaced(profiles, "Unrounded", Pretending):
        run = record_run(job.order, tmp_path / "run.cfoil", trainer_key, tamper=tamper)
    dispute = disputed(audited(run, job.order))
    assert dispute.inputs == ()
    # What the labels select enters the loss, a single number: the trainer's is the one that it recorded.
    assert dispute.operator.name == "aten.sum.default"
    (element,) = dispute.finding.elements
    assert element.trainer == dispute.trainer_loss
    assert element.replay == dispute.replay_loss


def test_a_flipped_bit_of_the_state_is_found(job: Job, tmp_path: Path, trainer_key: SigningKey) -> None:
    dispute = disputed(simulated(job, tmp_path / "run.cfoil", trainer_key, FlippedBit(STEP)))
    assert dispute.parts == ("state",)
    assert dispute.operator is None
    assert "does not follow from what it signed on the way" in dispute.finding.sentence
    honest = simulated(job, tmp_path / "honest.cfoil", trainer_key, FlippedBit())
    assert honest.report.outcome is Outcome.VERIFIED


def test_a_signed_log_is_disputed(job: Job, tmp_path: Path, trainer_key: SigningKey) -> None:

    with logged_as(b"\x00"):
        run = record_run(job.order, tmp_path / "run.cfoil", trainer_key)
    report = audited(run, job.order).report
    assert report.outcome is Outcome.DISPUTED
    assert report.dispute is not None
    assert report.dispute.finding is not None
    assert report.dispute.finding.right is Right.UNREADABLE
    assert "under an exact profile, which has none" in report.reason


def test_the_verdict_says_so(job: Job, tmp_path: Path, trainer_key: SigningKey) -> None:
    run = record_malicious(job.order, tmp_path / "run.cfoil", trainer_key, OneElement(STEP))
    for path in (job.run, run):
        report = audited(path, job.order).report
        verdict = verify_verdict(sign_verdict(report, trainer_key), trainer_key.public)
        assert verdict.exact_bits == 20
        assert verdict.steering is None
        assert verdict.outcome is report.outcome
    finding = verdict.predicate["dispute"]["finding"]
    assert "defined by mathematics" in finding["sentence"]
    assert finding["elements"][0]["error"]["decimal"] == "0.0"


# Capsules.


@pytest.mark.sampled(2)
@pytest.mark.parametrize("cheat", [OneElement(STEP), FlippedBit(STEP), FLIP], ids=["element", "bit", "label"])
def test_a_capsule_is_confirmed(job: Job, tmp_path: Path, trainer_key: SigningKey, cheat: Any) -> None:
    run = tmp_path / "run.cfoil"
    if isinstance(cheat, Trainer):
        record_malicious(job.order, run, trainer_key, cheat)
    else:
        record_run(job.order, run, trainer_key, tamper=cheat)
    report = adjudicated(save(evidence_of(run, job.order), tmp_path / "dispute.cfoil"))
    assert report.outcome is AdjudicationOutcome.CONFIRMED, report.reason
    assert report.dispute is not None
    assert report.dispute.step == STEP
    assert report.checks[CheckNumber.LOG - 1].detail.startswith("There is no rounding log")


def test_a_capsule_about_an_honest_step_is_rejected(job: Job, tmp_path: Path) -> None:
    from support.capsules import crafted

    report = adjudicated(save(crafted(job.run, STEP), tmp_path / "dispute.cfoil"))
    assert report.outcome is AdjudicationOutcome.REJECTED, report.reason


def test_an_adjudicator_whose_machine_errs_confirms_nothing(job: Job, tmp_path: Path, trainer_key: SigningKey) -> None:
    run = record_malicious(job.order, tmp_path / "run.cfoil", trainer_key, OneElement(STEP))
    capsule = save(evidence_of(run, job.order), tmp_path / "dispute.cfoil")
    with untested(), replaced(machine, "exactly", off_by_one("exp")):
        report = adjudicated(capsule)
    assert report.outcome is AdjudicationOutcome.INCONCLUSIVE
    assert "every result is defined" in report.reason


# Several providers.


def panel(*runs: Path) -> PanelReport:
    *_, last = run_panel(runs, threads=1)
    assert isinstance(last, PanelFinished)
    return last.report


@pytest.mark.parametrize("cheat", [OneElement(STEP), FlippedBit(STEP)], ids=["element", "bit"])
def test_the_referee_names_the_wrong_side(job: Job, tmp_path: Path, trainer_key: SigningKey, cheat: Trainer) -> None:
    bad = record_malicious(job.order, tmp_path / "bad.cfoil", trainer_key, cheat)
    for runs, blame in (((job.run, bad), Blame.SECOND), ((bad, job.run), Blame.FIRST)):
        report = panel(*runs)
        (parting,) = report.partings
        assert (parting.step, parting.ruled_step, parting.blame) == (STEP, STEP, blame)
        assert report.outcome is PanelOutcome.EXPOSED


def test_a_panel_of_three_and_honest_machines_agree(job: Job, tmp_path: Path, trainer_key: SigningKey) -> None:
    other = record_run(job.order, tmp_path / "other.cfoil", trainer_key, perturbation="reversed+rewritten")
    bad = record_malicious(job.order, tmp_path / "bad.cfoil", trainer_key, OneElement(STEP, kind="sum"))
    assert panel(job.run, other).outcome is PanelOutcome.AGREED
    report = panel(bad, job.run, other)
    assert report.groups == ((1, 2), (0,))
    assert report.outcome is PanelOutcome.EXPOSED
    assert "Not what was ordered: bad.cfoil." in report.reason


# Pieces.


def test_the_element_that_changed_alone() -> None:
    generator, key = np.random.default_rng(0), np.uint64(0x1234567890ABCDEF)
    indices = np.arange(1000, dtype=np.int64)
    for values, other in (
        (generator.normal(size=1000).astype(np.float32), np.float32(0.1)),
        (generator.integers(-9, 9, 1000).astype(np.int32), np.int32(77)),
    ):
        wide = values.astype(np.float64 if values.dtype.kind == "f" else np.int64)
        changed = wide.copy()
        changed[123] = other

        def fingerprint(array: Any) -> int:
            return int(mix_values(array.view(np.float64), indices, key))

        difference = (fingerprint(changed) - fingerprint(wide)) % 2**64
        assert changed_alone(values, int(key), difference) == (123, other.item())
        changed[124] = other
        assert changed_alone(values, int(key), (fingerprint(changed) - fingerprint(wide)) % 2**64) is None


def test_what_is_the_same_value() -> None:
    assert same_value(float("nan"), float("nan"))
    assert not same_value(0.0, -0.0)
    assert not same_value(float("nan"), 1.0)
    assert same_value(3, 3)
    assert (spacing(1.0, "float32"), spacing(0.0, "float32"), spacing(-1.5, "float32")) == (2**-23, 2.0**-149, 2**-23)
    assert spacing(5.0, "int64") == 1


def test_what_the_command_line_says_of_margins(job: Job, capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.main(["inspect", str(job.order)]) == 0
    printed = capsys.readouterr().out
    assert "none: every result is defined" in printed
    assert "8 of them products, sums, quotients and functions" in printed
    with open_inspection(job.order) as inspection:
        assert summarise(inspection).order.exact_bits == 20
