"""The first step is executed before an order is written, so that none fails at the trainer."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from torch import Tensor, nn

from counterfoil.base.joberrors import TrialError
from counterfoil.cli import main
from counterfoil.program.update import Adam, ClipByNorm, Sgd
from counterfoil.training.custom import CustomJob, order_custom
from counterfoil.training.order import OrderDraft
from counterfoil.training.recipes.logistic import order_logistic, synthetic_table
from counterfoil.training.recipes.resnet import order_resnet
from counterfoil.training.recipes.vgg import order_vgg
from counterfoil.training.trial import CoarseGridWarning, Trial, TrialProgress, TrialStarted, gradients
from counterfoil_core.arithmetic import machine
from counterfoil_core.arithmetic.compute.plan import Frame, Prepared
from counterfoil_core.base.cancel import CancelToken
from counterfoil_core.base.errors import CancelledError, DeviceError
from counterfoil_core.base.precision import PROFILES, Precision
from counterfoil_core.bundle.reader import BundleReader
from counterfoil_core.signing.keys import SigningKey
from support.jobs import classify, digits_order, draw, gpt2_order, record_run
from support.offset import offset_order

DATA = {"x": draw((24, 6), 1), "labels": np.arange(24, dtype=np.int64) % 5}


def order(forward: Callable[[Tensor], Tensor] = torch.tanh, **settings: Any) -> OrderDraft:
    class Model(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.body, self.head = nn.Linear(6, 8), nn.Linear(8, 5)

        def forward(self, x: Tensor) -> Tensor:
            return self.head(forward(self.body(x)))

    torch.manual_seed(0)
    chosen = {"data": DATA, "steps": 2, "batch_size": 8, "learning_rate": 0.1} | settings
    return order_custom(CustomJob("A model of a test", Model(), classify, Sgd(), **chosen))


def tried(draft: OrderDraft) -> Trial:
    events = list(draft.try_first_step())
    assert isinstance(events[0], TrialStarted)
    assert all(isinstance(event, TrialProgress) and event.done <= events[0].total for event in events[1:-1])
    assert isinstance(events[-1], Trial)
    return events[-1]


def test_the_loss_is_that_of_the_first_recorded_step(tmp_path: Path, trainer_key: SigningKey) -> None:
    draft = digits_order(steps=1, checkpoint_every=1)
    draft.write(tmp_path / "job.cfoil")
    record_run(tmp_path / "job.cfoil", tmp_path / "run.cfoil", trainer_key)
    with BundleReader.open(tmp_path / "run.cfoil") as reader:
        assert reader.losses()[0] == tried(draft).loss


def overflowing(x: Tensor) -> Tensor:
    return torch.exp(x * 1e6)


def divided(x: Tensor) -> Tensor:
    return x / (x - x)


def masked(x: Tensor) -> Tensor:
    return torch.softmax(x + float("-inf"), -1)


FAILING: dict[str, tuple[Callable[[], OrderDraft], str]] = {
    "overflow": (lambda: order(overflowing), "aten.exp.default"),
    "division": (lambda: order(divided), "aten.div.Tensor"),
    "mask": (lambda: order(masked), "aten._softmax.default"),
    "label": (lambda: order(data=DATA | {"labels": DATA["labels"] + 3}), "nll_loss_forward"),
    "rate": (lambda: order(learning_rate=1e45), "new state"),
}


@pytest.mark.parametrize("name", FAILING)
def test_an_order_whose_first_step_fails_is_not_written(name: str, tmp_path: Path, trainer_key: SigningKey) -> None:
    make, where = FAILING[name]
    draft = make()
    with pytest.raises(TrialError, match="first step of this order fails") as caught:
        draft.write(tmp_path / "job.cfoil", external_data=tmp_path / "job.cfdata")
    assert where in caught.value.sentence
    assert caught.value.remedy
    assert not list(tmp_path.iterdir())
    # The control: without the trial it is written, and fails at the trainer.
    draft.write(tmp_path / "job.cfoil", trial=False)
    with pytest.raises(Exception, match=where):
        record_run(tmp_path / "job.cfoil", tmp_path / "run.cfoil", trainer_key)


def test_what_is_wrong_is_shown(tmp_path: Path) -> None:
    with pytest.raises(TrialError, match="outside of 0 to 4"):
        FAILING["label"][0]().write(tmp_path / "job.cfoil")


def test_cancelling_leaves_nothing(tmp_path: Path) -> None:
    token = CancelToken()
    token.cancel()
    with pytest.raises(CancelledError):
        list(digits_order().try_first_step(token))


def test_too_little_memory_suggests_to_leave_the_trial_out(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def short(device: torch.device, needed: int) -> None:
        raise DeviceError("A step of this order needs at least 900.0 GiB of memory; cpu has 16.0.")

    monkeypatch.setattr(machine, "check_memory", short)
    with pytest.raises(TrialError, match=r"cannot be tried here.*900") as caught:
        digits_order().write(tmp_path / "job.cfoil")
    assert "--no-trial" in caught.value.remedy
    assert "trial=False" in caught.value.remedy
    assert not list(tmp_path.iterdir())


def test_the_trial_leaves_the_process_as_it_was() -> None:
    before = (torch.are_deterministic_algorithms_enabled(), torch.get_num_threads(), torch.is_grad_enabled())
    tried(order())
    assert before == (torch.are_deterministic_algorithms_enabled(), torch.get_num_threads(), torch.is_grad_enabled())


def test_no_state_is_changed_by_it() -> None:
    draft = order()
    before = {name: array.copy() for name, array in draft.initial.items()}
    tried(draft)
    assert all(np.array_equal(draft.initial[name], array) for name, array in before.items())


# Which values are gradients.


def test_every_gradient_is_found_and_named() -> None:
    for rule in (Sgd(momentum=0.9), Adam(), ClipByNorm(Adam(), 1.0)):
        draft = order_custom(
            CustomJob(
                "Named", nn.Sequential(nn.Linear(6, 8), nn.Tanh(), nn.Linear(8, 5)), classify, rule, DATA, 1, 8, 0.1
            )
        )
        found = gradients(draft.program)
        assert sorted(g.parameter for g in found) == ["0.bias", "0.weight", "2.bias", "2.weight"]
        assert all(g.sites and "backward" in g.where for g in found)


def test_micro_batches_too() -> None:
    found = gradients(order(micro_batches=2).program)
    assert sorted(g.parameter for g in found) == ["body.bias", "body.weight", "head.bias", "head.weight"]


def test_of_a_gradient_program_what_a_share_gives() -> None:
    draft = order(shares=4, micro_batches=2)
    found = gradients(draft.program)
    assert sorted(g.parameter for g in found) == ["body.bias", "body.weight", "head.bias", "head.weight"]
    assert all(g.sites and "backward" in g.where and g.reader is None for g in found)
    assert draft.updates is not None
    assert gradients(draft.updates.only) == ()


# Steps that shares make.


@pytest.mark.parametrize("profile", ["float64-24", "exact-20"])
def test_the_first_share_is_tried_and_the_update_as_if_all_gave_the_same(profile: str) -> None:
    rows = np.resize(np.arange(4), (2, 8))
    alike = {"schedule": rows, "batch_size": None, "precision": PROFILES[profile]}
    found, whole = tried(order(shares=2, **alike)), tried(order(micro_batches=2, **alike))
    assert found.loss == pytest.approx(whole.loss, rel=1e-6)
    assert found.coarse == ()


def test_a_share_or_an_update_that_fails_is_not_written(tmp_path: Path) -> None:
    for settings, where in (({"forward": divided}, "aten.div.Tensor"), ({"learning_rate": 1e45}, "new state")):
        with pytest.raises(TrialError, match="first step of this order fails") as caught:
            order(shares=2, **settings).write(tmp_path / "job.cfoil")
        assert where in caught.value.sentence
    assert not list(tmp_path.iterdir())


def test_a_gradient_that_a_share_gives_is_warned_of_where_it_is_lost() -> None:
    """The same features are too far from zero for one share as for a whole step; nearer ones are for neither."""
    settings: dict[str, Any] = {"shares": 4, "micro_batches": 2}
    found = tried(offset_order(1e5, **settings))
    assert "gradient of fc.weight" in found.warning
    assert all(gradient.parameter for gradient in found.coarse)
    assert tried(offset_order(1.0, **settings)).coarse == ()
    (gradient,) = tried(offset_order(1.0, model=Unlike(), **settings)).coarse
    assert gradient.parameter == "fc.weight"
    assert gradient.change_in_float32 < 1e-5


# Gradients below the grid.


def images() -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(0)
    return rng.integers(0, 256, (16, 3, 32, 32)).astype(np.uint8), rng.integers(0, 10, 16)


def logistic(precision: Precision) -> OrderDraft:
    table = synthetic_table(512, 32, 0)
    return order_logistic(table.features, table.labels, steps=1, batch_size=64, checkpoint_every=1, precision=precision)


RECIPES: dict[str, Callable[[Precision], OrderDraft]] = {
    "digits-cnn": lambda precision: digits_order(precision=precision),
    "gpt2": lambda precision: gpt2_order(precision=precision),
    "logistic": logistic,
    "vgg11": lambda p: order_vgg(*images(), layout="small", steps=1, batch_size=4, checkpoint_every=1, precision=p),
    "resnet": lambda p: order_resnet(
        *images(), model="resnet18", steps=1, batch_size=4, checkpoint_every=1, precision=p
    ),
}
COARSE_AND_FINE = ("float64-24", "float64-18", "float32-bfloat16")
CALIBRATED = replace(Precision(), proven=False)


@pytest.mark.sampled(6)
@pytest.mark.parametrize(
    ("name", "precision"),
    [
        *((name, PROFILES[profile]) for name in ("digits-cnn", "gpt2", "logistic") for profile in COARSE_AND_FINE),
        *((name, CALIBRATED) for name in ("digits-cnn", "gpt2", "logistic")),
        pytest.param("vgg11", PROFILES["float64-24"], marks=pytest.mark.slow),
        pytest.param("resnet", PROFILES["float64-18"], marks=pytest.mark.slow),
    ],
)
def test_no_recipe_is_warned_of(name: str, precision: Precision) -> None:
    found = tried(RECIPES[name](precision))
    assert found.coarse == ()
    assert found.warning == ""


@pytest.mark.parametrize("ratio", [1.0, 100.0, 1e4, 1e5])
def test_raw_features_are_warned_of_where_their_gradient_is_lost(ratio: float, tmp_path: Path) -> None:
    draft = offset_order(ratio)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        draft.write(tmp_path / "job.cfoil")
    found = [str(w.message) for w in caught if w.category is CoarseGridWarning]
    if ratio < 1000:
        assert found == []
    else:
        (sentence,) = found
        assert "gradient of fc.weight" in sentence
        assert "mean 0" in sentence
    assert (tmp_path / "job.cfoil").exists()


class Unlike(nn.Module):
    """Features of very different sizes: one is 2^37 times the others."""

    def __init__(self) -> None:
        super().__init__()
        self.fc, self.out = nn.Linear(16, 32), nn.Linear(32, 5)

    def forward(self, x: Tensor) -> Tensor:
        sizes = torch.where(torch.arange(16) == 0, 2.0**-60, 2.0**-97)
        return self.out(torch.tanh(self.fc(x * sizes)))


def test_a_gradient_of_which_most_is_rounded_to_zero_is_warned_of() -> None:
    found = tried(offset_order(1.0, model=Unlike()))
    (gradient,) = found.coarse
    assert gradient.parameter == "fc.weight"
    assert 0.8 < gradient.zeroed < 15 / 16
    assert gradient.change_in_float32 < 1e-5
    assert f"makes {gradient.zeroed:.0%} of it zero" in found.warning


@pytest.mark.parametrize("profile", ["float64-24", "exact-20", "exact-13"])
@pytest.mark.parametrize("size", [2.0**-10, 2.0**-17, 2.0**-25])
def test_columns_that_an_exact_profile_has_no_bits_for_are_warned_of(profile: str, size: float) -> None:
    """A product's operands share an exponent: 13 bits reach down to 2^-14 of the largest element, 20 bits to 2^-21."""
    x = draw((24, 6), 1)
    x[:, 1:] *= np.float32(size)
    found = tried(order(data={"x": x, "labels": DATA["labels"]}, precision=PROFILES[profile]))
    reach = {"float64-24": 2.0**-32, "exact-20": 2.0**-21, "exact-13": 2.0**-14}[profile]
    assert [gradient.parameter for gradient in found.coarse] == ([] if size > reach else ["body.weight"])
    assert ("too small for the profile" in found.warning) == (size < reach)


