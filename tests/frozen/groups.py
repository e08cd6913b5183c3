"""The groups of frozen files: what makes each, and where it lies."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache, partial
from pathlib import Path

from tests.frozen.store import HERE, Texts


@dataclass(frozen=True)
class Group:
    """Files that are made together.

    Attributes:
        prefixes: What their names begin with.
        make: Makes all of them, given a folder to work in.
    """

    prefixes: tuple[str, ...]
    make: Callable[[Path], Texts]


def prepare() -> None:
    """Do without pytest what tests/conftest.py does: a file need not reach the disk, and no box is opened."""
    os.environ.setdefault("OMP_WAIT_POLICY", "PASSIVE")
    os.environ["COUNTERFOIL_SANDBOX"] = "off"
    os.fsync = lambda _handle: None  # type: ignore[assignment]


def _roots(_folder: Path) -> Texts:
    from tests.frozen import roots

    return roots.make()


def _recordings(_folder: Path) -> Texts:
    from tests.frozen import roots

    return roots.make_recordings()


def _statements(_folder: Path) -> Texts:
    from tests.frozen import statements

    return statements.make()


@cache
def _in_world(folder: Path) -> Texts:
    from tests.frozen import audits, commands
    from tests.frozen.world import World

    (folder / "world").mkdir()
    world = World(folder / "world").build()
    return audits.make(world) | commands.make(world)


def _helps(folder: Path) -> Texts:
    from tests.frozen import commands
    from tests.frozen.world import World

    (folder / "empty").mkdir()
    return commands.helps(World(folder / "empty"))


def _some(*prefixes: str) -> Callable[[Path], Texts]:
    def chosen(folder: Path) -> Texts:
        return {name: text for name, text in _in_world(folder).items() if name.startswith(prefixes)}

    return chosen


def _window(language: str, folder: Path) -> Texts:
    """In a process of its own: fonts, languages and settings are those of an application."""
    out = folder / f"{language}.json"
    environment = os.environ | {
        "QT_QPA_PLATFORM": "offscreen",
        "TZ": "UTC",
        "LC_ALL": "C.UTF-8",
        "PYTHONPATH": os.pathsep.join((str(HERE.parents[1]), str(HERE.parent))),
    }
    command = [sys.executable, "-m", "tests.frozen.window", str(out), language]
    subprocess.run(command, check=True, env=environment, cwd=folder)
    texts: Texts = json.loads(out.read_text(encoding="utf-8"))
    return texts


GROUPS = {
    "roots": Group(("roots/orders",), _roots),
    "recordings": Group(("roots/exact", "roots/rounded", "roots/networks"), _recordings),
    "statements": Group(("statements/",), _statements),
    "audits": Group(("audits/", "adjudications/"), _some("audits/", "adjudications/")),
    "commands": Group(("commands/",), _some("commands/")),
    "help": Group(("help/",), _helps),
    "window": Group(("window/en/", "reports/en/"), partial(_window, "en")),
    "german": Group(("window/de/", "reports/de/"), partial(_window, "de")),
}
"""All of them, by name."""
