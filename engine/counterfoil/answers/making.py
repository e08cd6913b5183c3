"""An answer, made token by token with keys and values kept, and compared with one pass before anybody signs it."""

from __future__ import annotations

from collections.abc import Generator
from dataclasses import dataclass

from torch import Tensor

from counterfoil.answers.draw import Choice
from counterfoil.answers.model import AnsweringModel, Passes
from counterfoil.answers.question import Question, commitment_of, seed_of
from counterfoil.signing.kinds import AnswerStatement
from counterfoil.training.stages import Preparing
from counterfoil_core.arithmetic.machine import Machine
from counterfoil_core.arithmetic.selftest import run_selftest
from counterfoil_core.base.cancel import CancelToken
from counterfoil_core.base.digest import Digest
from counterfoil_core.base.errors import DataError
from counterfoil_core.base.precision import ExactPrecision, profile_name

CAPTURING = Preparing("Capturing the passes", "programs", 0, 1)
ANSWERING, COMPARING = "Answering", "Comparing with one pass"
"""The stages of an answer."""
_ROWS = 2
"""Of a pass for one token: with one row torch and transformers take other ways to a product, which round otherwise."""


@dataclass(frozen=True)
class Asked:
    """A question, and what its answer is made with."""

    model: AnsweringModel  #: The model.
    question: Question  #: The question.
    precision: ExactPrecision  #: The precision profile, one for rows.
    machine: Machine  #: Where to compute.
    nonce: str | None = None  #: The provider's nonce, 64 hexadecimal digits; None where nothing is drawn.
    verdict: Digest | None = None  #: The verdict on the model's training to name.


def answer(asked: Asked, cancel: CancelToken | None = None) -> Generator[Preparing, None, AnswerStatement]:
    """Answer a question.

    Args:
        asked: The question, and what its answer is made with.
        cancel: Looked at between operators.

    Yields:
        How far it is.

    Returns:
        The answer, which nobody has signed.

    Raises:
        DataError: The question does not fit the model or the nonce, or the profile does not keep rows apart.
        NonFiniteError: The model gives a logit that is infinite or not a number.
        ProgramError: The model cannot be captured.
        DeviceError: This machine fails the self-test.
        CancelledError: ``cancel`` was set.
    """
    model, question = asked.model, asked.question
    if question.commitment != (None if asked.nonce is None else commitment_of(asked.nonce)):
        raise DataError(
            "The question names a commitment to another nonce.",
            remedy="Give the nonce whose commitment the client got, and one for a question whose answer is drawn only.",
        )
    prompt = model.tokens(question.prompt)
    length = len(prompt) + question.most
    if length > model.context:
        raise DataError(
            f"The prompt has {len(prompt):,} tokens, and {question.most:,} are asked for; the model sees "
            f"{model.context:,} at most.",
            remedy="Ask a shorter question, or for a shorter answer.",
        )
    run_selftest(asked.machine, asked.precision)
    yield CAPTURING
    captured = model.pass_of(length, length, asked.precision)
    whole, single = (
        Passes(each, asked.machine, asked.precision, cancel=cancel)
        for each in (captured, model.pass_of(_ROWS, length, asked.precision))
    )
    root, digest = captured.model_root, question.digest
    seed = 0 if asked.nonce is None else seed_of(root, digest, question.nonce, asked.nonce)
    choice = Choice.of(question.sampling, model.vocabulary, seed, asked.machine, asked.precision)
    row = whole.run(padded(prompt, length), 0)[len(prompt) - 1]
    single.take(whole)
    tokens: list[int] = []
    rows: list[Digest] = []
    while True:
        rows.append(row_digest(row))
        tokens.append(choice.token(row, len(tokens) + 1))
        yield Preparing(ANSWERING, "tokens", len(tokens), question.most)
        if len(tokens) == question.most or tokens[-1] in model.ends:
            break
        row = single.run(padded((tokens[-1],), _ROWS), len(prompt) + len(tokens) - 1)[0]
    yield Preparing(COMPARING, "passes", 0, 1)
    logits = whole.run(padded((*prompt, *tokens), length), 0)
    for number, said in enumerate(rows):
        if row_digest(logits[len(prompt) - 1 + number]) != said:
            raise DataError(
                f"Under the profile {profile_name(asked.precision)} the model gives other logits for token "
                f"{number + 1} beside other tokens, so that nobody could check the answer in one pass.",
                remedy="Take a profile for rows, such as exact-20-rows, and a model of the kinds that docs/answers.md "
                "lists.",
            )
    return AnswerStatement(
        model_root=root,
        program=captured.digest,
        tokenizer=model.tokenizer,
        verdict=asked.verdict,
        precision=profile_name(asked.precision),
        question=digest,
        prompt=prompt,
        most=question.most,
        ends=model.ends,
        sampling=question.sampling,
        client_nonce=question.nonce,
        provider_nonce=asked.nonce,
        tokens=tuple(tokens),
        rows=tuple(rows),
    )


def padded(tokens: tuple[int, ...], length: int) -> tuple[int, ...]:
    """Return tokens with zeros behind them, which nothing before them sees."""
    return tokens + (0,) * (length - len(tokens))


def row_digest(row: Tensor) -> Digest:
    """Return the SHA-256 of a row of logits: its float32 numbers, little-endian."""
    return Digest.of(row.contiguous().numpy().astype("<f4", copy=False).tobytes())
