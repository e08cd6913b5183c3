"""Real keyboard and mouse events for an X server, sent by its XTEST extension as a device would send them."""

from __future__ import annotations

import ctypes
import time

SHIFT, CONTROL, ALT = "Shift_L", "Control_L", "Alt_L"


class XInput:
    """A connection of its own to the X server on DISPLAY.

    Raises:
        OSError: libX11 or libXtst is missing, or there is no server.
    """

    def __init__(self) -> None:
        self._x = ctypes.CDLL("libX11.so.6")
        self._test = ctypes.CDLL("libXtst.so.6")
        self._x.XOpenDisplay.restype = ctypes.c_void_p
        self._x.XOpenDisplay.argtypes = [ctypes.c_char_p]
        self._x.XStringToKeysym.restype = ctypes.c_ulong
        self._x.XKeysymToKeycode.argtypes = [ctypes.c_void_p, ctypes.c_ulong]
        self._x.XKeysymToKeycode.restype = ctypes.c_ubyte
        self._x.XFlush.argtypes = [ctypes.c_void_p]
        self._x.XCloseDisplay.argtypes = [ctypes.c_void_p]
        self._test.XTestFakeKeyEvent.argtypes = [ctypes.c_void_p, ctypes.c_uint, ctypes.c_int, ctypes.c_ulong]
        self._test.XTestFakeButtonEvent.argtypes = [ctypes.c_void_p, ctypes.c_uint, ctypes.c_int, ctypes.c_ulong]
        self._test.XTestFakeMotionEvent.argtypes = [
            ctypes.c_void_p,
            ctypes.c_int,
            ctypes.c_int,
            ctypes.c_int,
            ctypes.c_ulong,
        ]
        self._display = self._x.XOpenDisplay(None)
        if not self._display:
            raise OSError("There is no X server on DISPLAY.")

    def press(self, *keys: str) -> None:
        """Press keys one after the other and let them go in reverse, for instance ``press("Control_L", "q")``.

        Args:
            keys: Names of keysyms.
        """
        codes = [self._x.XKeysymToKeycode(self._display, self._x.XStringToKeysym(key.encode())) for key in keys]
        assert all(codes), f"the keyboard lacks a key of {keys}"
        for code in codes:
            self._test.XTestFakeKeyEvent(self._display, code, 1, 0)
        for code in reversed(codes):
            self._test.XTestFakeKeyEvent(self._display, code, 0, 0)
        self._x.XFlush(self._display)

    def click(self, x: int, y: int) -> None:
        """Move the pointer to a place of the screen and click the left button."""
        self._test.XTestFakeMotionEvent(self._display, -1, x, y, 0)
        self._x.XFlush(self._display)
        time.sleep(0.02)  # as a hand does: the server tells the window of the pointer before of the button
        self._test.XTestFakeButtonEvent(self._display, 1, 1, 0)
        self._test.XTestFakeButtonEvent(self._display, 1, 0, 0)
        self._x.XFlush(self._display)

    def close(self) -> None:
        """Close the connection."""
        self._x.XCloseDisplay(self._display)
