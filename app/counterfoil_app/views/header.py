"""The strip at the top: the outcome so far in words, colour and icon, and what to do next."""

from __future__ import annotations

from dataclasses import dataclass

from PySide6.QtCore import Qt
from PySide6.QtGui import QAction, QResizeEvent
from PySide6.QtWidgets import QComboBox, QFrame, QGridLayout, QHBoxLayout, QLabel, QPushButton, QWidget

from counterfoil import SegmentRequest, WorkerState
from counterfoil_app.engine.strangers import name_of, plain
from counterfoil_app.looks import icons, text, words
from counterfoil_app.looks.engine_words import failure_text, translated
from counterfoil_app.looks.fonts import scaled
from counterfoil_app.looks.theme import Theme, Tone
from counterfoil_app.looks.words import Look
from counterfoil_app.model.open_bundle import Phase
from counterfoil_app.model.session import Session
from counterfoil_app.views.parts import label, restyle

ICON_PIXELS = 44
SENTENCE_CHARACTERS = 60


@dataclass(frozen=True)
class HeaderActions:
    """The window's actions that the header offers."""

    open: QAction
    compare: QAction
    data: QAction
    replay: QAction
    go_on: QAction
    pause: QAction
    stop: QAction
    export_verdict: QAction
    plan: QAction


