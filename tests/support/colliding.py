"""A trainer who takes decisions of its own log the other way, and chooses which, so that a fingerprint stays.

A fingerprint is a sum modulo 2^64. Which decisions leave it as it is, a generalized birthday search tells (Wagner
2002): of eight lists, sums are joined that cancel in their lowest 16 bits, then in the next 16, then in the rest.
"""

from __future__ import annotations

from functools import cache
from itertools import combinations, islice
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import torch

from counterfoil_core.arithmetic.grid.log import SiteLog
from counterfoil_core.arithmetic.grid.neighbours import neighbours
from counterfoil_core.arithmetic.grid.rounder import RecordingRounder
from counterfoil_core.judge.explain import mix
from counterfoil_core.signing.keys import SigningKey
from support.jobs import record_run, recorded_by

UInt64Array = npt.NDArray[np.uint64]
LISTS = 8
LONGEST = 90_000
"""Sums in a list: about fifteen solutions."""
_BITS = 16


@cache
def vanishing_subset(numbers: bytes) -> npt.NDArray[np.int64]:
    """Return the positions of 24 of some uint64 numbers whose sum is 0 modulo 2^64: three of each of eight shares."""
    changes = np.frombuffer(numbers, np.uint64)
    lists = [_triples(share, changes) for share in np.array_split(np.arange(len(changes)), LISTS)]
    done = 0
    while len(lists) > 1:
        bits = _BITS if len(lists) > 2 else 64 - done
        mask = np.uint64(((1 << bits) - 1) << done)
        lists = [_joined(*pair, mask) for pair in zip(lists[::2], lists[1::2], strict=True)]
        done += bits
    sums, chosen = lists[0]
    assert len(sums), "no subset was found: give more decisions"
    found = np.sort(chosen[0])
    assert int(changes[found].sum(dtype=np.uint64)) == 0
    return found.astype(np.int64)


def _triples(share: npt.NDArray[np.int64], changes: UInt64Array) -> tuple[UInt64Array, npt.NDArray[np.int32]]:
    """The sums of three of the numbers, and which these are."""
    chosen = np.array(list(islice(combinations(share.tolist(), 3), LONGEST)), np.int32)
    return changes[chosen].sum(axis=1, dtype=np.uint64), chosen


def _joined(
    one: tuple[UInt64Array, npt.NDArray[np.int32]], other: tuple[UInt64Array, npt.NDArray[np.int32]], mask: np.uint64
) -> tuple[UInt64Array, npt.NDArray[np.int32]]:
    """The sums of one of each list in which all bits of the mask are zero."""
    order = np.argsort(other[0] & mask)
    ordered = (other[0] & mask)[order]
    needed = (np.uint64(0) - one[0]) & mask
    first, last = np.searchsorted(ordered, needed, "left"), np.searchsorted(ordered, needed, "right")
    counts = last - first
    left = np.repeat(np.arange(len(needed)), counts)
    right = order[np.repeat(first - np.concatenate([[0], np.cumsum(counts)[:-1]]), counts) + np.arange(len(left))]
    return one[0][left] + other[0][right], np.hstack([one[1][left], other[1][right]])


class Colliding(RecordingRounder):
    """In step 1 takes decisions of one site the other way; the site's fingerprint stays.

    Attributes:
        site: Number of the site.
        turned: How many decisions were taken the other way.
    """

    site = 0
    turned = 0

    def _round(self, node: Any, exponent: int, flat: torch.Tensor) -> int:
        before = flat.double().numpy().copy()
        fingerprint = super()._round(node, exponent, flat)
        if type(self).turned or self._site != self.site:
            return fingerprint
        log, key = self.logs[-1], self._site_key
        after = flat.double().numpy()
        other = neighbours(before, after, self._grid(self._site, exponent)).other
        changes = mix(other[log.indices], log.indices, key) - mix(after[log.indices], log.indices, key)
        chosen = vanishing_subset(changes.tobytes())
        where = log.indices[chosen]
        flat[torch.from_numpy(where)] = torch.from_numpy(other[where]).to(flat)
        ups = log.ups.copy()
        ups[chosen] = ~ups[chosen]
        self.logs[-1] = SiteLog(log.exponent, log.indices, ups)
        type(self).turned = len(chosen)
        return fingerprint


def record_colliding(order: Path, run: Path, key: SigningKey, site: int, **settings: Any) -> Path:
    """Record a run that in step 1 departs from the honest one at a site, whose fingerprint does not show it."""
    Colliding.site, Colliding.turned = site, 0
    with recorded_by(Colliding):
        record_run(order, run, key, **settings)
    assert Colliding.turned
    return run
