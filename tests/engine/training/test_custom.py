"""A client's own job: what is wrong with it is said in a sentence, before any training."""

from __future__ import annotations

import importlib
import itertools
import sys
from collections.abc import Callable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from torch import Tensor, nn

from counterfoil.cli import main
from counterfoil.program.update import Sgd
from counterfoil.training.custom import CustomJob, order_custom
from counterfoil.training.jobnames import load_job
from counterfoil_core.base.errors import CounterfoilError, DataError, ProgramError
from counterfoil_core.bundle.reader import BundleReader

GOOD = """
import numpy as np
import torch
from torch import nn
import counterfoil

def make_job():
    torch.manual_seed(0)
    return counterfoil.CustomJob(
        title="Least squares", model=nn.Linear(3, 1), objective=lambda m, b: (m(b["x"]) - b["y"]).square().mean(),
        rule=counterfoil.Sgd(), data={"x": np.eye(3, dtype="float32"), "y": np.ones((3, 1), "float32")},
        steps=2, batch_size=2, learning_rate=0.1,
    )
"""
_number = itertools.count()

Write = Callable[[str], str]


@pytest.fixture
def write(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Write:
    """Write a module of the client's into the current folder; returns its name."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "dont_write_bytecode", True)

    def written(text: str) -> str:
        name = f"client_{next(_number)}"
        (tmp_path / f"{name}.py").write_text(text, encoding="utf-8")
        importlib.invalidate_caches()
        return name

    return written


def refused(reference: str) -> DataError:
    before = list(sys.path)
    with pytest.raises(DataError) as caught:
        load_job(reference)
    assert caught.value.remedy
    assert sys.path == before
    return caught.value


def test_a_job_from_the_command_line(write: Write, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    name = write(GOOD)
    assert main(["order", "--from", f"{name}:make_job", "--out", "job.cfoil"]) == 0
    assert "Ordered 2 steps of: Least squares" in capsys.readouterr().out
    with BundleReader.open(tmp_path / "job.cfoil") as reader:
        assert (reader.manifest.recipe, reader.manifest.optimizer) == ("custom", Sgd().describe())
        # torch's own initial weights lie in the order.
        torch.manual_seed(0)
        assert np.array_equal(reader.initial_state()["weight"], nn.Linear(3, 1).weight.detach().numpy())
    assert main(["order", "--from", f"{name}:make_job", "--out", "job.cfoil"]) == 4
    assert main(["order", "--from", f"{name}:make_job", "--out", "job.cfoil", "--force", "--no-second-look"]) == 0


def test_a_module_in_a_package_may_import_its_neighbours_late(write: Write, tmp_path: Path) -> None:
    package = f"package_{next(_number)}"
    (tmp_path / package).mkdir()
    neighbour = write(GOOD)
    (tmp_path / package / "job.py").write_text(
        f"def make():\n    from {neighbour} import make_job\n    return make_job()\n"
    )
    assert load_job(f"{package}.job:make").title == "Least squares"


def test_a_module_of_an_installed_package_is_named_too(
    write: Write, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    name = write("")
    installed = tmp_path / "site-packages" / f"{name}.py"
    installed.parent.mkdir()
    (tmp_path / f"{name}.py").rename(installed)
    installed.write_text("import torch\ndef make():\n    torch.tensor([1.0]).view(7)\n")
    monkeypatch.syspath_prepend(str(installed.parent))
    assert f"({installed}, line 3)" in refused(f"{name}:make").sentence


@pytest.mark.parametrize(
    "arguments",
    [
        ["--from", "a:b"],
        ["--out", "job.cfoil"],
        ["--force"],
        ["--from", "a:b", "--out", "job.cfoil", "digits-cnn", "--out", "other.cfoil"],
        ["--from", "a.b", "--out", "job.cfoil"],
        ["--from", "a:b:c", "--out", "job.cfoil"],
        ["--from", "../a:b", "--out", "job.cfoil"],
    ],
)
def test_wrong_calls(write: Write, tmp_path: Path, arguments: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["order", *arguments]) == 4
    assert "--from" in (shown := capsys.readouterr().err) or "package.module:function" in shown
    assert not list(tmp_path.iterdir())


def test_a_target_that_exists_is_refused_before_the_clients_code_runs(write: Write, tmp_path: Path) -> None:
    name = write("import pathlib\npathlib.Path('ran').touch()")
    (tmp_path / "job.cfoil").touch()
    assert main(["order", "--from", f"{name}:make", "--out", "job.cfoil"]) == 4
    assert not (tmp_path / "ran").exists()


def test_no_such_module(write: Write, tmp_path: Path) -> None:
    assert "There is no module 'no_such_job'" in (error := refused("no_such_job:make")).sentence
    assert str(tmp_path) in error.sentence
    assert "There is no module 'no_such_package.job'" in refused("no_such_package.job:make").sentence


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("x = 1\nimport no_such_library", "imports 'no_such_library', which is not installed ({file}, line 2)"),
        ("x = 1\n\ndef f(:\n", "cannot be imported: SyntaxError: invalid syntax ({file}, line 3)"),
        ("x = 1\nx.y", "AttributeError: 'int' object has no attribute 'y' ({file}, line 2)"),
        ("import sys\nsys.exit(0)", "SystemExit: 0 ({file}, line 2)"),
        ("", "'make' does not exist in the module '{name}' ({file})"),
        ("make = 3", "'make' is no function in the module '{name}' ({file})"),
        ("def make():\n    pass", "{name}:make returned NoneType, not a CustomJob"),
        ("def make(x):\n    pass", "failed: TypeError: make() missing 1 required positional argument: 'x'."),
        ("def make():\n    return {{}}['x']", "failed: KeyError: 'x' ({file}, line 2)"),
        ("def make():\n    return open('no_such_file')", "No such file or directory: 'no_such_file' ({file}, line 2)"),
        ("import sys\ndef make():\n    sys.exit()", "failed: SystemExit ({file}, line 3)"),
    ],
)
def test_code_that_does_not_make_a_job(write: Write, tmp_path: Path, text: str, words: str) -> None:
    name = write(text.replace("{{", "{").replace("}}", "}"))
    sentence = refused(f"{name}:make").sentence
    assert words.format(name=name, file=tmp_path / f"{name}.py") in sentence


def test_an_error_of_counterfoil_itself_stays_as_it_is(write: Write) -> None:
    name = write("import counterfoil\ndef make():\n    return counterfoil.Sgd(momentum=-1)")
    assert refused_sentence(lambda: load_job(f"{name}:make")).startswith("The optimizer's momentum is -1")


def refused_sentence(call: Callable[[], object]) -> str:
    with pytest.raises(CounterfoilError) as caught:
        call()
    return caught.value.sentence


# The job itself.


class Inner(nn.Module):
    """A layer that applies a function to a product with its weight."""

    def __init__(self, function: Callable[[Tensor], Any]) -> None:
        super().__init__()
        self.weight = nn.Parameter(torch.ones(3))
        self.function = function

    def forward(self, x: Tensor) -> Any:
        return self.function(x * self.weight)


def job(function: Callable[[Tensor], Any] = torch.tanh, **settings: Any) -> CustomJob:
    data = {"x": np.ones((20, 3), np.float32)}
    made = CustomJob(
        "A test", nn.Sequential(Inner(function)), lambda m, b: m(b["x"]).sum(), Sgd(), data, 2, 4, 0.1, seed=1
    )
    return replace(made, **settings)


def test_shuffling_by_the_seed_or_a_schedule_of_ones_own() -> None:
    schedule = np.arange(8, dtype=np.int32).reshape(2, 4)
    assert order_custom(job(schedule=schedule)).schedule.tolist() == schedule.tolist()
    one, other = order_custom(job()).schedule, order_custom(job(seed=2)).schedule
    assert one.shape == other.shape == (2, 4)
    assert one.tolist() != other.tolist()


def test_learning_rates_one_by_one() -> None:
    for rates in ([0.1, 0.2], (0.1, 0.2), np.array([0.1, 0.2])):
        assert order_custom(job(learning_rate=rates)).scalars.tolist() == [[0.1], [0.2]]


def test_random_draws_within_the_clients_model() -> None:
    from counterfoil import uniform

    program = order_custom(job(lambda x: x + uniform(x.shape))).program
    assert "counterfoil.uniform" in {node.operator for node in program.nodes}


def test_accumulation_is_said_in_the_order() -> None:
    assert order_custom(job(micro_batches=2)).manifest.optimizer == f"{Sgd().describe()}, 2 micro-batches"
    assert order_custom(job()).manifest.optimizer == Sgd().describe()


def named(name: str) -> dict[str, Any]:
    return {"data": {name: np.ones((20, 3), np.float32)}}


@pytest.mark.parametrize(
    ("settings", "words"),
    [
        ({"steps": 0}, "steps is 0"),
        ({"batch_size": 0}, "batch_size is 0"),
        ({"micro_batches": 0}, "micro_batches is 0"),
        ({"micro_batches": 3}, "into 3 equal parts"),
        ({"commit_every": 3, "checkpoint_every": 10}, "not a multiple of its commit_every (3)"),
        ({"batch_size": 21}, "20 rows, too few for a batch of 21"),
        ({"seed": -1}, "seed -1 does not fit"),
        ({"data": {}}, "no data"),
        ({"data": {"x": np.ones((20, 3))}}, "'x' is float64"),
        ({"data": {"x": np.array(1, np.float32)}}, "'x' is of shape ()"),
        ({"data": {"x": ["a text"]}}, "'x' in the job's data is of the type list"),
        ({"data": {"x": np.ones((20, 3), np.float32), "y": np.ones(9, np.int64)}}, "x 20, y 9"),
        (named("a/b"), "'a/b' is not allowed in an order"),
        ({"learning_rate": -0.1}, "learning rate of step 1 is -0.1"),
        ({"learning_rate": [0.1]}, "1 learning rates for 2 steps"),
        ({"learning_rate": [0.1, float("nan")]}, "learning rate of step 2 is nan"),
        ({"learning_rate": [0.1, 0.1], "scheduler": lambda o: None}, "a scheduler and a list"),
        ({"scheduler": torch.optim.lr_scheduler.ReduceLROnPlateau}, "ReduceLROnPlateau"),
        ({"schedule": np.zeros((2, 3), np.int64)}, "of shape (2, 3)"),
        ({"schedule": np.zeros((2, 4))}, "is float64"),
        ({"schedule": np.full((2, 4), 20)}, "rows that the data array 'x' does not have"),
        ({"schedule": np.full((2, 4), -1)}, "rows that the data array 'x' does not have"),
        ({"model": nn.LazyLinear(2)}, "'weight' of the model has no shape yet"),
        ({"model": nn.Linear(3, 2, device="meta")}, "lies on meta"),
        ({"model": nn.Linear(3, 2).double()}, "float64"),
        ({"model": nn.Linear(3, 2).requires_grad_(False)}, "no parameter that requires a gradient"),
        ({"model": nn.ReLU()}, "no parameter that requires a gradient"),
        ({"objective": lambda m, b: m(b["y"]).sum()}, "KeyError: 'y'"),
        ({"objective": lambda m, b: m(b["x"])}, "must be one number"),
        ({"objective": lambda m, b: 1.0}, "returned float"),
        ({"objective": lambda m, b: b["x"].sum()}, "does not depend on any parameter"),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_settings_that_cannot_be_used(settings: Mapping[str, Any], words: str) -> None:
    assert words in refused_sentence(lambda: order_custom(job(**settings)))


def test_weights_that_are_not_finite() -> None:
    model = nn.Linear(3, 2)
    nn.init.constant_(model.bias, float("nan"))
    assert "'bias' of the model holds a value" in refused_sentence(lambda: order_custom(job(model=model)))


@pytest.mark.parametrize(
    ("function", "words"),
    [
        (lambda x: torch.linalg.svdvals(x), "aten._linalg_svd"),
        (torch.special.i0, "aten.i0.default"),
        (lambda x: torch.fft.fft(x).abs(), "aten._fft_r2c"),
        (lambda x: x if x.sum() > 0 else -x, "by the values of a tensor"),
        (lambda x: x[x > 0], "by the values of a tensor"),
        (lambda x: x * float(x.detach().max()), "reaches the loss"),
        (lambda x: x + torch.from_numpy(x.detach().numpy()), "reaches the loss"),
        (lambda x: x @ x, "failed while the step was captured: RuntimeError"),
    ],
    ids=["svd", "i0", "fft", "branch", "boolean index", "float", "numpy", "shapes"],
)
def test_a_step_that_cannot_be_captured_names_the_module(function: Callable[[Tensor], Any], words: str) -> None:
    with pytest.raises(ProgramError) as caught:
        order_custom(job(function))
    assert words in caught.value.sentence
    assert "'0'" in caught.value.sentence
    assert caught.value.remedy
