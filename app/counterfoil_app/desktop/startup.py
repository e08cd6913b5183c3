"""What must be there before Qt starts.

Qt aborts the process when it finds no display; that is said in a sentence instead.
"""

from __future__ import annotations

import ctypes
import os
import sys
from collections.abc import Callable, Mapping, MutableMapping

from counterfoil import CounterfoilError
from counterfoil_core.base.sentence import say

OFFSCREEN = "offscreen"


def has_display(environment: Mapping[str, str], platform: str = sys.platform) -> bool:
    """Whether a window could be shown to somebody."""
    if environment.get("QT_QPA_PLATFORM"):
        return environment["QT_QPA_PLATFORM"] not in (OFFSCREEN, "minimal")
    return not platform.startswith("linux") or bool(environment.get("DISPLAY") or environment.get("WAYLAND_DISPLAY"))


def _library_loads(name: str) -> bool:
    try:
        ctypes.CDLL(name)
    except OSError:
        return False
    return True


def check_display(
    environment: Mapping[str, str], platform: str = sys.platform, loads: Callable[[str], bool] = _library_loads
) -> None:
    """Make sure that Qt can start.

    Raises:
        CounterfoilError: There is no display, or a system library that Qt needs for it is missing.
    """
    if environment.get("QT_QPA_PLATFORM") or not platform.startswith("linux"):
        return
    if not has_display(environment, platform):
        raise CounterfoilError(
            say("The window cannot be shown, because this session has no display."),
            remedy=say("Start it in a graphical session, or use 'counterfoil audit' here."),
        )
    if not environment.get("WAYLAND_DISPLAY") and not loads("libxcb-cursor.so.0"):
        raise CounterfoilError(
            say("The window cannot be shown, because the system library libxcb-cursor is missing."),
            remedy=say("Install it; on Debian and Ubuntu: apt-get install libxcb-cursor0"),
        )


def draw_in_software(environment: MutableMapping[str, str]) -> None:
    """Keep Qt from drivers of graphics cards; to be called before it starts."""
    environment.update({"QT_OPENGL": "software", "QT_XCB_GL_INTEGRATION": "none", "LIBGL_ALWAYS_SOFTWARE": "1"})


def use_offscreen_without_display() -> bool:
    """Let Qt draw into memory when nobody could see the window; return whether it does."""
    if has_display(os.environ):
        return False
    os.environ["QT_QPA_PLATFORM"] = OFFSCREEN
    return True
