"""Orders whose rows are leaves: their capsules hold the rows of the disputed step, and no byte of another."""

from __future__ import annotations

import hashlib
from dataclasses import replace
from pathlib import Path

import h5py
import numpy as np
import pytest
import torch
from torch import nn

import counterfoil
from counterfoil.audit.capsulecontents import count_contents
from counterfoil.audit.values.capsulecontents import HandedRows
from counterfoil.training.order import sign_order_file
from counterfoil_core.base.errors import BundleError, DataError
from counterfoil_core.bundle.capsule import CapsuleContents
from counterfoil_core.bundle.reader import BundleReader
from counterfoil_core.bundle.schema import OrderManifest
from counterfoil_core.commit.rowtree import ROW_KEY_BYTES, row_proofs
from counterfoil_core.signing.keys import SigningKey
from counterfoil_core.values.adjudication import AdjudicationOutcome
from counterfoil_core.values.dispute import UPDATE
from support.bundles import opened_for_change
from support.capsules import (
    DISPUTED,
    adjudicated,
    crafted,
    crafted_part,
    evidence_of,
    read,
    record_cheat,
    save,
)
from support.jobs import Job, digits_order, record_job, sign_again

STEP, ROWS = DISPUTED, 200
KEY = bytes(range(ROW_KEY_BYTES))


@pytest.fixture(scope="module")
def cheat(trainer_key: SigningKey, tmp_path_factory: pytest.TempPathFactory) -> Job:
    return record_cheat(tmp_path_factory.mktemp("leaves"), digits_order().with_row_leaves(KEY), trainer_key)


@pytest.fixture(scope="module")
def evidence(cheat: Job) -> CapsuleContents:
    return evidence_of(cheat.run)


def images_in(path: Path, order: Path) -> set[int]:
    """Which images a file has, looked for by their bytes: all 64 of them."""
    held = path.read_bytes()
    with h5py.File(order, "r") as file:
        return {number for number, row in enumerate(file["order/data/images"][:]) if row.tobytes() in held}


def steps_rows(order: Path, step: int) -> set[int]:
    with h5py.File(order, "r") as file:
        return {int(row) for row in file["order/schedule"][step - 1]}


def test_a_dispute_hands_out_the_rows_of_its_step_alone(
    cheat: Job, evidence: CapsuleContents, tmp_path: Path, trainer_key: SigningKey
) -> None:
    path = save(evidence, tmp_path / "a.cfoil")
    report = adjudicated(path)
    assert report.outcome is AdjudicationOutcome.CONFIRMED, report.reason
    assert report.step == STEP
    own = steps_rows(cheat.order, STEP)
    assert len(own) == 8
    assert images_in(path, cheat.order) == own
    assert len(images_in(cheat.order, cheat.order)) == ROWS, "a row that is there is found"
    assert count_contents(evidence).rows == (HandedRows("images", 8, 8, ROWS), HandedRows("labels", 8, 8, ROWS))
    assert len(count_contents(evidence).sentences) == 1
    # The same dispute of an order whose leaves are chunks: the neighbours are found.
    chunked = record_cheat(tmp_path, digits_order(), trainer_key)
    with_neighbours = save(evidence_of(chunked.run), tmp_path / "b.cfoil")
    assert steps_rows(chunked.order, STEP) == own
    assert images_in(with_neighbours, chunked.order) > own
    assert len(images_in(with_neighbours, chunked.order)) == ROWS, "all lie in one chunk"
    assert path.stat().st_size < with_neighbours.stat().st_size


