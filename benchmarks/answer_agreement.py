"""Answers of several machines: whether they are the same, each checked by the others, and a forged one disputed."""

from __future__ import annotations

import time
from collections.abc import Mapping
from importlib.util import find_spec
from pathlib import Path

from msgspec import structs

from benchmarks.answers import TOKENS, write_gpt2
from benchmarks.measure import LeftOutError, Values
from counterfoil.answers.check import check_answer
from counterfoil.answers.making import Asked, answer
from counterfoil.answers.model import AnsweringModel, load_answering
from counterfoil.answers.question import Question, commitment_of
from counterfoil.signing.kinds import AnswerStatement, Sampling
from counterfoil_core.arithmetic.machine import Machine
from counterfoil_core.base.generators import finish
from counterfoil_core.base.precision import PROFILES, ExactPrecision
from counterfoil_core.values.outcome import Outcome

ANSWERS: Mapping[str, Sampling | None] = {"greedy": None, "drawn": Sampling("0.8", 40, "0.95")}
"""How the tokens of each answer are chosen."""
_FEW = 8
FORGED = 7
"""The token that is forged, from 1."""
_PROFILE = "exact-20-rows"
_NONCE = "5" * 64
_SMALL = {"layers": 1, "width": 16, "vocabulary": 256}
_WHOLE = {"layers": 12, "width": 768}


def check_libraries() -> None:
    """Raise LeftOutError where models cannot be loaded."""
    if missing := [each for each in ("transformers", "tokenizers", "safetensors") if find_spec(each) is None]:
        raise LeftOutError(f"It needs {' and '.join(missing)}, not installed here.")


def model_in(folder: Path, *, small: bool) -> AnsweringModel:
    """Return the model of a folder, which is written if it is not there: a small one, or a GPT-2 124M."""
    if not folder.exists():
        write_gpt2(folder, **(_SMALL if small else _WHOLE))
    return load_answering(folder)


def answer_of(model: AnsweringModel, name: str, machine: Machine, *, small: bool) -> AnswerStatement:
    """Answer a question with few tokens, or with as many as are timed; ``name`` is a key of :data:`ANSWERS`."""
    sampling, precision = ANSWERS[name], PROFILES[_PROFILE]
    assert isinstance(precision, ExactPrecision)
    commitment, nonce = (None, None) if sampling is None else (commitment_of(_NONCE), _NONCE)
    asked = Question("Who?", _FEW if small else TOKENS, sampling, "7" * 64, commitment)
    return finish(answer(Asked(model, asked, precision, machine, nonce)))


def check_of(model: AnsweringModel, said: AnswerStatement, machine: Machine) -> Values:
    """Check an answer, and the same with another token at :data:`FORGED`."""
    tokens = list(said.tokens)
    tokens[FORGED - 1] = (tokens[FORGED - 1] + 1) % model.vocabulary
    began = time.perf_counter()
    found = check_answer(said, model, machine)
    seconds = time.perf_counter() - began
    forged = check_answer(structs.replace(said, tokens=tuple(tokens)), model, machine)
    return {
        "outcome": found.outcome.value, "said": found.said, "seconds": seconds, "forged": forged.outcome.value,
        "forged_at": 0 if forged.difference is None else forged.difference.number,
    }  # fmt: skip


def strange_check(check: Values, what: str) -> list[str]:
    """What is not as it should be: the answer is not VERIFIED, or the forged one not DISPUTED at its token."""
    strange = [] if check["outcome"] == Outcome.VERIFIED.value else [f"{what}: {check['said']}"]
    if (check["forged"], check["forged_at"]) != (Outcome.DISPUTED.value, FORGED):
        strange.append(f"{what}, with a forged token: {check['forged']} at token {check['forged_at']}")
    return strange
