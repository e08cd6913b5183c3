"""A run that lies elsewhere is replayed in a box that has no network: whoever started it fetches."""

from __future__ import annotations

import threading
from pathlib import Path

import pytest

from counterfoil.audit.boxed.files import absolute, paths_in
from counterfoil.audit.boxed.session import InBox, open_session
from counterfoil.remote import files
from counterfoil.remote.transfer import Patience
from counterfoil_core.base.cancel import CancelToken
from counterfoil_core.remote.address import Address
from counterfoil_core.values.events import AuditFinished, StepReplayed
from counterfoil_core.values.outcome import Outcome
from counterfoil_core.values.request import AuditRequest
from support.boxes import closed  # noqa: F401
from support.jobs import Job
from support.servers import serving


def test_a_process_in_a_box_replays_a_run_that_it_cannot_reach(digits_job: Job) -> None:
    with serving(digits_job.run) as served, open_session() as session:
        assert isinstance(session, InBox)
        request = AuditRequest(Address(served.url), digits_job.order, threads=1)
        *_, finished = session.audit(request, CancelToken())
    assert isinstance(finished, AuditFinished)
    report = finished.report
    assert report.outcome is Outcome.VERIFIED, report.reason
    assert "seccomp" in dict(report.environment)["sandbox"]
    assert report.fetched is not None
    assert report.fetched.bytes == served.sent - 2, "what the box was given is what came"


@pytest.mark.slow
def test_it_can_be_stopped_while_a_server_stalls(digits_job: Job, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(files, "PATIENCE", Patience(silence=60.0))
    cancel = CancelToken()
    asked = threading.Event()

    def stall(start: int) -> bool:
        if start:
            asked.set()
        return start > 0

    def stop() -> None:
        asked.wait(60)
        cancel.cancel()

    with serving(digits_job.run, stall=stall) as served, open_session() as session:
        threading.Thread(target=stop, daemon=True).start()
        events = list(session.audit(AuditRequest(Address(served.url), digits_job.order, threads=1), cancel))
    assert asked.is_set(), "control: the server was waited for"
    assert isinstance(events[-1], AuditFinished)
    assert (events[-1].report.outcome, events[-1].interrupted) == (Outcome.INCONCLUSIVE, True)
    assert not [event for event in events if isinstance(event, StepReplayed)]


def test_a_file_of_the_name_of_the_address_is_not_opened_for_it() -> None:
    request = AuditRequest(Address("https://example.org/run.cfoil"), Path("job.cfoil"))
    assert list(paths_in(absolute(request))) == [Path("job.cfoil").absolute()]
