"""What the arbiter says, in plain sentences. Pure."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from counterfoil_core.base.sentence import enumeration, say
from counterfoil_core.judge.elements import Elements
from counterfoil_core.judge.exactelements import DefinedElements
from counterfoil_core.operators.judging.numbers import NotExactError
from counterfoil_core.operators.node import Node
from counterfoil_core.values.dispute import Finding, Right

MOST_NAMES = 5
"""Tensors that a sentence names."""
MOST_STEPS = 3
"""Steps whose log lacks decisions that every conforming recorder writes down: as many accuse."""


# Nothing was recomputed.


def does_not_follow() -> Finding:
    """No fingerprint differs, but the result does."""
    return Finding(
        Right.REPLAY,
        say(
            "Every fingerprint that the trainer signed for this step agrees with the replay, and what follows the "
            "last of them is arithmetic that is exact on all hardware: the result that it signed does not follow "
            "from what it signed on the way."
        ),
    )


def other_exponents(names: Sequence[str], step: int) -> Finding:
    """The trainer added shares by exponents that are not those of what the shares give."""
    return Finding(
        Right.REPLAY,
        say(
            "At step {0} the exponents by which the trainer added the shares are not those of the largest numbers in "
            "what it signed as theirs (in {1}). They are defined by these numbers, the same on every machine.",
            step,
            enumeration(list(map(repr, names[:MOST_NAMES]))),
        ),
    )


def other_sum(names: Sequence[str], step: int, shares: int) -> Finding:
    """The trainer signed another combination than the sum of what the shares give."""
    return Finding(
        Right.REPLAY,
        say(
            "At step {0} what the trainer signed as the combination of the {1} shares is not the sum of what it signed "
            "as theirs (in {2}). It is a sum of integers, the same on every machine and in any order.",
            step,
            shares,
            enumeration(list(map(repr, names[:MOST_NAMES]))),
        ),
    )


def sum_without_result(name: str, step: int) -> Finding:
    """The sum of the shares is beyond float32's range."""
    return Finding(
        Right.NO_RESULT,
        say(
            "At step {0} the sum of what the trainer signed as the shares' is beyond float32's range (in {1}): then a "
            "step has no result on any machine, so nobody can have recorded one.",
            step,
            repr(name),
        ),
    )


def nothing_can_differ(node: Node) -> Finding:
    """The output has no elements."""
    return Finding(
        Right.REPLAY,
        say(
            "The output of the operator {0} has no elements, so its fingerprint can only be 0, and the trainer "
            "signed another.",
            node.where,
        ),
    )


def no_exact_value(node: Node, error: NotExactError) -> Finding:
    """There is nothing to hold the values against."""
    return Finding(
        Right.UNKNOWN,
        say(
            "There is no exact value to hold the operator {0} against, because {1}, so neither side can be shown "
            "to be wrong.",
            node.where,
            error,
        ),
    )


def no_bound(node: Node) -> Finding:
    """It is not known how far hardware may differ."""
    return Finding(
        Right.UNKNOWN,
        say(
            "No error bound is known for the operator {0}, so how far hardware may honestly differ there is not "
            "known, and neither side can be shown to be wrong.",
            node.where,
        ),
    )


def unreadable_log(step: int, problem: str) -> Finding:
    """The trainer signed a log that cannot be decoded."""
    return Finding(
        Right.UNREADABLE,
        say(
            "The rounding log of step {0} cannot be read, although its digest is part of what the trainer signed. "
            "{1} A trainer answers for what it signed.",
            step,
            problem,
        ),
    )


def no_such_state(names: Sequence[str], step: int) -> Finding:
    """The trainer signed a state that no step leaves."""
    return Finding(
        Right.NO_RESULT,
        say(
            "The state that the trainer signed after step {0} holds values that are infinite or not a number (in {1}). "
            "Every state that a step changes must be finite, or the step has no result, on every machine: so nobody "
            "comes to step {2}.",
            step,
            enumeration(list(map(repr, names))),
            step + 1,
        ),
    )


def no_result(node: Node, scale: float) -> Finding:
    """The terms of an operator lie beyond the range in which a step has a result."""
    return Finding(
        Right.NO_RESULT,
        say(
            "At the operator {0}, whose inputs agree with what the trainer signed, the scale of what is added is "
            "{1:.3g}. From 2^128 on a step has no result on any conforming machine, and scales of two of them differ "
            "by 2^-10 of themselves at most; so nobody can have recorded one.",
            node.where,
            scale,
        ),
    )


def infinite_result(node: Node, index: int) -> Finding:
    """Under an exact profile an element is defined to lie beyond float32's range."""
    return Finding(
        Right.NO_RESULT,
        say(
            "Under this profile every result is defined by mathematics. At the operator {0}, whose inputs agree with "
            "what the trainer signed, element {1}, computed in integers, lies beyond float32's range, and no argument "
            "is infinite: then a step has no result on any machine, so nobody can have recorded one.",
            node.where,
            index,
        ),
    )


