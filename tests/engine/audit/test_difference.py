"""Where two runs first differ: order, step, operator, element."""

from __future__ import annotations

import json

import numpy as np
import pytest

from counterfoil.audit.difference import _compared, compare_runs
from counterfoil.cli import main
from counterfoil_core.arithmetic.grid.rounder import RecordingRounder
from counterfoil_core.base.cancel import CancelToken
from counterfoil_core.base.errors import CancelledError, CommitmentError
from counterfoil_core.bundle.reader import BundleReader
from support.bundles import flip_bit
from support.jobs import digits_order, record_job, record_run, recorded_by
from support.other_direction import OtherDirection

# The job has six steps and stores a checkpoint after every second one.
LATE = 4


class Later(OtherDirection):
    """Goes the other way at the first logged decision of step 4."""

    calls = 0
    skipped = 0

    def _round(self, node, exponent, flat):
        type(self).calls += 1
        if type(self).calls <= self.skipped:
            return RecordingRounder._round(self, node, exponent, flat)
        return super()._round(node, exponent, flat)


@pytest.fixture(scope="module")
def later(tmp_path_factory, digits_job, trainer_key):
    """A run of the same order on hardware that rounds one value of step 4 differently, as it may."""
    Later.done, Later.calls, Later.skipped = False, 0, (LATE - 1) * len(digits_order().program.sites)
    with recorded_by(Later):
        run = record_run(digits_job.order, tmp_path_factory.mktemp("later") / "later.cfoil", trainer_key)
    assert Later.done
    return run


def test_a_run_is_equal_to_itself(digits_job, capsys):
    found = compare_runs(digits_job.run, digits_job.run)
    assert (found.step, found.orders, found.compared, found.exit_code) == (None, (), 6, 0)
    assert main(["diff", str(digits_job.run), str(digits_job.run)]) == 0
    assert "All 6 steps that were compared are equal." in capsys.readouterr().out


def test_the_operator_and_the_element_that_two_machines_round_differently(digits_job, later, capsys):
    seen = []
    found = compare_runs(
        digits_job.run,
        later,
        replay=True,
        threads=1,
        progress=lambda what, done, total: seen.append((what, done, total)),
    )
    assert (found.step, found.orders, found.inputs) == (LATE, (), ())
    assert "fingerprints" in found.parts
    assert found.log_step == LATE
    assert found.operator is not None
    assert len(found.path) > 1
    elements = found.elements
    # Each log leads this machine to what that run recorded: its own last bits play no part.
    assert elements is not None
    assert (elements.reproduced, elements.differing) == ((True, True), 1)
    assert 0 < abs(elements.first - elements.second) == elements.largest < 1e-5
    # The first state that both store from there on.
    assert found.state is not None
    assert found.state.step == 4
    assert found.state.tensors
    with BundleReader.open(digits_job.run) as one, BundleReader.open(later) as other:
        assert (one.checkpoint(2)["stem.weight"] == other.checkpoint(2)["stem.weight"]).all()
        worst = found.state.tensors[0]
        assert one.checkpoint(4)[worst.name][worst.index] == pytest.approx(worst.trainer, abs=0)
        assert other.checkpoint(4)[worst.name][worst.index] == pytest.approx(worst.replay, abs=0)
    assert [(done, total) for what, done, total in seen if what == "Replaying"] == [(n, 4) for n in range(5)]
    assert main(["diff", str(digits_job.run), str(later), "--json"]) == 1
    said = json.loads(capsys.readouterr().out)
    assert (said["step"], said["operator"]["name"]) == (LATE, found.operator.name)
    assert said["elements"] is None  # it was not replayed


def test_other_rows_are_told_before_any_operator(digits_job, cheat_job, capsys):
    other = cheat_job.run
    found = compare_runs(digits_job.run, other, replay=True)
    assert (found.step, found.inputs, found.operator, found.elements) == (3, ("labels",), None, None)
    assert main(["diff", str(digits_job.run), str(other)]) == 1
    assert "The fingerprints that the runs recorded of what it reads differ: labels." in capsys.readouterr().out


def test_different_orders_are_said_first(tmp_path, digits_job, trainer_key, capsys):
    job = record_job(tmp_path, digits_order(learning_rate=0.2, steps=4, checkpoint_every=2), trainer_key)
    found = compare_runs(digits_job.run, job.run)
    assert {"per-step scalars", "steps", "schedule"} <= {unlike.what for unlike in found.orders}
    assert (found.step, found.compared, found.operator) == (1, 4, None)
    assert "fingerprints" not in found.parts
    assert found.state is not None
    assert found.state.step == 2
    assert main(["diff", str(digits_job.run), str(job.run)]) == 1
    assert "The runs are of different orders" in capsys.readouterr().out


def test_what_is_not_signed_is_not_compared(copied, digits_job):
    flip_bit(copied, "/run/losses", 2)
    with pytest.raises(CommitmentError, match="not those that its trainer signed"):
        compare_runs(digits_job.run, copied)
    token = CancelToken()
    token.cancel()
    with pytest.raises(CancelledError):
        compare_runs(digits_job.run, digits_job.run, cancel=token)


@pytest.fixture
def copied(tmp_path, digits_job):
    path = tmp_path / "copy.cfoil"
    path.write_bytes(digits_job.run.read_bytes())
    return path


def test_elements_of_an_operator_that_are_equal_and_that_are_not():
    one = np.array([[1.0, -2.0], [0.0, 4.0]])
    same = _compared(one.ravel(), one.ravel().copy(), (2, 2), (True, True))
    assert (same.elements, same.differing, same.index) == (4, 0, ())
    other = one.copy()
    other[1] = -0.0, 4.5
    found = _compared(one.ravel(), other.ravel(), (2, 2), (True, False))
    assert (found.differing, found.index, found.largest) == (2, (1, 0), 0.5)
