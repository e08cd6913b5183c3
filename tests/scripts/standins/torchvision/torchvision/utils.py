"""Pictures that scripts write while they train."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import torch
from PIL import Image


def make_grid(tensor: Any, nrow: int = 8, **_options: Any) -> torch.Tensor:
    images = torch.stack(list(tensor)) if not isinstance(tensor, torch.Tensor) else tensor
    return images if images.dim() == 3 else torch.cat(list(images), -1)


def save_image(tensor: Any, path: str | Path, **options: Any) -> None:
    grid = make_grid(tensor.detach(), **options).clamp(0, 1).mul(255).to(torch.uint8).numpy()
    Image.fromarray(np.ascontiguousarray(grid.transpose(1, 2, 0)).squeeze()).save(path)
