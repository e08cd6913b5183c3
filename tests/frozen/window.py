"""The texts of the window, its dialogs and its reports, in every language: ``python -m tests.frozen.window FILE``.

:mod:`tests.frozen.groups` starts it, in a process of its own, off screen and by the clock of UTC.

An engine that computes nothing makes the run up. What a widget is stands there as Qt's class, since what ours are
called is nobody's business but ours; a widget that says nothing is left out.
"""

from __future__ import annotations

import json
import re
import sys
import tempfile
from collections.abc import Callable, Iterator
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path

from PySide6.QtCore import (
    QAbstractItemModel,
    QAbstractListModel,
    QCoreApplication,
    QEvent,
    QModelIndex,
    QSettings,
    QStringListModel,
    Qt,
)
from PySide6.QtGui import QAction
from PySide6.QtWidgets import (
    QAbstractButton,
    QAbstractItemView,
    QAbstractSpinBox,
    QApplication,
    QComboBox,
    QDialog,
    QGroupBox,
    QHeaderView,
    QLabel,
    QLineEdit,
    QMenu,
    QMessageBox,
    QPlainTextEdit,
    QProgressBar,
    QSpinBox,
    QTabBar,
    QTextEdit,
    QWidget,
)
from tests.frozen.store import Texts

from counterfoil import (
    AdjudicationOutcome,
    AuditFinished,
    AuditRequest,
    CancelToken,
    CheckNumber,
    Digest,
    Role,
    StepReplayed,
)
from counterfoil_app.driver.capture import settle, wait_until
from counterfoil_app.engine.worker import Failure
from counterfoil_app.looks.language import SOURCE_LANGUAGE
from counterfoil_app.main import application, make_window
from counterfoil_app.model.open_bundle import Phase
from counterfoil_app.model.order_plan import Stage
from counterfoil_app.model.settings import Settings
from counterfoil_app.model.step_data import StepData
from counterfoil_app.shell.window import MainWindow
from counterfoil_app.verdict import report_process
from counterfoil_app.verdict.handover_dialog import HandOverDialog
from counterfoil_app.verdict.report_document import Case, Contents, Curves
from counterfoil_app.views.identity import IdentityDialog
from counterfoil_app.views.judges import SealDialog
from counterfoil_app.views.keys import KeyProposalDialog
from counterfoil_app.views.parts import Folded
from counterfoil_core.values.events import AdjudicationFinished
from support.fake_engine import FakeEngine, digest, envelope_of

PATIENCE = 60.0
ROWS = 12
"""As many rows of a table are read as tell what stands in its columns."""
DIALOGS = (
    "preferences", "about", "shortcuts", "help", "machine", "verdict", "results", "keys",
    "ledger", "locate", "facts", "rules", "compare_providers", "compare_bundles",
    "follow_recording",
)  # fmt: skip
"""Commands that open a dialog; each of these is closed again."""
CASE = Case("3 O 112/26", "Nordbank AG", "Modellwerk GmbH", "Ada Pruefer")
AT = datetime(2026, 11, 21, tzinfo=UTC)


# What a widget says


def blocks(top: QWidget) -> Iterator[str]:
    """What a window and everything in it says, each with what it is, in the order in which it was made."""
    for part in (top, *top.findChildren(QWidget)):
        if part is not top and part.isWindow() and not isinstance(part, QMenu):
            continue  # a dialog of its own
        said = [f"{name}: {text!r}" for name, text in texts(part) if text]
        if said:
            yield "\n    ".join((f"{marks(part, top)}{qt_class(part)}", *said))
    for action in top.findChildren(QAction):
        said = [action.text(), action.toolTip(), action.statusTip(), action.shortcut().toString()]
        if action.text():
            yield f"{'' if action.isEnabled() else 'off '}action {' | '.join(map(repr, said))}"


def marks(part: QWidget, top: QWidget) -> str:
    """Whether a widget cannot be seen, or not be used."""
    return f"{'' if part.isVisibleTo(top) else 'hidden '}{'' if part.isEnabled() else 'off '}"


def qt_class(widget: QWidget) -> str:
    """The nearest class that is Qt's."""
    return next(kind.__name__ for kind in type(widget).__mro__ if kind.__module__.startswith("PySide6"))


