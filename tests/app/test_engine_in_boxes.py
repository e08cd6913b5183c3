"""The window's engine where processes close boxes: the same calls, and a process for the files that each names."""

from __future__ import annotations

import os
import signal
import sys
import time
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path

import pytest

from counterfoil import (
    NO_TRUST,
    AdjudicationFinished,
    AuditFinished,
    AuditReport,
    AuditRequest,
    AuditStarted,
    CancelToken,
    CounterfoilError,
    Difference,
    DisputedRows,
    Ledger,
    LedgerProgress,
    Located,
    Outcome,
    PanelFinished,
    PanelOutcome,
    Place,
    ProgressRestored,
    StepReplayed,
    TensorSides,
)
from counterfoil.audit.recognition import FileUse
from counterfoil.signing.privatekeys import key_from_seed
from counterfoil.talk import table
from counterfoil.talk.port import Enclosure
from counterfoil.talk.process import Process, Start
from counterfoil_app.engine.broker import _device
from counterfoil_app.engine.port import (
    BundlesRequest,
    LedgerRequest,
    LocateRequest,
    LookRequest,
    ProvidersRequest,
)
from counterfoil_app.engine.process import EngineWords, ProcessEngine
from counterfoil_app.engine.sample import SampleKind
from counterfoil_core.base.errors import CancelledError
from counterfoil_core.signing.keys import SigningKey
from counterfoil_core.statement.verdict import sign_verdict
from support.boxes import closed, enclosure_of
from support.job_fixtures import cheat_job, digits_job, once, trainer_key
from support.jobs import Job, digits_order, record_job
from support.reports import verified_report

__all__ = ["cheat_job", "closed", "digits_job", "once", "trainer_key"]
pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="there are boxes on Linux only")


@pytest.fixture(scope="module")
def tampered(cheat_job: Job) -> Path:
    return cheat_job.run


@pytest.fixture(scope="module")
def engine() -> Iterator[ProcessEngine]:
    engine = ProcessEngine()
    yield engine
    engine.close()


def audited(engine: ProcessEngine, request: AuditRequest, stop_after: int = -1) -> list[object]:
    token, said, seen = CancelToken(), [], 0
    for event in engine.audit(request, token):
        said.append(event)
        seen = 0 if isinstance(event, ProgressRestored) else seen + isinstance(event, StepReplayed)
        if seen == stop_after:
            token.cancel()
    return said


def report_of(said: list[object]) -> AuditReport:
    last = said[-1]
    assert isinstance(last, AuditFinished)
    return last.report


def test_a_dispute_stays_where_it_is_while_files_are_looked_at(
    engine: ProcessEngine, digits_job: Job, tampered: Path, tmp_path: Path
) -> None:
    report = report_of(audited(engine, AuditRequest(tampered, digits_job.order, threads=1)))
    assert report.outcome is Outcome.DISPUTED
    words = dict(report.environment)["sandbox"]
    assert "seccomp" in words or words.startswith("none")
    assert engine.recognise(digits_job.run).kind is FileUse.RUN
    capsule = tmp_path / "dispute.cfoil"
    engine.write_capsule(report, capsule)
    *_, finished = engine.adjudicate(capsule, digits_job.order, "cpu", 1, CancelToken())
    assert isinstance(finished, AdjudicationFinished)
    assert finished.report.outcome.value == "CONFIRMED"


def test_files_are_looked_at_side_by_side_and_that_is_stopped(
    engine: ProcessEngine, digits_job: Job, tmp_path: Path
) -> None:
    text = tmp_path / "text.txt"
    text.write_text("no run")
    gone = tmp_path / "gone.cfoil"
    told = {each.path: each for each in engine.incoming((digits_job.run, digits_job.order, text, gone), CancelToken())}
    kinds = {path.name: each.found.kind for path, each in told.items() if each.found is not None}
    assert kinds == {
        digits_job.run.name: FileUse.RUN, digits_job.order.name: FileUse.ORDER, text.name: FileUse.OTHER,
    }  # fmt: skip
    assert told[gone].failure is not None
    assert "no file" in told[gone].failure.sentence
    many, token = [tmp_path / f"{number}.txt" for number in range(300)], CancelToken()
    answers = engine.incoming(many, token)
    next(answers)
    token.cancel()
    with pytest.raises(CancelledError):
        list(answers)
    assert engine.recognise(digits_job.order).kind is FileUse.ORDER


