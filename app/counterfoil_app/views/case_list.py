"""The cases, one below the other: where each stands, the next thing to do, and its files."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from PySide6.QtCore import QSize, Qt, Signal
from PySide6.QtWidgets import QFrame, QLabel, QPushButton, QWidget

from counterfoil_app.engine import strangers
from counterfoil_app.engine.strangers import name_of
from counterfoil_app.looks import case_words
from counterfoil_app.looks.theme import Theme, Tone
from counterfoil_app.looks.tips import set_tip
from counterfoil_app.looks.words import Look
from counterfoil_app.model.case_file import Case, CaseFile, FileKind
from counterfoil_app.model.casestate import CaseState, NextStep, Standing, result_of, standing_of
from counterfoil_app.model.history import Past
from counterfoil_app.views import layouts
from counterfoil_app.views.parts import Folded, caption, clear_layout, restyle, show_icon

ICON_PIXELS, FILE_ICON_PIXELS = 28, 16
MOST_SHOWN = 20
"""Cases that are shown at once; the others are found by typing."""
FILTERED_FROM = 7
"""From so many cases on there is a line to find one."""
LOUD = (NextStep.RESUME, NextStep.SIGN)
"""What waits for the user has a button that is seen first."""


class NameButton(QPushButton):
    """A file by its name and folder, as a link; the folder is shortened where there is no room."""

    def __init__(self, path: Path, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._text = strangers.sentence(f"{path.name} \u2014 {path.parent}")
        self.setProperty("link", True)
        self.setAccessibleName(strangers.sentence(str(path)))
        set_tip(self, strangers.sentence(str(path)))
        self._shorten()

    def sizeHint(self) -> QSize:  # noqa: N802 - Qt's name
        """Room for all of it."""
        metrics = self.fontMetrics()
        return QSize(metrics.horizontalAdvance(self._text) + 24, super().sizeHint().height())

    def minimumSizeHint(self) -> QSize:  # noqa: N802 - Qt's name
        """Room for a name."""
        return QSize(self.fontMetrics().averageCharWidth() * 16, super().minimumSizeHint().height())

    def resizeEvent(self, event: object) -> None:  # noqa: N802 - Qt's name
        """Shorten to the new width."""
        super().resizeEvent(event)  # type: ignore[arg-type]  # Qt's own event
        self._shorten()

    def _shorten(self) -> None:
        shown = self.fontMetrics().elidedText(self._text, Qt.TextElideMode.ElideRight, max(0, self.width() - 20))
        self.setText(shown.replace("&", "&&"))


class FileLine(QWidget):
    """A file of a case: what it is, where it lies, what came of it; one that is gone can be looked for."""

    opened = Signal()
    lost = Signal()

    def __init__(self, file: CaseFile, look: Look | None, theme: Theme, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        there = file.is_there
        kind = caption(case_words.file_kind(file.kind), "muted", wrap=False)
        kind.setFixedWidth(self.fontMetrics().averageCharWidth() * 18)
        self.name = NameButton(file.file)
        self.name.setEnabled(there)
        self.name.clicked.connect(self.opened)
        mark, word = QLabel(), caption("", "muted", wrap=False)
        said = [strangers.sentence(file.trainer)] if file.trainer else []
        if file.used:
            said.append(file.used[: len("2026-01-31")])
        if look is not None:
            show_icon(mark, look, theme, FILE_ICON_PIXELS)
            said.append(look.word)
        word.setText(", ".join(said))
        parts: list[layouts.Part] = [kind, (self.name, 1), mark, word]
        if not there:
            moved = caption(self.tr("file moved"), wrap=False)
            find = layouts.button(
                self.tr("Find it\u2026"), self.lost, name=self.tr("Find {0}").format(name_of(file.file))
            )  # fmt: skip
            parts += [moved, find]
        layouts.row(*parts, inside=self, margins=layouts.NONE, spacing=8)


class CaseRow(QFrame):
    """One case.

    Args:
        case: The case.
        found: Where it stands.
        pasts: The kept results, newest first.
        running: The run that is being replayed now.
        theme: The theme.
    """

    wanted = Signal(object, object)
    """A next step, and the standing that it is of."""
    file_wanted = Signal(object)
    lost = Signal(object)
    removed = Signal()

    def __init__(
        self,
        case: Case,
        found: Standing,
        pasts: Sequence[Past],
        running: Path | None,
        theme: Theme,
        parent: QWidget | None = None,
    ) -> None:
        super().__init__(parent)
        self.case, self.found = case, found
        self.setObjectName("case")
        look = case_words.standing(found)
        restyle(self, "tone", look.tone.value)
        name = case_words.name_of_case(case)
        self.setAccessibleName(f"{name}: {look.word}")
        icon = QLabel()
        show_icon(icon, look, theme, ICON_PIXELS)
        self.title = caption(name, "title")
        self.state = caption(look.word, "trust")
        self.state.setProperty("tone", look.tone.value)
        each = [
            case_words.standing(one)
            for file in case.of_kind(FileKind.RUN)
            if (one := standing_of(Case(case.order, "", case.parties, (file,)), pasts, running)) is not None
        ]
        said = f"{case_words.sentence(found)} {case_words.runs(case, each)}".strip()
        self.sentence = caption(said, "muted")
        words = case_words.next_step(found.next)
        self.button = layouts.button(words, self._do, name=f"{words.rstrip(chr(0x2026))}: {name}")
        restyle(self.button, "primary", found.next in LOUD)
        text = layouts.column(self.title, self.state, self.sentence, spacing=2)
        self.files = Folded(self.tr("Files: {0}").format(len(case.files)))
        right = Qt.AlignmentFlag.AlignRight
        deeds = layouts.column((self.button, 0, right), (self.files.button, 0, right), 1, spacing=4)
        line = layouts.row((icon, 0, Qt.AlignmentFlag.AlignTop), (text, 1), deeds, spacing=12)
        self.files.button.setAccessibleName(self.tr("Files of {0}").format(name))
        for file in case.files:
            layouts.fill(self.files.column, self._line(file, pasts, theme))
        remove = layouts.button(
            self.tr("Take off the desk"),
            self.removed,
            tip=self.tr("Forget this case here; its files and results stay where they are"),
            name=self.tr("Take off the desk: {0}").format(name),
        )
        remove.setProperty("link", True)
        layouts.fill(self.files.column, (remove, 0, Qt.AlignmentFlag.AlignLeft))
        layouts.column(line, self.files, inside=self, margins=(14, 10, 14, 10), spacing=6)

    def _line(self, file: CaseFile, pasts: Sequence[Past], theme: Theme) -> FileLine:
        line = FileLine(file, look_of(file, pasts), theme)
        line.opened.connect(lambda: self.file_wanted.emit(file))
        line.lost.connect(lambda: self.lost.emit(file))
        return line

    def _do(self) -> None:
        if self.found.next is NextStep.FIND:
            self.lost.emit(self.found.file)
        else:
            self.wanted.emit(self.found.next, self.found)


def look_of(file: CaseFile, pasts: Sequence[Past]) -> Look | None:
    """What came of a file; None where nothing is known."""
    past = result_of(file, pasts)
    if file.replay is not None:
        return Look(case_words.standing(_stopped(file)).word, "pause", Tone.WARN)
    if past is not None:
        return case_words.result(past)
    return case_words.outcome(file) if file.outcome else None


def _stopped(file: CaseFile) -> Standing:
    return Standing(CaseState.STOPPED, NextStep.RESUME, file, replay=file.replay)


class CaseList(QWidget):
    """The cases, newest first, with a line to find one where there are many."""

    wanted = Signal(object, object)
    file_wanted = Signal(object)
    lost = Signal(object, object)
    """A case, and a file of it that is gone."""
    removed = Signal(object)

    def __init__(self, theme: Theme, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._theme = theme
        self._cases: Sequence[Case] = ()
        self._pasts: Sequence[Past] = ()
        self._running: Path | None = None
        self.rows: list[CaseRow] = []
        self.filter = layouts.line_edit(
            name=self.tr("Find a case"), hint=self.tr("Find a case: number, job, file, outcome"), clearable=True
        )
        self.filter.textChanged.connect(self._draw)
        inside = QWidget()
        self._column = layouts.column(inside=inside, margins=layouts.NONE, spacing=8)
        self.more = caption("", "muted")
        layouts.column(self.filter, inside, self.more, inside=self, margins=layouts.NONE, spacing=8)
        theme.changed.connect(self._draw)

    def show_cases(self, cases: Sequence[Case], pasts: Sequence[Past], running: Path | None) -> None:
        """Show these cases."""
        self._cases, self._pasts, self._running = cases, pasts, running
        self.filter.setVisible(len(cases) >= FILTERED_FROM)
        self._draw()

    def _draw(self) -> None:
        held = self._held()
        wanted = self.filter.text().strip().casefold()
        found = [
            (case, standing)
            for case in self._cases
            if (standing := standing_of(case, self._pasts, self._running)) is not None
            and wanted in _words(case, standing)
        ]
        clear_layout(self._column)
        self.rows = [self._row(case, standing) for case, standing in found[:MOST_SHOWN]]
        layouts.fill(self._column, *self.rows)
        left_out = len(found) - len(self.rows)
        self.more.setText(
            self.tr("{0} more cases: type to find one.").format(left_out)
            if left_out
            else self.tr("No case has this in it.")
            if not found and wanted
            else ""
        )
        self.more.setVisible(bool(self.more.text()))
        self._hold(held)

    def _row(self, case: Case, standing: Standing) -> CaseRow:
        row = CaseRow(case, standing, self._pasts, self._running, self._theme)
        row.wanted.connect(self.wanted)
        row.file_wanted.connect(self.file_wanted)
        row.lost.connect(lambda file: self.lost.emit(case, file))
        row.removed.connect(lambda: self.removed.emit(case))
        return row

    def _held(self) -> tuple[str, list[str]]:
        """The case that has the keyboard, and those whose files are shown: rows are made anew."""
        focused = next(
            (row.case.order for row in self.rows if row.isAncestorOf(self.window().focusWidget() or self)), ""
        )
        return focused, [row.case.order for row in self.rows if row.files.button.isChecked()]

    def _hold(self, held: tuple[str, list[str]]) -> None:
        focused, unfolded = held
        before: QWidget = self.filter
        for row in self.rows:
            for part in (row.button, row.files.button):
                QWidget.setTabOrder(before, part)
                before = part
            row.files.button.setChecked(row.case.order in unfolded)
            if row.case.order == focused:
                row.button.setFocus()


def _words(case: Case, standing: Standing) -> str:
    """What a case is found by."""
    names = " ".join(file.path for file in case.files)
    parties = " ".join((case.parties.client, *(file.trainer for file in case.files), case.order))
    look = case_words.standing(standing)
    return f"{case_words.name_of_case(case)} {look.word} {names} {parties}".casefold()
