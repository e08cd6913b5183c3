"""Where kernels written in Triton are tested: on a CUDA device, or on the CPU by Triton's interpreter.

Import this module before any that holds such kernels. ``tests/conftest.py`` chooses the interpreter.
"""

from __future__ import annotations

import pytest
import torch

pytest.importorskip("triton")

ON_DEVICE = torch.cuda.is_available()
DEVICES = [pytest.param("cuda:0", marks=pytest.mark.gpu)] if ON_DEVICE else ["cpu"]
"""Parameters for a test that takes ``device``."""
