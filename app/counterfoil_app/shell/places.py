"""What lies elsewhere: a file at an address, which is copied and opened, and a machine that the engine works on."""

from __future__ import annotations

import subprocess
import time
from collections.abc import Callable, Iterable
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from PySide6.QtCore import QObject, Signal
from PySide6.QtWidgets import QDialog, QDialogButtonBox, QProgressBar, QWidget

from counterfoil import CancelToken, CounterfoilError
from counterfoil.talk.programs import program_command, program_environment
from counterfoil_app.engine.elsewhere import SCHEME, Elsewhere, FarEngine
from counterfoil_app.engine.port import Engine, FetchProgress
from counterfoil_app.engine.worker import Failure
from counterfoil_app.looks import text
from counterfoil_app.looks.engine_words import failure_text
from counterfoil_app.model.inquiry import Inquiry, share_of
from counterfoil_app.model.orders import Aside
from counterfoil_app.model.progress import RateMeter
from counterfoil_app.shell.actions import Face, Row
from counterfoil_app.views import layouts
from counterfoil_app.views.frame import Body
from counterfoil_app.views.parts import caption, label, open_dialog
from counterfoil_core.base.sentence import say
from counterfoil_core.remote.address import Address, place_of

if TYPE_CHECKING:
    from counterfoil_app.model.settings import Settings

WIDTH = 620


class Reaching(Inquiry[FetchProgress]):
    """Reaches what lies elsewhere, in a worker of its own.

    Attributes:
        progress: How much of a file has come; None where nothing has.
        seconds_left: How long the rest takes at the speed of the last seconds; None while nobody knows.
        reached: Whether it was.
    """

    def reach(self, question: Callable[[Engine, CancelToken], Iterable[object]]) -> None:
        """Begin; :attr:`changed` follows."""
        self._asked = question
        self.start()

    def _forget(self) -> None:
        super()._forget()
        self.progress: FetchProgress | None = None
        self.seconds_left: float | None = None
        self._rate = RateMeter()
        self.reached = False

    def _question(self, token: CancelToken) -> Callable[[Engine], object]:
        asked, seen = self._asked, self._seen

        def ask(engine: Engine) -> bool:
            for told in asked(engine, token):
                if isinstance(told, FetchProgress):
                    seen.put(told)
            token.check()
            return True

        return ask

    def _show(self, seen: FetchProgress) -> None:
        self.progress, self.share = seen, share_of(seen)
        self._rate.note(time.monotonic(), seen.done)
        self.seconds_left = self._rate.seconds_left(seen.total) if seen.total else None

    def _answer(self, value: object) -> None:
        self.reached = value is True


class PlaceDialog(QDialog):
    """A line for an address, and what comes of it.

    Args:
        title: What the window says above it.
        intro: What can be written, in a sentence.
        hint: An example.
        start: What the button says.
        reaching: Reaches it.
    """

    wanted = Signal(str)

    def __init__(
        self, title: str, intro: str, hint: str, start: str, reaching: Reaching, parent: QWidget | None = None
    ) -> None:
        super().__init__(parent)
        self.setWindowTitle(title)
        self.reaching = reaching
        self.line = layouts.line_edit(name=title, hint=hint, most=2000)
        self.said = label()
        self.said.setAccessibleName(self.tr("What came of it"))
        self.bar = QProgressBar()
        self.bar.setAccessibleName(self.tr("Progress"))
        self.buttons = QDialogButtonBox(QDialogButtonBox.StandardButton.Cancel)
        self.start = self.buttons.addButton(start, QDialogButtonBox.ButtonRole.AcceptRole)
        self.start.setProperty("primary", True)
        self.buttons.rejected.connect(self.reject)
        self.start.clicked.connect(lambda: self.wanted.emit(self.line.text().strip()))
        self.line.textChanged.connect(self._refresh)
        reaching.changed.connect(self._refresh)
        body = Body(self, self.bar, self.buttons)
        layouts.fill(body, caption(intro), self.line, self.said, 1, spacing=10).fit(WIDTH)
        self._refresh()

    def show_failure(self, failure: Failure) -> None:
        """Say why it was not reached, and what to do."""
        self.said.setText(failure_text(failure))

    def done(self, result: int) -> None:
        """Stop when it is closed."""
        self.reaching.stop()
        super().done(result)

    def _refresh(self) -> None:
        working, failure = self.reaching.working, self.reaching.failure
        self.bar.setVisible(working)
        self.bar.setRange(0, 0 if self.reaching.share is None else 1000)
        self.bar.setValue(int(1000 * (self.reaching.share or 0)))
        self.bar.setFormat(self._how_far())
        self.line.setEnabled(not working)
        self.start.setEnabled(bool(self.line.text().strip()) and not working)
        if failure is not None:
            self.show_failure(failure)
        elif working or not self.said.text():
            self.said.setText("")
        if self.reaching.reached:
            self.accept()

    def _how_far(self) -> str:
        """Percent, bytes, and the time that is left."""
        progress, left = self.reaching.progress, self.reaching.seconds_left
        if progress is None:
            return ""
        said = text.size(progress.done)
        if progress.total:
            said = self.tr("{0} %: {1} of {2}").format(
                int(100 * progress.done / progress.total), said, text.size(progress.total)
            )
        return said if left is None else self.tr("{0}, {1} left").format(said, text.duration(left))


