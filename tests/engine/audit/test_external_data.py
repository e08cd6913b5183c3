"""Orders whose data lie in a file of their own: the same training, and no conclusion if it is not the right one."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from torch import nn

from counterfoil.audit.overview import inspect
from counterfoil.bundle.writer import write_data_file
from counterfoil.training.order import OrderDraft
from counterfoil.training.recorder import record
from counterfoil.training.recordingevents import DataChecked, StepRecorded
from counterfoil_core.base.cancel import CancelToken
from counterfoil_core.base.digest import Digest
from counterfoil_core.base.errors import CancelledError, DataError, GivenFileError
from counterfoil_core.signing.keys import SigningKey
from counterfoil_core.values.events import AuditStarted, CheckChanged
from counterfoil_core.values.outcome import CheckNumber, CheckState, Outcome
from support.bundles import flip_bit, test_key
from support.jobs import audited, classify, digits_order, draw, own_order

CONTENTS = CheckNumber.ORDER_CONTENTS


def order() -> OrderDraft:
    """Rows of 4,800 bytes, so that a batch touches some chunks and not all."""
    labels = (np.arange(60) * 7 % 3).astype(np.int64)
    model = nn.Sequential(nn.Linear(1200, 4), nn.Tanh(), nn.Linear(4, 3))
    return own_order(model, classify, {"x": draw((60, 1200), 9), "labels": labels}, steps=4, batch_size=6)


@dataclass(frozen=True)
class Outside:
    """An order, its data file, and an honest run."""

    order: Path
    data: Path
    run: Path
    key: SigningKey
    events: tuple[Any, ...]


@pytest.fixture(scope="module")
def job(tmp_path_factory: pytest.TempPathFactory) -> Outside:
    folder = tmp_path_factory.mktemp("outside")
    paths = folder / "job.cfoil", folder / "big.cfdata", folder / "run.cfoil"
    order().write(paths[0], external_data=paths[1])
    key = test_key(folder)
    return Outside(*paths, key, tuple(record(paths[0], paths[2], key, data=paths[1], threads=1)))


@pytest.mark.parametrize("perturbation", [None, "reversed", "split"])
def test_replay_with_the_data_file_is_verified(job: Outside, perturbation: str | None) -> None:
    result = audited(job.run, job.order, data=job.data, perturbation=perturbation)
    assert result.report.outcome is Outcome.VERIFIED
    assert (result.report.contradictions, result.report.omissions) == (0, 0)
    assert result.check(CONTENTS).state is CheckState.PASSED
    assert "those in big.cfdata too" in result.check(CONTENTS).detail
    assert isinstance(result.events[0], AuditStarted)
    assert any(event.check.state is CheckState.RUNNING for event in result.of(CheckChanged) if event.check.number == 3)


def test_the_training_is_that_of_the_order_with_its_data_inside(job: Outside, tmp_path: Path) -> None:
    manifest = order().write(tmp_path / "job.cfoil")
    events = list(record(tmp_path / "job.cfoil", tmp_path / "run.cfoil", job.key, threads=1))
    losses = [event.loss for event in events if isinstance(event, StepRecorded)]
    assert losses == [event.loss for event in job.events if isinstance(event, StepRecorded)]
    assert manifest.data_file is None
    assert job.order.stat().st_size < job.data.stat().st_size / 2
    assert job.run.stat().st_size < job.data.stat().st_size
    checked = [event for event in job.events if isinstance(event, DataChecked)]
    assert checked[-1].done == checked[-1].total == 60 * (4800 + 8)
    # A data file that an order does not need is not even opened.
    assert audited(tmp_path / "run.cfoil", data=tmp_path / "none").report.outcome is Outcome.VERIFIED


def slip(job: Outside, data: Path | None = None) -> str:
    """What is said of a data file that is not the one: the auditor named it, so that nothing is concluded."""
    with pytest.raises(GivenFileError) as caught:
        audited(job.run, job.order, data=data)
    return caught.value.sentence


def test_without_the_file_nothing_is_judged(job: Outside, tmp_path: Path) -> None:
    assert "keeps its data arrays 'labels', 'x' in a data file, 'big.cfdata', and none was given" in slip(job)
    with pytest.raises(GivenFileError, match="none was given"):
        list(record(job.order, tmp_path / "run.cfoil", job.key))
    assert "There is no file" in slip(job, tmp_path / "gone.cfdata")
    assert list(tmp_path.iterdir()) == []


def test_an_altered_file_serves_neither_auditor_nor_trainer(job: Outside, tmp_path: Path) -> None:
    altered = tmp_path / "big.cfdata"
    altered.write_bytes(job.data.read_bytes())
    flip_bit(altered, "/data/x", element=31_000, bit=1)
    said = slip(job, altered)
    assert "data array 'x'" in said
    assert "differs from what the order commits to" in said
    with pytest.raises(GivenFileError, match="differs") as caught:
        list(record(job.order, tmp_path / "run.cfoil", job.key, data=altered))
    assert caught.value.role == "data"
    assert list(tmp_path.iterdir()) == [altered]


def test_the_data_file_of_another_order_condemns_nobody(job: Outside, tmp_path: Path) -> None:
    digits_order(steps=2).write(tmp_path / "job.cfoil", external_data=tmp_path / "digits.cfdata")
    assert "is int64 of shape [200]; the order says int64 of shape [60]" in slip(job, tmp_path / "digits.cfdata")
    write_data_file(tmp_path / "less.cfdata", {"x": draw((60, 1200), 9)})
    assert "lacks the array 'labels'" in slip(job, tmp_path / "less.cfdata")


def test_a_stranger_s_file_condemns_nobody(job: Outside, tmp_path: Path) -> None:
    for content in (b"\x89HDF\r\n\x1a\n" + b"\xff" * 300, job.data.read_bytes()[:4000], b"{}"):
        path = tmp_path / "hostile.cfdata"
        path.write_bytes(content)
        assert "hostile.cfdata cannot be used" in slip(job, path)


def test_a_file_that_changes_under_the_replay_accuses_nobody(job: Outside, tmp_path: Path) -> None:
    from counterfoil.audit.hearings import run_audit
    from counterfoil_core.values.request import AuditRequest

    path = tmp_path / "big.cfdata"
    path.write_bytes(job.data.read_bytes())
    content = bytearray(job.data.read_bytes())
    spoiled = False
    for event in run_audit(AuditRequest(job.run, job.order, data=path, threads=1)):
        checked = isinstance(event, CheckChanged) and event.check.number == CONTENTS
        if checked and event.check.state is CheckState.PASSED:
            with path.open("rb+") as file:
                file.seek(len(content) // 4)
                file.write(bytes(byte ^ 255 for byte in content[len(content) // 4 : len(content) // 2]))
            spoiled = True
    assert spoiled
    assert event.report.outcome is Outcome.INCONCLUSIVE
    assert "big.cfdata changed while it was read" in event.report.reason
    assert event.report.bundle_digest is None, "nothing can be signed"


def test_a_stopped_check_concludes_nothing(job: Outside, tmp_path: Path) -> None:
    from counterfoil.audit.hearings import run_audit
    from counterfoil_core.values.request import AuditRequest

    token = CancelToken()
    for event in run_audit(AuditRequest(job.run, job.order, data=job.data), token):
        if isinstance(event, CheckChanged) and event.check.number == CONTENTS:
            token.cancel()
    assert event.report.outcome is Outcome.INCONCLUSIVE
    assert event.report.checks[CONTENTS - 1].state is CheckState.WARNING
    token = CancelToken()
    recording = record(job.order, tmp_path / "run.cfoil", job.key, data=job.data, cancel=token)
    while not isinstance(next(recording), DataChecked):
        continue
    token.cancel()
    with pytest.raises(CancelledError):
        list(recording)
    assert list(tmp_path.iterdir()) == []


def test_the_overview_says_what_lies_outside(job: Outside) -> None:
    before = Digest.of(job.data.read_bytes())
    summary = inspect(job.run, job.order)
    assert {array.name: array.file for array in summary.order.data} == {"x": "big.cfdata", "labels": "big.cfdata"}
    check = summary.checks[CONTENTS - 1]
    assert check.state is CheckState.WARNING
    assert "checked before a replay" in check.detail
    assert Digest.of(job.data.read_bytes()) == before


def test_a_data_file_needs_a_name_that_can_stand_in_an_order(tmp_path: Path) -> None:
    with pytest.raises(DataError, match="cannot be called"):
        order().write(tmp_path / "job.cfoil", external_data=tmp_path / "a\nb")
    assert list(tmp_path.iterdir()) == []
