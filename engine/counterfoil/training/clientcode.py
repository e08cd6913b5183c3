"""What to say of an error that a client's own code raised, and where in it that was."""

from __future__ import annotations

import os
import traceback
from collections.abc import Collection
from pathlib import Path

from counterfoil.base.foreignerrors import describe_error


def what_failed(error: BaseException) -> str:
    """Return an error as part of a sentence."""
    # The text of a SyntaxError repeats the place.
    return f"{type(error).__name__}: {error.msg}" if isinstance(error, SyntaxError) else describe_error(error)


def place_failed(error: BaseException, runners: Collection[str]) -> str:
    """Return the end of a sentence: file and line of the client's code that an error comes from.

    Args:
        error: The error.
        runners: The files of the modules that ran that code.
    """
    if isinstance(error, SyntaxError) and error.filename:
        return f" ({error.filename}, line {error.lineno})."
    ours = {Path(runner) for runner in runners}
    machinery = ("importlib", "runpy")
    frames = [f for f in traceback.extract_tb(error.__traceback__) if not any(m in f.filename for m in machinery)]
    frames = [f for f in frames if Path(f.filename) not in ours]
    # The last line outside of installed libraries, else the first: the client's code may be installed itself.
    outside = [f for f in frames if f"{os.sep}site-packages{os.sep}" not in f.filename]
    for frame in (*outside[-1:], *frames[:1]):
        return f" ({frame.filename}, line {frame.lineno})."
    return "."
