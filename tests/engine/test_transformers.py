"""A Trainer of transformers, ordered from code."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import torch

import counterfoil.transformers
from counterfoil_core.base.errors import DataError
from counterfoil_core.base.precision import PROFILES
from counterfoil_core.bundle.reader import BundleReader
from counterfoil_core.values.outcome import Outcome
from support import small_models
from support.bundles import test_key
from support.jobs import audited, record_run

transformers = pytest.importorskip("transformers", reason="the library transformers is not installed")
pytest.importorskip("accelerate", reason="the Trainer needs the library accelerate")


@pytest.fixture(scope="module")
def gpt2(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return small_models.gpt2(tmp_path_factory.mktemp("models") / "model")


@pytest.fixture(autouse=True)
def on_the_processor() -> Iterator[None]:
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("ACCELERATE_USE_CPU", "true")
        yield


def trainer_of(gpt2: Path, tmp_path: Path, **settings: Any) -> Any:
    rows = [{"input_ids": row, "labels": row} for row in torch.arange(12 * 6).reshape(12, 6) % 50]
    args = transformers.TrainingArguments(
        str(tmp_path / "out"),
        **{"per_device_train_batch_size": 4, "max_steps": 3, "report_to": [], "seed": 5, "use_cpu": True, **settings},
    )
    return transformers.Trainer(transformers.AutoModelForCausalLM.from_pretrained(gpt2), args, train_dataset=rows)


def test_an_order_is_written_and_audited(gpt2: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    trainer = trainer_of(gpt2, tmp_path)
    manifest = counterfoil.transformers.order(
        trainer, tmp_path / "job.cfoil", precision=PROFILES["exact-20"], max_steps=2
    )
    assert (manifest.steps, manifest.seed, manifest.precision) == (2, 5, PROFILES["exact-20"])
    assert "Taken over where Trainer.train begins." in capsys.readouterr().err
    with BundleReader.open(tmp_path / "job.cfoil") as reader:
        assert reader.manifest == manifest
    run = record_run(tmp_path / "job.cfoil", tmp_path / "run.cfoil", test_key(tmp_path))
    assert audited(run, tmp_path / "job.cfoil").report.outcome is Outcome.VERIFIED


def test_what_cannot_be_ordered_writes_nothing(gpt2: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "job.cfoil"
    with pytest.raises(DataError, match=r"is no transformers.Trainer, but PosixPath") as caught:
        counterfoil.transformers.order(tmp_path, path)
    assert "counterfoil[models]" in str(caught.value.remedy)
    with pytest.raises(DataError, match="a step at least"):
        counterfoil.transformers.order(trainer_of(gpt2, tmp_path), path, max_steps=0)
    with pytest.raises(DataError, match="mixed precision") as caught:
        counterfoil.transformers.order(trainer_of(gpt2, tmp_path, bf16=True), path)
    assert 'precision=counterfoil.PROFILES["float32-bfloat16"]' in str(caught.value.remedy)
    trainer = trainer_of(gpt2, tmp_path)
    monkeypatch.setattr(transformers.TrainingArguments, "device", torch.device("cuda:0"))
    with pytest.raises(DataError, match="computes on cuda:0"):
        counterfoil.transformers.order(trainer, path)
    assert not path.exists()


def test_the_module_imports_no_library_and_hides_none() -> None:
    code = (
        "import sys, counterfoil.transformers, counterfoil.lightning\n"
        "assert not {'transformers', 'lightning', 'torch'} & set(sys.modules)\n"
        "import transformers; assert 'site-packages' in transformers.__file__"
    )
    subprocess.run([sys.executable, "-c", code], check=True)
