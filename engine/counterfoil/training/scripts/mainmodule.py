"""A script as Python runs it, from a private copy of its folder, and with the places in it told as in the original."""

from __future__ import annotations

import builtins
import os
import sys
from collections.abc import Sequence
from pathlib import Path
from types import ModuleType

MAIN = "__main__"


def run_as_main(path: Path, shown: str, arguments: Sequence[str]) -> ModuleType:
    """Run a script; whatever it raises goes on.

    Args:
        path: Where it lies, as it is told itself (``__file__``).
        shown: The path that is shown of it, in errors and in the places of operators.
        arguments: What it finds behind its name in ``sys.argv``.

    Returns:
        The module that it was, with its variables.
    """
    code = compile(path.read_bytes(), os.path.abspath(shown), "exec")
    module = ModuleType(MAIN)
    module.__dict__.update(__file__=str(path), __builtins__=builtins, __cached__=None)
    before, sys.argv = sys.modules.get(MAIN), [os.fspath(path), *arguments]
    sys.path.insert(0, os.fspath(path.resolve().parent))
    sys.modules[MAIN] = module
    try:
        exec(code, module.__dict__)
    finally:
        if before is not None:
            sys.modules[MAIN] = before
    return module
