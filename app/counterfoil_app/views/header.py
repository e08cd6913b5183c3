"""The strip at the top: what can be done, and the outcome so far in words, colour and icon, with what it rests on."""

from __future__ import annotations

from collections.abc import Mapping

from PySide6.QtCore import QElapsedTimer, Qt
from PySide6.QtGui import QAction, QMouseEvent, QMoveEvent, QResizeEvent, QShowEvent
from PySide6.QtWidgets import QComboBox, QFrame, QLabel, QPushButton, QWidget

from counterfoil import Outcome, SegmentRequest, WorkerState
from counterfoil_app.engine.strangers import name_of, plain
from counterfoil_app.looks import text, words
from counterfoil_app.looks.engine_words import failure_text, translate
from counterfoil_app.looks.fonts import scale
from counterfoil_app.looks.limits import not_said
from counterfoil_app.looks.theme import Theme, Tone
from counterfoil_app.looks.tips import copy_tip, set_tip
from counterfoil_app.looks.words import Look
from counterfoil_app.model.eventloop import follow
from counterfoil_app.model.open_bundle import Phase
from counterfoil_app.model.session import Session
from counterfoil_app.views import layouts
from counterfoil_app.views.checks import TrustBar
from counterfoil_app.views.frame import FlowLayout
from counterfoil_app.views.parts import enlarge, hold_width, label, restyle, show_icon

ICON_PIXELS = 44
SENTENCE_CHARACTERS = 60
DEVICE_CHARACTERS = 40
SPACING = 8
GUARD_MILLISECONDS = 400
"""A person needs longer than this to see that something moved under the pointer, and not to click."""


class ActionButton(QPushButton):
    """A button that shows and triggers one of the window's actions; it never becomes that of another.

    Args:
        action: The action.
        primary: Whether it is the obvious thing to do.
        guarded: Whether it stands among things that move: a click is then taken only if the button has been in its
            place for :data:`GUARD_MILLISECONDS`, so that one that was meant for what stood there does nothing.
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
        name = self.shown.text().replace("&", "")  # its letter belongs to the menu, where it would stand twice
        self.setText(name)
        self.setAccessibleName(name)
        copy_tip(self, self.shown)
        hold_width(self)
        self.setEnabled(self.shown.isEnabled())


OFFERED = ("replay", "pause", "go_on", "stop", "compare", "plan", "verdict", "hand_over", "open", "data", "conclude")
"""The window's actions that the header offers, in the order of their places.

