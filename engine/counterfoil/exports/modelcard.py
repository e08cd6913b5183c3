"""A section for a model's card: what was verified, by whom, and how to check it."""

from __future__ import annotations

import re

from counterfoil.audit.values.delivery import DeliveryReport
from counterfoil.audit.values.figures import score_lines
from counterfoil.base.oneline import one_line
from counterfoil_core.statement.judgement import Verdict
from counterfoil_core.values.outcome import Outcome

MOST_CODE = 10
"""Characters at most in which one is shown."""
_SPECIAL = re.compile(r"([\\`*_{}\[\]<>()#+\-.!|~&])")
_MEANINGS = {
    Outcome.VERIFIED: "the whole training was executed again and came out as the trainer signed it, bit for bit",
    Outcome.DISPUTED: "a step of the training was executed again and came out different",
    Outcome.INCONCLUSIVE: "nothing was concluded about the training",
    Outcome.REFUSED: "nothing was concluded about the training: the run could not be judged",
    Outcome.ERROR: "nothing was concluded about the training: the audit failed",
}


_SOURCES = {
    "client": ", the client's own",
    "signature": ", signed with the client's key",
    "bundle": ", taken from the run itself",
}
_TITLES = {Outcome.VERIFIED: "Verified training", Outcome.DISPUTED: "Disputed training"}


def _title(verdict: Verdict) -> str:
    if verdict.outcome is Outcome.VERIFIED and verdict.sample is not None and not verdict.sample.whole:
        return "Training verified in part"
    return _TITLES.get(verdict.outcome, "Training that was not verified")


def _result(verdict: Verdict) -> str:
    sample = verdict.sample
    if verdict.outcome is Outcome.VERIFIED and sample is not None and not sample.whole:
        return f"**{plain(verdict.headline)}**: only these were executed again. {plain(sample.describe())}"
    return f"**{plain(verdict.headline)}**: {_MEANINGS[verdict.outcome]}"


def model_card(verdict: Verdict, key_file: str, verdict_file: str, delivered: DeliveryReport | None = None) -> str:
    """Return a section of Markdown.

    Args:
        verdict: The verdict.
        key_file: Name of the auditor's public key file, for the command.
        verdict_file: Name of the verdict's file.
        delivered: What a comparison of the weights that the card lies beside found, by this very verdict.
    """
    rows = {
        "Result": _result(verdict),
        "In words": plain(verdict.reason),
        "Job": plain(verdict.title),
        "Steps": _steps(verdict),
        "Order": _digest(verdict.order_digest) + _SOURCES[verdict.order_source],
        "Client": _client(verdict),
        "Trainer": _key(verdict.trainer_key)
        + (
            ", which the auditor was given"
            if verdict.trainer_key_source == "given"
            else ", which the run itself names; the auditor was given none"
        ),
        "Run root": _digest(verdict.run_root),
        **_score(verdict),
        **_weights(verdict, delivered),
        "Signed": f"{verdict.signed_at}, with the key `{verdict.key_id}`",
    }
    lines = [f"| {name} | {text} |" for name, text in rows.items()]
    return "\n".join(
        [
            f"## {_title(verdict)}",
            "",
            "The training of this model was audited with Counterfoil: an auditor replays recorded steps bit for bit.",
            "What a verdict promises, and what not, is in its threat model.",
            "",
            "| | |",
            "|---|---|",
            *lines,
            "",
            f"Check it: `counterfoil verify {code(verdict_file)} --key {code(key_file)}`",
            "",
            "",
        ]
    )


def _steps(verdict: Verdict) -> str:
    replayed = f"{verdict.steps_replayed} of {verdict.steps_recorded} replayed"
    if verdict.steps_recorded == verdict.steps_ordered:
        return replayed
    return f"{replayed}; the run has {verdict.steps_recorded} of {verdict.steps_ordered} ordered steps"


def _score(verdict: Verdict) -> dict[str, str]:
    """What the model scored, where the verdict is on an evaluation and states its facts."""
    score = None if verdict.run_facts is None else verdict.run_facts.score
    return {} if score is None else {str(name): plain(said) for name, said in score_lines(score)}


def _weights(verdict: Verdict, delivered: DeliveryReport | None) -> dict[str, str]:
    """What is known of weights: of those that the verdict names, and of those beside the card."""
    named = "" if verdict.model is None else f"OpenSSF Model Signing digest `{verdict.model[1].hex}`"
    if delivered is None:
        return {"Weights": named or "not compared"}
    said = plain(" ".join([delivered.sentence, *delivered.warnings]))
    return {"Weights here": f"**{delivered.outcome.value}**: {said}"} | (
        {"Model of the verdict": named} if named else {}
    )


def _digest(digest: object) -> str:
    return "not read" if digest is None else f"`{digest}`"


def _key(key_id: str) -> str:
    return f"key `{key_id}`" if key_id else "no signature that holds"


def _client(verdict: Verdict) -> str:
    """By whom the order is signed, and whether the trainer accepted it."""
    if verdict.run_order is None:
        return "not read"
    known = "which the auditor was given" if verdict.given_client_key else "which only the files themselves name"
    signed = f"{_key(verdict.client_key)}, {known}" if verdict.client_key else "the order is unsigned"
    return f"{signed}; {'accepted by the trainer' if verdict.accepted else 'not accepted'}"


def plain(text: str) -> str:
    """A text that may quote a stranger, as text: one line in which nothing is markup. Nothing of it is cut off."""
    return _SPECIAL.sub(r"\\\1", one_line(text, len(text) * MOST_CODE))


def code(name: str) -> str:
    """A name as it stands between backticks."""
    return one_line(name).replace("`", "")
