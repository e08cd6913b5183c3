"""Steps of an order, executed as the trainer: recorded for the first time, or computed again by their logs."""

from __future__ import annotations

import os
from collections.abc import Callable, Generator, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, Protocol

import numpy as np
import numpy.typing as npt
from torch import Tensor

from counterfoil.base.joberrors import RecordingError
from counterfoil.signing.partykeys import sign_as_party
from counterfoil.training.combination import combine
from counterfoil.training.exchange import Alone, Exchange, ShareDone, SignShare
from counterfoil.training.recordingevents import DataChecked, OperatorRecorded
from counterfoil.training.stepfile import StoredStep, log_of_part
from counterfoil.training.tamper import Tamper
from counterfoil_core.arithmetic.compute.allocation import BeforeTheUpdate
from counterfoil_core.arithmetic.compute.interpreter import Interpreter, StepInputs, StepResult
from counterfoil_core.arithmetic.compute.operation import Compute
from counterfoil_core.arithmetic.compute.plan import Round
from counterfoil_core.arithmetic.grid.fingerprints import Kernels, step_key
from counterfoil_core.arithmetic.grid.log import SiteLog
from counterfoil_core.arithmetic.machine import Machine
from counterfoil_core.arithmetic.profiles import arithmetic_of
from counterfoil_core.arithmetic.selftest import run_selftest
from counterfoil_core.base.cancel import CancelToken
from counterfoil_core.base.digest import Digest
from counterfoil_core.base.generators import relay
from counterfoil_core.bundle.datafile import a_slip_of_the_giver, open_data_file
from counterfoil_core.bundle.schema import OrderManifest
from counterfoil_core.bundle.shares import ShareRecord
from counterfoil_core.bundle.stepshares import StepShares
from counterfoil_core.commit.statedigest import digests_of, root_of
from counterfoil_core.order.executable import LoadedOrder
from counterfoil_core.order.sharerecord import share_record
from counterfoil_core.program.graph import Program
from counterfoil_core.signing.claims import Share
from counterfoil_core.signing.keys import SigningKey
from counterfoil_core.signing.parties import SignedShares, Sum, parties_of

# Signing what shares gave while they are recorded: the keys of the parties that answer for them.


@dataclass(frozen=True)
class PartySigner:
    """The :class:`counterfoil.training.exchange.SignShare` of an order with parties."""

    order: Digest  #: The order's digest.
    keys: Mapping[int, SigningKey]  #: The key of the party that answers for each share, of those that have one.
    signed: SignedShares  #: Checks what all parties signed.

    def __call__(self, step: int, before: Digest, record: ShareRecord) -> bytes:
        """Sign what a share gave from a state; nothing where nobody but the trainer answers for it."""
        key = self.keys.get(record.share)
        return b"" if key is None else sign_as_party(Share.of(self.order, step, before, record), key)

    def addition(self, added: Sum, share: int, hashes: bytes) -> bytes:
        """Sign what was added of a share; nothing where nobody but the trainer answers for it."""
        key = self.keys.get(share)
        return b"" if key is None else sign_as_party(added.addition(share, hashes), key)


def share_signer(manifest: OrderManifest, mine: Sequence[int], keys: Mapping[int, SigningKey]) -> PartySigner:
    """Return what signs the shares that a process runs.

    Args:
        manifest: The order's manifest.
        mine: The numbers of these shares.
        keys: The keys that were given, by the numbers of the shares that they are for; those of other processes'
            shares are left alone.

    Raises:
        RecordingError: The key of a party is missing, is another one than the order names, or is for a share that no
            party answers for.
        BundleError: A key of the order is none.
    """
    parties = {} if manifest.shares is None else parties_of(manifest.shares)
    for share in sorted(keys.keys() - parties.keys()):
        raise RecordingError(
            f"A key was given for share {share}, and the order names no party that answers for it.",
            remedy="Leave the key out, or give it for a share that the order names a party for.",
        )
    for share in mine:
        if share not in parties:
            continue
        wanted = parties[share].key_id
        if share not in keys:
            raise RecordingError(
                f"The party with the key {wanted} answers for share {share}, and its key was not given.",
                remedy=f"Give its private key: --share-key {share}=FILE.",
            )
        given = keys[share].public.key_id
        if given != wanted:
            raise RecordingError(
                f"The party with the key {wanted} answers for share {share}; the key that was given is {given}.",
                remedy=f"Give the party's own private key: --share-key {share}=FILE.",
            )
    return PartySigner(manifest.digest, dict(keys), SignedShares(manifest))


