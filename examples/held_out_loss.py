"""Says how well language models predict a text that none of them has learned.

python examples/held_out_loss.py held-out.txt MODEL_FOLDER ...
"""

from __future__ import annotations

import sys
from pathlib import Path

import torch
from transformers import AutoModelForCausalLM, AutoTokenizer
from transformers.utils import logging


@torch.no_grad()
def mean_loss(folder: Path, text: str) -> float:
    """The mean cross entropy of each next token, in nats, over rows as long as the model can see."""
    tokenizer = AutoTokenizer.from_pretrained(folder, local_files_only=True)
    model = AutoModelForCausalLM.from_pretrained(folder, local_files_only=True, dtype=torch.float32).eval()
    length = model.config.max_position_embeddings
    tokens = torch.tensor(tokenizer(text, verbose=False)["input_ids"])
    rows = tokens[: len(tokens) // length * length].reshape(-1, length)
    losses = [model(part, labels=part).loss.item() * len(part) for part in rows.split(64)]
    return sum(losses) / len(rows)


if __name__ == "__main__":
    logging.set_verbosity_error()
    logging.disable_progress_bar()
    text = Path(sys.argv[1]).read_text(encoding="utf-8")
    for name in sys.argv[2:]:
        print(f"{name}: loss {mean_loss(Path(name), text):.3f} a token")
