"""An answer of 64 tokens, made token by token and checked in one pass, by models with random weights."""

from __future__ import annotations

import tempfile
import time
from argparse import Namespace
from pathlib import Path
from typing import Any

import torch

from benchmarks.measure import Benchmark, Cell, Results, Sections, Values, argument, figures, on_page, origins
from benchmarks.pages import markdown
from counterfoil.answers.check import check_answer
from counterfoil.answers.making import ANSWERING, COMPARING, Asked, answer
from counterfoil.answers.model import load_answering
from counterfoil.answers.question import Question
from counterfoil.training.stages import Preparing
from counterfoil_core.arithmetic.machine import open_machine
from counterfoil_core.base.generators import finish, relay
from counterfoil_core.base.precision import PROFILES, ExactPrecision
from counterfoil_core.values.outcome import Outcome

TOKENS = 64
SIZES = {"GPT-2, 2 layers of 64": (2, 64), "GPT-2, 4 layers of 256": (4, 256), "GPT-2, 12 layers of 768": (12, 768)}
"""Layers and width; the vocabulary is GPT-2's."""
_PROMPT = "Who audits the auditor? "


def write_gpt2(folder: Path, layers: int, width: int, vocabulary: int | None = None) -> None:
    """Write a GPT-2 with random weights, whose tokenizer knows bytes alone; its vocabulary is GPT-2's unless given."""
    import tokenizers
    import transformers

    letters = sorted(tokenizers.pre_tokenizers.ByteLevel.alphabet())
    made = tokenizers.Tokenizer(tokenizers.models.BPE({letter: n for n, letter in enumerate(letters)}, []))
    made.pre_tokenizer = tokenizers.pre_tokenizers.ByteLevel(add_prefix_space=False)
    fast: Any = transformers.PreTrainedTokenizerFast
    fast(tokenizer_object=made).save_pretrained(folder)
    torch.manual_seed(1)
    more: Any = {} if vocabulary is None else {"vocab_size": vocabulary}
    config = transformers.GPT2Config(
        n_embd=width,
        n_layer=layers,
        n_head=width // 16 if width < 64 else width // 64,
        n_positions=256,
        bos_token_id=None,
        eos_token_id=None,
        **more,
    )
    transformers.GPT2LMHeadModel(config).save_pretrained(folder)


def measure_answer(key: str, threads: int | None, profile: str) -> dict[str, float]:
    """Time the parts of an answer, in processor seconds: each pass after the first, one pass over all, and a check."""
    machine, precision = open_machine("cpu", threads), PROFILES[profile]
    assert isinstance(precision, ExactPrecision)
    with tempfile.TemporaryDirectory() as folder:
        write_gpt2(Path(folder), *SIZES[key])
        model = load_answering(Path(folder))
        asked = Question(_PROMPT, TOKENS, None, "7" * 64, None)
        made = answer(Asked(model, asked, precision, machine))
        times: dict[str, float] = {}

        def note(event: Preparing) -> None:
            times.setdefault(event.stage, time.process_time())

        said = finish(relay(made, note))
        ended = time.process_time()
        found = check_answer(said, model, machine, asked)
        checked = time.process_time()
    assert found.outcome is Outcome.VERIFIED, found.said
    assert len(said.tokens) == TOKENS
    return {
        "tokens": times[COMPARING] - times[ANSWERING],
        "pass": ended - times[COMPARING],
        "check": checked - ended,
    }


def _measure(options: Namespace, key: str) -> Values:
    return dict(measure_answer(key, options.threads, options.precision))


def _sections(results: Results, _options: Namespace) -> Sections:
    rows = []
    for key, one in figures(results).items():
        made = one["pass"] + one["tokens"]
        ratio = f"{made / one['pass']:.0f} times"
        rows.append([key, f"{made:.2f} s", f"{one['pass']:.2f} s", ratio, f"{one['check'] - one['pass']:.2f} s"])
    table = markdown(
        [
            "model",
            "made: the prompt's pass, and one for each token",
            "checked: one pass",
            "ratio",
            "capturing it, and the self-test",
        ],
        rows,
    )
    return on_page("answers.md", "measured", origins(results), table)


ANSWERS = Benchmark(
    f"An answer of {TOKENS} tokens, made and checked, in processor seconds.",
    lambda _options: [Cell(key, seconds=60, alone=True) for key in SIZES],
    _measure,
    _sections,
    (argument("--precision", default="exact-20-rows", help="the profile"),),
    out="benchmarks/measured/answers",
)
