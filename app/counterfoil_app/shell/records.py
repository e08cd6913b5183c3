"""What the window writes down for a report: its log, and each unexpected error. Both stay on this machine.

They lie in the user's state folder, for nobody else to read. Nothing of them is ever sent.
"""

from __future__ import annotations

import faulthandler
import logging
import os
from collections.abc import Callable
from contextlib import suppress
from datetime import datetime
from io import TextIOWrapper
from logging.handlers import RotatingFileHandler
from pathlib import Path
from typing import TextIO

from PySide6.QtCore import QObject

from counterfoil import write_whole
from counterfoil.base.seal import state_home
from counterfoil_app.engine import strangers
from counterfoil_app.engine.worker import Failure
from counterfoil_app.model.journal import Journal
from counterfoil_app.shell.help import versions_text
from counterfoil_core.base.sentence import say

LOG_NAME = "window.log"
LOG_BYTES, LOG_FILES = 2**20, 3
"""Longest log file, and how many earlier ones are kept."""
FAULTS_NAME = "ended.log"
REPORT = "error-{0}.txt"
MOST_REPORTS = 20
"""Reports that are kept: beyond it the oldest go."""
MOST_CHARACTERS = 200_000
_JOURNAL_LINES = 50
_LOGGER = "counterfoil.window"


def records_folder() -> Path:
    """Return the folder of this user's logs and reports."""
    return state_home() / "window"


class Records(QObject):
    """Writes the journal to a log with rotation, and each unexpected error to a file of its own.

    What cannot be written is not: the window goes on without.

    Args:
        journal: What is logged.
        folder: Where it is written; it is made.
        now: Gives the local time.
    """

    def __init__(
        self,
        journal: Journal,
        folder: Path,
        parent: QObject | None = None,
        now: Callable[[], datetime] = datetime.now,
    ) -> None:
        super().__init__(parent)
        self.folder = folder
        self._journal = journal
        self._now = now
        self._faults: TextIO | None = None
        self._handler: logging.Handler | None = None
        self._logger = logging.getLogger(_LOGGER)
        try:
            folder.mkdir(parents=True, exist_ok=True, mode=0o700)
            handler = _Quiet(
                folder / LOG_NAME,
                maxBytes=LOG_BYTES,
                backupCount=LOG_FILES,
                encoding="utf-8",
                errors="backslashreplace",
            )
        except OSError as error:
            self._logger.info("no log is written: %s", error)
            return
        handler.setFormatter(logging.Formatter("%(message)s"))
        # By itself: what the command line shows of the log is no affair of this one.
        self._logger.propagate = False
        self._logger.setLevel(logging.INFO)
        self._logger.addHandler(handler)
        self._handler = handler
        journal.added.connect(self._write)

    def watch_faults(self) -> Path | None:
        """Let the interpreter write where it was when a signal ends this process, such as a segmentation fault.

        Returns:
            What was written so of an earlier start, kept among the reports now; None where there is none.
        """
        place, earlier = self.folder / FAULTS_NAME, None
        with suppress(OSError):
            if place.is_file() and place.stat().st_size:
                earlier = place.replace(self._report())
        with suppress(OSError):
            if not faulthandler.is_enabled():  # whoever runs this may watch by itself
                self._faults = open(place, "a", encoding="utf-8")  # noqa: SIM115 - open to the end
                faulthandler.enable(self._faults)
        return earlier

    def _report(self) -> Path:
        return self.folder / REPORT.format(self._now().strftime("%Y%m%d-%H%M%S-%f"))

    def keep(self, failure: Failure) -> Path | None:
        """Write an unexpected error to a file with versions and the last lines of the log; None where that fails."""
        lines = [entry.line for entry in self._journal][-_JOURNAL_LINES:]
        text = "\n\n".join([failure.sentence, failure.detail, versions_text(), "\n".join(lines)])
        path = self._report()
        try:
            self.folder.mkdir(parents=True, exist_ok=True, mode=0o700)
            data = strangers.lines(text)[:MOST_CHARACTERS].encode("utf-8", "backslashreplace")
            write_whole(path, data + b"\n", what=say("the report"), mode=0o600)
            for old in sorted(self.folder.glob(REPORT.format("*")))[:-MOST_REPORTS]:
                old.unlink(missing_ok=True)
        except Exception as error:  # an error about an error helps nobody
            self._logger.info("the report was not written: %s", error)
            return None
        return path

    def close(self) -> None:
        """Close the files."""
        if self._handler is not None:
            self._journal.added.disconnect(self._write)
            self._logger.removeHandler(self._handler)
            self._handler.close()
            self._handler = None
        if self._faults is not None:
            faulthandler.disable()
            self._faults.close()
            self._faults = None
            with suppress(OSError):
                if not os.path.getsize(self.folder / FAULTS_NAME):
                    os.unlink(self.folder / FAULTS_NAME)

    def _write(self) -> None:
        self._logger.info("%s", self._journal[len(self._journal) - 1].line)


class _Quiet(RotatingFileHandler):
    """A full disk makes the log shorter, and nothing else."""

    def _open(self) -> TextIOWrapper:
        """Open the file for this user alone."""
        handle = os.open(self.baseFilename, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o600)
        return open(handle, "a", encoding=self.encoding, errors=self.errors)

    def handleError(self, record: logging.LogRecord) -> None:  # noqa: N802 - its name
        """Say nothing: where it is said it would be logged."""
