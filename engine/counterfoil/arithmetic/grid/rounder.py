"""Rounds the outputs of operators while a step runs: the trainer's side writes the log, the auditor's follows it."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Protocol

import numpy as np
import numpy.typing as npt
import torch
from torch import Tensor

from counterfoil.arithmetic.grid.following import Directions, DirectionsElsewhere, absent, judged
from counterfoil.arithmetic.grid.infinities import Infinities, finite_outputs, hold_infinity, without_infinities
from counterfoil.arithmetic.grid.known import Known
from counterfoil.arithmetic.grid.log import SiteLog
from counterfoil.arithmetic.grid.magnitude import using
from counterfoil.arithmetic.grid.margin import Margin, site_margins
from counterfoil.arithmetic.grid.neighbours import Values
from counterfoil.arithmetic.grid.scales.rules import scale_rule
from counterfoil.arithmetic.grid.scales.shared import Scale
from counterfoil.arithmetic.grid.tiles import SiteRounding, Swept, SweptSite
from counterfoil.base.digest import Digest
from counterfoil.base.errors import DIVERGED, NonFiniteError
from counterfoil.base.precision import Precision
from counterfoil.base.sentence import say
from counterfoil.kernels.counts import NOTHING, Counts
from counterfoil.kernels.cpu.rounding import CpuKernel, mix_values
from counterfoil.kernels.grid import (
    FLOAT64_BIAS,
    LARGEST_EXPONENT,
    OMISSION_SHARE,
    ZERO_SCALE,
    Grid,
    is_explained,
    scale_exponent,
)
from counterfoil.kernels.result import Rounded
from counterfoil.kernels.torch.rounding import TorchKernel
from counterfoil.operators.node import Node
from counterfoil.program.chains import Chain
from counterfoil.program.graph import Program
from counterfoil.program.places import Place

_MASK64 = 2**64 - 1
_PLACE_FACTOR = 0xD6E8FEB86659FD93
Run = Callable[[Sequence[SiteRounding], Sequence[int]], Swept]
"""Computes a chain, given how its sites are rounded and the fingerprint keys of its watched values."""


def step_key(order: Digest, step: int) -> int:
    """The fingerprint key of a step: fixed by the order, so that values cannot be chosen to collide in advance."""
    return int.from_bytes(Digest.of(order.value + b"fingerprint" + step.to_bytes(8, "little")).value[:8], "little")


def place_key(key: int, place: int) -> int:
    """The fingerprint key of a place within a step (:mod:`counterfoil.program.places`)."""
    return (key + (place + 1) * _PLACE_FACTOR) & _MASK64


def place_keys(key: int, places: int) -> list[int]:
    """The fingerprint keys of the first places of a step."""
    keys = np.uint64(key) + np.arange(1, places + 1, dtype=np.uint64) * np.uint64(_PLACE_FACTOR)
    found: list[int] = keys.tolist()
    return found


@dataclass(frozen=True)
class Observation:
    """What happened at one rounding site, kept for a closer look.

    Attributes:
        node: The operator.
        output: Which of its outputs.
        arguments: Its arguments by name.
        grid: The grid that was used.
        scale: This machine's own S.
        key: The fingerprint key of the place.
        before: ``[n]``: the output before rounding, flat.
        after: ``[n]``: the same after rounding, the trainer's directions applied.
        fingerprint: Its fingerprint.
    """

    node: Node
    output: int
    arguments: dict[str, Any]
    grid: Grid
    scale: float
    key: int
    before: Tensor
    after: Tensor
    fingerprint: int


@dataclass(frozen=True)
class Watched:
    """What happened at a place that is fingerprinted and not rounded to a grid, kept for a closer look.

    Attributes:
        place: The place.
        arguments: Arguments of its operator by name; empty for a batch.
        value: ``[n]``: the value, flat.
        key: The fingerprint key of the place.
        fingerprint: Its fingerprint.
    """

    place: Place
    arguments: dict[str, Any]
    value: Tensor
    key: int
    fingerprint: int


class DeviceKernel(Protocol):
    """A rounding kernel for tensors that lie elsewhere than in the CPU's memory."""

    def round(self, y: Tensor, grid: Grid, tau: float, key: int) -> Rounded:
        """Round ``[n]`` in place; see :meth:`counterfoil.kernels.cpu.rounding.CpuKernel.round`."""

    def fingerprint(self, integers: Tensor, key: int) -> int:
        """Return the fingerprint of int64 ``[n]``."""

    def fingerprint_finite(self, values: Tensor, key: int) -> tuple[int, bool]:
        """Return the fingerprint of float64 or float32 ``[n]``, and whether all of them are finite."""


