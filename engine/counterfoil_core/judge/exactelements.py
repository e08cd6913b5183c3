"""Elements of a disputed operator's output under an exact profile: what they are defined to be, and what each side has.

No error bound is involved: a value is the defined one, bit for bit, or wrong.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from counterfoil_core.base.dtypes import FLOAT_FORMATS
from counterfoil_core.base.sentence import Sentence
from counterfoil_core.operators.judging.ieee import Value
from counterfoil_core.operators.judging.numbers import MP, number
from counterfoil_core.operators.node import Node
from counterfoil_core.values.dispute import DisputedElement, Finding, Right

SHOWN_ELEMENTS = 8
_DIGITS = 25
_PRECISION = 400
"""Bits to write a value with: float32 numbers have up to 149 binary places, of which 25 digits are shown."""


@dataclass(frozen=True)
class DefinedElements:
    """Elements of one operator's output, computed by their definition."""

    node: Node  #: The operator.
    shape: tuple[int, ...]  #: Shape of the output.
    dtype: str  #: Its dtype name.
    indices: npt.NDArray[np.int64]  #: int64 ``[k]``: flat C-order indices.
    defined: list[Value]  #: The defined values, k of them.
    replay: list[Value]  #: This machine's values.
    #: The trainer's values; None where the fingerprint does not tell which elements differ.
    trainer: list[Value] | None
    total: int  #: Number of elements of the output.

    @property
    def off(self) -> bool:
        """Whether a value of this machine is not the defined one."""
        return any(not same_value(*pair) for pair in zip(self.replay, self.defined, strict=True))

    @property
    def trainer_is_right(self) -> bool:
        """Whether the trainer's values are known, and are the defined ones."""
        return self.trainer is not None and all(
            same_value(*pair) for pair in zip(self.trainer, self.defined, strict=True)
        )

    @property
    def place(self) -> str:
        """The multi-index of the first of these elements."""
        return f"[{', '.join(map(str, self._index(0)))}]"

    def _index(self, i: int) -> tuple[int, ...]:
        return tuple(int(part) for part in np.unravel_index(int(self.indices[i]), self.shape))

    def finding(self, right: Right, sentence: Sentence) -> Finding:
        """Return a finding that shows the most telling of these elements: wrong ones of this machine's come first."""
        wrong = [not same_value(*pair) for pair in zip(self.replay, self.defined, strict=True)]
        # What is infinite or not a number has no digits, and the sentence says what there is to say.
        shown = [i for i, value in enumerate(self.defined) if math.isfinite(value)]
        chosen = sorted(sorted(shown, key=lambda i: not wrong[i])[:SHOWN_ELEMENTS])
        return Finding(
            right, sentence, tuple(self._shown(i) for i in chosen), len(self.indices), self.total, margin=0.0, bound=0.0
        )

    def _shown(self, i: int) -> DisputedElement:
        defined, replay = float(self.defined[i]), float(self.replay[i])
        unit = spacing(defined, self.dtype)
        with MP.workprec(_PRECISION):
            exact = MP.nstr(number(self.defined[i]), _DIGITS)
        return DisputedElement(
            index=self._index(i),
            exact=exact,
            exact_nearest=defined,
            computed=replay,
            replay=replay,
            trainer=None if self.trainer is None else float(self.trainer[i]),
            quantum=unit,
            error=abs(replay - defined) / unit,
            midpoint=0.0,
        )


def same_value(one: Value, other: Value) -> bool:
    """Return whether two elements of one dtype have the same bits; what is not a number counts as one value."""
    if isinstance(one, float) and isinstance(other, float):
        if math.isnan(one) or math.isnan(other):
            return math.isnan(one) and math.isnan(other)
        return one == other and math.copysign(1.0, one) == math.copysign(1.0, other)
    return one == other


def spacing(value: float, dtype: str) -> float:
    """Return the distance of neighbouring numbers of a dtype where a finite value lies; 1 for integers."""
    held = FLOAT_FORMATS.get(dtype)
    if held is None:
        return 1.0
    exponent = max(math.frexp(value)[1] - 1, held.smallest_exponent) if value else held.smallest_exponent
    return math.ldexp(1.0, exponent - held.significand_bits + 1)
