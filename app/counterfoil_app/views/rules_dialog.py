"""Rules that are checked on a run: which it holds, which it breaks, which cannot be told, and what each rests on."""

from __future__ import annotations

from pathlib import Path

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QWidget

from counterfoil import RuleOutcome, RuleResult
from counterfoil_app.engine.strangers import name_of
from counterfoil_app.looks import text
from counterfoil_app.looks.engine_words import translate
from counterfoil_app.looks.theme import Theme, Tone
from counterfoil_app.looks.words import Look
from counterfoil_app.model.questions import RulesCheck
from counterfoil_app.views import layouts
from counterfoil_app.views.inquiry import InquiryDialog
from counterfoil_app.views.layouts import button, existing_file
from counterfoil_app.views.parts import Field, FieldGrid, Page, digest_field, label, restyle, tell
from counterfoil_app.views.tables import Column, RecordTable, table_view

SIZE = (940, 620)
VERDICT_ENDING = ".json"
LEAST_LINES = 6
_FIRST = (RuleOutcome.BROKEN, RuleOutcome.CANNOT_BE_TOLD, RuleOutcome.HELD)


class RulesDialog(InquiryDialog):
    """Asks for rules, and shows what a run shows of each.

    Files can be dropped on it: one that ends in ``.json`` is a verdict, any other holds rules.

    Args:
        check: Checks them.
        theme: The theme of the application.
    """

    rules_chosen = Signal(Path)
    verdict_chosen = Signal(Path)

    def __init__(self, check: RulesCheck, theme: Theme, parent: QWidget | None = None) -> None:
        super().__init__(check, theme, SIZE, parent)
        self.setWindowTitle(self.tr("Rules on {0}").format(name_of(check.run)))
        if not layouts.is_elsewhere():  # what is dropped is a file of this machine
            self.take_files(self._take_dropped)
        self.check = check
        self._folder = check.run.parent
        self.progress.setAccessibleName(self.tr("Progress of the check"))
        self.page = page = Page(self.tr("What came of the rules"))
        self.about = FieldGrid()
        self.model: RecordTable[RuleResult] = RecordTable(self._columns(), theme, self)
        self.table = table_view(self.model, self.tr("The rules, and what came of each"))
        self.table.setMinimumHeight((LEAST_LINES + 1) * self.table.verticalHeader().defaultSectionSize())
        self.detail = label()
        self.detail.setAccessibleName(self.tr("What was found of the chosen rule"))
        self.given = label("", "muted")
        self.add = button(self.tr("Add a &verdict\u2026"), self._ask_verdict)
        self.leave_out = button(self.tr("&Leave out the verdicts"), check.leave_out_verdicts)
        verdicts = layouts.row((self.given, 1), self.add, self.leave_out)
        self._rest = QWidget()  # stands for the table, so that what is below it stays where it is
        layouts.fill(page.column, self.about, (self.table, 1), self.detail, (self._rest, 1), verdicts)
        choose = button(self.tr("Choose the &rules\u2026"), self._ask_rules)
        start = button(self.tr("Check &again"), check.start)
        self.close_button = button(self.tr("&Close"), self.close)
        self.arrange(page, choose, start, self.close_button)
        self.table.selectionModel().selectionChanged.connect(self._show_detail)

    def refresh(self) -> None:
        """Show where the check stands, or what came of each rule."""
        check, found = self.check, self.check.found
        super().refresh()
        self.start.setEnabled(check.rules is not None and not check.working)
        for each in (self.add, self.leave_out):
            each.setEnabled(not check.working)
        look, sentence = self._headline()
        self.top.show_look(look, sentence)
        self.page.colour(self, Tone.BAD.value if look.tone is Tone.BAD else "")
        tell(
            self.notice,
            self.tr("Nothing is replayed. All that the trainer signed could be untrue: a rule on a verdict asks that "
                    "somebody looked."),
            Tone.INFO,
        )  # fmt: skip
        for part in (self.about, self.table, self.detail):
            part.setVisible(found is not None)
        self._rest.setVisible(found is None)
        self.leave_out.setVisible(bool(check.verdicts))
        names = ", ".join(map(name_of, check.verdicts))
        self.given.setText(
            self.tr("Verdicts that are given: {0}").format(names)
            if names
            else self.tr("No verdict is given: a rule that asks for one cannot be told.")
        )
        restyle(self.choose, "primary", check.rules is None)
        restyle(self.close_button, "primary", found is not None)
        self.about.show_fields(self._about())
        results = () if found is None else found.results
        # What asks for something to be done stands above what does not.
        self.model.show_records(sorted(results, key=lambda each: _FIRST.index(each.outcome)))
        if results:
            self.table.selectRow(0)
        self._show_detail()

    def _headline(self) -> tuple[Look, str]:
        check, found = self.check, self.check.found
        said = translate(check.progress.what) if check.progress is not None else self.tr("The run is opened.")
        if unfinished := self.unfinished(self.tr("Being checked"), said, self.tr("Not checked")):
            return unfinished
        if check.rules is None:
            return Look(self.tr("No rules yet"), "waiting", Tone.INFO), (
                self.tr("Choose a file of rules.")
                if layouts.is_elsewhere()
                else self.tr("Choose a file of rules, or drop one here.")
            )
        if found is None:
            return Look(self.tr("Not checked"), "waiting", Tone.INFO), self.tr("The check was stopped.")
        said = self.tr("Held: {0}. Broken: {1}. Cannot be told: {2}.").format(
            *(
                text.count(sum(each.outcome is outcome for each in found.results))
                for outcome in (RuleOutcome.HELD, RuleOutcome.BROKEN, RuleOutcome.CANNOT_BE_TOLD)
            )
        )
        looks = {
            RuleOutcome.HELD: Look(self.tr("HELD: the run holds every rule"), "passed", Tone.OK),
            RuleOutcome.BROKEN: Look(self.tr("BROKEN: the run breaks a rule"), "failed", Tone.BAD),
            RuleOutcome.CANNOT_BE_TOLD: Look(
                self.tr("CANNOT BE TOLD: nothing says whether a rule is held"), "inconclusive", Tone.WARN
            ),
        }
        return looks[found.outcome], said

    def _about(self) -> list[Field]:
        check, found = self.check, self.check.found
        if check.rules is None or found is None:
            return []
        titled = [Field(self.tr("Title"), found.title)] if found.title else []
        return [
            Field(self.tr("Rules"), str(check.rules), exact=True),
            *titled,
            digest_field(self.tr("SHA-256"), found.rules, ""),
            digest_field(self.tr("Run root"), found.run_root, ""),
        ]

    def _columns(self) -> list[Column[RuleResult]]:
        return [
            Column(self.tr("Outcome"), lambda each: self._look(each).word, 22, look=self._look),
            Column(self.tr("Rule"), lambda each: each.rule, 28, tip=lambda each: each.rule),
            Column(self.tr("Bound by"), lambda each: translate(each.bound_by), 25),
            Column(
                self.tr("What was found"), lambda each: translate(each.said), 30,
                tip=lambda each: translate(each.said),
            ),
        ]  # fmt: skip

    def _look(self, result: RuleResult) -> Look:
        return {
            RuleOutcome.HELD: Look(self.tr("held"), "passed", Tone.OK),
            RuleOutcome.BROKEN: Look(self.tr("broken"), "failed", Tone.BAD),
            RuleOutcome.CANNOT_BE_TOLD: Look(self.tr("cannot be told"), "inconclusive", Tone.WARN),
        }[result.outcome]

    def _show_detail(self, *_changed: object) -> None:
        rows = layouts.chosen_rows(self.table)
        if not rows:
            self.detail.clear()
            return
        chosen = self.model.records[rows[0]]
        self.detail.setText(f"{chosen.rule}: {translate(chosen.said)}")

    # What is chosen

    def _take_dropped(self, paths: list[Path]) -> None:
        """Take rules and verdicts by how their names end."""
        for path in paths:
            (self.verdict_chosen if path.name.lower().endswith(VERDICT_ENDING) else self.rules_chosen).emit(path)

    def _ask_rules(self) -> None:
        kinds = self.tr("Rules (*.toml);;All files (*)")
        if path := existing_file(self, self.tr("The rules"), self._folder, kinds):
            self._folder = path.parent
            self.rules_chosen.emit(path)

    def _ask_verdict(self) -> None:
        kinds = self.tr("Verdicts (*.json)")
        if path := existing_file(self, self.tr("A verdict on the run"), self._folder, kinds):
            self.verdict_chosen.emit(path)
