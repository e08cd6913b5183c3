"""Rounds the outputs of operators while a step runs; the trainer's side writes the log."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import torch
from torch import Tensor

from counterfoil_core.arithmetic.families.magnitude import using
from counterfoil_core.arithmetic.families.parts import Scale
from counterfoil_core.arithmetic.families.table import scale_rule
from counterfoil_core.arithmetic.grid.fingerprints import Fingerprinting, Kernels, Unfit
from counterfoil_core.arithmetic.grid.infinities import Infinities, finite_outputs, hold_infinity, without_infinities
from counterfoil_core.arithmetic.grid.log import SiteLog
from counterfoil_core.arithmetic.grid.margin import site_margins
from counterfoil_core.arithmetic.grid.tiles import SiteRounding, Swept
from counterfoil_core.base.errors import DIVERGED, NonFiniteError
from counterfoil_core.base.precision import Precision
from counterfoil_core.base.sentence import say
from counterfoil_core.kernels.cpu.rounding import Unrounded
from counterfoil_core.kernels.grid import (
    FLOAT64_BIAS,
    LARGEST_EXPONENT,
    ZERO_SCALE,
    Grid,
    scale_exponent,
)
from counterfoil_core.kernels.result import Rounded
from counterfoil_core.operators.node import Node
from counterfoil_core.program.chains import Chain
from counterfoil_core.program.graph import Program

Run = Callable[[Sequence[SiteRounding], Sequence[int]], Swept]
"""Computes a chain, given how its sites are rounded and the fingerprint keys of its watched values."""


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
        self._together = kernels.on_cpu and type(self)._round is Rounder._round
        """Whether the outputs of an operator may be rounded by one call: what is derived may look at each."""

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
        if self._together and len(outputs) > 1 and not passing:
            several = self._round_together(node, scales, outputs, arguments)
            if several is not None:
                return several
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

    def _round_together(
        self,
        node: Node,
        scales: Sequence[float],
        outputs: list[Tensor | None],
        arguments: Callable[[], dict[str, Any]],
    ) -> list[Tensor | None] | None:
        """Round the outputs of an operator by one call; None, and nothing has changed, where a scale is not finite."""
        exponents = [scale_exponent(scale) for scale in scales]
        if None in exponents:
            return None
        result, floating = outputs.copy(), node.floating
        self._infinities = None
        first = site = self._site
        tasks: list[Unrounded] = []
        taken: list[tuple[int, int, Tensor]] = []
        for position, output in enumerate(outputs):
            exponent = exponents[position]
            if output is None or not floating[position] or exponent is None:
                continue
            contiguous = result[position] = output.contiguous()
            grid, tau = self._before(site, exponent, contiguous)
            key = self._keys[self._program.site_places[site]]
            tasks.append(Unrounded(contiguous.data_ptr(), contiguous.numel(), contiguous.itemsize, grid, tau, key))
            taken.append((position, exponent, contiguous))
            site += 1
        rounded = self._kernels.round_several(tasks)
        for (position, exponent, contiguous), task, one in zip(taken, tasks, rounded, strict=True):
            self._scale = scales[position]
            try:
                self._check_range(node, one)
            except NonFiniteError:
                self.unfit = Unfit(node, position, arguments(), self._scale, contiguous.view(-1))
                raise
            self._largest = one.largest
            fingerprint = self._after(node, exponent, task.grid, contiguous, one)
            self.fingerprints[self._program.site_places[self._site]] = fingerprint
            self._site += 1
            if self._largest is not None:
                self._known.note(node.first_value + position, self._largest)
        assert self._site == first + len(tasks)
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
        self._known.meet(self._program.value_names[node.first_value], arguments)
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
        self._check_range(node, rounded)
        self._largest = rounded.largest if self._kernels.on_cpu and self._infinities is None else None
        if self._infinities is not None:
            rounded = rounded._replace(fingerprint=self._infinities.put_back(flat, rounded.fingerprint, key))
        return rounded

    @staticmethod
    def _check_range(node: Node, rounded: Rounded) -> None:
        if rounded.largest_exponent > LARGEST_EXPONENT:
            what = (
                say("infinite or not a number")
                if rounded.largest_exponent > FLOAT64_BIAS
                else say("beyond float32's range")
            )
            raise NonFiniteError(say("The operator {0} gave a value that is {1}.", node.where, what), remedy=DIVERGED)

    def _round(self, node: Node, exponent: int, flat: Tensor) -> int:
        """Round an output, of the site that is next, and return its fingerprint."""
        grid, tau = self._before(self._site, exponent, flat)
        return self._after(node, exponent, grid, flat, self._checked(node, flat, grid, tau))

    def _before(self, site: int, exponent: int, value: Tensor) -> tuple[Grid, float]:
        """Return the grid of a site, and the margin within which its decisions are reported.

        Args:
            site: Its number.
            exponent: The own E.
            value: What is going to be rounded in place, contiguous.
        """
        raise NotImplementedError

    def _after(self, node: Node, exponent: int, grid: Grid, value: Tensor, rounded: Rounded) -> int:
        """Take what rounding the value of the site that is next showed; returns its fingerprint."""
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

    def _before(self, site: int, exponent: int, value: Tensor) -> tuple[Grid, float]:
        grid = self._grid(site, exponent)
        self._exponents[site] = exponent
        return grid, grid.tau

    def _after(self, node: Node, exponent: int, grid: Grid, value: Tensor, rounded: Rounded) -> int:
        if exponent == ZERO_SCALE:
            # Every term is zero, so every element is; the kernel has turned -0 into +0.
            self.logs.append(SiteLog(ZERO_SCALE, rounded.indices[:0], rounded.ups[:0]))
        else:
            self.logs.append(SiteLog(exponent, rounded.indices, rounded.ups))
        return rounded.fingerprint

    def sweep(self, chain: Chain, run: Run) -> Swept | None:
        """Round a chain, as :meth:`Rounder.sweep`: with each E of the step before, and again where one has changed."""
        if not all(is_ordinary(self._exponents.get(site, ZERO_SCALE)) for site in chain.sites):
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
            if not is_ordinary(found[wrong]):
                return None
            assumed[wrong:] = [e if is_ordinary(e) else a for e, a in zip(found[wrong:], assumed[wrong:], strict=True)]
        for site, exponent, result in zip(chain.sites, assumed, swept.sites, strict=True):
            self._exponents[site] = exponent
            self.logs.append(SiteLog(exponent, result.indices, result.ups))
        return self._take(chain, swept, [result.fingerprint for result in swept.sites])

    def _rounding(self, site: int, exponent: int) -> SiteRounding:
        grid = self._grid(site, exponent)
        return SiteRounding(grid, grid.tau, self._key_of(site), _NO_INDICES, _NO_UPS)


_NO_INDICES = np.zeros(0, np.int64)
_NO_UPS = np.zeros(0, np.bool_)


def is_ordinary(exponent: int) -> bool:
    """Whether E, found as the exponent of the largest element, is that of a scale neither subnormal nor too large."""
    return -FLOAT64_BIAS < exponent <= LARGEST_EXPONENT
