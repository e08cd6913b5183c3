"""Numpy arrays by what is known of them."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

Array = npt.NDArray[Any]
"""Of any dtype and shape."""
Bytes = npt.NDArray[np.uint8]
"""Bytes, uint8."""