def texts(part: QWidget) -> Iterator[tuple[str, str]]:
    """Every text that somebody can read or hear in a widget by itself."""
    yield "name", part.accessibleName()
    yield "description", part.accessibleDescription()
    if part.isWindow():
        yield "title", part.windowTitle()
    match part:
        case QMessageBox():
            yield from (("text", part.text()), ("more", part.informativeText()))
        case QLabel() | QAbstractButton():
            # Of one that is cut where there is no room the whole: how much fits hangs on fonts.
            yield "text", getattr(part, "whole", None) or part.text()
        case QGroupBox():
            yield "text", part.title()
        case QLineEdit():
            yield from (("text", part.text()), ("hint", part.placeholderText()))
        case QComboBox():
            yield "text", " | ".join(part.itemText(index) for index in range(part.count()))
        case QAbstractSpinBox():
            yield "text", part.text()
            yield "special", part.specialValueText()
            if isinstance(part, QSpinBox):
                yield "range", f"{part.minimum()} to {part.maximum()}"
        case QPlainTextEdit() | QTextEdit():
            yield "text", part.toPlainText()
        case QProgressBar():
            yield "text", part.format()
        case QTabBar():
            yield "text", " | ".join(part.tabText(index) for index in range(part.count()))
        case QHeaderView():
            pass  # its table says what stands in it
        case QAbstractItemView() if part.model() is not None:
            yield from table(part.model())
    if isinstance(part, QAbstractButton) and part.isCheckable():
        yield "checked", "yes" if part.isChecked() else "no"
    yield from (("tip", part.toolTip()), ("status", part.statusTip()), ("what", part.whatsThis()))


def table(model: QAbstractItemModel, parent: QModelIndex | None = None) -> Iterator[tuple[str, str]]:
    """The columns of a model and its first rows, with what lies below them."""
    parent = parent or QModelIndex()
    columns = range(1 if isinstance(model, (QAbstractListModel, QStringListModel)) else model.columnCount(parent))
    if not parent.isValid():
        heads = [
            model.headerData(column, Qt.Orientation.Horizontal, role)
            for column in columns
            for role in (Qt.ItemDataRole.DisplayRole, Qt.ItemDataRole.ToolTipRole)
        ]
        yield "columns", " | ".join(str(head) for head in heads if head is not None)
    for row in range(min(model.rowCount(parent), ROWS)):
        cells = [model.index(row, column, parent) for column in columns]
        yield "row", " | ".join(str(cell.data() if cell.data() is not None else "") for cell in cells)
        tips = [cell.data(Qt.ItemDataRole.ToolTipRole) for cell in cells]
        yield "row's tips", " | ".join(dict.fromkeys(str(tip) for tip in tips if tip))
        if cells:
            yield from (("  " + name, text) for name, text in table(model, cells[0]))


# The windows


