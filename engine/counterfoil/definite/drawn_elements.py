"""Single elements of random draws, in Python's integers: what judges a draw, and shares no code with what makes it."""

from __future__ import annotations

from counterfoil.definite.draws import exponential_of, normal_of
from counterfoil.program.operators import EXPONENTIAL, NORMAL, UNIFORM

_MASK = 0xFFFFFFFF


def drawn_element(operator: str, index: int, *, seed: int, step: int, draw: int) -> float:
    """Return an element of a draw, as ``docs/numerics.md``, "Randomness", defines it.

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
        return exponential_of(words[place])
    assert operator == NORMAL, "no random operator"
    first = place // 2 * 2
    return normal_of(words[first], words[first + 1], sine=place % 2 == 1)


def _block(number: int, seed: int, step: int, draw: int) -> tuple[int, int, int, int]:
    """Philox4x32-10."""
    a, b, c, d = number & _MASK, number >> 32, step & _MASK, draw & _MASK
    key = seed & _MASK, seed >> 32
    for turn in range(10):
        k, m = (key[0] + turn * 0x9E3779B9) & _MASK, (key[1] + turn * 0xBB67AE85) & _MASK
        p, q = 0xD2511F53 * a, 0xCD9E8D57 * c
        a, b, c, d = (q >> 32) ^ b ^ k, q & _MASK, (p >> 32) ^ d ^ m, p & _MASK
    return a, b, c, d
