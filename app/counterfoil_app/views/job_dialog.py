"""A job of the command line: what is asked for it, how far it is, what it said, and where it wrote."""

from __future__ import annotations

from pathlib import Path

from PySide6.QtCore import QUrl, Signal
from PySide6.QtGui import QDesktopServices, QFontDatabase
from PySide6.QtWidgets import QLineEdit, QPlainTextEdit, QWidget

from counterfoil import CounterfoilError
from counterfoil_app.engine import strangers
from counterfoil_app.engine.worker import Failure
from counterfoil_app.looks import job_words, order_words
from counterfoil_app.looks.engine_words import failure_text
from counterfoil_app.looks.theme import Theme, Tone
from counterfoil_app.looks.words import Look
from counterfoil_app.model.jobs import JobPlan, JobRun
from counterfoil_app.model.unlocked_keys import UnlockedKeys
from counterfoil_app.views import layouts
from counterfoil_app.views.dialogs import ask_to_replace
from counterfoil_app.views.inquiry import InquiryDialog
from counterfoil_app.views.layouts import button, choices
from counterfoil_app.views.option_fields import OptionFields
from counterfoil_app.views.parts import Page, caption, restyle
from counterfoil_app.views.passphrase_line import PassphraseLine
from counterfoil_core.values.outcome import Outcome

SIZE = (820, 600)
LEAST_LINES = 5
_SAYS_SO = {Outcome.VERIFIED.exit_code: "passed", Outcome.DISPUTED.exit_code: "disputed"}


