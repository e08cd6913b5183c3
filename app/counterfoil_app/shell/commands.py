"""The rows of the window's action table that concern runs, verdicts, the replay and the queue."""

from __future__ import annotations

from collections.abc import Callable

from PySide6.QtCore import QObject
from PySide6.QtGui import QKeySequence

from counterfoil_app.looks import words
from counterfoil_app.model.bundle_queue import BundleQueue
from counterfoil_app.model.open_bundle import Phase
from counterfoil_app.model.session import Session
from counterfoil_app.shell.actions import Face, FaceOf, Keys, Row, always
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
        sign_queue: Signs what the queue found.
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
        sign_queue: Callable[[], None],
    ) -> None:
        super().__init__(files)
        self._session = session
        self._queue = queue
        self._files = files
        self._verdicts = verdicts
        self._plan = plan
        self._results = results
        self._keys = keys
        self._sign_queue = sign_queue

    def rows(self) -> list[Row]:
        """The rows, in the order of the menus."""
        session, queue, files = self._session, self._queue, self._files
        deeds: dict[str, tuple[Callable[[], object], Keys]] = {
            "open": (files.choose, QKeySequence.StandardKey.Open),
            "compare": (files.choose_order, "Ctrl+Shift+O"),
            "drop_order": (files.drop_order, ""),
            "data": (files.choose_data, "Ctrl+D"),
            "verdict": (lambda: self._verdicts.sign(), "Ctrl+E"),
            "hand_over": (self._verdicts.hand_over, "Ctrl+H"),
            "table": (files.choose_table, "Ctrl+Shift+E"),
            "capsule": (files.choose_capsule, "Ctrl+Shift+C"),
            "keys": (self._keys, "Ctrl+Shift+K"),
            "results": (self._results, "Ctrl+R"),
            "replay": (session.replay, "F5"),
            "conclude": (session.replay, ""),
            "pause": (session.pause, "F6"),
            "go_on": (self._resume, "F7"),
            "stop": (session.stop, "Shift+F5"),
            "plan": (self._plan, "Ctrl+L"),
            "add_to_queue": (files.choose_for_queue, "Ctrl+Shift+A"),
            "start_queue": (queue.start, "Ctrl+F5"),
            "sign_queue": (self._sign_queue, "Ctrl+Shift+S"),
            "stop_queue": (queue.stop, "Ctrl+Shift+F5"),
        }
        faces, enabled = self._faces(), self._enabled()
        return [Row(name, faces[name], *deed, enabled=enabled.get(name, always)) for name, deed in deeds.items()]

    def _faces(self) -> dict[str, Face | FaceOf]:
        return {
            "open": Face(
                self.tr("&Open\u2026"),
                "open",
                self.tr("A run, an order, a verdict, a dispute capsule, weights, a key: each is used for what it is"),
            ),
            "compare": Face(
                self.tr("Co&mpare with order\u2026"),
                "compare",
                self.tr("Compare the open run with the client's own order file"),
            ),
            "drop_order": Face(self.tr("Ta&ke the order from the bundle")),
            "data": Face(
                self.tr("Choose the &data file\u2026"),
                "open",
                self.tr("Choose the file with the data that the order names and does not hold"),
            ),
            "verdict": Face(
                self.tr("&Sign verdict\u2026"), "export", self.tr("Sign what the replay found, and save it")
            ),
            "hand_over": Face(
                self.tr("Hand o&ver\u2026"),
                "handover",
                self.tr("Make a folder for others: verdict, report, capsule, your key, and how to check each"),
            ),
            "table": Face(self.tr("Export step &table\u2026"), "table", self.tr("Save the replayed steps as CSV")),
            "capsule": Face(
                self.tr("Save dispute &capsule\u2026"),
                "disputed",
                self.tr("Save the disputed step with its proofs, so that anybody can replay it on another machine"),
            ),
            "keys": Face(
                self.tr("Ke&ys\u2026"),
                "key",
                self.tr("The keys that you know: trainers', auditors', clients' and your own"),
            ),
            "results": Face(
                self.tr("Res&ults\u2026"),
                "table",
                self.tr("What all replays found, signed or not, those of earlier days too"),
            ),
            "replay": self._replay_face,
            "conclude": Face(
                self.tr("&Conclude as refused"),
                "refused",
                self.tr("Run the checks and conclude REFUSED, so that a verdict can be signed"),
            ),
            "pause": Face(self.tr("&Pause"), "pause", self.tr("Let the replay wait; Resume lets it go on")),
            "go_on": self._go_on_face,
            "stop": Face(self.tr("&Stop"), "stop", self.tr("Stop the replay")),
            "plan": Face(
                self.tr("P&lan\u2026"),
                "plan",
                self.tr("Choose how much of the run is replayed, and see what that costs and proves"),
            ),
            "add_to_queue": Face(self.tr("&Add\u2026"), "queue", self.tr("Add bundles to the queue")),
            "start_queue": Face(self.tr("Sta&rt"), "replay", self.tr("Replay the waiting bundles one after the other")),
            "sign_queue": Face(
                self.tr("S&ign all\u2026"),
                "export",
                self.tr("Sign what the queue found: one list, one passphrase, and a verdict for each"),
            ),
            "stop_queue": Face(self.tr("S&top"), "stop", self.tr("Stop the queue; what waits stays")),
        }

    def _enabled(self) -> dict[str, Callable[[Session], bool]]:
        """When each can be done; what does not stand here always can."""
        queue = self._queue
        return {
            "compare": lambda session: session.path is not None and not session.running,
            "drop_order": lambda session: session.order is not None and not session.running,
            "data": lambda session: session.data_file is not None and not session.running,
            "verdict": lambda session: session.report is not None,
            "hand_over": lambda session: session.report is not None and session.report.is_about,
            "table": lambda session: session.steps.done > 0,
            "capsule": lambda session: session.can_export_capsule,
            "replay": lambda session: session.can_replay and not session.only_refuses,
            "conclude": lambda session: session.only_refuses,
            "pause": lambda session: session.phase is Phase.REPLAYING,
            "go_on": lambda session: session.phase is Phase.PAUSED or session.can_go_on,
            "stop": lambda session: session.phase in (Phase.REPLAYING, Phase.PAUSED),
            "plan": lambda session: (
                session.can_replay and session.summary is not None and not session.refused_so_far and not queue.running
            ),
            "start_queue": lambda session: bool(queue.waiting) and not queue.running and not session.running,
            "sign_queue": lambda _session: bool(queue.unsigned) and not queue.running,
            "stop_queue": lambda session: queue.running and session.running,
        }

    def _replay_face(self, session: Session) -> Face:
        tip = self.tr("Replay {0} on this machine from the beginning, and compare it")
        return Face(self.tr("&Replay"), "replay", tip.format(words.segments(session.segments)))

    def _go_on_face(self, session: Session) -> Face:
        tip = self.tr("Go on with a replay that was paused or stopped")
        return Face(self.tr("R&esume"), "resume", words.kept_replay(session.kept) if session.kept is not None else tip)

    def _resume(self) -> None:
        """Go on where the replay waits, or where an earlier one was stopped; never from the beginning."""
        if self._session.phase is Phase.PAUSED:
            self._session.resume()
        else:
            self._session.go_on()
