"""Trainers of transformers whose training becomes an order: the same weights as their own, and names of what cannot."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from torch import nn

from counterfoil.cli import main
from counterfoil.training.scripts.handover import Wanted
from counterfoil.training.scripts.trainers import trainer_job
from counterfoil_core.base.errors import DataError, ProgramError
from counterfoil_core.base.precision import PROFILES
from counterfoil_core.bundle.reader import BundleReader
from counterfoil_core.values.outcome import Outcome
from support import small_models
from support.bundles import test_key
from support.jobs import audited, record_job, record_run

transformers = pytest.importorskip("transformers", reason="the library transformers is not installed")
pytest.importorskip("accelerate", reason="the Trainer needs the library accelerate")

SLOW = pytest.mark.slow
SCRIPT = """
from transformers import AutoModelForCausalLM, HfArgumentParser, Trainer, TrainingArguments
import torch

(args,) = HfArgumentParser(TrainingArguments).parse_args_into_dataclasses()
rows = [{"input_ids": row, "labels": row} for row in torch.arange(12 * 6).reshape(12, 6) % 50]
trainer = Trainer(AutoModelForCausalLM.from_pretrained("model"), args, train_dataset=rows)
trainer.train()
raise AssertionError("the script goes on")
"""


@pytest.fixture(scope="module", autouse=True)
def on_the_processor() -> Iterator[None]:
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("ACCELERATE_USE_CPU", "true")
        yield


@pytest.fixture(scope="module")
def gpt2(tmp_path_factory: pytest.TempPathFactory) -> Path:
    plain = {"resid_pdrop": 0.0, "embd_pdrop": 0.0, "attn_pdrop": 0.0}
    return small_models.gpt2(tmp_path_factory.mktemp("models") / "model", **plain)


class Batches:
    """A collator that keeps the rows of each batch."""

    def __init__(self) -> None:
        self.seen: list[list[int]] = []

    def __call__(self, rows: list[dict[str, Any]]) -> dict[str, torch.Tensor]:
        self.seen.append([row["input_ids"][0] for row in rows])
        return {name: torch.tensor([row[name] for row in rows]) for name in rows[0]}


def rows() -> list[dict[str, list[int]]]:
    """Rows with as many tokens each, of which different numbers are learned."""
    made = []
    for number in range(16):
        ids = [number, *(1 + (number * 7 + place * 3) % 50 for place in range(9))]
        made.append({"input_ids": ids, "labels": [-100] * (number % 6) + ids[number % 6 :]})
    return made


def trainer_of(gpt2: Path, tmp_path: Path, kind: Any = None, **settings: Any) -> Any:
    chosen = settings.pop("callbacks", None)
    model = settings.pop("model", None) or transformers.AutoModelForCausalLM.from_pretrained(gpt2)
    args = transformers.TrainingArguments(
        str(tmp_path / "out"),
        **{"per_device_train_batch_size": 4, "learning_rate": 1e-3, "max_steps": 6, "report_to": [], **settings},
    )
    return (kind or transformers.Trainer)(
        model, args, data_collator=Batches(), train_dataset=rows(), eval_dataset=rows(), callbacks=chosen
    )


def ordered(trainer: Any, wanted: Wanted | None = None) -> Any:
    return trainer_job(trainer, wanted or Wanted(), trainer.train)[0]


class Weighted(transformers.Trainer):
    """A loss of one's own, which does not count what its step has."""

    def compute_loss(self, model: nn.Module, inputs: dict[str, Any], *_: Any, **__: Any) -> torch.Tensor:
        labels = inputs.pop("labels")
        logits = model(**inputs).logits
        return nn.functional.cross_entropy(logits[:, :-1].flatten(0, 1), labels[:, 1:].flatten(), ignore_index=-100)


