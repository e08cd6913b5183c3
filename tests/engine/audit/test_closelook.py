"""A closer look into a step: the rows that it read, and one tensor of both sides."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from counterfoil import (
    CounterfoilError,
    DisputedRows,
    LookProgress,
    OperatorLook,
    RowKind,
    TensorSides,
    compare_tensor,
    find_disputed_rows,
    look_at_operator,
)
from counterfoil.audit.closelook import compare_sides
from counterfoil.audit.disputedrows import kind_of
from counterfoil.training.orderfile import load_order
from counterfoil_core.base.cancel import CancelToken
from counterfoil_core.base.errors import CancelledError, CommitmentError
from counterfoil_core.base.generators import finish
from counterfoil_core.bundle.reader import BundleReader
from counterfoil_core.signing.keys import SigningKey
from support.bent_recorder import bent, rounding_site
from support.bundles import flip_bit
from support.jobs import Job, audited, record_job, record_run, recorded_by
from support.shared import LIE, other_rows, shared_order

# The job has six steps and stores a checkpoint after every second one.


@pytest.fixture(scope="module")
def flipped(cheat_job: Job) -> Path:
    return cheat_job.run


def test_the_labels_that_were_read_stand_beside_the_ordered_ones(flipped: Path, digits_job: Job) -> None:
    found: DisputedRows = finish(find_disputed_rows(flipped, 3))
    images, labels = found.arrays
    assert (images.name, images.kind, images.same, images.said) == ("images", RowKind.IMAGE, True, "")
    assert np.array_equal(images.ordered, images.read)
    assert (labels.name, labels.kind, labels.same) == ("labels", RowKind.NUMBERS, False)
    assert labels.said == "Every value x was read as 9 - x."
    assert np.array_equal(labels.read, 9 - labels.ordered)
    with BundleReader.open(digits_job.order) as reader:
        contents = reader.check_order_contents()
    scheduled = contents.schedule[2]
    assert found.rows == len(scheduled)
    assert list(found.numbers) == scheduled[list(found.places)].tolist()
    assert np.array_equal(labels.ordered[:, 0], np.asarray(contents.data["labels"][np.array(found.numbers)]))


def test_an_honest_step_read_what_was_ordered(flipped: Path) -> None:
    found: DisputedRows = finish(find_disputed_rows(flipped, 2))
    assert [row.same for row in found.arrays] == [True, True]


def test_of_what_no_simple_change_explains_it_is_said_that_it_is_not_known(
    tmp_path: Path, trainer_key: SigningKey
) -> None:
    """A share that read rows which nobody can tell."""
    job = record_job(tmp_path, shared_order(), trainer_key, tamper=other_rows(2))
    found: DisputedRows = finish(find_disputed_rows(job.run, LIE, "share 2"))
    other = [row for row in found.arrays if not row.same]
    assert other
    for row in other:
        assert row.said
        assert len(row.read) in (0, len(found.places))
    honest: DisputedRows = finish(find_disputed_rows(job.run, LIE, "share 0"))
    assert all(row.same for row in honest.arrays)
    assert honest.numbers != found.numbers
    with pytest.raises(CounterfoilError, match="reads none"):
        finish(find_disputed_rows(job.run, LIE, "update"))


def test_a_tensor_of_both_sides_is_that_of_the_dispute(flipped: Path, digits_job: Job) -> None:
    dispute = audited(flipped, digits_job.order).report.dispute
    assert dispute is not None
    assert dispute.compared_at == 4
    worst = dispute.tensors[0]
    found: TensorSides = finish(compare_tensor(flipped, 4, worst.name, threads=1))
    assert (found.begin, found.step, found.shape) == (2, 4, worst.shape)
    assert found.differing == worst.differing
    assert int(found.ulps.max()) == worst.max_ulps
    place = [tuple(index) for index in found.indices.tolist()].index(worst.index)
    assert (found.trainer[place], found.replay[place]) == (worst.trainer, worst.replay)
    assert found.trainer_bins.sum() == found.replay_bins.sum() == np.prod(worst.shape)
    assert found.ulp_bins[0] == np.prod(worst.shape) - worst.differing
    assert "From step 2 to step 4 the ordered training moves this tensor" in found.said[1]


def test_an_honest_tensor_is_equal(digits_job: Job) -> None:
    found: TensorSides = finish(compare_tensor(digits_job.run, 2, "head.weight", threads=1))
    assert found.differing == 0
    assert "bit for bit" in found.said[0]
    assert len(found.indices) == 0


def test_what_would_change_is_measured_by_what_was_ordered() -> None:
    before = np.zeros((2, 3), np.float32)
    replay = np.float32([[3, 0, 0], [0, 4, 0]])
    trainer = np.float32([[3, 0, 0], [0, 4, -1]])
    found = compare_sides("weight", (0, 2), before, trainer, replay)
    assert found.said[0].startswith("1 of 6 elements would be others, by up to ")
    assert "by 5 (Euclidean norm)" in found.said[1]
    assert "lies 1 from there: 20 % of that way" in found.said[1]
    assert found.indices.tolist() == [[1, 2]]
    turned = compare_sides("weight", (0, 2), before, -replay, replay)
    assert turned.said[2] == "2 elements moved the other way."
    broken = compare_sides("weight", (0, 2), before, trainer * np.float32(np.nan), replay)
    assert broken.differing == 6
    assert broken.trainer_bins.sum() == 0, "what is not a number lies in no bin"


def test_distances_are_counted_by_powers_of_two() -> None:
    replay = np.zeros(6, np.int64)
    found = compare_sides("count", (0, 1), replay, np.array([0, 1, 2, 3, 4, 9]), replay)
    assert found.ulp_bins.tolist() == [1, 1, 2, 1, 1]


@pytest.mark.parametrize(
    ("batch", "kind"),
    [
        (np.zeros((4, 8, 8), np.uint8), RowKind.IMAGE),
        (np.zeros((4, 3, 32, 32), np.float32), RowKind.IMAGE),
        (np.zeros((4, 32, 32, 1), np.uint8), RowKind.IMAGE),
        (np.zeros((4, 5, 32, 32), np.float32), RowKind.NUMBERS),
        (np.zeros((4, 2, 8), np.float32), RowKind.NUMBERS),
        (np.zeros(4, np.int64), RowKind.NUMBERS),
        (np.zeros((4, 9), np.float32), RowKind.NUMBERS),
        (np.array([[50_000, 7, 8]]), RowKind.TOKENS),
        (np.frombuffer(b"hello, world", np.uint8).reshape(2, 6), RowKind.TEXT),
        (np.full((2, 6), 200, np.uint8), RowKind.TOKENS),
        (np.zeros((0, 6), np.uint8), RowKind.TOKENS),
    ],
)
def test_how_a_row_is_shown(batch: np.ndarray, kind: RowKind) -> None:
    assert kind_of(batch) is kind


def test_what_cannot_be_looked_at_is_said(flipped: Path, tmp_path: Path) -> None:
    for step in (0, 7):
        with pytest.raises(CounterfoilError, match="no rows to be shown"):
            finish(find_disputed_rows(flipped, step))
    with pytest.raises(CounterfoilError, match="stored no state after step 3"):
        finish(compare_tensor(flipped, 3, "head.weight"))
    with pytest.raises(CounterfoilError, match="no tensor 'nobody'"):
        finish(compare_tensor(flipped, 4, "nobody"))
    changed = tmp_path / "changed.cfoil"
    changed.write_bytes(flipped.read_bytes())
    flip_bit(changed, "run/losses", 2)
    with pytest.raises(CommitmentError, match="not those that its trainer signed"):
        finish(find_disputed_rows(changed, 3))


def test_it_tells_how_far_it_is_and_can_be_cancelled(flipped: Path) -> None:
    said = [event.what for event in compare_tensor(flipped, 4, "head.weight", threads=1)]
    assert said[0] == "Hashing run.cfoil"
    assert {"Replaying step 3", "Replaying step 4", "Comparing"} <= set(said)
    token = CancelToken()
    looking = compare_tensor(flipped, 4, "head.weight", threads=1, cancel=token)
    assert isinstance(next(looking), LookProgress)
    token.cancel()
    with pytest.raises(CancelledError):
        finish(looking)


@pytest.fixture(scope="module")
def other_values(tmp_path_factory: pytest.TempPathFactory, digits_job: Job, trainer_key: SigningKey) -> Path:
    """A run whose trainer has another value in the output of a convolution in step 3."""
    path = tmp_path_factory.mktemp("bent") / "run.cfoil"
    with BundleReader.open(digits_job.order) as reader:
        site = rounding_site(load_order(reader).program, "convolution")

    def larger(_before: np.ndarray, after: np.ndarray, _grid: object) -> dict[int, float]:
        return {7: float(after[7]) + 1.0}

    with recorded_by(bent("Larger", step=3, site=site, choose=larger)):
        return record_run(digits_job.order, path, trainer_key)


def test_the_first_differing_operator_is_shown_with_its_inputs(other_values: Path, digits_job: Job) -> None:
    dispute = audited(other_values, digits_job.order).report.dispute
    assert dispute is not None
    assert dispute.operator is not None
    found: OperatorLook = finish(look_at_operator(other_values, dispute.step, threads=1))
    assert (found.number, found.where) == (dispute.operator.number, dispute.operator.where)
    *inputs, output = found.values
    assert output.name == ""
    assert output.shape == dispute.operator.shape
    tensors = [value for value in inputs if value.dtype]
    assert [value.shape for value in tensors] == list(dispute.operator.input_shapes)
    for value in tensors:
        assert value.least <= value.mean <= value.largest
        assert len(value.first) == min(12, int(np.prod(value.shape)))
    assert any(value.name == "stride" and value.said for value in inputs)
    assert "no values" in found.said[-1]


def test_where_no_operator_differs_none_is_shown(flipped: Path, digits_job: Job) -> None:
    for run, step in ((flipped, 3), (digits_job.run, 2), (digits_job.run, 0)):
        with pytest.raises(CounterfoilError, match="no operator to be shown"):
            finish(look_at_operator(run, step, threads=1))
