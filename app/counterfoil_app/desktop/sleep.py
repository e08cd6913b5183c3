"""Keeping the computer awake while a replay runs, where the platform lets a program ask for it."""

from __future__ import annotations

import os
import shutil
import sys
from collections.abc import Callable, Sequence

from PySide6.QtCore import QObject, QProcess

END_MILLISECONDS = 1_000
"""Longest wait for the helper when the window closes; it ends within a few ms of its input being closed."""


class SleepInhibitor:
    """Asks the platform not to fall asleep. The display may still go dark.

    This one does nothing, for platforms on which nothing can be asked.
    """

    def hold(self, reason: str) -> None:
        """Keep the computer awake from now on; ``reason`` is shown to users who ask what does."""

    def release(self) -> None:
        """Let the computer sleep again."""

    def close(self) -> None:
        """Release for good and leave nothing running."""
        self.release()


class HelperInhibitor(SleepInhibitor):
    """Holds by a helper program that inhibits sleep for as long as it runs.

    The helper ends when its standard input is closed. The system closes it even when this process is killed, so that
    no computer stays awake for a program that is gone.

    Args:
        command: Makes the helper's command line from the reason.
        parent: Owner of the process object.
    """

    def __init__(self, command: Callable[[str], Sequence[str]], parent: QObject | None = None) -> None:
        self._command = command
        self._process = QProcess(parent)
        self._process.setStandardOutputFile(QProcess.nullDevice())
        self._process.setStandardErrorFile(QProcess.nullDevice())
        self._wanted: str | None = None
        self._process.finished.connect(self._start_again)

    @property
    def holding(self) -> bool:
        """Whether the helper is running or being started."""
        return self._process.state() is not QProcess.ProcessState.NotRunning

    def hold(self, reason: str) -> None:
        """Start the helper; where it cannot run the computer sleeps as ever."""
        already, self._wanted = self._wanted is not None, reason
        if not already and not self.holding:
            self._start(reason)

    def release(self) -> None:
        """Close the helper's input, so that it ends."""
        self._wanted = None
        if self.holding:
            self._process.closeWriteChannel()

    def close(self) -> None:
        """End the helper and wait for it."""
        self.release()
        if self.holding and not self._process.waitForFinished(END_MILLISECONDS):
            self._process.kill()
            self._process.waitForFinished(END_MILLISECONDS)

    def _start(self, reason: str) -> None:
        program, *arguments = self._command(reason)
        self._process.start(program, arguments)

    def _start_again(self) -> None:
        # Held again while the helper of the last hold was still ending: only then is a reason left over from a hold.
        # One that ends by itself (there is no service to ask) is not started over and over.
        reason, self._wanted = self._wanted, None
        if reason is not None and self._process.exitCode() == 0:
            self._wanted = reason
            self._start(reason)


def systemd_command(reason: str) -> tuple[str, ...]:
    """The systemd-logind inhibitor (systemd-inhibit(1)); ``cat`` ends when its input is closed."""
    what = "--what=sleep:idle"
    return ("systemd-inhibit", what, "--who=Counterfoil", f"--why={reason}", "--mode=block", "cat")


def caffeinate_command(_reason: str) -> tuple[str, ...]:
    """The macOS power assertion (caffeinate(8)): no idle sleep while the given command runs."""
    return ("caffeinate", "-i", "cat")


class WindowsInhibitor(SleepInhibitor):
    """Holds by SetThreadExecutionState, which belongs to the calling thread: the window's."""

    ES_CONTINUOUS = 0x8000_0000
    ES_SYSTEM_REQUIRED = 0x0000_0001

    def __init__(self, set_state: Callable[[int], object]) -> None:
        self._set_state = set_state

    def hold(self, reason: str) -> None:
        """Require the system until further notice; Windows shows no reason."""
        self._set_state(self.ES_CONTINUOUS | self.ES_SYSTEM_REQUIRED)

    def release(self) -> None:
        """Require nothing."""
        self._set_state(self.ES_CONTINUOUS)


def sleep_inhibitor(
    parent: QObject, platform: str = sys.platform, find: Callable[[str], str | None] = shutil.which
) -> SleepInhibitor:
    """The inhibitor of this platform."""
    if sys.platform == "win32":
        import ctypes

        return WindowsInhibitor(ctypes.windll.kernel32.SetThreadExecutionState)
    if platform == "darwin" and find("caffeinate"):
        return HelperInhibitor(caffeinate_command, parent)
    # systemd-inhibit is there on machines that systemd does not run, containers among them; logind's socket is not.
    if platform.startswith("linux") and find("systemd-inhibit") and os.path.isdir("/run/systemd/system"):
        return HelperInhibitor(systemd_command, parent)
    return SleepInhibitor()