class PlaceDesk(QObject):
    """Opens files by their addresses, and a window whose engine works on another machine.

    Args:
        engine: Fetches, in a process of its own.
        settings: Know the folder where copies go.
        window: The window that the dialogs belong to.
    """

    fetched = Signal(list)
    """Files that were copied here."""

    def __init__(self, engine: Engine, settings: Settings, window: QWidget) -> None:
        super().__init__(window)
        self._engine, self._settings, self._window = engine, settings, window

    def rows(self) -> list[Row]:
        """Its part of the window's action table."""
        address = Face(
            self.tr("Open &address\u2026"),
            "open",
            self.tr("Copy a file from a web server or an object store, and open it"),
        )
        machine = Face(
            self.tr("Connect to mac&hine\u2026"),
            tip=self.tr("Open a window whose engine works on another machine, which has the files"),
        )
        return [
            Row("open_address", address, self.ask_address, "Ctrl+Alt+O"),
            Row("connect", machine, self.ask_machine, "Ctrl+Alt+M"),
        ]

    def ask_address(self) -> PlaceDialog:
        """Ask for an address; what lies there is copied beside what was opened last, and opened."""
        intro = self.tr(
            "The address of a file: https://, http:// or s3://. It is copied into {0}, and then opened as any file is."
        )
        dialog = self._dialog(
            self.tr("Open address"),
            intro.format(self._settings.folder),
            "https://example.org/run.cfoil",
            self.tr("&Open"),
        )
        dialog.wanted.connect(partial(self._reach, dialog))
        return dialog

    def ask_machine(self) -> PlaceDialog:
        """Ask for a machine; a window of its own works there once it is reached."""
        intro = self.tr(
            "A machine that ssh reaches without a password, and on which Counterfoil of this version is installed. A "
            "window of its own opens: its files are those of that machine, your keys stay here."
        )
        hint = "ssh://user@host"
        dialog = self._dialog(self.tr("Connect to machine"), intro, hint, self.tr("&Connect"))
        dialog.wanted.connect(partial(self._reach, dialog))
        return dialog

    def _dialog(self, title: str, intro: str, hint: str, start: str) -> PlaceDialog:
        another = self._engine.another()
        aside = Aside(another, self)
        reaching = Reaching(aside.ask)
        dialog = PlaceDialog(title, intro, hint, start, reaching, self._window)
        reaching.setParent(dialog)
        dialog.finished.connect(lambda _result: aside.let_go(another.close))
        open_dialog(dialog)
        return dialog

    def _reach(self, dialog: PlaceDialog, address: str) -> None:
        """An address or a machine: whichever was written, wherever it was asked for."""
        try:
            if address.startswith(SCHEME):
                far = FarEngine(Elsewhere.read(address))
                dialog.accepted.connect(partial(_open_window, address))
                dialog.reaching.reach(lambda _engine, _token: _greet(far))
                return
            place = place_of(address)
            if not isinstance(place, Address):
                raise CounterfoilError(
                    say("{0} is no address.", address),
                    remedy=say("Write https://, http:// or s3://, or ssh:// for a machine; a file here is opened by "
                               "Open."),
                )  # fmt: skip
        except CounterfoilError as error:
            dialog.show_failure(Failure.of(error))
            return
        target = _free(self._settings.folder / place.name)
        dialog.accepted.connect(lambda: self.fetched.emit([target]))
        dialog.reaching.reach(lambda engine, token: engine.fetch(address, target, token))


def _greet(far: FarEngine) -> tuple[()]:
    try:
        far.version()
    finally:
        far.close()
    return ()


def _open_window(text: str) -> None:
    """Start a window that works on a machine, and outlives this one."""
    command = program_command("counterfoil.cli.app", "gui", "--engine", text)
    subprocess.Popen(command, env=program_environment(), start_new_session=True)


def _free(path: Path) -> Path:
    """A name that no file has yet."""
    number, found = 1, path
    while found.exists():
        number += 1
        found = path.with_name(f"{path.stem}-{number}{path.suffix}")
    return found
