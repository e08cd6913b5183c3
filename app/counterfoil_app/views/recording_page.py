"""A recording that is made or followed: what has come, how fast, and the replay beside it."""

from __future__ import annotations

from functools import partial
from pathlib import Path

import numpy as np
import pyqtgraph as pg
from PySide6.QtCore import QSize, Qt, Signal
from PySide6.QtWidgets import QDialog, QGridLayout, QLabel, QProgressBar, QVBoxLayout, QWidget

from counterfoil_app.engine import strangers
from counterfoil_app.engine.strangers import name_of
from counterfoil_app.looks import text, words
from counterfoil_app.looks.engine_words import failure_text, translate
from counterfoil_app.looks.fonts import scale
from counterfoil_app.looks.language import texts
from counterfoil_app.looks.theme import Theme, Tone
from counterfoil_app.looks.words import Look
from counterfoil_app.model.eventloop import follow
from counterfoil_app.model.exports import Exports
from counterfoil_app.model.recordingcurves import Floats, GrowingCurve
from counterfoil_app.model.recordings import Doing, Follower, Recorder
from counterfoil_app.views import layouts
from counterfoil_app.views.axes import DASHED, SOLID, Canvas, NumberAxis
from counterfoil_app.views.checks import TrustBar
from counterfoil_app.views.curves import CURVE_PIXELS, Series, View
from counterfoil_app.views.frame import Body, FlowLayout, fit_to_screen
from counterfoil_app.views.layouts import button
from counterfoil_app.views.parts import caption, hold_width, label, restyle, show_icon
from counterfoil_app.views.plot_export import PlotExport, losses_csv

LEAST_HEIGHT = 170
_tr = texts("growing")


class GrowingPlot(Canvas):
    """The loss of a recording while it grows, that of the replay beside it, and a line at the step that differs."""

    def __init__(self, theme: Theme) -> None:
        super().__init__(theme, _tr("Loss of the recording and of the replay, by step"))
        self.setMinimumHeight(scale(LEAST_HEIGHT))
        self.plot = self.add_plot(NumberAxis())
        self.plot.setMouseEnabled(x=False, y=False)
        self.trainer, self.replay = Series(self.plot), Series(self.plot)
        self.losses: tuple[Floats, Floats] = (np.zeros(0), np.zeros(0))
        self.lie = pg.InfiniteLine(angle=90, movable=False)
        self.lie.hide()
        self.plot.addItem(self.lie)
        theme.changed.connect(self.colour)
        self.colour()

    def show_losses(self, trainer: Floats, replay: Floats, steps: int, lie: int | None) -> None:
        """Draw what is known.

        Args:
            trainer: The trainer's loss of each step, from step 1.
            replay: That of the replay.
            steps: Number of ordered steps; 0 while it is not known.
            lie: The step that came out otherwise; None while there is none.
        """
        self.losses = trainer, replay
        last = max(steps, len(trainer), 1)
        view = View(1, last, max(50, int(self.plot.getViewBox().width())))
        self.trainer.draw(trainer, view)
        self.replay.draw(replay, view)
        self.plot.setXRange(0.5, last + 0.5, padding=0.01)
        self.lie.setVisible(lie is not None)
        if lie is not None:
            self.lie.setPos(lie)

    def colour(self, *more: pg.PlotItem) -> None:
        """Take the theme's colours."""
        super().colour(*more)
        tokens = self._theme.tokens
        self.name_axis(self.plot, "left", _tr("Loss"))
        self.trainer.colour(tokens.trainer)
        self.replay.colour(tokens.replay, Qt.PenStyle.DashLine)
        names = (tokens.trainer, SOLID, _tr("trainer")), (tokens.replay, DASHED, _tr("replay"))
        self.say(_tr("Loss"), *names)
        self.lie.setPen(pg.mkPen(tokens.bad, width=CURVE_PIXELS))


SIZE = QSize(1080, 700)
ICON_PIXELS = 36


class Figures(QWidget):
    """Names and values below each other; a value changes without anything else moving."""

    def __init__(self, names: dict[str, str]) -> None:
        super().__init__()
        grid: QGridLayout = layouts.grid(inside=self, across=12, down=3)
        grid.setContentsMargins(0, 0, 0, 0)
        self._values: dict[str, QLabel] = {}
        for row, (key, name) in enumerate(names.items()):
            value = self._values[key] = label("\u2013")
            value.setAccessibleDescription(name)
            value.setAlignment(Qt.AlignmentFlag.AlignTop | Qt.AlignmentFlag.AlignLeft)
            grid.addWidget(caption(name, "muted", wrap=False), row, 0, Qt.AlignmentFlag.AlignTop)
            grid.addWidget(value, row, 1)

    def show_value(self, key: str, value: str) -> None:
        """Show a value; a dash where there is none."""
        shown = value or "\u2013"
        if self._values[key].text() != shown:
            self._values[key].setText(shown)

    def value(self, key: str) -> str:
        """What is shown."""
        return self._values[key].text()


