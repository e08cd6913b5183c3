"""Lightning's Trainer.fit as an order: the same weights as its own, and names of what cannot be ordered."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

from counterfoil.cli import main
from counterfoil.training.scripts.fits import fit_job
from counterfoil.training.scripts.handover import Wanted
from counterfoil_core.base.errors import DataError, ProgramError
from counterfoil_core.base.precision import PROFILES
from counterfoil_core.bundle.reader import BundleReader
from counterfoil_core.values.outcome import Outcome
from support.bundles import test_key
from support.jobs import audited, record_job, record_run

pytestmark = pytest.mark.every_moment

L = pytest.importorskip("lightning", reason="the library lightning is not installed")
BY_VALUE: dict[str, Any] = {"max_epochs": 3, "gradient_clip_val": 0.01, "gradient_clip_algorithm": "value"}


class Digits(L.LightningModule):
    """A small classifier, which logs as modules do."""

    def __init__(self, interval: str = "step") -> None:
        super().__init__()
        torch.manual_seed(3)
        self.layers = nn.Sequential(nn.Linear(6, 8), nn.Tanh(), nn.Linear(8, 3))
        self.interval = interval

    def training_step(self, batch: Any, batch_idx: int) -> Any:
        rows, labels = batch
        logits = self.layers(rows)
        loss = nn.functional.cross_entropy(logits, labels)
        self.log("train_loss", loss, prog_bar=True)
        self.log_dict({"accuracy": (logits.argmax(1) == labels).float().mean().item()})
        return {"loss": loss} if self.interval == "epoch" else loss

    def validation_step(self, batch: Any, batch_idx: int) -> None:
        raise AssertionError("nothing is validated")

    def on_train_epoch_end(self) -> None:
        self.trainer.seen_epochs = getattr(self.trainer, "seen_epochs", 0) + 1

    def configure_optimizers(self) -> Any:
        optimizer = torch.optim.AdamW(self.parameters(), lr=0.05)
        scheduler = torch.optim.lr_scheduler.StepLR(optimizer, 1, 0.5)
        if self.interval == "none":
            return optimizer
        if self.interval == "list":
            return [optimizer], [scheduler]
        return {"optimizer": optimizer, "lr_scheduler": {"scheduler": scheduler, "interval": self.interval}}


def loader() -> DataLoader[Any]:
    torch.manual_seed(5)
    rows = TensorDataset(torch.randn(22, 6), torch.arange(22) % 3)
    return DataLoader(rows, batch_size=4, shuffle=True, generator=torch.Generator().manual_seed(1))


def trainer_of(tmp_path: Path, **settings: Any) -> Any:
    quiet = {"logger": False, "enable_progress_bar": False, "enable_model_summary": False, "accelerator": "cpu"}
    given = {"enable_checkpointing": False, "default_root_dir": tmp_path, **quiet, **settings}
    return L.Trainer(**{"max_steps": 5, **given} if "max_epochs" not in given else given)


def ordered(tmp_path: Path, model: Any, wanted: Wanted | None = None, **settings: Any) -> tuple[Any, list[str]]:
    trainer = trainer_of(tmp_path, **settings)
    return fit_job(trainer, model, wanted or Wanted(), lambda: trainer.fit(model, loader(), loader()))


class Quiet(Digits):
    validation_step = L.LightningModule.validation_step


@pytest.mark.parametrize(
    ("interval", "settings"),
    [
        # Six batches an epoch, the last of two rows: steps of four batches, and of two.
        ("epoch", {"max_epochs": 2, "accumulate_grad_batches": 4, "gradient_clip_val": 0.1}),
        pytest.param("step", {"max_steps": 4, "limit_train_batches": 3}, marks=pytest.mark.slow),
        pytest.param("list", BY_VALUE, marks=pytest.mark.slow),
        pytest.param("none", {"max_steps": 3}, marks=pytest.mark.slow),
    ],
)
def test_an_order_trains_what_lightning_trains(tmp_path: Path, interval: str, settings: Any) -> None:
    job, _ = ordered(tmp_path, Digits(interval), **settings)
    draft = job.draft()
    real = Quiet(interval)
    trainer_of(tmp_path, **settings).fit(real, loader())
    recorded = record_job(tmp_path, draft, test_key(tmp_path))
    assert audited(recorded.run, recorded.order, perturbation="reversed").report.outcome is Outcome.VERIFIED
    with BundleReader.open(recorded.run) as reader:
        state = dict(reader.checkpoint(draft.manifest.steps))
    for name, weights in real.state_dict().items():
        np.testing.assert_allclose(state[name], weights.numpy(), rtol=0, atol=3e-6)
        assert np.abs(draft.initial[name] - weights.numpy()).max() > 1e-3


SCRIPT = """
import lightning as L
from test_fits_module import Digits, loader