def test_control_a_gradient_that_is_rounding_errors_alone_is_not() -> None:
    """The bias in front of batch norm has the gradient zero; what is computed are rounding errors of other sizes."""
    draft = offset_order(1.0)
    assert "fc.bias" in {gradient.parameter for gradient in gradients(draft.program)}
    assert tried(draft).coarse == ()


# The command line.

JOB = """
import numpy as np, torch
from torch import nn
from counterfoil import CustomJob, Sgd
def classify(model, batch):
    return nn.functional.cross_entropy(model(batch["x"]), batch["labels"])
class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc, self.norm, self.out = nn.Linear(4, 8), nn.BatchNorm1d(8), nn.Linear(8, 3)
    def forward(self, x):
        return self.out(torch.relu(self.norm(self.fc(x))))
def make(offset, labels=3):
    torch.manual_seed(0)
    x = np.random.default_rng(0).standard_normal((32, 4)).astype(np.float32) + np.float32(offset)
    data = {"x": x, "labels": np.arange(32) % labels}
    return CustomJob("Mine", Model(), classify, Sgd(), data, 2, 16, 0.1)
def sound():
    return make(0)
def raw():
    return make(2e5)
def wrong():
    return make(0, 7)
"""


@pytest.fixture
def module(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    (tmp_path / "trial_job.py").write_text(JOB)
    monkeypatch.chdir(tmp_path)
    return "trial_job"


def ordered(module: str, function: str, *more: str) -> int:
    return main(["order", "--from", f"{module}:{function}", "--out", f"{function}.cfoil", *more])


def test_the_command_shows_the_loss(module: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert ordered(module, "sound") == 0
    out = capsys.readouterr().out
    assert "First step tried here: loss 1." in out
    assert "WARNING" not in out


def test_the_command_warns(module: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert ordered(module, "raw") == 0
    out = capsys.readouterr().out
    assert "WARNING" in out
    assert "gradient of fc.weight" in out
    assert Path("raw.cfoil").exists()


def test_the_command_writes_nothing_that_fails(module: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert ordered(module, "wrong") == 4
    err = capsys.readouterr().err
    assert "first step of this order fails" in err
    assert "outside of 0 to 2" in err
    assert not Path("wrong.cfoil").exists()
    assert ordered(module, "wrong", "--no-trial") == 0
    assert "First step" not in capsys.readouterr().out


def test_an_interrupt_leaves_no_order(
    module: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    import os
    import signal

    original = Prepared.outputs

    def interrupting(self: Prepared, frame: Frame) -> Any:
        os.kill(os.getpid(), signal.SIGINT)
        monkeypatch.setattr(Prepared, "outputs", original)
        return original(self, frame)

    monkeypatch.setattr(Prepared, "outputs", interrupting)
    assert ordered(module, "sound") == 2
    assert "no order was written" in capsys.readouterr().err
    assert not list(Path().glob("*.cfoil"))
