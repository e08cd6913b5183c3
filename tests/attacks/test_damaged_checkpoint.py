"""A stored state, or any other part of a run, that was damaged: an inspection does not call the run complete."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import h5py
import numpy as np
import pytest

from counterfoil.audit.inspection import inspect, inspect_stages
from counterfoil.audit.values.outcome import CheckNumber, CheckState, Outcome
from counterfoil.cli import main
from support.jobs import Job, opened_for_change

PARTS = ("checkpoints", "log", "fingerprints", "losses", "state_roots")


def flip(path: Path, dataset: str) -> None:
    """Change one bit of a dataset; what the file's structure says stays right."""
    with opened_for_change(path) as file:
        values = file[dataset][...]
        values.reshape(-1).view(np.uint8)[-1] ^= 1
        file[dataset][...] = values


def datasets(path: Path, part: str) -> list[str]:
    with h5py.File(path) as file:
        if part != "checkpoints":
            return [f"/run/{part}"]
        found: list[str] = []
        file["/run/checkpoints"].visititems(
            lambda name, item: found.append(f"/run/checkpoints/{name}") if hasattr(item, "shape") else None
        )
        return found


@pytest.fixture
def run(digits_job: Job, tmp_path: Path) -> Path:
    return Path(shutil.copy(digits_job.run, tmp_path / "run.cfoil"))


def test_control_a_whole_run(run: Path, capsys: pytest.CaptureFixture[str]) -> None:
    summary = inspect(run)
    assert summary.states_checked
    assert "signed and complete" in summary.sentence
    assert main(["inspect", str(run)]) == 0
    assert "stored states have the state roots of their steps" in " ".join(capsys.readouterr().out.split())


@pytest.mark.parametrize("part", PARTS)
def test_every_part_of_a_run(run: Path, part: str, capsys: pytest.CaptureFixture[str]) -> None:
    names = datasets(run, part)
    for name in {names[0], names[len(names) // 2], names[-1]}:
        flip(run, name)
        assert main(["inspect", str(run)]) == Outcome.REFUSED.exit_code, name
        shown = " ".join(capsys.readouterr().out.split())
        assert "complete" not in shown
        assert "damaged or altered after it was signed" in shown
        flip(run, name)
    assert main(["inspect", str(run)]) == 0, "the control: put back, it is whole"


def test_quick_says_what_it_did_not_look_at(run: Path, capsys: pytest.CaptureFixture[str]) -> None:
    flip(run, datasets(run, "checkpoints")[0])
    assert main(["inspect", str(run), "--quick"]) == 0
    shown = " ".join(capsys.readouterr().out.split())
    assert "Its stored states were not looked at." in shown
    assert "complete" not in shown
    assert main(["inspect", str(run), "--quick", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["states_checked"] is False


def test_the_windows_overview_says_the_same(run: Path) -> None:
    flip(run, datasets(run, "checkpoints")[-1])
    *before, last = inspect_stages(run)
    for summary in before:
        assert "complete" not in summary.sentence
        assert not summary.states_checked
    check = last.checks[CheckNumber.COMMITMENTS - 1]
    assert (check.number, check.state) == (CheckNumber.COMMITMENTS, CheckState.FAILED)
    assert "Nothing can be concluded" in last.sentence
    assert last == inspect(run)
