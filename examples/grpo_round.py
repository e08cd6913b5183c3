"""One round of GRPO as an order: what was sampled is its data, and the update from it is recorded and audited.

    python examples/grpo_round.py start base
    python examples/grpo_round.py order base --reference base --out round-1.cfoil
    python examples/grpo_round.py check round-1.cfoil base --reference base

The policy is a tiny GPT-2 with random weights. Its environment: continue three digits, and get as reward the share of
even digits in what was written. The objective is that of Shao et al. 2024 (DeepSeekMath, equations 3 and 4).
docs/rollouts.md has the whole round, with the commands that record and audit it.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch import Tensor, nn
from transformers import AutoModelForCausalLM, GPT2Config, GPT2LMHeadModel
from transformers.utils import logging

from counterfoil import CustomJob, order_custom
from counterfoil_core.bundle.reader import BundleReader

DIGITS, END = 10, 10
PROMPT, COMPLETION = 3, 6
GROUP = 8
"""Completions of one prompt, whose rewards are compared with each other."""
CLIP, KL = 0.2, 0.04
NEAR = 1e-4
"""How far log-probabilities in float32 may lie from each other that two machines compute of the same weights."""
SMALL = 1e-4
"""Added to the deviation of a group's rewards, which is zero where all are equal."""


def log_probabilities(model: nn.Module, tokens: Tensor, prompt: int) -> Tensor:
    """Return the log-probability of each token behind the prompt, given those before it: ``[rows, completion]``."""
    logits = model(input_ids=tokens).logits[:, prompt - 1 : -1]
    return logits.log_softmax(-1).gather(-1, tokens[:, prompt:].unsqueeze(-1)).squeeze(-1)


def grpo(prompt: int, group: int, clip: float, kl: float) -> Callable[[nn.Module, Mapping[str, Tensor]], Tensor]:
    """Return the objective of GRPO: clipped ratios times advantages within a group, and a distance to a reference.

    Args:
        prompt: Tokens of each prompt.
        group: Completions of each prompt; they stand one behind the other in the batch.
        clip: How far from 1 the ratio of new to old probability counts.
        kl: Weight of the distance.
    """

    def loss(model: nn.Module, batch: Mapping[str, Tensor]) -> Tensor:
        rewards = batch["rewards"].view(-1, group)
        spread = rewards.std(dim=1, keepdim=True) + SMALL
        advantages = ((rewards - rewards.mean(dim=1, keepdim=True)) / spread).view(-1, 1)
        new = log_probabilities(model, batch["tokens"], prompt)
        ratio = (new - batch["old"]).exp()
        gain = torch.minimum(ratio * advantages, ratio.clamp(1 - clip, 1 + clip) * advantages)
        away = batch["reference"] - new
        distance = away.exp() - away - 1
        mask = batch["mask"]
        return (((kl * distance - gain) * mask).sum(1) / mask.sum(1)).mean()

    return loss


@torch.no_grad()
def sample(policy: nn.Module, reference: nn.Module, prompts: int, seed: int) -> dict[str, Tensor]:
    """Let the policy continue random prompts, and return all that the update needs to know of it."""
    drawing = torch.Generator().manual_seed(seed)
    tokens = torch.randint(DIGITS, (prompts, PROMPT), generator=drawing).repeat_interleave(GROUP, 0)
    for _ in range(COMPLETION):
        following = policy(input_ids=tokens).logits[:, -1].softmax(-1)
        tokens = torch.cat([tokens, torch.multinomial(following, 1, generator=drawing)], 1)
    written = tokens[:, PROMPT:]
    ended = (written == END).cumsum(1)
    mask = ((ended == 0) | ((ended == 1) & (written == END))).float()
    return {
        "tokens": tokens,
        "mask": mask,
        "rewards": reward(written, mask),
        "old": log_probabilities(policy, tokens, PROMPT),
        "reference": log_probabilities(reference, tokens, PROMPT),
    }


def reward(written: Tensor, mask: Tensor) -> Tensor:
    """The environment: which share of what was written are even digits."""
    even = (written != END) & (written % 2 == 0)
    return (even * mask).sum(1) / mask.sum(1)


