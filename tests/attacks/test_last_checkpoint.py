"""A run whose last checkpoint has no slots and which leaves its initial weights to the order: what it names is altered.

Each attack is on what such a run has and others do not; the control is the same run as it was recorded.
"""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from torch import nn

from counterfoil.audit.overview import inspect
from counterfoil.audit.parts.task import Task
from counterfoil.audit.parts.workplace import open_workplace
from counterfoil.audit.timing import plan_audit
from counterfoil.cli import main
from counterfoil_core.base import canonical
from counterfoil_core.base.errors import BundleError, CounterfoilError, FileChangedError, GivenFileError
from counterfoil_core.bundle.reader import BundleReader
from counterfoil_core.hearing import inspection
from counterfoil_core.parties.signatures import own_contents
from counterfoil_core.signing.keys import SigningKey
from counterfoil_core.values.events import WorkersReported
from counterfoil_core.values.outcome import CheckNumber, CheckState, Outcome
from counterfoil_core.values.workers import LocalWorkers
from independent.bundle import Bundle, RefusedError
from support.bundles import opened_for_change
from support.expectations import disputed, refused, tensors_of, verified
from support.jobs import Job, audited, classify, draw, own_order, put_bytes, record_job, record_run
from support.malicious import Trainer, record_malicious

STEPS = 4
"""Two checkpoints, after steps 2 and 4."""
DATA = {"x": draw((24, 6), 1), "labels": np.arange(24, dtype=np.int64) % 5}
WEIGHTS, SLOTS = {"weight", "bias"}, {"momentum:weight", "momentum:bias"}


def last(step: int) -> str:
    return f"/run/checkpoints/{step:010d}"


@pytest.fixture(scope="module")
def job(trainer_key: SigningKey, tmp_path_factory: pytest.TempPathFactory) -> Job:
    draft = own_order(nn.Linear(6, 5), classify, DATA, steps=STEPS).ending_with_weights()
    return record_job(tmp_path_factory.mktemp("last"), draft, trainer_key, initial_in_order=True)


@pytest.fixture
def run(job: Job, tmp_path: Path) -> Path:
    return Path(shutil.copy(job.run, tmp_path / "run.cfoil"))


def edit_records(run: Path, edit: Callable[[list[dict[str, Any]]], Any]) -> None:
    with BundleReader.open(run) as reader:
        records = json.loads(reader._bytes("/run/left_out"))
    edited = edit(records)
    put_bytes(run, "/run/left_out", canonical.encode(records if edited is None else edited))


def test_control_the_run_is_verified_and_holds_neither(job: Job, trainer_key: SigningKey, tmp_path: Path) -> None:
    verified(job.run, job.order)
    with BundleReader.open(job.run) as reader:
        assert not reader.holds_initial
        assert set(reader.checkpoint(2)) == WEIGHTS | SLOTS
        assert set(reader.checkpoint(STEPS)) == WEIGHTS
        assert set(reader.left_out(STEPS)) == SLOTS
        assert reader.left_out(2) == {}
        assert set(reader.state_layout()) == WEIGHTS | SLOTS
        with pytest.raises(BundleError, match="The last checkpoint leaves out 'momentum:bias'"):
            reader.checkpoint_tensor(STEPS, "momentum:bias")
    with BundleReader.open(record_run(job.order, tmp_path / "whole.cfoil", trainer_key)) as reader:
        assert reader.holds_initial
        assert set(reader.checkpoint(STEPS)) == WEIGHTS


def test_the_only_checkpoint_may_be_the_last(trainer_key: SigningKey, tmp_path: Path) -> None:
    draft = own_order(nn.Linear(6, 5), classify, DATA, steps=1).ending_with_weights()
    single = record_job(tmp_path, draft, trainer_key, initial_in_order=True)
    verified(single.run, single.order)
    edit_records(single.run, lambda records: records[0].update(shape=[6]))
    refused(single.run, single.order, CheckNumber.ORDER_CONTENTS, "other tensors than the order's initial state")


