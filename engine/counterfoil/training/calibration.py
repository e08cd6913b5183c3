"""Calibrated margins: measures how far results differ under perturbation, and sets m per operator kind from it.

The adaptive thresholds of the paper (Srivastava, Arora, Boneh 2024, section 5.2), measured before training and written
into the order: a few steps are executed as the device computes them, and each rounded operator is computed again on the
same inputs under every perturbation (:mod:`counterfoil_core.arithmetic.otherwise.perturbation`).
"""

from __future__ import annotations

import math
import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any

import torch
from torch import Tensor

from counterfoil.bundle.writer import BundleWriter
from counterfoil.training.orderfile import prepare_order
from counterfoil_core.arithmetic.compute.operation import Operation, native
from counterfoil_core.arithmetic.grid.fingerprints import Kernels, step_key
from counterfoil_core.arithmetic.grid.rounder import RecordingRounder
from counterfoil_core.arithmetic.machine import open_machine
from counterfoil_core.arithmetic.otherwise.perturbation import PERTURBATIONS, perturb
from counterfoil_core.base.cancel import CancelToken
from counterfoil_core.base.digest import Digest
from counterfoil_core.base.errors import DataError
from counterfoil_core.base.generators import relay
from counterfoil_core.base.precision import HEADROOM_BITS, ExactPrecision, Precision
from counterfoil_core.base.trouble import obstacles_noticed
from counterfoil_core.bundle.reader import BundleReader, OrderContents
from counterfoil_core.bundle.schema import OrderManifest
from counterfoil_core.kernels.grid import FLOAT64_BIAS, ZERO_SCALE
from counterfoil_core.operators.facts import OperatorClass
from counterfoil_core.operators.node import Node
from counterfoil_core.order.executable import with_data_file
from counterfoil_core.program.graph import Program
from counterfoil_core.program.limits import Limits

_FINEST = 64
"""Distances from midpoints are counted down to 2^(E - 64)."""


@dataclass(frozen=True)
class KindCalibration:
    """What was measured on one operator kind."""

    kind: str  #: The operator kind, for instance ``mm``.
    sites: int  #: Rounding sites of a step of each program.
    values: int  #: Values that these steps round there.
    largest: float  #: Largest difference seen, in units of 2^E; 0 when results never differed.
    margin_bits: int  #: m that follows: ``floor(-log2(largest)) - 6`` within the profile's range, or the default.
    share_logged: float  #: Share of the values, 0 to 1, that lie within that margin of a midpoint.

    @property
    def headroom(self) -> float:
        """Bits between the largest difference and the margin; less than six where the profile has no room."""
        return -math.log2(self.largest) - self.margin_bits if self.largest else math.inf


@dataclass(frozen=True)
class Calibration:
    """Calibrated margins."""

    kinds: tuple[KindCalibration, ...]  #: What was measured, by the name of the kind.
    precision: Precision  #: The order's profile with these margins.
    steps: int  #: Number of steps measured.
    order: Digest | None  #: Digest of the order that was written, or None.


@dataclass(frozen=True)
class CalibrationStarted:
    """First event: the number of steps that will be measured."""

    steps: int


@dataclass(frozen=True)
class CalibrationProgress:
    """Steps done, with a part of the current one."""

    done: float


CalibrationEvent = CalibrationStarted | CalibrationProgress | Calibration


def margin_for(largest: float, precision: Precision) -> int:
    """Return m for a largest difference in units of 2^E: six bits above it, within the profile's range."""
    if largest == 0.0:
        return precision.margin_bits
    least, most = precision.margin_range
    return min(max(math.floor(-math.log2(largest)) - HEADROOM_BITS, least), most)


