"""A Trainer of Lightning and its module, ordered from code."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

import counterfoil.lightning
from counterfoil_core.base.errors import DataError
from counterfoil_core.base.precision import PROFILES
from counterfoil_core.values.outcome import Outcome
from support.bundles import test_key
from support.jobs import audited, record_run

L = pytest.importorskip("lightning", reason="the library lightning is not installed")


class Line(L.LightningModule):
    """A linear classifier."""

    def __init__(self) -> None:
        super().__init__()
        torch.manual_seed(3)
        self.layer = nn.Linear(6, 3)

    def training_step(self, batch: Any, batch_idx: int) -> Any:
        rows, labels = batch
        return nn.functional.cross_entropy(self.layer(rows), labels)

    def configure_optimizers(self) -> Any:
        return torch.optim.SGD(self.parameters(), lr=0.1)


def loader() -> DataLoader[Any]:
    return DataLoader(TensorDataset(torch.randn(12, 6), torch.arange(12) % 3), batch_size=4)


class Module(L.LightningDataModule):
    """Gives the rows, as projects do."""

    def train_dataloader(self) -> DataLoader[Any]:
        return loader()


def trainer_of(tmp_path: Path, **settings: Any) -> Any:
    quiet = {"logger": False, "enable_progress_bar": False, "enable_model_summary": False}
    return L.Trainer(
        **{"accelerator": "cpu", "max_epochs": 1, "default_root_dir": tmp_path, **quiet, **settings},
    )


@pytest.mark.parametrize("source", ["train_dataloaders", "datamodule"])
def test_an_order_is_written_and_audited(source: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    data = Module() if source == "datamodule" else loader()
    path = tmp_path / "job.cfoil"
    manifest = counterfoil.lightning.order(
        trainer_of(tmp_path), Line(), path, precision=PROFILES["exact-20"], max_steps=2, **{source: data}
    )
    assert (manifest.steps, manifest.precision) == (2, PROFILES["exact-20"])
    assert "Taken over where Lightning's Trainer.fit begins." in capsys.readouterr().err
    run = record_run(path, tmp_path / "run.cfoil", test_key(tmp_path))
    assert audited(run, path).report.outcome is Outcome.VERIFIED


def test_what_cannot_be_ordered_writes_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "job.cfoil"
    with pytest.raises(DataError, match=r"is no lightning.Trainer, but Line") as caught:
        counterfoil.lightning.order(Line(), Line(), path)
    assert "counterfoil[models]" in str(caught.value.remedy)
    with pytest.raises(DataError, match="trains with 2 processes"):
        counterfoil.lightning.order(trainer_of(tmp_path, devices=2), Line(), path, train_dataloaders=loader())
    trainer = trainer_of(tmp_path)
    monkeypatch.setattr(type(trainer.strategy), "root_device", torch.device("cuda:0"))
    with pytest.raises(DataError, match="computes on cuda:0"):
        counterfoil.lightning.order(trainer, Line(), path, train_dataloaders=loader())
    assert not path.exists()
