"""An answer, checked in one pass over prompt and answer."""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch import Tensor

from counterfoil.answers.draw import Choice
from counterfoil.answers.making import padded, row_digest
from counterfoil.answers.model import AnsweringModel, CapturedPass, Passes
from counterfoil.answers.question import Question, commitment_of, seed_of
from counterfoil.signing.kinds import AnswerStatement
from counterfoil_core.arithmetic.machine import Machine
from counterfoil_core.arithmetic.selftest import run_selftest
from counterfoil_core.base.cancel import CancelToken
from counterfoil_core.base.errors import NonFiniteError, RefusedError
from counterfoil_core.base.precision import PROFILES, ExactPrecision, is_by_rows
from counterfoil_core.values.outcome import Outcome

_OTHERWISE = "reversed+rewritten"
"""Every operator by another algorithm: nobody is disputed by one alone (ADR 3)."""


@dataclass(frozen=True)
class Difference:
    """The first token of an answer that the model does not give."""

    number: int  #: Which token of the answer, from 1.
    said: int  #: The token of the answer.
    found: int  #: The token that the model gives there.
    said_probability: float  #: What the model gives the first, 0 to 1, without temperature or limits.
    found_probability: float  #: What it gives the second.


@dataclass(frozen=True)
class CheckedAnswer:
    """What the check of an answer shows."""

    outcome: Outcome  #: VERIFIED, DISPUTED, or INCONCLUSIVE where this machine contradicts itself.
    said: str  #: The same in a sentence.
    difference: Difference | None = None  #: Where it is not what the model gives.


def check_answer(
    said: AnswerStatement,
    model: AnsweringModel,
    machine: Machine,
    question: Question | None = None,
    cancel: CancelToken | None = None,
) -> CheckedAnswer:
    """Check an answer in one pass.

    Args:
        said: The answer, whose signature holds.
        model: The model that is said to have given it.
        machine: Where to compute.
        question: What was asked, as the client kept it; without it nothing says that this was asked.
        cancel: Looked at between operators.

    Raises:
        RefusedError: It cannot be judged: it is an answer of another model, with another tokenizer, or to another
            question; or the model gives no logits for it.
        DeviceError: This machine fails the self-test.
        CancelledError: ``cancel`` was set.
    """
    precision = PROFILES.get(said.precision)
    if not is_by_rows(precision):
        raise RefusedError("The answer was made under a profile under which a token hangs on others.", remedy=_ASK)
    captured = _captured(said, model, precision, question)
    run_selftest(machine, precision)
    seed = 0
    if said.provider_nonce is not None:
        seed = seed_of(said.model_root, said.question, said.client_nonce, said.provider_nonce)
    choice = Choice.of(said.sampling, model.vocabulary, seed, machine, precision)
    tokens = padded((*said.prompt, *said.tokens), said.length)
    first, last = len(said.prompt) - 1, len(said.prompt) - 1 + len(said.tokens)
    try:
        logits = Passes(captured, machine, precision, cancel=cancel).run(tokens, 0)[first:last]
        found = _difference(said, logits, choice)
        if found is None:
            return CheckedAnswer(
                Outcome.VERIFIED, f"The model gives each of the {len(said.tokens):,} tokens, and the same logits."
            )
        otherwise = machine.compute(precision, _OTHERWISE)
        again = Passes(captured, machine, precision, compute=otherwise, cancel=cancel).run(tokens, 0)[first:last]
    except NonFiniteError as error:
        raise RefusedError(f"The model gives no logits for these tokens. {error.sentence}", remedy=_ASK) from error
    place = found.number - 1
    if row_digest(again[place]) != row_digest(logits[place]):
        return CheckedAnswer(
            Outcome.INCONCLUSIVE, f"Two algorithms give different logits for token {found.number:,} on this machine."
        )
    return CheckedAnswer(Outcome.DISPUTED, _sentence(found, model), found)


_ASK = "Ask whoever answered what it was made with."


def _captured(
    said: AnswerStatement, model: AnsweringModel, precision: ExactPrecision, question: Question | None
) -> CapturedPass:
    """The pass of the answer, if it is one of this model and to this question; raises RefusedError."""
    if said.tokenizer != model.tokenizer:
        raise RefusedError(
            f"The answer was made with another tokenizer: {said.tokenizer.short}..., and that of the folder is "
            f"{model.tokenizer.short}....",
            remedy="Take the folder that the provider has.",
        )
    if max(*said.prompt, *said.tokens) >= model.vocabulary:
        raise RefusedError(f"The answer has a token that is none of the model's {model.vocabulary:,}.", remedy=_ASK)
    if said.length > model.context:
        raise RefusedError(
            f"The answer is one of {said.length:,} tokens with its prompt; the model sees {model.context:,} at most.",
            remedy=_ASK,
        )
    if said.ends != model.ends:
        raise RefusedError("The answer ends by other tokens than the model's configuration names.", remedy=_ASK)
    if question is not None:
        _check_question(said, model, question)
    captured = model.pass_of(said.length, said.length, precision)
    if captured.model_root != said.model_root:
        raise RefusedError(
            f"The answer is one of another model: its root is {said.model_root.short}..., that of the folder "
            f"{captured.model_root.short}....",
            remedy="Take the weights that the provider has; one bit in one of them makes another root.",
        )
    if captured.digest != said.program:
        raise RefusedError(
            "The answer was made by another program: another version of transformers, or another configuration.",
            remedy="Take the configuration and the version that the provider has.",
        )
    return captured


def _check_question(said: AnswerStatement, model: AnsweringModel, question: Question) -> None:
    asked = (question.digest, question.most, question.sampling, question.nonce, model.tokens(question.prompt))
    if asked != (said.question, said.most, said.sampling, said.client_nonce, said.prompt):
        raise RefusedError("The answer is one to another question.", remedy="Give the question that was asked.")
    if question.commitment != (None if said.provider_nonce is None else commitment_of(said.provider_nonce)):
        raise RefusedError(
            "The answer was drawn with another nonce than the one that the provider was bound to.",
            remedy="Take it for no answer: the provider may have chosen its luck.",
        )


def _difference(said: AnswerStatement, logits: Tensor, choice: Choice) -> Difference | None:
    """The first token that does not follow from the logits, or whose logits are others."""
    for number, (token, row) in enumerate(zip(said.tokens, logits, strict=True), start=1):
        found = choice.token(row, number)
        if found != token or row_digest(row) != said.rows[number - 1]:
            shares = torch.softmax(row.double(), 0)
            return Difference(number, token, found, float(shares[token]), float(shares[found]))
    return None


def _sentence(found: Difference, model: AnsweringModel) -> str:
    if found.said == found.found:
        return (
            f"Token {found.number:,} of the answer, {model.named(found.said)}, is the model's, but its logits are "
            "not: other weights or another arithmetic gave them."
        )
    return (
        f"Token {found.number:,} of the answer is {model.named(found.said)}, to which the model gives a "
        f"probability of {found.said_probability:.3g}; the model says {model.named(found.found)} there, with "
        f"{found.found_probability:.3g}."
    )
