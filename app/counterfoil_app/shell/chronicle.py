"""Writes the journal: listens to a session and says in sentences what happened."""

from __future__ import annotations

from pathlib import Path

from PySide6.QtCore import QObject

from counterfoil import CheckNumber, CheckState, Outcome
from counterfoil_app.engine.strangers import name_of
from counterfoil_app.engine.worker import Failure
from counterfoil_app.looks import text, words
from counterfoil_app.looks.engine_words import failure_text, translate
from counterfoil_app.model.journal import Journal, Kind
from counterfoil_app.model.open_bundle import Phase
from counterfoil_app.model.session import Session

_OUTCOME_KINDS = {Outcome.VERIFIED: Kind.GOOD, Outcome.ERROR: Kind.ERROR}
_REPLAYING = (Phase.REPLAYING, Phase.PAUSED, Phase.STOPPING)
MOST_SPANS = 30
"""Most runs of drawn segments that a line lists."""
_CHECK_KINDS = {
    CheckState.PASSED: Kind.GOOD,
    CheckState.FAILED: Kind.ERROR,
    CheckState.WARNING: Kind.WARNING,
}


class Chronicle(QObject):
    """Notes what a session does: bundles, checks, replays, disputes, files written, failures.

    Args:
        session: What is listened to.
        journal: Where it is written.
    """

    def __init__(self, session: Session, journal: Journal, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._session = session
        self._journal = journal
        self._phase = session.phase
        self._files: tuple[Path | None, Path | None] = (None, None)
        self._disputed: int | None = None
        self._checks: dict[CheckNumber, CheckState] = {}
        session.phase_changed.connect(self._note_phase)
        session.checks_changed.connect(self._note_checks)
        session.dispute_changed.connect(self._note_dispute)
        session.sample_chosen.connect(self._note_sample)
        session.devices_changed.connect(self._note_devices)
        session.exports.finished.connect(self._note_export)
        session.failed.connect(self._note_failure)

    def _note_phase(self) -> None:
        session = self._session
        before, self._phase = self._phase, session.phase
        files, self._files = self._files, (session.path, session.order)
        # What is known of a bundle grows while it is opened; another bundle may be opened meanwhile.
        if self._phase is before and (self._phase is not Phase.LOADING or files == self._files):
            return
        name = name_of(session.path)
        if self._phase is Phase.LOADING:
            self._forget()
            self._note(self.tr("Opening {0}.").format(session.path))
            if session.order is not None:
                self._note(self.tr("Comparing it with the order {0}.").format(session.order))
        elif self._phase is Phase.READY:
            self._note(self.tr("{0} is open.").format(name))
        elif self._phase is Phase.UNREADABLE and session.failure is not None:
            self._note_failure(session.failure)
        elif self._phase is Phase.REPLAYING:
            if before is Phase.PAUSED:
                self._note(self.tr("The replay goes on."))
            else:
                self._forget()
                self._note(self.tr("Replaying {0} on {1}.").format(name, session.device))
        elif self._phase is Phase.PAUSED:
            self._note(self.tr("Paused after {0} steps.").format(text.count(session.progress.replayed)))
        elif self._phase is Phase.STOPPING:
            self._note(self.tr("Stopping the replay."))
        elif self._phase is Phase.CONCLUDED and session.report is not None and before not in _REPLAYING:
            self._note_shown_again()
        elif self._phase is Phase.CONCLUDED and session.report is not None:
            report = session.report
            self._note_checks()  # the last checks come to the outcome, and stand before it
            kind = _OUTCOME_KINDS.get(report.outcome, Kind.WARNING)
            self._journal.note(kind, f"{words.as_signed(report.outcome.value)}: {translate(report.reason)}")
        elif self._phase is Phase.FAILED and session.failure is not None and session.failure.expected:
            # One that was not expected comes by the signal ``failed`` too.
            self._note_failure(session.failure)

    def _note_shown_again(self) -> None:
        """A result of an earlier replay: its checks were not made now, and have no lines of this time."""
        session = self._session
        assert session.report is not None
        self._checks = {number: check.state for number, check in session.checks.items()}
        self._disputed = session.dispute.step if session.dispute is not None else None
        when = text.moment(session.report.ended_at) if session.report.ended_at else "\u2013"
        said = self.tr("Shown again: {0}, {1}. The replay ended at {2}.")
        self._note(said.format(name_of(session.path), words.as_signed(session.report.outcome.value), when))

    def _note_sample(self) -> None:
        sample = self._session.sample
        if sample is None or sample.whole:
            return
        said = self.tr("Segments that are replayed: {0} of {1}, namely {2}.")
        spans = [
            text.count(first) if first == last else f"{text.count(first)}\u2013{text.count(last)}"
            for first, last in sample.spans
        ]
        shown = ", ".join(spans[:MOST_SPANS]) + (", \u2026" if len(spans) > MOST_SPANS else "")
        self._note(said.format(text.count(sample.count), text.count(sample.total), shown))

    def _note_checks(self) -> None:
        for number, check in self._session.checks.items():
            known = self._checks.get(number)
            self._checks[number] = check.state
            if check.state is known or check.state not in _CHECK_KINDS:
                continue
            title, state = words.check_title(number), words.check(check).word
            sentence = self.tr("Check {0}: {1}. {2}").format(title, state, translate(check.detail)).strip()
            self._journal.note(_CHECK_KINDS[check.state], sentence)

    def _note_dispute(self) -> None:
        dispute = self._session.dispute
        if dispute is None or dispute.step == self._disputed:
            return
        self._disputed = dispute.step
        step = self.tr("Step {0} comes out different.").format(text.count(dispute.step))
        self._journal.note(Kind.WARNING, step if dispute.step else self.tr("The initial state differs."))

    def _note_devices(self) -> None:
        names = ", ".join(device.name for device in self._session.devices)
        self._note(self.tr("Devices that can replay: {0}.").format(names))

    def _note_export(self, path: Path) -> None:
        self._journal.note(Kind.GOOD, self.tr("Written: {0}").format(path))

    def _note_failure(self, failure: Failure) -> None:
        self._journal.note(Kind.ERROR, failure_text(failure), failure.detail)

    def _note(self, message: str) -> None:
        self._journal.note(Kind.NOTE, message)

    def _forget(self) -> None:
        self._checks.clear()
        self._disputed = None
