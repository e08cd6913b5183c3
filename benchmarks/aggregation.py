"""Rules of aggregation against attacks: what a network learns when some of a step's shares lie.

A small network learns digits with shares, some of which lie as attacks of the literature do, and a rule of aggregation.
The liars know all honest shares and act together.
"""

from __future__ import annotations

import math
from argparse import Namespace
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from statistics import NormalDist, fmean

import torch
from torch import Tensor
from torch.nn import functional

from benchmarks.measure import Benchmark, Cell, Results, Sections, Values, argument, figures, on_page, origins, slug
from benchmarks.pages import markdown
from benchmarks.plots import draw_dots
from counterfoil.program.aggregation import AggregationRule, WorkerMomentum, parse_rule
from counterfoil_resources.digits import load_digits

# What faulty shares send.

RADIUS = 0.5
"""To what length the laboratory clips a share, and how far from the last aggregate a liar stays who evades that."""


@dataclass(frozen=True)
class Seen:
    """What the liars know when they decide what to send."""

    honest: Tensor  #: The long vectors of the honest shares.
    last: Tensor  #: What the rule gave in the last step; zero in the first.
    faulty: int  #: How many liars there are.
    generator: torch.Generator  #: Where their random numbers come from.

    @property
    def mean(self) -> Tensor:
        """The mean of the honest shares."""
        return self.honest.mean(0)


@dataclass(frozen=True)
class Attack:
    """An attack; docs/aggregation.md says what each sends, and who describes it."""

    name: str  #: What it is called in the table.
    #: Gives the vector that all liars send, or one for each; None where they compute what they are asked for.
    lie: Callable[[Seen], Tensor] | None = None
    flipped: bool = False  #: Whether they compute it of rows with wrong labels.


def _scaled(factor: float) -> Callable[[Seen], Tensor]:
    return lambda seen: factor * seen.mean


def _noise(seen: Seen) -> Tensor:
    return seen.mean + 10.0 * torch.randn(seen.faulty, seen.honest.shape[1], generator=seen.generator)


def _a_little(seen: Seen) -> Tensor:
    honest, faulty = len(seen.honest), seen.faulty
    # So many honest shares must lie beyond the lie for it to be among the majority.
    needed = (honest + faulty) // 2 + 1 - faulty
    return seen.mean - NormalDist().inv_cdf((honest - needed) / honest) * seen.honest.std(0)


def _evasion(seen: Seen) -> Tensor:
    direction: Tensor = -torch.ones_like(seen.last)
    if seen.last.any():
        direction = direction - seen.last * (direction @ seen.last) / (seen.last @ seen.last)
    away: Tensor = direction * (RADIUS / direction.norm())
    return seen.last + away


NONE = Attack("none")
ATTACKS = (
    NONE,
    *(
        Attack(name, _scaled(factor))
        for name, factor in (("sign flip", -1.0), ("scaled 10", -10.0), ("scaled 100", -100.0))
    ),
    Attack("noise", _noise),
    Attack("ALIE", _a_little),
    Attack("IPM 0.1", _scaled(-0.1)),
    Attack("IPM 0.9", _scaled(-0.9)),
    Attack("label flip", flipped=True),
    Attack("mimic", lambda seen: seen.honest[0]),
    Attack("evasion", _evasion),
)
"""All attacks."""


# What is trained.

SHARES, FAULTY = 15, 3
ROWS = 16
"""Rows of a share."""
STEPS = 250
LEARNING_RATE = 0.5
TRAINED, HELD = 1400, 397
"""So many digits are trained on, and so many others say how good the network is."""
MOMENTUM = 0.9
_SETTINGS: Mapping[str, Mapping[str, float]] = {
    "centred-clipping": {"radius": RADIUS},
    "top-k": {"limit": RADIUS, "kept": 0.1},
}

Network = dict[str, Tensor]
"""Parameters by name; those of all shares have one axis more, in front."""


