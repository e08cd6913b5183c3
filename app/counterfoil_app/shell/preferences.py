"""The preferences."""

from __future__ import annotations

from pathlib import Path

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import (
    QCheckBox,
    QDialog,
    QDialogButtonBox,
    QFileDialog,
    QLabel,
    QPushButton,
    QSpinBox,
    QWidget,
)

from counterfoil import CounterfoilError, write_whole
from counterfoil_app.looks.engine_words import translate
from counterfoil_app.looks.language import LANGUAGES
from counterfoil_app.looks.tips import set_tip
from counterfoil_app.model.session import Session
from counterfoil_app.model.settings import (
    MAX_THREADS,
    MAX_WORKERS,
    MOST_KEY_MINUTES,
    TEXT_PERCENTS,
    Settings,
    ThemeChoice,
)
from counterfoil_app.model.settings_file import MAX_BYTES, Portable, export_settings, read_settings, take
from counterfoil_app.views import layouts
from counterfoil_app.views.frame import Body
from counterfoil_app.views.layouts import button, choices, existing_file, line_edit, new_file
from counterfoil_app.views.parts import caption, label
from counterfoil_core.base.inputs import read_input
from counterfoil_core.base.sentence import say

_KINDS = "*.json"


class PreferencesDialog(QDialog):
    """Shows the settings and stores them when the user agrees.

    Args:
        settings: What is shown and stored.
        session: Knows the devices.
    """

    stored = Signal()

    def __init__(self, settings: Settings, session: Session, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setWindowTitle(self.tr("Preferences"))
        self.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        self._settings = settings
        names = (self.tr("Like the system"), self.tr("Light"), self.tr("Dark"))
        self.theme = choices(zip(names, ThemeChoice, strict=True), settings.theme)
        languages = [(name, code) for code, name in LANGUAGES.items()]
        self.language = choices([(self.tr("Like the system"), ""), *languages], settings.language)
        sizes = [(self.tr("{0} %").format(percent), percent) for percent in TEXT_PERCENTS]
        self.text_size = choices(sizes, settings.text_percent)
        devices = [(device.name, device.name) for device in session.devices] or [(session.device, session.device)]
        self.device = choices(devices, session.device)
        self.threads = QSpinBox()
        self.threads.setRange(0, MAX_THREADS)
        self.threads.setSpecialValueText(self.tr("as many as there are cores"))
        self.threads.setValue(settings.threads or 0)
        self.workers = QSpinBox()
        self.workers.setRange(1, MAX_WORKERS)
        self.workers.setSpecialValueText(self.tr("none"))
        self.workers.setValue(settings.workers)
        set_tip(
            self.workers,
            self.tr(
                "Processes that replay segments side by side, each with memory for a step; they share the cores. The "
                "verdict is the same."
            ),
        )
        self.stay_awake = QCheckBox(self.tr("&Keep the computer awake during a replay"))
        self.stay_awake.setChecked(settings.stay_awake)
        self.notify = QCheckBox(self.tr("&Notify me at the end when the window is not in front"))
        self.notify.setChecked(settings.notify)
        self.key = line_edit(str(settings.key_file or ""), hint=self.tr("asked for at the first verdict"))
        choose = self.tr("Choose\u2026")
        self.browse_key = button(choose, self._choose_key, name=self.tr("Choose the private key file"))
        self.key_minutes = QSpinBox()
        self.key_minutes.setRange(0, MOST_KEY_MINUTES)
        self.key_minutes.setSpecialValueText(self.tr("locked after each use"))
        self.key_minutes.setSuffix(self.tr(" minutes"))
        self.key_minutes.setValue(settings.key_minutes)
        set_tip(
            self.key_minutes,
            self.tr(
                "How long after its last use a key needs no passphrase. It is kept in memory alone, and forgotten when "
                "the window is closed."
            ),
        )
        self.folder = line_edit(str(settings.folder))
        self.browse_folder = button(choose, self._choose_folder, name=self.tr("Choose the folder for bundles"))
        self.hint = label("", "muted")
        self.buttons = QDialogButtonBox(QDialogButtonBox.StandardButton.Ok | QDialogButtonBox.StandardButton.Cancel)
        self.ok = self.buttons.button(QDialogButtonBox.StandardButton.Ok)
        self.ok.setProperty("primary", True)
        action = QDialogButtonBox.ButtonRole.ActionRole
        self.bring = self.buttons.addButton(self.tr("&Import\u2026"), action)
        set_tip(self.bring, self.tr("Show the settings of a file here; they are stored with OK"))
        self.hand_on = self.buttons.addButton(self.tr("&Export\u2026"), action)
        set_tip(self.hand_on, self.tr("Write the stored settings to a file; folders, key and layout stay out"))
        self._brought: Portable | None = None

        for box in (self.threads, self.workers, self.key_minutes):
            box.setMinimumHeight(self.device.sizeHint().height())
        self._grid = layouts.grid(across=12, down=8)
        self._section(self.tr("Appearance"))
        self._row(self.tr("&Theme"), self.theme)
        self._row(self.tr("&Language"), self.language)
        self._row(self.tr("Text &size"), self.text_size)
        self._below(label(self.tr("Language and text size change at the next start."), "muted", wrap=False))
        self._section(self.tr("Replay"))
        self._row(self.tr("&Device"), self.device)
        self._row(self.tr("Threads on the &CPU"), self.threads)
        self._row(self.tr("&Workers"), self.workers)
        self._below(self.stay_awake)
        self._below(self.notify)
        self._section(self.tr("Files"))
        self._row(self.tr("&Private key"), self.key, self.browse_key)
        self._row(self.tr("Stays &unlocked"), self.key_minutes)
        self._row(self.tr("&Folder for bundles"), self.folder, self.browse_folder)
        column = layouts.fill(Body(self, self.buttons), self._grid, self.hint, 1, spacing=10)
        self.buttons.accepted.connect(self._store)
        self.buttons.rejected.connect(self.reject)
        self.bring.clicked.connect(self._import)
        self.hand_on.clicked.connect(self._export)
        for line in (self.key, self.folder):
            line.textChanged.connect(self._refresh)
        column.fit(self.fontMetrics().averageCharWidth() * 84)
        self._refresh()

    def _section(self, title: str) -> None:
        self._grid.addWidget(caption(title, "section"), self._grid.rowCount(), 0, 1, 3)

    def _row(self, name: str, field: QWidget, chooser: QPushButton | None = None) -> None:
        """A control under its name, whose letter leads to it."""
        row = self._grid.rowCount()
        field.setAccessibleName(name.replace("&", ""))
        title = QLabel(name)
        title.setBuddy(field)
        self._grid.addWidget(title, row, 0)
        self._grid.addWidget(field, row, 1, 1, 2 if chooser is None else 1)
        if chooser is not None:
            self._grid.addWidget(chooser, row, 2)

    def _below(self, field: QWidget) -> None:
        self._grid.addWidget(field, self._grid.rowCount(), 1, 1, 2)

    def _refresh(self) -> None:
        problem = ""
        if self.key.text() and not Path(self.key.text()).expanduser().is_file():
            problem = self.tr("There is no such key file.")
        elif not Path(self.folder.text()).expanduser().is_dir():
            problem = self.tr("There is no such folder.")
        self.hint.setText(problem)
        self.ok.setEnabled(not problem)

    def _choose_key(self) -> None:
        if path := existing_file(self, self.tr("Private key"), self.key.text(), "*.pem", here=True):
            self.key.setText(str(path))

    def _choose_folder(self) -> None:
        name = QFileDialog.getExistingDirectory(self, self.tr("Folder for bundles"), self.folder.text())
        if name:
            self.folder.setText(name)

    def _import(self) -> None:
        path = existing_file(self, self.tr("Import settings"), self._settings.folder, _KINDS, here=True)
        if path is None:
            return
        try:
            held = read_settings(read_input(path, say("a settings file"), CounterfoilError, most=MAX_BYTES))
        except CounterfoilError as error:
            self.hint.setText(f"{translate(error.sentence)} {translate(error.remedy)}")
            return
        self._brought = held
        for box, value in (
            (self.theme, held.theme), (self.language, held.language), (self.text_size, held.text_percent),
        ):  # fmt: skip
            box.setCurrentIndex(max(0, box.findData(value)))
        if self.device.findData(held.device) >= 0:  # one that is not here is not chosen
            self.device.setCurrentIndex(self.device.findData(held.device))
        self.threads.setValue(held.threads or 0)
        self.workers.setValue(held.workers)
        self.stay_awake.setChecked(held.stay_awake)
        self.notify.setChecked(held.notify)
        self.hint.setText(self.tr("These are the settings of {0}. OK stores them.").format(path.name))

    def _export(self) -> None:
        proposal = self._settings.folder / "counterfoil-settings.json"
        path = new_file(self, self.tr("Export settings"), proposal, _KINDS, here=True)
        if path is None:
            return
        try:
            write_whole(path, export_settings(self._settings), what=say("the settings"))
        except CounterfoilError as error:
            self.hint.setText(f"{translate(error.sentence)} {translate(error.remedy)}")
        else:
            self.hint.setText(self.tr("The stored settings were written to {0}.").format(path))

    def _store(self) -> None:
        settings = self._settings
        if self._brought is not None:
            take(self._brought, settings)
        settings.theme = self.theme.currentData()
        settings.language = self.language.currentData()
        settings.text_percent = self.text_size.currentData()
        settings.device = self.device.currentData()
        settings.threads = self.threads.value() or None
        settings.workers = self.workers.value()
        settings.stay_awake = self.stay_awake.isChecked()
        settings.notify = self.notify.isChecked()
        settings.key_file = Path(self.key.text()).expanduser() if self.key.text() else None
        settings.key_minutes = self.key_minutes.value()
        settings.folder = Path(self.folder.text()).expanduser()
        self.stored.emit()
        self.accept()
