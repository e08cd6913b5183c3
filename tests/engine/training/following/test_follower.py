"""Scripts whose own loops are followed: each is recorded, and compared with what it does as it is."""

from __future__ import annotations

import re
from contextlib import AbstractContextManager, nullcontext
from pathlib import Path

import pytest
import torch
from torch import nn
from torch.optim import Optimizer
from torch.utils.data import DataLoader
from torch.utils.data.dataloader import _BaseDataLoaderIter

from counterfoil_core.base.errors import CounterfoilError, DataError, ProgramError
from support.followed import followed, ordered, plain, recorded, write_script

_CLASSIFIER = """
    import torch
    from torch import nn
    from torch.nn import functional
    from torch.utils.data import DataLoader, TensorDataset

    torch.manual_seed(1)
    images, labels = torch.randn(22, 1, 6, 6), torch.randint(0, 5, (22,))
    loader = DataLoader(TensorDataset(images, labels), batch_size=8, shuffle=True, num_workers=2)
    checks = DataLoader(TensorDataset(images, labels), batch_size=11)
    model = nn.Sequential(nn.Conv2d(1, 4, 3), nn.BatchNorm2d(4), nn.ReLU(), nn.Flatten(), nn.Linear(64, 5))
    optimizer = torch.optim.Adadelta(model.parameters(), lr=1.0)
    scheduler = torch.optim.lr_scheduler.StepLR(optimizer, 1, gamma=0.7)
    for epoch in range(2):
        model.train()
        for number, (x, y) in enumerate(loader):
            optimizer.zero_grad()
            loss = functional.cross_entropy(model(x), y)
            loss.backward()
            optimizer.step()
            print(f"{epoch} {number}: {loss.item():.4f}")
        model.eval()
        right = 0
        with torch.no_grad():
            for x, y in checks:
                right += model(x).argmax(1).eq(y).sum().item()
        print(f"{right} of {len(checks.dataset)}: {100.0 * right / len(checks.dataset):.1f} %")
        scheduler.step()
    torch.save(model.state_dict(), "model.pt")
"""


def test_a_classifier_is_trained_as_the_script_trains_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    script = write_script(tmp_path, _CLASSIFIER)
    made = ordered(script)
    # It ran three times, and what it saves went into copies of its folder.
    assert not (tmp_path / "model.pt").exists()
    assert made.compared is not None
    assert made.compared.steps == (1, 2, 3, 4, 5, 6)
    # 8, 8 and 6 rows in each epoch, and a scheduler that moves on after each.
    assert made.draft.programs.pattern == ("p1", "p1", "p2")
    assert made.draft.manifest.seed == 1
    assert list(made.draft.rates[""]) == pytest.approx([1.0, 1.0, 1.0, 0.7, 0.7, 0.7])
    assert {name: array.shape for name, array in made.draft.data.items()} == {
        "input.1": (22, 1, 6, 6),
        "input.2": (22,),
    }
    run, own = recorded(made.draft, tmp_path), plain(script)
    assert run.losses == pytest.approx(own.losses, abs=1e-5)
    for name, tensor in own.names["model"].state_dict().items():
        torch.testing.assert_close(run.state[name], tensor, atol=2e-5, rtol=0)


_PAIR = """
    import torch
    from torch import nn
    from torch.utils.data import DataLoader, TensorDataset

    torch.manual_seed(0)
    loader = DataLoader(TensorDataset(torch.randn(24, 6), torch.zeros(24)), batch_size=8, shuffle=True)
    maker = nn.Sequential(nn.Linear(4, 12), nn.BatchNorm1d(12), nn.ReLU(True), nn.Linear(12, 6))
    judge = nn.Sequential(nn.Linear(6, 12), nn.LeakyReLU(0.2, inplace=True), nn.Linear(12, 1), nn.Sigmoid())
    of_judge = torch.optim.Adam(judge.parameters(), lr=2e-3, betas=(0.5, 0.999))
    of_maker = torch.optim.Adam(maker.parameters(), lr=1e-3, betas=(0.5, 0.999))
    criterion = nn.BCELoss()
    for epoch in range(2):
        for real, _ in loader:
            judge.zero_grad()
            label = torch.full((len(real),), 1.0)
            one = criterion(judge(real).view(-1), label)
            one.backward()
            made = maker(torch.randn(len(real), 4))
            label.fill_(0.0)
            other = criterion(judge(made.detach()).view(-1), label)
            other.backward()
            of_judge.step()
            maker.zero_grad()
            label.fill_(1.0)
            third = criterion(judge(made).view(-1), label)
            third.backward()
            of_maker.step()
            print("%.4f %.4f" % ((one + other).item(), third.item()))
"""


