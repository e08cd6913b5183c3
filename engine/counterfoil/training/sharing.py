"""A step that several shares make, executed: its parts in turn, whoever executes which of them.

The gradient program runs for each share; what the shares give is combined
(:mod:`counterfoil.training.combination`); the update program runs once. Which shares a process runs, and how it hears
of the others, is its :class:`counterfoil.training.exchange.Exchange`; how a part is run (recorded, or computed again by
its log), its :class:`RunPart`.
"""

from __future__ import annotations

from collections.abc import Generator, Mapping
from dataclasses import dataclass, replace
from typing import Any, Protocol

import numpy as np
import numpy.typing as npt
from torch import Tensor

from counterfoil.training.combination import combine
from counterfoil.training.exchange import Exchange, ShareDone, SignShare
from counterfoil_core.arithmetic.compute.interpreter import StepInputs, StepResult
from counterfoil_core.base.digest import Digest
from counterfoil_core.bundle.stepshares import StepShares
from counterfoil_core.commit.statedigest import digests_of, root_of
from counterfoil_core.order.loaded import LoadedOrder
from counterfoil_core.order.sharerecord import share_record
from counterfoil_core.program.graph import Program


@dataclass(frozen=True)
class PartDone:
    """A part of a step that was executed: the update, a share, or a whole step."""

    result: StepResult  #: What it gave.
    log: bytes  #: Its rounding log, encoded.
    log_entries: int  #: Number of entries in it.
    fingerprints: npt.NDArray[np.uint64]  #: uint64 ``[places]``.


@dataclass(frozen=True)
class SharedStep:
    """A step that shares made."""

    state: dict[str, Tensor]  #: The state after it.
    loss: float  #: Its loss.
    log: bytes  #: The logs of the shares, one behind the other, and of the update.
    log_entries: int  #: Entries in all of them.
    fingerprints: npt.NDArray[np.uint64]  #: uint64 ``[places of the update program]``.
    shares: StepShares  #: What a run holds of the shares.


class RunPart(Protocol):
    """Runs a part of a step: a share, or the update where there is none."""

    def __call__(
        self, step: int, share: int | None, program: Program, inputs: StepInputs, /
    ) -> Generator[Any, None, PartDone]:
        """Run the program of the part; yields the progress."""


def execute_shared(
    order: LoadedOrder,
    step: int,
    state: Mapping[str, Tensor],
    run: RunPart,
    exchange: Exchange,
    sign: SignShare | None = None,
) -> Generator[Any, None, SharedStep | StepResult]:
    """Execute a step that shares make.

    Args:
        order: The order.
        step: The step, from 1.
        state: The state before it.
        run: Runs a part.
        exchange: Says which shares this process runs, and hears of the others.
        sign: Signs what each of these gave, where parties answer for shares; None where a step is computed again.

    Yields:
        What ``run`` yields.

    Returns:
        The step; in a process that writes nothing its result alone.
    """
    program, shares = order.programs.of(step), order.manifest.shares
    assert order.updates is not None
    assert shares is not None
    given: list[dict[str, Tensor]] = []
    done: list[ShareDone] = []
    first: dict[str, Tensor] | None = None
    # Digested once more than the recording does, where parties sign alone: none takes this state on another's word.
    before = root_of(state) if sign is not None and shares.signers else None
    for share in exchange.mine:
        part = yield from run(step, share, program, order.share_inputs(step, share, state))
        buffers = {name: part.result.state[name] for name in program.updates}
        first = buffers if share == 0 else first
        record = share_record(share, part.result, buffers, Digest.of(part.log), part.fingerprints)
        signature = b"" if before is None or sign is None else sign(step, before, record)
        done.append(ShareDone(record, part.log, part.log_entries, part.fingerprints, signature))
        given.append(dict(part.result.combined))
        # The gradients are freed as they are combined.
        del part
    made = combine(order, step, before, sign, exchange, given, done)
    update = order.updates.of(step)
    part = yield from run(step, None, update, order.update_inputs(step, state, made.together))
    after = exchange.buffers(first, {name: state[name] for name in program.updates})
    new = {**part.result.state, **after}
    every = made.shares
    if not every:
        return replace(part.result, state=new)
    return SharedStep(
        state=new,
        loss=part.result.loss,
        log=b"".join((*(share.log for share in every), part.log)),
        log_entries=sum(share.log_entries for share in every) + part.log_entries,
        fingerprints=part.fingerprints,
        shares=StepShares.of(
            [share.record for share in every],
            [len(share.log) for share in every],
            [share.fingerprints for share in every],
            made.exponents,
            list(digests_of(made.together).values()) if shares.sums else [],
            [share.signature for share in every],
            made.additions,
        ),
    )