class Kernels:
    """The rounding kernel for each kind of device; close it to give back its memory.

    Args:
        device: The device.
        threads: Threads on the CPU.
        run_ahead: Whether rounders run ahead of the device (:mod:`counterfoil.arithmetic.grid.ahead`), for which there
            must be
            Triton; None: where they can, and the device is not the CPU.
    """

    def __init__(self, device: torch.device, threads: int, *, run_ahead: bool | None = None) -> None:
        self.device = device
        """The device."""
        self.threads = threads
        """Threads for large tensors, for the scale rules as well."""
        self._cpu = CpuKernel(threads)
        self.on_cpu = device.type == "cpu"
        """Whether a largest magnitude is had without waiting for a device."""
        self._elsewhere = TorchKernel() if self.on_cpu else _device_kernel()
        self.run_ahead = not isinstance(self._elsewhere, TorchKernel) if run_ahead is None else run_ahead
        """Whether rounders run ahead of the device."""

    def close(self) -> None:
        """Give back the memory that was set aside for close decisions."""
        self._cpu.close()

    def round(self, flat: Tensor, grid: Grid, tau: float, key: int) -> Rounded:
        """Round a contiguous float64 or float32 tensor ``[n]`` in place."""
        if self.on_cpu:
            return self._cpu.round_at(flat.data_ptr(), flat.numel(), flat.itemsize, grid, tau, key)
        return self._elsewhere.round(flat, grid, tau, key)

    def directions(self, logs: Sequence[SiteLog]) -> Directions:
        """Return what puts the logged directions of a step in place."""
        return Directions(logs) if self.on_cpu else DirectionsElsewhere(logs)

    def fingerprint(self, flat: Tensor, key: int) -> int:
        """Return the fingerprint of a tensor ``[n]`` of any dtype: of its values as float64 or as int64."""
        if flat.is_floating_point():
            return self.fingerprint_finite(flat, key)[0]
        integers = flat.long().contiguous()
        if self.on_cpu:
            return self._cpu.fingerprint(integers.numpy().view(np.uint64), key)
        return self._elsewhere.fingerprint(integers, key)

    def fingerprint_finite(self, flat: Tensor, key: int) -> tuple[int, bool]:
        """Return the fingerprint of a floating-point tensor ``[n]``, and whether all values are finite: in one pass."""
        if self.on_cpu:
            found, largest = self.fingerprint_largest(flat, key)
            return found, math.isfinite(largest)
        return self._elsewhere.fingerprint_finite(_wide(flat), key)

    def fingerprint_largest(self, flat: Tensor, key: int) -> tuple[int, float]:
        """The same on the CPU, with the largest magnitude: infinite or not a number where an element is."""
        values = _wide(flat)
        return self._cpu.fingerprint_at(values.data_ptr(), values.numel(), values.itemsize, key)


def _wide(flat: Tensor) -> Tensor:
    return (flat if flat.dtype in (torch.float32, torch.float64) else flat.double()).contiguous()


def _device_kernel() -> DeviceKernel:
    """Return the kernel for a CUDA device: that in Triton, which comes with CUDA builds of torch for Linux."""
    try:
        from counterfoil.kernels.cuda.rounding import TritonKernel
    except ImportError:
        return TorchKernel()
    return TritonKernel()


@dataclass(frozen=True)
class Unfit:
    """An output of an operator of class rounded that fits no step, kept for a closer look.

    Attributes:
        node: The operator.
        output: Which of its outputs.
        arguments: Its arguments by name.
        scale: This machine's own S; 0 under an exact profile, which has none.
        value: ``[n]``: the output, flat.
    """

    node: Node
    output: int
    arguments: dict[str, Any]
    scale: float
    value: Tensor