@pytest.mark.parametrize(
    ("kind", "settings"),
    [
        # Sixteen rows are four batches: a step of three, and one of one.
        (None, {"gradient_accumulation_steps": 3, "weight_decay": 0.1, "lr_scheduler_type": "cosine", "max_steps": 3}),
        pytest.param(None, {"label_smoothing_factor": 0.2, "warmup_steps": 2, "max_grad_norm": 0.05}, marks=SLOW),
        pytest.param(Weighted, {"gradient_accumulation_steps": 3, "optim": "sgd", "learning_rate": 0.1}, marks=SLOW),
        pytest.param(None, {"gradient_accumulation_steps": 2, "per_device_train_batch_size": 6}, marks=SLOW),
    ],
    ids=["counted over uneven steps", "smoothed labels", "a loss of one's own", "a short batch"],
)
def test_an_order_trains_what_the_trainer_trains(gpt2: Path, tmp_path: Path, kind: Any, settings: Any) -> None:
    real = trainer_of(gpt2, tmp_path, kind, **settings)
    given = trainer_of(gpt2, tmp_path, kind, **settings)
    draft = ordered(given).draft()
    real.train()
    recorded = record_job(tmp_path, draft, test_key(tmp_path))
    assert audited(recorded.run, recorded.order, perturbation="reversed").report.outcome is Outcome.VERIFIED
    with BundleReader.open(recorded.run) as reader:
        state = dict(reader.checkpoint(reader.manifest.steps))
    assert given.data_collator.seen == real.data_collator.seen  # the same rows in the same order
    assert len(given.data_collator.seen) >= draft.manifest.steps
    moved = 0.0
    for name, weights in real.model.state_dict().items():
        if name in state:
            np.testing.assert_allclose(state[name], weights.numpy(), rtol=0, atol=3e-6)
            moved = max(moved, float(np.abs(draft.initial[name] - weights.numpy()).max()))
    assert moved > 1e-3


@pytest.mark.slow
def test_a_script_is_ordered_under_an_exact_profile_and_verified(
    gpt2: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "model").symlink_to(gpt2)
    (tmp_path / "train.py").write_text(SCRIPT)
    script = ["--output_dir", "out", "--per_device_train_batch_size", "4", "--save_steps", "2", "--report_to", "none"]
    profile = ["--precision", "exact-20", "--max-steps", "2"]
    before = transformers.Trainer.train
    assert main(["order", "--script", "train.py", "--out", "job.cfoil", *profile, "--", *script]) == 0
    shown = capsys.readouterr().out
    assert "Taken over where Trainer.train begins" in shown
    assert "Compared with the script in all 2 steps." in shown
    assert transformers.Trainer.train is before
    # What it saved went into copies of its folder.
    assert not (tmp_path / "out").exists()
    with BundleReader.open("job.cfoil") as reader:
        manifest = reader.manifest
    assert (manifest.steps, manifest.checkpoint_every, manifest.precision) == (2, 2, PROFILES["exact-20"])
    run = record_run(tmp_path / "job.cfoil", tmp_path / "run.cfoil", test_key(tmp_path))
    assert audited(run, tmp_path / "job.cfoil").report.outcome is Outcome.VERIFIED


def test_adapters_alone_learn(gpt2: Path, tmp_path: Path) -> None:
    peft = pytest.importorskip("peft", reason="the library peft is not installed")
    config = peft.LoraConfig(r=2, target_modules=["c_attn"], task_type="CAUSAL_LM", fan_in_fan_out=True)
    model = peft.get_peft_model(transformers.AutoModelForCausalLM.from_pretrained(gpt2), config)
    draft = ordered(trainer_of(gpt2, tmp_path, model=model, max_steps=1)).draft()
    slots = {name for name in draft.initial if ":" in name}
    assert slots
    assert all("lora_" in name for name in slots)


class Stopper(transformers.TrainerCallback):
    """Stops through a function of its own."""

    def on_step_end(self, args: Any, state: Any, control: Any, **kwargs: Any) -> None:
        self._decide(control)

    def _decide(self, control: Any) -> None:
        control.should_training_stop = True


class Saver(transformers.TrainerCallback):
    """Changes nothing of the training."""

    def on_step_end(self, args: Any, state: Any, control: Any, **kwargs: Any) -> None:
        control.should_save = True
        raise AssertionError("callbacks have a rest")


class SyncRefModelCallback(transformers.TrainerCallback):
    """Named as the one of TRL's that changes a model."""


class OwnLoop(transformers.Trainer):
    def _inner_training_loop(self, *arguments: Any, **settings: Any) -> None:
        """A loop of one's own."""


class Adversarial(transformers.Trainer):
    def training_step(self, model: nn.Module, inputs: dict[str, Any], count: Any = None) -> torch.Tensor:
        for _ in range(2):
            loss = self.compute_loss(model, dict(inputs))
            self.accelerator.backward(loss)
        return loss.detach()


PLATEAU = {"lr_scheduler_type": "reduce_lr_on_plateau", "eval_strategy": "steps", "eval_steps": 2}


