"""Scripts that are run as they are: what they see, how they end, and that nothing stays of them."""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Callable
from pathlib import Path
from types import ModuleType

import numpy as np
import pytest
import torch
from torch import nn
from torch._subclasses.fake_tensor import FakeTensorMode
from torch.nn import functional

from counterfoil.cli import main
from counterfoil.training.custom import CustomJob
from counterfoil.training.scripts import run
from counterfoil.training.scripts.handover import ScriptOrder, Wanted
from counterfoil.training.scripts.patches import Patches
from counterfoil.training.scripts.run import Takeover
from counterfoil_core.base.errors import DataError
from counterfoil_core.base.precision import PROFILES
from counterfoil_core.bundle.reader import BundleReader
from counterfoil_core.values.outcome import Outcome
from support.bundles import test_key
from support.jobs import audited, record_run

LIBRARY = """
class Trainer:
    def __init__(self, steps):
        self.steps = steps
    def train(self):
        import torch
        from torch.nn import functional
        torch.manual_seed(0)
        model, rows = torch.nn.Linear(3, 2), torch.randn(8, 3)
        optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
        for step in range(self.steps):
            batch = rows[4 * step % 8 :][:4]
            loss = functional.mse_loss(model(batch), batch[:, :2])
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
        print("trained")
"""
SCRIPT = """
import sys
from a_library import Trainer
from beside import STEPS

if __name__ == "__main__":
    print("begun", sys.argv[1:])
    try:
        Trainer(STEPS).train()
    except Exception:
        print("held up")
    print("went on")
"""


def job(steps: int) -> CustomJob:
    torch.manual_seed(0)
    model, rows = nn.Linear(3, 2), torch.randn(8, 3)
    rule = torch.optim.SGD(model.parameters(), lr=0.1)
    turns = np.arange(4 * steps, dtype=np.int64).reshape(steps, 4) % 8
    return CustomJob(
        "A script", model, lambda m, b: functional.mse_loss(m(b), b[:, :2]), rule, rows, steps, schedule=turns
    )


def patch(library: ModuleType, wanted: Wanted, patches: Patches) -> None:
    patches.put(library.Trainer, "train", lambda self: wanted.hand_over(job(wanted.steps(self.steps)), ["Taken."]))


