"""Exact profiles: results are final as operators give them; they are fingerprinted, and nothing is logged."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import torch
from torch import Tensor

from counterfoil_core.arithmetic.grid.fingerprints import Fingerprinting, Kernels, Unfit, Watched
from counterfoil_core.arithmetic.grid.infinities import hold_infinity
from counterfoil_core.arithmetic.grid.log import SiteLog
from counterfoil_core.arithmetic.grid.neighbours import Values
from counterfoil_core.arithmetic.grid.replayrounder import Observation
from counterfoil_core.base.errors import DIVERGED, NonFiniteError
from counterfoil_core.base.sentence import say
from counterfoil_core.kernels.result import Counts
from counterfoil_core.operators.node import Node
from counterfoil_core.program.graph import Program


class WithoutLog:
    """What both sides of an exact profile have of a recording and of a replaying rounder: nothing is logged."""

    logs: Sequence[SiteLog] = ()
    """There is no log."""
    counts: Sequence[Counts] = ()
    """There is none to follow."""
    own_logs: Sequence[SiteLog] = ()
    """And none to keep."""
    observation: Observation | None = None
    """Nothing is rounded to a grid; see :attr:`watched`."""
    watched: Watched | None = None
    """What happened at the place that is observed, if one is."""

    def begin_step(self, key: int) -> None:
        """Start a step with its fingerprint key."""
        raise NotImplementedError

    def follow(self, key: int, logs: Sequence[SiteLog], forced: Mapping[int, Values] | None = None) -> None:
        """Start a step; there is no log to follow, and no value that another may stand for.

        Args:
            key: Its fingerprint key.
            logs: Nothing.
            forced: Nothing.
        """
        assert not logs, "an exact profile has no log"
        assert not forced, "a value of an exact profile is not chosen"
        self.begin_step(key)


class Unrounded(Fingerprinting, WithoutLog):
    """Both sides of an exact profile: fingerprints results of operators of class rounded, refuses what is not finite.

    Args:
        program: The program of a step.
        kernels: The rounding kernels, for their fingerprints.
        observe: Keep what happens at the place of this number.
    """

    def __init__(self, program: Program, kernels: Kernels, observe: int | None = None) -> None:
        super().__init__(program, kernels)
        self._observe = observe

    def begin_step(self, key: int) -> None:
        """Start a step with its fingerprint key."""
        super().begin_step(key)
        self.watched = None

    def watch(self, place: int, value: Tensor, arguments: Callable[[], dict[str, Any]]) -> None:
        """Fingerprint a value, as :meth:`Fingerprinting.watch`."""
        super().watch(place, value, arguments)
        if place == self._observe:
            self.watched = self._watched(place, value, arguments)

    def __call__(
        self, node: Node, arguments: Callable[[], dict[str, Any]], outputs: list[Tensor | None]
    ) -> list[Tensor | None]:
        """Fingerprint the floating-point outputs of an operator of class rounded, and return them as they are.

        Raises:
            NonFiniteError: A value is not a number, or infinite although no argument is.
        """
        for position, output in enumerate(outputs):
            if output is None or not node.floating[position]:
                continue
            place = self._program.site_places[self._site]
            flat = output.reshape(-1)
            found, finite = self._kernels.fingerprint_finite(flat, self._keys[place])
            self.fingerprints[place] = found
            if not finite:
                try:
                    _check_infinities(node, arguments(), flat)
                except NonFiniteError:
                    self.unfit = Unfit(node, position, arguments(), 0.0, flat)
                    raise
            if place == self._observe:
                self.watched = self._watched(place, output, arguments)
            self._site += 1
        return outputs


def _check_infinities(node: Node, arguments: dict[str, Any], flat: Tensor) -> None:
    """Allow infinities that an argument holds already, as masks do."""
    if bool(torch.isnan(flat).any()):
        what = say("gave a value that is not a number")
    elif hold_infinity(arguments):
        return
    else:
        what = say("gave an infinite value, and no argument of it is infinite")
    raise NonFiniteError(say("The operator {0} {1}.", node.where, what), remedy=DIVERGED)
