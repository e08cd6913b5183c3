"""What a rounding kernel reports about one tensor."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt


class Rounded(NamedTuple):
    """The close decisions and the fingerprint of one tensor."""

    #: int64 ``[k]``: flat C-order indices of the decisions close to a midpoint, ascending.
    indices: npt.NDArray[np.int64]
    ups: npt.NDArray[np.bool_]  #: bool ``[k]``: whether each was rounded up, towards plus infinity.
    fingerprint: int  #: Sum mod 2^64 over the elements of a mixing function of index, bits and key.
    #: floor(log2) of the largest magnitude before rounding; 1024 when infinite or not a number, -1023 when every
    #: element is zero or subnormal.
    largest_exponent: int
    #: The largest magnitude after rounding; without meaning when one is infinite or not a number before it.
    largest: float
