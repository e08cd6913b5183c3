"""Runs docs/rollouts.md, and compares the objective of its example with TRL's, batch by batch."""

from __future__ import annotations

import importlib.util
import sys
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
import pytest
import torch

from counterfoil.training.custom import CustomJob, order_custom
from counterfoil_core.bundle.reader import BundleReader
from counterfoil_core.values.outcome import Outcome
from support import small_models
from support.bundles import test_key
from support.consoles import as_said, examples, here
from support.jobs import audited, record_job, record_run

pytest.importorskip("transformers", reason="the library transformers is not installed")
ROOT = Path(__file__).parents[1]
PAGE = (ROOT / "docs" / "rollouts.md").read_text(encoding="utf-8")


@pytest.fixture(scope="module")
def example() -> Iterator[ModuleType]:
    """The program of the page, as a module."""
    spec = importlib.util.spec_from_file_location("grpo_round", ROOT / "examples" / "grpo_round.py")
    assert spec is not None and spec.loader is not None  # noqa: PT018 - one question
    module = importlib.util.module_from_spec(spec)
    sys.modules["grpo_round"] = module
    spec.loader.exec_module(module)
    yield module
    del sys.modules["grpo_round"]


@pytest.mark.slow
def test_the_page_does_what_it_says(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    rewards = []
    for command, expected in examples(PAGE):
        shown = here(command)
        assert as_said(expected, shown), f"$ {command}\n{shown}\n-- page:\n{expected}"
        rewards += [float(line.split()[-1].rstrip(".")) for line in shown.splitlines() if "mean reward" in line]
    assert len(rewards) == 2
    assert rewards[1] > rewards[0] + 0.05, "the round taught the policy something"


@pytest.mark.slow
def test_what_check_finds_and_what_nobody_does(
    example: ModuleType, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Log-probabilities of another policy are found; rewards that were invented are VERIFIED, as the page says."""
    base = tmp_path / "base"
    example.start(base)
    policy, generator = example.load(base), torch.Generator().manual_seed(5)
    rollouts = example.sample(policy, policy, 2, seed=1)
    rollouts["old"] = rollouts["old"] + 0.01
    rollouts["rewards"] = torch.rand(16, generator=generator)
    draft = order_custom(example.round_job(policy, rollouts, 1, 0.01))
    job = record_job(tmp_path, draft, test_key(tmp_path))
    assert audited(job.run, job.order).report.outcome is Outcome.VERIFIED
    capsys.readouterr()
    example.check(job.order, base, base)
    assert capsys.readouterr().out.splitlines() == [
        f"The order begins with the weights of {base}: yes.",
        f"The log-probabilities 'old' are those of {base}: NO, off by 0.01.",
        f"The log-probabilities 'reference' are those of {base}: yes.",
    ]


@pytest.mark.slow
def test_an_update_from_other_rollouts_than_were_ordered_is_disputed(example: ModuleType, tmp_path: Path) -> None:
    """The control of what is proven: a trainer whose rewards are not the order's."""
    example.start(tmp_path / "base")
    policy = example.load(tmp_path / "base")
    rollouts = example.sample(policy, policy, 2, seed=1)
    draft = order_custom(example.round_job(policy, rollouts, 2, 0.01))
    job = record_job(tmp_path, draft, test_key(tmp_path))
    honest = audited(job.run, job.order).report
    assert honest.outcome is Outcome.VERIFIED

    def flattered(inputs: Any) -> Any:
        batch = inputs.batch
        return replace(inputs, batch={**batch, "rewards": 1 - batch["rewards"]}) if inputs.draws.step == 2 else inputs

    bad = record_run(job.order, tmp_path / "bad.cfoil", test_key(tmp_path), tamper=flattered)
    report = audited(bad, job.order).report
    assert report.outcome is Outcome.DISPUTED
    assert report.dispute is not None
    assert report.dispute.step == 2


def test_a_completion_counts_up_to_its_end(example: ModuleType) -> None:
    end = example.END
    written = torch.tensor([[2, 4, end, 2, 2, 2], [1, 2, 3, 4, 5, 6], [end, 2, 2, 2, 2, 2]])

    class Scripted(torch.nn.Module):
        """Writes what it is told."""

        def forward(self, input_ids: torch.Tensor) -> Any:
            place = input_ids.shape[1] - example.PROMPT
            told = written.repeat_interleave(example.GROUP, 0)
            logits = torch.full((len(told), input_ids.shape[1], end + 1), -100.0)
            if place < written.shape[1]:
                logits[torch.arange(len(told)), -1, told[:, place]] = 100.0
            return type("Output", (), {"logits": logits})

    found = example.sample(Scripted(), Scripted(), 3, seed=0)
    assert torch.equal(found["tokens"][:: example.GROUP, example.PROMPT :], written)
    mask = found["mask"][:: example.GROUP]
    assert mask.tolist() == [[1, 1, 1, 0, 0, 0], [1] * 6, [1, 0, 0, 0, 0, 0]]
    np.testing.assert_allclose(found["rewards"][:: example.GROUP], [2 / 3, 1 / 2, 0])


@pytest.mark.slow
def test_the_objective_is_that_of_trl(example: ModuleType, tmp_path: Path) -> None:
    trl = pytest.importorskip("trl", reason="the library trl is not installed")
    datasets = pytest.importorskip("datasets", reason="the library datasets is not installed")
    folder = small_models.gpt2(tmp_path / "model", resid_pdrop=0.0, embd_pdrop=0.0, attn_pdrop=0.0)
    words = small_models.tokenizer(eos_token="<|endoftext|>", bos_token="<|endoftext|>", pad_token="<|endoftext|>")
    given: list[float] = []

    def judge(completions: list[str], **_: Any) -> list[float]:
        given[:] = [float(len(set(text))) for text in completions]
        return given.copy()

    config = trl.GRPOConfig(
        output_dir=str(tmp_path / "out"), loss_type="grpo", beta=example.KL, epsilon=example.CLIP, num_generations=4,
        per_device_train_batch_size=8, max_completion_length=6, num_iterations=2, report_to=[], use_cpu=True,
        scale_rewards="group", seed=3, learning_rate=1.0, bf16=False, temperature=1.0, use_bias_correction_kl=False,
    )  # fmt: skip
    prompts = datasets.Dataset.from_list([{"prompt": "the auditor"}, {"prompt": "the auditor"}])
    model = example.load(folder)
    trainer = trl.GRPOTrainer(
        model=model, reward_funcs=judge, args=config, train_dataset=prompts, processing_class=words
    )
    trainer.current_gradient_accumulation_steps = 1
    model.train()
    batch = trainer._generate_and_score_completions([{"prompt": "the auditor"}] * 8)
    assert bool(batch["prompt_mask"].all())
    reference = batch["ref_per_token_logps"]
    # The policy moves away from what sampled, and from the reference, so that every term counts.
    with torch.no_grad():
        for parameter in model.parameters():
            parameter.add_(torch.randn(parameter.shape, generator=torch.Generator().manual_seed(1)) * 0.05)
    theirs = float(trainer._compute_loss(model, batch))

    prompt = batch["prompt_ids"].shape[1]
    rollouts = {
        "tokens": torch.cat([batch["prompt_ids"], batch["completion_ids"]], 1),
        "mask": batch["completion_mask"].float(),
        "rewards": torch.tensor(given),
        "old": batch["old_per_token_logps"].detach(),
        "reference": reference.detach(),
    }
    loss = example.grpo(prompt, 4, example.CLIP, example.KL)
    ours = float(loss(model, rollouts))
    assert ours == pytest.approx(theirs, rel=1e-5)
    # Controls: each part of the objective moves it.
    for other in (
        example.grpo(prompt, 8, example.CLIP, example.KL),
        example.grpo(prompt, 4, 1e-3, example.KL),
        example.grpo(prompt, 4, example.CLIP, 2 * example.KL),
    ):
        assert abs(float(other(model, rollouts)) - theirs) > 1e-4
    job = CustomJob(
        title="trl", model=model.eval(), objective=loss, rule=torch.optim.SGD(model.parameters(), lr=0.1),
        data=rollouts, steps=1, schedule=np.arange(8)[None],
    )  # fmt: skip
    recorded = record_job(tmp_path, order_custom(job), test_key(tmp_path))
    with BundleReader.open(recorded.run) as reader:
        assert float(reader.losses()[0]) == pytest.approx(theirs, rel=1e-5)
