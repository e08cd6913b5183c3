"""Trains a network on digits with shares, some of which lie, and a rule of aggregation."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass

import torch
from torch import Tensor
from torch.nn import functional

from benchmarks.aggregation.attacks import RADIUS, Attack, Seen
from counterfoil.program.aggregation import AggregationRule, WorkerMomentum, parse_rule
from counterfoil_resources.digits import load_digits

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