The last two are shown only for a run that they concern; they stand behind all others, and move none.
"""


class HeaderView(QFrame):
    """What can be done, the outcome so far with what it rests on, and the progress.

    Each action has a button of its own in a place of its own, above everything that grows while things load: what a
    click does is decided when it is aimed, not when it arrives. The next sensible one is marked.

    Args:
        session: What is shown.
        theme: The theme of the application.
        actions: The window's actions by their names, those of :data:`OFFERED` among them.
    """

    def __init__(self, session: Session, theme: Theme, actions: Mapping[str, QAction]) -> None:
        super().__init__()
        self.setObjectName("header")
        self._session = session
        self._theme = theme
        self._actions = actions
        self.icon = QLabel()
        self.icon.setFixedSize(scale(ICON_PIXELS), scale(ICON_PIXELS))
        self.outcome = enlarge(label(wrap=False), 1.5)
        self.outcome.setObjectName("outcome")
        self.sentence = label()
        self.sentence.setMinimumWidth(200)
        # Numbers alone: the strip below is the picture of the same progress.
        self.progress = label("", "muted")
        kept = self.progress.sizePolicy()
        kept.setRetainSizeWhenHidden(True)  # what is below must not jump when a replay begins or ends
        self.progress.setSizePolicy(kept)
        self.limits = label("", "muted")
        self.trust = TrustBar(theme)
        self.device = QComboBox()
        self.device.setAccessibleName(self.tr("Device of the replay"))
        set_tip(self.device, self.tr("The device on which the replay runs"))
        self.device.setSizeAdjustPolicy(QComboBox.SizeAdjustPolicy.AdjustToContents)
        self.device.setMaximumWidth(DEVICE_CHARACTERS * self.device.fontMetrics().averageCharWidth())
        self.buttons = {actions[name]: ActionButton(actions[name]) for name in OFFERED}
        row = QWidget()
        flow = FlowLayout(row, SPACING)
        for button in self.buttons.values():
            flow.addWidget(button)
        flow.addWidget(self.device)
        self._below = False
        grid = self._grid = layouts.grid(across=14, down=3)
        grid.addWidget(self.icon, 0, 0, 3, 1, Qt.AlignmentFlag.AlignTop)
        grid.addWidget(self.outcome, 0, 1)
        grid.addWidget(self.sentence, 1, 1)
        grid.addWidget(self.progress, 2, 1)
        grid.addWidget(self.limits, 2, 1)  # in the same place: there is progress before the end, and limits after it
        grid.addWidget(self.trust, 0, 2, 3, 1, Qt.AlignmentFlag.AlignTop)
        layouts.column(row, grid, inside=self, margins=(14, 8, 14, 8), spacing=8)
        self.device.activated.connect(self._choose_device)
        session.checks_changed.connect(self._show_trust)
        session.devices_changed.connect(self.show_devices)
        follow(self.refresh, session.phase_changed, session.bundle_changed, session.progress_changed)
        follow(self.refresh, session.dispute_changed, theme.changed)
        self.show_devices()
        self.refresh()

    @property
    def primary(self) -> ActionButton:
        """The button that is marked as the next sensible one; where none is, that of the replay."""
        return self.buttons[self._next_action() or self._actions["replay"]]

    def resizeEvent(self, event: QResizeEvent) -> None:  # noqa: N802 - Qt's name
        """Put what the outcome rests on where it leaves room for the sentence."""
        self._place_trust()
        super().resizeEvent(event)

    def _place_trust(self) -> None:
        """Beside the sentence, or below it when large text leaves the sentence too little width."""
        left = self.width() - self.trust.sizeHint().width() - scale(ICON_PIXELS)
        below = left < SENTENCE_CHARACTERS * self.fontMetrics().averageCharWidth()
        if below != self._below:
            self._below = below
            self._grid.removeWidget(self.trust)
            row, column, rows = (3, 1, 1) if below else (0, 2, 3)
            self._grid.addWidget(self.trust, row, column, rows, 1, Qt.AlignmentFlag.AlignTop)

    def show_devices(self) -> None:
        """List the devices; until they are known, the one that is chosen."""
        self.device.clear()
        for device in self._session.devices:
            same = device.title.casefold() == device.name.casefold()
            self.device.addItem(device.name if same else f"{device.name}: {device.title}", device.name)
            self.device.setItemData(
                self.device.count() - 1, translate(device.float64_note), Qt.ItemDataRole.ToolTipRole
            )
        if not self._session.devices:
            self.device.addItem(self._session.device, self._session.device)
        self.device.setCurrentIndex(max(0, self.device.findData(self._session.device)))

    def refresh(self) -> None:
        """Show where the session stands."""
        look, sentence = self._headline(), self._sentence()
        show_icon(self.icon, look, self._theme, ICON_PIXELS)
        self.outcome.setText(look.word)
        self.sentence.setText(sentence)
        for widget in (self, self.outcome):
            restyle(widget, "tone", look.tone.value)
        self._show_progress()
        self._show_limits()
        self._show_trust()
        first = self._next_action()
        for action, button in self.buttons.items():
            restyle(button, "primary", action is first)
        self.buttons[self._actions["data"]].setVisible(self._session.data_file is not None)
        self.buttons[self._actions["conclude"]].setVisible(self._session.only_refuses)
        self.device.setEnabled(self._session.can_replay)
        self._place_trust()

    def _show_limits(self) -> None:
        report = self._session.report if self._session.phase is Phase.CONCLUDED else None
        self.limits.setText("" if report is None else not_said(report.outcome, report.sample))
        self.limits.setVisible(bool(self.limits.text()))

    def _show_trust(self) -> None:
        self.trust.show_trust(self._session.trust)

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
            if dispute is not None and dispute.accuses:  # what it comes to stands first; the rest is in the dispute
                reason = words.dispute_account(plain(dispute), session.report.earlier_mismatches)
            else:
                reason = translate(session.report.reason)
            trust = session.trust
            if session.report.outcome is Outcome.VERIFIED and trust is not None and trust.reason:
                reason += " " + translate(trust.reason)
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
            return self.tr("Checking the bundle and preparing the first step.")
        return self.tr("All {0} steps replayed so far match.").format(text.count(progress.replayed))

    def _show_progress(self) -> None:
        session = self._session
        self.progress.setVisible(session.running)
        if not session.running:
            return
        progress = session.progress
        parts = [self.tr("{0} of {1} steps").format(text.count(progress.replayed), text.count(progress.total))]
        if progress.workers:
            at_work = [worker for worker in progress.workers if worker.segment is not None]
            parts.append(self.tr("{0} of {1} workers").format(len(at_work), len(progress.workers)))
        elif progress.done > progress.replayed:
            percent = int(100 * (progress.done - progress.replayed))
            parts.append(self.tr("step {0}: {1} %").format(text.count(progress.step), percent))
        if progress.rate is not None and progress.seconds_left is not None:
            parts.append(text.rate(progress.rate))
            parts.append(self.tr("{0} left").format(text.duration(progress.seconds_left)))
        self.progress.setText("   \u00b7   ".join(parts))
        set_tip(self.progress, "\n".join(map(self._at_work, progress.workers)))

    def _at_work(self, worker: WorkerState) -> str:
        """What a worker does, in a line."""
        if worker.trouble:
            return self.tr("{0}: {1}").format(worker.number, translate(worker.trouble))
        if not worker.machine:
            return self.tr("{0}: opening the run").format(worker.number)
        done = self.tr("{0} segments").format(text.count(worker.segments))
        if worker.rate:
            done += f", {text.rate(worker.rate)}"
        if worker.segment is None:
            return self.tr("{0}: waiting; {1}").format(worker.number, done)
        return self.tr("{0}: segment {1}; {2}").format(worker.number, text.count(worker.segment), done)

    def _next_action(self) -> QAction | None:
        """The next sensible action; None for none."""
        name = self._next_name()
        return self._actions[name] if name else None

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
        """What is found is signed and handed over, in one go where it accuses somebody."""
        report = session.report
        accuses = report is not None and report.outcome is Outcome.DISPUTED
        if session.verdict_file is None:
            return "hand_over" if accuses else "verdict"
        return "hand_over" if session.handed_over is None else "open"

    def _choose_device(self, position: int) -> None:
        self._session.device = self.device.itemData(position)
