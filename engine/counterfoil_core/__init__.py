"""The court: all that decides whether VERIFIED, DISPUTED or CONFIRMED is said, and nothing else.

Whoever reviews what a verdict rests on reads this package. It starts no process, opens no network, writes no HDF5,
and knows neither a command line nor a window; it imports nothing of :mod:`counterfoil`, which orders, captures,
records, delivers and asks (docs/architecture.md).
"""

from __future__ import annotations

import os

# torch reads this at its first allocation: on Linux large tensors then lie on huge pages, which are quicker to take
# and to go through, and leave fewer holes.
os.environ.setdefault("THP_MEM_ALLOC_ENABLE", "1")

__version__ = "0.9.0"