# A step that several shares make, executed: its parts in turn, whoever executes which of them. The gradient program
# runs for each share; what the shares give is combined (counterfoil.training.combination); the update program runs
# once. Which shares a process runs, and how it hears of the others, is its counterfoil.training.exchange.Exchange; how
# a part is run (recorded, or computed again by its log), its RunPart.


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


@dataclass(frozen=True)
class Executor:
    """Executes steps of an order on this machine."""

    order: LoadedOrder  #: The order; with its data, once a step is executed.
    interpreters: Mapping[Digest, Interpreter]  #: An interpreter of each of its programs, by the program's digest.
    compute: Compute  #: Computes an operator.
    tamper: Tamper | None  #: What departs from the order.
    #: What this process and others tell each other, where the steps of the order have shares.
    exchange: Exchange | None
    cancel: CancelToken | None  #: Looked at between operators.
    sign: SignShare | None = None  #: Signs what the shares that this process runs gave.

    def execute(
        self, step: int, program: Program, inputs: StepInputs, rounder: Round
    ) -> Generator[OperatorRecorded, None, StepResult]:
        """Execute a program of a step, from 1, with a rounder that was told of it."""
        if self.tamper is not None:
            inputs = self.tamper(inputs)
        interpreter = self.interpreters[program.digest]
        execution = interpreter.execute(inputs, rounder=rounder, compute=self.compute, cancel=self.cancel)
        before, total = self._operators(step, inputs)
        passes = [number for number, node in enumerate(program.nodes, 1) if node.phase != "update"]
        idle = BeforeTheUpdate(max(passes, default=0))

        def reported(done: int) -> OperatorRecorded:
            idle.look(done)
            return OperatorRecorded(step, before + done, total)

        return relay(execution, reported)

    def _operators(self, step: int, inputs: StepInputs) -> tuple[int, int]:
        """Return how many operators of a step this process has executed before some inputs, and of how many."""
        first = len(self.order.programs.of(step).nodes)
        if self.exchange is None or self.order.updates is None:
            return 0, first
        mine = list(self.exchange.mine)
        before = mine.index(inputs.share) if inputs.share is not None else len(mine)
        return before * first, len(mine) * first + len(self.order.updates.of(step).nodes)


def open_executor(
    order: LoadedOrder,
    machine: Machine,
    tamper: Tamper | None,
    exchange: Exchange | None,
    cancel: CancelToken | None,
    share_keys: Mapping[int, SigningKey] | None = None,
) -> Executor:
    """Make an executor, on a machine that has room for a step and passes its self-test.

    Args:
        order: The order.
        machine: The machine.
        tamper: What departs from the order.
        exchange: See :class:`Executor`; unless given, this process runs all shares.
        cancel: Looked at between operators.
        share_keys: The keys of the parties that answer for shares that this process runs.

    Raises:
        RecordingError: The key of one of these parties is missing, or is another one.
    """
    precision, shares = order.manifest.precision, order.manifest.shares
    if shares is not None and exchange is None:
        exchange = Alone(shares.count)
    sign = share_signer(order.manifest, () if exchange is None else exchange.mine, share_keys or {})
    mine = None if exchange is None else len(exchange.mine)
    machine.check_memory(order.all_programs, precision, order.combining_bytes(mine)[0])
    run_selftest(machine, precision)
    interpreters = {program.digest: machine.interpreter(program, precision) for program in order.all_programs}
    return Executor(order, interpreters, machine.compute(precision), tamper, exchange, cancel, sign)


def with_data(
    executor: Executor, data: str | os.PathLike[str] | None, stack: ExitStack
) -> Generator[DataChecked, None, Executor]:
    """Return an executor whose order has the arrays of its data file, which is checked first.

    Args:
        executor: The executor.
        data: The data file, as the user gives it; None for an order that keeps no data outside.
        stack: Keeps it open.

    Raises:
        GivenFileError: The order needs a data file and none was given, or it is not the one that the order names.
    """
    manifest = executor.order.manifest
    with a_slip_of_the_giver():
        file = open_data_file(manifest, data, stack)
        if file is None:
            return executor
        outside = yield from relay(file.check(manifest, executor.cancel), lambda report: DataChecked(*report))
    return replace(executor, order=executor.order.with_data(outside))


