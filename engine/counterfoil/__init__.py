"""Counterfoil: find out whether the training you ordered is the training that happened.

The public names are listed in ``__init__.pyi`` and imported on first use, so that ``import counterfoil`` is cheap:
torch alone takes seconds to import, and the window shows before that.
"""

from __future__ import annotations

import os

import lazy_loader

# torch reads this at its first allocation: on Linux large tensors then lie on huge pages, which are quicker to take
# and to go through, and leave fewer holes.
os.environ.setdefault("THP_MEM_ALLOC_ENABLE", "1")

__version__ = "0.1.0"

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
