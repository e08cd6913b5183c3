"""Counterfoil: find out whether the training you ordered is the training that happened.

The public names are listed in ``__init__.pyi`` and imported on first use, so that ``import counterfoil`` is cheap:
torch alone takes seconds to import, and the window shows before that.
"""

from __future__ import annotations

import lazy_loader

__version__ = "0.1.0"

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
