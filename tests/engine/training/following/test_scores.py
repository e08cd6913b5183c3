"""What an evaluation script adds up is counted by the order's own arithmetic, or refused in a sentence."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import torch

from counterfoil.training.following.agreement import StepComparison
from counterfoil.training.following.oracle import order_of_draft
from counterfoil.training.following.tallies import Tallies
from counterfoil.training.order import OrderDraft
from counterfoil.training.scripts.handover import Wanted
from counterfoil_core.arithmetic.compute.interpreter import Interpreter
from counterfoil_core.base.errors import CounterfoilError, DataError, ProgramError
from counterfoil_core.base.precision import PROFILES
from counterfoil_core.order.evaluation import SCORE, score_names
from support.followed import followed, write_script

BEGIN = """
import torch
from torch import nn
from torch.nn import functional as F
from torch.utils.data import DataLoader, TensorDataset

torch.manual_seed(0)
rows, labels = torch.randn(20, 4), torch.randint(0, 3, (20,))
loader = DataLoader(TensorDataset(rows, labels), batch_size=8)
model = nn.Sequential(nn.Linear(4, 8), nn.BatchNorm1d(8), nn.Linear(8, 3)).eval()
torch.set_grad_enabled(False)
"""
COUNTS = """
correct = 0
for x, y in loader:
    correct += (model(x).argmax(1) == y).sum().item()
"""


def order_of(
    folder: Path, text: str, profile: str = "float64-24", counts: Mapping[str, str] | None = None
) -> OrderDraft:
    script = write_script(folder, BEGIN + text)
    wanted = Wanted(PROFILES[profile], takeovers=False, evaluates=True, counts=counts or {})
    draft: OrderDraft = followed(script, wanted=wanted).draft
    return draft


def executed(draft: OrderDraft) -> tuple[dict[str, torch.Tensor], list[float]]:
    """The last state of an order by name, and the loss of each step."""
    order, losses = order_of_draft(draft), []
    state = {name: torch.from_numpy(np.asarray(array).copy()) for name, array in order.initial.items()}
    for step in range(1, order.manifest.steps + 1):
        program = order.programs.of(step)
        result = Interpreter(program, torch.device("cpu")).run(order.inputs(step, state))
        state.update(result.state)
        losses.append(result.loss)
    return state, losses


def counted(draft: OrderDraft) -> Mapping[str, object]:
    """The scores that the order's steps come to, by name."""
    assert draft.manifest.recipe == "script"
    last, _ = executed(draft)
    return {name.removeprefix(SCORE): last[name].tolist() for name in score_names(draft.programs.all)}


RIGHT = 2
"""What the model of BEGIN gets right, by torch itself."""


def test_torch_counts_as_is_said_here() -> None:
    names: dict[str, int] = {}
    before = torch.is_grad_enabled()
    try:
        exec(BEGIN + COUNTS, names)
    finally:
        torch.set_grad_enabled(before)
    assert names["correct"] == RIGHT


@pytest.mark.parametrize(
    ("text", "found"),
    [
        (COUNTS, {"correct": RIGHT}),
        (COUNTS.replace(".sum().item()", ".float().sum().item()"), {"correct": RIGHT}),
        (COUNTS.replace("correct = 0", "correct = 0.0"), {"correct": RIGHT}),
        (COUNTS.replace(".item()", ""), {"correct": RIGHT}),
        (COUNTS.replace("correct += (", "correct += len(y) - (").replace("== y", "!= y"), {"correct": RIGHT}),
        (COUNTS.replace("correct += ", "correct = correct + 2 * "), {"correct": 2 * RIGHT}),
        (COUNTS + "    seen = locals().get('seen', 0)\n    seen += len(y)\n", {"correct": RIGHT, "seen": 20}),
        (COUNTS.replace("+= ", "+= int(").replace(".item()", ")"), {"correct": RIGHT}),
        ("model(rows[:1])\n" + COUNTS, {"correct": RIGHT}),
        (COUNTS + "if correct > 10:\n    print('good')\n", {"correct": RIGHT}),
        (COUNTS + "correct = correct / len(rows)\nprint(f'{correct:.2f}')\n", {"correct": RIGHT}),
    ],
)  # fmt: skip
def test_what_is_added_up_is_counted(tmp_path: Path, text: str, found: Mapping[str, object]) -> None:
    assert counted(order_of(tmp_path, text)) == found