def test_two_optimizers_are_one_step_of_both(tmp_path: Path) -> None:
    script = write_script(tmp_path, _PAIR)
    made = followed(script)
    assert made.draft.programs.pattern == ("",)
    assert {"maker.0.weight", "judge.0.weight", "moment1:judge.0.weight"} <= made.draft.initial.keys()
    run, own = recorded(made.draft, tmp_path), plain(script)
    assert run.losses == pytest.approx([sum(own.losses[n : n + 3]) for n in range(0, 18, 3)], abs=1e-5)
    # But for a bias that a batch norm takes out again: its gradient is noise, which Adam enlarges.
    for name in ("0.weight", "1.running_mean", "3.weight"):
        torch.testing.assert_close(run.state[f"maker.{name}"], own.names["maker"].state_dict()[name], atol=1e-3, rtol=0)


_LANGUAGE = """
    import math
    import numpy as np
    import torch
    from torch import nn
    from torch.nn import functional

    torch.manual_seed(0)
    text = np.random.RandomState(0).randint(0, 16, 400).astype(np.uint16)

    def get_batch():
        starts = torch.randint(len(text) - 8, (4,))
        x = torch.stack([torch.from_numpy(text[i : i + 8].astype(np.int64)) for i in starts])
        y = torch.stack([torch.from_numpy(text[i + 1 : i + 9].astype(np.int64)) for i in starts])
        return x, y

    class Model(nn.Module):
        def __init__(self):
            super().__init__()
            self.tokens, self.places = nn.Embedding(16, 8), nn.Embedding(8, 8)
            self.norm, self.head = nn.LayerNorm(8), nn.Linear(8, 16, bias=False)
            self.tokens.weight = self.head.weight

        def forward(self, x, y):
            x = self.norm(self.tokens(x) + self.places(torch.arange(x.size(1))))
            return functional.cross_entropy(self.head(x).view(-1, 16), y.view(-1))

    @torch.no_grad()
    def estimate():
        losses = torch.zeros(2)
        model.eval()
        for number in range(2):
            losses[number] = model(*get_batch()).item()
        model.train()
        return losses.mean()

    model, best, number = Model(), 1e9, 0
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-2)
    x, y = get_batch()
    while True:
        for group in optimizer.param_groups:
            group["lr"] = 1e-2 * 0.5 * (1 + math.cos(math.pi * number / 6))
        if number % 2 == 0:
            found = estimate()
            print(f"{number}: {found:.4f}")
            if found < best:
                best = found
                torch.save({"model": model.state_dict(), "best": best}, "best.pt")
        for _ in range(2):
            loss = model(x, y) / 2
            x, y = get_batch()
            loss.backward()
        torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimizer.step()
        optimizer.zero_grad(set_to_none=True)
        number += 1
        if number > 4:
            break
"""


