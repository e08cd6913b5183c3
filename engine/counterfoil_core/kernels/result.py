"""What a rounding kernel reports about one tensor."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt


class Rounded(NamedTuple):
    """The close decisions and the fingerprint of one tensor.

    Attributes:
        indices: int64 ``[k]``: flat C-order indices of the decisions close to a midpoint, ascending.
        ups: bool ``[k]``: whether each was rounded up, towards plus infinity.
        fingerprint: Sum mod 2^64 over the elements of a mixing function of index, bits and key.
        largest_exponent: floor(log2) of the largest magnitude before rounding; 1024 when infinite or not a number,
            -1023 when every element is zero or subnormal.
        largest: The largest magnitude after rounding; without meaning when one is infinite or not a number before it.
    """

    indices: npt.NDArray[np.int64]
    ups: npt.NDArray[np.bool_]
    fingerprint: int
    largest_exponent: int
    largest: float