def test_other_weights_count_otherwise(tmp_path: Path) -> None:
    """Nothing of the script's own run is in the order: the counts are those of the weights that it holds."""
    draft = order_of(tmp_path, COUNTS)
    draft = replace(draft, initial={**draft.initial, "2.bias": np.array([1e6, 0.0, 0.0], np.float32)})
    labels = np.concatenate([draft.data[name] for name in draft.data if draft.data[name].dtype == np.int64])
    assert counted(draft)["correct"] == int((labels == 0).sum())
    assert counted(draft)["correct"] != RIGHT


def test_the_loss_of_a_step_is_what_is_added_to_the_first_real_number(tmp_path: Path) -> None:
    text = COUNTS.replace("correct = 0", "correct, loss_sum = 0, 0.0")
    text += "    loss_sum += F.cross_entropy(model(x), y).item() * len(y)\n"
    draft = order_of(tmp_path, text)
    _, losses = executed(draft)
    assert len(losses) == 3
    assert all(loss > 1 for loss in losses)
    assert counted(draft) == {"correct": RIGHT}


def test_a_batch_without_a_loss_has_none_and_counts(tmp_path: Path) -> None:
    text = COUNTS.replace("correct = 0", "correct = loss_sum = 0").replace("for x, y in", "for n, (x, y) in enumerate(")
    text = text.replace("loader:", "loader):")
    text += "    if n != 1:\n        loss_sum += F.cross_entropy(model(x), y).item()\n"
    draft = order_of(tmp_path, text)
    assert [loss > 0 for loss in executed(draft)[1]] == [True, False, True]
    assert counted(draft) == {"correct": RIGHT}


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("print(1)", "called no model"),
        ("for x, y in loader:\n    model(x)\n", "adds up nothing of what its model gives"),
        ("answers = []\nfor x, y in loader:\n    answers += model(x).argmax(1).tolist()\n", "adds up nothing"),
        (COUNTS.replace("sum()", "float().mean()"), "adds to 'correct' a fraction of what it counted"),
        ("torch.set_grad_enabled(True)\noptimizer = torch.optim.SGD(model.parameters(), 0.1)\n"
         "for x, y in loader:\n    F.cross_entropy(model(x), y).backward()\n    optimizer.step()\n" + COUNTS,
         r"trains \(\S+train.py, line 15\), and an evaluation changes no weight. Order the training by"),
        (COUNTS.replace("correct = 0", "correct = 0; model.train()"), r"changes '1\.\w+' of the model that it scores"),
        ("n = 0\nfor x, y in loader:\n    for a, b in zip(model(x).argmax(1), y):\n        n += 1 if a == b else 0\n",
         r"decides by what its model gives \(\S+train.py, line 15\)"),
        (COUNTS + "    try:\n        correct += 1 if model(x)[0, 0] > 0 else 0\n    except Exception:\n        pass\n",
         r"decides by what its model gives \(\S+train.py, line 17\)"),
        (COUNTS.replace("for x", "for _ in loader:\n    if correct > 3:\n        break\nfor x")
         .replace("= 0", "= 0\nfor x, y in loader:\n    correct += (model(x) > 0).sum().item()"),
         r"decides by what its model gives \(\S+train.py, line 17\)"),
        ("n = {}\nfor x, y in loader:\n    for a in model(x).argmax(1).tolist():\n        n.setdefault(a, 0)\n"
         "        n[a] += 1\n", "looks up in 'n' by what its model gives"),
        (COUNTS.replace(".argmax(1) == y).sum().item()", ".argmax(1).numpy() == y.numpy()).sum()"),
         "was computed by other means than torch's"),
        (COUNTS.replace("correct = 0", "correct = torch.zeros((), dtype=torch.int32)").replace(".item()", ""),
         "in a tensor of int32; scores are int64"),
        (COUNTS.replace("correct = 0", "correct = torch.ones((), dtype=torch.int64)").replace(".item()", ""),
         "does not begin at zero"),
        ("class Metric(nn.Module):\n    def __init__(self):\n        super().__init__()\n"
         "        self.register_buffer('hits', torch.zeros((), dtype=torch.int64))\n"
         "    def forward(self, right):\n        self.hits += right.sum()\n"
         "metric = Metric()\nfor x, y in loader:\n    metric(model(x).argmax(1) == y)\n",
         "counts 'hits' in a buffer of a module"),
        (COUNTS.replace(".sum().item()", ".float().sum()"), "as a tensor of floating-point numbers"),
        ("rnn, h, n = nn.GRU(4, 3, batch_first=True), torch.zeros(1, 4, 3), 0\n"
         "for x in rows.view(5, 4, 1, 4):\n    out, h = rnn(x, h)\n    n += (out > 0).sum().item()\n",
         "reads what a step before it computed"),
        ("n = torch.zeros(101, 100, dtype=torch.int64)\n"
         "for x, y in loader:\n    a = model(x).argmax(1)\n    n[y] += a[:, None]\n",
         "more than 10,000 numbers"),
    ],
)  # fmt: skip
def test_what_cannot_be_counted_is_said(tmp_path: Path, text: str, sentence: str) -> None:
    with pytest.raises((DataError, ProgramError), match=sentence):
        order_of(tmp_path, text)


