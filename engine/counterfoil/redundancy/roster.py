"""The parties of a training over its steps: who still takes part, who was excluded, by what, and at what cost."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

from counterfoil.redundancy.agreement import Agreement, Given, agree
from counterfoil.redundancy.assignment import Assignment, without
from counterfoil_core.base.digest import Digest
from counterfoil_core.base.errors import DataError

Replay = Callable[[int], Digest]
"""Replays a share of the step by its number; returns the leaf of the record that is right."""


@dataclass(frozen=True)
class Excluded:
    """A party that was excluded.

    Attributes:
        party: Its number.
        step: The step in which it was found to be faulty.
        replayed: The share whose replay showed it; None where what others gave did.
    """

    party: int
    step: int
    replayed: int | None


@dataclass(frozen=True)
class Detour:
    """What it took to settle a step that parties did not agree on.

    Attributes:
        step: The step.
        excluded: Who was excluded.
        replayed: The shares that were replayed.
        unproven: The shares that nobody contradicted, and that only faulty parties may have computed.
    """

    step: int
    excluded: tuple[Excluded, ...]
    replayed: tuple[int, ...]
    unproven: tuple[int, ...]


@dataclass(frozen=True)
class Roster:
    """The parties of a training, and what happened so far.

    Attributes:
        parties: How many there were at the beginning.
        most_faulty: How many of these are faulty at the most.
        assignment: Who computes which share in the next step.
        excluded: Who takes no part any more.
        detours: The steps in which parties were excluded or shares replayed.
    """

    parties: int
    most_faulty: int
    assignment: Assignment
    excluded: tuple[Excluded, ...] = ()
    detours: tuple[Detour, ...] = ()

    @property
    def present(self) -> tuple[int, ...]:
        """Who takes part in the next step."""
        gone = {each.party for each in self.excluded}
        return tuple(party for party in range(self.parties) if party not in gone)

    def settle(self, step: int, given: Sequence[Given], replay: Replay) -> tuple[Roster, tuple[Digest, ...]]:
        """Take what the parties gave for a step, and say what is right; a share that stays in doubt is replayed.

        Args:
            step: The step.
            given: What each party of the assignment gave for each share.
            replay: Replays a share.

        Returns:
            The roster for the next step, and what is taken for right of each share.

        Raises:
            DataError: It is not what the parties of the assignment gave, or more of them are faulty than may be.
        """
        if [tuple(sorted(share)) for share in given] != list(self.assignment):
            raise DataError("What was given for the shares is not by the parties that were to compute them.")
        found: dict[int, Excluded] = {}
        replayed: dict[int, Digest] = {}
        while True:
            known = self._agree(given, found)
            found |= {party: Excluded(party, step, None) for party in sorted(known.faulty)}
            doubtful = [share for share in known.undecided if share not in replayed]
            if not doubtful:
                break
            share = doubtful[0]
            replayed[share] = replay(share)
            wrong = [p for p, value in sorted(given[share].items()) if value != replayed[share] and p not in found]
            found |= {party: Excluded(party, step, share) for party in wrong}
        values = tuple(replayed.get(number, each.value) for number, each in enumerate(known.shares))
        assert all(value is not None for value in values), "whatever is in doubt was replayed"
        return self._after(step, found, tuple(replayed), known.unproven), tuple(v for v in values if v is not None)

    def _agree(self, given: Sequence[Given], found: dict[int, Excluded]) -> Agreement:
        """Compare what those gave who are not found to be faulty."""
        left = [party for party in self.present if party not in found]
        faulty = self.most_faulty - len(self.excluded) - len(found)
        if faulty < 0:
            raise DataError(
                f"More than {self.most_faulty} of {self.parties} parties are faulty.",
                remedy="Have more parties compute the shares, or replay what all of them gave.",
            )
        return agree(left, [{p: v for p, v in share.items() if p not in found} for share in given], faulty)

    def _after(
        self, step: int, found: dict[int, Excluded], replayed: tuple[int, ...], unproven: tuple[int, ...]
    ) -> Roster:
        if not found and not replayed:
            return self
        excluded = (*self.excluded, *found.values())
        return replace(
            self,
            assignment=without(self.assignment, {each.party for each in excluded}, self.parties),
            excluded=excluded,
            detours=(*self.detours, Detour(step, tuple(found.values()), replayed, unproven)),
        )
