"""What was found, in sentences for people: of a terminal, of the window, of a report."""

from __future__ import annotations

from counterfoil_core.base.sentence import Sentence, enumeration, joined, say
from counterfoil_core.values.account import difference_of, party_named
from counterfoil_core.values.dispute import Dispute, Right, named_parts


def account_of(dispute: Dispute, *, earlier: int | None) -> Sentence:
    """Say what a dispute comes to, for somebody who does not train models: what differs, why, what follows.

    Args:
        dispute: The dispute.
        earlier: How many of the steps before it that were replayed differ; None where nothing is said of these.
    """
    return joined(difference_of(dispute), consequence_of(dispute, earlier=earlier))


def consequence_of(dispute: Dispute, *, earlier: int | None) -> Sentence:
    """Say what a difference most likely means, and what follows from it; ``earlier`` as in :func:`account_of`."""
    return joined(_means(dispute), _follows(dispute, earlier))


def meaning_of(dispute: Dispute) -> Sentence:
    """Say what a dispute means for the trainer, and why, in a paragraph."""
    step = dispute.step
    if not dispute.confirmed:
        return say(
            "This is not confirmed. A second replay of the step, with every sum taken in another order, has not given "
            "the same result, so the difference may come from this machine. The trainer is not accused."
        )
    if not dispute.accuses:
        return say(
            "The trainer is not accused. A second replay gave the same result as the first, but nothing proves that "
            "the trainer's is one that no sound machine gives."
        )
    if dispute.replay_leaf is None and dispute.right is not Right.UNREADABLE:
        return say(
            "This is confirmed. Starting from the agreed state before step {0}, the ordered step comes to no result, "
            "by either of two algorithms, and no sound machine has what the trainer signed.",
            step,
        )
    if dispute.right is Right.UNREADABLE:
        return say(
            "The trainer signed a rounding log for step {0} that cannot be read, so nobody can replay the step. The "
            "trainer answers for what it signed.",
            step,
        )
    if not dispute.stands_alone:
        return say(
            "This is confirmed. In several steps, the last of them step {0}, the trainer rounded values the other way "
            "and left that out of its log, where every sound recorder writes it down.",
            step,
        )
    again = say(
        "A second replay, with every sum taken in another order, gave the same result as the first, so this machine's "
        "arithmetic does not explain the difference:"
    )
    begun = say(
        "This is confirmed. Starting from the agreed state before step {0}, the ordered step gives something else than "
        "the trainer signed ({1}).",
        step,
        named_parts(dispute.parts),
    )
    if dispute.shows_state:
        return joined(begun, again, say("what the trainer signed as the result of this step is not what was ordered."))
    return joined(
        begun,
        again,
        say("what the trainer signed about this step is wrong. That the state after it is another is not shown by it."),
    )


def bound_by(dispute: Dispute) -> Sentence:
    """Say, for a client, what an accusation is about and who can settle it."""
    if dispute.signer:
        other = say("What share {0} of step {1} gave is not what the ordered step gives.", dispute.share, dispute.step)
        if dispute.share is None:
            other = say("What a party added in step {0} is not what its share gave.", dispute.step)
        return joined(
            other,
            party_named(dispute),
            say("Its signature binds it to that, so the dispute can be settled by anybody who repeats this one share."),
        )
    signed = say("What the trainer signed for step {0} is not what the ordered step gives.", dispute.step)
    if dispute.replay_leaf is None:
        signed = say("The trainer signed a result of step {0}, which comes to none on a sound machine.", dispute.step)
    if dispute.right is Right.UNREADABLE:
        signed = say("The trainer signed a log of step {0} that nobody can read.", dispute.step)
    if not dispute.stands_alone:
        return say("The trainer's signed logs leave out, in several steps, what every sound recorder writes down.")
    return joined(
        signed,
        say(
            "The trainer's signature binds the trainer to its record of that very step, so the dispute can be settled "
            "by anybody who repeats this one step."
        ),
    )


def rows_named(inputs: tuple[str, ...]) -> Sentence:
    """Name the rows whose fingerprints differ, as a fact beside others."""
    return say("the signed fingerprints of the rows of {0} are not those of the ordered ones", enumeration(inputs))


def _means(dispute: Dispute) -> Sentence:
    operator, parts = dispute.operator, dispute.parts
    if not dispute.confirmed:
        return say("Most likely this machine computes inexactly: it did not give its own result a second time.")
    if not dispute.accuses:
        return say("It is not proven that a sound machine cannot give the trainer's result, so nobody is accused.")
    if dispute.right is Right.UNREADABLE:
        return say("Most likely the log was damaged, or written so that the step cannot be checked.")
    if dispute.right is Right.OMISSIONS:
        return say("Most likely values were rounded at will, to steer the training.")
    if dispute.replay_leaf is None:
        return say("Most likely the state before it was edited, or the step was never computed.")
    if parts == ("fingerprints",):
        return say("That may be a defect, damage, or a lie about how the step was computed.")
    if dispute.inputs:
        return say("Most likely the training data were changed, or other rows were trained on.")
    if operator is None:
        return say("Most likely the result was changed after the step was computed.")
    if operator.phase == "update":
        return say("Most likely another learning rate was used, another update rule, or the weights were edited.")
    return say("Most likely it computed with other values or other operations than were ordered.")


def _follows(dispute: Dispute, earlier: int | None) -> Sentence:
    if not dispute.accuses:
        return say("Nothing follows for the model until the run has been replayed on another machine.")
    if earlier is None:
        before: str = ""
    elif earlier:
        before = say("Steps before it differ too.")
    elif dispute.step == 1:
        before = say("It is the first step of the training.")
    else:
        before = say("The steps before it that were replayed are right.")
    return joined(before, _model(dispute))


def _model(dispute: Dispute) -> Sentence:
    if dispute.right is Right.OMISSIONS:
        return say("It is not shown that the model is one that no sound machine could have come to.")
    if dispute.replay_leaf is None:
        return say("Whether the model is the one that was ordered cannot be checked.")
    if dispute.tensors:
        return say("Everything after follows from it: the model of this run is not the one that was ordered.")
    if dispute.compared_at is not None:
        return say(
            "The state that is stored at step {0} is the one that was ordered, so it is not shown that the model is "
            "another.",
            dispute.compared_at,
        )
    if dispute.shows_state:
        return say(
            "The state that was signed after it is not the ordered one, and the steps after it go on from there."
        )
    return say("It is not shown by this step that the model is another than the one that was ordered.")
