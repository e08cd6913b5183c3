"""A dispute in three plain sentences: what differs, what that most likely means, what follows for the model. Pure."""

from __future__ import annotations

from counterfoil.audit.values.dispute import Dispute, Right
from counterfoil.sentence import Sentence, enumeration, joined, say


def account_of(dispute: Dispute, *, whole: bool, first: bool) -> Sentence:
    """Say what a dispute comes to, for somebody who does not train models.

    Args:
        dispute: The dispute.
        whole: Whether every step before it was replayed.
        first: Whether none of those replayed before it differs.
    """
    return joined(_differs(dispute), _means(dispute), _follows(dispute, whole, first))


def _right(dispute: Dispute) -> Right | None:
    return None if dispute.finding is None else dispute.finding.right


def _differs(dispute: Dispute) -> Sentence:
    step, operator = dispute.step, dispute.operator
    if dispute.inputs:
        return say("The {0} that the trainer used at step {1} are not the ordered ones.", _named(dispute.inputs), step)
    if dispute.replay_leaf is None:
        return say("The trainer signed a rounding log for step {0} that nobody can read.", step)
    if dispute.accuses and _right(dispute) is Right.OMISSIONS:
        return say("In several steps, the last of them step {0}, the trainer's rounding log is not complete.", step)
    if operator is None:
        return say("What the trainer signed after step {0} is not what the ordered step gives.", step)
    if operator.phase == "update":
        return say("The trainer's update of the weights at step {0} is not the ordered one.", step)
    if operator.phase == "backward":
        return say("The gradients that the trainer computed at step {0} are not those of the ordered step.", step)
    return say("What the trainer's model computed at step {0} is not what the ordered step gives.", step)


def _named(inputs: tuple[str, ...]) -> Sentence:
    """Data arrays by their names, which clients choose: what is called ``labels`` is labels."""
    plural = all(name.endswith("s") and name.isalpha() for name in inputs)
    return enumeration(inputs) if plural else say("rows of {0}", enumeration(inputs))


def _means(dispute: Dispute) -> Sentence:
    operator = dispute.operator
    if not dispute.confirmed:
        return say("Most likely this machine computes inexactly: it did not give its own result a second time.")
    if not dispute.accuses:
        return say("It is not proven that a sound machine cannot give the trainer's result, so nobody is accused.")
    if dispute.inputs:
        return say("Most likely the training data were changed, or other rows were trained on.")
    if dispute.replay_leaf is None:
        return say("Most likely the log was damaged, or written so that the step cannot be checked.")
    if _right(dispute) is Right.OMISSIONS:
        return say("Most likely values were rounded at will, to steer the training.")
    if operator is None:
        return say("Most likely the result was changed after the step was computed.")
    if operator.phase == "update":
        return say("Most likely another learning rate was used, another update rule, or the weights were edited.")
    return say("Most likely it computed with other values or other operations than were ordered.")


def _follows(dispute: Dispute, whole: bool, first: bool) -> Sentence:
    if not dispute.accuses:
        return say("Nothing follows for the model until the run has been replayed on another machine.")
    if not first:
        before = say("Steps before it differ too.")
    elif dispute.step == 1:
        before = say("It is the first step of the training.")
    elif whole:
        before = say("Everything before is right.")
    else:
        before = say("The steps before it that were replayed are right.")
    return joined(
        before, say("Everything after follows from it: the model that was delivered is not the one that was ordered.")
    )