class Impatient(ProcessEngine):
    """An engine whose broker waits for seconds where that of the window waits for minutes."""

    def _start(self) -> Process:
        code = (
            "from counterfoil_app.engine import broker\n"
            "broker.IDLE_SECONDS, broker.SPARE_SECONDS = 2.0, {True: 0.0, False: 0.1}\n"
            "broker.main()\n"
        )
        return Process(table.BROKER, EngineWords(), Start([sys.executable, "-c", code], shows_errors=True))

    def computing(self) -> list[int]:
        """Resident MiB of the processes that have loaded torch, largest first."""
        sizes = []
        for process in _children(self.process_id):
            with suppress(OSError):
                if "libtorch" in Path(f"/proc/{process}/maps").read_text():
                    sizes.append(int(Path(f"/proc/{process}/statm").read_text().split()[1]) >> 8)
        return sorted(sizes, reverse=True)


def _children(process: int) -> list[int]:
    return [int(each) for each in Path(f"/proc/{process}/task/{process}/children").read_text().split()]


def until(engine: Impatient, count: int) -> None:
    deadline = time.monotonic() + 120
    while len(engine.computing()) != count:
        assert time.monotonic() < deadline, engine.computing()
        time.sleep(0.05)


@pytest.fixture
def impatient() -> Iterator[Impatient]:
    engine = Impatient()
    yield engine
    engine.close()


@pytest.mark.slow
def test_what_computes_ends_when_nobody_asks_and_is_loaded_again(
    impatient: Impatient, digits_job: Job, tampered: Path, tmp_path: Path
) -> None:
    """Evidence that lies nowhere else is not let go of; what has none is."""
    for run, outcome in ((digits_job.run, Outcome.VERIFIED), (tampered, Outcome.DISPUTED)):
        report = report_of(audited(impatient, AuditRequest(run, digits_job.order, threads=1)))
        assert report.outcome is outcome
        time.sleep(1.0)
    busy = impatient.computing()
    until(impatient, 1)
    impatient.write_capsule(report, tmp_path / "dispute.cfoil")
    impatient.release()
    until(impatient, 0)
    deadline = time.monotonic() + 60
    while _children(impatient.process_id):  # nor does what only looks at files stay
        assert time.monotonic() < deadline
        time.sleep(0.05)
    assert sum(busy) > 300, "control: they held memory, in MiB"
    assert impatient.recognise(digits_job.run).kind is FileUse.RUN
    assert report_of(audited(impatient, AuditRequest(digits_job.run, threads=1))).outcome is Outcome.VERIFIED


@pytest.mark.slow
def test_what_computed_ends_when_another_file_is_looked_at(
    impatient: Impatient, digits_job: Job, tampered: Path
) -> None:
    report_of(audited(impatient, AuditRequest(digits_job.run, threads=1)))
    impatient.release()
    before = set(_children(impatient.process_id))
    impatient.outline(tampered)
    until(impatient, 1)
    assert not all(each in _children(impatient.process_id) for each in before)


@pytest.mark.slow
def test_a_replay_is_gone_on_with(engine: ProcessEngine, trainer_key: SigningKey, tmp_path: Path) -> None:
    long = record_job(tmp_path, digits_order(steps=60, checkpoint_every=2), trainer_key)
    request = AuditRequest(long.run, long.order, threads=1)
    stopped = audited(engine, request, stop_after=3)
    report = report_of(stopped)
    assert report.outcome is Outcome.INCONCLUSIVE
    assert report.order_digest is not None
    assert report.run_root is not None
    kept = engine.kept(request, report.order_digest, report.run_root)
    assert kept is not None
    resumed = audited(engine, replace(request, resume=True))
    assert any(isinstance(event, ProgressRestored) for event in resumed)
    assert report_of(resumed).outcome is Outcome.VERIFIED
    assert engine.kept(request, report.order_digest, report.run_root) is None
    assert not kept.path.exists()


