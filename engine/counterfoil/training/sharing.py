"""A step that several shares make, executed: its parts in turn, whoever executes which of them.

The gradient program runs for each share; what the shares give is combined; the update program runs once. Which shares
a process runs, and how it hears of the others, is its :class:`Exchange`; how a part is run (recorded, or computed again
by its log), its :class:`RunPart`.
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Protocol

import numpy as np
import numpy.typing as npt
from torch import Tensor

from counterfoil.base.joberrors import RankError
from counterfoil.training.exactsum import exact_sum
from counterfoil_core.arithmetic.combining import Given, common_exponents, side_by_side
from counterfoil_core.arithmetic.compute.interpreter import StepInputs, StepResult
from counterfoil_core.base.digest import Digest
from counterfoil_core.bundle.shares import ShareRecord
from counterfoil_core.bundle.stepshares import StepShares, named_exponents
from counterfoil_core.commit.statedigest import digests_of, root_of
from counterfoil_core.order.loaded import LoadedOrder
from counterfoil_core.order.sharerecord import share_record
from counterfoil_core.program.graph import Program
from counterfoil_core.signing.parties import SignedShares


@dataclass(frozen=True)
class PartDone:
    """A part of a step that was executed: the update, a share, or a whole step.

    Attributes:
        result: What it gave.
        log: Its rounding log, encoded.
        log_entries: Number of entries in it.
        fingerprints: uint64 ``[places]``.
    """

    result: StepResult
    log: bytes
    log_entries: int
    fingerprints: npt.NDArray[np.uint64]


@dataclass(frozen=True)
class ShareDone:
    """A share that was executed, as all processes hear of it.

    Attributes:
        record: What its leaf commits to.
        log: Its rounding log, encoded.
        log_entries: Number of entries in it.
        fingerprints: uint64 ``[places]``.
        signature: What the party that answers for it signed; empty where nobody but the trainer does.
    """

    record: ShareRecord
    log: bytes
    log_entries: int
    fingerprints: npt.NDArray[np.uint64]
    signature: bytes = b""


@dataclass(frozen=True)
class SharedStep:
    """A step that shares made.

    Attributes:
        state: The state after it.
        loss: Its loss.
        log: The logs of the shares, one behind the other, and of the update.
        log_entries: Entries in all of them.
        fingerprints: uint64 ``[places of the update program]``.
        shares: What a run holds of the shares.
    """

    state: dict[str, Tensor]
    loss: float
    log: bytes
    log_entries: int
    fingerprints: npt.NDArray[np.uint64]
    shares: StepShares


class RunPart(Protocol):
    """Runs a part of a step: a share, or the update where there is none."""

    def __call__(
        self, step: int, share: int | None, program: Program, inputs: StepInputs, /
    ) -> Generator[Any, None, PartDone]:
        """Run the program of the part; yields the progress."""


class SignShare(Protocol):
    """Signs what a share gave, as the party that answers for it, and knows what others sign."""

    @property
    def signed(self) -> SignedShares:
        """Checks what parties signed; the keys of an order are read once, and not in each step."""

    def __call__(self, step: int, before: Digest, record: ShareRecord, /) -> bytes:
        """Return the signature, given the state root before the step; nothing where no party answers for the share."""


class Exchange(Protocol):
    """What the processes of a recording tell each other in a step."""

    @property
    def mine(self) -> Sequence[int]:
        """Numbers of the shares that this process runs, ascending."""

    def largest(self, exponents: npt.NDArray[np.int32]) -> npt.NDArray[np.int32]:
        """Return the largest of what each process found, element by element."""

    def begin_sum(self, total: Tensor) -> Callable[[], None]:
        """Begin to add int64 numbers of all processes, in place; returns what waits until they are added."""

    def beside(self, mine: Sequence[Given]) -> Sequence[Given]:
        """Return what all shares give, in their order."""

    def buffers(self, first: Mapping[str, Tensor] | None, like: Mapping[str, Tensor]) -> Mapping[str, Tensor]:
        """Return the buffers after share 0, which one process has; ``like`` has their shapes."""

    def shares(self, mine: Sequence[ShareDone]) -> Sequence[ShareDone]:
        """Return all shares in their order, or nothing in a process that writes nothing."""

    def rank_of(self, share: int) -> int:
        """Return the rank of the process that runs a share; 0 for a process alone."""


class Alone:
    """One process that runs all shares.

    Args:
        count: How many there are.
    """

    def __init__(self, count: int) -> None:
        self.mine = range(count)

    def largest(self, exponents: npt.NDArray[np.int32]) -> npt.NDArray[np.int32]:
        """What it found itself."""
        return exponents

    def begin_sum(self, total: Tensor) -> Callable[[], None]:
        """Nothing is to be added."""
        return lambda: None

    def beside(self, mine: Sequence[Given]) -> Sequence[Given]:
        """Its own are all."""
        return mine

    def buffers(self, first: Mapping[str, Tensor] | None, like: Mapping[str, Tensor]) -> Mapping[str, Tensor]:
        """It has them."""
        assert first is not None
        return first

    def shares(self, mine: Sequence[ShareDone]) -> Sequence[ShareDone]:
        """Its own are all."""
        return mine

    def rank_of(self, share: int) -> int:
        """There is one process."""
        return 0


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
    exponents = np.zeros(0, np.int32)
    if shares.sums:
        exponents = exchange.largest(common_exponents(given))
        named = named_exponents(list(program.combined), exponents)
        # In the order in which backward gives them.
        names = sorted(program.combined, key=lambda name: program.combined[name].number)
        together = exact_sum(given, names, named, shares.count, exchange.begin_sum)
    else:
        together = side_by_side(exchange.beside(given))
    update = order.updates.of(step)
    part = yield from run(step, None, update, order.update_inputs(step, state, together))
    after = exchange.buffers(first, {name: state[name] for name in program.updates})
    new = {**part.result.state, **after}
    every = exchange.shares(done)
    if not every:
        return replace(part.result, state=new)
    if before is not None and sign is not None:
        _check_signed(sign.signed, step, before, every, exchange)
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
            exponents.tolist(),
            list(digests_of(together).values()) if shares.sums else [],
            [share.signature for share in every],
        ),
    )


def _check_signed(
    signed: SignedShares, step: int, before: Digest, every: Sequence[ShareDone], exchange: Exchange
) -> None:
    """Check what parties signed before it is kept: no run is made of it, and the process that gave it is named.

    Raises:
        RankError: A signature does not hold, or is missing.
    """
    for share in every:
        signed.look_at(step, before, share.record, share.signature)
        if signed.problem is not None:
            raise RankError(
                f"Rank {exchange.rank_of(share.record.share)} gave share {share.record.share} of step {step} without "
                "the signature of the party that answers for it.",
                remedy="Every step before it is kept. Let whoever runs that rank look at its key and its program; then "
                "go on with --resume.",
                detail=signed.problem.sentence,
            )
