"""The trainer of an order with several programs runs another than the pattern says, or changes program or pattern."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from counterfoil.training import recorder
from counterfoil.training.orderfile import prepare_order
from counterfoil_core.base.precision import ExactPrecision
from counterfoil_core.base.turns import Turns
from counterfoil_core.bundle.reader import BundleReader
from counterfoil_core.order.executable import LoadedOrder
from counterfoil_core.signing.keys import SigningKey
from counterfoil_core.values.adjudication import AdjudicationOutcome
from counterfoil_core.values.outcome import CheckNumber, CheckState, Outcome
from support.bundles import opened_for_change
from support.capsules import adjudicated, evidence_of, read, save
from support.expectations import disputed, operator_of, refused, tensors_of, verified
from support.jobs import Job, audited, record_job, record_run, replace_bytes, replaced, sign_again
from support.turns import bent_weight, gan_order, mirror_order, with_pattern

DISCRIMINATORS_SLOT = "moment1:discriminator.0.bias"
"""A state tensor that no program but the discriminator's takes."""


@pytest.fixture(scope="module")
def gan(tmp_path_factory: pytest.TempPathFactory, trainer_key: SigningKey) -> Job:
    job = record_job(tmp_path_factory.mktemp("gan"), gan_order(), trainer_key)
    verified(job.run, job.order)
    return job


@pytest.fixture(scope="module")
def mirror(tmp_path_factory: pytest.TempPathFactory, trainer_key: SigningKey) -> Job:
    job = record_job(tmp_path_factory.mktemp("mirror"), mirror_order(), trainer_key)
    verified(job.run, job.order)
    return job


def running(*pattern: str) -> Any:
    """The recorder, of a trainer who runs the programs of the order in another pattern and signs what comes out."""

    def prepare(*args: Any) -> LoadedOrder:
        order = prepare_order(*args)
        return replace(order, programs=replace(order.programs, pattern=pattern))

    return replaced(recorder, "prepare_order", prepare)


def test_the_other_program_in_one_step(mirror: Job, tmp_path: Path, trainer_key: SigningKey) -> None:
    """Both programs have the same operators and places, so that the run is whole and consistent in itself."""
    with running("a", "b", "a", "a"):
        run = record_run(mirror.order, tmp_path / "run.cfoil", trainer_key)
    result = disputed(run, mirror.order, 4, parts=("state", "fingerprints"))
    assert tensors_of(result) == {f"{slot}{half}.{name}" for half in "ab" for name in ("weight", "bias")
                                  for slot in ("", "momentum:")}  # fmt: skip
    capsule = save(evidence_of(run, mirror.order), tmp_path / "a.cfoil")
    assert set(read(capsule).programs.parts) == {"b"}, "the program that the pattern names for the disputed step"
    report = adjudicated(capsule, order=mirror.order)
    assert report.outcome is AdjudicationOutcome.CONFIRMED, report.reason
    assert report.step == 4


def test_control_the_pattern_of_the_order_run_so(mirror: Job, tmp_path: Path, trainer_key: SigningKey) -> None:
    with running("a", "b"):
        run = record_run(mirror.order, tmp_path / "run.cfoil", trainer_key)
    verified(run, mirror.order)


@pytest.mark.sampled(1)
@pytest.mark.parametrize("precision", [None, ExactPrecision(20)])
def test_the_generator_is_trained_in_the_discriminators_place(
    tmp_path: Path, trainer_key: SigningKey, precision: ExactPrecision | None
) -> None:
    """The programs have different places, so the trainer makes up fingerprints of as many as the file must have."""
    job = record_job(tmp_path, gan_order(precision), trainer_key)
    places = gan_order(precision).programs.map(lambda program: len(program.places))
    assert len(set(places.all)) == 2

    def fitting(step: int, *, fingerprints: np.ndarray, **rest: Any) -> Any:
        return stored(step, fingerprints=np.resize(fingerprints, places.of(step)), **rest)

    stored = recorder.stored_step
    with running("d", "g", "g"), replaced(recorder, "stored_step", fitting):
        run = record_run(job.order, tmp_path / "bad.cfoil", trainer_key)
    report = audited(run, job.order).report
    assert report.outcome is Outcome.DISPUTED
    assert report.dispute is not None
    assert report.dispute.step == 2
    report = adjudicated(save(evidence_of(run, job.order), tmp_path / "a.cfoil"), order=job.order)
    assert (report.outcome, report.step) == (AdjudicationOutcome.CONFIRMED, 2)


def test_a_bit_of_the_discriminator_in_the_generators_turn(gan: Job, tmp_path: Path, trainer_key: SigningKey) -> None:
    name = "discriminator.2.weight"
    run = record_run(gan.order, tmp_path / "run.cfoil", trainer_key, tamper=bent_weight(3, name))
    result = disputed(run, gan.order, 3, parts=("state", "fingerprints"))
    operator = operator_of(result)
    assert operator is not None
    assert operator[1] == "discriminator.2"
    assert name in tensors_of(result)
    report = adjudicated(save(evidence_of(run, gan.order), tmp_path / "a.cfoil"), order=gan.order)
    assert (report.outcome, report.step) == (AdjudicationOutcome.CONFIRMED, 3)