def calibrate(
    order_path: str | os.PathLike[str],
    out: str | os.PathLike[str] | None = None,
    *,
    steps: int = 3,
    data: str | os.PathLike[str] | None = None,
    device: str = "cpu",
    threads: int | None = None,
    cancel: CancelToken | None = None,
    limits: Limits | None = None,
) -> Iterator[CalibrationEvent]:
    """Measure an order's first steps, and write the order again with calibrated margins.

    Where several programs take turns, as many steps are measured as it takes for each to have a turn.

    Args:
        order_path: The order; a run works too, its recording is ignored.
        out: Where the new order goes; None writes none.
        steps: Steps to measure; no more than the order has.
        data: The data file, for an order that keeps data outside.
        device: ``cpu`` or ``cuda:0``.
        threads: Threads on the CPU; None for torch's choice.
        cancel: Looked at between operators.
        limits: How large the program may be; the default limits unless given.

    Yields:
        CalibrationStarted, CalibrationProgress now and then, and the Calibration.

    Raises:
        GivenFileError: There is no such order or data file, or the data file is not the one that the order names.
        RefusedError: The order is damaged or not supported.
        LimitError: Its program is larger than the limits.
        NonFiniteError: Training diverged within these steps.
        CancelledError: ``cancel`` was set; nothing was written.
        DeviceError: There is no such device.
        DataError: ``steps`` is not positive.
    """
    if steps < 1:
        raise DataError("A calibration needs at least one step.")
    machine = open_machine(device, threads)
    with ExitStack() as stack:
        stack.enter_context(obstacles_noticed())
        reader = stack.enter_context(BundleReader.open(order_path))
        contents = reader.check_order_contents(cancel)
        order = prepare_order(reader.manifest, contents, limits, cancel)
        manifest, programs = order.manifest, order.programs
        profile = manifest.precision
        if isinstance(profile, ExactPrecision):
            raise DataError(
                "This order has an exact profile: its results have no margins, so there is nothing to calibrate.",
                remedy="Calibrate orders of the other profiles; their runs have a rounding log.",
            )
        order = with_data_file(order, data, stack, cancel)
        machine.check_memory(programs.all, manifest.precision)
        steps = min(max(steps, programs.complete_after), manifest.steps)
        kernels = stack.enter_context(machine.kernels())
        interpreters = programs.map(lambda program: machine.interpreter(program, manifest.precision))
        measured, unproven = _Measured(), replace(profile, proven=False)
        rounders = programs.map(lambda program: _Measuring(program, unproven, kernels, measured))
        yield CalibrationStarted(steps)
        state: Mapping[str, Tensor] = order.initial
        for step in range(1, steps + 1):
            measuring = rounders.of(step)
            measuring.begin_step(step_key(manifest.digest, step))
            execution = interpreters.of(step).execute(
                order.inputs(step, state), rounder=measuring, compute=measuring.compute, cancel=cancel
            )
            result = yield from relay(execution, partial(_progress, step - 1, len(programs.of(step).nodes)))
            state = result.state
            yield CalibrationProgress(step)
        kinds = _kinds(measured, programs.all, unproven)
        # A kind that never differed keeps the default, so it is not listed.
        margins = tuple((kind.kind, kind.margin_bits) for kind in kinds if kind.largest)
        precision = replace(unproven, margins=margins)
        calibrated = replace(manifest, precision=precision)
        if out is not None:
            _write(contents, calibrated, out)
    yield Calibration(kinds, precision, steps, None if out is None else calibrated.digest)


def _progress(before: int, operators: int, done: int) -> CalibrationProgress:
    return CalibrationProgress(before + done / operators)


def _write(contents: OrderContents, manifest: OrderManifest, out: str | os.PathLike[str]) -> None:
    with BundleWriter.create(out) as writer:
        writer.write_order(
            manifest,
            contents.programs,
            contents.schedule,
            contents.scalars,
            contents.data,
            contents.initial,
            None,
            contents.updates,
            row_key=contents.row_key,
        )