L.seed_everything(7)
trainer = L.Trainer(max_epochs=1, accelerator="ACCELERATOR", precision="bf16-mixed", default_root_dir="out")
trainer.fit(Digits("step"), loader())
print("the script goes on")
"""


def test_a_script_is_ordered_and_verified(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "train.py").write_text(SCRIPT.replace("ACCELERATOR", "cpu"))
    (tmp_path / "test_fits_module.py").write_text(Path(__file__).read_text())
    monkeypatch.delenv("PL_GLOBAL_SEED", raising=False)
    command = ["order", "--script", "train.py", "--out", "job.cfoil"]
    assert main([*command, "--compare", "0"]) == 4
    assert "--precision float32-bfloat16 or --precision float64-24" in " ".join(capsys.readouterr().err.split())
    before = L.Trainer.fit
    options = ["--precision", "exact-20", "--max-steps", "2"]
    assert main([*command, *options]) == 0
    shown = capsys.readouterr().out
    assert "Taken over where Lightning's Trainer.fit begins" in shown
    assert "Compared with the script in all 2 steps." in shown
    assert "the script goes on" not in shown
    assert not (tmp_path / "out").exists()
    assert L.Trainer.fit is before
    with BundleReader.open("job.cfoil") as reader:
        manifest = reader.manifest
    assert (manifest.steps, manifest.seed, manifest.precision) == (2, 7, PROFILES["exact-20"])
    run = record_run(tmp_path / "job.cfoil", tmp_path / "run.cfoil", test_key(tmp_path))
    assert audited(run, tmp_path / "job.cfoil").report.outcome is Outcome.VERIFIED


def test_a_script_that_cannot_run_here_is_ordered_without_a_comparison(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    if torch.cuda.is_available():
        pytest.skip("it can run here")
    monkeypatch.chdir(tmp_path)
    (tmp_path / "train.py").write_text(SCRIPT.replace("ACCELERATOR", "gpu"))
    (tmp_path / "test_fits_module.py").write_text(Path(__file__).read_text())
    monkeypatch.delenv("PL_GLOBAL_SEED", raising=False)
    command = ["order", "--script", "train.py", "--out", "job.cfoil", "--precision", "exact-20", "--max-steps", "2"]
    assert main(command) == 4
    said = " ".join(capsys.readouterr().err.split())
    assert "No supported gpu backend found" in said
    assert "--compare 0" in said
    assert main([*command, "--compare", "0", "--no-trial"]) == 0
    assert "Not compared with the script." in capsys.readouterr().out


class Manual(Digits):
    def __init__(self) -> None:
        super().__init__()
        self.automatic_optimization = False


class Averaged(Digits):
    def on_train_batch_end(self, *arguments: Any) -> None:
        """Would average weights."""


class Waiting(Digits):
    def configure_optimizers(self) -> Any:
        optimizer = torch.optim.SGD(self.parameters(), lr=0.1)
        scheduler = torch.optim.lr_scheduler.ReduceLROnPlateau(optimizer)
        return {"optimizer": optimizer, "lr_scheduler": {"scheduler": scheduler, "monitor": "train_loss"}}


class Skipping(Digits):
    def training_step(self, batch: Any, batch_idx: int) -> None:
        """Skips a step."""


class Stopper(L.Callback):
    def on_train_epoch_end(self, trainer: Any, module: Any) -> None:
        trainer.should_stop = True


class Watcher(L.Callback):
    def on_train_batch_end(self, *arguments: Any) -> None:
        raise AssertionError("callbacks have a rest")


@pytest.mark.parametrize(
    ("kind", "settings", "sentence"),
    [
        (Manual, {}, r"Manual optimizes by itself \(automatic_optimization=False\)"),
        (Averaged, {}, r"Averaged.on_train_batch_end takes part in each step \(.*test_fits.py, line"),
        (Waiting, {}, "ReduceLROnPlateau sets the learning rate from measured losses"),
        (Skipping, {}, "training_step returned no loss, but NoneType"),
        (Digits, {"callbacks": [L.pytorch.callbacks.EarlyStopping("train_loss")]}, "EarlyStopping sets trainer.should"),
        (
            Digits,
            {"callbacks": [L.pytorch.callbacks.StochasticWeightAveraging(0.1)]},
            "StochasticWeightAveraging",
        ),
        (Digits, {"callbacks": [Stopper()]}, r"Stopper sets trainer.should_stop \(.*test_fits.py, line"),
        (Digits, {"precision": "bf16-mixed"}, r"mixed precision \(bfloat16\)"),
        (Digits, {"precision": "bf16-true"}, "computes in bf16-true"),
        (Digits, {"max_epochs": -1}, "go on without end"),
    ],
)
def test_what_cannot_be_ordered_is_named(tmp_path: Path, kind: Any, settings: Any, sentence: str) -> None:
    with pytest.raises(DataError, match=sentence) as caught:
        ordered(tmp_path, kind(), **settings)[0].draft()
    assert caught.value.remedy


def test_callbacks_have_a_rest_and_nothing_is_left_on_the_trainer(tmp_path: Path) -> None:
    trainer, model = trainer_of(tmp_path, callbacks=[Watcher()]), Digits()
    before = list(trainer.callbacks)
    job, notes = fit_job(trainer, model, Wanted(max_steps=2), lambda: trainer.fit(model, loader(), loader()))
    assert job.steps == 2
    assert any("Watcher" in note for note in notes)
    assert trainer.callbacks == before
    assert trainer.limit_val_batches == 1.0


class Counting(Digits):
    """Reads what Lightning counts: for messages alone, or for its loss."""

    def __init__(self, weigh: Any) -> None:
        super().__init__("none")
        self.weigh = weigh

    def training_step(self, batch: Any, batch_idx: int) -> Any:
        if batch_idx % 5 == 0 and self.global_step == self.trainer.global_step and self.current_epoch < 9:
            self.log("often", float(batch_idx))
        loss = super().training_step(batch, batch_idx)
        return loss * self.weigh(self, batch_idx)


@pytest.mark.parametrize(
    ("weigh", "read"),
    [
        (lambda module, index: 1.0 if index % 4 else 0.5, "batch_idx"),
        (lambda module, index: 0.5 if index == 3 else 1.0, "batch_idx"),
        (lambda module, index: 0.9**module.current_epoch, "current_epoch"),
        (lambda module, index: min(1.0, module.trainer.global_step / 100), "global_step"),
        (lambda module, index: 1.0 + module.trainer.fit_loop.epoch_loop.total_batch_idx, "total_batch_idx"),
    ],
)
def test_a_loss_that_hangs_on_what_is_counted_is_refused(tmp_path: Path, weigh: Any, read: str) -> None:
    job, _ = ordered(tmp_path, Counting(weigh), max_epochs=2)
    with pytest.raises(ProgramError, match=rf"test_fits.py, line \d+\): it hangs on .*{read}") as caught:
        job.draft()
    assert "write the loop in the script by hand" in str(caught.value.remedy)


def test_what_is_counted_may_be_read_for_messages(tmp_path: Path) -> None:
    job, _ = ordered(tmp_path, Counting(lambda module, index: 1.0), max_epochs=2)
    plain, _ = ordered(tmp_path, Digits("none"), max_epochs=2)
    assert job.draft().manifest.steps == plain.draft().manifest.steps == 12


def test_an_epoch_that_is_the_only_one_may_weigh_the_loss(tmp_path: Path) -> None:
    job, _ = ordered(tmp_path, Counting(lambda module, index: 2.0 ** (module.current_epoch + 1)), max_steps=5)
    assert job.draft().manifest.steps == 5
