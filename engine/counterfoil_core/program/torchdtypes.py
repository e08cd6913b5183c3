"""The torch dtype of each dtype name."""

from __future__ import annotations

import torch

from counterfoil_core.base.dtypes import TENSOR_DTYPES

TORCH_DTYPES: dict[str, torch.dtype] = {name: getattr(torch, name) for name in TENSOR_DTYPES}
