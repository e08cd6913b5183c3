"""Every figure of an audit is said the same in the window, the printed report, the command line, the table and verdict.

What each must say is counted here from the table of steps, and not by what says it.
"""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

import pytest
from pytestqt.qtbot import QtBot
from rich.console import Console

from counterfoil import (
    AuditRequest,
    CancelToken,
    Event,
    LabelFlip,
    Outcome,
    StepReplayed,
    generate_key,
    load_private_key,
    order_digits,
    record,
)
from counterfoil.audit import progressfile
from counterfoil.cli import reports
from counterfoil_app.engine.port import Engine
from counterfoil_app.model.open_bundle import Phase
from counterfoil_app.shell.window import MainWindow
from counterfoil_app.verdict import report_pages
from counterfoil_app.verdict.export import Unsigned, contents_of
from counterfoil_app.verdict.matter import matter_of
from counterfoil_app.verdict.report_document import NO_CASE
from counterfoil_core.base.timestamps import read_timestamp
from counterfoil_resources.digits import load_digits
from support.fake_engine import envelope_of
from support.waiting import reached

STEPS, EVERY, LIE, STOP = 12, 2, 5, 7
WHEN = datetime(2026, 11, 21, tzinfo=UTC)
MakeWindow = Callable[[Engine], MainWindow]


class StoppedOnce(Engine):
    """The real engine, in this process; its first audit is stopped as the user stops one, behind a step."""

    def __init__(self, stop_after: int | None = None) -> None:
        super().__init__()
        self.stop_after = stop_after

    def audit(self, request: AuditRequest, cancel: CancelToken) -> Iterator[Event]:
        for event in super().audit(request, cancel):
            yield event
            if isinstance(event, StepReplayed) and event.row.step == self.stop_after:
                self.stop_after = None
                cancel.cancel()


@pytest.fixture(scope="module")
def runs(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    folder = tmp_path_factory.mktemp("job")
    images, labels = load_digits()
    draft = order_digits(
        images[:120], labels[:120], steps=STEPS, batch_size=8, width=4, checkpoint_every=EVERY, seed=11
    )
    draft.write(folder / "job.cfoil")
    generate_key(folder / "trainer.pem", None)
    key = load_private_key(folder / "trainer.pem", None)
    found = {"honest": folder / "honest.cfoil", "tampered": folder / "tampered.cfoil"}
    for name, path in found.items():
        lie = LabelFlip(step=LIE) if name == "tampered" else None
        for _ in record(folder / "job.cfoil", path, key, tamper=lie):
            pass
    return found


@dataclass(frozen=True)
class Counted:
    """What the table of steps comes to, counted from its CSV; what was recorded from the events of the trainer."""

    judged: int
    different: int
    entries: int
    size: int
    corrections: int


def counted(engine: Engine, window: MainWindow, folder: Path) -> Counted:
    engine.write_steps(window.session.steps.snapshot(), folder / "steps.csv")
    with (folder / "steps.csv").open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    matching = [row for row in rows if row["match"] == "match"]
    return Counted(
        judged=sum(row["match"] in ("match", "mismatch") for row in rows),
        different=sum(row["match"] == "mismatch" for row in rows),
        entries=sum(int(row["log_entries"]) for row in matching),
        size=sum(int(row["log_bytes"]) for row in matching),
        corrections=sum(int(row["corrections"]) for row in matching),
    )


def on_paper(window: MainWindow) -> str:
    material = window.session.material()
    assert material is not None
    assert window.session.report is not None
    envelope = envelope_of(Engine().preview(window.session.report, WHEN))
    page = contents_of(material, envelope, Path("v.json"), NO_CASE)
    return report_pages.make_document(page, 664, 965).toPlainText()


def on_the_command_line(window: MainWindow) -> str:
    report = window.session.report
    assert report is not None
    out = io.StringIO()
    reports.show_report(Console(file=out, width=400), report, report.trust)
    return out.getvalue()


def in_the_overview(window: MainWindow) -> str:
    fields = window.run._run_fields(window.session.summary)
    return "\n".join(f"{field.name}: {field.value}" for field in fields)


def every_place_agrees(engine: Engine, window: MainWindow, folder: Path) -> None:
    report, summary = window.session.report, window.session.summary
    assert report is not None
    assert summary is not None
    assert summary.run is not None
    found = counted(engine, window, folder)
    assert found.entries > 0
    statement = json.loads(engine.preview(report, WHEN))["predicate"]
    spans = statement["coverage"]["mismatchedSteps"]
    assert statement["coverage"]["stepsReplayed"] == found.judged
    assert sum(last - first + 1 for first, last in spans) == found.different
    assert {name: int(statement["counts"][name]) for name in ("logEntries", "logBytes", "corrections")} == {
        "logEntries": found.entries,
        "logBytes": found.size,
        "corrections": found.corrections,
    }
    judged = f"{STEPS} ordered, {found.judged} judged"
    if found.different:
        judged += f", {found.different} different"
    log = (
        f"{found.entries:,} entries, {found.size:,} bytes in the {found.judged - found.different} steps that match; "
        f"{found.corrections:,} corrections, "
    )
    recorded = summary.run.recorded
    whole = (
        f"{sum(map(int, recorded.log_entries)):,} entries, {sum(map(int, recorded.log_bytes)):,} bytes in all {STEPS} "
        "steps of the run"
    )
    signed = "\n".join(field.value for field in matter_of(Unsigned.of(engine, report, WHEN).said).fields)
    paper = on_paper(window)
    for place, said in {"paper": paper, "command line": on_the_command_line(window), "signing": signed}.items():
        assert judged in said, place
        assert log in said, place
    assert whole in paper
    assert whole in in_the_overview(window)
    assert f"of it judged: {log}" in in_the_overview(window)
    coverage = f"{found.judged} of {STEPS} steps were judged"
    if found.judged < STEPS:
        assert any(coverage in check.detail for check in report.checks)
    begun, ended = read_timestamp(report.begun_at), read_timestamp(report.ended_at)
    assert f"{begun:%Y-%m-%d %H:%M:%S} UTC" in paper
    assert f"{ended:%Y-%m-%d %H:%M:%S} UTC" in paper
    if report.sittings == 1:  # each moment is in whole seconds
        assert abs((ended - begun).total_seconds() - report.seconds) < 1
        assert "sittings" not in paper


@pytest.fixture(autouse=True)
def kept_at_every_segment(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(progressfile, "LEAST_SECONDS", -1e9)
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))


