"""Steps of an order, executed as the trainer: recorded for the first time, or computed again by their logs."""

from __future__ import annotations

import os
from collections.abc import Callable, Generator, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, replace
from functools import partial

import numpy as np
import numpy.typing as npt
from torch import Tensor

from counterfoil.training.exchange import Alone, Exchange, SignShare
from counterfoil.training.recordingevents import DataChecked, OperatorRecorded
from counterfoil.training.sharesigning import share_signer
from counterfoil.training.sharing import PartDone, SharedStep, execute_shared
from counterfoil.training.stepfile import StoredStep, log_of_part
from counterfoil.training.tamper import Tamper
from counterfoil_core.arithmetic.compute.allocation import BeforeTheUpdate
from counterfoil_core.arithmetic.compute.interpreter import Interpreter, StepInputs, StepResult
from counterfoil_core.arithmetic.compute.operation import Compute
from counterfoil_core.arithmetic.compute.prepared import Round
from counterfoil_core.arithmetic.grid.fingerprinting import Kernels, step_key
from counterfoil_core.arithmetic.grid.log import SiteLog
from counterfoil_core.arithmetic.machine import Machine
from counterfoil_core.arithmetic.profiles import arithmetic_of
from counterfoil_core.arithmetic.selftest import run_selftest
from counterfoil_core.base.cancel import CancelToken
from counterfoil_core.base.digest import Digest
from counterfoil_core.base.generators import relay
from counterfoil_core.bundle.datafile import a_slip_of_the_giver, open_data_file
from counterfoil_core.bundle.stepshares import StepShares
from counterfoil_core.order.loaded import LoadedOrder
from counterfoil_core.program.graph import Program
from counterfoil_core.signing.keys import SigningKey


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
