"""Where runs of one order part, what is found of each, and what a panel reports: plain values."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum

from counterfoil_core.base.digest import Digest
from counterfoil_core.commit.merkle import MerkleComparison
from counterfoil_core.values.dispute import DisputedOperator, Finding
from counterfoil_core.values.events import Event

OTHER_RESULT = 254
"""The number of a result in a step in which runs have more others than a byte tells apart."""


class Blame(Enum):
    """Who is not what was ordered at the step in which two runs part."""

    FIRST = "first"
    SECOND = "second"
    BOTH = "both"
    NEITHER = "neither"
    """Each is right with its own log, from the step in which they part to the end: hardware rounded differently."""
    UNCLEAR = "unclear"
    """No group is proven to be wrong, and this machine cannot show both to be right."""


@dataclass(frozen=True)
class Ruling:
    """What the replay of one step says of one provider."""

    provider: int  #: Number of the run among those compared, from 0.
    step: int  #: The step that was replayed.
    #: Whether the replay, with the provider's own log, comes to the leaf that it signed; also where rounding explains
    #: the whole difference.
    right: bool
    confirmed: bool  #: Whether this machine could decide: the step is right, or proven not to be what was ordered.
    trainer_leaf: Digest  #: The Merkle leaf hash that the provider signed.
    #: The replay's; None when the provider's log cannot be read, so that nothing could be replayed.
    replay_leaf: Digest | None
    #: Which parts of the leaf differ: some of ``shares``, ``state``, ``loss`` and ``fingerprints``, or ``log`` when it
    #: cannot be read; empty when right.
    parts: tuple[str, ...]
    #: The first operator whose result differs; None when right, or when all fingerprints agree.
    operator: DisputedOperator | None
    corrections: int  #: Rounding decisions that this machine took from the provider's log.
    contradictions: int  #: Log entries that no honest trainer writes.
    finding: Finding | None = None  #: What is proven; None where the leaves agree, or nothing was confirmed.
    part: str = ""  #: Which part of the step differs, where shares make it; as :attr:`Dispute.part`.

    @property
    def wrong(self) -> bool:
        """Whether the step is proven not to be what was ordered."""
        return self.confirmed and not self.right


@dataclass(frozen=True)
class Parting:
    """The step in which two groups of runs part; the runs of a group agree in every step."""

    first: tuple[int, ...]  #: Numbers of the runs of one group, from 0.
    second: tuple[int, ...]  #: Those of the other.
    step: int  #: The first step in which their results differ; the ruling may lie elsewhere (:attr:`ruled_step`).
    path: tuple[MerkleComparison, ...]  #: The comparisons of the binary search, from the root down.
    #: The step after which all store the same state, from which the replay starts. Whether what they agree on before it
    #: was ordered is not looked at.
    agreed_step: int
    #: The step that decides: ``step``, an earlier one that all got wrong, or a later one where ``step`` decides
    #: nothing; the last of the order when no step does; 0 before the ruling.
    ruled_step: int = 0
    #: The telling one for each run of both groups: the first step that is not right, or the step in which they part.
    #: With equal results the logs may still differ. Empty before the ruling.
    rulings: tuple[Ruling, ...] = ()

    @property
    def steps(self) -> int:
        """Number of steps from the agreed state to the one in which they part; the ruling may need more."""
        return self.step - self.agreed_step

    @property
    def blame(self) -> Blame:
        """Which group is wrong; UNCLEAR before the ruling. A group is right if one of its runs is."""
        first, second = self._of(self.first), self._of(self.second)
        wrong = [bool(group) and all(ruling.wrong for ruling in group) for group in (first, second)]
        if any(wrong):
            return Blame.BOTH if all(wrong) else Blame.FIRST if wrong[0] else Blame.SECOND
        right = all(any(ruling.right for ruling in group) for group in (first, second))
        return Blame.NEITHER if right else Blame.UNCLEAR

    def _of(self, group: tuple[int, ...]) -> list[Ruling]:
        return [ruling for ruling in self.rulings if ruling.provider in group]


@dataclass(frozen=True)
class StepJudged:
    """Progress of a ruling: the step was replayed for as many runs as it took."""

    step: int


class Standing(Enum):
    """What a panel found of one provider."""

    REFUSED = "refused"
    """Its bundle is damaged, unsigned, or of another order; it took no part."""
    WRONG = "wrong"
    """A step of it was replayed and is not what was ordered."""
    RIGHT_THERE = "right there"
    """At every step in which it parts from others, the replay sides with it. Its other steps were not replayed."""
    UNTESTED = "untested"
    """Nothing of it was replayed, or this machine could not decide."""


@dataclass(frozen=True)
class Member:
    """One provider of a panel."""

    name: str  #: File name of its run, with the folders that tell it from others of that name.
    standing: Standing  #: What was found.
    trainer_key: str  #: Key id of the key that signed; empty when refused.
    run_root: Digest | None  #: The signed run root; None when refused.
    detail: str = ""  #: Why it was refused; empty otherwise.


class PanelOutcome(Enum):
    """What a panel concludes. There is no "verified": providers who agree may be wrong together."""

    AGREED = "AGREED"
    """All runs took part and agree in every step; nothing was replayed."""
    EXPOSED = "EXPOSED"
    """At least one provider is not what was ordered."""
    UNDECIDED = "UNDECIDED"
    """Runs part, and nobody is to blame, or this machine could not decide."""
    REFUSED = "REFUSED"
    """A run is damaged, unsigned or of another order, and nobody was exposed."""

    @property
    def exit_code(self) -> int:
        """The exit code of the command line, 0 to 3 in this order."""
        return list(PanelOutcome).index(self)


@dataclass(frozen=True)
class PanelReport:
    """What a panel found."""

    outcome: PanelOutcome  #: The conclusion.
    reason: str  #: The same in plain sentences.
    order_digest: Digest | None  #: The order that all ran; None when no run could be read.
    steps: int  #: Number of its steps.
    members: tuple[Member, ...]  #: One for each run, in the order given.
    groups: tuple[tuple[int, ...], ...]  #: Members whose results agree, as numbers from 0; the largest first.
    partings: tuple[Parting, ...]  #: One for each group but the first, against the first.


@dataclass(frozen=True)
class PanelAdmitted:
    """A run was read and checked: it takes part unless its standing is REFUSED."""

    number: int  #: Its number among those given, from 0.
    member: Member  #: What is known of it.


@dataclass(frozen=True)
class PanelCompared:
    """The runs were compared, and where they part is known; then the replay begins, if one is wanted."""

    partings: tuple[Parting, ...]  #: Where each group but the first parts from the first; none of them has its ruling.
    steps: int  #: How many steps are replayed, or more.
    members: tuple[Member, ...] = ()  #: One for each run, in the order given.
    #: For each of them one byte for each step from 0, which is the initial state: 0 where its result is that of the
    #: first group, else a number for each other result of that step, ``OTHER_RESULT`` at most. As long as the run;
    #: empty where it takes no part.
    results: tuple[bytes, ...] = ()


@dataclass(frozen=True)
class PanelRuled:
    """One parting has its ruling."""

    parting: Parting


@dataclass(frozen=True)
class PanelFinished:
    """Last event."""

    report: PanelReport


PanelEvent = PanelAdmitted | PanelCompared | StepJudged | PanelRuled | PanelFinished | Event
