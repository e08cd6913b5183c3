"""Single elements of random draws, in Python's integers and with mpmath: what judges a draw.

It shares no code with what makes it (an import contract holds that); ``docs/numerics.md``, "Randomness", defines both.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from counterfoil_core.operators.facts import EXPONENTIAL, NORMAL, UNIFORM
from counterfoil_core.operators.judging.ieee import nearest
from counterfoil_core.operators.judging.numbers import MP, Number
from counterfoil_core.operators.node import Node

_MOST_ELEMENTS = 1024
"""Elements that are drawn again: a quarter of a second."""
_MASK = 0xFFFFFFFF


def drawn_element(operator: str, index: int, *, seed: int, step: int, draw: int) -> float:
    """Return an element of a draw.

    Args:
        operator: One of the random operators.
        index: Flat C-order index of the element.
        seed: The order's seed.
        step: Step number.
        draw: Number of the draw within the step.

    Returns:
        A float32 number.
    """
    words = _block(index // 4, seed, step, draw)
    place = index % 4
    if operator == UNIFORM:
        return (words[place] >> 8) / 2**24
    if operator == EXPONENTIAL:
        return nearest(-MP.log(_between_0_and_1(words[place])))
    assert operator == NORMAL, "no random operator"
    # Words 0 and 1 make elements 0 and 1, words 2 and 3 the others: the first of two is the cosine's.
    first, second = (_between_0_and_1(word) for word in (words[:2] if place < 2 else words[2:]))
    radius, turn = MP.sqrt(-2 * MP.log(first)), 2 * MP.pi * second
    return nearest(radius * (MP.sin(turn) if place % 2 else MP.cos(turn)))


def is_as_defined(node: Node, own: npt.NDArray[np.float64], seed: int, step: int, first: int = 0) -> bool:
    """Compare elements of a draw with what integers and 256 bits make of them.

    Args:
        node: The random operator.
        own: float64 ``[n]``: what this machine drew there.
        seed: The order's seed.
        step: The step.
        first: What is added to the number of the draw.
    """
    number = node.args[1]
    assert isinstance(number, int)
    draw = first + number
    indices = np.unique(np.linspace(0, max(len(own) - 1, 0), min(len(own), _MOST_ELEMENTS)).astype(np.int64))
    return all(
        own[index] == drawn_element(node.operator, int(index), seed=seed, step=step, draw=draw) for index in indices
    )


def _between_0_and_1(word: int) -> Number:
    """p(w) = (w + 1/2) / 2^32."""
    return MP.mpf(2 * word + 1) / 2**33


def _block(number: int, seed: int, step: int, draw: int) -> tuple[int, int, int, int]:
    """Philox4x32-10."""
    a, b, c, d = number & _MASK, number >> 32, step & _MASK, draw & _MASK
    key = seed & _MASK, seed >> 32
    for turn in range(10):
        k, m = (key[0] + turn * 0x9E3779B9) & _MASK, (key[1] + turn * 0xBB67AE85) & _MASK
        p, q = 0xD2511F53 * a, 0xCD9E8D57 * c
        a, b, c, d = (q >> 32) ^ b ^ k, q & _MASK, (p >> 32) ^ d ^ m, p & _MASK
    return a, b, c, d