@pytest.fixture
def script(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[..., Path]:
    """Writes a script beside a library whose training is taken over; the current folder is another."""
    monkeypatch.setattr(run, "TAKEOVERS", (Takeover("a_library", patch),))
    place = tmp_path / "place"
    place.mkdir()
    (place / "a_library.py").write_text(LIBRARY)
    (place / "beside.py").write_text("STEPS = 3\n")
    (tmp_path / "elsewhere").mkdir()
    monkeypatch.chdir(tmp_path / "elsewhere")
    for name in ("a_library", "beside"):
        monkeypatch.delitem(sys.modules, name, raising=False)

    def write(text: str = SCRIPT) -> Path:
        (place / "train.py").write_text(text)
        return place / "train.py"

    return write


def test_the_training_of_a_script_is_ordered_and_verified(
    script: Callable[..., Path], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    order = tmp_path / "job.cfoil"
    profile = ["--precision", "exact-20", "--max-steps", "2"]
    assert main(["order", "--script", str(script()), "--out", str(order), *profile, "--", "--lr", "1", "--out"]) == 0
    shown = capsys.readouterr().out
    assert "begun ['--lr', '1', '--out']" in shown
    assert "Taken." in shown
    # It was trained to its end, twice, for nobody to see; here it was taken over.
    assert "trained" not in shown
    assert "Compared with the script in all 2 steps." in shown
    assert "went on" not in shown
    with BundleReader.open(order) as reader:
        assert (reader.manifest.steps, reader.manifest.precision) == (2, PROFILES["exact-20"])
    made = record_run(order, tmp_path / "run.cfoil", test_key(tmp_path))
    assert audited(made, order).report.outcome is Outcome.VERIFIED


def test_nothing_stays_of_a_script(script: Callable[..., Path]) -> None:
    path = script("import os, sys\nimport a_library\nos.chdir('..')\nsys.argv.append('x')\nsys.path.append('gone')\n")
    before = sys.argv, list(sys.path), os.getcwd(), list(sys.meta_path), sys.modules["__main__"]
    with pytest.raises(DataError, match="no training began that can be ordered") as caught:
        run.run_script(path, [], Wanted())
    assert "counterfoil.loop" in caught.value.remedy
    assert (sys.argv, sys.path, os.getcwd(), sys.meta_path, sys.modules["__main__"]) == before
    assert sys.modules["a_library"].Trainer.train.__module__ == "a_library"


def test_modes_that_a_script_was_ended_in_are_left() -> None:
    with run._as_it_was():
        mode, evaluation = FakeTensorMode(), torch.inference_mode()
        mode.__enter__()
        evaluation.__enter__()
        mode.__exit__(None, None, None)
        # It puts back what was there when it began, and the mode is no more.
        evaluation.__exit__(None, None, None)
        with pytest.raises(RuntimeError, match="Hit Python dispatch key"):
            torch.from_numpy(np.zeros(2))
    assert torch.from_numpy(np.zeros(2)).tolist() == [0.0, 0.0]


def test_a_library_that_is_loaded_already_is_taken_over(script: Callable[..., Path]) -> None:
    with pytest.raises(DataError):
        run.run_script(script("import a_library"), [], Wanted())
    assert "a_library" in sys.modules
    made = run.run_script(script(), [], Wanted())
    assert made.draft.manifest.steps == 3
    assert made.notes == ("Taken.",)


def test_a_script_that_catches_everything_is_ordered_all_the_same(
    script: Callable[..., Path], capsys: pytest.CaptureFixture[str]
) -> None:
    path = script(SCRIPT.replace("except Exception", "except BaseException") + "    raise OSError\n")
    assert run.run_script(path, [], Wanted()).draft.manifest.steps == 3
    assert "went on" in capsys.readouterr().out  # the control of what was caught


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("\nint('a')", r"train.py failed: ValueError: invalid literal .*train.py, line 2\)"),
        ("import absent_library", r"train.py failed: ModuleNotFoundError: .*'absent_library' \(.*train.py, line 1\)"),
        ("if", r"train.py failed: SyntaxError: invalid syntax \(.*train.py, line 1\)"),
        ("import sys\nsys.exit(2)", "train.py ended before it began to train with the exit code 2"),
        ("raise SystemExit('no data.')", r"train.py ended before it began to train: no data\.$"),
        ("raise SystemExit", "no training began"),
        ("import a_library", "no training began"),
    ],
)
def test_how_a_script_ends_is_said(script: Callable[..., Path], text: str, sentence: str) -> None:
    with pytest.raises(DataError) as caught:
        run.run_script(script(text), [], Wanted())
    assert re.search(sentence, caught.value.sentence), caught.value.sentence


def test_who_stops_the_command_is_not_answered_by_the_script(script: Callable[..., Path]) -> None:
    with pytest.raises(KeyboardInterrupt):
        run.run_script(script("raise KeyboardInterrupt"), [], Wanted())


def test_what_runs_a_script_may_make_an_order_of_it(script: Callable[..., Path]) -> None:
    seen: list[str] = []

    def around(go: Callable[[], None]) -> ScriptOrder | None:
        seen.append("before")
        go()
        seen.append("after")
        return ScriptOrder(job(5).draft(), ("Followed.",))

    made = run.run_script(script("import beside"), [], Wanted(), around=around)
    assert (made.draft.manifest.steps, made.notes, seen) == (5, ("Followed.",), ["before", "after"])
    # A library's training goes before: the follower only sees that it ends.
    assert run.run_script(script(), [], Wanted(), around=around).notes == ("Taken.",)
    assert seen == ["before", "after", "before"]


def test_a_profile_is_chosen_beforehand_where_nobody_can_be_asked() -> None:
    with pytest.raises(DataError) as caught:
        Wanted().profile("It computes in bfloat16.", ["float32-bfloat16", "float64-24"])
    assert "--precision float32-bfloat16 or --precision float64-24" in caught.value.remedy
    wanted = Wanted(choose=lambda question, names: PROFILES[names[1]])
    assert wanted.profile("?", ["float32-bfloat16", "float64-24"]) is PROFILES["float64-24"]
    assert Wanted(PROFILES["exact-20"]).profile("?", []) is PROFILES["exact-20"]


@pytest.mark.parametrize(
    "options",
    [["--script", "t.py"], ["--max-steps", "3", "--from", "a:b", "--out", "o"], ["--script", "t", "--from", "a:b"]],
)
def test_options_that_do_not_fit_together(options: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["order", *options]) == 4
    assert "--script" in capsys.readouterr().err
