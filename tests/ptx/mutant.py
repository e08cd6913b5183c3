"""A plugin of pytest that puts a mutant in the place of a module of kernels: ``pytest -p ptx.mutant``.

``MUTANT_OF`` names the module, ``MUTANT`` its file.
"""

from __future__ import annotations

import importlib
import importlib.util
import os
import sys


def pytest_sessionstart() -> None:
    """After the tests have chosen the interpreter, and before any of them imports kernels."""
    name = os.environ["MUTANT_OF"]
    package, _, last = name.rpartition(".")
    spec = importlib.util.spec_from_file_location(name, os.environ["MUTANT"])
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module
    setattr(importlib.import_module(package), last, module)
    spec.loader.exec_module(module)
