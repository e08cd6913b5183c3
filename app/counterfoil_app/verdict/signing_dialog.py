"""Asks with which key a verdict or an adjudication is signed and what is written, and shows exactly what is signed."""

from __future__ import annotations

import json
from dataclasses import replace
from functools import partial
from pathlib import Path

from PySide6.QtCore import QSize
from PySide6.QtWidgets import (
    QCheckBox,
    QFileDialog,
    QGridLayout,
    QLabel,
    QLineEdit,
    QPlainTextEdit,
    QRadioButton,
    QTabWidget,
    QWidget,
)

from counterfoil import AuditReport
from counterfoil_app.engine.port import Signable
from counterfoil_app.engine.worker import Failure
from counterfoil_app.looks.engine_words import translate
from counterfoil_app.looks.fonts import fixed_font, scale
from counterfoil_app.looks.theme import Theme
from counterfoil_app.model.unlocked_keys import UnlockedKeys
from counterfoil_app.verdict.export import SigningRequest, Unsigned
from counterfoil_app.verdict.matter import matter_of, titles
from counterfoil_app.verdict.report_document import Case
from counterfoil_app.views import layouts
from counterfoil_app.views.dialogs import ask_to_replace
from counterfoil_app.views.frame import Body, Head, fit_to_screen
from counterfoil_app.views.parts import FieldGrid, Page, caption, label, show_icon
from counterfoil_app.views.passphrase_line import PassphraseLine
from counterfoil_app.views.work_dialog import WorkDialog
from counterfoil_core.base.errors import FileWriteError
from counterfoil_core.signing.publickeys import others_can_read

ICON_PIXELS = 32
SIZE = (860, 680)
LEAST_PREVIEW = 150
"""Height of what is signed; where there is less, the dialog scrolls."""