@pytest.mark.slow
def test_the_sample_is_recorded_outside(engine: ProcessEngine, tmp_path: Path) -> None:
    *_, last = engine.make_sample(tmp_path / "sample", SampleKind.HONEST, CancelToken())
    assert last.done == last.total
    assert report_of(audited(engine, AuditRequest(tmp_path / "sample" / "sample-honest.cfoil"))).outcome.value


def test_the_end_of_a_process_is_told_and_survived(engine: ProcessEngine, digits_job: Job) -> None:
    request = AuditRequest(digits_job.run, digits_job.order, threads=1)
    said = engine.audit(request, CancelToken())
    while not isinstance(next(said), AuditStarted):
        pass
    broker = engine.process_id
    assert broker is not None
    inner = [int(each) for each in Path(f"/proc/{broker}/task/{broker}/children").read_text().split()]
    inner += [int(each) for task in Path(f"/proc/{broker}/task").iterdir() for each in
              (task / "children").read_text().split() if int(each) not in inner]  # fmt: skip
    for each in inner:
        os.kill(each, signal.SIGKILL)
    with pytest.raises(CounterfoilError, match="signal 9"):
        list(said)
    assert engine.outline(digits_job.run).order is not None


def test_the_processes_end_with_the_window(digits_job: Job) -> None:
    engine = ProcessEngine()
    engine.outline(digits_job.run)
    broker = engine.process_id
    assert broker is not None
    inner = [each for task in Path(f"/proc/{broker}/task").iterdir() for each in
             (task / "children").read_text().split()]  # fmt: skip
    assert inner
    os.kill(broker, signal.SIGKILL)
    deadline = time.monotonic() + 120  # one that loads torch hears of it when that is done
    while any(Path("/proc", each).exists() for each in inner):
        assert time.monotonic() < deadline
        time.sleep(0.1)
    with pytest.raises(CounterfoilError):
        engine.outline(digits_job.run)
    engine.close()


def test_a_call_is_let_read_what_it_names(tmp_path: Path) -> None:
    run, order, verdict = (tmp_path / name for name in ("run.cfoil", "job.cfoil", "verdict.json"))
    for name in ("other.json", "notes.txt"):
        (tmp_path / name).touch()
    audit = enclosure_of("audit", (AuditRequest(run, order, progress=tmp_path),), "")
    assert audit.reads == (str(order), str(run))
    assert enclosure_of("inspect", (run, None, ()), "").reads == (str(run),)
    assert enclosure_of("write_capsule", (None, tmp_path / "out.cfoil"), "").reads == ()
    reading = enclosure_of("read_verdict", (verdict, NO_TRUST, run, ()), "")
    assert reading.reads == (str(tmp_path / "other.json"), str(run), str(verdict))
    assert reading.lists == (str(tmp_path),)
    assert audit.lets(enclosure_of("outline", (run,), ""))
    assert not audit.lets(reading)
    assert not audit.lets(Enclosure(open="CUDA"))


def inner_processes(engine: ProcessEngine) -> dict[bool, list[bool]]:
    """Of the processes that only look (True) and of the others: whether each has loaded torch."""
    found: dict[bool, list[bool]] = {True: [], False: []}
    threads = Path(f"/proc/{engine.process_id}/task")
    for task in threads.iterdir():
        try:
            children = (task / "children").read_text().split()
        except (FileNotFoundError, ProcessLookupError):  # a thread that has ended meanwhile
            continue
        for child in children:
            command = Path(f"/proc/{child}/cmdline").read_bytes().split(b"\0")
            found[b"light" in command].append("libtorch" in Path(f"/proc/{child}/maps").read_text())
    return found


def test_the_first_figures_of_a_run_do_not_wait_for_torch(engine: ProcessEngine, digits_job: Job) -> None:
    engine.start()
    engine.client_order(digits_job.order, digits_job.run)
    *_, summary = engine.inspect(digits_job.run, digits_job.order, (), CancelToken())
    assert summary.order is not None
    looking = inner_processes(engine)
    assert looking[True]
    assert not any(looking[True])
    assert engine.devices()
    assert any(inner_processes(engine)[False])  # the control: what computes has loaded it