class ActionButton(QPushButton):
    """A button that shows and triggers one of the window's actions."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.shown: QAction | None = None
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        self.clicked.connect(self._trigger)
        self.hide()

    def show_action(self, action: QAction | None, *, primary: bool) -> None:
        """Take over an action; None hides the button."""
        if self.shown is not None:
            self.shown.changed.disconnect(self._refresh)
        self.shown = action
        self.setVisible(action is not None)
        restyle(self, "primary", primary)
        if action is not None:
            action.changed.connect(self._refresh)
            self._refresh()

    def _refresh(self) -> None:
        if self.shown is not None:
            name = self.shown.text().replace("&", "")  # its letter belongs to the menu, where it would stand twice
            self.setText(name)
            self.setAccessibleName(name)
            self.setToolTip(self.shown.toolTip())
            self.setEnabled(self.shown.isEnabled())

    def _trigger(self) -> None:
        if self.shown is not None:
            self.shown.trigger()


class HeaderView(QFrame):
    """The outcome so far, the progress, and the next sensible action as the obvious button."""

    def __init__(self, session: Session, theme: Theme, actions: HeaderActions, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setObjectName("header")
        self._session = session
        self._theme = theme
        self._actions = actions
        self.icon = QLabel()
        self.icon.setFixedSize(scaled(ICON_PIXELS), scaled(ICON_PIXELS))
        self.outcome = label(wrap=False)
        self.outcome.setObjectName("outcome")
        font = self.outcome.font()
        font.setPointSizeF(font.pointSizeF() * 1.5)
        self.outcome.setFont(font)
        self.sentence = label()
        self.sentence.setMinimumWidth(200)
        # Numbers alone: the strip below is the picture of the same progress.
        self.progress = label("", "muted")
        self.device = QComboBox()
        self.device.setAccessibleName(self.tr("Device of the replay"))
        self.device.setToolTip(self.tr("The device on which the replay runs"))
        self.primary = ActionButton()
        self.secondary = ActionButton()
        self._right = QHBoxLayout()
        self._right.setSpacing(8)
        self._right.addStretch(1)
        for widget in (self.device, self.secondary, self.primary):
            self._right.addWidget(widget)
        self._below = False
        grid = QGridLayout(self)
        self._grid = grid
        grid.setContentsMargins(14, 10, 14, 10)
        grid.setHorizontalSpacing(14)
        grid.setVerticalSpacing(3)
        grid.addWidget(self.icon, 0, 0, 3, 1)
        grid.addWidget(self.outcome, 0, 1)
        grid.addWidget(self.sentence, 1, 1)
        grid.addLayout(self._right, 0, 2, 3, 1)
        grid.addWidget(self.progress, 2, 1)
        grid.setColumnStretch(1, 1)
        self.device.activated.connect(self._choose_device)
        session.phase_changed.connect(self.refresh)
        session.bundle_changed.connect(self.refresh)
        session.progress_changed.connect(self.refresh)
        session.dispute_changed.connect(self.refresh)
        session.devices_changed.connect(self.show_devices)
        theme.changed.connect(self.refresh)
        self.show_devices()
        self.refresh()

    def resizeEvent(self, event: QResizeEvent) -> None:  # noqa: N802 - Qt's name
        """Put the buttons where they leave room for the sentence."""
        self._place_buttons()
        super().resizeEvent(event)

    def _place_buttons(self) -> None:
        """Beside the sentence, or below it when large text leaves the sentence too little width."""
        left = self.width() - self._right.sizeHint().width() - scaled(ICON_PIXELS)
        below = left < SENTENCE_CHARACTERS * self.fontMetrics().averageCharWidth()
        if below != self._below:
            self._below = below
            self._grid.removeItem(self._right)
            row, column, rows, columns = (3, 1, 1, 2) if below else (0, 2, 3, 1)
            self._grid.addLayout(self._right, row, column, rows, columns)

    def show_devices(self) -> None:
        """List the devices; until they are known, the one that is chosen."""
        self.device.clear()
        for device in self._session.devices:
            same = device.title.casefold() == device.name.casefold()
            self.device.addItem(device.name if same else f"{device.name}: {device.title}", device.name)
            self.device.setItemData(
                self.device.count() - 1, translated(device.float64_note), Qt.ItemDataRole.ToolTipRole
            )
        if not self._session.devices:
            self.device.addItem(self._session.device, self._session.device)
        self.device.setCurrentIndex(max(0, self.device.findData(self._session.device)))

    def refresh(self) -> None:
        """Show where the session stands."""
        look, sentence = self._headline(), self._sentence()
        tokens = self._theme.tokens
        size, ratio = scaled(ICON_PIXELS), self.devicePixelRatioF()
        self.icon.setPixmap(icons.pixmap(look.icon, tokens.tone(look.tone), size, ratio))
        self.icon.setAccessibleName(look.word)
        self.outcome.setText(look.word)
        self.sentence.setText(sentence)
        for widget in (self, self.outcome):
            restyle(widget, "tone", look.tone.value)
        self._show_progress()
        first, second = self._next_actions()
        if self.primary.shown is not first:
            self.primary.show_action(first, primary=True)
        if self.secondary.shown is not second:
            self.secondary.show_action(second, primary=False)
        self.device.setVisible(self._session.can_replay and self._session.report is None)
        self._place_buttons()

    def _headline(self) -> Look:
        session = self._session
        if session.phase is Phase.CONCLUDED and session.report is not None:
            return words.outcome(session.report.outcome, session.report.sample)
        if session.phase is Phase.READY and session.summary is not None:
            if session.summary.run is None:
                return Look(self.tr("Order, not yet run"), "order", Tone.INFO)
            if session.refused_so_far:
                return Look(self.tr("Cannot be accepted"), "refused", Tone.WARN)
            return Look(self.tr("Not yet replayed"), "waiting", Tone.INFO)
        running = Tone.INFO if session.dispute is None else Tone.BAD
        return {
            Phase.LOADING: Look(self.tr("Opening"), "waiting", Tone.INFO),
            Phase.UNREADABLE: Look(self.tr("REFUSED"), "refused", Tone.WARN),
            Phase.REPLAYING: Look(self.tr("Replaying"), "running", running),
            Phase.PAUSED: Look(self.tr("Paused"), "pause", running),
            Phase.STOPPING: Look(self.tr("Stopping"), "waiting", running),
            Phase.FAILED: self._failed_look(),
        }.get(session.phase, Look(self.tr("Nothing is open"), "waiting", Tone.MUTED))

    def _failed_look(self) -> Look:
        failure = self._session.failure
        if failure is not None and not failure.expected:
            return Look(self.tr("ERROR"), "error", Tone.WARN)
        return Look(self.tr("INCONCLUSIVE"), "inconclusive", Tone.WARN)

    def _sentence(self) -> str:
        session = self._session
        if session.phase is Phase.CONCLUDED and session.report is not None:
            dispute = session.report.dispute
            if dispute is not None and dispute.accuses:  # what it comes to stands first; the rest is in the dispute
                reason = words.dispute_account(plain(dispute), session.report.mismatched_steps)
            else:
                reason = translated(session.report.reason)
            if session.kept is not None:
                reason += " " + words.kept(session.kept)
            if session.verdict_file is not None:
                reason += " " + self.tr("The signed verdict is in {0}.").format(session.verdict_file)
            return reason
        if session.failure is not None:
            return failure_text(session.failure)
        if session.phase is Phase.LOADING and session.path is not None:
            return self.tr("Reading {0}").format(name_of(session.path))
        if session.running:
            return self._running_sentence()
        return self._ready_sentence()

    def _ready_sentence(self) -> str:
        summary = self._session.summary
        if summary is None:
            return ""
        if summary.run is None or self._session.refused_so_far:
            return translated(summary.sentence)
        if self._session.lacks_data:
            return self.tr("{0}: {1} steps. The data lie in a file of their own, {2}: choose it to replay.").format(
                summary.order.title, text.count(summary.run.steps), self._session.data_file
            )
        if self._session.kept is not None:
            return self.tr("{0}: {1} steps. A replay was stopped. {2}").format(
                summary.order.title, text.count(summary.run.steps), words.kept(self._session.kept)
            )
        if self._session.segments != SegmentRequest():
            return self.tr("{0}: {1} steps. Planned: {2}.").format(
                summary.order.title, text.count(summary.run.steps), words.segments(self._session.segments)
            )
        return self.tr("{0}: {1} steps. Replay them on this machine to see whether they come out the same.").format(
            summary.order.title, text.count(summary.run.steps)
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
        self.progress.setToolTip("\n".join(map(self._at_work, progress.workers)))

    def _at_work(self, worker: WorkerState) -> str:
        """What a worker does, in a line."""
        if worker.trouble:
            return self.tr("{0}: {1}").format(worker.number, translated(worker.trouble))
        if not worker.machine:
            return self.tr("{0}: opening the run").format(worker.number)
        done = self.tr("{0} segments").format(text.count(worker.segments))
        if worker.rate:
            done += f", {text.rate(worker.rate)}"
        if worker.segment is None:
            return self.tr("{0}: waiting; {1}").format(worker.number, done)
        return self.tr("{0}: segment {1}; {2}").format(worker.number, text.count(worker.segment), done)

    def _next_actions(self) -> tuple[QAction | None, QAction | None]:
        actions, session = self._actions, self._session
        if session.running:
            return actions.pause, actions.stop
        if session.can_go_on:
            return actions.go_on, actions.export_verdict if session.phase is Phase.CONCLUDED else actions.replay
        if session.phase is Phase.CONCLUDED:
            done = session.verdict_file is not None
            return (actions.open, actions.export_verdict) if done else (actions.export_verdict, actions.replay)
        if session.phase is Phase.UNREADABLE:
            return actions.open, actions.replay
        if session.can_replay and session.other_order_given:
            return actions.compare, actions.replay
        if session.can_replay and session.lacks_data:
            return actions.data, actions.compare if session.order is None else None
        if session.can_replay:
            return actions.replay, actions.compare if session.order is None else actions.plan
        return (None, None) if session.phase is Phase.LOADING else (actions.open, None)

    def _choose_device(self, position: int) -> None:
        self._session.device = self.device.itemData(position)
