"""How many chips inspectors look at to catch a training run of a given size, and how surely so many catch it. Pure.

The framework is Shavit's (2023), "What does it take to catch a Chinchilla? Verifying rules on large-scale neural
network training via compute monitoring", arXiv 2303.11341v1: firmware logs a fingerprint of a chip's weights now and
then, and inspectors read what randomly drawn chips logged. Section 3.2 asks how many chips they must draw (equation 1,
table 1), appendix B derives it, and appendix C asks whether a run evades them that takes fewer chips for longer (figure
2). Counterfoil has neither such firmware nor a list of who owns which chip: this says what they would have to yield.

A run takes H operations on chips of which the prover has C; a chip does a operations a day; the run lasts T days. So it
takes the share b = H / (C a T) of the chips at least. A chip logs f snapshots a day, at random times, and inspectors
come every Tm days: a chip of the run has logged at least one with probability w = 1 - exp(-f Tm). A chip that is drawn
at random shows the run with probability b w, and n draws miss it with probability (1 - b w)^n.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from math import ceil, expm1, inf, log, log1p

from counterfoil_core.base.errors import DataError
from counterfoil_core.base.sentence import say

DAY = 86_400.0
"""Seconds."""
YEAR = 365.0
"""Days."""
PAPER_RUNS: Mapping[str, float] = {
    "GPT-3": 3.14e23,
    "Chinchilla": 5.76e23,
    "PaLM": 2.56e24,
    "Chinchilla-280B": 9.9e24,
    "Chinchilla-1T": 1.27e26,
    "Chinchilla-10T": 1.3e28,
}
"""Operations of the runs of the paper's table 1; the last three are projections of Hoffmann et al. (2022)."""
PAPER_CHIPS = 10**3, 10**5, 10**7
"""Chips of the provers of the paper's table 1."""
PAPER_SHARES = 0.01, 0.05, 0.1, 0.2
"""Shares b of the curves; the paper's figure 2 has b from 0 to 0.2."""
PAPER_STRETCHES = 1.0, 2.0, 5.0, 10.0, 100.0
"""Factors k of the curves; the paper's figure 2 has k from 1 to 100."""
CHIPS_OF_AN_INSPECTOR = 1000
"""Chips that one inspector looks at in a year, by the paper's footnote 5."""
MOST = 1e40
"""No number of a request is larger."""
MOST_LISTED = 64
"""Sizes of runs, or numbers of chips, of one request."""


@dataclass(frozen=True)
class InspectionRequest:
    """What is to be caught, among which chips, and how surely. Without anything said it is the paper's table 1.

    Raises:
        DataError: A number is not positive, a probability not between 0 and 1, or a list is empty or too long.
    """

    operations: tuple[float, ...] = tuple(PAPER_RUNS.values())  #: H, operations of each run, one row each.
    chips: tuple[int, ...] = PAPER_CHIPS  #: C, chips of which the run takes some, one column each.
    rate: float = 1e15  #: Operations a second of a chip, all of which the run is taken to use; a is this times 86,400.
    run_days: float = YEAR  #: T, how long the run lasts at most.
    #: Tm, days from one round of inspections to the next; a run is caught so many days after its end.
    period_days: float = 30.0
    snapshots: float = 0.1  #: f, fingerprints that a chip logs in a day, at random times (a Poisson process).
    confidence: float = 0.9  #: p, the probability with which the run is to be caught.
    #: Chips that are looked at in a year, for which is said how surely they catch each run; None for none.
    samples: int | None = None

    def __post_init__(self) -> None:
        for listed in (self.operations, self.chips):
            if not 1 <= len(listed) <= MOST_LISTED:
                raise DataError(
                    say("A plan of inspections has 1 to {0} sizes of runs, and as many numbers of chips.", MOST_LISTED),
                    remedy=say("Give fewer at a time."),
                )
        numbers = (*self.operations, *self.chips, self.rate, self.run_days, self.period_days, self.snapshots)
        # Not a number is not more than 0 either.
        if not all(0 < number < MOST for number in (*numbers, *([] if self.samples is None else [self.samples]))):
            raise DataError(
                say("Sizes, counts and days of a plan of inspections are more than 0."),
                remedy=say("Give sizes in operations, such as 3.14e23."),
            )
        if not 0 < self.confidence < 1:
            raise DataError(say("The confidence is a probability between 0 and 1."), remedy=say("Choose, say, 0.9."))
        if self.period_days > self.run_days:
            raise DataError(
                say("Inspections come more seldom than every {0:g} days, the length of the run.", self.run_days),
                remedy=say("Choose a period that is no longer than the run."),
            )

    @property
    def logged(self) -> float:
        """Probability that a chip of the run has logged a snapshot of it within a period: w = 1 - exp(-f Tm)."""
        return -expm1(-self.snapshots * self.period_days)


@dataclass(frozen=True)
class InspectionCell:
    """What it takes to catch one run among so many chips."""

    chips: int  #: C.
    #: b = H / (C a T), of the chips that the run takes; more than 1 where they cannot carry it out in time.
    share: float
    a_period: float | None  #: s of the paper's equation 1, chips to draw in each period; None where the run cannot be.
    a_year: int | None  #: Chips to draw in a year, a whole number; None where the run cannot be.
    #: People who look at as many, :data:`CHIPS_OF_AN_INSPECTOR` each; None where the run cannot be.
    inspectors: int | None
    #: Probability that the request's ``samples`` a year catch the run; None where none were given, or the run cannot
    #: be.
    caught: float | None


@dataclass(frozen=True)
class InspectionRow:
    """One size of a run."""

    name: str  #: Of the run, where it is one of the paper's; else empty.
    operations: float  #: H.
    chip_days: float  #: H / a.
    least_chips: int  #: Chips that carry it out in T days, a whole number.
    cells: tuple[InspectionCell, ...]  #: One for each number of chips.


