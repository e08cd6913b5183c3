"""The packages of the engine, for tests that look through all of its source."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import counterfoil
import counterfoil_core

COURT = Path(counterfoil_core.__file__).parent
ENGINE = Path(counterfoil.__file__).parent
PACKAGES = (COURT, ENGINE)


def sources() -> Iterator[tuple[str, Path]]:
    """Each module of the engine, and its path behind the folder of its package; sorted."""
    for package in PACKAGES:
        for path in sorted(package.rglob("*.py")):
            yield path.relative_to(package).as_posix(), path
