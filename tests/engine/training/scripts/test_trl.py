"""TRL's trainers, as scripts have them: the order of a supervised fine-tuning trains what TRL trains."""

from __future__ import annotations

import runpy
from pathlib import Path

import numpy as np
import pytest

from counterfoil.cli import main
from counterfoil_core.bundle.reader import BundleReader
from counterfoil_core.values.outcome import Outcome
from support import small_models
from support.bundles import test_key
from support.jobs import audited, record_run

pytest.importorskip("trl", reason="the library trl is not installed")
pytestmark = [pytest.mark.slow, pytest.mark.every_moment]

SFT = """
import sys

from datasets import Dataset
from transformers import AutoModelForCausalLM, AutoTokenizer
from trl import SFTConfig, SFTTrainer

tokenizer = AutoTokenizer.from_pretrained("model")
tokenizer.pad_token = tokenizer.eos_token
rows = Dataset.from_list([{"text": f"the cat sat on the mat {'and ran ' * (n % 3)}"} for n in range(8)])
config = SFTConfig(
    "out", max_steps=3, per_device_train_batch_size=2, learning_rate=1e-3, report_to=[], bf16=False, use_cpu=True
)
model = AutoModelForCausalLM.from_pretrained("model")
trainer = SFTTrainer(model, config, train_dataset=rows, processing_class=tokenizer)
trainer.train()
model.save_pretrained("trained")
"""


def test_a_supervised_fine_tuning_trains_what_trl_trains(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    from safetensors.numpy import load_file

    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("ACCELERATE_USE_CPU", "true")
    small_models.gpt2(tmp_path / "model", resid_pdrop=0.0, embd_pdrop=0.0, attn_pdrop=0.0)
    (tmp_path / "train.py").write_text(SFT)
    assert main(["order", "--script", "train.py", "--out", "job.cfoil"]) == 0
    shown = capsys.readouterr().out
    assert "Taken over where SFTTrainer.train begins" in shown
    assert "Compared with the script in all 3 steps." in shown
    assert not (tmp_path / "trained").exists()
    run = record_run(tmp_path / "job.cfoil", tmp_path / "run.cfoil", test_key(tmp_path))
    assert audited(run, tmp_path / "job.cfoil", perturbation="reversed").report.outcome is Outcome.VERIFIED
    with BundleReader.open(run) as reader:
        state = dict(reader.checkpoint(3))
    runpy.run_path("train.py", run_name="__main__")
    initial = load_file(tmp_path / "model" / "model.safetensors")
    moved = 0.0
    for name, weights in load_file(tmp_path / "trained" / "model.safetensors").items():
        np.testing.assert_allclose(state[name], weights, rtol=0, atol=2e-5)
        moved = max(moved, float(np.abs(initial[name] - weights).max()))
    assert moved > 1e-3
