"""A machine for whose own name no address is found, as in many containers: built from ``nameless.c``, and preloaded."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path

NAME = "nobody-knows-this-machine"
"""The name that the machine then has."""
SOURCE = Path(__file__).with_name("nameless.c")
ASKS = "import socket; name = socket.getfqdn(); print(name); socket.getaddrinfo(name, None)"


def why_not() -> str:
    """Why no such machine can be imitated here; empty where one can."""
    if sys.platform != "linux":
        return "LD_PRELOAD is the dynamic linker's of Linux"
    return "" if shutil.which("cc") else "there is no C compiler (cc)"


def nameless(folder: Path) -> Mapping[str, str]:
    """Return the environment of a process on such a machine.

    Args:
        folder: Where the library goes that makes it one.
    """
    library = folder / "nameless.so"
    defined = f'-DNAME="{NAME}"'
    subprocess.run(["cc", "-shared", "-fPIC", defined, "-o", str(library), str(SOURCE), "-ldl"], check=True)
    environment = {**os.environ, "LD_PRELOAD": str(library)}
    asked = subprocess.run(
        [sys.executable, "-c", ASKS], env=environment, capture_output=True, text=True, check=False
    )  # fmt: skip
    assert (asked.stdout, "gaierror" in asked.stderr) == (f"{NAME}\n", True), asked
    return environment