@pytest.mark.slow
def test_a_closer_look_leaves_the_evidence_of_the_replay_where_it_is(
    engine: ProcessEngine, tampered: Path, digits_job: Job, tmp_path: Path
) -> None:
    report = report_of(audited(engine, AuditRequest(tampered, digits_job.order)))
    *_, rows = engine.disputed_rows(LookRequest(tampered, 3), CancelToken())
    assert isinstance(rows, DisputedRows)
    assert [row.said for row in rows.arrays] == ["", "Every value x was read as 9 - x."]
    *_, sides = engine.tensor_sides(LookRequest(tampered, 4, tensor="head.weight", threads=1), CancelToken())
    assert isinstance(sides, TensorSides)
    assert sides.differing
    engine.write_capsule(report, tmp_path / "dispute.cfoil")
    subject = engine.capsule_subject(tmp_path / "dispute.cfoil")
    assert (subject.step, subject.part) == (3, "")


@pytest.mark.slow
def test_runs_are_compared_in_a_box(engine: ProcessEngine, tampered: Path, digits_job: Job) -> None:
    asked = ProvidersRequest((digits_job.run, tampered), digits_job.order, replay=True, threads=1)
    *_, finished = engine.compare_providers(asked, CancelToken())
    assert isinstance(finished, PanelFinished)
    assert finished.report.outcome is PanelOutcome.EXPOSED
    *_, found = engine.compare_bundles(BundlesRequest(digits_job.run, tampered, threads=1), CancelToken())
    assert isinstance(found, Difference)
    assert (found.step, found.inputs) == (3, ("labels",))


def test_verdicts_are_put_together_and_hashes_found_in_a_box(
    engine: ProcessEngine, digits_job: Job, tmp_path: Path
) -> None:
    auditor, folder = key_from_seed(b"\1" * 32), tmp_path / "verdicts"
    folder.mkdir()
    (folder / "good.json").write_bytes(sign_verdict(verified_report(), auditor, datetime(2026, 3, 1, tzinfo=UTC)))
    (folder / "link.json").symlink_to(digits_job.order)
    asked = LedgerRequest(folder, (auditor.public.public,))
    *said, found = engine.read_ledger(asked, CancelToken())
    assert isinstance(found, Ledger)
    assert [trainer.key_id for trainer in found.trainers] == [verified_report().trainer_key]
    assert said[-1] == LedgerProgress(1, 1), "the link is left alone"
    assert enclosure_of("read_ledger", (asked,), "").reads == (str(folder),)
    with pytest.raises(CounterfoilError, match="cannot be looked through"):
        list(engine.read_ledger(LedgerRequest(tmp_path / "gone", ()), CancelToken()))
    *_, summary = engine.inspect(digits_job.run, None, (), CancelToken())
    located = LocateRequest(digits_job.run, summary.order.digest)
    *_, places = engine.locate(located, CancelToken())
    assert places == Located(places=(Place("order"),))
    assert enclosure_of("locate", (located,), "").reads == (str(digits_job.run),)
    weights = LocateRequest(digits_job.run, tmp_path / "model.safetensors")
    assert enclosure_of("locate", (weights,), "").reads == tuple(sorted((str(weights.wanted), str(digits_job.run))))
    stopped = CancelToken()
    stopped.cancel()
    with pytest.raises(CounterfoilError, match="cancelled"):
        list(engine.locate(located, stopped))


def test_the_name_of_a_tensor_opens_no_box() -> None:
    """Where a call names a graphics card its process has no box, and a stranger names the tensors."""
    assert not _device({"asked": LookRequest(Path("run.cfoil"), 1, tensor="cuda:0")})
    assert _device({"asked": LookRequest(Path("run.cfoil"), 1, device="cuda:0")}) == "cuda:0"


def test_data_are_looked_at_in_a_box(engine: ProcessEngine, tmp_path: Path) -> None:
    book = tmp_path / "book.txt"
    book.write_text("once upon a time")
    assert engine.preview_data("gpt2", book).text == "once upon a time"
    assert engine.preview_data("digits-cnn", None).count == 1797
    assert not enclosure_of("preview_data", ("gpt2", book), "").open
    assert enclosure_of("preview_data", ("gpt2", book), "").reads == (str(book),)
    with pytest.raises(CounterfoilError, match="no file"):
        engine.preview_data("gpt2", tmp_path / "missing.txt")
