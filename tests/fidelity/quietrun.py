"""The process of a plain run of the product, with nothing drawn within a model: what ``quiet`` trials compare with."""

from __future__ import annotations

import sys
from pathlib import Path

HERE = Path(__file__).parent
sys.path[:0] = [str(HERE.parent), str(HERE.parents[1])]

from tests.fidelity.plainrun import drawing_nothing  # noqa: E402

from counterfoil.training.following.plainrun import main  # noqa: E402

if __name__ == "__main__":
    with drawing_nothing():
        sys.exit(main())
