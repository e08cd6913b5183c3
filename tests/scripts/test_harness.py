"""What tries public scripts counts the lines that were changed, says what became of them, and writes a true page."""

from __future__ import annotations

import json
import os
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from tests.scripts import campaign
from tests.scripts.campaign import HERE, PROFILES, BrokenError, MissingError, Trial, copied, own_losses, tried
from tests.scripts.entries.table import SCRIPTS
from tests.scripts.entry import Change, Script, StaleError, changed_lines
from tests.scripts.results import PAGE, page, results

TRAINS = """\
import sys

import torch
from torch import nn

import helper

torch.manual_seed(int(sys.argv[1]))
model = nn.Linear(4, 2)
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
rows = torch.load("rows.pt")
for _step in range(5):
    loss = helper.loss(model(rows))
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
"""
HELPER = "def loss(predicted):\n    return predicted.square().mean()\n"
SIZE = (Change("training/train.py", "4, 2", "4, 1", "small"),)


def rows(folder: Path) -> None:
    import torch

    torch.save(torch.arange(12.0).reshape(3, 4), folder / "rows.pt")


SCRIPT = Script(
    "a small script",
    "owner/name",
    "training/train.py",
    ("7",),
    needs=("library/helper.py",),
    imports=("library",),
    materials=rows,
    steps=2,
)


def write_sources(folder: Path) -> Path:
    """A folder of fetched sources, of one repository."""
    top = folder / "sources/owner/name"
    for path, text in (("training/train.py", TRAINS), ("library/helper.py", HELPER)):
        (top / path).parent.mkdir(parents=True)
        (top / path).write_text(text, encoding="utf-8")
    return folder / "sources"


@pytest.fixture
def sources(tmp_path: Path) -> Path:
    return write_sources(tmp_path)


@pytest.fixture(scope="module")
def trial(tmp_path_factory: pytest.TempPathFactory) -> Trial:
    """The small script, as it is and under one profile."""
    folder = tmp_path_factory.mktemp("trial")
    return tried(SCRIPT, write_sources(folder), folder / "tried", ("float64-24",))


@pytest.mark.parametrize(
    ("after", "count"),
    [("a\nb\nc\n", 0), ("a\nB\nc\n", 1), ("a\nb\nb2\nc\n", 1), ("a\nc\n", 1), ("a\nB\nB2\nc\n", 2), ("x\ny\nz\n", 3)],
)
def test_a_replaced_line_counts_once_as_does_an_added_or_removed_one(after: str, count: int) -> None:
    assert changed_lines("a\nb\nc\n", after) == count


def test_lines_for_counterfoil_and_lines_for_the_size_are_counted_apart(sources: Path, tmp_path: Path) -> None:
    script = replace(
        SCRIPT,
        changes=(Change("training/train.py", "range(5)", "range(2)", "fewer steps"),),
        size=(Change("library/helper.py", "    return predicted", "    # Twice.\n    return 2 * predicted", "twice"),),
    )
    copy = copied(script, sources, tmp_path / "copy")
    assert (copy.changed, copy.resized) == (1, 2)
    assert "range(2)" in copy.path.read_text(encoding="utf-8")
    assert (sources / "owner/name/training/train.py").read_text(encoding="utf-8") == TRAINS


def test_a_change_that_does_not_fit_the_fetched_file_is_an_error(sources: Path, tmp_path: Path) -> None:
    script = replace(SCRIPT, changes=(Change("training/train.py", "range(6)", "range(2)", "fewer steps"),))
    with pytest.raises(StaleError, match=r"has the changed lines 0 times"):
        copied(script, sources, tmp_path / "copy")


def test_what_was_not_fetched_or_installed_is_named(sources: Path, tmp_path: Path) -> None:
    with pytest.raises(MissingError, match=r"other/name"):
        copied(replace(SCRIPT, repository="other/name"), sources, tmp_path / "copy")
    with pytest.raises(MissingError, match=r"not installed: a_library_of_nobody"):
        tried(replace(SCRIPT, libraries=("a_library_of_nobody",)), sources, tmp_path / "copy")


def test_a_script_that_does_not_run_is_no_refusal(sources: Path, tmp_path: Path) -> None:
    with pytest.raises(BrokenError, match=r"invalid literal for int"):
        own_losses(copied(replace(SCRIPT, arguments=("seven",)), sources, tmp_path / "copy"))


@pytest.mark.slow
def test_a_small_script_is_whole_with_the_losses_of_its_own(trial: Trial) -> None:
    assert [outcome.verdict for outcome in trial.outcomes] == ["VERIFIED"], trial.outcomes
    assert trial.outcomes[0].compared == "all 2 steps"
    assert len(trial.own) == len(trial.outcomes[0].losses) == 2
    assert trial.difference is not None
    assert trial.difference < 1e-6
    assert trial.own[0] != trial.own[1]


