"""MixTailor: for each step a rule of aggregation is drawn, so that no lie can be tailored to one rule for all steps.

Ramezani-Kebrya, Tabrizian, Faghri and Popovski, "MixTailor: Mixed Gradient Aggregation for Robust Learning Against
Tailored Attacks", arXiv 2207.07941. The rules take turns as the programs of an order do; the pattern is drawn from the
seed of the order, and so anybody can draw it again.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from counterfoil.program.aggregation import parse_rule
from counterfoil.training.order import OrderDraft
from counterfoil_core.base.digest import Digest
from counterfoil_core.base.errors import DataError
from counterfoil_core.base.turns import Turns
from counterfoil_core.bundle.pattern import MAX_PATTERN

MIXTAILOR = "mixtailor"
"""What names it in the place of a rule."""
MIXED = ("median", "trimmed-mean", "krum", "multi-krum")
"""The rules that are mixed: those that keep no state of their own."""


def mixed_rules(shares: int, faulty: int) -> tuple[str, ...]:
    """Return the rules that can be mixed for so many shares, of which so many may be faulty.

    Raises:
        DataError: They are fewer than two.
    """
    found = []
    for name in MIXED:
        try:
            parse_rule(name, shares=shares, faulty=faulty)
        except DataError:
            continue
        found.append(name)
    if len(found) < 2:
        raise DataError(
            f"Of {shares} shares {faulty} may be faulty: there are no two rules to mix.",
            remedy="Divide the batch into more shares, or name fewer of them as faulty.",
        )
    return tuple(found)


def drawn_pattern(names: tuple[str, ...], steps: int, seed: int) -> tuple[str, ...]:
    """Return the rule of each step: the SHA-256 of ``mixtailor SEED STEP``, big-endian, modulo their number.

    Args:
        names: The rules.
        steps: How many steps there are; the pattern repeats after a million.
        seed: The seed of the order.

    Raises:
        DataError: One rule alone is drawn, since there are so few steps.
    """
    found = tuple(
        names[int.from_bytes(Digest.of(f"{MIXTAILOR} {seed} {step}".encode()).value) % len(names)]
        for step in range(1, min(steps, MAX_PATTERN) + 1)
    )
    if len(set(found)) < 2:
        raise DataError(
            f"In {steps} steps one rule alone is drawn by the seed {seed}.", remedy="Order more steps, or another seed."
        )
    return found


def interleave(drafts: Mapping[str, OrderDraft], pattern: tuple[str, ...]) -> OrderDraft:
    """Return one order of several that differ in their programs alone, which take turns.

    Args:
        drafts: The orders by the names that their programs get; each has one gradient and one update program.
        pattern: The names, step by step.

    Raises:
        DataError: Their programs already take turns, or they differ in something else.
    """
    first = drafts[pattern[0]]
    if any(draft.programs.several for draft in drafts.values()):
        raise DataError(
            "The batches have several shapes, so that programs take turns already, and rules cannot.",
            remedy="Bring the batches to one shape, or name one rule of aggregation.",
        )
    programs = Turns({name: draft.programs.only for name, draft in sorted(drafts.items())}, pattern)
    updates = Turns({name: draft.updates.only for name, draft in sorted(drafts.items()) if draft.updates}, pattern)
    turns, shares = programs.map(lambda program: program.digest), first.manifest.shares
    assert shares is not None
    told = "; ".join(dict.fromkeys(drafts[name].manifest.optimizer for name in sorted(drafts)))
    made = replace(shares, updates=updates.map(lambda program: program.digest))
    optimizer = f"one of these for each step, drawn by the seed: {told}"
    manifest, *others = (
        replace(draft.manifest, optimizer=optimizer, programs=turns, shares=made) for draft in drafts.values()
    )
    if any(other != manifest for other in others):
        raise DataError(
            "The rows or the first weights were drawn at random, and came out otherwise for each rule.",
            remedy="Fix the seed of whatever draws them, or name one rule of aggregation.",
        )
    return replace(first, manifest=manifest, programs=programs, updates=updates)