class Watch:
    """Drives windows of one language, and writes down what they say.

    Args:
        folder: Where settings and files lie.
        language: Its code.
    """

    def __init__(self, folder: Path, language: str) -> None:
        self.folder, self.language, self.seen = folder, language, Texts()
        self.begun = datetime.now(UTC).date()
        self._said: set[str] = set()

    def note(self, name: str, top: QWidget, *, base: bool = False) -> None:
        """Write down what a window says.

        Args:
            name: Its file's name.
            top: The window.
            base: Whether what it says is left out of the main windows that come after it, where they say the same.
        """
        for fold in top.findChildren(Folded):
            fold.button.setChecked(True)
        said = self.stable(top)
        if base:
            self._said = set(said)
        elif isinstance(top, MainWindow):
            new = [block for block in said if block not in self._said]
            said = [f"{len(said) - len(new)} as in the window of the desk", *new]
        self.seen[f"window/{self.language}/{name}.txt"] = "".join(f"{block}\n" for block in said)

    def stable(self, top: QWidget) -> list[str]:
        """What a window says, once it says the same for a while: a fold that is opened may ask the engine."""
        said, same = list[str](), 0
        for _ in range(100):
            settle(60)
            now = [self.plain(block) for block in blocks(top)]
            same = same + 1 if now == said else 0
            if same == 2:
                return now
            said = now
        raise TimeoutError("The window never comes to rest.")

    def plain(self, text: str) -> str:
        """A text without where its files lay, when it was made, and what Qt and Python are called here."""
        text = text.replace(str(self.folder), "<folder>").replace(str(Path.home()), "<home>")
        for pattern, place in _PLACES:
            text = re.sub(pattern, place, text)
        for day in {self.begun, datetime.now(UTC).date()}:
            text = re.sub(rf"{day.isoformat()}( \d\d:\d\d\b|T\d\d:\d\d:\d\dZ)?", "<today>", text)
        return text

    def window(self, name: str, engine: FakeEngine, until: Phase | None) -> MainWindow:
        """A window, with a bundle opened and replayed as far as is wanted."""
        own = self.folder / name
        own.mkdir()
        settings = Settings(QSettings(str(own / "settings.ini"), QSettings.Format.IniFormat))
        settings.language = self.language
        settings.notify = settings.stay_awake = False
        settings.folder = own
        window = make_window(engine=engine, settings=settings)
        window.shell.samples.folder = window.files.sample_folder = own / "sample"
        window.resize(1366, 768)
        window.show()
        settle(50)
        if until is None:
            return window
        bundle = own / "honest.cfoil"
        bundle.write_bytes(b"")
        window.open_bundle(bundle)
        self.reached(window, Phase.READY)
        if until is Phase.CONCLUDED:
            window.commands["conclude" if window.session.only_refuses else "replay"].trigger()
            self.reached(window, Phase.CONCLUDED)
        return window

    def reached(self, window: MainWindow, phase: Phase) -> None:
        """Wait until the session is so far, and all is drawn."""
        self.wait(
            lambda: window.session.phase is phase and not window.session.busy and not window.session.drawing.waiting
        )

    def wait(self, done: Callable[[], object]) -> None:
        """Wait until something is so."""
        if not wait_until(lambda: bool(done()), PATIENCE):
            raise TimeoutError("The window does not come to where it should be.")
        settle(50)

    def close(self, window: MainWindow) -> None:
        """Take a window down."""
        window.shell.close()
        window.session.shut_down()
        window.deleteLater()
        QCoreApplication.sendPostedEvents(None, QEvent.Type.DeferredDelete)

    def tops(self, window: MainWindow) -> list[QWidget]:
        """The windows beside the main one that are shown."""
        tops = [top for top in QApplication.topLevelWidgets() if top is not window and top.isVisible()]
        return [top for top in tops if not isinstance(top, QMenu)]

    def dialog(self, name: str, window: MainWindow, opens: Callable[[], object]) -> None:
        """Write down what a dialog says that something opens, and close it."""
        opens()
        self.wait(lambda: self.tops(window) and not window.session.busy)
        for number, top in enumerate(self.tops(window)):
            self.note(f"dialog-{name}" + (f"-{number + 1}" if number else ""), top)
            for inner in top.findChildren(QDialog):
                inner.close()
            top.close()
        self.wait(lambda: not self.tops(window))

    # Each of them

    def main_windows(self) -> None:
        """The window in each of its states."""
        states: dict[str, tuple[FakeEngine, Phase | None]] = {
            "home": (FakeEngine(), None),
            "ready": (FakeEngine(), Phase.READY),
            "verified": (FakeEngine(), Phase.CONCLUDED),
            "verified-sample": (FakeEngine(spans=((2, 3), (7, 7))), Phase.CONCLUDED),
            "lying-log": (FakeEngine(lying_log=12), Phase.CONCLUDED),
            "disputed-share": (FakeEngine(disputed=37, shares=8, part="share 5"), Phase.CONCLUDED),
            "refused": (FakeEngine(failing=(CheckNumber.SIGNATURE,)), Phase.CONCLUDED),
            "order": (FakeEngine(has_run=False), Phase.READY),
            "data": (FakeEngine(data_file="images.cfdata"), Phase.READY),
        }
        for name, (engine, phase) in states.items():
            if self.language != SOURCE_LANGUAGE and name not in ("home", "ready"):
                continue  # the dispute has nearly all texts of the others; tests/app/test_translations.py has them all
            window = self.window(name, engine, phase)
            self.note(name, window, base=name == "home")
            if name == "ready":
                self.dialog("plan", window, window.commands["plan"].trigger)
            self.close(window)

    def dialogs(self) -> None:
        """Everything that opens over a window with a dispute."""
        window = self.window("disputed", FakeEngine(disputed=37), Phase.CONCLUDED)
        window.queue_dock.show()
        self.note("disputed", window)
        for name in DIALOGS:
            if not window.commands[name].isEnabled():
                raise ValueError(f"{name} cannot be chosen")
            self.dialog(name, window, window.commands[name].trigger)
        folder = self.folder / "disputed"
        page = window.recordings.show()
        for name, ask in (
            ("record", lambda: window.recordings.ask_record(again=False)), ("follow", window.recordings.ask_follow),
        ):  # fmt: skip
            form = ask()
            settle(50)
            self.note(f"dialog-{name}-form", form)
            form.reject()
        self.note("dialog-recording", page)
        page.close()
        self.dialog("capsule", window, lambda: window.open_capsule(folder / "dispute.capsule.cfoil"))
        (folder / "v.json").write_text("{}")
        self.dialog("read-verdict", window, lambda: window.verdicts.read(folder / "v.json"))
        self.dialog("workers", window, window.show_workers)
        self.dialog(
            "weights",
            window,
            lambda: window.open_weights(folder / "w.safetensors", folder / "honest.cfoil", None, None),
        )
        report = window.session.report
        assert report is not None
        made = {
            "hand-over": HandOverDialog(
                report, folder / "handed", CASE, window.theme, window, signed=folder / "v.json", capsule=True
            ),
            "identity": IdentityDialog(folder / "sealed.cfoil.age", window),
            "seal": SealDialog(folder, window),
            "key-proposal": KeyProposalDialog(
                digest("key").hex, "honest.cfoil", Role.TRAINER, signed_the_run=True, parent=window
            ),
        }
        for name, dialog in made.items():
            self.dialog(name, window, dialog.show)
        failure = Failure("It went wrong.", "Do it again.", "ValueError: wrong", expected=False)
        self.dialog("exception", window, lambda: window.shell.show_exception(failure))
        self.order(window)
        self.close(window)

    def order(self, window: MainWindow) -> None:
        """Each page of the wizard that writes an order."""
        window.commands["order_training"].trigger()
        self.wait(lambda: window.orders.wizard is not None)
        wizard = window.orders.wizard
        assert wizard is not None
        for stage in (Stage.WHAT, Stage.DATA, Stage.SETTINGS, Stage.TRY):
            self.wait(lambda: not window.session.busy)
            self.note(f"dialog-order-{stage.name.lower()}", wizard)
            wizard.next.click()
        self.wait(lambda: wizard.ordering.written is not None)
        wizard.next.click()
        self.wait(lambda: wizard.stage is Stage.SAVE and not window.session.busy)
        self.note("dialog-order-save", wizard)
        wizard.reject()

    def reports(self) -> None:
        """The report for a browser; tests/app/test_report.py holds that the printed one says the same."""
        pages = {
            "verified": audit_contents(FakeEngine()),
            "disputed": audit_contents(FakeEngine(disputed=37)),
            "disputed-share": audit_contents(FakeEngine(disputed=37, shares=8, part="share 5")),
            "refused": audit_contents(FakeEngine(failing=(CheckNumber.SIGNATURE,))),
            **{f"adjudication-{outcome.name.lower()}": hearing_contents(outcome) for outcome in AdjudicationOutcome},
        }
        for name, page in pages.items():
            html = report_process.make_html(page, self.language).decode("utf-8")
            html = re.sub(r"data:[\w/+-]+;base64,[A-Za-z0-9+/=]+", "<picture>", html)
            self.seen[f"reports/{self.language}/{name}.html"] = html.replace("><", ">\n<")