class Fingerprinting:
    """Fingerprints the places of a step, and knows which rounding site is next."""

    def __init__(self, program: Program, kernels: Kernels) -> None:
        self._program = program
        self._kernels = kernels
        self._known = Known(program.sameness)
        self._key = 0
        self._keys = place_keys(0, len(program.places))
        """The fingerprint key of each place."""
        self._site = 0
        self.fingerprints = np.zeros(len(program.places), np.uint64)
        """uint64 ``[places]``: the fingerprints of the step so far."""
        self.unfit: Unfit | None = None
        """What ended the step, if an output of an operator of class rounded did."""

    def begin_step(self, key: int) -> None:
        """Start a step with its fingerprint key."""
        self.unfit = None
        self._key = key
        self._keys = place_keys(key, len(self._program.places))
        self._site = 0
        self._known.forget()
        self.fingerprints = np.zeros(len(self._program.places), np.uint64)

    def watch(self, place: int, value: Tensor, arguments: Callable[[], dict[str, Any]]) -> None:
        """Fingerprint a value that is not rounded.

        Args:
            place: Number of its place.
            value: The value, of any dtype.
            arguments: Returns the arguments of its operator by name.
        """
        flat, key = value.reshape(-1), self._keys[place]
        if self._kernels.on_cpu and flat.is_floating_point():
            self.fingerprints[place], largest = self._kernels.fingerprint_largest(flat, key)
            self._known.note(self._program.place_values[place], largest)
        else:
            self.fingerprints[place] = self._kernels.fingerprint(flat, key)

    def _watched(self, place: int, value: Tensor, arguments: Callable[[], dict[str, Any]]) -> Watched:
        """Keep a value that was fingerprinted."""
        return Watched(
            place=self._program.places[place],
            arguments=arguments(),
            value=value.reshape(-1).clone(),
            key=self._keys[place],
            fingerprint=int(self.fingerprints[place]),
        )