def opened(window: MainWindow, run: Path, qtbot: QtBot) -> None:
    window.open_bundle(run)
    qtbot.waitUntil(reached(window, Phase.READY))
    qtbot.waitUntil(lambda: not window.session.busy)


def replayed(window: MainWindow, command: str, qtbot: QtBot) -> None:
    window.commands[command].trigger()
    qtbot.waitUntil(reached(window, Phase.CONCLUDED))
    qtbot.waitUntil(lambda: not window.session.busy)


def test_of_a_disputed_run(window_of: MakeWindow, runs: dict[str, Path], qtbot: QtBot, tmp_path: Path) -> None:
    engine = StoppedOnce()
    window = window_of(engine)
    opened(window, runs["tampered"], qtbot)
    replayed(window, "replay", qtbot)
    report = window.session.report
    assert report is not None
    assert report.outcome is Outcome.DISPUTED
    assert report.steps_replayed < STEPS, "behind the lie steps are not judged up to the next stored state"
    every_place_agrees(engine, window, tmp_path)


@pytest.mark.slow
def test_of_an_audit_that_was_stopped_and_gone_on_with(
    window_of: MakeWindow, runs: dict[str, Path], qtbot: QtBot, tmp_path: Path
) -> None:
    engine = StoppedOnce(STOP)
    window = window_of(engine)
    opened(window, runs["honest"], qtbot)
    replayed(window, "replay", qtbot)
    report, kept = window.session.report, window.session.kept
    assert report is not None
    assert kept is not None
    assert report.outcome is Outcome.INCONCLUSIVE
    assert (report.steps_replayed, kept.judged, kept.step) == (STOP, STOP // EVERY * EVERY, STOP // EVERY * EVERY)
    said = window.header.sentence.text()
    assert f"stopped after {STOP} of {STEPS} steps" in said
    assert f"Kept: {kept.segments} of {STEPS // EVERY} segments with {kept.judged} judged steps" in said
    every_place_agrees(engine, window, tmp_path)
    begun, before = report.begun_at, report.seconds
    replayed(window, "go_on", qtbot)
    again = window.session.report
    assert again is not None
    assert again.outcome is Outcome.VERIFIED
    assert (again.sittings, again.begun_at) == (2, begun)
    assert again.seconds > before
    every_place_agrees(engine, window, tmp_path)
    assert "in 2 sittings" in on_paper(window)
    assert "in 2 sittings" in on_the_command_line(window)
