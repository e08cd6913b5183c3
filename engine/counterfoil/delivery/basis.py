"""What says that a run is verified: a signed verdict, or a replay on this machine."""

from __future__ import annotations

from counterfoil.audit.values.delivery import Basis
from counterfoil_core.base.digest import Digest
from counterfoil_core.base.errors import SignatureError
from counterfoil_core.base.sentence import say
from counterfoil_core.statement.judgement import Adjudication, Verdict
from counterfoil_core.values.outcome import Outcome
from counterfoil_core.values.report import AuditReport

_REMEDIES = {
    Outcome.DISPUTED: say(
        "The run was audited, and it is not what was ordered: whatever weights it ends in are not those of a verified "
        "run. Ask the trainer for a run that comes out as ordered, and for its weights."
    ),
    Outcome.REFUSED: say("The run cannot be audited as it is: ask the trainer for one that can, and for its weights."),
}
"""What to do where a run was not verified; what else there is left it open."""


def basis_of(judged: Verdict | Adjudication | AuditReport) -> Basis:
    """Return what a verdict, or the report of a replay, says of its run.

    Raises:
        SignatureError: It does not say VERIFIED, or is an adjudication.
    """
    if isinstance(judged, Adjudication):
        raise SignatureError(say("It is an adjudication, and no verdict."))
    signed = isinstance(judged, Verdict)
    what = say("The verdict") if signed else say("The replay")
    if judged.outcome is not Outcome.VERIFIED:
        raise SignatureError(
            say("{0} says {1}, so there is no verified run to compare the weights with.", what, judged.outcome.value),
            remedy=_REMEDIES.get(judged.outcome, say("Have the run audited to its end first.")),
        )
    root, order = judged.run_root, judged.order_digest
    # Rule 14 of a verdict that says VERIFIED.
    assert isinstance(root, Digest)
    assert isinstance(order, Digest)
    warnings: tuple[str, ...] = ()
    if judged.steps_replayed < judged.steps_recorded:
        warnings += (
            say(
                "{0} is about a sample: {1} of {2} steps were replayed.",
                what,
                judged.steps_replayed,
                judged.steps_recorded,
            ),
        )
    key_id = judged.key_id if isinstance(judged, Verdict) else ""
    ends = judged.sample is not None and judged.sample.reaches_end
    return Basis(
        root, order, judged.headline, judged.trust, key_id, warnings, judged.trainer_key, judged.client_key, ends
    )