class Rounder(Fingerprinting):
    """What the recording and the replaying rounder share: scales, grids, order of the sites."""

    def __init__(self, program: Program, precision: Precision, kernels: Kernels) -> None:
        super().__init__(program, kernels)
        self._precision = precision
        self._margins = site_margins(program, precision)
        self._grids: dict[tuple[int, int], Grid] = {}
        """The grids that were used, by E and m."""
        self._measuring = using(kernels.threads, self._known)
        self._scale = 0.0
        self._infinities: Infinities | None = None
        self._largest: float | None = None
        """Largest magnitude of the value that was rounded last, where that is known."""

    def __call__(
        self, node: Node, arguments: Callable[[], dict[str, Any]], outputs: list[Tensor | None]
    ) -> list[Tensor | None]:
        """Round the floating-point outputs of an operator of class rounded.

        Args:
            node: The operator.
            arguments: Returns its arguments by name.
            outputs: Its outputs; may be overwritten.

        Raises:
            NonFiniteError: A value is not a number, beyond float32's range, or infinite although no argument is.
        """
        scales, passing = self._scales(node, arguments(), outputs)
        result: list[Tensor | None] = []
        for position, output in enumerate(outputs):
            if output is None or not node.floating[position]:
                result.append(output)
                continue
            contiguous = output.contiguous()
            flat = contiguous if contiguous.dim() == 1 else contiguous.view(-1)
            self._scale = scales[position]
            self._infinities = Infinities.of(flat) if passing else None
            exponent = scale_exponent(self._scale)
            try:
                if exponent is None:
                    raise _non_finite(node, flat, self._scale)
                fingerprint = self._round(node, exponent, flat)
            except NonFiniteError:
                self.unfit = Unfit(node, position, arguments(), self._scale, flat)
                raise
            self.fingerprints[self._program.site_places[self._site]] = fingerprint
            self._site += 1
            if self._largest is not None:
                self._known.note(node.first_value + position, self._largest)
            result.append(contiguous)
        return result

    def sweep(self, chain: Chain, run: Run) -> Swept | None:
        """Round a chain of operators in the sweep that computes them.

        Args:
            chain: The chain; its first site is the next one.
            run: Computes it; may be called several times.

        Returns:
            What it gave; None, and nothing has changed, where its operators have to be rounded one after the other.
        """
        raise NotImplementedError

    def _take(self, chain: Chain, swept: Swept, fingerprints: Sequence[int]) -> Swept:
        """Take the fingerprints of a chain, those of its sites given, and go on to the site after it."""
        for site, fingerprint in zip(chain.sites, fingerprints, strict=True):
            self.fingerprints[self._program.site_places[site]] = fingerprint
        for place, fingerprint in zip(chain.watched, swept.watched, strict=True):
            self.fingerprints[place] = fingerprint
        self._site += len(chain.sites)
        return swept

    def _watch_keys(self, chain: Chain) -> list[int]:
        return [self._keys[place] for place in chain.watched]

    @property
    def _site_key(self) -> int:
        return self._key_of(self._site)

    def _key_of(self, site: int) -> int:
        return self._keys[self._program.site_places[site]]

    def _scales(self, node: Node, arguments: dict[str, Any], outputs: list[Tensor | None]) -> tuple[list[float], bool]:
        """Return S of each output, 0 for one without a site, and whether infinities that the arguments hold pass."""
        rule = scale_rule(node.entry)
        self._known.meet(node.numbers, arguments)
        with self._measuring:
            scales, passing = _numbers(rule(arguments, outputs), node.floating), False
            # An infinity anywhere leaves no scale finite that it concerns: without one nothing is searched.
            if not all(map(math.isfinite, scales)) and hold_infinity(arguments):
                scales = _numbers(rule(without_infinities(arguments), finite_outputs(outputs)), node.floating)
                passing = True
        # What is not needed any more may be freed.
        self._known.leave()
        return scales, passing

    def _grid(self, site: int, exponent: int) -> Grid:
        kind = exponent, self._margins[site].bits
        grid = self._grids.get(kind)
        if grid is None:
            grid = self._grids[kind] = Grid.of(exponent, self._precision, kind[1])
        return grid

    def _checked(self, node: Node, flat: Tensor, grid: Grid, tau: float) -> Rounded:
        key = self._site_key
        if self._infinities is not None:
            self._infinities.take_out(flat)
        rounded = self._kernels.round(flat, grid, tau, key)
        if rounded.largest_exponent > LARGEST_EXPONENT:
            what = (
                say("infinite or not a number")
                if rounded.largest_exponent > FLOAT64_BIAS
                else say("beyond float32's range")
            )
            raise NonFiniteError(say("The operator {0} gave a value that is {1}.", node.where, what), remedy=DIVERGED)
        self._largest = rounded.largest if self._kernels.on_cpu and self._infinities is None else None
        if self._infinities is not None:
            rounded = rounded._replace(fingerprint=self._infinities.put_back(flat, rounded.fingerprint, key))
        return rounded

    def _round(self, node: Node, exponent: int, flat: Tensor) -> int:
        raise NotImplementedError


def _numbers(scales: Sequence[Scale], sites: tuple[bool, ...]) -> list[float]:
    """Return what a rule gave for each output, 0 for one that is no site."""
    found = []
    for place, is_site in enumerate(sites):
        scale = scales[place] if is_site else 0.0
        if scale is None:
            raise AssertionError("a scale rule gave no scale for a floating-point output")
        found.append(float(scale))
    return found


def _non_finite(node: Node, flat: Tensor, scale: float) -> NonFiniteError:
    """Say what is wrong with an output ``[n]`` that has no finite scale within float32's range."""
    if bool(torch.isnan(flat).any()) or math.isnan(scale):
        what = say("gave a value that is not a number")
    elif bool(torch.isinf(flat).any()):
        what = say("gave an infinite value, and no argument of it is infinite")
    elif flat.numel() and float(flat.abs().amax()) >= 2.0 ** (LARGEST_EXPONENT + 1):
        what = say("gave a value beyond float32's range")
    else:
        return NonFiniteError(
            say("The operator {0} adds terms beyond float32's range.", node.where),
            remedy=say("Where masks are large negative numbers, use minus infinity in their place. {0}", DIVERGED),
        )
    return NonFiniteError(say("The operator {0} {1}.", node.where, what), remedy=DIVERGED)


