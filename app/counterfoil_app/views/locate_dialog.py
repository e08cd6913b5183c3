"""Which step of a run holds a hash that is pasted, or weights that are chosen or dropped here."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from PySide6.QtWidgets import QWidget

from counterfoil import Digest, Located
from counterfoil_app.engine import strangers
from counterfoil_app.engine.strangers import name_of
from counterfoil_app.looks import lookup_words, text, words
from counterfoil_app.looks.theme import Theme, Tone
from counterfoil_app.looks.words import Look
from counterfoil_app.model.questions import Locating, read_hash
from counterfoil_app.views import layouts
from counterfoil_app.views.inquiry import InquiryDialog
from counterfoil_app.views.layouts import button, existing_file, line_edit
from counterfoil_app.views.parts import Field, FieldGrid, Page, label, restyle, tell
from counterfoil_app.views.tables import Column, RecordTable, fit_height, table_view

SIZE = (820, 560)
MOST_TYPED = 80
"""Characters of the line for a hash: 64 digits, and blanks that were pasted along."""


@dataclass(frozen=True)
class _Line:
    """A place of a hash, or a stored state: after which step, whether that is what was looked for, and what it is."""

    step: int | None
    holds: bool
    what: str


class LocateDialog(InquiryDialog):
    """Looks for a hash or for weights in one run.

    Args:
        locating: The search.
        theme: The theme of the application.
    """

    def __init__(self, locating: Locating, theme: Theme, parent: QWidget | None = None) -> None:
        super().__init__(locating, theme, SIZE, parent)
        self.setWindowTitle(self.tr("Find in the run {0}").format(name_of(locating.run)))
        self.take_files(lambda paths: locating.look_for(paths[0]))
        self.locating = locating
        self._shown: Located | None = None
        self.progress.setAccessibleName(self.tr("Progress of the search"))
        page = Page(self.tr("What was found"))
        self.hash = line_edit(
            name=self.tr("Hash"),
            hint=self.tr("64 hexadecimal digits: a run root, the root of a state, a tensor digest, a chunk's hash"),
            most=MOST_TYPED,
            clearable=True,
        )
        self.model: RecordTable[_Line] = RecordTable(self._columns(), theme, self)
        self.table = table_view(self.model, self.tr("Where it stands"))
        self.facts = FieldGrid()
        line = layouts.row(label(self.tr("Hash"), wrap=False), (self.hash, 1))
        layouts.fill(page.column, line, self.table, self.facts, 1)
        choose = button(self.tr("Choose &weights\u2026"), self._choose_weights)
        start = button(self.tr("&Find the hash"), self._find_hash)
        self.close_button = button(self.tr("&Close"), self.close)
        self.hash.textChanged.connect(self.refresh)
        self.hash.returnPressed.connect(self._find_hash)
        self.arrange(page, choose, start, self.close_button)
        for each in (choose, start, self.stop, self.close_button):
            each.setAutoDefault(False)  # Enter in the line looks for the hash, and does nothing else

    # What the user does

    def _find_hash(self) -> None:
        wanted = read_hash(self.hash.text())
        if wanted is not None:
            self.locating.look_for(wanted)

    def _choose_weights(self) -> None:
        kinds = self.tr("Weights (*.safetensors);;All files (*)")
        if path := existing_file(self, self.tr("Weights to be found"), self.locating.run.parent, kinds):
            self.locating.look_for(path)

    # Showing

    def refresh(self) -> None:
        """Show where the search stands."""
        locating, found = self.locating, self.locating.found
        self.top.show_look(*self._headline())
        tell(self.notice, *self._rests_on())
        super().refresh()
        self.start.setEnabled(not locating.working and read_hash(self.hash.text()) is not None)
        lines = [] if found is None else _lines(found, self.tr("these weights"))
        if found is not self._shown:
            self._shown = found
            self.model.show_records(lines)
            fit_height(self.table)
            self._show_nearest(lines)
        self.table.setVisible(bool(lines))
        self.facts.show_fields(self._fields())
        wanted = self.start if self.start.isEnabled() and found is None else self.close_button
        for one in (self.choose, self.start, self.close_button):
            restyle(one, "primary", one is wanted and (found is not None or one is self.start))

    def _show_nearest(self, lines: list[_Line]) -> None:
        """Bring the state into view that is meant, among all that are stored."""
        found = self.locating.found
        if found is not None and found.weights:
            best = max(range(len(lines)), key=lambda place: (lines[place].holds, found.weights[place].same))
            self.table.selectRow(best)
            self.table.scrollTo(self.model.index(best, 0))

    def _columns(self) -> list[Column[_Line]]:
        def look(line: _Line) -> Look:
            if line.holds:
                return Look(self.tr("here"), "passed", Tone.OK)
            return Look(self.tr("another state"), "skipped", Tone.MUTED)

        return [
            Column(
                self.tr("After step"), lambda one: "" if one.step is None else text.count(one.step), 12, numeric=True
            ),
            Column(self.tr("Result"), lambda line: look(line).word, 18, look=look),
            Column(self.tr("What"), lambda line: line.what, 44, tip=lambda line: line.what),
        ]

    def _headline(self) -> tuple[Look, str, str]:
        locating, found = self.locating, self.locating.found
        said = self.tr("The run is read up to the root that its trainer signed, and every stored state compared.")
        if unfinished := self.unfinished(self.tr("Being looked for"), said, self.tr("Not looked for")):
            return *unfinished, ""
        if locating.wanted is None:
            asked = self.tr("Paste a hash, or choose weights or drop them here. Nothing is replayed.")
            return Look(self.tr("Which step holds it?"), "compare", Tone.INFO), asked, ""
        if found is None:
            return Look(self.tr("Not looked for"), "waiting", Tone.INFO), self.tr("The search was stopped."), ""
        if isinstance(locating.wanted, Digest):
            return self._hash_found(found)
        return self._weights_found(found)

    def _hash_found(self, found: Located) -> tuple[Look, str, str]:
        if not found.places:
            return (
                Look(self.tr("Not in this run"), "inconclusive", Tone.WARN),
                self.tr("Nothing that this run stores or digests has this hash."),
                self.tr("What is in a state that is digested and not stored cannot be found."),
            )
        first, more = found.places[0], len(found.places) - 1
        said = self.tr("It is {0}.").format(lookup_words.place_said(first))
        if first.step is not None:
            said = self.tr("It is {0}, after step {1}.").format(lookup_words.place_said(first), text.count(first.step))
        if more:
            said += " " + self.tr("It stands at further places: {0}.").format(text.count(more))
        return Look(self.tr("Found in this run"), "passed", Tone.OK), said, ""

    def _weights_found(self, found: Located) -> tuple[Look, str, str]:
        steps = [state.step for state in found.weights if state.holds]
        limits = self.tr("Weights between two stored states, or of a step that is not stored, cannot be found.")
        if not steps:
            look = Look(self.tr("Not in this run"), "inconclusive", Tone.WARN)
            nearest = max(found.weights, key=lambda state: state.same, default=None)
            if nearest is None or not nearest.same:
                return look, self.tr("No stored state of this run has a tensor in common with these weights."), limits
            said = self.tr("No stored state of this run is these weights. Nearest is step {0}: {1}.")
            return look, said.format(text.count(nearest.step), lookup_words.weights_said(nearest)), limits
        if len(steps) == 1:
            title = self.tr("The weights after step {0}").format(text.count(steps[0]))
            said = self.tr("All tensors are those of the run, as they are or cast to a smaller dtype.")
        else:
            title = self.tr("The weights after several steps")
            said = self.tr("They are the state after each of these steps: {0}.").format(words.number_list(steps))
        return Look(title, "passed", Tone.OK), said, ""

    def _rests_on(self) -> tuple[str, Tone]:
        return (
            self.tr("Found means that this run holds it. Whether the run is what was ordered, a verdict says."),
            Tone.INFO,
        )

    def _fields(self) -> list[Field]:
        locating = self.locating
        fields = [Field(self.tr("Run"), strangers.sentence(str(locating.run)), exact=True)]
        if isinstance(locating.wanted, Path):
            fields.append(Field(self.tr("Weights"), strangers.sentence(str(locating.wanted)), exact=True))
        elif locating.wanted is not None:
            fields.append(Field(self.tr("Hash"), locating.wanted.hex, exact=True))
        return fields


def _lines(found: Located, whole: str) -> list[_Line]:
    places = [_Line(place.step, True, lookup_words.place_said(place)) for place in found.places]
    return places + [
        _Line(state.step, state.holds, whole if state.holds else lookup_words.weights_said(state))
        for state in found.weights
    ]
