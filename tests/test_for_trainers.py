"""Runs the scripts of docs/for-trainers.md before and after, and compares what they trained."""

from __future__ import annotations

import doctest
import re
import runpy
import shlex
import sys
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest
import torch

from counterfoil.cli import main
from counterfoil_core.bundle.reader import BundleReader
from counterfoil_core.values.outcome import Outcome
from support.bundles import test_key
from support.jobs import audited, record_run

PAGE = (Path(__file__).parents[1] / "docs" / "for-trainers.md").read_text(encoding="utf-8")
FLAGS = doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE
SCRIPTS = {
    block.partition("\n")[0].removeprefix("# "): block
    for block in re.findall(r"^```python\n(.*?)^```", PAGE, re.MULTILINE | re.DOTALL)
}
ORDERS = [
    block.removeprefix("$ counterfoil ").partition("\n")
    for block in re.findall(r"^```console\n(.*?)^```", PAGE, re.MULTILINE | re.DOTALL)
]


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """The current folder, with the page's scripts as files."""
    for name, block in SCRIPTS.items():
        (tmp_path / name).write_text(block, encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    yield tmp_path
    for name in SCRIPTS:
        sys.modules.pop(name.removesuffix(".py"), None)


def ordered_and_run(number: int, folder: Path, capsys: pytest.CaptureFixture[str]) -> Path:
    """Run the page's command line, record and audit its order; returns the run."""
    command, _, expected = ORDERS[number]
    assert main(shlex.split(command)) == 0
    printed = capsys.readouterr().out
    assert doctest.OutputChecker().check_output(expected, printed, FLAGS), printed
    order = folder / shlex.split(command)[-1]
    run = record_run(order, folder / "run.cfoil", test_key(folder))
    report = audited(run, order, perturbation="reversed").report
    assert report.outcome is Outcome.VERIFIED, report.reason
    return run


def final_state(run: Path) -> dict[str, np.ndarray]:
    with BundleReader.open(run) as reader:
        return dict(reader.checkpoint(reader.manifest.steps))


def test_the_page_has_its_scripts_before_and_after() -> None:
    loops = ["loop_before.py", "loop_recorded.py", "loop_after.py"]
    assert list(SCRIPTS) == ["from_code.py", *loops, "trainer_before.py", "trainer_after.py"]
    assert len(ORDERS) == 3


@pytest.mark.parametrize(
    ("number", "order"), [pytest.param(0, "followed.cfoil", marks=pytest.mark.slow), (1, "loop.cfoil")]
)
def test_the_loop_and_its_order_train_the_same(
    number: int, order: str, folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    runpy.run_path("loop_before.py")
    state = final_state(ordered_and_run(number, folder, capsys))
    trained = torch.load("model.pt", weights_only=True)
    # A control: they are far from where they began.
    with BundleReader.open(folder / order) as reader:
        initial = reader.check_order_contents().initial
    for name, weights in trained.items():
        np.testing.assert_allclose(state[name], weights.numpy(), rtol=0, atol=2e-5)
        assert np.abs(initial[name] - weights.numpy()).max() > 1e-2


def test_the_loop_over_recorded_steps_trains_the_same(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    test_key(folder)
    runpy.run_path("loop_before.py")
    before = capsys.readouterr().out
    runpy.run_path("loop_recorded.py")
    assert re.sub(r"loss .*", "", capsys.readouterr().out) == re.sub(r"loss .*", "", before)
    trained, recorded = torch.load("model.pt", weights_only=True), torch.load("recorded.pt", weights_only=True)
    for name, weights in trained.items():
        np.testing.assert_allclose(recorded[name].numpy(), weights.numpy(), rtol=0, atol=2e-5)
    assert audited(folder / "recorded.cfoil", folder / "loop_recorded.cfoil").report.outcome is Outcome.VERIFIED


@pytest.mark.slow
def test_the_trainer_and_its_order_train_the_same(
    folder: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    pytest.importorskip("accelerate", reason="the Trainer needs the library accelerate")
    from safetensors.numpy import load_file

    from support import small_models

    small_models.gpt2(folder / "model", resid_pdrop=0.0, embd_pdrop=0.0, attn_pdrop=0.0)
    (folder / "train.txt").write_text("\n".join(small_models.SENTENCES * 4), encoding="utf-8")
    runpy.run_path("trainer_before.py", run_name="__main__")
    capsys.readouterr()
    monkeypatch.syspath_prepend(folder)
    runpy.run_path("from_code.py")
    assert "Taken over where Trainer.train begins" in capsys.readouterr().err
    with BundleReader.open(folder / "from_code.cfoil") as reader:
        assert (reader.manifest.steps, reader.manifest.seed) == (2, 1)
    state = final_state(ordered_and_run(2, folder, capsys))
    initial = load_file(folder / "model" / "model.safetensors")
    for name, weights in load_file(folder / "trained" / "model.safetensors").items():
        np.testing.assert_allclose(state[name], weights, rtol=0, atol=2e-5)
        assert np.abs(initial[name] - weights).max() > 1e-4
