"""What training a dense transformer takes, counted for a token and a layer: operations, values, bytes. Pure.

The counts are those of the program of the recipe gpt2 as it is captured: products without fusion, attention's matrices
as tensors, dropout off. ``tests/engine/audit/values/test_transformer.py`` counts them again in captured programs. In
terms of the width d and of h T, heads by context:

====================  ===================================  ================================
a token and a layer   float64-24                           exact profiles
====================  ===================================  ================================
products read         40 d + 4 h T                         the same
products make         20 d + 2 h T                         the same
others read           42 d + 7 h T                         173 d + 15 h T
others make           26 d + 6 h T                         111 d + 10 h T
values rounded        32 d + 4 h T                         none
====================  ===================================  ================================
"""

from __future__ import annotations

from dataclasses import dataclass

HEAD_WIDTH = 128
"""Width of an attention head."""
ASPECT = 100
"""Width by layers: 85 of OPEN-1B, 102 of Llama 3's 70 B."""
WIDTH_STEP = 128
STATE_BYTES = 12
"""float32 of a weight and of AdamW's two moments."""
GRADIENT_BYTES = 4
UPDATE_VALUES = 3
"""Values of a parameter and step that are rounded: its gradient, a root and a quotient of AdamW."""
PLACES = {False: 74, True: 97}
"""Places of a layer that are fingerprinted a step, under float64-24 and under an exact profile."""
TENSORS = 12
"""Parameter tensors of a layer."""


@dataclass(frozen=True)
class Count:
    """A number of elements for a token and a layer: so many times d, and so many times h T."""

    width: float
    attention: float


@dataclass(frozen=True)
class Counts:
    """Elements that a token of a layer takes."""

    products_read: Count  #: Operands of products.
    products_made: Count  #: Their results.
    others_read: Count  #: Operands of all other operators, but for views.
    others_made: Count  #: Their results.
    rounded: Count  #: Values that are rounded to a grid, and may be logged.


GRID = Counts(Count(40, 4), Count(20, 2), Count(42, 7), Count(26, 6), Count(32, 4))
"""Under a profile that rounds to a grid."""
EXACT = Counts(Count(40, 4), Count(20, 2), Count(173, 15), Count(111, 10), Count(0, 0))
"""Under an exact profile, which takes composite operators apart."""


@dataclass(frozen=True)
class Transformer:
    """A dense transformer."""

    parameters: float  #: Its parameters, all of which are taken to be of its layers.
    context: int  #: Tokens of a sequence, each of which sees all others.
    width: int  #: d.
    layers: float  #: How many.

    @classmethod
    def of(cls, parameters: float, context: int) -> Transformer:
        """Return the one of so many parameters whose width is :data:`ASPECT` times its layers, 12 d^2 of each."""
        width = (ASPECT * parameters / 12) ** (1 / 3)
        rounded = max(WIDTH_STEP, round(width / WIDTH_STEP) * WIDTH_STEP)
        return cls(parameters, context, rounded, parameters / (12 * rounded**2))

    def elements(self, count: Count) -> float:
        """Return how many elements of a kind a token takes in all layers."""
        heads = self.width / HEAD_WIDTH
        return self.layers * (count.width * self.width + count.attention * heads * self.context)

    @property
    def flops(self) -> float:
        """Operations of the products for a token: 6 N, and 12 d T a layer for attention.

        Kaplan et al. 2020 (arXiv 2001.08361) have the first, Chowdhery et al. 2022 (arXiv 2204.02311, appendix B) both.
        """
        return 6 * self.parameters + 12 * self.layers * self.width * self.context

    @property
    def state_bytes(self) -> float:
        """Size of a state: weights and AdamW's moments."""
        return STATE_BYTES * self.parameters
