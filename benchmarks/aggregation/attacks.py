"""What faulty shares send: attacks of the literature, by liars who know all honest shares and act together."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from statistics import NormalDist

import torch
from torch import Tensor

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
    """An attack."""

    name: str  #: What it is called in the table.
    what: str  #: What is sent, in words.
    source: str  #: Who describes it.
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


NONE = Attack("none", "what is asked for", "")
ATTACKS = (
    NONE,
    Attack("sign flip", "-mu", "Li et al., AAAI 2019", _scaled(-1.0)),
    Attack("scaled 10", "-10 mu", "Blanchard et al., NIPS 2017", _scaled(-10.0)),
    Attack("scaled 100", "-100 mu", "the same", _scaled(-100.0)),
    Attack("noise", "mu plus Gaussian noise of standard deviation 10", "the same", _noise),
    Attack("ALIE", "mu - z sd, z as large as hides it in the majority", "Baruch et al., NeurIPS 2019", _a_little),
    Attack("IPM 0.1", "-0.1 mu", "Xie et al., UAI 2019", _scaled(-0.1)),
    Attack("IPM 0.9", "-0.9 mu", "the same", _scaled(-0.9)),
    Attack(
        "label flip",
        "the gradient of rows whose digit d is called 9 - d",
        "Tolpegin et al., ESORICS 2020",
        flipped=True,
    ),
    Attack("mimic", "the first honest share", "Karimireddy, He and Jaggi, ICLR 2022", lambda seen: seen.honest[0]),
    Attack(
        "evasion",
        f"the last aggregate plus {RADIUS:g} u, u of length 1, orthogonal to that aggregate, otherwise -(1, ..., 1)",
        "after Özfatura et al., arXiv 2208.09894",
        _evasion,
    ),
)
"""All attacks; mu and sd are mean and standard deviation of the honest shares, element by element."""