@dataclass(frozen=True)
class Rule:
    """A rule of the table."""

    name: str  #: Its name for a command line.
    momentum: float = 0.0  #: Decay of worker momentum, 0 for none.

    @property
    def title(self) -> str:
        """The rule's name in the table."""
        return f"{self.name}, momentum" if self.momentum else self.name

    def made(self) -> AggregationRule:
        """The rule itself, which is told how many shares lie."""
        faulty = 0 if self.name == "mean" else FAULTY
        settings = _SETTINGS.get(self.name)
        return parse_rule(self.name, shares=SHARES, faulty=faulty, momentum=self.momentum, settings=settings)


RULES = tuple(
    Rule(name, momentum)
    for name in ("mean", "median", "trimmed-mean", "krum", "multi-krum", "centred-clipping", "top-k")
    for momentum in (0.0, MOMENTUM)
)


@dataclass(frozen=True)
class Digits:
    """Images and digits to train on, and those that are held out."""

    images: Tensor
    digits: Tensor
    held_images: Tensor
    held_digits: Tensor

    @staticmethod
    def drawn(generator: torch.Generator) -> Digits:
        """Return the digits, divided by chance."""
        pixels, digits = load_digits()
        order = torch.randperm(len(digits), generator=generator)
        images, named = (torch.from_numpy(pixels).reshape(-1, 64) / 16.0)[order], torch.from_numpy(digits)[order]
        return Digits(images[:TRAINED], named[:TRAINED], images[TRAINED:], named[TRAINED:])


class Training:
    """One training: seed, rule and attack decide all of it.

    Args:
        rule: The rule of aggregation.
        attack: What the last shares of each step do.
        seed: Decides digits, weights, rows and random lies.
    """

    def __init__(self, rule: AggregationRule, attack: Attack, seed: int) -> None:
        self.rule, self.attack = rule, attack
        self._generator = torch.Generator().manual_seed(seed)
        self._lies = torch.Generator().manual_seed(seed + 1_000_000)
        self.digits = Digits.drawn(self._generator)
        self.network = _network(self._generator)
        self._slots = rule.slots(self.network)
        self._decay = rule.decay if isinstance(rule, WorkerMomentum) else 0.0
        elements = sum(tensor.numel() for tensor in self.network.values())
        self._momenta, self._last = torch.zeros(SHARES, elements), torch.zeros(elements)

    def run(self, steps: int = STEPS) -> float:
        """Make some steps, and return the accuracy on the digits held out, in per cent."""
        for _ in range(steps):
            self.step()
        answers = _answers(self.network, self.digits.held_images).argmax(1)
        return 100.0 * (answers == self.digits.held_digits).float().mean().item()

    def step(self) -> None:
        """Make one step."""
        rows = torch.randint(TRAINED, (SHARES, ROWS), generator=self._generator)
        digits = self.digits.digits[rows]
        if self.attack.flipped:
            digits[-FAULTY:] = 9 - digits[-FAULTY:]
        gradients = gradients_of_shares(self.network, self.digits.images[rows], digits)
        sent = self._sent(torch.cat([tensor.reshape(SHARES, -1) for tensor in gradients.values()], 1))
        pieces = torch.split(sent, [tensor[0].numel() for tensor in gradients.values()], 1)
        stacked = {n: p.reshape(t.shape) for (n, t), p in zip(gradients.items(), pieces, strict=True)}
        made = self.rule.aggregate(stacked, self._slots, lambda _: None)
        self._slots = {**self._slots, **made.slots}
        self._last = torch.cat([gradient.reshape(-1) for gradient in made.gradients.values()])
        self.network = {n: t - LEARNING_RATE * made.gradients[n] for n, t in self.network.items()}

    def _sent(self, gradients: Tensor) -> Tensor:
        """Return what all shares send, the liars in the places of the last ones.

        Where a rule sees momenta, the liars send what makes their momenta what they want them to be.
        """
        if self.attack.lie is None:
            return gradients
        before = self._decay * self._momenta
        seen = before + (1.0 - self._decay) * gradients
        seen[-FAULTY:] = self.attack.lie(Seen(seen[:-FAULTY], self._last, FAULTY, self._lies))
        self._momenta = seen
        return torch.cat([gradients[:-FAULTY], (seen - before)[-FAULTY:] / (1.0 - self._decay)])