class JobDialog(InquiryDialog):
    """One job.

    Args:
        plan: What is asked for it.
        run: Carries it out.
        trust: The folder of whom the user trusts.
        unlocked: The keys that are unlocked.
        theme: The theme of the application.
    """

    written = Signal(Path)
    """A file, or a folder, that was written."""

    def __init__(
        self,
        plan: JobPlan,
        run: JobRun,
        trust: Path,
        unlocked: UnlockedKeys,
        theme: Theme,
        parent: QWidget | None = None,
    ) -> None:
        super().__init__(run, theme, SIZE, parent)
        self.setWindowTitle(job_words.titles()[plan.job.name].replace("&", "").rstrip("\u2026"))
        self.plan, self.run = plan, run
        self._trust = trust
        self._problem: Failure | None = None
        self._told = False
        self.progress.setAccessibleName(self.tr("Progress of the job"))
        forms = [(job_words.command(name), name) for name in plan.job.commands]
        self.what = choices(forms, plan.command, name=self.tr("What is written"))
        self.what.currentIndexChanged.connect(lambda _place: self._choose(str(self.what.currentData())))
        self._what = QWidget()
        written = caption(self.tr("What is written"), wrap=False)
        written.setBuddy(self.what)
        layouts.row(written, (self.what, 1), inside=self._what, margins=layouts.NONE, spacing=10)
        self._what.setVisible(len(plan.job.commands) > 1)
        self.fields: OptionFields | None = None
        self._place = layouts.column(margins=layouts.NONE)
        self._unlocked = unlocked
        self.passphrase = PassphraseLine(unlocked, lambda: plan.key)
        self._secret = QWidget()
        asked = caption(self.tr("Passphrase of the key"), wrap=False)
        asked.setBuddy(self.passphrase)
        self._names = written, asked
        layouts.row(asked, (self.passphrase, 1), inside=self._secret, margins=layouts.NONE, spacing=10)
        self.said = QPlainTextEdit()
        self.said.setReadOnly(True)
        self.said.setFont(QFontDatabase.systemFont(QFontDatabase.SystemFont.FixedFont))
        self.said.setAccessibleName(self.tr("What the command said"))
        self.said.setMinimumHeight(LEAST_LINES * self.said.fontMetrics().lineSpacing())
        self._rest = QWidget()  # stands for what was said, while nothing is
        self.page = page = Page(self.tr("The job"))
        layouts.fill(page.column, self._what, self._place, self._secret, (self.said, 1), (self._rest, 1), spacing=10)
        show = button(self.tr("Show in &folder"), self._show_in_folder)
        start = button(self.windowTitle(), self.begin)
        self.close_button = button(self.tr("C&lose"), self.close)
        self._choose(plan.command)
        self.arrange(page, show, start, self.close_button)

    # What is asked

    def _choose(self, command: str) -> None:
        self.plan.choose(command)
        if self.fields is not None:
            self._place.removeWidget(self.fields)
            self.fields.deleteLater()
        self.fields = OptionFields(self.plan.options, self.plan, name_of=job_words.option)
        self.fields.changed.connect(self._changed)
        self.fields.align(*self._names)
        self._place.addWidget(self.fields)
        if hasattr(self, "start"):
            self.run.forget()

    def _changed(self, name: str) -> None:
        self._problem = None
        option = self.plan.form.option(name)
        target = self.plan.propose() if option is not None and option.kind in ("file", "files") else ""
        if target and self.fields is not None:
            control = self.fields.controls[target]
            assert isinstance(control, QLineEdit)
            control.blockSignals(True)
            control.setText(self.plan.value(target))
            control.blockSignals(False)
        self.refresh()

    def begin(self) -> None:
        """Do it; asks first where something that is there would be replaced."""
        there = [path for path in self.plan.targets if path.is_file()]
        if there:
            ask_to_replace(self, there, lambda: self._begin(replaces=True))
        else:
            self._begin()

    def _begin(self, *, replaces: bool = False) -> None:
        self._told, self._problem = False, None
        try:
            trust = self._trust if self._trust.is_dir() else None
            arguments = self.plan.arguments(replaces=replaces, trust=trust)
        except CounterfoilError as error:
            self._problem = Failure.of(error)
            self.refresh()
            return
        self.plan.remember()
        self.run.carry_out(arguments, None if self.plan.key is None else self.passphrase.passphrase or "")

    # Showing

    def refresh(self) -> None:
        """Show where the job stands."""
        super().refresh()
        run, ended = self.run, self.run.result
        failure = self._problem or run.failure
        self.top.show_look(*self._headline())
        self.notice.hide()
        for part in (self.fields, self._what, self.passphrase):
            if part is not None:
                part.setEnabled(not run.working)
        self._secret.setVisible(self.plan.key is not None)
        self.passphrase.refresh()
        says = ended is not None and bool(ended.said.strip())
        self.said.setVisible(says)
        self._rest.setVisible(not says)
        self.choose.setEnabled(ended is not None and bool(self._found()))
        self.choose.setVisible(any(option.kind == "target" for option in self.plan.options))
        self.start.setEnabled(not run.working and self.plan.missing is None)
        restyle(self.start, "primary", ended is None)
        restyle(self.close_button, "primary", ended is not None)
        if failure is not None and self.fields is not None and not self._told:
            self._told = True
            role = getattr(failure, "role", "")
            if not self.fields.focus(role) and self.plan.key is not None:
                self.passphrase.setFocus()
        if ended is not None and not self._told:
            self._told = True
            self.said.setPlainText(ended.said.strip())
            if self.plan.key is not None and ended.code == 0:
                self._unlocked.keep(self.plan.key, self.passphrase.passphrase)
            self.passphrase.clear()
            for path in self._found():
                self.written.emit(path)
            self.close_button.setFocus()

    def _headline(self) -> tuple[Look, str]:
        run, ended, missing = self.run, self.run.result, self.plan.missing
        failure = self._problem or run.failure
        if run.working:
            return Look(self.tr("Being done"), "running", Tone.INFO), order_words.progress(
                run.progress, run.seconds_left
            )
        if failure is not None:
            return Look(self.tr("Not done"), "inconclusive", Tone.WARN), failure_text(failure)
        if ended is not None and ended.code == 0:
            names = ", ".join(strangers.sentence(str(path)) for path in self._found())
            return Look(self.tr("Done"), "passed", Tone.OK), self.tr("Written: {0}").format(names) if names else ""
        if ended is not None:
            found = next((one.value for one in Outcome if one.exit_code == ended.code), str(ended.code))
            sentence = self.tr("The command ended with {0}: what it says is below.")
            return Look(found, _SAYS_SO.get(ended.code, "inconclusive"), Tone.WARN), sentence.format(found)
        about = job_words.about(self.plan.form)
        if missing is not None:
            about = f"{about} {self.tr('Needed: {0}.').format(job_words.option(missing.name))}"
        return Look(self.windowTitle(), "information", Tone.INFO), about

    def _found(self) -> list[Path]:
        return [path for path in self.plan.targets if path.exists()]

    def _show_in_folder(self) -> None:
        for path in self._found()[:1]:
            QDesktopServices.openUrl(QUrl.fromLocalFile(str(path if path.is_dir() else path.parent)))