@dataclass(frozen=True)
class StretchPoint:
    """A run that takes k times as long, on a k-th of the chips."""

    factor: float  #: k.
    caught: float  #: p_d(k), the probability that it is caught by as many samples a day as catch it with p for k = 1.
    ratio: float  #: The same by p.


@dataclass(frozen=True)
class StretchCurve:
    """What stretching a run gains, for one share of the chips: a line through the paper's figure 2."""

    share: float  #: b, for k = 1.
    points: tuple[StretchPoint, ...]  #: By ascending k.


@dataclass(frozen=True)
class Inspections:
    """A plan of inspections."""

    request: InspectionRequest  #: What was asked.
    logged: float  #: Probability w that a chip of the run has logged a snapshot of it within a period.
    rows: tuple[InspectionRow, ...]  #: One for each size of a run.
    curves: tuple[StretchCurve, ...]  #: What stretching a run gains, for the shares of :data:`PAPER_SHARES`.
    assumptions: tuple[str, ...]  #: What all of it rests on, in sentences.


def share_of_chips(operations: float, chips: float, rate: float, days: float) -> float:
    """Return b = H / (C a T), the least share of the chips that a run takes.

    Args:
        operations: H.
        chips: C.
        rate: Operations a second of a chip.
        days: T.
    """
    return operations / (chips * rate * DAY * days)


def catching_probability(shown: float, samples: float) -> float:
    """Return 1 - (1 - q)^n: how probably n chips, drawn with replacement, show a run (appendix B).

    Args:
        shown: q = b w, the probability that one chip shows it, from 0 to 1.
        samples: n, not negative.
    """
    if shown >= 1.0:
        return 1.0 if samples > 0 else 0.0
    return -expm1(samples * log1p(-shown))


def samples_to_catch(shown: float, confidence: float) -> float:
    """Return log(1 - p) / log(1 - q), draws that catch a run with probability p (appendix B); at least one of q = 1.

    Args:
        shown: q = b w, the probability that one chip shows it, from 0 to 1; infinitely many for 0.
        confidence: p, between 0 and 1.
    """
    if shown >= 1.0:
        return 1.0
    return log(1 - confidence) / log1p(-shown) if shown > 0 else inf


def stretched(share: float, confidence: float, factor: float) -> StretchPoint:
    """Return p_d(k) = 1 - (1 - b/k)^(k s) for s = log(1 - p) / log(1 - b) (appendix C.1), every chip having logged.

    Args:
        share: b, more than 0 and less than 1.
        confidence: p, between 0 and 1.
        factor: k, at least 1.
    """
    caught = catching_probability(share / factor, factor * samples_to_catch(share, confidence))
    return StretchPoint(factor, caught, caught / confidence)


def plan_inspections(request: InspectionRequest | None = None) -> Inspections:
    """Return how many chips inspectors look at, and how surely they catch what they look for.

    Args:
        request: What was asked; the paper's table 1 unless given.
    """
    asked = request or InspectionRequest()
    names = {operations: name for name, operations in PAPER_RUNS.items()}
    rows = []
    for operations in asked.operations:
        chip_days = operations / (asked.rate * DAY)
        cells = tuple(_cell(asked, operations, chips) for chips in asked.chips)
        rows.append(
            InspectionRow(names.get(operations, ""), operations, chip_days, ceil(chip_days / asked.run_days), cells)
        )
    curves = tuple(
        StretchCurve(share, tuple(stretched(share, asked.confidence, factor) for factor in PAPER_STRETCHES))
        for share in PAPER_SHARES
    )
    return Inspections(asked, asked.logged, tuple(rows), curves, assumptions(asked))


def _cell(asked: InspectionRequest, operations: float, chips: int) -> InspectionCell:
    share = share_of_chips(operations, chips, asked.rate, asked.run_days)
    if share > 1:
        return InspectionCell(chips, share, None, None, None, None)
    shown = share * asked.logged
    # As many draws as catch it while it runs, in each period their part.
    a_day = samples_to_catch(shown, asked.confidence) / asked.run_days
    a_year = ceil(YEAR * a_day)
    caught = None
    if asked.samples is not None:
        caught = catching_probability(shown, asked.samples * asked.run_days / YEAR)
    return InspectionCell(chips, share, asked.period_days * a_day, a_year, ceil(a_year / CHIPS_OF_AN_INSPECTOR), caught)


def assumptions(asked: InspectionRequest) -> tuple[str, ...]:
    """Return what a plan rests on, a sentence for each assumption."""
    return (
        say(
            "A chip does {0:.3g} operations a second, and the run uses all of them: with less it takes more chips, and "
            "is caught sooner.",
            asked.rate,
        ),
        say(
            "The run lasts {0:g} days on as few chips as can carry it out. On fewer it takes longer, and more "
            "inspections meet it: that gains it little. Spread over more it is caught more surely.",
            asked.run_days,
        ),
        say(
            "A chip logs {0:g} fingerprints of its weights a day, at times that nobody foretells: {1:.1%} of the run's "
            "chips have logged one within {2:g} days.",
            asked.snapshots,
            asked.logged,
            asked.period_days,
        ),
        say(
            "Inspectors know every chip and draw from all of them with equal chances. Whoever hides chips is not in "
            "this plan."
        ),
        say(
            "A logged fingerprint shows whose training it was, and which rules that broke. Counterfoil's audit is such "
            "a proof for a run that was recorded; firmware that logs is not built."
        ),
        say(
            "A fingerprint proves something from the operation on that breaks a rule. So this is about runs that go on "
            "for as many operations again as are given."
        ),
    )
