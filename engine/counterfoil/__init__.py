"""Counterfoil: find out whether the training you ordered is the training that happened.

The public names are listed in ``__init__.pyi`` and imported on first use, so that ``import counterfoil`` is cheap:
torch alone takes seconds to import, and the window shows before that.
"""

from __future__ import annotations

import os
import sys

# `python -m counterfoil` looks into the folder that one is in before any other, and files of strangers lie there:
# one called lazy_loader.py would be what is imported next. The command `counterfoil` does not look there.
if sys.argv[:1] == ["-m"] and not sys.flags.safe_path and "counterfoil" in sys.orig_argv[-len(sys.argv)]:
    del sys.path[0]

import lazy_loader

# torch reads this at its first allocation: on Linux large tensors then lie on huge pages, which are quicker to take
# and to go through, and leave fewer holes.
os.environ.setdefault("THP_MEM_ALLOC_ENABLE", "1")

__version__ = "0.9.0"

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
