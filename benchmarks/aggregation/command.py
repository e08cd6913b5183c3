"""``python -m benchmarks aggregation``: train under every rule and attack, and write the table and its picture."""

from __future__ import annotations

import argparse
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from statistics import fmean

import torch

from benchmarks.aggregation.attacks import ATTACKS, RADIUS, Attack
from benchmarks.aggregation.plot import WELL, picture
from benchmarks.aggregation.training import (
    FAULTY,
    HELD,
    LEARNING_RATE,
    MOMENTUM,
    ROWS,
    RULES,
    SHARES,
    STEPS,
    TRAINED,
    Rule,
    Training,
)
from benchmarks.pages import MEASURED, markdown, origin, write_between
from counterfoil.base.wholefiles import write_whole

PICTURE = Path("images/aggregation.svg")
"""Where the picture lies, seen from the page."""

_SYMBOLS = """mu and sd are mean and standard deviation of the honest shares, element by element; of their momenta where
the rule sees those."""
Found = Mapping[Rule, Mapping[Attack, tuple[float, ...]]]
"""The accuracy under each rule and attack, seed by seed."""


def main(arguments: Sequence[str]) -> None:
    """Train, and print or write the part of the page that is measured."""
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks aggregation",
        description="Train a small network on digits with 15 shares, 3 of which lie, under every rule of aggregation "
        "and every attack. On one thread; about ten minutes with three seeds.",
    )
    parser.add_argument("--seeds", type=int, default=3, help="trainings of each kind (default 3)")
    parser.add_argument("--steps", type=int, default=STEPS, help=f"steps of each training (default {STEPS})")
    parser.add_argument("--write", type=Path, help=f"the page to write, and {PICTURE} beside it; printed otherwise")
    options = parser.parse_args(arguments)
    if options.seeds < 1 or options.steps < 1:
        parser.error("--seeds and --steps must be at least 1")
    torch.set_num_threads(1)
    found: dict[Rule, Mapping[Attack, tuple[float, ...]]] = {}
    for rule, accuracies in trained(options.seeds, options.steps):
        found[rule] = accuracies
        print(f"{rule.title}: " + ", ".join(f"{a.name} {fmean(of):.1f}" for a, of in accuracies.items()), flush=True)
    text = measured(found, options.seeds, options.steps)
    if options.write is None:
        print(f"\n{text}")
        return
    drawn = {rule.title: {a.name: round(fmean(of), 1) for a, of in row.items()} for rule, row in found.items()}
    write_whole(options.write.parent / PICTURE, picture(drawn).encode(), what="the picture")
    write_between(options.write, MEASURED, text)
    print(f"Wrote {options.write}.")


def trained(seeds: int, steps: int) -> Iterator[tuple[Rule, Mapping[Attack, tuple[float, ...]]]]:
    """Train under every rule, and give its accuracies when all of them are known."""
    for rule in RULES:
        made = rule.made()
        yield rule, {a: tuple(Training(made, a, 1 + seed).run(steps) for seed in range(seeds)) for a in ATTACKS}


def measured(found: Found, seeds: int, steps: int) -> str:
    """Return the measured part of the page."""
    attacks = [[attack.name, attack.what, attack.source or "-"] for attack in ATTACKS]
    rows = [[rule.title, *(_cell(row[attack]) for attack in ATTACKS)] for rule, row in found.items()]
    by = f"Measured by `python -m benchmarks aggregation --seeds {seeds} --steps {steps}` on {origin(1)}"
    over = f"the mean of {seeds} seeds" if seeds > 1 else "of one seed"
    told = f"Accuracy on the {HELD} other digits, in per cent, {over}; bold below {WELL:g}."
    heads = ["rule", *(attack.name for attack in ATTACKS)]
    drawn = f"![What every rule holds against; attacks that it does not hold against are named]({PICTURE.as_posix()})"
    sent = markdown(["attack", "the liars send", "from"], attacks)
    return "\n\n".join([by, _setting(steps), sent, _SYMBOLS, told, markdown(heads, rows), drawn])


def _setting(steps: int) -> str:
    return "\n".join(
        [
            f"A perceptron of 64, 32 and 10 units is trained on {TRAINED:,} digits; {SHARES} shares of {ROWS} rows "
            "each, of which",
            f"the last {FAULTY} lie; SGD with learning rate {LEARNING_RATE:g}, {steps} steps. Every rule is told that "
            f"{FAULTY} may lie, but for",
            f"the mean, which tolerates none. Centred clipping has the radius {RADIUS:g}, top-k the limit {RADIUS:g} "
            "and a tenth of the",
            f"elements; *momentum* is worker momentum {MOMENTUM:g}. The liars know all honest shares of the step and "
            "what the rule gave",
            "in the last one. Where a rule sees momenta, the attack is one on momenta: they send what makes theirs "
            "what they want.",
        ]
    )


def _cell(accuracies: Sequence[float]) -> str:
    mean = fmean(accuracies)
    return f"{mean:.1f}" if mean >= WELL else f"**{mean:.1f}**"