def may_end_elsewhere(where: str) -> Finding:
    """The step ends here, and it is not proven that it does everywhere."""
    return Finding(
        Right.UNKNOWN,
        say(
            "It comes to no result here, by either of two algorithms ({0}). That every conforming machine ends there "
            "is not proven, so nobody is accused.",
            where,
        ),
    )


def other_rows(name: str, step: int) -> Finding:
    """The trainer signed another batch."""
    return Finding(
        Right.REPLAY,
        say(
            "The fingerprint that the trainer signed for the rows of {0} at step {1} is not that of the ordered ones. "
            "The order commits to its data and to the rows of every step, so no arithmetic is needed to tell.",
            repr(name),
            step,
        ),
    )


def other_draws(node: Node, step: int) -> Finding:
    """The trainer signed other random numbers."""
    return Finding(
        Right.REPLAY,
        say(
            "The fingerprint that the trainer signed for the random numbers of step {0} at the operator {1} is not "
            "that of those that the order's seed gives. Each of them is defined by seed, step and place, the same on "
            "every machine.",
            step,
            node.where,
        ),
    )


def not_as_defined(node: Node) -> Finding:
    """The trainer's result of an operator is not what the operator is defined to be."""
    return Finding(
        Right.REPLAY,
        say(
            "The operator {0}, whose inputs agree, has one defined result, the same on every machine. This "
            "machine's is that result, and the trainer's fingerprint belongs to others.",
            node.where,
        ),
    )


def machine_is_not_as_defined(node: Node) -> Finding:
    """This machine's result of an operator is not what the operator is defined to be."""
    return Finding(
        Right.NOBODY_KNOWN,
        say(
            "The operator {0} has one defined result, the same on every machine, and this machine's is another, so "
            "nothing that it computes can accuse anybody. Replay the run on another machine.",
            node.where,
        ),
    )


# This machine.


def machine_wavers() -> Finding:
    """The same step gave two results."""
    return Finding(
        Right.NOBODY_KNOWN,
        say(
            "This machine does not give the same values again when it replays the step, so nothing that it "
            "computes can accuse anybody. Replay the run on another machine."
        ),
    )


def machine_is_off(elements: Elements) -> Finding:
    """This machine's arithmetic errs by more than any conforming machine's."""
    worst, operator = max(elements.errors), elements.node.where
    if elements.conforming:
        return elements.finding(
            Right.TRAINER,
            say(
                "The trainer's values at the operator {0} are right. This machine's are off the exact ones by up "
                "to {1:.3g} times the error bound, so nothing that it computes can accuse anybody. Replay the run "
                "on another machine.",
                operator,
                worst,
            ),
        )
    return elements.finding(
        Right.NOBODY_KNOWN,
        say(
            "This machine's values at the operator {0} are off the exact ones by up to {1:.3g} times the error "
            "bound, so nothing that it computes can accuse anybody. Replay the run on another machine.",
            operator,
            worst,
        ),
    )


# Exact profiles.


def machine_is_wrong(elements: DefinedElements) -> Finding:
    """This machine's value of an element is not the defined one."""
    operator = elements.node.where
    if elements.trainer_is_right:
        return elements.finding(
            Right.TRAINER,
            say(
                "Under this profile every result is defined by mathematics, so of two different elements one is wrong. "
                "At the operator {0}, whose inputs agree, integer arithmetic gives the trainer's value and not this "
                "machine's: this machine's arithmetic is off. Replay the run on another machine.",
                operator,
            ),
        )
    return elements.finding(
        Right.NOBODY_KNOWN,
        say(
            "Under this profile every result is defined by mathematics. At the operator {0} integer arithmetic gives "
            "other elements than this machine, so nothing that it computes can accuse anybody. Replay the run on "
            "another machine.",
            operator,
        ),
    )


def trainer_is_wrong(elements: DefinedElements) -> Finding:
    """This machine's elements are the defined ones."""
    if elements.trainer is not None:
        return elements.finding(
            Right.REPLAY,
            say(
                "Under this profile every result is defined by mathematics, so of two different elements one is wrong. "
                "At the operator {0}, whose inputs agree, element {1} is {2}, computed in integers, as this machine "
                "has it; the trainer's fingerprint shows {3}.",
                elements.node.where,
                elements.place,
                repr(elements.defined[0]),
                repr(elements.trainer[0]),
            ),
        )
    whole = len(elements.indices) == elements.total
    checked = say("all") if whole else say("{0} of", len(elements.indices))
    return elements.finding(
        Right.REPLAY,
        say(
            "Under this profile every result is defined by mathematics, so of two different elements one is wrong. At "
            "the operator {0}, whose inputs agree, {1} {2} elements were computed in integers, and this machine's are "
            "these; the trainer's fingerprint belongs to others.",
            elements.node.where,
            checked,
            elements.total,
        ),
    )


# The trainer.


def wrong_scale(elements: Elements) -> Finding:
    """The trainer's log gives a scale exponent that no machine computes from these inputs."""
    return elements.finding(
        Right.REPLAY,
        say(
            "At the operator {0}, whose inputs agree, the trainer's log gives a scale that no hardware computes "
            "from these inputs, and its fingerprint belongs to other values.",
            elements.node.where,
        ),
    )


