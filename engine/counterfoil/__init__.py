"""Counterfoil: find out whether the training you ordered is the training that happened.

The public names are listed in ``__init__.pyi`` and imported on first use, so that ``import counterfoil`` is cheap:
torch alone takes seconds to import, and the window shows before that.
"""

from __future__ import annotations

import sys

# `python -m counterfoil` looks into the folder that one is in before any other, and files of strangers lie there:
# one called ast.py would be what is imported next. The command `counterfoil` does not look there.
if sys.argv[:1] == ["-m"] and not sys.flags.safe_path and "counterfoil" in sys.orig_argv[-len(sys.argv)]:
    del sys.path[0]

import ast
import importlib
from pathlib import Path
from typing import Any

from counterfoil_core import __version__ as __version__

# The stub is the one list of public names: it says from which module each comes.
_MODULE_OF = {
    alias.asname: statement.module
    for statement in ast.parse(Path(__file__).with_suffix(".pyi").read_text("utf-8")).body
    if isinstance(statement, ast.ImportFrom)
    for alias in statement.names
    if alias.asname and statement.module
}
__all__ = sorted(_MODULE_OF)


def __getattr__(name: str) -> Any:
    """Import a public name on its first use; raises AttributeError."""
    if name not in _MODULE_OF:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    found = globals()[name] = getattr(importlib.import_module(_MODULE_OF[name]), name)
    return found


def __dir__() -> list[str]:
    return sorted({*globals(), *_MODULE_OF})
