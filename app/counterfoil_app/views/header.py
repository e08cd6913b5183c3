"""The top of the window: the outcome so far, in words, colour and icon, what it rests on, and the next thing to do."""

from __future__ import annotations

import time
from collections.abc import Mapping

from PySide6.QtCore import QElapsedTimer, QSize, Qt
from PySide6.QtGui import QAction, QMouseEvent, QMoveEvent, QPainter, QPaintEvent, QResizeEvent, QShowEvent, QTextLayout
from PySide6.QtWidgets import QFrame, QLabel, QPushButton, QSizePolicy, QWidget

from counterfoil import CheckState, Level, Outcome, SegmentRequest, TrainerTrust
from counterfoil_app.engine.strangers import name_of, plain
from counterfoil_app.looks import text, words
from counterfoil_app.looks.engine_words import failure_text, translate
from counterfoil_app.looks.fonts import scale
from counterfoil_app.looks.theme import Theme, Tone
from counterfoil_app.looks.tips import set_tip
from counterfoil_app.looks.words import Look
from counterfoil_app.model.eventloop import follow
from counterfoil_app.model.open_bundle import Phase
from counterfoil_app.model.progress import RateMeter
from counterfoil_app.model.session import Session
from counterfoil_app.views import layouts
from counterfoil_app.views.checks import TrustDoors
from counterfoil_app.views.parts import enlarge, hold_width, label, name_after, restyle, show_icon
from counterfoil_core.base.sentence import Sentence

ICON_PIXELS = 40
LINES = 2
"""Lines of the sentence: whatever is said, the header is as high."""
LEAST_CHARACTERS = 40
"""Characters of a line of the sentence, below which what the outcome rests on stands below it."""
GUARD_MILLISECONDS = 400
"""A person needs longer than this to see that something moved under the pointer, and not to click."""


class ActionButton(QPushButton):
    """A button that shows and triggers one of the window's actions.

    Args:
        action: The action.
        primary: Whether it is the obvious thing to do.
        guarded: Whether it stands among things that move, or becomes that of another action: a click is then taken only
            if the button has been in its place, and that of its action, for :data:`GUARD_MILLISECONDS`, so that one
            that was meant for what stood there does nothing.
    """

    def __init__(
        self, action: QAction, *, primary: bool = False, guarded: bool = False, parent: QWidget | None = None
    ) -> None:
        super().__init__(parent)
        self.shown = action
        self._placed = QElapsedTimer() if guarded else None
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        self.setProperty("primary", primary)
        self.clicked.connect(lambda _checked=False: self.shown.trigger())
        action.changed.connect(self._refresh)
        self._refresh()

    def become(self, action: QAction) -> None:
        """Show and trigger another action from now on."""
        if action is not self.shown:
            self.shown.changed.disconnect(self._refresh)
            self.shown = action
            action.changed.connect(self._refresh)
            self._note_place()
            self._refresh()

    @property
    def settled(self) -> bool:
        """Whether a click is taken."""
        timer = self._placed
        return timer is None or not timer.isValid() or timer.elapsed() >= GUARD_MILLISECONDS

    def moveEvent(self, event: QMoveEvent) -> None:  # noqa: N802 - Qt's name
        """Note that it stands elsewhere."""
        self._note_place()
        super().moveEvent(event)

    def showEvent(self, event: QShowEvent) -> None:  # noqa: N802 - Qt's name
        """Note that it stands where it did not."""
        self._note_place()
        super().showEvent(event)

    def mousePressEvent(self, event: QMouseEvent) -> None:  # noqa: N802 - Qt's name
        """Take a click that was meant for it."""
        if self.settled:
            super().mousePressEvent(event)

    def _note_place(self) -> None:
        if self._placed is not None:
            self._placed.start()

    def _refresh(self) -> None:
        self.setText(name_after(self, self.shown))
        hold_width(self)


OFFERED = ("replay", "pause", "go_on", "compare", "name_trainer", "verdict", "hand_over", "open",
           "data", "conclude")  # fmt: skip
"""The window's actions of which one is the next thing to do."""


