"""Every sentence about a dispute as a whole: in the verdict, the window, the report and the command line alike. Pure.

A sentence is said only if the dispute's parts, tensors and finding say it. What differs in a leaf is known; what the
trainer did is not: a wrong fingerprint shows that what was signed is wrong, not that other rows were used. Which
sentence needs what is a table in docs/threat-model.md ("What a dispute says").
"""

from __future__ import annotations

from counterfoil_core.base.sentence import Sentence, joined, say
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


def accusation(dispute: Dispute, *, capsule: bool = False) -> Sentence:
    """Give the reason of an outcome that rests on a dispute that accuses: what it is, and what proves it.

    Args:
        dispute: The dispute.
        capsule: Whether it was judged from a capsule.
    """
    finding = dispute.finding
    assert finding is not None, "nobody is accused without a finding"
    if finding.right is Right.OMISSIONS:
        return say("{0} With these values the steps come out as the trainer signed them.", finding.sentence)
    if dispute.replay_leaf is None:
        return finding.sentence
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
    return joined(head, part_named(dispute), again, finding.sentence)
