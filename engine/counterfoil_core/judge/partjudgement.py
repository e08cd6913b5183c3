"""Judging one part of a step that shares make by itself: a share, the sum of a tensor, or the update.

What comes to its leaf is what the trainer signed with this one part put right. Nothing else of the step is looked at.
"""

from __future__ import annotations

from collections.abc import Generator, Sequence
from dataclasses import replace

import numpy as np
import torch

from counterfoil_core.arithmetic.linearhash import SignedHashes
from counterfoil_core.base.digest import Digest
from counterfoil_core.base.errors import CommitmentError
from counterfoil_core.base.sentence import say
from counterfoil_core.bundle.schema import StepRecord
from counterfoil_core.bundle.shares import NO_EXPONENT, ShareRecord, SharesRoot, sum_bits
from counterfoil_core.bundle.stepparts import AddedTensor
from counterfoil_core.bundle.stepshares import combined_root, exponents_digest
from counterfoil_core.commit.state import tensor_digest
from counterfoil_core.judge import findings, sums
from counterfoil_core.judge.judgement import DisputedPart, Judgement, SecondLook
from counterfoil_core.judge.looks import SignedStep, judge, nothing_but, with_share
from counterfoil_core.replay.replayer import NoResult, StepReplayer
from counterfoil_core.replay.shares import ShareJob, State, UpdateJob, share_claim, share_name
from counterfoil_core.values.dispute import COMBINE, UPDATE
from counterfoil_core.values.events import Event


def judge_share(
    steps: StepReplayer, whole: StepRecord, records: Sequence[ShareRecord], state: State, signed: SignedStep
) -> Generator[Event, None, Judgement]:
    """Judge a share of a step.

    Args:
        steps: Replays the share.
        whole: The trainer's record of the step.
        records: Those of its shares, which it commits to.
        state: The agreed state before the step.
        signed: Reads what the trainer left of the share.

    Raises:
        CancelledError, CommitmentError, NonFiniteError: As :func:`counterfoil_core.judge.looks.judge`.
    """
    assert isinstance(steps.job, ShareJob)
    share, step = steps.job.share, whole.step
    claim = share_claim(step, records[share])
    judgement = yield from judge(steps, claim, state, signed)
    if judgement.look is None:
        return judgement
    program, outcome = steps.job.programs.of(step), judgement.step
    part = DisputedPart(share_name(share), program, claim, signed.fingerprints(step), outcome, share)
    if outcome is not None:
        outcome = with_share(outcome, whole, records, share, program)
    return Judgement(outcome, replace(judgement.look, part=part))


def judge_update(
    steps: StepReplayer, whole: StepRecord, state: State, signed: SignedStep
) -> Generator[Event, None, Judgement]:
    """Judge the update of a step; arguments and errors as :func:`judge_share`."""
    judgement = yield from judge(steps, whole, state, signed)
    if judgement.look is None:
        return judgement
    job, printed = steps.job, signed.fingerprints(whole.step)
    assert isinstance(job, UpdateJob)
    part = DisputedPart(UPDATE, job.programs.of(whole.step), whole, printed, judgement.step, job)
    return replace(judgement, look=replace(judgement.look, part=part))


def judge_sum(order: Digest, whole: StepRecord, added: AddedTensor, place: int) -> Judgement:
    """Judge the sum of what the shares of a step give of one tensor.

    Args:
        order: The order's digest.
        whole: The trainer's record of the step.
        added: The tensor and what was signed of all sums, which the record commits to.
        place: The place of the tensor among all that are added.

    Raises:
        CommitmentError: The shares give something that is no number.
    """
    step, count, name = whole.step, len(added.given), added.name
    signed = _shares_of(whole)
    part = DisputedPart(COMBINE, about=name, adder=_adder(order, whole, added, place))
    try:
        exponent = sums.common_exponent(added.given)
    except ValueError as error:
        raise CommitmentError(
            say("What the shares in the capsule give of {0} is infinite or not a number.", repr(name)),
            remedy=say("Ask for a capsule about the share that gives it."),
        ) from error
    total = sums.sum_of_shares(added.given, exponent, sum_bits(count))
    if total is None:
        end = NoResult(None, 0, np.zeros(0, np.uint64))
        return Judgement(None, SecondLook(True, findings.sum_without_result(name, step), end=end, part=part))
    exponents, digests = added.exponents.copy(), added.combined.copy()
    exponents[place] = NO_EXPONENT if exponent is None else exponent
    digests[place] = np.frombuffer(tensor_digest(name, total).value, np.uint8)
    own = SharesRoot(signed.root, exponents_digest(exponents), combined_root(digests))
    outcome = nothing_but(whole, own)
    if own.exponents != signed.exponents:
        return Judgement(outcome, SecondLook(True, findings.other_exponents([name], step), part=part))
    if own.combined != signed.combined:
        return Judgement(outcome, SecondLook(True, findings.other_sum([name], step, count), part=part))
    return Judgement(outcome, None)


def _adder(order: Digest, whole: StepRecord, added: AddedTensor, place: int) -> int | None:
    """Return the first share of which its party signed that it added something else than it gives; None for none."""
    if added.additions is None:
        return None
    # Hashes go by the places of names: the others are not known here, and not needed.
    names = [f"{number:08}" for number in range(len(added.exponents))]
    hashes = SignedHashes(order, whole.step, _shares_of(whole), added.additions, names)
    exponent = {names[place]: int(added.exponents[place])}
    for share, given in enumerate(added.given):
        if hashes.others(share, {names[place]: torch.from_numpy(given)}, exponent):
            return share
    return None


def _shares_of(whole: StepRecord) -> SharesRoot:
    assert whole.shares is not None
    return whole.shares
