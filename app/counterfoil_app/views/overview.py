"""What was ordered against what was run, with the numbered checks; and the run, its order and whose keys they have."""

from __future__ import annotations

from functools import partial

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QLabel, QWidget

from counterfoil import BundleSummary, key_id_of, log_said, recorded_log_said
from counterfoil_app.looks import text, words
from counterfoil_app.looks.engine_words import translate
from counterfoil_app.looks.theme import Theme, Tone
from counterfoil_app.model.eventloop import follow
from counterfoil_app.model.key_book import KeyBook
from counterfoil_app.model.session import Session
from counterfoil_app.views import layouts
from counterfoil_app.views.checks import ChecksList
from counterfoil_app.views.comparison import ComparedField, compared_fields, compares_itself, order_lines
from counterfoil_app.views.frame import BesideOrBelow
from counterfoil_app.views.parts import (
    ElidedLabel,
    Field,
    FieldGrid,
    Page,
    caption,
    clear_layout,
    digest_field,
    label,
    restyle,
    show_icon,
)
from counterfoil_app.views.trainer_key import TrainerKeyPanel

ICON_PIXELS = 16
SOURCES_SHOWN = 12
"""So many of the files that an order was made from have a line; 'counterfoil inspect' lists all."""


class ComparisonGrid(QWidget):
    """Ordered on the left, run on the right, and whether each line is the same."""

    def __init__(self, theme: Theme, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._theme = theme
        self._shown: object = None
        self._grid = layouts.grid(inside=self, across=10, down=4, stretch=None)
        self._grid.setContentsMargins(0, 2, 0, 2)
        for column in (2, 3):
            self._grid.setColumnStretch(column, 1)

    def show_fields(self, ordered: str, fields: list[ComparedField]) -> None:
        """Replace what is shown; ``ordered`` is the heading of the left side."""
        content = (ordered, fields, self._theme.tokens)
        if content == self._shown:
            return
        self._shown = content
        clear_layout(self._grid)
        for column, title in ((2, ordered), (3, self.tr("Run"))):
            self._grid.addWidget(caption(title, "heading"), 0, column, Qt.AlignmentFlag.AlignBottom)
        for row, field in enumerate(fields, start=1):
            if field.run:
                self._grid.addWidget(self._mark(field), row, 0, Qt.AlignmentFlag.AlignTop)
            self._grid.addWidget(caption(field.name, "muted"), row, 1, Qt.AlignmentFlag.AlignTop)
            for column, value in ((2, field.ordered), (3, field.run)):
                shown: QLabel = ElidedLabel(value) if field.digest and value else label(value)
                shown.setAccessibleDescription(field.name)
                self._grid.addWidget(shown, row, column, Qt.AlignmentFlag.AlignTop)
        self._grid.activate()  # measure the texts now, and not when all views are shown at once

    def _mark(self, field: ComparedField) -> QLabel:
        mark = QLabel()
        mark.setFixedHeight(self.fontMetrics().height())
        look = words.not_compared() if field.same is None else words.equality(field.same)
        show_icon(mark, look, self._theme, ICON_PIXELS, tip=True)
        return mark


class ChecksView(Page):
    """The numbered checks of the open bundle, and its run compared with what was ordered.

    Args:
        session: The session.
        theme: The theme.
    """

    def __init__(self, session: Session, theme: Theme) -> None:
        super().__init__("")
        self.setAccessibleName(self.tr("Checks"))
        self._session = session
        self.sentence = label("", "notice")
        restyle(self.sentence, "tone", Tone.INFO.value)
        self.checks = ChecksList(session, session.checks_changed, theme)
        self.alone = caption(
            self.tr("Both sides are this file's own words: it was not compared with anybody's order."), "muted"
        )
        self.comparison = ComparisonGrid(theme)
        ordered = QWidget()
        layouts.column(
            caption(self.tr("Ordered against run"), "section"),
            self.alone,
            self.comparison,
            1,
            inside=ordered,
            margins=layouts.NONE,
        )
        asked = QWidget()
        layouts.column(caption(self.tr("Checks"), "section"), self.checks, 1, inside=asked, margins=layouts.NONE)
        self.sides = BesideOrBelow(asked, ordered)
        layouts.fill(self.column, self.sentence, self.sides, 1)
        follow(self._show_sentence, session.bundle_changed, session.phase_changed)
        session.bundle_changed.connect(partial(session.drawing.soon, self._show_comparison))
        theme.changed.connect(self._show_comparison)
        self._show_sentence()
        self._show_comparison()

    def _show_comparison(self) -> None:
        summary, client = self._session.summary, self._session.client
        ordered = self.tr("Client's order") if client is not None else self.tr("Order in the file")
        self.comparison.show_fields(ordered, compared_fields(summary, client) if summary is not None else [])
        has_run = summary is not None and summary.run is not None
        self.alone.setVisible(summary is not None and has_run and compares_itself(summary, client))

    def _show_sentence(self) -> None:
        """Say how far the file can be trusted; from the replay on the header says it."""
        session = self._session
        begun = session.running or session.report is not None or session.failure is not None
        self.sentence.setText(translate(session.summary.sentence) if session.summary is not None else "")
        self.sentence.setVisible(session.summary is not None and not begun and not session.refused_so_far)


class RunView(Page):
    """The open run: its order, what recorded it, its data, and the key that signed it.

    Args:
        session: The session.
        book: The known keys.
    """

    def __init__(self, session: Session, book: KeyBook) -> None:
        super().__init__("")
        self.setAccessibleName(self.tr("Run and keys"))
        self._session = session
        self._book = book
        self.trainer_key = TrainerKeyPanel(session, book)
        self._run, self._order, self._environment, self._data = FieldGrid(), FieldGrid(), FieldGrid(), FieldGrid()
        made, asked = QWidget(), QWidget()
        parts: dict[QWidget, list[tuple[str, QWidget]]] = {
            made: [
                (self.tr("Trainer's key"), self.trainer_key),
                (self.tr("The run"), self._run),
                (self.tr("Trainer's environment"), self._environment),
            ],
            asked: [(self.tr("The order"), self._order), (self.tr("Data"), self._data)],
        }
        for side, sections in parts.items():
            shown = [part for title, grid in sections for part in (caption(title, "section"), grid)]
            layouts.column(*shown, 1, inside=side, margins=layouts.NONE)
        layouts.fill(self.column, BesideOrBelow(made, asked), 1)
        for signal in (session.bundle_changed, book.changed, session.concluded):
            signal.connect(partial(session.drawing.soon, self._show_sections))
        self._show_sections()

    def _show_sections(self) -> None:
        summary, failure = self._session.summary, self._session.failure
        unknown = [Field(self.tr("Not known"), self.tr("The bundle could not be read."))] if failure else []
        for grid, fields in (
            (self._order, self._option_fields),
            (self._run, self._run_fields),
            (self._environment, self._environment_fields),
            (self._data, self._data_fields),
        ):
            grid.show_fields(fields(summary) if summary else unknown)

    def _margins(self, summary: BundleSummary) -> str:
        order = summary.order
        if order.exact_bits is not None:
            return self.tr("none: every result is defined")
        if order.without_bound is None:
            return ""
        if not order.without_bound:
            return self.tr("proven for every operator")
        return self.tr("without a proven bound: {0}").format(", ".join(order.without_bound))

    def _option_fields(self, summary: BundleSummary) -> list[Field]:
        order = summary.order
        # With the client's file these stand in the comparison above.
        compared = [Field(name, value, exact=exact) for name, value, exact in order_lines(summary)]
        unread = self.tr("not read yet")
        taken = order.estimate
        return [
            *self._consent_fields(summary),
            *(compared if self._session.client is None else []),
            Field(self.tr("Recipe"), order.recipe),
            *self._script_fields(summary),
            Field(self.tr("Operators"), text.count(order.operators) if order.operators else unread),
            Field(self.tr("Rounded"), text.count(order.rounded_operators) if order.operators else unread),
            *([Field(self.tr("Recomputed"), text.count(order.repeated_operators))] if order.repeated_operators else []),
            Field(self.tr("A step takes"), unread if taken is None else text.step(taken.bytes, taken.flops)),
            Field(self.tr("Margins"), self._margins(summary) or unread),
            Field(self.tr("Precision, exactly"), words.precision(order.precision, exactly=True)),
            Field(
                self.tr("State"),
                self.tr("{0} parameters; {1} state tensors, {2}").format(
                    text.count(order.parameters), text.count(order.state_tensors), text.size(order.state_bytes)
                ),
            ),
            Field(
                self.tr("Commitments"),
                self.tr("state digested every {0}, stored every {1} steps").format(
                    text.count(order.commit_every), text.count(order.checkpoint_every)
                ),
            ),
        ]

    def _script_fields(self, summary: BundleSummary) -> list[Field]:
        """How far the order was compared with the script that it came from, for who knows these keys."""
        book = self._book
        line = summary.compared(
            tuple(map(key_id_of, book.counting)),
            client_known=book.is_client(summary.order.client_key),
            revoked=book.revoked.covers,
        )
        if line is None:
            return []
        return [Field(self.tr("Script"), translate(line.said), tone=Tone.WARN if line.less else None)]

    def _consent_fields(self, summary: BundleSummary) -> list[Field]:
        """Who stands by the order: its client, and its trainer."""
        order, run = summary.order, summary.run
        known = self._book.find(order.client_key)
        revoked = self._book.revoked.of(order.client_key)
        fields = [
            Field(self.tr("Client's signature"), words.order_signature(order.client_key, known, order.signed_at)),
            *([Field(self.tr("Client's key"), order.client_key, exact=True)] if order.client_key else []),
            *([] if revoked is None else [Field(self.tr("Client's key is revoked"), words.revocation(revoked))]),
        ]
        if run is not None:
            accepted = words.order_acceptance(bool(run.accepted_at), run.accepted_at)
            fields.append(Field(self.tr("Trainer's acceptance"), accepted))
        return fields

    def _run_fields(self, summary: BundleSummary) -> list[Field]:
        file = (
            Field(self.tr("File"), summary.path, exact=True),
            Field(self.tr("Size"), text.size(summary.file_bytes)),
        )
        run = summary.run
        if run is None:
            return [*file, Field(self.tr("Recorded"), self.tr("nothing yet: this order has not been run"))]
        return [
            *file,
            digest_field(self.tr("Run root"), run.run_root, self.tr("not signed")),
            Field(self.tr("Signed at"), self.tr("{0}, as the trainer says").format(text.moment(run.signed_at))),
            Field(self.tr("Stored states"), text.count(len(run.checkpoints))),
            Field(self.tr("Rounding log"), translate(recorded_log_said(run.recorded))),
            *self._judged_fields(),
        ]

    def _judged_fields(self) -> list[Field]:
        """What the report says of the log, which is about fewer steps than the trainer recorded."""
        report = self._session.report
        if report is None or report.exact_bits is not None or not report.steps_replayed:
            return []
        return [Field(self.tr("of it judged"), translate(log_said(report)))]

    def _environment_fields(self, summary: BundleSummary) -> list[Field]:
        if summary.run is None:
            return [Field(self.tr("Not known"), self.tr("This order has not been run."))]
        return [Field(words.environment(name), value) for name, value in summary.run.environment]

    def _data_fields(self, summary: BundleSummary) -> list[Field]:
        fields = []
        if self._session.data_file is not None:
            chosen = self._session.data
            missing = self.tr("{0}, not chosen yet").format(self._session.data_file)
            fields.append(Field(self.tr("Data file"), missing if chosen is None else str(chosen)))
        return [
            *fields,
            *(Field(array.name, f"{array.dtype}, {text.shape(array.shape)}") for array in summary.order.data),
            *self._source_fields(summary),
        ]

    def _source_fields(self, summary: BundleSummary) -> list[Field]:
        """The files that the order was made from, as the client says."""
        sources = summary.order.sources
        more = len(sources) - SOURCES_SHOWN
        revisions = {file.revision: None for file in sources if file.revision is not None}
        return [
            *(Field(self.tr("Revision"), revision, exact=True) for revision in revisions),
            *(
                Field(self.tr("Made from"), f"{file.file}, SHA-256 {file.digest.hex}", exact=True)
                for file in sources[:SOURCES_SHOWN]
            ),
            *([Field(self.tr("Made from"), self.tr("{0} more files").format(text.count(more)))] if more > 0 else []),
        ]
