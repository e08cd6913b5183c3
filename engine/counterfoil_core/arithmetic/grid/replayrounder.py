"""The auditor's side of a step: rounds by its own values, and follows the trainer's log.

docs/numerics.md, *Following the log*, has the rules; that a replay with a large enough margin gives the trainer's
values is the second theorem of docs/proofs.md, and what a log can do at worst is that of docs/threat-model.md.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import numpy.typing as npt
import torch
from torch import Tensor

from counterfoil_core.arithmetic.grid.directions import absent, apply_directions
from counterfoil_core.arithmetic.grid.fingerprints import Kernels, Watched
from counterfoil_core.arithmetic.grid.log import SiteLog
from counterfoil_core.arithmetic.grid.margin import Margin
from counterfoil_core.arithmetic.grid.neighbours import Values
from counterfoil_core.arithmetic.grid.rounder import Rounder, Run, is_ordinary
from counterfoil_core.arithmetic.grid.tiles import SiteRounding, Swept, SweptSite
from counterfoil_core.base.precision import Precision
from counterfoil_core.kernels.cpu.rounding import change_of_fingerprint
from counterfoil_core.kernels.grid import (
    OMISSION_SHARE,
    ZERO_SCALE,
    Grid,
    is_explained,
)
from counterfoil_core.kernels.result import NOTHING, Counts, Rounded
from counterfoil_core.operators.node import Node
from counterfoil_core.program.chains import Chain
from counterfoil_core.program.graph import Program

_MASK64 = 2**64 - 1


@dataclass(frozen=True)
class Observation:
    """What happened at one rounding site, kept for a closer look."""

    node: Node  #: The operator.
    output: int  #: Which of its outputs.
    arguments: dict[str, Any]  #: Its arguments by name.
    grid: Grid  #: The grid that was used.
    scale: float  #: This machine's own S.
    key: int  #: The fingerprint key of the place.
    before: Tensor  #: ``[n]``: the output before rounding, flat.
    after: Tensor  #: ``[n]``: the same after rounding, the trainer's directions applied.
    fingerprint: int  #: Its fingerprint.


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
        self._unrounded = torch.empty(0)
        """The value of the place that is observed, before it was rounded."""
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
        """Start a step with the trainer's log of it.

        Args:
            key: The fingerprint key of the step.
            logs: The log of each rounding site, in the program's order.
            forced: Values that replace the own ones, by site; an arbiter's question is how the step goes on from them.
        """
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

    def _before(self, site: int, exponent: int, value: Tensor) -> tuple[Grid, float]:
        log = self._logs[site]
        # Two conforming machines' S differ in their last bits, so their E differ by one at most, where S lies beside a
        # power of two. Then the trainer's is taken, since E fixes the grid; one further away would move the grid at
        # the trainer's will (docs/numerics.md, Scales).
        if ZERO_SCALE in (log.exponent, exponent):
            agreed = log.exponent == exponent
        else:
            agreed = abs(log.exponent - exponent) <= 1
        grid = self._grid(site, log.exponent if agreed else exponent)
        if self._program.site_places[site] == self._observe:
            self._unrounded = value.view(-1).clone()
        if self._directions.entries[site]:
            # Before the kernel, which rounds in place: a direction is judged by the value before rounding.
            self._directions.note(site, value.view(-1))
        if self._keep_log:
            return grid, replace(grid, margin_bits=self._kept_margins[site].bits).tau
        return grid, grid.tau / OMISSION_SHARE

    def _after(self, node: Node, exponent: int, grid: Grid, value: Tensor, rounded: Rounded) -> int:
        site = self._site
        log, entries = self._logs[site], self._directions.entries[site]
        # Two conforming values differ by at most 3/4 tau (docs/numerics.md, Proven margins; ADR 9): what lies within
        # tau / 4 of a midpoint here lay within tau of it there, and was logged.
        must_be_logged = grid.exponent != ZERO_SCALE and not self._keep_log
        counts, fingerprint = NOTHING, rounded.fingerprint
        if entries:
            found = rounded.indices if must_be_logged else None
            settled = self._directions.settle(
                site, value.view(-1), grid, self._margins[site].steerable, self._site_key, found
            )
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
            fingerprint = self._put(value.view(-1), self._forced[site], fingerprint)
        if self._keep_log:
            changed = self._directions.changed(site)
            self.own_logs.append(_merged(grid.exponent, rounded, log.indices[changed], log.ups[changed]))
        if self._program.site_places[site] == self._observe:
            self.observation = Observation(
                node=node,
                output=self._program.sites[self._site].output,
                arguments=self._arguments(),
                grid=grid,
                scale=self._scale,
                key=self._site_key,
                before=self._unrounded,
                after=value.view(-1).clone(),
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
            or not all(is_ordinary(log.exponent) for log in logs)
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
            more, after, changed = apply_directions(
                found.own, found.rounded, log.ups, grid, self._margins[site].steerable
            )
            counts += more
            if more.corrections:
                where, old, new = log.indices[changed], found.rounded[changed], after[changed]
                fingerprint += change_of_fingerprint(old, new, where, self._key_of(site))
        self.counts.append(counts)
        return fingerprint & _MASK64

    def _put(self, flat: Tensor, chosen: Values, fingerprint: int) -> int:
        """Put other values in the place of single elements; returns the fingerprint that follows."""
        where = torch.from_numpy(chosen.indices).to(flat.device)
        old = flat[where].double().cpu().numpy()
        flat[where] = torch.from_numpy(chosen.values).to(flat)
        self._moved(float(np.abs(old).max(initial=0.0)), float(np.abs(chosen.values).max(initial=0.0)))
        return (fingerprint + change_of_fingerprint(old, chosen.values, chosen.indices, self._site_key)) & _MASK64

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
