"""What was ordered, what was run and by whom, and whether it matches: the numbered checks."""

from __future__ import annotations

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QGridLayout, QLabel, QWidget

from counterfoil import BundleSummary, Check, CheckNumber, CheckState
from counterfoil_app import icons, text
from counterfoil_app.engine_words import failure_text, translated
from counterfoil_app.session import Session
from counterfoil_app.theme import Theme, Tone
from counterfoil_app.views import words
from counterfoil_app.views.parts import Field, FieldGrid, Page, digest_field, label, restyle

ICON_PIXELS = 16


class CheckRow:
    """The widgets of one check in the grid of all."""

    def __init__(self, number: CheckNumber, grid: QGridLayout) -> None:
        self.icon = QLabel()
        self.icon.setFixedWidth(ICON_PIXELS + 4)
        self.title = label(words.check_title(number))
        self.detail = label("", "muted")
        row = 2 * int(number)
        grid.addWidget(self.icon, row, 0, Qt.AlignmentFlag.AlignTop)
        grid.addWidget(self.title, row, 1)
        grid.addWidget(self.detail, row + 1, 1)

    def show_check(self, check: Check, theme: Theme, ratio: float) -> None:
        """Show where the check stands, in a word, an icon and a sentence."""
        look = words.check_state(check.state)
        self.icon.setPixmap(icons.pixmap(look.icon, theme.tokens.tone(look.tone), ICON_PIXELS, ratio))
        self.icon.setAccessibleName(look.word)
        self.icon.setToolTip(look.word)
        word = look.word[:1].upper() + look.word[1:]
        quiet = check.state is CheckState.PENDING and not check.detail
        self.detail.setText("" if quiet else f"{word}. {translated(check.detail)}".strip())
        self.detail.setVisible(not quiet)


