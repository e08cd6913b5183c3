"""Ranks that lie while a run is recorded: each sends, adds or says something else than it computed."""

from __future__ import annotations

import os
import random
import shutil
from pathlib import Path

from counterfoil_core.base.precision import ExactPrecision
from lies.subject import Document, Subject, audit
from support.shared import SHARES, STEPS, shared_order
from support.worlds import RankEnd, Worlds

LIES = ("adds", "lies", "silent", "signs", "exponents", "hashes", "tells", "altered")
"""What a rank does to its part of a sum, as :meth:`support.worlds.Worlds.record` has it."""
RANKS = 3
_WORLDS: dict[int, Worlds] = {}


class RankedRun:
    """An order whose shares several ranks compute.

    Args:
        folder: Where it lies.
    """

    def __init__(self, folder: Path) -> None:
        (place := folder / "ranks").mkdir()
        self._place, self._order = place, place / "job.cfoil"
        self._root = ""
        shared_order(SHARES, ExactPrecision(20)).write(self._order, trial=False)

    def subject(self) -> Subject:
        """A run that ranks record; two lies at once are those of two ranks."""
        return Subject(
            "what ranks send while they record a run",
            {name: (_lie(name),) for name in LIES},
            lambda: Document({}),
            self._recorded,
            lambda found, _: found not in ("named", "mended", "DISPUTED"),
        )

    def _recorded(self, copy: Document) -> str:
        # A process that was copied does not share the pipes of another.
        if os.getpid() not in _WORLDS:
            _WORLDS[os.getpid()] = Worlds()
        (folder := self._place / str(os.getpid())).mkdir(exist_ok=True)
        for left in folder.iterdir():  # a recording that a lie ended
            left.unlink() if left.is_file() else shutil.rmtree(left)
        run = folder / "run.cfoil"
        ends = _WORLDS[os.getpid()].record(RANKS, self._order, run, others=copy.value)
        first = ends[0]
        if first.code == 0:
            return "mended" if first.root == self._alone(folder) else audit(run, self._order)
        return "named" if _names(first, copy.value) else f"ended: {first.error}"

    def _alone(self, folder: Path) -> str:
        """The run root that one process gives, which is that of honest ranks."""
        if not self._root:
            self._root = _WORLDS[os.getpid()].record(1, self._order, folder / "alone.cfoil")[0].root
        return self._root


def _names(end: RankEnd, lied: dict[int, object]) -> bool:
    """Whether rank 0 ended, and blames one of those who lied and nobody else."""
    blamed = [rank for rank in range(RANKS) if f"Rank {rank} " in end.sentence]
    return end.error == "RankError" and set(blamed) <= set(lied)


def _lie(event: str) -> object:
    def change(copy: Document, chance: random.Random) -> None:
        rank = chance.choice([rank for rank in range(1, RANKS) if rank not in copy.value])
        copy.value[rank] = {"event": event, "step": chance.randint(1, STEPS)}

    return change