@dataclass
class _Measured:
    """What was measured so far, by operator kind."""

    largest: dict[str, float] = field(default_factory=dict)  #: Largest difference, in units of 2^E.
    seen: dict[str, int] = field(default_factory=dict)  #: Number of values.
    #: int64 ``[65]``: how many of them lie within 2^E, 2^(E - 1), ... of a midpoint and no closer.
    within: dict[str, Tensor] = field(default_factory=dict)


class _Measuring(RecordingRounder):
    """Rounds as a recorder does, and measures each output against its perturbed forms before that."""

    def __init__(self, program: Program, precision: Precision, kernels: Kernels, measured: _Measured) -> None:
        super().__init__(program, precision, kernels)
        self._perturbed: list[Callable[[Operation, list[Any], dict[str, Any]], Any]] = [
            perturb(name) for name in PERTURBATIONS
        ]
        self._others: list[list[Any]] = []
        self._measured = measured

    def compute(self, operation: Operation, args: list[Any], kwargs: dict[str, Any]) -> Any:
        """Compute an operator natively, and keep what every perturbation makes of it for :meth:`_round`."""
        result = native(operation, args, kwargs)
        self._others = []
        if operation.node.entry.operator_class is OperatorClass.ROUNDED:
            results = [change(operation, args, kwargs) for change in self._perturbed]
            self._others = [list(r) if isinstance(r, (tuple, list)) else [r] for r in results]
        return result

    def _round(self, node: Node, exponent: int, flat: Tensor) -> int:
        site = self._program.sites[self._site]
        if exponent != ZERO_SCALE:
            # Infinities that an argument holds are the same on all machines, and no decision hangs on them.
            own = flat.double()
            finite = torch.isfinite(own)
            own = own[finite]
            unit = math.ldexp(1.0, exponent)
            for outputs in self._others:
                other = outputs[site.output].contiguous().view(-1).double()
                difference = float((own - other[finite]).abs().max()) / unit if own.numel() else 0.0
                self._measured.largest[site.kind] = max(self._measured.largest.get(site.kind, 0.0), difference)
            self._count(node, exponent, own)
        return super()._round(node, exponent, flat)

    def _count(self, node: Node, exponent: int, own: Tensor) -> None:
        """Count values by the power of two, from 2^E downwards, within which a midpoint lies."""
        grid = self._grid(self._site, exponent)
        biased = ((own.view(torch.int64) >> 52) & 0x7FF).clamp(min=grid.floor_biased)
        quantum = torch.ldexp(torch.ones_like(own), biased - FLOAT64_BIAS - grid.significand_bits + 1)
        position = own / quantum
        distance = (0.5 - (position - position.round()).abs()).abs() * quantum
        # floor(-log2(distance / 2^E)): the largest m whose margin still reaches the midpoint; zero is within them all.
        reach = torch.where(distance > 0, exponent - torch.frexp(distance)[1].long(), _FINEST).clamp(0, _FINEST)
        kind = node.entry.kind
        counts = torch.bincount(reach, minlength=_FINEST + 1).cpu()
        self._measured.within[kind] = self._measured.within.get(kind, torch.zeros_like(counts)) + counts
        self._measured.seen[kind] = self._measured.seen.get(kind, 0) + own.numel()


def _kinds(measured: _Measured, programs: Sequence[Program], precision: Precision) -> tuple[KindCalibration, ...]:
    """Return what was measured on each operator kind of the programs."""
    sites = [site for program in programs for site in program.sites]
    found = []
    for kind in sorted({site.kind for site in sites}):
        of_kind = [site for site in sites if site.kind == kind]
        largest = measured.largest.get(kind, 0.0)
        margin = margin_for(largest, precision)
        seen = measured.seen.get(kind, 0)
        share = int(measured.within[kind][margin:].sum()) / seen if seen else 0.0
        values = sum(site.elements for site in of_kind)
        found.append(KindCalibration(kind, len(of_kind), values, largest, margin, share))
    return tuple(found)