def other_values(elements: Elements) -> Finding:
    """It is not known which values differ, but none may."""
    whole = len(elements.indices) == elements.total
    checked = say("all") if whole else say("{0} of", len(elements.indices))
    return elements.finding(
        Right.REPLAY,
        say(
            "At the operator {0}, whose inputs agree, {1} {2} elements were recomputed exactly, and this machine's "
            "values are right, to {3:.2g} of the error bound. The trainer's fingerprint belongs to other values, "
            "and no rounding on conforming hardware explains it.",
            elements.node.where,
            checked,
            elements.total,
            max(elements.errors),
        ),
    )


def wrong_values(elements: Elements) -> Finding:
    """No conforming machine has the trainer's values."""
    count = len(elements.indices)
    return elements.finding(
        Right.REPLAY,
        say(
            "At the operator {0}, whose inputs agree, the trainer's fingerprint shows {1} other value{2} than the "
            "exact one{3}, which no conforming hardware gives.",
            elements.node.where,
            count,
            "s" * (count > 1),
            "s" * (count > 1),
        ),
    )


def contradiction(elements: Elements) -> Finding:
    """Log and fingerprint contradict each other."""
    return elements.finding(
        Right.REPLAY,
        say(
            "At the operator {0} the trainer's log says that a value was rounded one way, and its fingerprint that "
            "it was rounded the other way: what it signed contradicts itself.",
            elements.node.where,
        ),
    )


def undecided_finding(elements: Elements) -> Finding:
    """It is not known which values differ, and some may."""
    return elements.finding(
        Right.UNKNOWN,
        say(
            "At the operator {0}, whose inputs agree, the trainer's fingerprint belongs to other values, and does "
            "not tell to which. {1} elements lie so close to a midpoint between two grid points that conforming "
            "hardware may round them to either side, and the calibrated margin is too small for all of them to be "
            "in the log. Nobody is accused; order the job with proven margins.",
            elements.node.where,
            elements.open,
        ),
    )


# Rounding.


def after(finding: Finding, rounded: Sequence[Elements]) -> Finding:
    """A finding about an operator, where earlier ones of the step may have been rounded to the other side."""
    if not rounded:
        return finding
    if finding.right is Right.REPLAY:
        finding = replace(
            finding,
            sentence=say(
                "{0} An earlier difference could be rounding on other hardware; this one cannot.", finding.sentence
            ),
        )
    return finding if finding.elements else rounded[0].finding(finding.right, finding.sentence)


def leads_elsewhere(rounded: Sequence[Elements]) -> Finding:
    """Rounding to the other side does not lead to what the trainer signed."""
    return rounded[0].finding(
        Right.REPLAY,
        say(
            "Some values lie close enough to a midpoint for hardware to round them differently, but rounding them "
            "to the other side does not lead to what the trainer signed."
        ),
    )


def too_many_omissions(rounded: Sequence[Elements]) -> Finding:
    """Too many operators of one step lack decisions in the log."""
    missing = [elements for elements in rounded if elements.proven]
    return missing[0].finding(
        Right.REPLAY,
        say(
            "At {0} operators of this step the trainer's fingerprints show values that were rounded to the other side "
            "of a midpoint, and its log leaves these decisions out, which no conforming recorder does.",
            len(missing),
        ),
    )


def explained_finding(rounded: Sequence[Elements]) -> Finding:
    """With values rounded to the other side the step comes out as the trainer signed it."""
    missing = [elements for elements in rounded if elements.proven]
    if missing:
        count = sum(len(elements.indices) for elements in missing)
        return missing[0].finding(
            Right.OMISSION,
            say(
                "At the operator {0} and later {1} element{2} were rounded to the other side of a midpoint than "
                "here, which conforming hardware may do; but the trainer left that out of its log, in which a "
                "conforming recorder writes down every such decision. With these values the step comes out as the "
                "trainer signed it. For a single step nobody is accused.",
                missing[0].node.where,
                count,
                "s" * (count > 1),
            ),
        )
    count = sum(len(elements.indices) for elements in rounded)
    return rounded[0].finding(
        Right.MARGIN,
        say(
            "The exact values of {0} element{1} lie so close to a midpoint between two grid points that conforming "
            "hardware may round them to either side; rounded to the other side there, the step comes out as the "
            "trainer signed it. The calibrated margin was too small for one of the two machines. Nobody is "
            "accused; order the job with proven margins.",
            count,
            "s" * (count > 1),
        ),
    )


def repeated_omissions(finding: Finding, steps: Sequence[int]) -> Finding:
    """What a finding of omissions becomes when the steps in which there were some are as many as accuse."""
    if len(steps) < MOST_STEPS:
        return finding
    return replace(
        finding,
        right=Right.OMISSIONS,
        sentence=say(
            "Rounding decisions that lie within the error bound of a midpoint were left out of the log in {0} "
            "steps ({1}), which no conforming recorder does.",
            len(steps),
            enumeration(list(map(str, steps))),
        ),
    )
