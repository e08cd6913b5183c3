"""Makes what a fine-tuning begins with: a small GPT-2 that has read plays, a play for it to learn, and one to judge by.

    python examples/small_gpt.py base --text plays.txt

Ordinary transformers and torch; nothing of it is recorded. The folder then holds ``model`` (a folder as
``save_pretrained`` writes it), ``tune.txt`` and ``held-out.txt``.
"""

from __future__ import annotations

import argparse
from pathlib import Path

import torch
from tokenizers import Tokenizer, decoders, models, pre_tokenizers, trainers
from transformers import GPT2Config, GPT2LMHeadModel, PreTrainedTokenizerFast
from transformers.utils import logging

from counterfoil_resources.plays import load_plays

END = "<|endoftext|>"


def split(text: str) -> tuple[str, str, str]:
    """Cut a text, at the ends of speeches, into seven tenths to begin with, two to learn, and one to judge by."""
    first = text.rindex("\n\n", 0, len(text) * 7 // 10) + 2
    second = text.rindex("\n\n", 0, len(text) * 9 // 10) + 2
    return text[:first], text[first:second], text[second:]


def train_tokenizer(text: str, size: int, context: int) -> PreTrainedTokenizerFast:
    """Learn a byte-level vocabulary of ``size`` tokens."""
    tokenizer = Tokenizer(models.BPE())
    tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    tokenizer.decoder = decoders.ByteLevel()
    alphabet = pre_tokenizers.ByteLevel.alphabet()
    trainer = trainers.BpeTrainer(vocab_size=size, special_tokens=[END], initial_alphabet=alphabet, show_progress=False)
    tokenizer.train_from_iterator(text.splitlines(keepends=True), trainer)
    return PreTrainedTokenizerFast(tokenizer_object=tokenizer, eos_token=END, bos_token=END, model_max_length=context)


def pretrain(model: GPT2LMHeadModel, tokens: torch.Tensor, *, steps: int, batch: int, context: int) -> float:
    """Train on random pieces of a text; returns the mean loss of the last tenth of the steps."""
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-3)
    scheduler = torch.optim.lr_scheduler.OneCycleLR(optimizer, 2e-3, total_steps=steps)
    losses = []
    for _ in range(steps):
        starts = torch.randint(len(tokens) - context, (batch,)).tolist()
        rows = torch.stack([tokens[start : start + context] for start in starts])
        loss = model(rows, labels=rows).loss
        optimizer.zero_grad()
        loss.backward()
        torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimizer.step()
        scheduler.step()
        losses.append(loss.item())
        if len(losses) % max(1, steps // 5) == 0:
            print(f"step {len(losses)} of {steps}, loss {losses[-1]:.3f}", flush=True)
    last = losses[-max(1, steps // 10) :]
    return sum(last) / len(last)


def main() -> None:
    """Make the folder."""
    parser = argparse.ArgumentParser(description="Make a small GPT-2 to fine-tune, and texts.")
    parser.add_argument("folder", type=Path)
    parser.add_argument("--text", type=Path, help="the plays; 100 kB that come with Counterfoil unless given")
    parser.add_argument("--steps", type=int, default=1000)
    parser.add_argument("--batch", type=int, default=16)
    parser.add_argument("--layers", type=int, default=2)
    parser.add_argument("--width", type=int, default=96, help="a multiple of 16")
    parser.add_argument("--context", type=int, default=64)
    parser.add_argument("--vocabulary", type=int, default=512)
    given = parser.parse_args()

    logging.set_verbosity_error()
    logging.disable_progress_bar()
    text = load_plays() if given.text is None else given.text.read_text(encoding="utf-8")
    begin, tune, held_out = split(text)
    torch.manual_seed(0)
    tokenizer = train_tokenizer(begin, given.vocabulary, given.context)
    config = GPT2Config(
        vocab_size=len(tokenizer),
        n_positions=given.context,
        n_embd=given.width,
        n_layer=given.layers,
        n_head=given.width // 16,
        bos_token_id=tokenizer.bos_token_id,
        eos_token_id=tokenizer.eos_token_id,
    )
    model = GPT2LMHeadModel(config).train()
    tokens = torch.tensor(tokenizer(begin, verbose=False)["input_ids"])
    loss = pretrain(model, tokens, steps=given.steps, batch=given.batch, context=given.context)

    given.folder.mkdir(parents=True, exist_ok=True)
    model.save_pretrained(given.folder / "model")
    tokenizer.save_pretrained(given.folder / "model")
    (given.folder / "tune.txt").write_text(tune, encoding="utf-8")
    (given.folder / "held-out.txt").write_text(held_out, encoding="utf-8")
    print(f"Wrote {given.folder}: a GPT-2 of {model.num_parameters():,} weights, loss {loss:.3f}; two texts.")


if __name__ == "__main__":
    main()
