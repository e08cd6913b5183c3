"""What is asked before a run is recorded, or a recording is followed."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from PySide6.QtCore import Signal
from PySide6.QtWidgets import (
    QCheckBox,
    QComboBox,
    QDialog,
    QDialogButtonBox,
    QGridLayout,
    QLabel,
    QLineEdit,
    QPushButton,
    QWidget,
)

from counterfoil import Device, Role
from counterfoil.training.recordingfolder import recorded_run, recording_folder
from counterfoil_app.engine.recordings import KnownFollow, RecordRequest
from counterfoil_app.looks.tips import set_tip
from counterfoil_app.model.key_book import KeyBook
from counterfoil_app.model.recordings import Recording
from counterfoil_app.model.unlocked_keys import UnlockedKeys
from counterfoil_app.views import layouts
from counterfoil_app.views.frame import Body
from counterfoil_app.views.layouts import choices, line_edit
from counterfoil_app.views.parts import caption, label
from counterfoil_app.views.passphrase_line import PassphraseLine

WIDTH = 720


@dataclass(frozen=True)
class Wanted:
    """What the user wants to be recorded or followed."""

    recording: Recording | None  #: What is recorded here; None where a recording is only followed.
    follow: KnownFollow | None  #: What is followed; None where a run is only recorded.


class _Form(QDialog):
    """Questions below each other: a name, a line, and a button that chooses a file."""

    def __init__(self, title: str, start: str, devices: Sequence[Device], device: str, folder: Path) -> None:
        super().__init__()
        self.setWindowTitle(title)
        self._folder = folder
        self.hint = label("", "hint")
        self.buttons = QDialogButtonBox(QDialogButtonBox.StandardButton.Ok | QDialogButtonBox.StandardButton.Cancel)
        self.ok = self.buttons.button(QDialogButtonBox.StandardButton.Ok)
        self.ok.setText(start)
        self.ok.setProperty("primary", True)
        self.buttons.accepted.connect(self.accept)
        self.buttons.rejected.connect(self.reject)
        self.device = choices(
            [(each.name if each.title == each.name else f"{each.name}: {each.title}", each.name) for each in devices]
            or [(device, device)],
            device,
            name=self.tr("Device"),
        )
        self._grid: QGridLayout = layouts.grid(down=7)
        self._grid.setColumnStretch(1, 1)
        self._rows = 0

    def ask(self, name: str, line: QWidget, choose: QPushButton | None = None) -> QLabel:
        """Add a question; returns the label that names it."""
        named = caption(name, wrap=False)
        named.setBuddy(line)
        self._grid.addWidget(named, self._rows, 0)
        self._grid.addWidget(line, self._rows, 1, 1, 1 if choose is not None else 2)
        if choose is not None:
            self._grid.addWidget(choose, self._rows, 2)
        self._rows += 1
        return named

    def ask_path(
        self,
        name: str,
        hint: str,
        kinds: str,
        *,
        new: bool = False,
        folder: bool = False,
        here: bool = False,
        may_be_new: Callable[[], bool] = lambda: False,
    ) -> QLineEdit:
        """Add a question for a file or a folder; returns the line with its path."""
        plain = name.replace("&", "")
        line = line_edit(name=plain, hint=hint)
        line.textChanged.connect(self.refresh)

        def choose() -> None:
            start = Path(line.text()).parent if line.text() else self._folder
            if folder:
                found = layouts.existing_folder(self, plain, start)
            elif new or may_be_new():
                found = layouts.new_file(self, plain, line.text() or start, kinds, here=here)
            else:
                found = layouts.existing_file(self, plain, start, kinds, here=here)
            if found is not None:
                self._folder = found.parent
                line.setText(str(found))

        button = layouts.button(self.tr("Choose\u2026"), choose, name=self.tr("Choose: {0}").format(plain))
        self.ask(name, line, button)
        return line

    def arrange(self, intro: str, *below: QWidget) -> None:
        """Lay all out."""
        column = layouts.fill(Body(self, self.hint, self.buttons), label(intro), self._grid, *below, 1, spacing=12)
        self.refresh()
        column.fit(WIDTH)

    def refresh(self) -> None:
        """Say what is still missing."""
        problem = self.problem()
        self.ok.setEnabled(not problem)
        self.hint.setText(problem or self.advice())

    def problem(self) -> str:
        """Why it cannot begin; empty where it can."""
        raise NotImplementedError

    def advice(self) -> str:
        """What is good to know before it begins."""
        return ""


def path_of(line: QLineEdit, *, here: bool = False) -> Path | None:
    """The path in a line; None in an empty one.

    Args:
        line: The line.
        here: Whether it is one of this machine also where the engine is on another one, whose paths are as they are.
    """
    text = line.text().strip()
    if not text:
        return None
    return Path(text) if layouts.is_elsewhere() and not here else Path(text).expanduser().absolute()


class RecordForm(_Form):
    """Asks which order is recorded, where to, and with which key.

    Args:
        devices: The devices of this machine.
        device: The one that is chosen.
        folder: Where a dialog starts.
        last: What was recorded before, to be gone on with.
        order: The order, where it is known which.
        key: The trainer's private key; where there is none of this name, a new one is proposed.
    """

    wanted = Signal(Wanted)

    def __init__(
        self,
        devices: Sequence[Device],
        device: str,
        folder: Path,
        unlocked: UnlockedKeys,
        last: Recording | None = None,
        *,
        order: Path | None = None,
        key: Path | None = None,
    ) -> None:
        super().__init__("", "", devices, device, folder)
        self.setWindowTitle(self.tr("Record an order"))
        self.ok.setText(self.tr("&Start"))
        files = self.tr("Counterfoil files (*.cfoil)")
        self.order = self.ask_path(self.tr("The client's &order"), "job.cfoil", files)
        self.run = self.ask_path(self.tr("The r&un, when it is finished"), "run.cfoil", files, new=True)
        self.key = self._ask_key()
        self.makes_key = QCheckBox(self.tr("&Make a new key of this name"))
        set_tip(
            self.makes_key, self.tr("It says who trained: whoever is to believe that needs its public key from you")
        )
        self._grid.addWidget(self.makes_key, self._rows, 1, 1, 2)
        self._rows += 1
        self.passphrase = PassphraseLine(unlocked, self._existing_key)
        self.ask(self.tr("&Passphrase"), self.passphrase)
        self.repeat = line_edit(name=self.tr("Passphrase again"))
        self.repeat.setEchoMode(QLineEdit.EchoMode.Password)
        self._repeat_title = self.ask(self.tr("Passphrase a&gain"), self.repeat)
        for line in (self.passphrase, self.repeat):
            line.textChanged.connect(self.refresh)
        self.makes_key.toggled.connect(self.refresh)
        heads = self.tr("Tree heads (*.jsonl)")
        self.heads = self.ask_path(
            self.tr("Tree &heads, to be published"), self.tr("empty: none are published"), heads, new=True
        )
        self.data = self.ask_path(
            self.tr("Da&ta file"), self.tr("only for an order that names one"), self.tr("Data (*)")
        )
        self.ask(self.tr("&Device"), self.device)
        self.beside = QCheckBox(self.tr("&Replay it beside the recording, on the same device"))
        self.order.editingFinished.connect(self._propose)
        if key is not None:
            self.key.setText(str(key))
            self.makes_key.setChecked(not key.exists())
        if last is not None:
            self._fill(last)
        if order is not None:
            self.order.setText(str(order))
            self._propose()
        self.arrange(
            self.tr(
                "Every step is kept as soon as it is finished: whatever stops the recording, it goes on from there. "
                "The run appears when the last step is done, signed with your key."
            ),
            self.beside,
        )
        self.accepted.connect(lambda: self.wanted.emit(self.request()))
        if order is not None and self.ok.isEnabled():
            self.ok.setFocus()
        else:
            (self.passphrase if last is not None else self.order).setFocus()

    def _ask_key(self) -> QLineEdit:
        """Add the question for the key: one that is there, or where a new one goes."""
        name, kinds = self.tr("Your private &key, as the trainer"), self.tr("Private keys (*.pem)")
        return self.ask_path(name, "trainer.pem", kinds, here=True, may_be_new=lambda: self.makes_key.isChecked())

    def _existing_key(self) -> Path | None:
        return None if self.makes_key.isChecked() else path_of(self.key, here=True)

    def _fill(self, last: Recording) -> None:
        asked = last.request
        for line, path in (
            (self.order, asked.order),
            (self.run, asked.run),
            (self.key, last.private_key),
            (self.heads, asked.heads),
            (self.data, asked.data),
        ):
            line.setText("" if path is None else str(path))
        self.makes_key.setChecked(last.create and not last.private_key.exists())

    def refresh(self) -> None:
        """Ask for the passphrase of a new key twice."""
        create = self.makes_key.isChecked()
        for part in (self.repeat, self._repeat_title):
            part.setVisible(create)
        self.passphrase.refresh()
        super().refresh()

    def _propose(self) -> None:
        """Propose a run beside the order."""
        order = path_of(self.order)
        if order is not None and not self.run.text():
            self.run.setText(str(order.with_name(f"{order.stem}.run.cfoil")))

    def problem(self) -> str:
        """Why it cannot begin."""
        if path_of(self.order) is None or path_of(self.run) is None or path_of(self.key) is None:
            return self.tr("Say which order is recorded, where the run goes, and with which key it is signed.")
        named = [path for path in map(path_of, (self.order, self.run, self.key, self.heads, self.data)) if path]
        if len(set(named)) < len(named):
            return self.tr("Each of them is a file of its own.")
        return self._problem_of_key()

    def _problem_of_key(self) -> str:
        key = path_of(self.key, here=True)
        assert key is not None
        if not self.makes_key.isChecked():
            return "" if key.is_file() else self.tr("There is no such key file.")
        if key.exists():
            return self.tr("There is a file of this name already; a key is never overwritten.")
        if self.passphrase.text() != self.repeat.text():
            return self.tr("The two passphrases differ.")
        return ""

    def advice(self) -> str:
        """Where the recording lies."""
        run = path_of(self.run)
        folder = "" if run is None else str(recording_folder(run))
        return self.tr("Until then it lies in {0}. A recording that lies there already is gone on with.").format(folder)

    def request(self) -> Wanted:
        """What the user wants."""
        order, run, key = path_of(self.order), path_of(self.run), path_of(self.key, here=True)
        assert order is not None
        assert run is not None
        assert key is not None
        device, data, heads = str(self.device.currentData()), path_of(self.data), path_of(self.heads)
        asked = RecordRequest(order, run, "", data=data, heads=heads, device=device)
        follow = KnownFollow(recording_folder(run), run, order, device=device, data=data)
        recording = Recording(asked, key, self.passphrase.passphrase, create=self.makes_key.isChecked())
        return Wanted(recording, follow if self.beside.isChecked() else None)


class FollowForm(_Form):
    """Asks which recording is followed, and by which order it is judged."""

    wanted = Signal(Wanted)

    def __init__(self, devices: Sequence[Device], device: str, folder: Path, book: KeyBook) -> None:
        super().__init__("", "", devices, device, folder)
        self.setWindowTitle(self.tr("Follow a recording"))
        self.ok.setText(self.tr("&Follow"))
        self.folder = self.ask_path(self.tr("The folder of the &recording"), ".run.cfoil.recording", "", folder=True)
        files = self.tr("Counterfoil files (*.cfoil)")
        self.order = self.ask_path(self.tr("The &order, as you, the client, kept it"), "job.cfoil", files)
        trainers = [(key.name, key.public) for key in book.keys if key.role is Role.TRAINER and key.name]
        self.trainer: QComboBox = choices([(self.tr("not known"), ""), *trainers], "", name=self.tr("The trainer"))
        self.ask(self.tr("The &trainer"), self.trainer)
        heads = self.tr("Tree heads (*.jsonl)")
        self.heads = self.ask_path(self.tr("Tree &heads that came in"), self.tr("empty: none are compared"), heads)
        self.data = self.ask_path(
            self.tr("D&ata file"), self.tr("only for an order that names one"), self.tr("Data (*)")
        )
        self.ask(self.tr("&Device"), self.device)
        self.replays = QCheckBox(self.tr("Re&play each step beside it, and stop at the first lie"))
        self.replays.setChecked(True)
        self.replays.toggled.connect(self.refresh)
        self.arrange(
            self.tr(
                "The folder may lie on this machine or on a server whose disk is mounted here. It is only read. It "
                "need not be there yet: the beginning is waited for."
            ),
            self.replays,
        )
        self.accepted.connect(lambda: self.wanted.emit(self.request()))
        self.folder.setFocus()

    def problem(self) -> str:
        """Why it cannot begin."""
        if path_of(self.folder) is None or path_of(self.order) is None:
            return self.tr("Say where the recording lies, and which order it is of.")
        return ""

    def advice(self) -> str:
        """What comes of it."""
        if self.replays.isChecked():
            return self.tr("When the run is finished it is audited: what was replayed by then counts.")
        return self.tr("It is only watched: nothing is said of whether a step is what was ordered.")

    def request(self) -> Wanted:
        """What the user wants."""
        folder, order = path_of(self.folder), path_of(self.order)
        assert folder is not None
        assert order is not None
        run = recorded_run(folder)
        return Wanted(
            None,
            KnownFollow(
                recording_folder(run),
                run,
                order,
                device=str(self.device.currentData()),
                data=path_of(self.data),
                heads=path_of(self.heads),
                replays=self.replays.isChecked(),
                trainer=str(self.trainer.currentData()),
            ),
        )
