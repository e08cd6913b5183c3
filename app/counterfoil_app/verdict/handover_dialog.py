"""Asks where what was found is handed over, and shows what others get."""

from __future__ import annotations

from pathlib import Path

from PySide6.QtCore import QSize
from PySide6.QtWidgets import QCheckBox, QWidget

from counterfoil import AuditReport
from counterfoil.exports.handover import AUDITOR, CAPSULE, HTML, PDF, README, SUMS, VERDICT, ZIP
from counterfoil_app.engine.strangers import name_of, plain
from counterfoil_app.looks import words
from counterfoil_app.looks.fonts import scale
from counterfoil_app.looks.theme import Theme
from counterfoil_app.verdict.report_document import Case
from counterfoil_app.verdict.signing_dialog import CaseFields
from counterfoil_app.views import layouts
from counterfoil_app.views.frame import Body, fit_to_screen
from counterfoil_app.views.inquiry import Headline
from counterfoil_app.views.judges import JudgesField
from counterfoil_app.views.parts import Field, FieldGrid, Folded, caption
from counterfoil_app.views.work_dialog import WorkDialog

SIZE = (760, 660)


class HandOverDialog(WorkDialog):
    """Shows what goes into the folder, and asks where it lies: :attr:`chosen`.

    Args:
        report: What was found and signed.
        target: The folder to offer.
        case: What the head of the report said when it was signed.
        theme: The theme of the application.
        signed: Where the signed verdict lies.
        capsule: Whether a dispute capsule goes with it.
    """

    def __init__(
        self,
        report: AuditReport,
        target: Path,
        case: Case,
        theme: Theme,
        parent: QWidget | None = None,
        *,
        signed: Path,
        capsule: bool,
    ) -> None:
        super().__init__(parent)
        self.setWindowTitle(self.tr("Hand over"))
        top = Headline(theme)
        top.show_look(
            words.conclusion(plain(report), report.trust),
            self.tr("{0} goes to others, with all that they need to check it without you.").format(name_of(signed)),
        )
        top.trust.show_trust(None)
        self._capsule = capsule
        self._grid = FieldGrid()
        self.target = layouts.line_edit(str(target), name=self.tr("Folder to hand over"))
        choose = layouts.button(self.tr("Choose\u2026"), self._choose, name=self.tr("Choose the folder to hand over"))
        self.judges = JudgesField(target.parent, optional=True)
        self.judges.setVisible(capsule)
        # The first question of all: what is given away is not taken back.
        reading = caption(self.tr("Who may read the capsule"), "section")
        reading.setVisible(capsule)
        self.packed = QCheckBox(self.tr("As one &zip file"))
        self.case = CaseFields()
        self.case.show_case(case)
        folded = Folded(self.tr("Case and parties"))
        layouts.fill(folded.column, self.case)
        self.ok.setText(self.tr("Hand over"))
        layouts.fill(
            Body(self, self.hint, self.buttons),
            top,
            reading,
            self.judges,
            caption(self.tr("Where it goes"), "section"),
            layouts.row((self.target, 1), choose),
            self.packed,
            caption(self.tr("What others get"), "section"),
            self._grid,
            folded,
            1,
            spacing=8,
        )
        fit_to_screen(self, QSize(*map(scale, SIZE)))
        self.target.textChanged.connect(self._edited)
        self.packed.toggled.connect(self._edited)
        self.judges.changed.connect(self._edited)
        self._refresh()
        self.ok.setFocus()

    @property
    def chosen(self) -> Path:
        """The folder to make, or the zip."""
        path = Path(self.target.text()).expanduser()
        if not self.packed.isChecked():
            return path
        return path if path.suffix.lower() == ZIP else path.with_name(path.name + ZIP)

    def _contents(self) -> list[Field]:
        capsule = self._capsule and self.judges.goes_along
        disputed = [Field(CAPSULE, self.tr("the disputed step with its proofs: anybody can replay it"))]
        return [
            Field(VERDICT, self.tr("the signed verdict, which is what counts")),
            Field(AUDITOR, self.tr("your public key, which checks it")),
            *(disputed if capsule else []),
            Field(PDF, self.tr("the report to print, with a line to sign")),
            Field(HTML, self.tr("the same report for a browser")),
            Field(README, self.tr("how to check each of these, with OpenSSL alone and with Counterfoil")),
            Field(SUMS, self.tr("their digests, by which damage on the way shows")),
        ]

    def _refresh(self) -> None:
        self._grid.show_fields(self._contents())
        advice = self.tr(
            "Tell whoever gets it the id of your key, which {0} names, by another way: anybody can put a key into a "
            "folder."
        ).format(README)
        progress = self.tr("The report is printed and the folder is written\u2026")
        self._show_state(self._problem(), progress, advice)

    def _problem(self) -> str:
        if not self.target.text():
            return self.tr("Say where the folder goes.")
        if self.chosen.exists():
            return self.tr("There is something of this name already.")
        return self.judges.problem if self._capsule else ""

    def _choose(self) -> None:
        path = layouts.new_file(self, self.tr("Folder to hand over"), self.target.text(), "")
        if path is not None:
            self.packed.setChecked(path.suffix.lower() == ZIP)
            self.target.setText(str(path))
