"""Makes the orders of ``inputs/``: ``python -m tests.frozen.inputs``; only when the format changes.

They are kept, since a program is captured as the torch at hand does it.
"""

from __future__ import annotations

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from counterfoil.base.precision import ExactPrecision
from counterfoil.signing.keys import key_from_seed
from support.jobs import digits_order
from support.shared import shared_order

CLIENT = key_from_seed(bytes([3] * 32))
HERE = Path(__file__).resolve().parent / "inputs"
STEPS = 6

if __name__ == "__main__":
    HERE.mkdir(exist_ok=True)
    digits = digits_order(steps=STEPS, width=2, batch_size=4, checkpoint_every=2, precision=ExactPrecision(20))
    digits.write(HERE / "order.cfoil", trial=False, key=CLIENT)
    digits_order(steps=STEPS, width=2, batch_size=4, checkpoint_every=2, precision=ExactPrecision(20), seed=12).write(
        HERE / "other.cfoil", trial=False
    )
    shared_order(precision=ExactPrecision(13)).write(HERE / "shares.cfoil", trial=False)
