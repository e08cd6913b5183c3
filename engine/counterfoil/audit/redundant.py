"""A share that several parties computed and do not agree on: a replay says whose record of it is right."""

from __future__ import annotations

from collections.abc import Generator, Sequence
from dataclasses import dataclass

from counterfoil_core.base.errors import DataError, LogError
from counterfoil_core.base.sentence import say
from counterfoil_core.bundle.shares import ShareRecord
from counterfoil_core.commit.merkle import leaf_hash
from counterfoil_core.replay.replayer import StepEndedError, read_log
from counterfoil_core.replay.sharedreplay import SharedReplayer
from counterfoil_core.replay.shares import State, share_claim
from counterfoil_core.values.events import Event


@dataclass(frozen=True)
class Copy:
    """What one of the parties of a share gave for it.

    Attributes:
        record: The record of the share.
        log: Its rounding log, to which the record commits.
    """

    record: ShareRecord
    log: bytes


def right_copy(
    steps: SharedReplayer, step: int, state: State, copies: Sequence[Copy]
) -> Generator[Event, None, ShareRecord]:
    """Replay a share by the log of each copy, and return the record of the first that comes to what it says.

    Args:
        steps: Replays the steps of the order.
        step: The step.
        state: The state before it.
        copies: What the parties gave for one share; copies that are equal once.

    Yields:
        What happens.

    Raises:
        DataError: None of them comes to what it says.
        CancelledError: The replayer's token was cancelled.
    """
    for copy in copies:
        replayer, claim = steps.share(copy.record.share), share_claim(step, copy.record)
        try:
            logs = read_log(replayer.job, claim, copy.log)
            outcome = yield from replayer.replay(claim, state, logs)
        except (LogError, StepEndedError):
            continue
        if outcome.leaf == leaf_hash(claim.to_bytes()):
            return copy.record
    raise DataError(
        say(
            "Of what the parties gave for share {0} of step {1}, nothing is what was ordered.",
            copies[0].record.share,
            step,
        ),
        remedy=say("Have the share computed by others."),
    )
