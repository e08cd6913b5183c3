"""Answers of several machines: whether they are the same, each checked by the others, and a forged one disputed."""

from __future__ import annotations

import tempfile
import time
from argparse import Namespace
from collections.abc import Mapping
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from msgspec import structs

from benchmarks.answers import TOKENS, write_gpt2
from benchmarks.gpu_jobs import HOST, small, threads_of
from benchmarks.measure import LeftOutError, Values
from counterfoil.answers.check import check_answer
from counterfoil.answers.making import Asked, answer
from counterfoil.answers.model import AnsweringModel, load_answering
from counterfoil.answers.question import Question, commitment_of
from counterfoil.signing.kinds import AnswerStatement, Sampling
from counterfoil_core.arithmetic.machine import Machine, open_machine
from counterfoil_core.base.generators import finish
from counterfoil_core.base.precision import PROFILES, ExactPrecision
from counterfoil_core.values.outcome import Outcome

ANSWERS: Mapping[str, Sampling | None] = {"greedy": None, "drawn": Sampling("0.8", 40, "0.95")}
"""How the tokens of each answer are chosen."""
FEW = 8
"""Tokens of an answer where nothing is timed."""
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


def small_model(folder: Path) -> AnsweringModel:
    """Return a model that answers in a moment, of a folder, which is written if it is not there."""
    if not folder.exists():
        write_gpt2(folder, **_SMALL)
    return load_answering(folder)


def answer_of(model: AnsweringModel, name: str, most: int, machine: Machine) -> AnswerStatement:
    """Answer a question; ``name`` is a key of :data:`ANSWERS`."""
    sampling, precision = ANSWERS[name], PROFILES[_PROFILE]
    assert isinstance(precision, ExactPrecision)
    commitment, nonce = (None, None) if sampling is None else (commitment_of(_NONCE), _NONCE)
    asked = Question("Who?", most, sampling, "7" * 64, commitment)
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


def answers(options: Namespace, name: str) -> Values:
    """Answer a question on CPU and device, and check each answer on both.

    Args:
        options: The device.
        name: A key of :data:`ANSWERS`.
    """
    check_libraries()
    most = FEW if small(options) else TOKENS
    machines = {HOST: open_machine("cpu", threads_of(options)), "device": open_machine(options.device, 1)}
    with tempfile.TemporaryDirectory() as folder:
        write_gpt2(Path(folder), **(_SMALL if small(options) else _WHOLE))
        model = load_answering(Path(folder))
        made: dict[str, AnswerStatement] = {}
        seconds: dict[str, float] = {}
        for where, machine in machines.items():
            began = time.perf_counter()
            made[where] = answer_of(model, name, most, machine)
            seconds[where] = time.perf_counter() - began
        checks: list[dict[str, Any]] = [
            {"maker": maker, "machine": where, **check_of(model, said, machine)}
            for maker, said in made.items()
            for where, machine in machines.items()
        ]
    equal = made[HOST] == made["device"]
    strange = [] if equal else [f"the {name} answer of the device is another than the CPU's"]
    for one in checks:
        strange += strange_check(one, f"{name} answer of {one['maker']}, checked on {one['machine']}")
    right = sum(not strange_check(one, "") for one in checks)
    said = f"{'the same answer' if equal else 'two answers'}, {right} of {len(checks)} checks as they should be"
    return {
        "tokens": len(made[HOST].tokens), "equal": equal, "checks": checks, "made": seconds, "said": said,
        "strange": strange,
    }  # fmt: skip