def test_without_the_order_nothing_is_judged(job: Job, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for look in (audited, inspect):
        with pytest.raises(GivenFileError, match="leaves them to the client's order"):
            look(job.run)
    assert main(["audit", str(job.run)]) == Outcome.ERROR.exit_code
    assert "--order" in " ".join(capsys.readouterr().err.split())
    with pytest.raises(GivenFileError):
        audited(job.run, tmp_path / "missing.cfoil")


def test_a_plan_and_its_batch_script_take_the_order(job: Job, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(GivenFileError, match="leaves them to the client's order"):
        list(plan_audit(job.run, threads=1))
    *_, plan = plan_audit(job.run, order=job.order, threads=1)
    assert plan.segments == 2
    assert main(["plan", str(job.run), "--order", str(job.order), "--threads", "1", "--slurm"]) == 0
    assert f"--order {job.order}" in capsys.readouterr().out


@pytest.mark.slow
def test_workers_read_the_initial_weights_from_the_order(job: Job, tmp_path: Path) -> None:
    events = audited(job.run, job.order, workers=LocalWorkers(2)).events
    *_, last = (event for event in events if isinstance(event, WorkersReported))
    assert [worker.trouble for worker in last.workers] == ["", ""]
    assert sum(worker.segments for worker in last.workers) == 2
    # The controls: without the order, and with another one.
    with pytest.raises(GivenFileError, match="leaves them to the client's order"), open_workplace(Task(str(job.run))):
        pass
    other = tmp_path / "other.cfoil"
    own_order(nn.Linear(6, 5), classify, DATA, steps=STEPS, seed=4).ending_with_weights().write(other, trial=False)
    given = Task(str(job.run), order=str(other))
    with pytest.raises(CounterfoilError, match="the client's order is"), open_workplace(given):
        pass


def test_another_order(job: Job, tmp_path: Path) -> None:
    other = tmp_path / "other.cfoil"
    own_order(nn.Linear(6, 5), classify, DATA, steps=STEPS, seed=4).ending_with_weights().write(other, trial=False)
    refused(job.run, other, CheckNumber.ORDER, "the client's order is")


def test_an_order_whose_weights_were_altered_is_none(job: Job, tmp_path: Path) -> None:
    order = Path(shutil.copy(job.order, tmp_path / "job.cfoil"))
    with opened_for_change(order) as file:
        file["/order/initial/bias"][...] = file["/order/initial/bias"][...] + 1
    with pytest.raises(GivenFileError, match="The initial state in the bundle differs from what the order commits to"):
        audited(job.run, order)


def test_an_order_that_is_not_the_same_when_its_weights_are_read(
    job: Job, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Check 2 sees the client's order; before check 3 reads the weights another order lies there."""
    order = Path(shutil.copy(job.order, tmp_path / "job.cfoil"))
    other = tmp_path / "other.cfoil"
    own_order(nn.Linear(6, 5), classify, DATA, steps=STEPS, seed=4).ending_with_weights().write(other, trial=False)

    def swapped(*given: Any) -> Any:
        shutil.copy(other, order)
        return own_contents(*given)

    monkeypatch.setattr(inspection, "own_contents", swapped)
    report = audited(job.run, order).report
    assert (report.outcome, report.steps_replayed) == (Outcome.INCONCLUSIVE, 0), report.reason
    assert "changed" in report.reason


RECORDS: dict[str, tuple[Callable[[list[dict[str, Any]]], Any], CheckNumber, str]] = {
    "another digest": (
        lambda records: records[0].update(chunks="00" * 32),
        CheckNumber.COMMITMENTS,
        f"The stored state of step {STEPS} differs from the state root of that step.",
    ),
    "one swapped for the other": (
        lambda records: [{**records[1], "name": records[0]["name"]}, {**records[0], "name": records[1]["name"]}],
        CheckNumber.FORMAT,
        "leaves out other tensors than the slots of the state",
    ),
    "another shape": (
        lambda records: records[0].update(shape=[6]),
        CheckNumber.FORMAT,
        "leaves out other tensors than the slots of the state",
    ),
    "one too few": (lambda records: records[:1], CheckNumber.FORMAT, "leaves out other tensors than the slots"),
    "a weight": (
        lambda records: [*records, {**records[0], "name": "weight"}],
        CheckNumber.FORMAT,
        "leaves out what is no slot of a tensor that it holds",
    ),
    "one twice": (lambda records: [records[0], *records], CheckNumber.FORMAT, "not sorted, or named twice"),
    "another order": (lambda records: records[::-1], CheckNumber.FORMAT, "not sorted, or named twice"),
    "no list": (lambda records: {"records": records}, CheckNumber.FORMAT, "is not written properly"),
    "no record": (lambda records: [1, *records], CheckNumber.FORMAT, "record of a tensor that is left out"),
    "a field too many": (
        lambda records: records[0].update(file="x"),
        CheckNumber.FORMAT,
        "record of a tensor that is left out",
    ),
    "a length below zero": (
        lambda records: records[0].update(shape=[-1]),
        CheckNumber.FORMAT,
        "of no tensor of a state",
    ),
    "another dtype": (
        lambda records: records[0].update(dtype="float64"),
        CheckNumber.FORMAT,
        "of no tensor of a state",
    ),
}


@pytest.mark.parametrize("name", RECORDS)
def test_records_of_what_is_left_out(name: str, run: Path, job: Job) -> None:
    edit, number, words = RECORDS[name]
    edit_records(run, edit)
    if number is CheckNumber.FORMAT:
        with pytest.raises(BundleError, match=words), BundleReader.open(run):
            pass
        assert audited(run, job.order).report.outcome is Outcome.REFUSED
    else:
        check = audited(run, job.order).check(number)
        assert check.state is CheckState.FAILED
        assert words in check.detail


@pytest.mark.parametrize(
    ("path", "words"),
    [
        (f"{last(STEPS)}/weight", "lacks /run/checkpoints/0000000004/weight"),
        (f"{last(2)}/momentum:bias", "leaves out other tensors than the slots of the state"),
        ("/run/left_out", "lacks /run/left_out"),
    ],
)
def test_a_tensor_that_is_left_out_without_a_record(run: Path, path: str, words: str) -> None:
    with opened_for_change(run) as file:
        del file[path]
    with pytest.raises(BundleError, match=words), BundleReader.open(run):
        pass


def test_states_with_other_tensors_than_the_order_has(run: Path, job: Job) -> None:
    """The first state of the file says what the others hold, and the order what it must be."""
    with opened_for_change(run) as file:
        for step in (2, STEPS):
            file[f"{last(step)}/extra"] = np.zeros(3, np.float32)
    refused(run, job.order, CheckNumber.ORDER_CONTENTS, "other tensors than the order's initial state")


def test_an_order_that_does_not_ask_for_it(run: Path, job: Job, tmp_path: Path) -> None:
    draft = own_order(nn.Linear(6, 5), classify, DATA, steps=STEPS)
    with BundleReader.open(run) as reader:
        manifest = replace(reader.manifest, last_of_weights=False)
    assert manifest.to_bytes() == draft.manifest.to_bytes(), "nothing of it is in the manifest of another order"
    put_bytes(run, "/order/manifest", manifest.to_bytes())
    with pytest.raises(BundleError, match="/run/left_out, which its format and its order do not know"):
        BundleReader.open(run)


@dataclass
class LastSlotForger(Trainer):
    """Commits to other slots after the last step than training gives: the weights are right."""

    def result(self, inputs: Any, result: Any, train: Any) -> Any:
        if not self.acting:
            return result
        slot = "momentum:bias"
        return replace(result, state={**result.state, slot: result.state[slot] * 2})


@pytest.mark.parametrize("step", [0, STEPS])
def test_a_slot_that_is_left_out_is_judged_all_the_same(
    step: int, job: Job, trainer_key: SigningKey, tmp_path: Path
) -> None:
    run = record_malicious(job.order, tmp_path / "run.cfoil", trainer_key, LastSlotForger(step), initial_in_order=True)
    if not step:
        verified(run, job.order)
        return
    result = disputed(run, job.order, step, parts=("state",))
    assert tensors_of(result) == set(), "the run holds the weights alone, and they do not differ"


def test_what_the_client_gets(job: Job, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    key, verdict, model = str(tmp_path / "a.pem"), str(tmp_path / "verdict.json"), str(tmp_path / "model")
    assert main(["keygen", key, "--no-passphrase"]) == 0
    assert main(["audit", str(job.run), "--order", str(job.order), "--verdict", verdict, "--key", key]) == 0
    assert main(["export", str(job.run), "--safetensors", model]) == 0
    shown = ["--verdict", verdict, "--key", str(tmp_path / "a.pub.pem")]
    assert main(["verify-weights", model, str(job.run), *shown]) == 0
    assert "2 tensors, each bit for bit" in " ".join(capsys.readouterr().out.split())


def test_a_file_that_changes_while_it_is_read(run: Path) -> None:
    with BundleReader.open(run) as reader:
        reader.checkpoint(STEPS)
        with opened_for_change(run) as file:
            file[f"{last(STEPS)}/bias"][...] = file[f"{last(STEPS)}/bias"][...] + 1
        with pytest.raises(FileChangedError):
            reader.checkpoint(STEPS)


def test_a_second_reader_written_from_the_page_reads_such_a_run(job: Job, run: Path) -> None:
    order, found = Bundle(job.order), Bundle(run)
    found.check_order()
    root = found.check_run()
    # With the order's weights in their place it is a run as others are.
    found.arrays |= {name: array for name, array in order.arrays.items() if name.startswith("order/initial/")}
    found.check_order()
    assert found.check_run() == root
    for edit in (
        lambda records: records[0].update(chunks="00" * 32),
        lambda records: records[:1],
        lambda records: records[::-1],
    ):
        other = Path(shutil.copy(job.run, run.with_name("other.cfoil")))
        edit_records(other, edit)
        with pytest.raises(RefusedError):
            Bundle(other).check_run()
