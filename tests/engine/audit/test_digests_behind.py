"""States are digested while the next step is replayed: what an audit finds, and in which order, does not change."""

from __future__ import annotations

import threading
from pathlib import Path
from typing import Any

import pytest
import torch

from counterfoil.audit.parts.task import Task
from counterfoil.audit.parts.workplace import open_workplace
from counterfoil.training.tamper import LabelFlip
from counterfoil_core.base.digest import Digest
from counterfoil_core.base.generators import finish
from counterfoil_core.bundle.reader import BundleReader
from counterfoil_core.commit.state import state_root
from counterfoil_core.replay import replayer
from counterfoil_core.replay.replayer import Digests
from counterfoil_core.signing.keys import SigningKey
from counterfoil_core.values.events import DisputeLocated, StepReplayed
from counterfoil_core.values.outcome import Outcome
from support.jobs import audited, digits_order, record_run, replace_bytes, sign_again


@pytest.fixture
def behind(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """Every state is digested behind, and never at once; holds how many steps were looked ahead."""
    ahead: list[int] = []
    look_ahead = replayer.StepReplayer.look_ahead

    def noted(self: Any, outcome: Any, claimed: Any, log: Any) -> Any:
        found = look_ahead(self, outcome, claimed, log)
        if found is not None:
            ahead.append(claimed.step)
        return found

    def late(arrays: Any) -> Digest:
        threading.Event().wait(0.15)
        return state_root(arrays)

    monkeypatch.setattr(replayer, "LEAST_BEHIND", 0)
    monkeypatch.setattr(replayer, "state_root", late)
    monkeypatch.setattr(replayer.StepReplayer, "look_ahead", noted)
    return ahead


def long_order(folder: Path) -> Path:
    """Six steps in one segment."""
    path = folder / "job.cfoil"
    digits_order(steps=6, checkpoint_every=6).write(path, trial=False)
    return path


def spoil_log(run: Path, step: int, key: SigningKey) -> None:
    """Sign a log of which nobody can read a step."""
    with BundleReader.open(run) as reader:
        logs = [reader.log(number) for number in range(1, 7)]
    logs[step - 1] = bytes([7]) + logs[step - 1][1:]
    replace_bytes(run, "run/log", b"".join(logs))
    sign_again(run, key)


def found(run: Path, order: Path) -> list[Any]:
    """What an audit says, but for times."""
    result = audited(run, order, continue_after_dispute=True)
    rows = [event.row for event in result.of(StepReplayed)]
    said = [
        (row.step, row.match, row.replay_leaf, row.replay_loss, row.log_entries, row.corrections, row.omissions)
        for row in rows
    ]
    kinds = [type(event) for event in result.events if isinstance(event, (StepReplayed, DisputeLocated))]
    report = result.report
    return [repr(said), kinds, report.outcome, report.reason, repr(report.dispute), report.mismatched_steps]


@pytest.mark.sampled(1)
@pytest.mark.parametrize("lie", ["none", "label", "log", "both"])
def test_the_same_is_found_in_the_same_order(
    tmp_path: Path, trainer_key: SigningKey, request: pytest.FixtureRequest, lie: str
) -> None:
    order = long_order(tmp_path)
    tamper = LabelFlip(4) if lie in ("label", "both") else None
    run = record_run(order, tmp_path / "run.cfoil", trainer_key, tamper=tamper)
    if lie in ("log", "both"):
        spoil_log(run, 5, trainer_key)
    usual = found(run, order)
    ahead: list[int] = request.getfixturevalue("behind")
    assert found(run, order) == usual
    # The step after one that differs is begun as well, and thrown away.
    assert set(ahead) == {"none": {2, 3, 4, 5, 6}, "label": {2, 3, 4, 5}, "log": {2, 3, 4}, "both": {2, 3, 4}}[lie]
    assert usual[2] is (Outcome.VERIFIED if lie == "none" else Outcome.DISPUTED)


@pytest.mark.sampled(1)
@pytest.mark.parametrize("flipped", [None, 4])
def test_a_worker_finds_the_same(
    tmp_path: Path, trainer_key: SigningKey, request: pytest.FixtureRequest, flipped: int | None
) -> None:
    order = long_order(tmp_path)
    tamper = None if flipped is None else LabelFlip(flipped)
    run = record_run(order, tmp_path / "run.cfoil", trainer_key, tamper=tamper)

    def replayed() -> tuple[Any, ...]:
        with open_workplace(Task(str(run), threads=1)) as workplace:
            result = finish(workplace.replay(1))
        return [(s.step, s.leaf, s.loss, s.counted) for s in result.steps], result.sums, result.trouble

    usual = replayed()
    request.getfixturevalue("behind")
    assert replayed() == usual
    assert len(usual[0]) == (6 if flipped is None else flipped)
    assert bool(usual[2]) == (flipped is not None)


def test_one_state_at_a_time_is_held(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(replayer, "LEAST_BEHIND", 0)
    states = [{"a": torch.full((5,), number)} for number in range(4)]
    with Digests() as digests:
        roots = [digests.of(state) for state in states]
        assert all(root.done() for root in roots[:-1])
        assert [root.result() for root in roots] == [state_root({"a": state["a"].numpy()}) for state in states]
