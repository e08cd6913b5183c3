"""Each script of ``evaluations/`` is ordered as what it counts: the score of a recorded run is what the script prints.

The control is a follower that counts something else: its order is refused where it is compared with the script, and is
another score where it is not.
"""

from __future__ import annotations

import contextlib
import runpy
import shutil
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any
from unittest import mock

import pytest
import torch
from tests.fidelity import entry
from torch import Tensor

from counterfoil.audit.runfacts import facts_of
from counterfoil.signing.privatekeys import key_from_seed
from counterfoil.training.following.scores import Scores
from counterfoil.training.following.script import compare_script
from counterfoil.training.order import OrderDraft
from counterfoil.training.orderfile import load_order
from counterfoil_core.base.errors import ProgramError
from counterfoil_core.bundle.reader import BundleReader
from counterfoil_core.values.runfacts import Score
from support.jobs import record_run

FOLDER = Path(__file__).parent / "evaluations"
PRINTED: Mapping[str, Callable[[dict[str, Any]], str]] = {
    "language_model": lambda s: f"{s['right']} of {s['tokens']} tokens, {s['losses']:.3f} nats",
    "meters": lambda s: f"{s['correct']} of {s['total']}, loss {s['losses']:.4f}",
    "own_loop": lambda s: f"{s['hits']} and {s['hits2']}",
    "per_class": lambda s: (
        f"{[s[f'per_class.{n}'] for n in range(3)]} { {name: s[name] for name in ('top1', 'top2')} }"
    ),
    "quickstart": lambda s: f"right {s['correct']}\n",
    "tensor_sums": lambda s: f"{s['correct']} right and {s['wrong']} wrong of {s['seen']}, {s['confusion']}",
}
"""What each prints of its scores."""
ALWAYS = ("tensor_sums",)
SEEN = 3
"""Batches of each script."""


def put(folder: Path, name: str) -> Path:
    return Path(shutil.copy(FOLDER / f"{name}.py", folder))


def recorded(draft: OrderDraft, folder: Path) -> tuple[Score, float]:
    """The score of a recorded run of an order, and the sum of its losses."""
    order = folder / "score.cfoil"
    draft.write(order, trial=False)
    run = record_run(order, folder / "run.cfoil", key_from_seed(b"\6" * 32))
    score = facts_of(run).score
    assert score is not None
    with BundleReader.open(run) as reader:
        return score, float(sum(reader.losses()))


def scores(draft: OrderDraft, folder: Path) -> dict[str, Any]:
    """The same by name, lists in the place of axes."""
    score, losses = recorded(draft, folder)
    found = {one.name: torch.tensor(one.values).reshape(one.shape).tolist() for one in score.counts}
    return found | {"losses": losses}


def test_every_script_has_a_line() -> None:
    assert sorted(path.stem for path in FOLDER.glob("*.py")) == sorted(PRINTED)


@pytest.mark.parametrize(
    "name", [pytest.param(name, marks=() if name in ALWAYS else pytest.mark.slow) for name in PRINTED]
)
def test_the_score_is_what_the_script_prints(name: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    script = put(tmp_path, name)
    with contextlib.chdir(tmp_path):
        runpy.run_path(str(script), run_name="__main__")
        printed = capsys.readouterr().out
        made = entry.scored(script)
    assert made.compared is not None
    assert made.compared.steps == tuple(range(1, SEEN + 1))
    assert PRINTED[name](scores(made.draft, tmp_path)) in printed


def test_counts_with_a_meaning_give_metrics(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    script, counts = put(tmp_path, "language_model"), {"counted": "tokens", "correct": "right", "nats": "nll"}
    with contextlib.chdir(tmp_path):
        runpy.run_path(str(script), run_name="__main__")
        printed = capsys.readouterr().out
        made = entry.scored(script, **counts)
        score, _ = recorded(made.draft, tmp_path)
        assert f"{score.count('correct')} of {score.count('counted')} tokens" in printed
        assert f"perplexity {score.metrics['perplexity']:.3f}\n" in printed
        with BundleReader.open(tmp_path / "score.cfoil") as reader:
            order = load_order(reader)
        with pytest.raises(ProgramError, match="'correct' is a whole number in the order, and none in the script"):
            compare_script(order, script, (), None, lambda _: None)
        text = script.read_text()
        script.write_text(text.replace("== target) & mask", "== target) | mask"))
        with pytest.raises(ProgramError, match="In step 1 the script adds 55 to 'right', and the order another"):
            compare_script(order, script, (), None, lambda _: None, counts)
        script.write_text(text.replace("nll += ", "nll += 1.0 + "))
        with pytest.raises(ProgramError, match=r"with the loss 167\.686, and the script adds 168\.686"):
            compare_script(order, script, (), None, lambda _: None, counts)


def test_control_what_counts_something_else_is_another_score_or_refused(tmp_path: Path) -> None:
    add = Scores._add

    def one_more(self: Scores, name: str, added: Tensor) -> None:
        add(self, name, added + 1)

    script = put(tmp_path, "own_loop")
    with contextlib.chdir(tmp_path), mock.patch.object(Scores, "_add", one_more):
        with pytest.raises(ProgramError, match=r"In step 1 the script adds \d+ to 'hits2?', and the order another"):
            entry.scored(script)
        with entry.uncompared():
            wrong = entry.scored(script)
    found = scores(wrong.draft, tmp_path)
    assert (found["hits"], found["hits2"]) == (11 + SEEN, 21 + SEEN)


def test_an_order_is_compared_with_its_script_later_and_with_no_other(tmp_path: Path) -> None:
    script = put(tmp_path, "own_loop")
    with contextlib.chdir(tmp_path):
        entry.scored(script).draft.write(tmp_path / "score.cfoil", trial=False)
        with BundleReader.open(tmp_path / "score.cfoil") as reader:
            order = load_order(reader)
            assert compare_script(order, script, (), None, lambda _: None).steps == (1, 2, 3)
            script.write_text(script.read_text().replace("p == t", "p != t"))
            with pytest.raises(ProgramError, match="In step 1 the script adds 12 to 'hits', and the order another"):
                compare_script(order, script, (), None, lambda _: None)
