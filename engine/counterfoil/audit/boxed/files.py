"""The files that a call names, for which a box is opened, and those in the folder that both sides share."""

from __future__ import annotations

import os
from collections.abc import Iterator
from dataclasses import fields, is_dataclass, replace
from pathlib import Path
from typing import Any

KEPT_NAME = "kept"
"""The progress whose capsule lies beside it, in the folder that both sides share."""
CAPSULE_NAME = "dispute.cfoil"
PART_NAME = "segments.part"
_OUTSIDE = "progress"
"""The field that names what the process in the box does not reach itself."""


def paths_in(value: Any) -> Iterator[Path]:
    """Yield the paths in a value, the place of progress apart."""
    if isinstance(value, Path):
        yield value
    elif isinstance(value, tuple):
        for each in value:
            yield from paths_in(each)
    elif is_dataclass(value):
        for field in fields(value):
            if field.name != _OUTSIDE:
                yield from paths_in(getattr(value, field.name))


def absolute(value: Any) -> Any:
    """Return the same with absolute paths."""
    if isinstance(value, Path):
        return Path(os.path.abspath(value))
    if isinstance(value, tuple):
        return tuple(map(absolute, value))
    if is_dataclass(value) and not isinstance(value, type):
        return replace(value, **{field.name: absolute(getattr(value, field.name)) for field in fields(value)})
    return value
