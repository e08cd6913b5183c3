"""``python -m benchmarks redundancy``: which fraction of shares colluders can distort, and what a replay leaves of it.

The attack is carried out on the assignment itself; the formula is checked against it.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import combinations
from pathlib import Path

from benchmarks.pages import MEASURED, markdown, origin, write_between
from counterfoil.redundancy.agreement import Given, agree
from counterfoil.redundancy.distortion import distorted_share, grouped_share, strongest_lies
from counterfoil.redundancy.roster import Roster
from counterfoil_core.base.digest import Digest

SETTINGS = {15: range(2, 8), 21: range(2, 11)}
"""Parties, three to a share, and how many of them collude."""
COPIES = 3


@dataclass(frozen=True)
class Distorted:
    """What colluders did to the shares of a step.

    Attributes:
        parties: How many parties there are.
        colluders: How many of them collude.
        shares: How many shares there are.
        voted: The shares that are wrong where each is decided by the majority of its copies.
        replayed: The shares that are replayed where those in doubt are.
        left: The shares that are wrong then.
    """

    parties: int
    colluders: int
    shares: int
    voted: int
    replayed: int
    left: int


def attacked(parties: int, colluders: int) -> Distorted:
    """Let colluders contradict as many others and no more, on every share where they are the majority."""
    assignment = tuple(combinations(range(parties), COPIES))  # more shares than a step of an order has, of 21
    lies = strongest_lies(assignment, colluders)
    right = [Digest.of(b"right %d" % share) for share in range(len(assignment))]
    wrong = Digest.of(b"wrong")
    given: list[Given] = [
        {party: wrong if party < colluders and share in lies else right[share] for party in parties_of}
        for share, parties_of in enumerate(assignment)
    ]
    known = agree(range(parties), given, colluders)
    assert not known.faulty, "the attack stays undetected without a replay"
    voted = sum(list(each.values()).count(wrong) * 2 > COPIES for each in given)
    assert Fraction(voted, len(assignment)) == distorted_share(parties, COPIES, colluders)
    roster, values = Roster(parties, colluders, assignment).settle(1, given, right.__getitem__)
    left = sum(value != right[share] for share, value in enumerate(values))
    return Distorted(parties, colluders, len(assignment), voted, len(roster.detours[0].replayed), left)


def lines(found: Sequence[Distorted]) -> Iterator[list[str]]:
    """Yield the rows of the table."""
    for each in found:
        alone, grouped = Fraction(each.colluders, each.parties), grouped_share(each.parties, COPIES, each.colluders)
        voted = Fraction(each.voted, each.shares)
        yield [
            f"{each.parties}",
            f"{each.colluders}",
            f"{float(alone):.3f}",
            f"{float(grouped):.3f}",
            f"{float(voted):.4f} ({each.voted} of {each.shares})",
            f"{100 * float(1 - voted / grouped):.0f} %",
            f"{each.replayed}",
            f"{each.left}",
        ]


def measured() -> str:
    """Return the part of the page that is measured."""
    found = [attacked(parties, colluders) for parties, counts in SETTINGS.items() for colluders in counts]
    head = ["K", "q", "one copy", "groups of 3 vote", "every 3 of K vote", "less than groups", "replayed", "wrong then"]
    return f"Computed by `python -m benchmarks redundancy` on {origin()}\n\n{markdown(head, list(lines(found)))}"


def main(arguments: Sequence[str]) -> None:
    """Carry the attacks out, and print or write the part of the page that is measured."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks redundancy", description=__doc__)
    parser.add_argument("--write", type=Path, help="the page to write; printed otherwise")
    options = parser.parse_args(arguments)
    text = measured()
    if options.write is None:
        print(text)
    else:
        write_between(options.write, MEASURED, text)