@pytest.mark.parametrize(
    ("kind", "settings", "sentence"),
    [
        (None, {"callbacks": [transformers.EarlyStoppingCallback()]}, "EarlyStoppingCallback sets control.should_tr"),
        (None, {"callbacks": [Stopper()]}, r"Stopper sets control.should_training_stop \(.*test_trainers.py, line"),
        (
            None,
            {"callbacks": [SyncRefModelCallback()]},
            "SyncRefModelCallback changes what is trained betw",
        ),
        (OwnLoop, {}, r"OwnLoop has a training loop of its own, _inner_training_loop \(.*test_trainers.py"),
        (Adversarial, {}, "Adversarial.training_step has 2 backward passes"),
        (None, PLATEAU, "ReduceLROnPlateau sets the learning rate from measured"),
        (None, {"bf16": True, "use_cpu": True}, "mixed precision \\(bfloat16\\)"),
    ],
)
def test_what_cannot_be_ordered_is_named(gpt2: Path, tmp_path: Path, kind: Any, settings: Any, sentence: str) -> None:
    trainer = trainer_of(gpt2, tmp_path, kind, **settings)
    with pytest.raises(DataError, match=sentence) as caught:
        ordered(trainer).draft()
    assert caught.value.remedy


def test_a_training_that_is_resumed_is_refused(gpt2: Path, tmp_path: Path) -> None:
    trainer = trainer_of(gpt2, tmp_path)
    for arguments, settings in ((["out"], {}), ([], {"resume_from_checkpoint": True})):
        with pytest.raises(DataError, match="resume_from_checkpoint"):
            trainer_job(trainer, Wanted(), trainer.train, arguments, settings)
    trainer.args.load_best_model_at_end = True
    with pytest.raises(DataError, match="load_best_model_at_end"):
        ordered(trainer)
    trainer.args.load_best_model_at_end, trainer.args.deepspeed = False, {"zero": 3}
    with pytest.raises(DataError, match="DeepSpeed"):
        ordered(trainer)


def test_callbacks_have_a_rest_and_are_there_afterwards(gpt2: Path, tmp_path: Path) -> None:
    trainer = trainer_of(gpt2, tmp_path, callbacks=[Saver()], max_steps=3)
    before = list(trainer.callback_handler.callbacks)
    job, notes = trainer_job(trainer, Wanted(PROFILES["float64-24"], 2), trainer.train)
    assert job.steps == 2
    assert any("Saver" in note for note in notes)
    assert trainer.callback_handler.callbacks == before
    assert "training_step" not in vars(trainer)


def test_mixed_precision_becomes_a_profile(gpt2: Path, tmp_path: Path) -> None:
    trainer = trainer_of(gpt2, tmp_path, bf16=True, use_cpu=True, max_steps=1, gradient_checkpointing=True)
    wanted = Wanted(choose=lambda question, names: PROFILES[names[0]])
    job, notes = trainer_job(trainer, wanted, trainer.train)
    assert job.precision == PROFILES["float32-bfloat16"]
    assert any("Mixed precision (bfloat16) is left out" in note for note in notes)
    assert any("Gradient checkpointing is left out" in note for note in notes)


class Annealed(Weighted):
    """Reads what the Trainer counts, for a message and for its loss."""

    weigh: Any = staticmethod(lambda state: 1.0)

    def compute_loss(self, model: nn.Module, inputs: dict[str, Any], *_: Any, **__: Any) -> torch.Tensor:
        if self.state.global_step % 2 == 0:
            self.message = f"epoch {self.state.epoch}"
        return super().compute_loss(model, inputs) * self.weigh(self.state)


@pytest.mark.every_moment
@pytest.mark.parametrize(
    ("weigh", "read"),
    [
        (lambda state: state.global_step / state.max_steps, "global_step"),
        pytest.param(lambda state: state.epoch + 1.0, "epoch", marks=SLOW),
    ],
)
def test_a_loss_that_hangs_on_what_is_counted_is_refused(gpt2: Path, tmp_path: Path, weigh: Any, read: str) -> None:
    trainer = trainer_of(gpt2, tmp_path, Annealed, max_steps=3)
    state = trainer.state
    trainer.weigh = weigh
    with pytest.raises(ProgramError, match=rf"test_trainers.py, line \d+\): it hangs on .*{read}"):
        ordered(trainer).draft()
    assert type(trainer.state) is type(state)