@pytest.mark.slow
def test_a_loss_counts_once_under_a_default_device(sources: Path, tmp_path: Path, trial: Trial) -> None:
    device = Change(
        "training/train.py", "torch.manual_seed", "torch.set_default_device('cpu')\ntorch.manual_seed", "it"
    )
    assert own_losses(copied(replace(SCRIPT, changes=(device,)), sources, tmp_path / "device")) == list(trial.own)


@pytest.mark.slow
def test_a_refusal_is_kept_with_its_sentence_and_without_the_folder(sources: Path, tmp_path: Path) -> None:
    copy = copied(SCRIPT, sources, tmp_path / "tried")
    copy.path.unlink()
    outcome = campaign._becomes(copy, "float64-24")
    assert outcome.verdict == "refused"
    assert "train.py" in outcome.sentence
    assert str(tmp_path) not in outcome.sentence


def test_a_command_that_never_ends_is_a_refusal_with_its_time(
    sources: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(campaign, "SECONDS", 3)
    waits = Change("training/train.py", "import sys", "import sys, time\n\ntime.sleep(60)", "it waits")
    with pytest.raises(BrokenError, match=r"ERROR  not done within 3 seconds"):
        own_losses(copied(replace(SCRIPT, changes=(waits,)), sources, tmp_path / "copy"))


def test_the_cells_of_a_notebook_are_a_script_without_the_commands_of_its_shell(sources: Path, tmp_path: Path) -> None:
    cells = [
        {"cell_type": "markdown", "source": ["%not code"]},
        {"cell_type": "code", "source": ["%matplotlib inline\n", "a = 7 % 4"]},
        {"cell_type": "code", "source": ["if a:\n", "    !ls\n", "    pass"]},
    ]
    (sources / "owner/name/training/pages.ipynb").write_text(json.dumps({"cells": cells}), encoding="utf-8")
    copy = copied(replace(SCRIPT, path="training/pages.ipynb"), sources, tmp_path / "copy")
    assert copy.path.read_text(encoding="utf-8") == "# matplotlib inline\na = 7 % 4\n\nif a:\n    # ls\n    pass\n"


def test_libraries_in_a_folder_of_their_own_are_found_after_the_stand_ins(
    sources: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PYTHONPATH", "elsewhere")
    paths = copied(replace(SCRIPT, standins=("wandb",)), sources, tmp_path / "copy").environment()["PYTHONPATH"]
    names = [Path(path).name for path in paths.split(os.pathsep)]
    assert names == ["wandb", "library", "elsewhere"]


def row(changed: int, verdict: str, **more: Any) -> dict[str, Any]:
    verdicts = dict.fromkeys(PROFILES, verdict)
    compared = dict.fromkeys(PROFILES, "all 3 steps") if verdict == "VERIFIED" else {}
    known = {"changed": changed, "resized": 2, "difference": 3e-8, "verdicts": verdicts, "sentences": {}}
    return known | {"compared": compared} | more


def test_the_page_counts_what_is_whole_and_gives_each_refusal_its_sentence() -> None:
    scripts = tuple(replace(SCRIPT, name=name, size=SIZE) for name in "abcd")
    refused = row(3, "refused", sentences=dict.fromkeys(PROFILES, "ERROR  a|b"), difference=None)
    partly = row(1, "VERIFIED", compared=dict.fromkeys(PROFILES, "2 of 3 steps, first in 1"))
    kept = {"a": row(0, "VERIFIED"), "b": partly, "c": refused}
    written = page(kept, scripts)
    assert "Of 4 scripts in the table 3 were tried. Whole under both profiles: 2, 1 of them without a" in written
    assert "median of the changed lines is 1." in written
    assert "the product compared those of 1 scripts with what the script itself does" in written
    assert "| 3.0e-08 | 2 lines in every run: small. compared in 2 of 3 steps, first in 1 |" in written
    assert "train.py | 0 | VERIFIED | VERIFIED | 3.0e-08 | 2 lines in every run: small |" in written
    assert "| 3 | refused | refused |  | 2 lines in every run: small. ERROR  a\\|b |" in written


def test_the_page_is_what_the_results_give() -> None:
    assert PAGE.read_text(encoding="utf-8") == page(results()), "run python -m tests.scripts --page"


def test_every_entry_is_one_of_the_table_and_each_stand_in_is_there() -> None:
    names = [script.name for script in SCRIPTS]
    assert len(set(names)) == len(names) == 82
    assert set(results()) <= set(names)
    for script in SCRIPTS:
        for name in script.standins:
            assert (HERE / "standins" / name / name).is_dir()