class CaseFields(QWidget):
    """Asks for the case; all of it may stay empty."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        grid = self._grid = layouts.grid(inside=self, across=12)
        self.number = self._line(self.tr("Case number"))
        self.client = self._line(self.tr("Client's name"))
        self.trainer = self._line(self.tr("Trainer's name"))
        self.auditor = self._line(self.tr("Auditor's name"))
        note = caption(self.tr("For the head of the report. The signed verdict does not hold it."), "muted")
        grid.addWidget(note, grid.rowCount(), 0, 1, 2)
        grid.setRowStretch(grid.rowCount(), 1)

    def _line(self, name: str) -> QLineEdit:
        line = layouts.line_edit(name=name, most=200)
        row = self._grid.rowCount()
        self._grid.addWidget(caption(name, wrap=False), row, 0)
        self._grid.addWidget(line, row, 1)
        return line

    def show_case(self, case: Case) -> None:
        """Name what was named before."""
        for line, named in zip(self._lines, (case.number, case.client, case.trainer, case.auditor), strict=True):
            line.setText(named)

    @property
    def _lines(self) -> tuple[QLineEdit, ...]:
        return self.number, self.client, self.trainer, self.auditor

    def case(self) -> Case:
        """What was named."""
        return Case(*(line.text().strip() for line in self._lines))


class SigningDialog(WorkDialog):
    """Asks with which key a report is signed, and where that goes: :meth:`request`.

    Args:
        report: What will be signed.
        key: A private key file to offer; None offers to create one.
        folder: Folder for a new key; not that of the bundle, which others see.
        target: Where the signed file goes unless the user says otherwise.
        reads: The files that are open: nothing is written over them.
        unlocked: The keys that are unlocked.
        theme: The theme of the application.
    """

    def __init__(
        self,
        report: Signable,
        key: Path | None,
        folder: Path,
        target: Path,
        reads: tuple[Path, ...],
        unlocked: UnlockedKeys,
        theme: Theme,
        parent: QWidget | None = None,
    ) -> None:
        super().__init__(parent)
        title, self._file = titles(report)
        self.setWindowTitle(title)
        self._theme = theme
        self._reads = reads
        self._bundle_folder = target.absolute().parent
        self._ring_problem = self.tr("Looking for the key ring of the system.")
        self._preview_problem = ""
        self._agreed: tuple[Path, ...] = ()
        self._unsigned: Unsigned | None = None
        self.key = self._line(str(key if key is not None else folder / "auditor.pem"), self.tr("Private key file"))
        self.use_existing = QRadioButton(self.tr("Sign with my &key"))
        self.create_new = QRadioButton(self.tr("Create a &new key"))
        choose = self.tr("Choose\u2026")
        self.browse_key = layouts.button(choose, self._choose_key, name=self.tr("Choose the private key file"))
        self.passphrase = PassphraseLine(unlocked, self._existing_key)
        self.repeat = self._line("", self.tr("Passphrase again"))
        self.repeat.setEchoMode(QLineEdit.EchoMode.Password)
        self._repeat_label = label(self.tr("Passphrase again"), wrap=False)
        self.remember = QCheckBox(self.tr("Remember the passphrase in the key &ring of the system"))
        self.remember.setEnabled(False)
        self._ring_note = label("", "muted")
        self.target = self._line(str(target), self._file)
        self.browse_target = layouts.button(choose, self._choose_target, name=self.tr("Choose the file to be signed"))
        self.report = QCheckBox(self.tr("A report to &print (PDF)"))
        self.report.setChecked(True)
        self.table = QCheckBox(self.tr("The &table of steps (CSV)"))
        self._tabled = isinstance(report, AuditReport)
        self._beside = label("", "muted")
        self.statement = QPlainTextEdit()
        self.case = CaseFields()
        self.ok.setText(self.tr("Sign and save"))
        self.head = Head(self._headline())
        layouts.fill(
            Body(self, self.hint, self.buttons, above=self.head), (self._preview(), 1), self._questions(), spacing=12
        )
        fit_to_screen(self, QSize(*map(scale, SIZE)))
        self._connect()
        (self.create_new if key is None else self.use_existing).setChecked(True)
        self._refresh()
        self.passphrase.setFocus()

    # Making

    def _headline(self) -> QWidget:
        self._icon = QLabel()
        self.what = label(self.tr("The statement is being prepared."))
        self._limits = label("", "muted")
        self._limits.hide()
        head = QWidget()
        said = layouts.column(self.what, self._limits, spacing=4)
        layouts.row(self._icon, (said, 1), inside=head, margins=layouts.NONE, spacing=12)
        return head

    def _preview(self) -> QTabWidget:
        readable = Page(self.tr("The statement in words"))
        self._said = FieldGrid()
        layouts.fill(readable.column, self._said, 1)
        self.statement.setReadOnly(True)
        self.statement.setAccessibleName(self.tr("The statement as JSON"))
        self.statement.setFont(fixed_font())
        tabs = QTabWidget()
        tabs.setMinimumHeight(scale(LEAST_PREVIEW))
        tabs.tabBar().setAccessibleName(self.tr("What is signed"))
        tabs.addTab(readable, self.tr("What is signed, in &words"))
        tabs.addTab(self.statement, self.tr("The same as &JSON"))
        tabs.addTab(self.case, self.tr("C&ase and parties"))
        return tabs

    def _questions(self) -> QGridLayout:
        choice = layouts.row(self.use_existing, self.create_new, 1, spacing=24)
        ring = layouts.row(self.remember, (self._ring_note, 1), spacing=16)
        also = layouts.row(self.report, self.table, 1, spacing=24)
        grid = layouts.grid(down=7)
        grid.addLayout(choice, 0, 0, 1, 3)
        grid.addWidget(label(self.tr("Private key"), wrap=False), 1, 0)
        grid.addWidget(self.key, 1, 1)
        grid.addWidget(self.browse_key, 1, 2)
        grid.addWidget(label(self.tr("Passphrase"), wrap=False), 2, 0)
        grid.addWidget(self.passphrase, 2, 1, 1, 2)
        grid.addWidget(self._repeat_label, 3, 0)
        grid.addWidget(self.repeat, 3, 1, 1, 2)
        grid.addLayout(ring, 4, 1, 1, 2)
        grid.addWidget(label(self._file, wrap=False), 5, 0)
        grid.addWidget(self.target, 5, 1)
        grid.addWidget(self.browse_target, 5, 2)
        companions = label(self.tr("Also write"), wrap=False)
        grid.addWidget(companions, 6, 0)
        grid.addLayout(also, 6, 1, 1, 2)
        grid.addWidget(self._beside, 7, 1, 1, 2)
        self.table.setVisible(self._tabled)
        return grid

    def _line(self, content: str, name: str) -> QLineEdit:
        return layouts.line_edit(content, name=name)

    def _existing_key(self) -> Path | None:
        return None if self.create_new.isChecked() else Path(self.key.text()).expanduser()

    def _connect(self) -> None:
        for box in (self.use_existing, self.report, self.table):
            box.toggled.connect(self._refresh)
        for line in (self.key, self.passphrase, self.repeat, self.target):
            line.textChanged.connect(self._refresh)
            line.textEdited.connect(self._edited)

    # Signing

    def _want(self) -> None:
        """Ask for a signature; files that are in the way are replaced only if the user agrees."""
        found = self.request().in_the_way
        if found and found != self._agreed:
            ask_to_replace(self, found, partial(self._agree, found))
            return
        super()._want()

    def _agree(self, found: tuple[Path, ...]) -> None:
        self._agreed = found
        self._want()

    def end(self, failure: Failure | None) -> None:
        """Close when it is signed; otherwise say why not, with the keyboard where it most often lies."""
        super().end(failure)
        if failure is not None:
            self.passphrase.setFocus()
            self.passphrase.selectAll()

    # What comes from the worker

    def show_statement(self, statement: Unsigned) -> None:
        """Show what will be signed; in the file it stands without line breaks."""
        self._unsigned, matter = statement, matter_of(statement.said)
        show_icon(self._icon, matter.look, self._theme, ICON_PIXELS)
        self.what.setText(matter.sentence)
        self._limits.setText(matter.limits)
        self._limits.setVisible(bool(matter.limits))
        self._said.show_fields(matter.fields)
        self.statement.setPlainText(json.dumps(json.loads(statement.payload), indent=2))
        self._refresh()

    def show_no_statement(self, failure: Failure) -> None:
        """Say why nothing can be signed."""
        self._preview_problem = f"{failure.sentence} {failure.remedy}".strip()
        self._refresh()

    def show_key_ring(self, problem: str, passphrase: str | None) -> None:
        """Say whether a passphrase can be remembered, and fill in the one that is."""
        self._ring_problem = problem
        if passphrase is not None and not self.passphrase.text() and not self.create_new.isChecked():
            self.passphrase.setText(passphrase)
            self.remember.setChecked(True)
        self._refresh()

    # What the user wants

    def request(self) -> SigningRequest:
        """What the user asked for."""
        passphrase = self.passphrase.passphrase
        wanted = SigningRequest(
            private_key=Path(self.key.text()).expanduser(),
            passphrase=passphrase,
            create=self.create_new.isChecked(),
            target=self._target(),
            report=self._companion("report.pdf") if self.report.isChecked() else None,
            table=self._companion("steps.csv") if self.table.isChecked() else None,
            remember=self.remember.isChecked() and self.remember.isEnabled() and passphrase is not None,
            statement=self._unsigned,
            reads=self._reads,
            case=self.case.case(),
        )
        return replace(wanted, replace=set(wanted.in_the_way) <= set(self._agreed) and bool(self._agreed))

    def _target(self) -> Path:
        return Path(self.target.text()).expanduser()

    def _companion(self, ending: str) -> Path:
        """``run.report.pdf`` beside ``run.verdict.json``."""
        stem = self._target().stem.removesuffix(".verdict")
        return self._target().with_name(f"{stem}.{ending}")

    def _refresh(self) -> None:
        create = self.create_new.isChecked()
        self.repeat.setVisible(create)
        self._repeat_label.setVisible(create)
        self.passphrase.refresh()
        self.remember.setEnabled(not self._ring_problem and bool(self.passphrase.text()))
        self._ring_note.setText(self._ring_problem)
        names = []
        if self.target.text():
            names = [
                self._companion(ending).name
                for box, ending in ((self.report, "report.pdf"), (self.table, "steps.csv"))
                if box.isChecked()
            ]
        self._beside.setText(self.tr("beside it: {0}").format(", ".join(names)) if names else "")
        problem = self._problem()
        self._show_state(problem, self.tr("Signing\u2026"), problem or self._advice())

    def _problem(self) -> str:
        if self._preview_problem:
            return self._preview_problem
        if self._unsigned is None:
            return self.tr("The statement is being prepared.")
        key = Path(self.key.text()).expanduser()
        if not self.key.text() or not self.target.text():
            return self.tr("Say where the key is and where the signed file goes.")
        if self.create_new.isChecked():
            if key.absolute().parent == self._bundle_folder:
                return self.tr("A private key does not belong beside the trainer's file: choose another folder.")
            if key.exists():
                return self.tr("There is a file of this name already; a key is never overwritten.")
            if self.passphrase.text() != self.repeat.text():
                return self.tr("The two passphrases differ.")
        elif not key.is_file():
            return self.tr("There is no such key file.")
        try:
            self.request().check_apart()
        except FileWriteError as error:
            return translate(error.sentence)
        return ""

    def _advice(self) -> str:
        key = Path(self.key.text()).expanduser()
        if self.create_new.isChecked():
            return self.tr(
                "The public key is written beside it as {0}. Give it to those who check your verdicts."
            ).format(f"{key.stem}.pub.pem")
        if others_can_read(key):
            return self.tr(
                "Other users of this machine can read this private key: make it yours alone (chmod 600), and a new one "
                "if somebody may have read it."
            )
        return self.tr("Whoever checks what you sign needs the public key that belongs to this private key.")

    def _choose_key(self) -> None:
        if self.create_new.isChecked():
            path = layouts.new_file(self, self.tr("New private key"), self.key.text(), "*.pem", here=True)
        else:
            path = layouts.existing_file(self, self.tr("Private key"), self.key.text(), "*.pem", here=True)
        if path is not None:
            self.key.setText(str(path))

    def _choose_target(self) -> None:
        name, _ = QFileDialog.getSaveFileName(
            self, self._file, self.target.text(), "*.json", options=QFileDialog.Option.DontConfirmOverwrite
        )
        if name:
            self.target.setText(name)