def test_a_bit_of_what_the_steps_program_does_not_take(gan: Job, tmp_path: Path, trainer_key: SigningKey) -> None:
    """No operator of the generator's step reads it: the state root alone shows it."""
    run = record_run(gan.order, tmp_path / "run.cfoil", trainer_key, tamper=bent_weight(3, DISCRIMINATORS_SLOT))
    result = disputed(run, gan.order, 3, parts=("state",))
    assert operator_of(result) is None
    report = adjudicated(save(evidence_of(run, gan.order), tmp_path / "a.cfoil"), order=gan.order)
    assert (report.outcome, report.step) == (AdjudicationOutcome.CONFIRMED, 3)


@pytest.fixture(scope="module")
def sparse(tmp_path_factory: pytest.TempPathFactory, trainer_key: SigningKey) -> Job:
    """States are digested after every third step only; the trainer bends a weight in step 6."""
    draft = gan_order(commit_every=3, checkpoint_every=3)
    folder = tmp_path_factory.mktemp("sparse")
    return record_job(folder, draft, trainer_key, tamper=bent_weight(6, "discriminator.2.weight"))


def test_a_capsule_holds_the_programs_of_its_steps(sparse: Job, tmp_path: Path) -> None:
    disputed(sparse.run, sparse.order, 6)
    evidence = evidence_of(sparse.run, sparse.order)
    capsule = save(evidence, tmp_path / "a.cfoil")
    found = read(capsule)
    assert [leaf.record.step for leaf in found.leaves] == [3, 4, 5, 6]
    assert found.programs == evidence.programs
    assert set(found.programs.parts) == {"d", "g"}
    for one, other in zip(found.fingerprints, evidence.fingerprints, strict=True):
        np.testing.assert_array_equal(one, other)
    report = adjudicated(capsule, order=sparse.order)
    assert (report.outcome, report.step, report.steps_replayed) == (AdjudicationOutcome.CONFIRMED, 6, 3)


def edited(programs: Mapping[str, bytes]) -> dict[str, bytes]:
    return {"d": programs["g"], "g": programs["d"]}


def test_capsules_with_other_programs(sparse: Job, tmp_path: Path) -> None:
    evidence = evidence_of(sparse.run, sparse.order)
    swapped = replace(evidence, programs=Turns(edited(evidence.programs.parts), evidence.programs.pattern))
    # The same turns in the steps of the capsule, and others in those before it.
    other = with_pattern(gan_order(commit_every=3, checkpoint_every=3), "g", "d", "d", "d", "d", "g").manifest
    for spoilt, number, sentence in (
        (swapped, CheckNumber.ORDER_CONTENTS, "not the one that the order commits to"),
        (replace(evidence, manifest=other), CheckNumber.SIGNATURE, "signed a run of the order"),
    ):
        report = adjudicated(save(spoilt, tmp_path / "a.cfoil"))
        assert report.outcome is AdjudicationOutcome.REFUSED, report.reason
        assert report.checks[number - 1].state is CheckState.FAILED
        assert sentence in report.checks[number - 1].detail


def test_a_capsule_that_lacks_a_program(sparse: Job, tmp_path: Path) -> None:
    path = save(evidence_of(sparse.run, sparse.order), tmp_path / "a.cfoil")
    for spoil, sentence in (
        (lambda file: file.__delitem__("order/programs/d"), "/capsule/fingerprints/d"),
        (lambda file: file.__delitem__("capsule/fingerprints/d"), "lacks /capsule/fingerprints/d"),
        (lambda file: file.move("order/programs/d", "order/programs/e"), "holds"),
    ):
        spoilt = tmp_path / "b.cfoil"
        spoilt.write_bytes(path.read_bytes())
        with opened_for_change(spoilt) as file:
            spoil(file)
        report = adjudicated(spoilt)
        assert report.outcome is AdjudicationOutcome.REFUSED, report.reason
        assert sentence in report.reason, report.reason


def test_a_pattern_altered_by_the_trainer(mirror: Job, tmp_path: Path, trainer_key: SigningKey) -> None:
    """The run of an order with another pattern, whole and signed: it is not the client's order."""
    other = record_job(tmp_path, with_pattern(mirror_order(), "b", "a"), trainer_key)
    verified(other.run, other.order)
    refused(other.run, mirror.order, CheckNumber.ORDER, "order")


def test_a_pattern_altered_in_the_file(mirror: Job, tmp_path: Path, trainer_key: SigningKey) -> None:
    run = record_run(mirror.order, tmp_path / "run.cfoil", trainer_key)
    replace_bytes(run, "/order/manifest", with_pattern(mirror_order(), "b", "a").manifest.to_bytes())
    refused(run, mirror.order, CheckNumber.ORDER, "order")
    refused(run, None, CheckNumber.SIGNATURE, "The trainer signed a run of the order")


def test_a_program_altered(mirror: Job, tmp_path: Path, trainer_key: SigningKey) -> None:
    run = record_run(mirror.order, tmp_path / "run.cfoil", trainer_key)
    with BundleReader.open(run) as reader:
        program = reader.program("b")
    changed = program.replace(b"aten.add.Tensor", b"aten.sub.Tensor", 1)
    assert changed != program
    replace_bytes(run, "/order/programs/b", changed)
    sign_again(run, trainer_key)
    refused(run, mirror.order, CheckNumber.ORDER_CONTENTS, "The program 'b' in the bundle differs")
    replace_bytes(run, "/order/programs/b", program)
    verified(run, mirror.order)
