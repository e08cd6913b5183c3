"""Which line of the client's code, or of a library that it uses, the capture is at."""

from __future__ import annotations

import os
import sys
import traceback
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from types import CodeType, FrameType
from typing import Any

import torch
from torch.overrides import TorchFunctionMode

_TORCH = str(Path(torch.__file__).parent) + os.sep
_OWN = tuple(
    str(Path(__file__).parents[1] / room) + os.sep
    for room in ("operators", "program", "training/following", "training/scripts")
)
_WRAPPERS = tuple(
    _TORCH + name
    for name in (
        "_compile.py",
        "_ops.py",
        "_tensor.py",
        "overrides.py",
        *(folder + os.sep for folder in ("_dynamo", "_subclasses", "fx", "utils")),
    )
)
_BORDERS = tuple(str(Path(__file__).parent / part) for part in ("capture.py", f"update{os.sep}captured.py"))
"""The frames below belong to whoever asked for the capture, not to the step."""
_sorts: dict[CodeType, str] = {}
_noted = ""
_copied: tuple[str, str] = ("", "")
"""A private copy of the client's folder, and that folder."""


def stand_for(copy: str, original: str) -> None:
    """Name code that lies in a folder, or in a private copy of it, by its place in that folder, from now on.

    Args:
        copy: The copy; empty for none.
        original: The folder.
    """
    global _copied
    _copied = (copy, original)


def file_of(code: CodeType) -> str:
    """Return the file that code is of, as the client knows it: by its name in the folder that it works in."""
    name = code.co_filename
    for folder in filter(None, _copied):
        if name.startswith(folder + os.sep):
            return name[len(folder) + 1 :]
    return name


def _sort(code: CodeType) -> str:
    found = _sorts.get(code)
    if found is None:
        name = code.co_filename
        inner = name.startswith((_TORCH, *_OWN, "<"))
        found = _sorts[code] = "border" if name in _BORDERS else "inner" if inner else "client"
    return found


def is_inner(code: CodeType) -> bool:
    """Whether code is torch's, or of the capture, and not the client's or of a library that it uses."""
    return _sort(code) != "client"


def client_frame() -> FrameType | None:
    """Return the innermost frame that is neither torch's nor of the capture, or None in a backward pass."""
    frame: FrameType | None = sys._getframe(1)
    while frame is not None:
        # Looked up here first: this is asked at every operator of a script, and passes dozens of frames each time.
        sort = _sorts.get(frame.f_code) or _sort(frame.f_code)
        if sort == "client":
            return frame
        if sort == "border":
            return None
        frame = frame.f_back
    return None


def asking_frame() -> FrameType | None:
    """Return the innermost frame that is neither of the capture nor a wrapper of torch's around its own operators."""
    frame: FrameType | None = sys._getframe(1)
    while frame is not None and frame.f_code.co_filename.startswith((*_OWN, *_WRAPPERS)):
        if _sort(frame.f_code) == "border":
            return None
        frame = frame.f_back
    return frame


def plain_frame() -> FrameType | None:
    """Return the innermost frame that is neither of the capture nor torch's passing on of calls, torch's others too."""
    frame: FrameType | None = sys._getframe(1)
    while frame is not None and frame.f_code.co_filename.startswith((*_OWN, _TORCH + "overrides.py")):
        if _sort(frame.f_code) == "border":
            return None
        frame = frame.f_back
    return frame


@contextmanager
def at_line(line: str) -> Iterator[None]:
    """Say of what runs within that it stands at a line, which was noted when its operators were called there."""
    global _noted
    before, _noted = _noted, line
    try:
        yield
    finally:
        _noted = before


def client_line() -> str:
    """Return file and line of :func:`client_frame`; empty where there is none."""
    if _noted:
        return _noted
    frame = client_frame()
    return "" if frame is None else f"{file_of(frame.f_code)}, line {frame.f_lineno}"


class LineLabels(TorchFunctionMode):
    """While active, says at which line each result was computed.

    Args:
        label: Told a result, and the line; nothing is said while it is None.
    """

    def __init__(self, label: Callable[[Any, str], None] | None) -> None:
        super().__init__()
        self.label = label

    def __torch_function__(
        self, func: Callable[..., Any], types: Any, args: tuple[Any, ...] = (), kwargs: dict[str, Any] | None = None
    ) -> Any:
        """Pass on every call, and label what it made."""
        result = func(*args, **(kwargs or {}))
        if self.label is not None:
            self.label(result, client_line())
        return result


def where_raised(error: BaseException) -> str:
    """Return file and line of the client's code, or a library's, that an error comes from; empty if it is not known."""
    found = ""
    for frame, line in traceback.walk_tb(error.__traceback__):
        sort = _sort(frame.f_code)
        if sort == "client":
            found = f"{file_of(frame.f_code)}, line {line}"
        elif sort == "border":
            found = ""
    return found


def frames_raised(error: BaseException) -> list[tuple[str, str]]:
    """Return file and function of every frame that an error passed, the innermost last."""
    return [(f.f_code.co_filename, f.f_code.co_name) for f, _ in traceback.walk_tb(error.__traceback__)]


def in_brackets(place: str) -> str:
    """Return a place as the end of a sentence, before its full stop."""
    return f" ({place})" if place else ""