class RecordingRounder(Rounder):
    """The trainer's side: rounds by its own values and writes the log."""

    def __init__(self, program: Program, precision: Precision, kernels: Kernels) -> None:
        super().__init__(program, precision, kernels)
        self.logs: list[SiteLog] = []
        """One log for each rounding site of the step so far."""
        self._exponents: dict[int, int] = {}
        """E of each site where it was computed last: in a chain it is assumed to be that again."""

    def begin_step(self, key: int) -> None:
        """Start a step with an empty log."""
        super().begin_step(key)
        self.logs = []

    def _round(self, node: Node, exponent: int, flat: Tensor) -> int:
        grid = self._grid(self._site, exponent)
        self._exponents[self._site] = exponent
        rounded = self._checked(node, flat, grid, grid.tau)
        if exponent == ZERO_SCALE:
            # Every term is zero, so every element is; the kernel has turned -0 into +0.
            self.logs.append(SiteLog(ZERO_SCALE, rounded.indices[:0], rounded.ups[:0]))
        else:
            self.logs.append(SiteLog(exponent, rounded.indices, rounded.ups))
        return rounded.fingerprint

    def sweep(self, chain: Chain, run: Run) -> Swept | None:
        """Round a chain, as :meth:`Rounder.sweep`: with each E of the step before, and again where one has changed."""
        if not all(_is_ordinary(self._exponents.get(site, ZERO_SCALE)) for site in chain.sites):
            return None
        assumed = [self._exponents[site] for site in chain.sites]
        # A site's values hang on the sites before it alone, so each time at least one more is right.
        while True:
            roundings = [self._rounding(*one) for one in zip(chain.sites, assumed, strict=True)]
            swept = run(roundings, self._watch_keys(chain))
            found = [site.largest_exponent for site in swept.sites]
            wrong = next((n for n, pair in enumerate(zip(found, assumed, strict=True)) if pair[0] != pair[1]), None)
            if wrong is None:
                break
            if not _is_ordinary(found[wrong]):
                return None
            assumed[wrong:] = [e if _is_ordinary(e) else a for e, a in zip(found[wrong:], assumed[wrong:], strict=True)]
        for site, exponent, result in zip(chain.sites, assumed, swept.sites, strict=True):
            self._exponents[site] = exponent
            self.logs.append(SiteLog(exponent, result.indices, result.ups))
        return self._take(chain, swept, [result.fingerprint for result in swept.sites])

    def _rounding(self, site: int, exponent: int) -> SiteRounding:
        grid = self._grid(site, exponent)
        return SiteRounding(grid, grid.tau, self._key_of(site), _NO_INDICES, _NO_UPS)


_NO_INDICES = np.zeros(0, np.int64)
_NO_UPS = np.zeros(0, np.bool_)


def _is_ordinary(exponent: int) -> bool:
    """Whether E, found as the exponent of the largest element, is that of a scale neither subnormal nor too large."""
    return -FLOAT64_BIAS < exponent <= LARGEST_EXPONENT