def round_job(policy: nn.Module, rollouts: Mapping[str, Tensor], steps: int, rate: float) -> CustomJob:
    """The order's job: so many updates, each from all that was sampled."""
    rows = len(rollouts["tokens"])
    return CustomJob(
        title="One round of GRPO",
        model=policy,
        objective=grpo(PROMPT, GROUP, CLIP, KL),
        rule=torch.optim.AdamW(policy.parameters(), lr=rate, weight_decay=0.0),
        data=dict(rollouts),
        steps=steps,
        schedule=np.tile(np.arange(rows), (steps, 1)),
        checkpoint_every=1,
    )


def load(folder: Path) -> Any:
    """A policy out of its folder, ready to be sampled and trained: without dropout the two are the same."""
    return AutoModelForCausalLM.from_pretrained(str(folder), local_files_only=True, use_cache=False).eval()


def start(folder: Path) -> None:
    """Make the policy to begin with."""
    torch.manual_seed(0)
    none = {"resid_pdrop": 0.0, "embd_pdrop": 0.0, "attn_pdrop": 0.0}
    sizes = {"n_positions": PROMPT + COMPLETION, "n_embd": 32, "n_layer": 1, "n_head": 2}
    config = GPT2Config(vocab_size=DIGITS + 1, bos_token_id=END, eos_token_id=END, **sizes, **none)
    GPT2LMHeadModel(config).save_pretrained(folder)
    print(f"Wrote {folder}: a policy of {load(folder).num_parameters():,} weights.")


def order(given: argparse.Namespace) -> None:
    """Sample a round with a policy, and order the update from it."""
    policy = load(given.policy)
    rollouts = sample(policy, load(given.reference), given.prompts, given.seed)
    order_custom(round_job(policy, rollouts, given.steps, given.rate)).write(given.out)
    print(f"Sampled {len(rollouts['rewards'])} completions; mean reward {rollouts['rewards'].mean():.3f}.")
    print(f"Wrote {given.out}.")


def check(path: Path, policy: Path, reference: Path) -> None:
    """Compute again what of the rollouts follows from the weights: old log-probabilities, and the reference's."""
    with BundleReader.open(path) as reader:
        contents = reader.check_order_contents()
    weights = {name: value.detach().numpy() for name, value in load(policy).named_parameters()}
    same = all(np.array_equal(contents.initial[name], value) for name, value in weights.items())
    print(f"The order begins with the weights of {policy}: {'yes' if same else 'NO'}.")
    tokens = torch.from_numpy(np.array(contents.data["tokens"])).long()
    with torch.no_grad():
        for name, folder in (("old", policy), ("reference", reference)):
            again = log_probabilities(load(folder), tokens, PROMPT).numpy()
            away = float(np.abs(again - contents.data[name]).max())
            said = "yes" if away < NEAR else f"NO, off by {away:.2g}"
            print(f"The log-probabilities {name!r} are those of {folder}: {said}.")


def main() -> None:
    """Run a part of a round."""
    logging.set_verbosity_error()
    logging.disable_progress_bar()
    parser = argparse.ArgumentParser(description="One round of GRPO as an order.")
    parts = parser.add_subparsers(dest="part", required=True)
    part = parts.add_parser("start", help="make a policy with random weights")
    part.add_argument("folder", type=Path)
    part = parts.add_parser("order", help="sample a round, and order the update")
    part.add_argument("policy", type=Path)
    part.add_argument("--reference", type=Path, required=True, help="the model that the policy stays close to")
    part.add_argument("--out", type=Path, required=True)
    part.add_argument("--prompts", type=int, default=16)
    part.add_argument("--steps", type=int, default=4, help="updates from what was sampled")
    part.add_argument("--rate", type=float, default=0.003)
    part.add_argument("--seed", type=int, default=0, help="of what is sampled")
    part = parts.add_parser("check", help="compute again what follows from weights")
    part.add_argument("order", type=Path)
    part.add_argument("policy", type=Path)
    part.add_argument("--reference", type=Path, required=True)
    given = parser.parse_args()
    if given.part == "start":
        start(given.folder)
    elif given.part == "order":
        order(given)
    else:
        check(given.order, given.policy, given.reference)


if __name__ == "__main__":
    main()
