"""A script that is tried runs by itself as it is, and whatever becomes of it has a name."""

from __future__ import annotations

import math
from collections.abc import Iterable
from pathlib import Path

import pytest
import torch
from tests.fidelity.corpus import CorpusScript
from tests.fidelity.plainrun import LOSS, run_plainly, without_autocast
from tests.fidelity.runs import trials
from tests.fidelity.trial import Trial

BEGIN = """
import torch
from torch import nn

torch.manual_seed(0)
model = nn.Sequential(nn.Linear(3, 4), nn.BatchNorm1d(4), nn.Tanh(), nn.Linear(4, 1))
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
"""
TRAINS = """
for step in range(4):
    optimizer.zero_grad()
    loss = model(torch.randn(6, 3)).square().mean()
    loss.backward()
    optimizer.step()
"""
SCRIPTS = {
    "good/agrees": BEGIN + TRAINS,
    "good/draws": BEGIN.replace("nn.Tanh()", "nn.Dropout(0.5)") + TRAINS,
    "good/within": BEGIN + "def main():\n    model = nn.Linear(3, 1)\n"
    "    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)\n"
    + "".join(f"    {line}\n" for line in TRAINS.strip().splitlines())
    + "main()\nraise SystemExit(0)\n",
    "wrong/after": BEGIN
    + TRAINS.replace("range(4)", "torch.utils.data.DataLoader(range(4))")
    + "with torch.no_grad():\n    model[3].weight.zero_()\n",
    "wrong/decides": BEGIN
    + TRAINS.replace("    loss.backward()", "    loss = loss * [1.0, 2.0][int(loss.item() > 0)]\n    loss.backward()"),
    "wrong/fails": BEGIN + TRAINS + "raise ValueError('no more')\n",
    "wrong/library": "import a_library_of_nobody\n" + BEGIN + TRAINS,
    "wrong/crashes": BEGIN + TRAINS + "import os\nif type(loss) is not torch.Tensor:\n    os._exit(7)\n",
}


def write(folder: Path, name: str, text: str) -> Path:
    path = folder / f"{name}.py"
    path.parent.mkdir(exist_ok=True, parents=True)
    path.write_text(text, encoding="utf-8")
    return path


QUICK = ("good/agrees", "wrong/library")
"""Those that are tried always: one that is ordered, and one that does not run."""


def _tried(factory: pytest.TempPathFactory, names: Iterable[str]) -> dict[str, Trial]:
    folder = factory.mktemp("scripts")
    for name in names:
        write(folder, name, SCRIPTS[name])
    found = {trial.name: trial for trial in trials(factory.mktemp("trials"), "--folder", str(folder), "--jobs", "2")}
    assert sorted(found) == sorted(names)
    return found


@pytest.fixture(scope="module")
def tried(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Trial]:
    return _tried(tmp_path_factory, QUICK)


@pytest.fixture(scope="module")
def tried_slowly(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Trial]:
    return _tried(tmp_path_factory, SCRIPTS.keys() - set(QUICK))


@pytest.mark.parametrize(
    ("name", "outcome", "sentence"),
    [
        ("good/agrees", "agrees", ""),
        ("wrong/library", "missing", "not installed: a_library_of_nobody"),
    ],
)
def test_what_becomes_of_a_script(name: str, outcome: str, sentence: str, tried: dict[str, Trial]) -> None:
    assert tried[name].outcome == outcome, tried[name]
    assert sentence in tried[name].sentence


@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "outcome", "sentence"),
    [
        ("good/draws", "draws", "without its draws it agrees"),
        ("good/within", "agrees", ""),
        # What is done to the weights behind the last step is a part of it.
        ("wrong/after", "agrees", ""),
        ("wrong/decides", "refused", "is used as a size or an index"),
        ("wrong/fails", "broken", "ValueError: no more"),
        ("wrong/crashes", "crash", "ended with 7"),
    ],
)
def test_what_becomes_of_another_script(name: str, outcome: str, sentence: str, tried_slowly: dict[str, Trial]) -> None:
    test_what_becomes_of_a_script(name, outcome, sentence, tried_slowly)


def test_steps_are_counted_on_both_sides(tried: dict[str, Trial]) -> None:
    assert (tried["good/agrees"].steps, tried["good/agrees"].ordered) == (4, 4)


def test_no_script_is_left_behind(tried: dict[str, Trial], tmp_path_factory: pytest.TempPathFactory) -> None:
    """What a trial says names the script, and not the folder that it was tried in."""
    assert tried
    for trial in tried.values():
        assert "counterfoil-fidelity-" not in trial.sentence + trial.said


def test_a_plain_run_keeps_what_the_script_did(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sys.argv", [])
    monkeypatch.syspath_prepend(str(tmp_path))
    text = (
        BEGIN
        + "average = torch.optim.swa_utils.AveragedModel(model)\n"
        + TRAINS
        + "    average.update_parameters(model)\n"
    )
    plain = run_plainly(write(tmp_path, "good/average", text))
    assert plain.events == [LOSS, 0] * 4
    assert len(plain.losses_before_the_last_step) == 4
    assert not plain.many
    by_name = {held.names[-1]: held for held in plain.held}
    weight, average = by_name["model.0.weight"], by_name["average.module.0.weight"]
    assert (weight.trained, weight.beside_trained) == (True, True)
    assert (average.trained, average.beside_trained) == (False, False)
    for each in (weight, average):
        assert each.initial is not None
        assert not torch.equal(each.initial, each.final)
    assert by_name["model.1.running_mean"].beside_trained


def test_a_shaken_run_differs_by_rounding_alone(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sys.argv", [])
    monkeypatch.syspath_prepend(str(tmp_path))
    script = write(tmp_path, "good/script", BEGIN + TRAINS)
    plain, shaken = run_plainly(script), run_plainly(script, shaken=1)
    assert plain.losses != shaken.losses
    for one, other in zip(plain.losses, shaken.losses, strict=True):
        assert math.isclose(one, other, rel_tol=1e-4)


def test_mixed_precision_is_off_within_and_on_again_afterwards() -> None:
    def kind() -> torch.dtype:
        with torch.autocast("cpu", dtype=torch.bfloat16):
            return (torch.ones(2, 2) @ torch.ones(2, 2)).dtype

    with without_autocast():
        assert kind() is torch.float32
    assert kind() is torch.bfloat16


def test_what_a_script_imports_is_read_without_running_it(tmp_path: Path) -> None:
    text = "raise SystemExit\nfrom transformers import Trainer\nimport numpy, a_library_of_nobody.part\n"
    script = CorpusScript.of(write(tmp_path, "idiom/name", text))
    assert script.name == "idiom/name"
    assert script.idiom == "idiom"
    assert script.imports == ("from transformers import Trainer",)
    assert script.missing == ("a_library_of_nobody",)