class OverviewView(Page):
    """The overview of the open bundle."""

    def __init__(self, session: Session, theme: Theme, parent: QWidget | None = None) -> None:
        super().__init__("", parent)
        self.setAccessibleName(self.tr("Overview"))
        self._session = session
        self._theme = theme
        self.sentence = label("", "notice")
        self.column.addWidget(self.sentence)
        self.column.addWidget(label(self.tr("Checks"), "section"))
        checks = QWidget()
        grid = QGridLayout(checks)
        grid.setContentsMargins(0, 2, 0, 2)
        grid.setVerticalSpacing(1)
        grid.setColumnStretch(1, 1)
        self.check_rows = {number: CheckRow(number, grid) for number in list(CheckNumber)}
        self.column.addWidget(checks)
        self._order = self._section(self.tr("Ordered"))
        self._run = self._section(self.tr("Run"))
        self._environment = self._section(self.tr("Trainer's environment"))
        self._data = self._section(self.tr("Data"))
        self.column.addStretch(1)
        session.bundle_changed.connect(self._show_bundle)
        session.phase_changed.connect(self._show_sentence)
        session.checks_changed.connect(self._show_checks)
        theme.changed.connect(self._show_checks)
        self._show_bundle()
        self._show_checks()

    def _section(self, title: str) -> FieldGrid:
        self.column.addWidget(label(title, "section"))
        grid = FieldGrid()
        self.column.addWidget(grid)
        return grid

    def _show_checks(self) -> None:
        for number, row in self.check_rows.items():
            row.show_check(self._session.checks[number], self._theme, self.devicePixelRatioF())

    def _show_bundle(self) -> None:
        self._show_sentence()
        summary, failure = self._session.summary, self._session.failure
        unknown = [Field(self.tr("Not known"), self.tr("The bundle could not be read."))] if failure else []
        self._order.show_fields(self._order_fields(summary) if summary else unknown)
        self._run.show_fields(self._run_fields(summary) if summary else unknown)
        self._environment.show_fields(self._environment_fields(summary) if summary else unknown)
        self._data.show_fields(self._data_fields(summary) if summary else unknown)

    def _show_sentence(self) -> None:
        summary, failure, report = self._session.summary, self._session.failure, self._session.report
        tone = Tone.WARN if self._session.refused_so_far else Tone.INFO
        sentence = ""
        if report is not None:
            sentence, tone = translated(report.reason), words.outcome(report.outcome).tone
        elif failure is not None:
            sentence, tone = failure_text(failure), Tone.WARN
        elif summary is not None:
            sentence = translated(summary.sentence)
        self.sentence.setText(sentence)
        self.sentence.setVisible(bool(sentence))
        restyle(self.sentence, "tone", tone.value)

    def _order_fields(self, summary: BundleSummary) -> list[Field]:
        order = summary.order
        client = summary.client_order
        if client is None:
            source = self.tr("taken from the bundle; the client's own file was not compared")
        elif client == order.digest:
            source = self.tr("equals the client's own file")
        else:
            source = self.tr("differs from the client's own file")
        fields = [
            Field(self.tr("Title"), order.title),
            Field(self.tr("Recipe"), order.recipe),
            Field(self.tr("Order"), source),
            Field(self.tr("Order digest"), order.digest.hex, digest=True),
        ]
        if client is not None:
            fields.append(Field(self.tr("Client's digest"), client.hex, digest=True))
        return [
            *fields,
            Field(
                self.tr("Steps"),
                self.tr("{0}, of {1} rows each").format(text.count(order.steps), text.count(order.batch_size)),
            ),
            Field(self.tr("Optimizer"), order.optimizer),
            Field(self.tr("Precision"), order.precision),
            Field(self.tr("Seed"), str(order.seed)),
            Field(
                self.tr("Program"),
                self.tr("{0} operators, {1} of them rounded").format(
                    text.count(order.operators), text.count(order.rounded_operators)
                ),
            ),
            Field(self.tr("Program digest"), order.program_digest.hex, digest=True),
            Field(
                self.tr("State"),
                self.tr("{0} parameters; {1} state tensors, {2}").format(
                    text.count(order.parameters), text.count(order.state_tensors), text.size(order.state_bytes)
                ),
            ),
            Field(self.tr("Initial state root"), order.initial_root.hex, digest=True),
            Field(
                self.tr("Commitments"),
                self.tr("state digested every {0}, stored every {1} steps").format(
                    text.count(order.commit_every), text.count(order.checkpoint_every)
                ),
            ),
        ]

    def _run_fields(self, summary: BundleSummary) -> list[Field]:
        size = Field(self.tr("File"), f"{summary.path} ({text.size(summary.file_bytes)})")
        run = summary.run
        if run is None:
            return [size, Field(self.tr("Recorded"), self.tr("nothing yet: this order has not been run"))]
        return [
            size,
            Field(self.tr("Recorded steps"), text.count(run.steps)),
            digest_field(self.tr("Run root"), run.run_root, self.tr("not signed")),
            Field(self.tr("Trainer's key"), run.trainer_key or self.tr("not signed"), digest=bool(run.trainer_key)),
            Field(self.tr("Signed at"), self.tr("{0}, as the trainer says").format(run.signed_at)),
            Field(self.tr("Stored states"), text.count(len(run.checkpoints))),
            Field(
                self.tr("Rounding log"),
                self.tr("{0} entries, {1}").format(text.count(sum(run.log_entries)), text.size(sum(run.log_bytes))),
            ),
        ]

    def _environment_fields(self, summary: BundleSummary) -> list[Field]:
        if summary.run is None:
            return [Field(self.tr("Not known"), self.tr("This order has not been run."))]
        return [Field(name, value) for name, value in summary.run.environment]

    def _data_fields(self, summary: BundleSummary) -> list[Field]:
        root = Field(self.tr("Data root"), summary.order.data_root.hex, digest=True)
        fields = [root]
        if self._session.data_file is not None:
            chosen = self._session.data
            missing = self.tr("{0}, not chosen yet").format(self._session.data_file)
            fields.append(Field(self.tr("Data file"), missing if chosen is None else str(chosen)))
        return [
            *fields,
            *(Field(array.name, f"{array.dtype}, {text.shape(array.shape)}") for array in summary.order.data),
        ]