def audit_contents(engine: FakeEngine) -> Contents:
    """What the report of an audit is made from."""
    plan = AuditRequest(Path("honest.cfoil"), None, "cpu")
    events = list(engine.audit(plan, CancelToken()))
    assert isinstance(events[-1], AuditFinished)
    summary = engine.summary(plan.run, None)
    steps = StepData(summary)
    steps.add(event.row for event in events if isinstance(event, StepReplayed))
    report = events[-1].report
    envelope = envelope_of(engine.preview(report, AT))
    return Contents(
        report,
        summary,
        Curves.of(steps.table),
        envelope,
        "honest.verdict.json",
        CASE,
        "digits.job",
        Digest.of(b"order"),
    )


def hearing_contents(outcome: AdjudicationOutcome) -> Contents:
    """What the report of an adjudication is made from."""
    engine = FakeEngine()
    events = list(engine.adjudicate(Path("found.capsule.cfoil"), None, "cpu", None, CancelToken()))
    assert isinstance(events[-1], AdjudicationFinished)
    report = replace(events[-1].report, outcome=outcome)
    envelope = envelope_of(engine.preview(report, AT))
    return Contents(report, None, Curves.of(StepData().table), envelope, "found.adjudication.json", CASE)


_LIBRARIES = "Python|Qt|System|torch|numpy|h5py|numba|cryptography|PySide6-Essentials|pyqtgraph"
_PLACES = (
    (r"2\d{3}-\d\d-\d\dT\d\d:\d\d:\d\d\+00:00", "<time>"),
    (r"\b\d\d:\d\d:\d\d\b", "<time>"),
    (rf"(description: '(?:{_LIBRARIES})'\n    text: )'.*'", r"\1<version>"),
    (rf"({_LIBRARIES}): [^:']+?(?=\\n|')", r"\1: <version>"),
    # The digest of an order that was made up out of the name of a folder.
    (r"'(?:[0-9a-f]{4}(?: |\\n)){15}[0-9a-f]{4}'", "<digest>"),
)
"""What differs from machine to machine or from day to day: moments, days, and versions of what the window runs on."""


def make(language: str) -> Texts:
    """Everything, in a language."""
    application()
    with tempfile.TemporaryDirectory() as folder:
        watch = Watch(Path(folder), language)
        watch.main_windows()
        watch.dialogs()
        watch.reports()
        return watch.seen


if __name__ == "__main__":
    Path(sys.argv[1]).write_text(json.dumps(make(sys.argv[2])), encoding="utf-8")