class ShortenedText(QLabel):
    """Plain text on a fixed number of lines; what does not fit is in the tool tip, and is read out whole."""

    def __init__(self, lines: int) -> None:
        super().__init__()
        self._lines = lines
        self.setTextFormat(Qt.TextFormat.PlainText)
        self.setSizePolicy(QSizePolicy.Policy.Ignored, QSizePolicy.Policy.Fixed)

    def sizeHint(self) -> QSize:  # noqa: N802 - Qt's name
        """As high as its lines, and wide enough for a few words."""
        return QSize(LEAST_CHARACTERS // 3 * self.fontMetrics().averageCharWidth(), self._lines * self._line_height)

    minimumSizeHint = sizeHint  # noqa: N815 - Qt's name

    @property
    def _line_height(self) -> int:
        return self.fontMetrics().lineSpacing()

    @property
    def shown_lines(self) -> list[str]:
        """The lines as they are drawn; the last of them ends in dots where more is to be said."""
        whole, width = self.text().replace("\n", " "), max(1, self.width())
        layout = QTextLayout(whole, self.font())
        layout.beginLayout()
        lines: list[str] = []
        while (line := layout.createLine()).isValid():
            line.setLineWidth(width)
            start = line.textStart()
            if len(lines) == self._lines - 1:
                rest = whole[start:]
                lines.append(self.fontMetrics().elidedText(rest, Qt.TextElideMode.ElideRight, width))
                break
            lines.append(whole[start : start + line.textLength()].rstrip())
        layout.endLayout()
        return lines

    def paintEvent(self, _event: QPaintEvent) -> None:  # noqa: N802 - Qt's name
        """Draw the lines."""
        painter, lines = QPainter(self), self.shown_lines
        painter.setPen(self.palette().windowText().color())
        for number, line in enumerate(lines):
            painter.drawText(0, number * self._line_height + self.fontMetrics().ascent(), line)
        painter.end()

    def say(self, sentence: str) -> None:
        """Show another text."""
        self.setText(sentence)
        set_tip(self, sentence)


class HeaderView(QFrame):
    """The outcome so far with what it rests on, whose run it is, and the next thing to do; always of one height.

    Args:
        session: What is shown.
        theme: The theme of the application.
        actions: The window's actions by their names, those of :data:`OFFERED` among them.
    """

    def __init__(self, session: Session, theme: Theme, actions: Mapping[str, QAction]) -> None:
        super().__init__()
        self.setObjectName("header")
        self.setSizePolicy(QSizePolicy.Policy.Preferred, QSizePolicy.Policy.Fixed)
        self._session = session
        self._theme = theme
        self._actions = actions
        self._trial = ""
        self._check_template, self._check_speed = "", RateMeter()
        self.icon = QLabel()
        self.icon.setFixedSize(scale(ICON_PIXELS), scale(ICON_PIXELS))
        self.outcome = enlarge(label(wrap=False), 1.5)
        self.outcome.setObjectName("outcome")
        self.where = enlarge(label("", wrap=False), 1.2)
        self.about = ShortenedText(1)
        self.about.setProperty("role", "muted")
        self.sentence = ShortenedText(LINES)
        self.trust = TrustDoors(theme)
        self.primary = ActionButton(actions["replay"], primary=True, guarded=True)
        first = layouts.row(self.outcome, self.where, (self.about, 1), spacing=10, margins=layouts.NONE)
        second = layouts.row((self.sentence, 1), self.trust, spacing=16, margins=layouts.NONE)
        grid = layouts.grid(across=14, down=2)
        grid.addWidget(self.icon, 0, 0, 2, 1, Qt.AlignmentFlag.AlignVCenter)
        grid.addLayout(first, 0, 1)
        grid.addWidget(self.primary, 0, 2, Qt.AlignmentFlag.AlignRight)
        grid.addLayout(second, 1, 1, 1, 2)
        layouts.column(grid, inside=self, margins=(14, 6, 14, 6))
        # Whatever is there and is not: what stands below must not jump.
        for widget in (self.trust, self.where, self.primary):
            kept = widget.sizePolicy()
            kept.setRetainSizeWhenHidden(True)
            widget.setSizePolicy(kept)
        follow(self.refresh, session.phase_changed, session.bundle_changed, session.progress_changed)
        follow(self.refresh, session.checks_changed)
        follow(self.refresh, session.dispute_changed, session.devices_changed, theme.changed)
        self.refresh()

    def tell_trial(self, said: str) -> None:
        """Say beside what was found what fits it by trial, which proves nothing; empty for nothing."""
        if said != self._trial:
            self._trial = said
            self.refresh()

    def resizeEvent(self, event: QResizeEvent) -> None:  # noqa: N802 - Qt's name
        """Leave the sentence its room."""
        self._fit_trust()
        super().resizeEvent(event)

    def _fit_trust(self) -> None:
        left = self.width() - self.trust.words_width - 2 * scale(ICON_PIXELS)
        self.trust.use_words(left >= LEAST_CHARACTERS * self.fontMetrics().averageCharWidth())

    def refresh(self) -> None:
        """Show where the session stands."""
        look = self._headline()
        show_icon(self.icon, look, self._theme, ICON_PIXELS)
        self.outcome.setText(look.word)
        self.where.setText(self._place())
        self.about.say(self._about())
        self.sentence.say(self._sentence())
        for widget in (self, self.outcome):
            restyle(widget, "tone", look.tone.value)
        self._show_trust()
        name = self._next_name()
        self.primary.become(self._actions[name or "replay"])
        restyle(self.primary, "primary", bool(name))

    def _place(self) -> str:
        """Where the dispute is."""
        dispute, total = self._session.dispute, self._session.step_data.count
        if dispute is None or not dispute.step:
            return ""
        return self.tr("at step {0} of {1}").format(text.count(dispute.step), text.count(total))

    def _about(self) -> str:
        """Which run it is, and where it is replayed."""
        session = self._session
        if session.path is None:
            return ""
        return f"{name_of(session.path)}, {session.device}"

    def _show_trust(self) -> None:
        self.trust.show_trust(self._session.trust, self._session.trainer_name)
        self._fit_trust()

    def _headline(self) -> Look:
        session = self._session
        if session.phase is Phase.CONCLUDED and session.report is not None:
            return words.conclusion(session.report, session.trust)
        if session.phase is Phase.READY and session.summary is not None:
            if session.summary.run is None:
                return Look(self.tr("Order, not yet run"), "order", Tone.INFO)
            if session.refused_so_far:
                return Look(self.tr("Cannot be accepted"), "refused", Tone.WARN)
            return Look(self.tr("Not yet replayed"), "waiting", Tone.INFO)
        running = Tone.INFO if session.dispute is None else Tone.BAD
        return {
            Phase.LOADING: Look(self.tr("Opening"), "waiting", Tone.INFO),
            Phase.UNREADABLE: Look(words.as_signed("REFUSED"), "refused", Tone.WARN),
            Phase.REPLAYING: Look(self.tr("Replaying"), "running", running),
            Phase.PAUSED: Look(self.tr("Paused"), "pause", running),
            Phase.STOPPING: Look(self.tr("Stopping"), "waiting", running),
            Phase.FAILED: self._failed_look(),
        }.get(session.phase, Look(self.tr("Nothing is open"), "waiting", Tone.MUTED))

    def _failed_look(self) -> Look:
        failure = self._session.failure
        if failure is not None and not failure.expected:
            return Look(words.as_signed("ERROR"), "error", Tone.WARN)
        return Look(words.as_signed("INCONCLUSIVE"), "inconclusive", Tone.WARN)

    def _sentence(self) -> str:
        session = self._session
        if session.phase is Phase.CONCLUDED and session.report is not None:
            dispute = session.report.dispute
            if dispute is not None and dispute.accuses:  # what was found; what follows from it is in the finding
                reason = words.dispute_difference(plain(dispute))
                if self._trial:
                    reason += " " + self.tr("Found by trial, unsigned: {0}").format(self._trial)
            else:
                reason = words.reason(session.report, session.trust)
            if session.kept is not None:
                reason += " " + words.kept_replay(session.kept)
            if session.verdict_file is not None:
                reason += " " + self.tr("The signed verdict is in {0}.").format(session.verdict_file)
            if session.handed_over is not None:
                reason += " " + self.tr("What others get is in {0}.").format(session.handed_over)
            return reason
        if session.failure is not None:
            return failure_text(session.failure)
        if session.phase is Phase.LOADING and session.path is not None:
            return self.tr("Reading {0}").format(name_of(session.path))
        if session.running:
            return self._running_sentence()
        return self._ready_sentence()

    def _ready_sentence(self) -> str:
        session, summary = self._session, self._session.summary
        if summary is None:
            return ""
        if summary.run is None or session.refused_so_far:
            return translate(summary.sentence)
        about = (summary.order.title, words.recorded_steps(summary.run.steps, summary.order.steps))
        if session.lacks_data:
            lacking = self.tr("{0}: {1} steps. The data lie in a file of their own, {2}: choose it to replay.")
            return lacking.format(*about, session.data_file)
        if session.replayed_elsewhere:
            return self.tr("{0}: {1} steps. Another window replays this run at this moment.").format(*about)
        if session.kept is not None:
            return self.tr("{0}: {1} steps. A replay was stopped. {2}").format(*about, words.kept_replay(session.kept))
        if session.segments != SegmentRequest():
            return self.tr("{0}: {1} steps. Planned: {2}.").format(*about, words.segments(session.segments))
        return self.tr("{0}: {1} steps. Replay them on this machine to see whether they come out the same.").format(
            *about
        )

    def _running_sentence(self) -> str:
        session = self._session
        progress = session.progress
        if session.dispute is not None:
            found = self.tr("Step {0} differs.").format(text.count(session.dispute.step))
            if session.resumed_from is not None:
                found += " " + self.tr("The replay goes on from the trainer's state of step {0}.").format(
                    text.count(session.resumed_from)
                )
            return found
        if not progress.replayed:
            return self._check_at_work() or self.tr("Checking the bundle and preparing the first step.")
        return self.tr("All {0} steps replayed so far match.").format(text.count(progress.replayed))

    def _check_at_work(self) -> str:
        """How far the check is that is made now, where it takes long, and how long it still takes; empty for none."""
        running = (check for check in self._session.checks.values() if check.state is CheckState.RUNNING)
        said = next((check.detail for check in running if isinstance(check.detail, Sentence)), "")
        if not isinstance(said, Sentence) or "%" not in said.template or not isinstance(said.values[-1], int):
            return ""
        if said.template != self._check_template:
            self._check_template = said.template
            self._check_speed.restart()
        self._check_speed.note(time.monotonic(), said.values[-1])
        left = self._check_speed.seconds_left(100)
        more = "" if left is None else " " + self.tr("{0} left").format(text.duration(left))
        return translate(said) + more

    def _next_name(self) -> str:
        session = self._session
        if session.running:
            return "go_on" if session.phase is Phase.PAUSED else "pause"
        if session.can_go_on:
            return "go_on"
        if session.phase is Phase.CONCLUDED:
            return self._next_after_the_end(session)
        if session.phase is Phase.UNREADABLE:
            return "open"
        if session.can_replay and session.other_order_given:
            return "compare"
        if session.can_replay and session.lacks_data:
            return "data"
        if session.can_replay:
            return "conclude" if session.only_refuses else "replay"
        return "" if session.phase is Phase.LOADING else "open"

    def _next_after_the_end(self, session: Session) -> str:
        """What is open of a verified run is closed first; then it is signed and handed over, at once if it accuses."""
        report, trust = session.report, session.trust
        if session.verdict_file is not None:
            return "hand_over" if session.handed_over is None else "open"
        if report is not None and report.outcome is Outcome.VERIFIED and trust is not None:
            if trust.trainer is TrainerTrust.NOT_NAMED and session.trainer_key:
                return "name_trainer"
            if trust.lines[0].level is Level.OPEN and session.order is None:
                return "compare"
        accuses = report is not None and report.outcome is Outcome.DISPUTED
        return "hand_over" if accuses else "verdict"