def gradients_of_shares(network: Network, images: Tensor, digits: Tensor) -> Network:
    """Return the gradients of the mean loss of each share, which are along the first axis."""
    copies = {n: t.expand(len(images), *t.shape).clone().requires_grad_() for n, t in network.items()}
    losses = functional.cross_entropy(_answers(copies, images).flatten(0, 1), digits.flatten(), reduction="sum")
    gradients = torch.autograd.grad(losses / images.shape[-2], list(copies.values()))
    return dict(zip(copies, gradients, strict=True))


def _network(generator: torch.Generator) -> Network:
    """A perceptron of 64, 32 and 10 units, whose weights are uniform within 1 / sqrt(inputs)."""
    shapes = {"first": (64, 32), "first_bias": (1, 32), "second": (32, 10), "second_bias": (1, 10)}
    inputs = {"first": 64, "first_bias": 64, "second": 32, "second_bias": 32}
    return {
        name: (torch.rand(shape, generator=generator) * 2 - 1) / math.sqrt(inputs[name])
        for name, shape in shapes.items()
    }


def _answers(network: Network, images: Tensor) -> Tensor:
    hidden = torch.relu(images @ network["first"] + network["first_bias"])
    return hidden @ network["second"] + network["second_bias"]


# What is shown of it.

WELL = 85.0
"""From this accuracy on a rule is said to hold."""


def _measure(options: Namespace, key: str) -> Values:
    """Train under a rule and every attack; the accuracies of each, seed by seed."""
    torch.set_num_threads(1)
    rule = next(rule for rule in RULES if slug(rule.title) == key)
    made, seeds = rule.made(), range(1, 1 + options.seeds)
    found = {attack.name: [Training(made, attack, seed).run(options.steps) for seed in seeds] for attack in ATTACKS}
    said = ", ".join(f"{name} {fmean(each):.1f}" for name, each in found.items())
    return {"title": rule.title, "accuracies": found, "said": said}


def _means(results: Results) -> dict[str, dict[str, float]]:
    return {
        one["title"]: {name: round(fmean(each), 1) for name, each in one["accuracies"].items()}
        for one in figures(results).values()
    }


def draw(results: Results, path: Path) -> None:
    """Draw a line for each rule, and on it a dot for each attack, at the accuracy that is left."""
    draw_dots(_means(results), "digits held out that the network names rightly, %", path, WELL)


def sections(results: Results, options: Namespace) -> Sections:
    """Return what was found, and how."""
    rows = [
        [title, *(f"{mean:.1f}" if mean >= WELL else f"**{mean:.1f}**" for mean in row.values())]
        for title, row in _means(results).items()
    ]
    told = f"the mean of {options.seeds} seeds" if options.seeds > 1 else "of one seed"
    command = f"python -m benchmarks aggregation --seeds {options.seeds} --steps {options.steps}"
    by = f"Measured by `{command}` on {origins(results)}"
    accuracy = f"Accuracy on the {HELD} other digits, in per cent, {told}; bold below {WELL:g}."
    table = markdown(["rule", *(attack.name for attack in ATTACKS)], rows)
    return on_page("aggregation.md", "measured", by, accuracy, table)


AGGREGATION = Benchmark(
    "Train a small network on digits with 15 shares, 3 of which lie, under every rule of aggregation and every attack. "
    "About ten minutes with three seeds.",
    lambda _options: [Cell(slug(rule.title), 60) for rule in RULES],
    _measure,
    sections,
    (
        argument("--seeds", type=int, default=3, help="trainings of each kind (default 3)"),
        argument("--steps", type=int, default=STEPS, help=f"steps of each training (default {STEPS})"),
    ),
    picture=draw,
)