@dataclass(frozen=True)
class Recorded:
    """A step that was executed, before it is kept."""

    state: Mapping[str, Tensor]  #: The state after it.
    loss: float  #: Its loss.
    log: Callable[[], tuple[bytes, int]]  #: Returns its rounding log, encoded, and the number of entries in it.
    fingerprints: npt.NDArray[np.uint64]  #: uint64 ``[places]``.
    shares: StepShares | None = None  #: What a run holds of its shares, where it has some.


class Recorders:
    """Records the steps of an order: executes them, and keeps what an auditor needs.

    Args:
        executor: Executes the steps.
        kernels: The kernels of its machine.
    """

    def __init__(self, executor: Executor, kernels: Kernels) -> None:
        self._executor = executor
        self._arithmetic = arithmetic_of(executor.order.manifest.precision)
        self._rounders = {p.digest: self._arithmetic.recorder(p, kernels) for p in executor.order.all_programs}

    def record(
        self, step: int, state: Mapping[str, Tensor]
    ) -> Generator[OperatorRecorded, None, Recorded | StepResult]:
        """Execute a step, from 1; returns its result alone in a process that writes nothing."""
        executor, order = self._executor, self._executor.order
        if executor.exchange is not None:
            done = yield from execute_shared(order, step, state, self._part, executor.exchange, executor.sign)
            if isinstance(done, StepResult):
                return done
            log = done.log, done.log_entries
            return Recorded(done.state, done.loss, lambda: log, done.fingerprints, done.shares)
        program = order.programs.of(step)
        rounder = self._rounders[program.digest]
        rounder.begin_step(step_key(order.manifest.digest, step))
        result = yield from executor.execute(step, program, order.inputs(step, state), rounder)
        encode = partial(self._encoded, rounder.logs)
        return Recorded(result.state, result.loss, encode, rounder.fingerprints)

    def _part(
        self, step: int, share: int | None, program: Program, inputs: StepInputs
    ) -> Generator[OperatorRecorded, None, PartDone]:
        rounder = self._rounders[program.digest]
        rounder.begin_step(step_key(self._executor.order.manifest.digest, step))
        result = yield from self._executor.execute(step, program, inputs, rounder)
        return PartDone(result, *self._encoded(rounder.logs), rounder.fingerprints)

    def _encoded(self, logs: Sequence[SiteLog]) -> tuple[bytes, int]:
        return self._arithmetic.encode_log(logs), sum(len(site.indices) for site in logs)


class Restoring:
    """Computes a finished step again, following its log.

    With its own log a step comes out the same on other hardware too (docs/proofs.md, "Two theorems").

    Args:
        executor: Executes the step.
        finished: The step.
        kernels: The kernels of the machine.
    """

    def __init__(self, executor: Executor, finished: StoredStep, kernels: Kernels) -> None:
        self._manifest = executor.order.manifest
        shares = self._manifest.shares
        # All shares here, whoever ran them first.
        alone = executor if shares is None else replace(executor, exchange=Alone(shares.count))
        self._executor, self._finished, self._kernels = alone, finished, kernels
        self._arithmetic = arithmetic_of(self._manifest.precision)

    def step(self, state: Mapping[str, Tensor]) -> Generator[OperatorRecorded, None, Recorded]:
        """Compute it from the state before it; all shares here, where it has some."""
        order, number = self._executor.order, self._finished.record.step
        log = self._finished.log, self._finished.log_entries
        if self._executor.exchange is not None:
            done = yield from execute_shared(order, number, state, self._part, self._executor.exchange)
            assert isinstance(done, SharedStep)
            return Recorded(done.state, done.loss, lambda: log, done.fingerprints, done.shares)
        part = yield from self._part(number, None, order.programs.of(number), order.inputs(number, state))
        return Recorded(part.result.state, part.result.loss, lambda: log, part.fingerprints)

    def _part(
        self, step: int, share: int | None, program: Program, inputs: StepInputs
    ) -> Generator[OperatorRecorded, None, PartDone]:
        log = log_of_part(self._finished, share)
        rounder = self._arithmetic.replayer(program, self._kernels)
        rounder.follow(step_key(self._manifest.digest, step), self._arithmetic.decode_log(program, log))
        result = yield from self._executor.execute(step, program, inputs, rounder)
        return PartDone(result, log, 0, rounder.fingerprints)
