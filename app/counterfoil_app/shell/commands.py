"""The rows of the window's action table that concern runs, verdicts, the replay and the queue."""

from __future__ import annotations

from collections.abc import Callable

from PySide6.QtCore import QObject
from PySide6.QtGui import QKeySequence

from counterfoil_app.looks import words
from counterfoil_app.model.bundle_queue import BundleQueue
from counterfoil_app.model.open_bundle import Phase
from counterfoil_app.model.session import Session
from counterfoil_app.shell.actions import Face, Row
from counterfoil_app.shell.files import Files
from counterfoil_app.verdict.desk import VerdictDesk


class Commands(QObject):
    """What can be done with runs; it knows who does each.

    Args:
        session: Replays.
        queue: Replays several.
        files: Asks for files.
        verdicts: Signs and reads verdicts.
        plan: Asks how much is replayed.
        results: Shows earlier results.
        keys: Shows the known keys.
    """

    def __init__(
        self,
        session: Session,
        queue: BundleQueue,
        files: Files,
        verdicts: VerdictDesk,
        plan: Callable[[], None],
        results: Callable[[], None],
        keys: Callable[[], object],
    ) -> None:
        super().__init__(files)
        self._session = session
        self._queue = queue
        self._files = files
        self._verdicts = verdicts
        self._plan = plan
        self._results = results
        self._keys = keys

    def rows(self) -> list[Row]:
        """The rows, in the order of the menus."""
        return [*self._of_files(), *self._of_results(), *self._of_replay(), *self._of_queue()]

    def _of_files(self) -> list[Row]:
        files = self._files
        return [
            Row(
                "open",
                Face(self.tr("&Open a run\u2026"), "open", self.tr("Open a bundle")),
                files.choose_bundle,
                QKeySequence.StandardKey.Open,
            ),
            Row(
                "compare",
                Face(
                    self.tr("Co&mpare with order\u2026"),
                    "compare",
                    self.tr("Compare the open run with the client's own order file"),
                ),
                files.choose_order,
                "Ctrl+Shift+O",
                enabled=lambda session: session.path is not None and not session.running,
            ),
            Row(
                "compare_known",
                self._compare_known_face,
                files.use_known_order,
                enabled=lambda session: (
                    session.known_order is not None and session.order is None and not session.running
                ),
            ),
            Row(
                "drop_order",
                Face(self.tr("Ta&ke the order from the bundle")),
                files.drop_order,
                enabled=lambda session: session.order is not None and not session.running,
            ),
            Row(
                "data",
                Face(
                    self.tr("Choose the &data file\u2026"),
                    "open",
                    self.tr("Choose the file with the data that the order names and does not hold"),
                ),
                files.choose_data,
                "Ctrl+D",
                enabled=lambda session: session.data_file is not None and not session.running,
            ),
        ]

    def _of_results(self) -> list[Row]:
        return [
            Row(
                "verdict",
                Face(
                    self.tr("&Export signed verdict\u2026"),
                    "export",
                    self.tr("Sign what the replay found, and save it"),
                ),
                self._verdicts.sign,
                "Ctrl+E",
                enabled=lambda session: session.report is not None,
            ),
            Row(
                "table",
                Face(self.tr("Export step &table\u2026"), "table", self.tr("Save the replayed steps as CSV")),
                self._files.choose_table,
                "Ctrl+Shift+E",
                enabled=lambda session: session.steps.done > 0,
            ),
            Row(
                "capsule",
                Face(
                    self.tr("Save dispute &capsule\u2026"),
                    "disputed",
                    self.tr("Save the disputed step with its proofs, so that anybody can replay it on another machine"),
                ),
                self._files.choose_capsule,
                "Ctrl+Shift+C",
                enabled=lambda session: session.can_export_capsule,
            ),
            Row(
                "read_verdict",
                Face(
                    self.tr("Open a &verdict\u2026"),
                    "verdict",
                    self.tr("Check the signature of a verdict, and read it"),
                ),
                self._files.choose_verdict_file,
                "Ctrl+Shift+V",
            ),
            Row(
                "keys",
                Face(
                    self.tr("Key&s\u2026"),
                    "key",
                    self.tr("The keys that you know: trainers', auditors', clients' and your own"),
                ),
                self._keys,
                "Ctrl+K",
            ),
            Row(
                "results",
                Face(
                    self.tr("Res&ults\u2026"),
                    "table",
                    self.tr("What all replays found, signed or not, those of earlier days too"),
                ),
                self._results,
                "Ctrl+R",
            ),
        ]

    def _of_replay(self) -> list[Row]:
        session = self._session
        return [
            Row(
                "replay",
                self._replay_face,
                session.replay,
                "F5",
                enabled=lambda session: session.can_replay and not session.only_refuses,
            ),
            Row(
                "conclude",
                Face(
                    self.tr("&Conclude as refused"),
                    "refused",
                    self.tr("Run the checks and conclude REFUSED, so that a verdict can be signed"),
                ),
                session.replay,
                enabled=lambda session: session.only_refuses,
            ),
            Row(
                "pause",
                Face(self.tr("&Pause"), "pause", self.tr("Let the replay wait; Resume lets it go on")),
                session.pause,
                "F6",
                enabled=lambda session: session.phase is Phase.REPLAYING,
            ),
            Row("go_on", self._go_on_face, self._resume, "F7", enabled=_can_go_on),
            Row(
                "stop",
                Face(self.tr("&Stop"), "stop", self.tr("Stop the replay")),
                session.stop,
                "Shift+F5",
                enabled=_can_be_stopped,
            ),
            Row(
                "plan",
                Face(
                    self.tr("P&lan\u2026"),
                    "plan",
                    self.tr("Choose how much of the run is replayed, and see what that costs and proves"),
                ),
                self._plan,
                "Ctrl+L",
                enabled=lambda session: (
                    session.can_replay
                    and session.summary is not None
                    and not session.refused_so_far
                    and not self._queue.running
                ),
            ),
        ]

    def _of_queue(self) -> list[Row]:
        queue = self._queue
        return [
            Row(
                "add_to_queue",
                Face(self.tr("&Add\u2026"), "queue", self.tr("Add bundles to the queue")),
                self._files.choose_for_queue,
                "Ctrl+Shift+A",
            ),
            Row(
                "start_queue",
                Face(self.tr("Sta&rt"), "replay", self.tr("Replay the waiting bundles one after the other")),
                queue.start,
                "Ctrl+F5",
                enabled=lambda session: bool(queue.waiting) and not queue.running and not session.running,
            ),
            Row(
                "stop_queue",
                Face(self.tr("S&top"), "stop", self.tr("Stop the queue; what waits stays")),
                queue.stop,
                "Ctrl+Shift+F5",
                enabled=lambda session: queue.running and session.running,
            ),
        ]

    def _compare_known_face(self, session: Session) -> Face:
        known = session.known_order
        tip = "" if known is None else self.tr("The run names an order that you have used: {0}").format(known)
        return Face(self.tr("Compare with the order &you know"), "compare", tip)

    def _replay_face(self, session: Session) -> Face:
        tip = self.tr("Replay {0} on this machine from the beginning, and compare it")
        return Face(self.tr("&Replay"), "replay", tip.format(words.segments(session.segments)))

    def _go_on_face(self, session: Session) -> Face:
        tip = self.tr("Go on with a replay that was paused or stopped")
        return Face(self.tr("R&esume"), "resume", words.kept(session.kept) if session.kept is not None else tip)

    def _resume(self) -> None:
        """Go on where the replay waits, or where an earlier one was stopped; never from the beginning."""
        if self._session.phase is Phase.PAUSED:
            self._session.resume()
        else:
            self._session.go_on()


def _can_be_stopped(session: Session) -> bool:
    return session.phase in (Phase.REPLAYING, Phase.PAUSED)


def _can_go_on(session: Session) -> bool:
    return session.phase is Phase.PAUSED or session.can_go_on