def test_labels_of_other_rows_do_not_follow_from_what_is_in_the_capsule(cheat: Job, evidence: CapsuleContents) -> None:
    """A sibling is the leaf of a neighbour: without a salt ten tries would give its label."""
    siblings = {proof.row ^ 1: proof.path[0].value for proof in evidence.part.rows["labels"]}
    with h5py.File(cheat.order, "r") as file:
        labels = file["order/data/labels"][:]
    tried = [np.array(label, "<i8").tobytes() for label in range(10)]
    salts = [b"", *(proof.salt for proof in evidence.part.rows["labels"])]
    for row, sibling in siblings.items():
        assert sibling not in {hashlib.sha256(b"\0" + salt + label).digest() for salt in salts for label in tried}
        (own,) = row_proofs(KEY, "labels", labels, np.array([row]))
        assert sibling == hashlib.sha256(b"\0" + own.salt + own.value).digest(), "it is: with the salt it is found"
    assert not {KEY, *siblings} & set(salts)


def test_the_key_of_the_salts_is_not_in_the_capsule(cheat: Job, evidence: CapsuleContents, tmp_path: Path) -> None:
    assert KEY in cheat.run.read_bytes()
    assert KEY not in save(evidence, tmp_path / "a.cfoil").read_bytes()


def test_a_capsule_is_read_as_it_was_written(evidence: CapsuleContents, tmp_path: Path) -> None:
    assert read(save(evidence, tmp_path / "a.cfoil")).part == evidence.part


def test_an_accusation_of_an_honest_run_is_rejected(trainer_key: SigningKey, tmp_path: Path) -> None:
    job = record_job(tmp_path, digits_order().with_row_leaves(), trainer_key)
    path = save(crafted(job.run, STEP), tmp_path / "a.cfoil")
    assert adjudicated(path).outcome is AdjudicationOutcome.REJECTED
    assert images_in(path, job.order) == steps_rows(job.order, STEP)


def test_a_share_hands_out_its_own_rows_alone(trainer_key: SigningKey, tmp_path: Path) -> None:
    torch.manual_seed(0)
    rng = np.random.default_rng(0)
    data = {"images": rng.standard_normal((24, 64)).astype(np.float32), "labels": rng.integers(0, 3, 24)}
    model = nn.Linear(64, 3)
    draft = counterfoil.order_custom(
        counterfoil.CustomJob(
            "rows",
            model,
            lambda model, batch: nn.functional.cross_entropy(model(batch["images"]), batch["labels"]),
            torch.optim.SGD(model.parameters(), 1e-3),
            data,
            4,
            batch_size=8,
            checkpoint_every=1,
            shares=4,
        )
    )
    job = record_job(tmp_path, draft.with_row_leaves(), trainer_key)
    with h5py.File(job.order, "r") as file:
        step = file["order/schedule"][STEP - 1].tolist()
    for about, own in ((1, set(step[2:4])), ("gradient:weight", set()), (UPDATE, set())):
        path = save(crafted_part(job.run, STEP, about), tmp_path / "a.cfoil")
        report = adjudicated(path)
        assert report.outcome is AdjudicationOutcome.REJECTED, report.reason
        assert images_in(path, job.order) == own


# The order.


def test_an_order_without_row_leaves_is_what_it_was(tmp_path: Path) -> None:
    draft = digits_order()
    draft.write(tmp_path / "a.cfoil", trial=False)
    with h5py.File(tmp_path / "a.cfoil", "r") as file:
        assert "row_key" not in file["order"]
    assert b'"rows"' not in draft.manifest.to_bytes()
    with_leaves = draft.with_row_leaves(KEY).manifest
    assert OrderManifest.from_bytes(with_leaves.to_bytes()) == with_leaves
    assert with_leaves.data_root == draft.manifest.data_root
    assert with_leaves.digest != draft.manifest.digest
    assert draft.with_row_leaves().manifest.digest != draft.with_row_leaves().manifest.digest, "keys are random"


