"""Operators that have no deterministic algorithm on a device: allowed, and remembered by name.

Adding in any order is within the margin, so a step may use them; a replay on the same device may then take other
decisions the second time. torch has a warning in the place of an error for them, which names the function of the
library. It is kept off the terminal and written down.
"""

from __future__ import annotations

import re
import warnings
from collections.abc import Callable
from typing import Any

import torch

_ALERT = re.compile(r"(\S+) does not have a deterministic implementation")
_met: set[str] = set()
Show = Callable[..., None]


def allow_nondeterministic() -> None:
    """Use deterministic algorithms where the library has them; begin a new list of the functions that have none."""
    _met.clear()
    # As use_deterministic_algorithms(True, warn_only=True), which loads torch's compiler first: more than a second.
    torch.set_deterministic_debug_mode("warn")
    # Every time: what "once" would remember belongs to the process, and the list to the machine that was opened.
    warnings.filterwarnings("always", message=_ALERT.pattern, category=UserWarning)
    if not isinstance(warnings.showwarning, _Noticing):
        warnings.showwarning = _Noticing(warnings.showwarning)


def nondeterministic_functions() -> tuple[str, ...]:
    """The functions of the library without a deterministic algorithm that have run, sorted."""
    return tuple(sorted(_met))


class _Noticing:
    """Shows warnings as before, and writes down those about determinism."""

    def __init__(self, show: Show) -> None:
        self._show = show

    def __call__(self, message: Warning | str, *arguments: Any, **keywords: Any) -> None:
        found = _ALERT.match(str(message))
        if found is None:
            self._show(message, *arguments, **keywords)
        else:
            _met.add(found[1])