def test_a_count_of_answers_as_close_as_rounding_is_that_of_either(tmp_path: Path) -> None:
    """Both logits are one sum in two orders: float32 and float64 tell them apart by rounding, each otherwise."""
    text = (
        """
model, rows = nn.Linear(64, 2, bias=False).eval(), torch.randn(500, 1).expand(500, 64).contiguous()
model.weight.copy_(torch.stack([model.weight[0], model.weight[0][torch.randperm(64)]]))
loader = [(rows, torch.zeros(500, dtype=torch.int64))]
"""
        + COUNTS
    )
    draft = order_of(tmp_path, text)
    order = order_of_draft(draft)
    names: dict[str, int] = {}
    before = torch.is_grad_enabled()
    try:
        exec(BEGIN + text, names)
    finally:
        torch.set_grad_enabled(before)
    inputs = order.inputs(1, {name: torch.from_numpy(np.asarray(a).copy()) for name, a in order.initial.items()})
    comparison = StepComparison(order.programs.of(1))

    def differs(count: int) -> bool:
        found, *_ = comparison.differences(inputs, {}, {"score:correct": torch.tensor(count)})
        return [each.name for each in found] == ["score:correct"]

    own = names["correct"]
    assert counted(draft)["correct"] != own, "control: float64 counts otherwise"
    assert not differs(own)
    assert differs(501)
    assert differs(-1)


@pytest.mark.parametrize(
    ("counts", "sentence"),
    [
        ({"counted": "total"}, "that counts as 'counted'. Name in --counts what it adds up: correct, seen"),
        ({"correct": "seen"}, "adds up something else that is called 'correct'"),
    ],
)
def test_what_is_named_and_not_counted_is_said(tmp_path: Path, counts: Mapping[str, str], sentence: str) -> None:
    text = COUNTS.replace("correct = 0", "correct = seen = 0") + "    seen += len(y)\n"
    assert counted(order_of(tmp_path, text, counts={"counted": "seen"})) == {"correct": RIGHT, "counted": 20}
    with pytest.raises(DataError, match=sentence):
        order_of(tmp_path, text, counts=counts)


def test_a_coarse_profile_counts_whole_numbers_alone(tmp_path: Path) -> None:
    with pytest.raises(CounterfoilError, match="in floating point, of which the order's profile keeps 8 bits"):
        order_of(tmp_path, COUNTS.replace("sum()", "float().sum()"), "float32-bfloat16")
    assert counted(order_of(tmp_path, COUNTS, "float32-bfloat16")).keys() == {"correct"}


def test_what_source_adds_to_is_found_by_its_place(tmp_path: Path) -> None:
    source = tmp_path / "source.py"
    source.write_text("a += 1\nb = b + c + 1\nd = e + 1\nf['x'] += 1\ng.h += 1\ni[0].j -= 1\nk.add_(1)\nl *= 2\n")
    assert Tallies()._added_in(str(source)) == {"a", "b", "f[]", "h", "j", "k"}
    source.with_name("broken.py").write_text("a += \n")
    assert Tallies()._added_in(str(source.with_name("broken.py"))) == frozenset()
