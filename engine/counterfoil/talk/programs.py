"""How a process of this program is started, and where it begins: the one place for all of them.

Who works with files of strangers is in the folder in which they lie, and ``python -m`` and ``python -c`` take modules
from the folder that one is in before any other: a ``struct.py`` beside a run would be the program. So every process
begins with this file, run by its path:

- ``-P``: neither the folder that one is in nor that of this file is looked through for modules.
- ``-E``: what the environment says of Python does not count; the variables are taken away too, for ``site`` looks at
  one of them all the same.
- ``-s``, where the process that starts it takes no packages from the user's folder. Where it does
  (``pip install --user``) they may be this program, and are found as there.

Where the program itself, or a library that it needs, was found by ``PYTHONPATH`` (modules of a cluster, a source tree),
that folder is named to the process, which looks there behind Python's own modules. A frozen program starts itself.

This file is run by itself before the package can be found, so it imports nothing of it.
"""

from __future__ import annotations

import gc
import importlib
import importlib.util
import os
import signal
import site
import sys
import tempfile
from collections.abc import Sequence
from types import ModuleType

PASSPHRASE_VARIABLE = "COUNTERFOIL_PASSPHRASE"
DESCRIPTOR_VARIABLE = "COUNTERFOIL_PASSPHRASE_FD"
"""The number of an open file descriptor that gives the passphrase, for scripts: it never is in an environment then."""
FROZEN_MARK = "--counterfoil-program"
"""The first argument of a frozen program that is to be one of its processes."""
_PACKAGE = "counterfoil"
_NEEDED = (
    _PACKAGE, "counterfoil_core", "counterfoil_app", "counterfoil_resources", "PySide6", "cryptography", "h5py",
    "llvmlite", "msgspec", "numba", "numpy", "pkcs11", "pyrage", "ray", "torch", "triton",
)  # fmt: skip
"""What may be found by ``PYTHONPATH`` alone; whatever these need lies beside them."""
_USER_BASE = "PYTHONUSERBASE"
_HASHING = "PYTHONHASHSEED"


def program_command(module: str, *arguments: str) -> list[str]:
    """Return the command that starts a process of this program; its environment is :func:`program_environment`.

    Args:
        module: A module of this program, whose function ``main`` the process is.
        arguments: What ``main`` finds in ``sys.argv`` behind the first.
    """
    if getattr(sys, "frozen", False):
        return [sys.executable, FROZEN_MARK, module, *arguments]
    flags = ["-P", "-E"]
    if not site.ENABLE_USER_SITE:
        flags.append("-s")
    if sys.dont_write_bytecode:
        flags.append("-B")
    if sys.flags.utf8_mode:  # names of files must be the same texts on both sides
        flags += ["-X", "utf8"]
    return [sys.executable, *flags, os.path.abspath(__file__), os.pathsep.join(_folders()), module, *arguments]


def hashing_otherwise(module: str) -> tuple[list[str], dict[str, str]]:
    """Return the command that starts a process whose texts have other hashes, and variables of its environment.

    Args:
        module: As for :func:`program_command`.
    """
    command = program_command(module)
    # The one variable of Python's that counts for it; the environment of a process has none else.
    command = [part for part in command if part != "-E"]
    return command, {_HASHING: "2" if os.environ.get(_HASHING) == "1" else "1"}


def program_environment(**more: str) -> dict[str, str]:
    """Return the environment of a process of this program: without passphrases, and without what is said of Python.

    Args:
        more: Variables to be added.
    """
    kept = {name: value for name, value in os.environ.items() if not name.startswith("PYTHON")}
    for name in (PASSPHRASE_VARIABLE, DESCRIPTOR_VARIABLE):
        kept.pop(name, None)
    base = os.environ.get(_USER_BASE, "")
    if site.ENABLE_USER_SITE and os.path.isabs(base) and not sys.flags.ignore_environment:
        kept[_USER_BASE] = base
    return {**kept, **more}


def settle_temporary_folder() -> None:
    """Let libraries be loaded where no folder for temporary files can be written; what needs one says so itself."""
    try:
        tempfile.gettempdir()
    except FileNotFoundError:
        tempfile.tempdir = os.sep
        # torch makes this folder when it is loaded, and needs it for nothing that Counterfoil does.
        os.environ.setdefault("TORCHINDUCTOR_CACHE_DIR", os.sep)


def is_program(arguments: Sequence[str]) -> bool:
    """Whether a frozen program was started to be one of its processes: its arguments, the name of the program first."""
    return bool(getattr(sys, "frozen", False)) and list(arguments[1:2]) == [FROZEN_MARK]


def run_program(arguments: Sequence[str]) -> int:
    """Be a process of this program: every one of them begins here.

    Args:
        arguments: The module, and what it is told.

    Returns:
        The exit code.
    """
    module, *rest = arguments
    # Ctrl-C in a terminal reaches every process of it; whoever started this one decides what ends. First of all, or it
    # would end what is still being loaded.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    settle_temporary_folder()
    if module.partition(".")[0] not in (_PACKAGE, f"{_PACKAGE}_app"):
        raise ValueError(f"{module} is no program of Counterfoil")
    sys.argv[:] = [module, *rest]
    main = _loaded(module).main
    return main() or 0


def _loaded(module: str) -> ModuleType:
    """Load a module without looking for garbage: loading makes none, and torch alone makes half a million objects.

    Nor is any looked for among them later.
    """
    gc.disable()
    try:
        return importlib.import_module(module)
    finally:
        gc.freeze()
        gc.enable()


def _folders() -> list[str]:
    """Where ``PYTHONPATH`` led to this program or to a library of it; never the folder that one is in for a library."""
    if sys.flags.ignore_environment:
        return []
    named = {os.path.abspath(each) for each in os.environ.get("PYTHONPATH", "").split(os.pathsep) if each}
    if not named:
        return []
    found = []
    here = os.path.realpath(os.curdir)
    for name in _NEEDED:
        try:
            spec = importlib.util.find_spec(name)
        except ValueError:  # loaded, and nobody knows from where
            continue
        for place in (spec.submodule_search_locations or ()) if spec is not None else ():
            folder = os.path.abspath(os.path.dirname(place))
            if folder in named and folder not in found and (name == _PACKAGE or os.path.realpath(folder) != here):
                found.append(folder)
    return found


def _begin() -> int:
    """The main function of this file: makes the package importable as it is for the process that started this one."""
    folders = [each for each in sys.argv[1].split(os.pathsep) if each and each not in sys.path]
    own = [place for place, folder in enumerate(sys.path) if os.path.basename(folder) in _SITES]
    before = min(own, default=len(sys.path))
    sys.path[before:before] = folders
    return run_program(sys.argv[2:])


_SITES = ("site-packages", "dist-packages")
"""Names of the folders in which packages are installed; Python's own modules lie in others, before these."""

if __name__ == "__main__":
    sys.exit(_begin())
