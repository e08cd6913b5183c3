"""A verdict in the words of in-toto's Simple Verification Result and of SLSA's Verification Summary.

Both know less than a verdict: the first names properties that hold, the second knows PASSED and FAILED. What is
neither is said by neither: an INCONCLUSIVE verdict becomes no PASSED, and no FAILED, which would accuse.
"""

from __future__ import annotations

from typing import Any

from counterfoil_core.base.digest import Digest
from counterfoil_core.base.errors import DataError
from counterfoil_core.base.sentence import say
from counterfoil_core.signing.kinds import SVR, VSA, make_statement
from counterfoil_core.statement.judgement import Verdict
from counterfoil_core.statement.model import VERIFIER_ID
from counterfoil_core.values.outcome import Outcome
from counterfoil_core.values.sampling import NonceSource, Selection

REPLAYED = "COUNTERFOIL_TRAINING_REPLAYED"
"""Every step was replayed and came out as it was signed."""
SAMPLE = "COUNTERFOIL_TRAINING_SAMPLE_REPLAYED"
"""Only the steps of a sample were, which was drawn at random."""
PART = "COUNTERFOIL_SAMPLE_OF_{0}_IN_{1}_SEGMENTS"
"""How large it was."""
TRAINER_KEY = "COUNTERFOIL_TRAINER_KEY_GIVEN"
"""The auditor gave the trainer's key; without it the key is the one that the run itself names."""
CLIENT_ORDER = "COUNTERFOIL_CLIENT_ORDER"
"""The order was compared with the client's own, or is signed with the client's key."""
ENDED = "COUNTERFOIL_RUN_ENDED_BY_RULE_AT_{0}_OF_{1}_STEPS"
"""The run ended before its last ordered step, by the order's rule."""
SCORE = "COUNTERFOIL_EVALUATION_{0}_OF_{1}_RIGHT_MODEL_ROOT_{2}"
"""The run is an evaluation, all of which was replayed: what the model scored."""
WEIGHTS = "COUNTERFOIL_WEIGHTS_DELIVERED"
"""The model among the subjects is the final state of the run."""


def properties(verdict: Verdict) -> list[str]:
    """Return what holds of a run by a verdict that says VERIFIED.

    Raises:
        DataError: The auditor listed the segments that were replayed, or they were drawn with a nonce that the
            trainer may have known: nothing holds of the run.
    """
    sample = verdict.sample
    assert sample is not None, "rule 12 of a verdict"
    if sample.whole:
        found = [REPLAYED, *_score(verdict)]
    elif sample.selection is not Selection.RANDOM:
        raise _about_part(
            say(
                "The verdict is about {0} of {1} segments, which the auditor listed: nothing follows for the others, "
                "and the format knows only the run.",
                sample.count,
                sample.total,
            )
        )
    elif sample.source is NonceSource.GIVEN:
        raise _about_part(
            say(
                "The verdict is about {0} of {1} segments, drawn with a nonce that was given to the audit: what "
                "follows for the others depends on who knew it, which the format cannot say.",
                sample.count,
                sample.total,
            )
        )
    else:
        found = [SAMPLE, PART.format(sample.count, sample.total)]
    if verdict.steps_recorded < verdict.steps_ordered:
        found.append(ENDED.format(verdict.steps_recorded, verdict.steps_ordered))
    if verdict.given_key:
        found.append(TRAINER_KEY)
    if verdict.order_source != "bundle":
        found.append(CLIENT_ORDER)
    if verdict.model is not None:
        found.append(WEIGHTS)
    return found


def _score(verdict: Verdict) -> list[str]:
    score = None if verdict.run_facts is None else verdict.run_facts.score
    correct, counted = (None, None) if score is None else (score.count("correct"), score.count("counted"))
    if score is None or correct is None or counted is None:
        return []
    return [SCORE.format(correct, counted, score.model_root.hex.upper())]


def _about_part(sentence: str) -> DataError:
    return DataError(sentence, remedy=say("Hand on the verdict itself."))


def svr_statement(verdict: Verdict) -> dict[str, Any]:
    """Return the in-toto statement of a Simple Verification Result v0.1.

    Raises:
        DataError: The verdict does not say VERIFIED, and the format names only what holds; or it is about segments
            that the auditor listed.
    """
    if verdict.outcome is not Outcome.VERIFIED:
        raise DataError(
            say("The verdict says {0}, and a simple verification result only names what holds.", verdict.outcome.value),
            remedy=say("Hand on the verdict itself."),
        )
    predicate = {"verifier": {"id": VERIFIER_ID}, "timeCreated": verdict.signed_at, "properties": properties(verdict)}
    return make_statement(_subjects(verdict), SVR, predicate)


def vsa_statement(verdict: Verdict, file_name: str, file_digest: Digest) -> dict[str, Any]:
    """Return the in-toto statement of a SLSA Verification Summary v1.

    VERIFIED is PASSED, with a level of ours that tells a sample from the whole; DISPUTED is FAILED.

    Args:
        verdict: The verdict.
        file_name: Name of its file.
        file_digest: SHA-256 of that.

    Raises:
        DataError: The verdict says INCONCLUSIVE, REFUSED or ERROR, which is neither, or is about listed segments.
    """
    results = {Outcome.VERIFIED: "PASSED", Outcome.DISPUTED: "FAILED"}
    if verdict.outcome not in results:
        raise DataError(
            say(
                "The verdict says {0}, and a verification summary knows only PASSED and FAILED: neither is true.",
                verdict.outcome.value,
            ),
            remedy=say("Hand on the verdict itself."),
        )
    statement = verdict.statement
    order = verdict.order_digest
    passed = verdict.outcome is Outcome.VERIFIED
    predicate = {
        "verifier": {"id": VERIFIER_ID, "version": {"counterfoil": statement.verifier.version}},
        "timeVerified": verdict.signed_at,
        "resourceUri": statement.resource_uri,
        "policy": {"uri": "urn:counterfoil:order", "digest": {"sha256": order.hex if order is not None else ""}},
        "inputAttestations": [{"uri": f"urn:counterfoil:verdict:{file_name}", "digest": {"sha256": file_digest.hex}}],
        "verificationResult": results[verdict.outcome],
        "verifiedLevels": properties(verdict) if passed else ["FAILED"],
    }
    return make_statement(_subjects(verdict), VSA, predicate)


def _subjects(verdict: Verdict) -> list[dict[str, Any]]:
    found = verdict.statement.subjects()
    return found
