from __future__ import annotations

import shutil
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from counterfoil.audit.overview import inspect, inspect_stages
from counterfoil_core.base.cancel import CancelToken
from counterfoil_core.base.errors import BundleError, CancelledError, GivenFileError
from counterfoil_core.bundle.reader import BundleReader
from counterfoil_core.bundle.schema import run_tree
from counterfoil_core.values.outcome import CheckNumber, CheckState
from counterfoil_core.values.steptable import Recorded, StepTable
from support.bundles import flip_bit
from support.jobs import digits_order

PASSED, FAILED, WARNING, PENDING = CheckState.PASSED, CheckState.FAILED, CheckState.WARNING, CheckState.PENDING
SKIPPED = CheckState.SKIPPED


@pytest.fixture
def run(tmp_path: Path, digits_job) -> Path:
    return Path(shutil.copy(digits_job.run, tmp_path / "run.cfoil"))


def states(summary) -> list[CheckState]:
    return [check.state for check in summary.checks]


def test_a_run_with_the_clients_order(digits_job, trainer_key):
    summary = inspect(digits_job.run, digits_job.order, trainer_key.public)
    assert states(summary) == [PASSED] * 6 + [PENDING] * 4
    assert [check.number for check in summary.checks] == list(CheckNumber)
    assert summary.client_order == summary.order.digest
    assert "Replay it" in summary.sentence
    assert summary.file_bytes == digits_job.run.stat().st_size
    run = summary.run
    assert run.trainer_key == trainer_key.public.key_id
    # What a window compares the auditor's own key with.
    assert run.trainer_public == trainer_key.public.public
    assert run.order_digest == summary.order.digest
    assert run.steps == len(run.recorded) == len(run.recorded.log_bytes) == len(run.recorded.log_entries) == 6
    assert run.checkpoints == (2, 4, 6)
    assert np.isfinite(run.recorded.trainer_loss).all()


def test_what_was_ordered(digits_job):
    order = inspect(digits_job.run, digits_job.order).order
    draft = digits_order()
    program = draft.program
    assert order.digest == draft.manifest.digest
    assert (order.steps, order.batch_size, order.seed) == (6, 8, 11)
    assert order.operators == len(program.nodes)
    assert 0 < order.rounded_operators < order.operators
    assert order.state_tensors == len(draft.initial)
    assert order.state_bytes == sum(array.nbytes for array in draft.initial.values())
    momenta = [array for name, array in draft.initial.items() if name.startswith("momentum:")]
    assert order.parameters == sum(array.size for array in momenta)
    assert [(array.name, array.shape) for array in order.data] == [("images", (200, 8, 8)), ("labels", (200,))]
    assert "24 significand bits" in order.precision
    assert order.optimizer.startswith("SGD")


def test_without_the_clients_order(digits_job):
    summary = inspect(digits_job.run)
    assert states(summary)[:6] == [PASSED, WARNING, PASSED, PASSED, PASSED, PASSED]
    assert summary.client_order is None
    assert "client's own order" in summary.sentence


def test_an_order_that_nobody_has_run(tmp_path, digits_job):
    summary = inspect(digits_job.order, shutil.copy(digits_job.order, tmp_path / "kept.cfoil"))
    assert summary.run is None
    assert states(summary) == [PASSED] * 4 + [PENDING] * 6
    assert "nobody has run" in summary.sentence


def test_another_order_does_not_stop_the_other_checks(tmp_path, digits_job):
    other = tmp_path / "other.cfoil"
    digits_order(seed=12).write(other)
    summary = inspect(digits_job.run, other)
    assert states(summary)[:6] == [PASSED, FAILED, SKIPPED, PENDING, PASSED, PASSED]
    assert summary.client_order != summary.order.digest
    assert "Nothing can be concluded" in summary.sentence


def test_damaged_contents_leave_the_program_unread(run, digits_job):
    flip_bit(run, "/order/data/labels", 3)
    summary = inspect(run, digits_job.order)
    assert states(summary)[:6] == [PASSED, PASSED, FAILED, PENDING, PASSED, PASSED]
    assert summary.order.operators == 0
    assert "data array 'labels'" in summary.sentence


def test_a_broken_signature_hides_the_claim(run, digits_job):
    with BundleReader.open(run) as reader:
        place = reader.claim().index(b'"payload":"') + 100
    flip_bit(run, "/run/claim", place)
    summary = inspect(run, digits_job.order)
    assert states(summary)[4:6] == [FAILED, PENDING]
    assert summary.run.run_root is None
    assert summary.run.trainer_key == ""
    assert summary.run.environment == ()


def test_damaged_steps(run, digits_job):
    flip_bit(run, "/run/losses", 3)
    summary = inspect(run, digits_job.order)
    assert states(summary)[4:6] == [PASSED, FAILED]
    assert "altered after it was signed" in summary.sentence


@pytest.mark.parametrize("content", [b"", b"no bundle", b"\x89HDF\r\n\x1a\n" + bytes(500)])
def test_no_bundle(tmp_path, content):
    path = tmp_path / "junk.cfoil"
    path.write_bytes(content)
    with pytest.raises(BundleError):
        inspect(path)


@pytest.mark.parametrize("damage", ["junk", "cut short"])
def test_a_clients_order_that_cannot_be_read_is_the_auditors_slip(tmp_path, digits_job, damage):
    path = tmp_path / "junk.cfoil"
    path.write_bytes(b"junk" if damage == "junk" else digits_job.order.read_bytes()[:-1])
    with pytest.raises(GivenFileError, match=r"junk\.cfoil is no order of a client's") as caught:
        inspect(digits_job.run, path)
    assert caught.value.role == "order"
    assert "Choose the order file" in caught.value.remedy


def test_cancelled(digits_job):
    token = CancelToken()
    token.cancel()
    with pytest.raises(CancelledError):
        inspect(digits_job.run, cancel=token)


def test_the_file_stays_as_it_is(digits_job):
    before = digits_job.run.read_bytes()
    inspect(digits_job.run, digits_job.order)
    assert digits_job.run.read_bytes() == before


def test_the_overview_comes_before_anything_large_is_read(digits_job) -> None:
    first, *_, last = inspect_stages(digits_job.run, digits_job.order)
    found = {check.number: check.state for check in first.checks}
    assert found[CheckNumber.SIGNATURE] is PASSED
    assert found[CheckNumber.ORDER_CONTENTS] is CheckState.RUNNING
    assert found[CheckNumber.COMMITMENTS] is PENDING
    known = Recorded.of(*(getattr(last.run.recorded, name) for name in ("trainer_loss", "log_bytes", "log_entries")))
    assert first.run == replace(last.run, recorded=known)
    with BundleReader.open(digits_job.run) as reader:
        tree = run_tree(reader.step_records())
    leaves = [StepTable(last.run.recorded).trainer_leaf(step) for step in range(1, last.run.steps + 1)]
    assert leaves == [tree.leaf(step) for step in range(1, last.run.steps + 1)], "before anything is replayed"
    assert first.order.operators == 0
    assert last == inspect(digits_job.run, digits_job.order)


def test_stages_can_be_stopped_between_checks(digits_job) -> None:
    token = CancelToken()
    stages = inspect_stages(digits_job.run, digits_job.order, cancel=token)
    next(stages)
    token.cancel()
    with pytest.raises(CancelledError):
        list(stages)