class ReplayingRounder(Rounder):
    """The auditor's side: rounds by its own values, and takes the trainer's direction only where it is close itself."""

    def __init__(
        self,
        program: Program,
        precision: Precision,
        kernels: Kernels,
        *,
        keep_log: bool = False,
        observe: int | None = None,
        own_margins: Sequence[Margin] | None = None,
    ) -> None:
        """Replay with the trainer's log.

        Args:
            program: The program of a step.
            precision: The precision profile.
            kernels: The rounding kernels.
            keep_log: Keep an own log too.
            observe: Keep what happens at the place of this number.
            own_margins: Margins of the sites of an own log: of the one that is kept, or else of the one that is
                followed; None for the order's.
        """
        super().__init__(program, precision, kernels)
        if own_margins is not None and not keep_log:
            self._margins = tuple(own_margins)
        self._kept_margins = self._margins if own_margins is None else tuple(own_margins)
        self.observation: Observation | None = None
        """With ``observe`` what happened at that place, if it is a rounding site."""
        self.watched: Watched | None = None
        """With ``observe`` what happened at that place, if it is none."""
        self._observe = observe
        self._arguments: Callable[[], dict[str, Any]] = dict
        self.counts: list[Counts] = []
        """What came to light at each rounding site of the step so far."""
        self.own_logs: list[SiteLog] = []
        """With ``keep_log`` the own log of each site: what another replay must follow to give the same values."""
        self._keep_log = keep_log
        self._logs: Sequence[SiteLog] = ()
        self._directions = kernels.directions(())
        self._forced: Mapping[int, Values] = {}

    def follow(self, key: int, logs: Sequence[SiteLog], forced: Mapping[int, Values] | None = None) -> None:
        """Start a step with the trainer's log of it; ``forced`` holds values that replace the own ones, by site."""
        self.begin_step(key)
        self._logs = logs
        self._directions = self._kernels.directions(logs)
        self._forced = forced or {}
        self.counts = []
        self.own_logs = []
        self.observation = None
        self.watched = None

    def watch(self, place: int, value: Tensor, arguments: Callable[[], dict[str, Any]]) -> None:
        """Fingerprint a value that is not rounded, as :meth:`Fingerprinting.watch`."""
        super().watch(place, value, arguments)
        if place == self._observe:
            self.watched = self._watched(place, value, arguments)

    def __call__(
        self, node: Node, arguments: Callable[[], dict[str, Any]], outputs: list[Tensor | None]
    ) -> list[Tensor | None]:
        """Round, as :meth:`Rounder.__call__`."""
        self._arguments = arguments
        try:
            return super().__call__(node, arguments, outputs)
        finally:
            # They are large, and die with the operator.
            self._arguments = dict

    def _round(self, node: Node, exponent: int, flat: Tensor) -> int:
        site = self._site
        log, entries = self._logs[site], self._directions.entries[site]
        # Two conforming machines' S differ in their last bits, so their E differ by one at most, where S lies beside a
        # power of two. Then the trainer's is taken, since E fixes the grid; one further away would move the grid at
        # the trainer's will.
        if ZERO_SCALE in (log.exponent, exponent):
            agreed = log.exponent == exponent
        else:
            agreed = abs(log.exponent - exponent) <= 1
        grid = self._grid(site, log.exponent if agreed else exponent)
        unrounded = flat.clone() if self._program.site_places[site] == self._observe else None
        if entries:
            # Before the kernel, which rounds in place: a direction is judged by the value before rounding.
            self._directions.note(site, flat)
        if self._keep_log:
            tau = replace(grid, margin_bits=self._kept_margins[site].bits).tau
        else:
            tau = grid.tau / OMISSION_SHARE
        rounded = self._checked(node, flat, grid, tau)
        # Two conforming values differ by at most 3/4 tau (docs/numerics.md): what lies within tau / 4 of a midpoint
        # here lay within tau of it there, and was logged.
        must_be_logged = grid.exponent != ZERO_SCALE and not self._keep_log
        counts, fingerprint = NOTHING, rounded.fingerprint
        if entries:
            found = rounded.indices if must_be_logged else None
            settled = self._directions.settle(site, flat, grid, self._margins[site].steerable, self._site_key, found)
            counts = settled.counts
            if counts.corrections:
                fingerprint = (fingerprint + settled.change) & _MASK64
                self._moved(settled.largest_gone, settled.largest_new)
        elif must_be_logged and len(rounded.indices):
            counts = Counts(omissions=len(rounded.indices))
        if log.exponent != exponent and not is_explained(log.exponent, self._scale):
            counts += Counts(contradictions=1)
        self.counts.append(counts)
        # An arbiter's question: how would the step have gone on from these values?
        if site in self._forced:
            fingerprint = self._put(flat, self._forced[site], fingerprint)
        if self._keep_log:
            changed = self._directions.changed(site) if entries else _NO_UPS
            self.own_logs.append(_merged(grid.exponent, rounded, log.indices[changed], log.ups[changed]))
        if unrounded is not None:
            self.observation = Observation(
                node=node,
                output=self._program.sites[self._site].output,
                arguments=self._arguments(),
                grid=grid,
                scale=self._scale,
                key=self._site_key,
                before=unrounded,
                after=flat.clone(),
                fingerprint=fingerprint,
            )
        return fingerprint

    def sweep(self, chain: Chain, run: Run) -> Swept | None:
        """Round a chain, as :meth:`Rounder.sweep`: with each E of the log, where the own one is the same."""
        places = {self._program.site_places[site] for site in chain.sites} | set(chain.watched)
        logs = [self._logs[site] for site in chain.sites]
        if (
            self._keep_log
            or self._observe in places
            or any(site in self._forced for site in chain.sites)
            or not all(_is_ordinary(log.exponent) for log in logs)
        ):
            return None
        grids = [self._grid(site, log.exponent) for site, log in zip(chain.sites, logs, strict=True)]
        roundings = [
            SiteRounding(grid, grid.tau / OMISSION_SHARE, self._key_of(site), log.indices, log.ups)
            for site, log, grid in zip(chain.sites, logs, grids, strict=True)
        ]
        swept = run(roundings, self._watch_keys(chain))
        if any(found.largest_exponent != log.exponent for found, log in zip(swept.sites, logs, strict=True)):
            return None
        fingerprints = [self._follow_swept(*one) for one in zip(chain.sites, logs, grids, swept.sites, strict=True)]
        return self._take(chain, swept, fingerprints)

    def _follow_swept(self, site: int, log: SiteLog, grid: Grid, found: SweptSite) -> int:
        """Count what following the log showed at a site of a chain; returns the fingerprint with its directions."""
        # The own E is the log's: explained, and no scale of zero.
        missing = absent(found.indices, log.indices)
        counts = Counts(omissions=missing) if missing else NOTHING
        fingerprint = found.fingerprint
        if len(log.indices):
            more, after, changed = judged(found.own, found.rounded, log.ups, grid, self._margins[site].steerable)
            counts += more
            if more.corrections:
                key, where = np.uint64(self._key_of(site)), log.indices[changed]
                new, old = after[changed], found.rounded[changed]
                fingerprint += int(mix_values(new, where, key)) - int(mix_values(old, where, key))
        self.counts.append(counts)
        return fingerprint & _MASK64

    def _put(self, flat: Tensor, chosen: Values, fingerprint: int) -> int:
        """Put other values in the place of single elements; returns the fingerprint that follows."""
        where = torch.from_numpy(chosen.indices).to(flat.device)
        old, key = flat[where].double().cpu().numpy(), np.uint64(self._site_key)
        flat[where] = torch.from_numpy(chosen.values).to(flat)
        self._moved(float(np.abs(old).max(initial=0.0)), float(np.abs(chosen.values).max(initial=0.0)))
        difference = int(mix_values(chosen.values, chosen.indices, key)) - int(mix_values(old, chosen.indices, key))
        return (fingerprint + difference) & _MASK64

    def _moved(self, gone: float, new: float) -> None:
        """Take note that values were replaced, of which the largest magnitudes before and after are given."""
        if self._largest is not None:
            # Where the largest itself went, which is now the largest is not known.
            self._largest = None if gone >= self._largest else max(self._largest, new)


def _merged(exponent: int, rounded: Rounded, indices: npt.NDArray[np.int64], ups: npt.NDArray[np.bool_]) -> SiteLog:
    """The own close decisions, with the directions that were taken from the trainer."""
    decisions = dict(zip(rounded.indices.tolist(), rounded.ups.tolist(), strict=True))
    decisions.update(zip(indices.tolist(), ups.tolist(), strict=True))
    order = sorted(decisions)
    return SiteLog(exponent, np.array(order, np.int64), np.array([decisions[i] for i in order], np.bool_))
