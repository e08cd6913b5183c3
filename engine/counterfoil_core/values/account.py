"""Every sentence about a dispute as a whole: in the verdict, the window, the report and the command line alike. Pure.

A sentence is said only if the dispute's parts, tensors and finding say it. What differs in a leaf is known; what the
trainer did is not: a wrong fingerprint shows that what was signed is wrong, not that other rows were used. Which
sentence needs what is a table in docs/threat-model.md ("What a dispute says").
"""

from __future__ import annotations

from counterfoil_core.base.sentence import Sentence, enumeration, joined, say
from counterfoil_core.values.dispute import COMBINE, UPDATE, Dispute, Right, named_parts


def part_named(dispute: Dispute) -> Sentence:
    """Say which part of a step that shares make differs; empty where the step has no shares."""
    if dispute.share is not None:
        named = say("What differs is share {0}: every share of a step is judged by itself.", dispute.share)
        return joined(named, party_named(dispute))
    if dispute.part == COMBINE:
        named = say("What differs is the combination of the shares, from what was signed as theirs.")
        return joined(named, party_named(dispute))
    if dispute.part == UPDATE:
        return say("What differs is the update of what was signed as the combination of the shares.")
    return joined()


def party_named(dispute: Dispute) -> Sentence:
    """Say which party signed what differs; empty where nobody but the trainer answers for it."""
    if not dispute.signer:
        return joined()
    signed = say("The party with the key {0} signed what share {1} gave.", dispute.signer, dispute.share)
    if dispute.share is None:
        signed = say(
            "The party with the key {0} signed that it added something else than its share gave.", dispute.signer
        )
    return joined(signed, say("It answers for that, and not the trainer.") if dispute.accuses else "")


def difference_of(dispute: Dispute) -> Sentence:
    """Say what differs: what was found, in a sentence, and who answers for it."""
    return joined(_differs(dispute), part_named(dispute))


def accusation(dispute: Dispute, *, capsule: bool = False) -> Sentence:
    """Give the reason of an outcome that rests on a dispute that accuses: what differs, in a sentence, and its proof.

    Args:
        dispute: The dispute.
        capsule: Whether it was judged from a capsule.
    """
    finding = dispute.finding
    assert finding is not None, "nobody is accused without a finding"
    if finding.right is Right.OMISSIONS:
        said = say("{0} With these values the steps come out as the trainer signed them.", finding.sentence)
        return joined(difference_of(dispute), said)
    if dispute.replay_leaf is None:
        return joined(difference_of(dispute), finding.sentence)
    start = say("the state that the run itself commits to") if capsule else say("the agreed state before it")
    named = named_parts(dispute.parts)
    if dispute.shows_state:
        head = say(
            "Step {0} is not what was ordered: replayed from {1}, it gives other values than the trainer signed (in "
            "{2}).",
            dispute.step,
            start,
            named,
        )
    else:
        head = say(
            "The trainer's record of step {0} is not the one that the ordered step gives: replayed from {1}, it gives "
            "other values than the trainer signed (in {2}).",
            dispute.step,
            start,
            named,
        )
    again = say("A second replay with every reduction in another order gave this machine's result again.")
    if dispute.part == COMBINE:
        again = say("Adding them once more in another way gave this machine's result again.")
    return joined(difference_of(dispute), head, again, finding.sentence)


_WORDS = {
    "features": say("features"),
    "images": say("images"),
    "labels": say("labels"),
    "targets": say("targets"),
    "tokens": say("tokens"),
}
"""Names of arrays that are words, which other languages have too."""


def _differs(dispute: Dispute) -> Sentence:
    step, operator, parts = dispute.step, dispute.operator, dispute.parts
    if dispute.right is Right.UNREADABLE:
        return say("The trainer signed a rounding log for step {0} that nobody can read.", step)
    if not dispute.accuses:
        return say("What the trainer signed for step {0} differs from this machine's result.", step)
    if dispute.right is Right.OMISSIONS:
        return say("In several steps, the last of them step {0}, the trainer's rounding log is not complete.", step)
    if dispute.replay_leaf is None:
        return say("The trainer signed a result of step {0}, which comes to none when it is computed as ordered.", step)
    if parts == ("fingerprints",):
        return say(
            "The trainer signed fingerprints of step {0} that the ordered step does not give; the loss, and the state "
            "where one is signed, are those of the ordered step.",
            step,
        )
    if dispute.inputs:
        named = _named(dispute.inputs)
        return say(
            "By the fingerprints that the trainer signed, the {0} of step {1} are not the ordered ones.", named, step
        )
    if parts == ("loss",):
        return say("The loss that the trainer signed for step {0} is not the one that the ordered step gives.", step)
    if operator is None:
        return say("What the trainer signed after step {0} is not what the ordered step gives.", step)
    if operator.phase == "update":
        return say("By what the trainer signed, its update of the weights at step {0} is not the ordered one.", step)
    if operator.phase == "backward":
        return say("By what the trainer signed, its gradients at step {0} are not those of the ordered step.", step)
    return say("By what the trainer signed, its model computed something else at step {0} than was ordered.", step)


def _named(inputs: tuple[str, ...]) -> Sentence:
    """Data arrays by their names, which clients choose: what is called ``labels`` is labels."""
    plural = all(name.endswith("s") and name.isalpha() for name in inputs)
    named = enumeration([_WORDS.get(name, name) for name in inputs])
    return named if plural else say("rows of {0}", named)
