"""The UCI handwritten digits that the demo trains on; data/PROVENANCE.md says where they come from."""

from __future__ import annotations

import io
from importlib.resources import files

import numpy as np
import numpy.typing as npt


def load_digits() -> tuple[npt.NDArray[np.uint8], npt.NDArray[np.int64]]:
    """Return the images and the digits that they show (Alpaydin and Kaynak 1998, DOI 10.24432/C50P49).

    Returns:
        Images, uint8 ``[1797, 8, 8]`` with values 0 to 16, and labels, int64 ``[1797]`` with values 0 to 9.
    """
    packed = files("counterfoil_resources").joinpath("data", "digits.npz").read_bytes()
    with np.load(io.BytesIO(packed), allow_pickle=False) as arrays:
        return arrays["images"], arrays["labels"].astype(np.int64)