def test_a_loop_without_a_loader_with_rates_by_hand_and_accumulated_gradients(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    script = write_script(tmp_path, _LANGUAGE)
    made = ordered(script)
    assert not (tmp_path / "best.pt").exists()
    assert made.draft.programs.pattern == ("",)
    assert made.compared is not None
    assert made.compared.steps == (1, 2, 3, 4, 5)
    own = plain(script)
    assert own.names["best"] < 1e9
    (said,) = [note for note in made.notes if "decides by a value of the training" in note]
    assert re.search(r"train\.py, line 4\d\), as it did when it ran by itself: (not )?true (in step|each time)", said)
    run, own = recorded(made.draft, tmp_path), plain(script)
    assert run.losses == pytest.approx([sum(own.losses[n : n + 2]) for n in range(0, 10, 2)], abs=1e-5)
    # An AdamW of 1e-2 that is clipped carries differences of the last bits on.
    torch.testing.assert_close(run.state["tokens.weight"], own.names["model"].head.weight.data, atol=1e-3, rtol=0)


_RECURRENT = """
    import torch
    from torch import nn

    torch.manual_seed(0)
    text = torch.randint(0, 10, (11, 3))

    class Model(nn.Module):
        def __init__(self):
            super().__init__()
            self.tokens, self.cell, self.head = nn.Embedding(10, 6), nn.LSTM(6, 6), nn.Linear(6, 10)

        def forward(self, x, state):
            x, state = self.cell(self.tokens(x), state)
            return torch.log_softmax(self.head(x).view(-1, 10), 1), state

    model, criterion, rate, best = Model(), nn.NLLLoss(), 1.0, None
    for epoch in range(EPOCHS):
        model.train()
        state = (torch.zeros(1, 3, 6), torch.zeros(1, 3, 6))
        for start in range(0, 10, 2):
            x, y = text[start : start + 2], text[start + 1 : start + 3].reshape(-1)
            model.zero_grad()
            state = tuple(part.detach() for part in state)
            out, state = model(x, state)
            loss = criterion(out, y)
            loss.backward()
            for parameter in model.parameters():
                parameter.data.add_(parameter.grad, alpha=-rate)
        model.eval()
        with torch.no_grad():
            found = criterion(model(text[:2], (torch.zeros(1, 3, 6), torch.zeros(1, 3, 6)))[0], text[1:3].reshape(-1))
        if not best or found.item() < best:
            best = found.item()
        else:
            rate /= 4.0
"""


def test_a_hidden_state_is_handed_from_step_to_step_and_parameters_are_changed_by_hand(tmp_path: Path) -> None:
    script = write_script(tmp_path, _RECURRENT.replace("EPOCHS", "1"))
    made = followed(script)
    assert {"carried.1", "carried.2"} <= made.draft.initial.keys()
    run, own = recorded(made.draft, tmp_path), plain(script)
    assert run.losses == pytest.approx(own.losses, abs=1e-5)
    for name, tensor in own.names["model"].state_dict().items():
        torch.testing.assert_close(run.state[name], tensor, atol=1e-5, rtol=0)


def test_a_rate_that_hangs_on_a_value_that_nobody_has_seen_is_refused(tmp_path: Path) -> None:
    script = write_script(tmp_path, _RECURRENT.replace("EPOCHS", "2"))
    with pytest.raises(ProgramError, match=r"decides by a value of the training \(.*train\.py, line 3\d\)") as refused:
        followed(script)
    assert refused.value.remedy is not None
    # Before the value is asked for, nothing hangs on it.
    assert followed(script, steps=5).draft.manifest.steps == 5


@pytest.mark.slow
def test_a_rate_that_hangs_on_a_value_goes_as_it_went_where_the_script_was_seen(tmp_path: Path) -> None:
    # It would have to fall by more than it can.
    text = _RECURRENT.replace("EPOCHS", "3").replace("found.item() < best:", "found.item() < best - 9:")
    made = ordered(write_script(tmp_path, text))
    assert made.compared is not None
    assert made.compared.steps == tuple(range(1, 16))
    assert any("decides by a value of the training" in note for note in made.notes)
    column = made.draft.scalars[:, list(made.draft.manifest.scalar_names).index("number.1")].tolist()
    assert column == [-1.0] * 10 + [-0.25] * 5


@pytest.mark.slow
def test_beyond_the_steps_that_were_seen_the_client_says_what_is_decided(tmp_path: Path) -> None:
    script = write_script(tmp_path, _RECURRENT.replace("EPOCHS", "2"))
    with pytest.raises(ProgramError, match=r"in step 10, beyond the 5 steps that it was seen to make") as refused:
        ordered(script, compare=5)
    line = next(n for n, text in enumerate(script.read_text().splitlines(), 1) if "found.item() < best" in text)
    assert f"(--max-steps 9), or say what to take: --answer train.py:{line}=no" in str(refused.value.remedy)
    made = ordered(script, compare=5, answers={f"train.py:{line}": False})
    assert made.draft.manifest.steps == 10
    assert made.compared is not None
    assert made.compared.steps[:5] == (1, 2, 3, 4, 5)
    assert len(made.compared.steps) < 10
    assert any("answered no from step 10 on, as you said" in note for note in made.notes)


_MIXED = """
    import numpy as np
    import torch
    from torch import nn
    from torch.nn import functional
    from torch.utils.data import DataLoader, TensorDataset

    torch.manual_seed(0)
    np.random.seed(0)
    loader = DataLoader(TensorDataset(torch.randn(16, 6), torch.randint(0, 3, (16,))), batch_size=4, shuffle=True)
    model = nn.Linear(6, 3)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    for x, y in loader:
        share = np.random.beta(0.4, 0.4)
        order = torch.randperm(len(x))
        out = model(share * x + (1 - share) * x[order])
        loss = share * functional.cross_entropy(out, y) + (1 - share) * functional.cross_entropy(out, y[order])
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
"""


def test_what_numpy_draws_in_a_step_is_not_frozen(tmp_path: Path) -> None:
    script = write_script(tmp_path, _MIXED)
    made = followed(script)
    assert {"number.1", "number.2"} <= set(made.draft.manifest.scalar_names)
    column = made.draft.scalars[:, made.draft.manifest.scalar_names.index("number.1")]
    assert len(set(column.tolist())) == 4
    own = plain(script)
    assert recorded(made.draft, tmp_path).losses == pytest.approx(own.losses, abs=1e-5)


_REGRESSION = """
    import itertools
    import torch
    from torch.nn import functional

    torch.manual_seed(0)
    layer = torch.nn.Linear(3, 1)
    for number in itertools.count(1):
        x = torch.randn(8, 3)
        layer.zero_grad()
        output = functional.smooth_l1_loss(layer(x), x.sum(1, keepdim=True))
        loss = output.item()
        output.backward()
        for parameter in layer.parameters():
            parameter.data.add_(-0.1 * parameter.grad)
        if loss < 0.2:
            break
"""


def test_a_training_that_a_value_ends_is_ordered_to_the_step_that_it_ended_with(tmp_path: Path) -> None:
    script = write_script(tmp_path, _REGRESSION)
    own = plain(script)
    assert 4 < len(own.losses) < 60
    made = ordered(script)
    steps = len(own.losses)
    assert made.draft.manifest.steps == steps
    assert any(f"as it did when it ran by itself: true in step {steps}, else not" in note for note in made.notes)
    assert made.compared is not None
    assert made.compared.steps == tuple(range(1, steps + 1))


_SMALL = """
    import torch
    from torch import nn

    torch.manual_seed(0)
    model = nn.Linear(3, 1)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    rows = torch.randn(3, 4, 3)
    for x in rows:
        optimizer.zero_grad()
        LINE
        loss.backward()
        optimizer.step()
"""


@pytest.mark.parametrize(
    ("line", "said"),
    [
        ("loss = model(x)[: int(model(x).sum().item())].sum()", r"line 11"),
        (
            "with torch.autocast('cpu', torch.bfloat16):\n            loss = model(x).mean()",
            "computes in mixed precision, bfloat16",
        ),
        (
            "optimizer = torch.optim.LBFGS(model.parameters()); loss = model(x).mean()",
            "LBFGS cannot be ordered",
        ),
    ],
)
def test_what_an_order_cannot_say_is_refused_with_its_place(tmp_path: Path, line: str, said: str) -> None:
    with pytest.raises(CounterfoilError, match=said) as refused:
        followed(write_script(tmp_path, _SMALL.replace("LINE", line)))
    assert refused.value.remedy is not None


_CHANGING = """
    import torch
    from torch import nn

    torch.manual_seed(0)
    model, extra = nn.Linear(3, 1), nn.Linear(3, 1)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    scheduler = torch.optim.lr_scheduler.ReduceLROnPlateau(optimizer, factor=0.5, patience=0)
    for number, x in enumerate(torch.randn(6, 4, 3)):
        optimizer.zero_grad()
        optimizer.param_groups[0]["momentum"] += 0.1
        optimizer.param_groups[0]["weight_decay"] = 0.1 * number
        if number == 3:
            optimizer.add_param_group({"params": extra.parameters(), "lr": 0.01, "momentum": 0.5})
        loss = (model(x) + (extra(x) if number > 2 else 0)).square().mean()
        loss = loss * (1 / (1 + loss.item()))
        loss.backward()
        optimizer.step()
        scheduler.step(loss * 2**number)
"""


def test_what_changes_of_an_optimizer_midway_changes_in_the_order(tmp_path: Path) -> None:
    script = write_script(tmp_path, _CHANGING)
    own = plain(script)
    rates = [group["lr"] for group in own.names["optimizer"].param_groups]
    assert rates[0] < 0.05, "it was to be lowered by the plateau"
    made = ordered(script)
    # Each step was executed as ordered, from the script's own state, and gave what the script gave.
    assert made.compared is not None
    assert made.compared.steps == (1, 2, 3, 4, 5, 6)
    lowered = [note for note in made.notes if note.startswith("The learning rate goes from ")]
    assert "since the script's own metric had not improved (ReduceLROnPlateau, patience 0)" in lowered[0]
    changed = {tuple(made.draft.scalars[:, n].tolist()) for n in range(made.draft.scalars.shape[1])}
    assert len({column for column in changed if len(set(column)) > 2}) >= 2, (
        "momentum, decay and rates are no constants"
    )


_OPTIMIZED = """
    import torch
    from torch import nn

    torch.manual_seed(0)
    model = nn.Sequential(nn.Linear(4, 6), nn.GELU(), nn.Linear(6, 3))
    matrices = [parameter for parameter in model.parameters() if parameter.dim() == 2]
    optimizer = OPTIMIZER
    scheduler = torch.optim.lr_scheduler.OneCycleLR(optimizer, 0.05, total_steps=5)
    rows, labels = torch.randn(4, 8, 4), torch.randint(0, 3, (4, 8))
    for x, y in zip(rows, labels):
        optimizer.zero_grad()
        loss = nn.functional.cross_entropy(model(x), y)
        loss.backward()
        optimizer.step()
        scheduler.step()
"""


@pytest.mark.sampled(1)
@pytest.mark.parametrize(
    ("optimizer", "within"),
    [
        # Its betas are moved by the scheduler.
        ("torch.optim.Adam(model.parameters(), lr=0.01)", 1e-5),
        ("torch.optim.Rprop(model.parameters(), lr=0.01)", 1e-5),
        # Orthogonalised in bfloat16 by itself.
        ("torch.optim.Muon(matrices, lr=0.01)", 1e-2),
    ],
)
def test_the_step_of_an_optimizer_without_a_rule_is_followed(tmp_path: Path, optimizer: str, within: float) -> None:
    text = _OPTIMIZED.replace("OPTIMIZER", optimizer)
    if "Adam" not in optimizer:
        text = text.replace("total_steps=5", "total_steps=5, cycle_momentum=False")
    script = write_script(tmp_path, text)
    made = followed(script)
    run, own = recorded(made.draft, tmp_path), plain(script)
    assert run.losses == pytest.approx(own.losses, abs=within)
    for name, tensor in own.names["model"].state_dict().items():
        torch.testing.assert_close(run.state[name], tensor, atol=within, rtol=0)


_GRAPH = """
    import copy
    import torch
    from torch import nn

    class Average(nn.Module):
        def __init__(self, model):
            super().__init__()
            self.model = copy.deepcopy(model)
            self.register_buffer("begun", torch.tensor(False))

        def update(self, model):
            for own, other in zip(self.model.parameters(), model.parameters()):
                if self.begun.item():
                    own.data.lerp_(other.data, 0.25)
                else:
                    own.data.copy_(other.data)
            self.begun.data.copy_(torch.tensor(True))

    torch.manual_seed(0)
    nodes, labels = torch.randn(9, 4), torch.randint(0, 3, (9,))
    near = (torch.rand(9, 9) < 0.3).float().to_sparse()
    chosen = torch.rand(9) < 0.6
    model = nn.Linear(4, 3)
    average = Average(model)
    optimizer = torch.optim.Adam(model.parameters(), lr=0.01)
    for _ in range(4):
        optimizer.zero_grad()
        out = torch.spmm(near, model(nodes))
        loss = nn.functional.cross_entropy(out[chosen], labels[chosen])
        loss.backward()
        optimizer.step()
        average.update(model)
"""


def test_a_graph_its_mask_and_an_average_of_the_weights(tmp_path: Path) -> None:
    script = write_script(tmp_path, _GRAPH)
    made = followed(script)
    assert any("is made dense" in note for note in made.notes)
    run, own = recorded(made.draft, tmp_path), plain(script)
    assert run.losses == pytest.approx(own.losses, abs=1e-5)
    average = own.names["average"].model
    torch.testing.assert_close(run.state["average.model.weight"], average.weight.data, atol=1e-5, rtol=0)


def test_a_script_that_fails_behind_its_training_says_how_to_order_the_steps_before(tmp_path: Path) -> None:
    text = _SMALL.replace("LINE", "loss = model(x).mean()") + "    torch.save(model, 'm.pt')\n    torch.load('m.pt')\n"
    script = write_script(tmp_path, text)
    with pytest.raises(DataError, match=r"by itself fails after 3 steps: UnpicklingError") as refused:
        ordered(script)
    assert refused.value.sentence.endswith("train.py, line 15).")
    assert "--max-steps 3" in str(refused.value.remedy)
    assert not (tmp_path / "m.pt").exists()
    assert followed(script, steps=3).draft.manifest.steps == 3


def test_a_script_may_end_by_itself_and_compile_what_it_trains(tmp_path: Path) -> None:
    text = _SMALL.replace("LINE", "loss = torch.compile(model)(x).mean()") + "    raise SystemExit\n"
    made = followed(write_script(tmp_path, text))
    assert made.draft.manifest.steps == 3
    assert any("torch.compile is left out" in note for note in made.notes)


def test_a_model_of_another_precision_is_refused_with_its_tensor(tmp_path: Path) -> None:
    text = _SMALL.replace("LINE", "loss = model(x.double()).mean()").replace(
        "nn.Linear(3, 1)", "nn.Linear(3, 1).double()"
    )
    with pytest.raises(DataError, match=r"'weight' of the model has the dtype torch\.float64"):
        followed(write_script(tmp_path, text))


def test_a_script_that_trains_nothing_has_no_order(tmp_path: Path) -> None:
    with pytest.raises(DataError, match="no training began"):
        followed(write_script(tmp_path, "import torch\ntorch.nn.Linear(2, 2)(torch.ones(1, 2))\n"))


_CHANGED = (
    torch, torch.autograd, torch.backends.cuda, nn.attention, nn.Module, nn.parallel.DataParallel,
    nn.parallel.DistributedDataParallel, Optimizer, torch.optim.lr_scheduler.ReduceLROnPlateau, DataLoader,
    _BaseDataLoaderIter,
)  # fmt: skip
"""Modules and classes of torch in which something is replaced while a script is followed."""


@pytest.mark.parametrize(
    ("line", "steps", "ends"),
    [
        ("loss = model(x).mean()", None, nullcontext()),
        ("loss = model(x).mean()", 2, nullcontext()),
        (
            "step = vars().get('step', 0) + 1; loss = model(x).mean() / (step < 3 or [].pop())",
            None,
            pytest.raises(DataError, match="failed"),
        ),
        ("loss = model(x)[: int(model(x).sum().item())].sum()", None, pytest.raises(ProgramError)),
    ],
    ids=["to its end", "some steps", "a script that fails", "a script that is refused"],
)
def test_afterwards_torch_is_as_it_was(
    tmp_path: Path, line: str, steps: int | None, ends: AbstractContextManager[object]
) -> None:
    before = [dict(vars(owner)) for owner in _CHANGED]
    with ends:
        followed(write_script(tmp_path, _SMALL.replace("LINE", line)), steps=steps)
    after = [{name: vars(owner).get(name) for name in owned} for owner, owned in zip(_CHANGED, before, strict=True)]
    assert after == before
    assert type(torch.zeros(1) + 1) is torch.Tensor
    optimizer = torch.optim.SGD([torch.nn.Parameter(torch.ones(1))], lr=1.0)
    assert "step" not in vars(optimizer)