class RecordingPage(QDialog):
    """The trainer's recording on the left, the replay on the right, and the losses of both below.

    Args:
        recorder: What is recorded here.
        follower: What is followed.
        exports: Writes the plot.
        theme: The theme of the application.
    """

    record_wanted = Signal()
    go_on_wanted = Signal()
    """A recording that was stopped is to be gone on with."""
    follow_wanted = Signal()
    hand_over_wanted = Signal()
    open_wanted = Signal()
    """The run, and its audit, are to be shown in the window."""

    def __init__(
        self, recorder: Recorder, follower: Follower, exports: Exports, theme: Theme, parent: QWidget | None = None
    ) -> None:
        super().__init__(parent)
        self.setWindowTitle(self.tr("Record and follow"))
        self.setModal(False)
        self._recorder, self._follower, self._theme = recorder, follower, theme
        self._icon = QLabel()
        self.headline, self.sentence = label("", "title"), label()
        plot = self.plot = GrowingPlot(theme)
        self.export = PlotExport(
            plot, theme, self._about, lambda: self._run, lambda: partial(losses_csv, *plot.losses), exports
        )
        self._make_recording()
        self._make_replay()
        said = layouts.column(self.headline, self.sentence)
        self.trust = TrustBar(theme)
        top = layouts.row(
            (self._icon, 0, Qt.AlignmentFlag.AlignTop),
            (said, 1),
            (self.trust, 0, Qt.AlignmentFlag.AlignTop),
            spacing=12,
        )
        sides = layouts.row((self._left, 1), (self._right, 1), spacing=24)
        self.close_button = button(self.tr("&Close"), self.close)
        below = QWidget()
        self.note = label(self.tr("What goes on here goes on when this window is closed."), "muted", wrap=False)
        export = layouts.menu_button(self.tr("Export"), self.export.actions)
        layouts.row(self.note, 1, export, self.close_button, inside=below, margins=layouts.NONE)
        layouts.fill(Body(self, below), top, sides, (self.plot, 1), spacing=12)
        fit_to_screen(self, QSize(scale(SIZE.width()), scale(SIZE.height())))
        follow(self.refresh, recorder.changed, follower.changed, theme.changed)
        self.refresh()

    def _make_recording(self) -> None:
        self.recorded = QProgressBar()
        self.recorded.setAccessibleName(self.tr("Recorded steps"))
        self.figures = Figures(
            {
                "what": self.tr("Order"),
                "where": self.tr("Run"),
                "steps": self.tr("Recorded"),
                "rate": self.tr("Speed"),
                "left": self.tr("Time left"),
                "written": self.tr("Written"),
                "heads": self.tr("Tree heads"),
            }
        )
        self.record = button(self.tr("&Record an order\u2026"), self.record_wanted)
        self.pause = button(self.tr("&Pause"), self._pause_or_go_on)
        self.stop = button(self.tr("&Stop"), self._recorder.stop, name=self.tr("Stop the recording"))
        self.hand_over = button(self.tr("&Hand over\u2026"), self.hand_over_wanted)
        buttons = (self.record, self.pause, self.stop, self.hand_over)
        self._left = self._side(self.tr("The recording"), self.recorded, self.figures, *buttons)

    def _make_replay(self) -> None:
        self.replayed = QProgressBar()
        self.replayed.setAccessibleName(self.tr("Replayed steps"))
        self.replay_figures = Figures(
            {
                "now": self.tr("Now"),
                "steps": self.tr("Replayed"),
                "behind": self.tr("Behind"),
                "rate": self.tr("Speed"),
                "judged": self.tr("Judged"),
                "device": self.tr("Device"),
                "key": self.tr("Trainer's key"),
            }
        )
        self.follow = button(self.tr("&Follow a recording\u2026"), self.follow_wanted)
        self.stop_following = button(self.tr("S&top"), self._follower.stop, name=self.tr("Stop following"))
        self.open_run = button(self.tr("&Open the run"), self.open_wanted)
        buttons = (self.follow, self.stop_following, self.open_run)
        self._right = self._side(self.tr("The replay beside it"), self.replayed, self.replay_figures, *buttons)

    def _side(self, title: str, bar: QProgressBar, figures: Figures, *buttons: QWidget) -> QVBoxLayout:
        for each in buttons:
            hold_width(each)  # type: ignore[arg-type]
        below = QWidget()
        row = FlowLayout(below, 8)
        for each in buttons:
            row.addWidget(each)
        return layouts.column(caption(title, "section"), bar, figures, below, 1, spacing=8)

    def _about(self) -> tuple[str, str]:
        """What a picture of the losses says by itself."""
        return name_of(self._run), self.tr("{0} of {1} steps").format(
            text.count(self._trainer.last), text.count(self._steps)
        )

    def _pause_or_go_on(self) -> None:
        if self._recorder.doing is Doing.WORKING:
            self._recorder.pause()
        elif self._recorder.doing is Doing.PAUSED:
            self._recorder.go_on()
        else:
            self.go_on_wanted.emit()

    # What is shown

    def refresh(self) -> None:
        """Show where both stand."""
        look, sentence = self._headline()
        show_icon(self._icon, look, self._theme, ICON_PIXELS)
        self.headline.setText(look.word)
        self.sentence.setText(sentence)
        run = self._follower.run
        self.trust.show_trust(None if run is None or self._follower.working else run.trust)
        self._show_recording()
        self._show_replay()
        self._show_buttons()
        trainer = self._trainer
        self.export.set_enabled(self._run is not None)
        self.plot.show_losses(trainer.values, self._follower.replay_losses, self._steps, self._follower.mismatch)

    @property
    def _here(self) -> bool:
        """Whether what is shown as the recording is what is recorded here."""
        return self._recorder.doing is not Doing.NOTHING

    @property
    def _trainer(self) -> GrowingCurve:
        return self._recorder.losses if self._here and self._recorder.losses.last else self._follower.sealed

    @property
    def _steps(self) -> int:
        return self._recorder.ordered or self._follower.steps

    @property
    def _run(self) -> Path | None:
        asked = self._recorder.asked if self._here else None
        if asked is not None:
            return asked.request.run
        return None if self._follower.request is None else self._follower.request.run

    def _show_recording(self) -> None:
        recorder, follower, figures, curve = self._recorder, self._follower, self.figures, self._trainer
        steps, last = self._steps, curve.last
        _show_bar(self.recorded, last + (recorder.inside if self._here else 0.0), steps)
        title = follower.started.title if follower.started is not None else ""
        order = None
        if self._here and recorder.asked is not None:
            order = recorder.asked.request.order
        elif follower.request is not None:
            order = follower.request.order
        figures.show_value("what", title or name_of(order))
        figures.show_value("where", "" if self._run is None else text_of(self._run))
        figures.show_value(
            "steps", self.tr("{0} of {1} steps").format(text.count(last), text.count(steps)) if steps else ""
        )
        going = recorder.doing is Doing.WORKING or (not self._here and follower.working and follower.run is None)
        rate = curve.steps_per_second if going and last < steps else None
        left = curve.seconds_to(steps) if rate is not None else None
        figures.show_value("rate", "" if rate is None else text.rate(rate))
        figures.show_value("left", "" if left is None else self.tr("about {0}").format(text.duration(left)))
        size = max(recorder.size, follower.size, key=lambda each: each.written)
        figures.show_value("written", text.size(size.written) if size.written else "")
        heads = self.tr("{0} published").format(text.count(size.heads)) if size.heads else ""
        if follower.heads.heads:
            heads = self.tr("{0}, {1} checked, up to step {2}").format(
                heads or self.tr("none in the folder"),
                text.count(follower.heads.heads),
                text.count(follower.heads.step),
            )
        figures.show_value("heads", heads)

    def _show_replay(self) -> None:
        follower, figures = self._follower, self.replay_figures
        request, state = follower.request, follower.state
        watched = request is not None and not request.replays
        done = follower.judged
        _show_bar(self.replayed, done, 0 if watched else follower.steps)
        figures.show_value("now", self._now())
        figures.show_value(
            "steps",
            self.tr("{0} of {1} steps").format(text.count(done), text.count(follower.steps))
            if follower.steps and not watched
            else "",
        )
        figures.show_value("behind", self._behind() if state is not None and not watched else "")
        rate = follower.replayed.steps_per_second if follower.working and follower.behind else None
        figures.show_value("rate", "" if rate is None else text.rate(rate))
        figures.show_value("judged", self._judged() if not watched else "")
        figures.show_value("device", "" if request is None or watched else request.device)
        started = follower.started
        figures.show_value("key", "" if started is None else started.trainer_key[:16])

    def _now(self) -> str:
        follower = self._follower
        if follower.doing is Doing.STOPPING:
            return self.tr("Stopping\u2026")
        if not follower.working:
            return ""
        if follower.run is not None:
            return self.tr("The run is made, and is audited.")
        if follower.state is None:
            return self.tr("The order is read, and this machine is tested.")
        if follower.state.waiting:
            return translate(follower.state.waiting)
        first = follower.replayed.last + 1
        return self.tr("Steps {0} to {1} are replayed.").format(text.count(first), text.count(follower.state.last))

    def _behind(self) -> str:
        follower = self._follower
        if follower.run is not None or not follower.working:
            return ""
        if not follower.behind:
            return self.tr("not at all")
        seconds = follower.seconds_behind
        steps = self.tr("{0} steps").format(text.count(follower.behind))
        if seconds is None:
            return steps
        return self.tr("{0}, about {1}").format(steps, text.duration(seconds))

    def _judged(self) -> str:
        follower = self._follower
        if follower.mismatch is not None:
            return self.tr("step {0} came out otherwise").format(text.count(follower.mismatch))
        if not follower.judged or (follower.run is not None and follower.run.dispute is not None):
            return ""
        return self.tr("all {0} steps match").format(text.count(follower.judged))

    def _show_buttons(self) -> None:
        recorder, follower = self._recorder, self._follower
        stopped = recorder.doing in (Doing.STOPPED, Doing.FAILED, Doing.PAUSED)
        self.record.setEnabled(not recorder.working)
        self.pause.setEnabled(stopped or recorder.doing is Doing.WORKING)
        self.pause.setText(self.tr("Res&ume") if stopped else self.tr("&Pause"))
        self.stop.setEnabled(recorder.working and recorder.doing is not Doing.STOPPING)
        self.hand_over.setEnabled(recorder.made is not None)
        self.follow.setEnabled(not follower.working)
        self.stop_following.setEnabled(follower.working and follower.doing is not Doing.STOPPING)
        made = follower.run is not None and follower.run.report is not None
        self.open_run.setEnabled(made or recorder.made is not None)
        first = (
            self.pause
            if stopped
            else self.open_run
            if self.open_run.isEnabled()
            else self.record
            if not recorder.working and not follower.working and follower.outcome is None
            else None
        )
        for each in (self.record, self.pause, self.open_run):
            restyle(each, "primary", each is first)
        self.note.setVisible(recorder.working or follower.working)

    def _headline(self) -> tuple[Look, str]:
        follower, recorder = self._follower, self._recorder
        if follower.outcome is not None and not follower.working:
            trust = follower.run.trust if follower.run is not None else None
            look = words.outcome(follower.outcome, None, trust)
            return look, translate(follower.reason)
        for failed in (recorder, follower):
            if failed.failure is not None:
                word = self.tr("Not recorded") if failed is recorder else self.tr("Not followed")
                return Look(word, "inconclusive", Tone.WARN), failure_text(failed.failure)
        if follower.mismatch is not None and follower.working:
            said = self.tr("Step {0} came out otherwise. It is looked at once more before anybody is accused.")
            return Look(self.tr("A step differs"), "running", Tone.WARN), said.format(text.count(follower.mismatch))
        return self._going()

    def _going(self) -> tuple[Look, str]:
        recorder, follower = self._recorder, self._follower
        doing = recorder.doing
        if doing is Doing.PAUSED:
            return Look(self.tr("Paused"), "pause", Tone.INFO), self.tr(
                "The recording waits. The steps that are finished are kept."
            )
        if doing is Doing.STOPPED:
            return Look(self.tr("Stopped"), "stop", Tone.INFO), self.tr(
                "The steps that are finished are kept, and the recording goes on from them."
            )
        if recorder.working:
            work = recorder.work
            if doing is Doing.STOPPING:
                said = self.tr("It is being stopped.")
            elif work is not None:
                share = round(100 * work.done / max(1, work.total))
                said = self.tr("{0} {1} %").format(translate(work.what), share)
            elif doing is Doing.STARTING:
                said = self.tr("The order is read.")
            else:
                said = self.tr("Every step is kept as soon as it is finished.")
            return Look(self.tr("Recording"), "running", Tone.INFO), said
        if follower.working:
            word = self.tr("Following") if follower.request and follower.request.replays else self.tr("Watching")
            return Look(word, "running", Tone.INFO), self._now()
        if recorder.made is not None:
            made = self.tr("The run is made and signed: {0}. Hand it over with the public key.")
            return Look(self.tr("Recorded"), "passed", Tone.OK), made.format(text_of(recorder.made.run))
        if follower.doing is Doing.STOPPED:
            return Look(self.tr("Stopped"), "stop", Tone.INFO), self.tr(
                "What was replayed is not kept. Follow it again, or audit the run when it is made."
            )
        if follower.ended is not None:
            return Look(self.tr("Finished"), "passed", Tone.INFO), translate(follower.ended.reason)
        return Look(self.tr("Nothing goes on"), "waiting", Tone.INFO), self.tr(
            "Record an order as its trainer, or follow a recording as its client or auditor: each step is replayed as "
            "soon as it lies there, and the first lie ends it."
        )


def _show_bar(bar: QProgressBar, done: float, total: int) -> None:
    bar.setRange(0, 1000)
    bar.setValue(int(1000 * min(1.0, done / total)) if total else 0)


def text_of(path: Path) -> str:
    """The path of a recording or a run as it is shown."""
    return strangers.sentence(str(path))
