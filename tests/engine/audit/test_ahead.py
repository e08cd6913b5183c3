"""Recordings and audits whose rounders run ahead of the device, forced on the CPU: runs, verdicts and counts stay."""

from __future__ import annotations

from functools import partial
from pathlib import Path

import pytest
import torch

from counterfoil_core.arithmetic import machine, profiles
from counterfoil_core.arithmetic.grid.ahead import RecordingAhead, ReplayingAhead
from counterfoil_core.arithmetic.grid.fingerprints import Kernels
from counterfoil_core.arithmetic.grid.log import SiteLog
from counterfoil_core.bundle.reader import BundleReader
from counterfoil_core.signing.keys import SigningKey
from counterfoil_core.values.outcome import Outcome
from support.forgery import rewrite_log
from support.jobs import Job, audited, digits_order, record_job, sign_again
from support.triton_device import DEVICES

STEPS = 1
pytestmark = pytest.mark.parametrize("device", DEVICES)


@pytest.fixture(scope="module")
def job(tmp_path_factory: pytest.TempPathFactory, trainer_key: SigningKey) -> Job:
    """An ordinary recording, on the CPU."""
    return record_job(tmp_path_factory.mktemp("ordinary"), drafted(), trainer_key)


def drafted():
    return digits_order(steps=STEPS, batch_size=4, width=4, checkpoint_every=STEPS)


@pytest.fixture
def made(monkeypatch: pytest.MonkeyPatch) -> list[object]:
    """Rounders run ahead on any device meanwhile; what was made of them."""
    rounders: list[object] = []

    def noted(make, *arguments, **settings):
        rounders.append(make(*arguments, **settings))
        return rounders[-1]

    class Noted:
        def __init__(self, precision):
            self._own = profiles.arithmetic_of(precision)
            self.recorder, self.replayer = partial(noted, self._own.recorder), partial(noted, self._own.replayer)

        def __getattr__(self, name):
            return getattr(self._own, name)

    monkeypatch.setattr(machine, "Kernels", partial(Kernels, run_ahead=True))
    for module in ("counterfoil.training.execution", "counterfoil_core.replay.replayer"):
        monkeypatch.setattr(f"{module}.arithmetic_of", Noted)
    return rounders


def run_root(run: Path) -> bytes:
    with BundleReader.open(run) as reader:
        return b"".join(record.to_bytes() for record in reader.step_records())


@pytest.mark.slow
def test_recording_and_audit_are_the_same(device: str, job: Job, made: list[object], tmp_path, trainer_key) -> None:
    other = record_job(tmp_path, drafted(), trainer_key, device=device)
    assert [type(one) for one in made] == [RecordingAhead]
    if torch.device(device).type == "cpu":
        assert run_root(other.run) == run_root(job.run)
    for run in (job.run, other.run):
        report = audited(run, job.order, device=device).report
        assert report.outcome is Outcome.VERIFIED, report.reason
        assert (report.contradictions, report.omissions) == (0, 0)
    assert [type(one) for one in made[1:]] == [ReplayingAhead] * 2
    assert not any(one.waits for one in made)


@pytest.mark.slow
def test_a_wrong_log_is_found_as_ever(device: str, job: Job, monkeypatch, tmp_path, trainer_key) -> None:
    """An entry for a value that is far from every midpoint; the trainer signs it."""
    run = tmp_path / "forged.cfoil"
    run.write_bytes(job.run.read_bytes())

    def invent(logs: list[SiteLog], elements: list[int]) -> list[SiteLog]:
        log = logs[0]
        free = next(index for index in range(100) if index not in log.indices)
        indices = sorted([*log.indices.tolist(), free])
        ups = [bool(log.ups[log.indices == index][0]) if index in log.indices else True for index in indices]
        return [SiteLog(log.exponent, torch.tensor(indices).numpy(), torch.tensor(ups).numpy()), *logs[1:]]

    rewrite_log(run, 1, invent)
    sign_again(run, trainer_key)
    ordinary = audited(run, job.order, device=device).report
    monkeypatch.setattr(machine, "Kernels", partial(Kernels, run_ahead=True))
    ahead = audited(run, job.order, device=device).report
    assert ordinary.contradictions == ahead.contradictions == 1
    assert ordinary.outcome is ahead.outcome is not Outcome.VERIFIED
    assert (ordinary.corrections, ordinary.omissions) == (ahead.corrections, ahead.omissions)