def test_a_key_that_is_missing_or_not_called_for_is_refused(cheat: Job, tmp_path: Path) -> None:
    path = tmp_path / "run.cfoil"
    path.write_bytes(cheat.run.read_bytes())
    with opened_for_change(path) as file:
        del file["order/row_key"]
    with pytest.raises(BundleError, match="lacks /order/row_key"):
        BundleReader.open(path)
    digits_order().write(path, trial=False)
    with opened_for_change(path) as file:
        file.create_dataset("order/row_key", data=np.zeros(ROW_KEY_BYTES, np.uint8))
    with pytest.raises(BundleError, match="/order/row_key, which its format"):
        BundleReader.open(path)


def test_row_leaves_of_data_outside_are_refused(tmp_path: Path) -> None:
    draft = digits_order().with_row_leaves()
    with pytest.raises(DataError, match="leaves of a tree"):
        draft.write(tmp_path / "a.cfoil", external_data=tmp_path / "a.cfdata", trial=False)
    data = {name: replace(spec, file="a.cfdata") for name, spec in draft.manifest.data.items()}
    with pytest.raises(BundleError, match="lies in a data file"):
        OrderManifest.from_bytes(replace(draft.manifest, data=data).to_bytes())


def test_an_order_keeps_its_key_when_it_is_signed(trainer_key: SigningKey, tmp_path: Path) -> None:
    draft = digits_order().with_row_leaves(KEY)
    draft.write(tmp_path / "a.cfoil", trial=False)
    sign_order_file(tmp_path / "a.cfoil", tmp_path / "b.cfoil", trainer_key)
    with BundleReader.open(tmp_path / "b.cfoil") as reader:
        assert reader.check_order_contents().row_key == KEY
        assert reader.manifest == draft.manifest


# Disputes that no row is needed for, whatever the leaves are.


@pytest.fixture(scope="module", params=[True, False], ids=["row leaves", "chunks"])
def honest(request: pytest.FixtureRequest, trainer_key: SigningKey, tmp_path_factory: pytest.TempPathFactory) -> Job:
    draft = digits_order(commit_every=1)
    draft = draft.with_row_leaves() if request.param else draft
    return record_job(tmp_path_factory.mktemp("honest"), draft, trainer_key)


def with_log(job: Job, folder: Path, key: SigningKey, log: bytes) -> Path:
    """The run of a job whose trainer signed another log of the step, as long as the one that it wrote."""
    path = folder / "run.cfoil"
    path.write_bytes(job.run.read_bytes())
    with BundleReader.open(path) as reader:
        ends = np.cumsum(reader.log_sizes())
    with opened_for_change(path) as file:
        file["run/log"][ends[STEP - 2] : ends[STEP - 2] + len(log)] = np.frombuffer(log, np.uint8)
    sign_again(path, key)
    return path


def test_a_dispute_about_a_log_that_cannot_be_decoded_has_no_row(
    honest: Job, trainer_key: SigningKey, tmp_path: Path
) -> None:
    contents = evidence_of(with_log(honest, tmp_path, trainer_key, b"\x63"))
    path = save(contents, tmp_path / "a.cfoil")
    report = adjudicated(path)
    assert report.outcome is AdjudicationOutcome.CONFIRMED, report.reason
    assert f"The rounding log of step {STEP} cannot be read" in report.reason
    assert images_in(path, honest.order) == set()
    assert count_contents(contents).rows == ()
    # Control: a step that is replayed takes its rows.
    assert images_in(save(crafted(honest.run, STEP), tmp_path / "b.cfoil"), honest.order) >= steps_rows(
        honest.order, STEP
    )


def test_a_capsule_with_rows_about_a_log_that_cannot_be_decoded_is_judged_as_before(
    honest: Job, trainer_key: SigningKey, tmp_path: Path
) -> None:
    contents = evidence_of(with_log(honest, tmp_path, trainer_key, b"\x63"))
    whole = replace(contents, part=crafted(honest.run, STEP).part)
    assert images_in(save(whole, tmp_path / "a.cfoil"), honest.order)
    assert adjudicated(tmp_path / "a.cfoil").outcome is AdjudicationOutcome.CONFIRMED
