"""The engine in its own process: real calls across the pipe, and what happens when that process dies."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path

import pytest

import counterfoil
from counterfoil import (
    NO_TRUST,
    Afterwards,
    AuditFinished,
    AuditReport,
    AuditRequest,
    CancelToken,
    Cause,
    CounterfoilError,
    DeliveryOutcome,
    DeliveryReport,
    Digest,
    Event,
    FileUse,
    LocalWorkers,
    OperatorDone,
    Outcome,
    Plan,
    RatePolicy,
    Revocation,
    RevocationList,
    StepReplayed,
    TrustStore,
    Withdrawal,
    WorkerState,
)
from counterfoil.talk.line import Outbox
from counterfoil.talk.messages import decode, encode
from counterfoil.talk.port import Answer, Delivery, Item, Returned
from counterfoil.training.recordingfolder import recording_folder
from counterfoil_app.engine.port import (
    ENGINE,
    PROGRESS,
    BundlesRequest,
    FactsRequest,
    KnownRequest,
    LedgerRequest,
    LocateRequest,
    LookRequest,
    ProvidersRequest,
    RulesRequest,
)
from counterfoil_app.engine.process import ProcessEngine, _Signing
from counterfoil_app.engine.recordings import KnownFollow, RecordRequest
from counterfoil_app.engine.sample import SampleKind
from counterfoil_app.engine.search import Wanted
from counterfoil_app.engine.worker import Failure, ReportedError
from counterfoil_core.base.sentence import Sentence
from counterfoil_core.program.limits import LARGE
from counterfoil_core.signing.statements import sign_said
from support.fake_engine import FACTS, FakeEngine
from support.memory import holds
from support.trusted import store_of

STEPS = 6
PASSPHRASE = "-".join(["never", "in", "the", "engine", str(11**7)])


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Path:
    from counterfoil_resources.digits import load_digits

    folder = tmp_path_factory.mktemp("process")
    images, labels = load_digits()
    counterfoil.order_digits(
        images[:100], labels[:100], steps=STEPS, batch_size=8, width=8, checkpoint_every=2, seed=5
    ).write(folder / "job.cfoil")
    counterfoil.generate_key(folder / "trainer.pem", None)
    key = counterfoil.load_private_key(folder / "trainer.pem", None)
    for name, tamper in (("run", None), ("tampered", counterfoil.LabelFlip(step=3))):
        for _ in counterfoil.record(folder / "job.cfoil", folder / f"{name}.cfoil", key, tamper=tamper):
            pass
    return folder / "run.cfoil"


@pytest.fixture(scope="module")
def engine() -> Iterator[ProcessEngine]:
    engine = ProcessEngine()
    yield engine
    engine.close()
    assert engine.process_id is None


def report_of(events: Iterator[Event]) -> AuditReport:
    *_, last = events
    assert isinstance(last, AuditFinished)
    return last.report


def test_overview_plan_replay_and_verdict(engine: ProcessEngine, run: Path, tmp_path: Path) -> None:
    assert engine.devices()[0].name == "cpu"
    summaries = list(engine.inspect(run, run.with_name("job.cfoil"), (), CancelToken()))
    assert len(summaries) > 1
    assert summaries[-1] == counterfoil.inspect(run, run.with_name("job.cfoil"))
    plan = AuditRequest(run, run.with_name("job.cfoil"), "cpu")
    *_, measured = engine.plan(plan, 0.5, CancelToken())
    assert isinstance(measured, Plan)
    assert measured.steps == STEPS
    events = list(engine.audit(plan, CancelToken()))
    assert [event.row.step for event in events if isinstance(event, StepReplayed)] == list(range(1, STEPS + 1))
    report = report_of(iter(events))
    assert report.outcome is Outcome.VERIFIED

    signed_at = datetime(2026, 11, 21, 12, tzinfo=UTC)
    statement = engine.preview(report, signed_at)
    passphrase = counterfoil.Passphrase.given(PASSPHRASE)
    with counterfoil.start_signer(
        tmp_path / "auditor.pem", "audit", passphrase, about="run.cfoil", create=True
    ) as signer:
        envelope = signer.sign(statement)
    public = tmp_path / "auditor.pub.pem"
    if sys.platform == "linux":  # what reads the bundle, and made the statement, never had it
        assert engine.process_id is not None
        assert holds(engine.process_id, b"auditor.pem") is False
        assert not holds(engine.process_id, PASSPHRASE.encode())
        assert holds(os.getpid(), PASSPHRASE.encode()), "the control: the window's process had it"
    (tmp_path / "v.json").write_bytes(envelope)
    assert engine.read_verdict(tmp_path / "v.json", NO_TRUST, None, ()).verdict is None
    keys = store_of(engine.read_key(public))
    reading = engine.read_verdict(tmp_path / "v.json", keys, run, ())
    assert reading.verdict is not None
    assert reading.verdict.headline == "VERIFIED"
    assert reading.bundle_matches is True
    assert engine.read_verdict(tmp_path / "v.json", keys, run.with_name("job.cfoil"), ()).bundle_matches is False
    # Delivered weights, by this verdict and by the report of the replay.
    *_, weights = counterfoil.export_weights(run, tmp_path / "model")
    assert isinstance(weights, Path)
    assert engine.recognise(weights.parent).kind is FileUse.WEIGHTS
    for verdict, replay in ((tmp_path / "v.json", None), (None, report)):
        *_, found = engine.verify_weights(weights.parent, run, verdict, keys, replay, CancelToken())
        assert isinstance(found, DeliveryReport)
        assert found.outcome is DeliveryOutcome.DELIVERED
        assert isinstance(found.sentence, Sentence)  # which knows what it was made of
    # What was said of it afterwards lies in its folder, or is given.
    auditor = counterfoil.load_private_key(tmp_path / "auditor.pem", PASSPHRASE)
    digest = counterfoil.verdict_digest(envelope)
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    withdrawal = sign_said(Withdrawal(digest, "The wrong run.\nI am sorry.", None), auditor)
    (elsewhere / "back.json").write_bytes(withdrawal)
    assert reading.validity.later == Afterwards()
    assert [one.reason for one in said(engine, tmp_path / "v.json", keys, elsewhere / "back.json")] == [
        "The wrong run.\nI am sorry."
    ]
    (tmp_path / "back.json").write_bytes(withdrawal)
    assert len(said(engine, tmp_path / "v.json", keys)) == 1
    assert len(said(engine, tmp_path / "v.json", keys, elsewhere / "back.json")) == 1, "it is one, twice"
    with pytest.raises(CounterfoilError, match="withdrawn by its auditor"):
        list(engine.verify_weights(weights.parent, run, tmp_path / "v.json", keys, None, CancelToken()))
    (tmp_path / "back.json").unlink()
    tampered = envelope.replace(b'"sig":"', b'"sig":"AAAA')
    (tmp_path / "forged.json").write_bytes(tampered)
    with pytest.raises(CounterfoilError, match=r"does not hold|malformed"):
        engine.read_verdict(tmp_path / "forged.json", keys, None, ())


def said(engine: ProcessEngine, verdict: Path, keys: TrustStore, *given: Path) -> tuple[Withdrawal, ...]:
    return engine.read_verdict(verdict, keys, None, given).validity.later.withdrawals


def test_a_failure_keeps_its_sentence_and_details(engine: ProcessEngine, tmp_path: Path) -> None:
    (tmp_path / "junk.cfoil").write_bytes(b"junk")
    with pytest.raises(CounterfoilError) as caught:
        list(engine.inspect(tmp_path / "junk.cfoil", None, (), CancelToken()))
    failure = Failure.of(caught.value)
    assert failure.expected
    assert "HDF5" in failure.sentence
    with pytest.raises(ReportedError) as caught:
        engine.preview("no report", datetime.now(UTC))  # type: ignore[arg-type]
    failure = Failure.of(caught.value)
    assert not failure.expected
    assert "Traceback" in failure.detail


def test_pause_and_cancel_reach_the_process(engine: ProcessEngine, run: Path) -> None:
    token = CancelToken()
    events = engine.audit(AuditRequest(run, None, "cpu"), token)
    seen = [next(events)]
    token.pause()
    threading.Timer(0.3, token.cancel).start()
    seen += list(events)
    assert report_of(iter(seen)).outcome is Outcome.INCONCLUSIVE
    # An abandoned call does not disturb the next one.
    events = engine.audit(AuditRequest(run, None, "cpu"), CancelToken())
    next(events)
    events.close()  # type: ignore[attr-defined]
    assert engine.devices()[0].name == "cpu"


def test_death_of_the_process_is_told_and_survived(engine: ProcessEngine, run: Path) -> None:
    engine.devices()
    first = engine.process_id
    assert first is not None
    os.kill(first, signal.SIGKILL)
    with pytest.raises(CounterfoilError, match=r"signal 9.*Nothing was concluded"):
        list(engine.audit(AuditRequest(run, None, "cpu"), CancelToken()))
    assert engine.devices()[0].name == "cpu"
    assert engine.process_id != first


@pytest.mark.slow
def test_the_window_process_stays_free_of_torch(run: Path) -> None:
    program = (
        "import sys\n"
        "from pathlib import Path\n"
        "from counterfoil import CancelToken\n"
        "from counterfoil import AuditRequest\n"
        "from counterfoil_app.engine.process import ProcessEngine\n"
        "if __name__ == '__main__':\n"
        "    engine, run = ProcessEngine(), Path(sys.argv[1])\n"
        "    engine.devices()\n"
        "    list(engine.inspect(run, None, (), CancelToken()))\n"
        "    list(engine.plan(AuditRequest(run, None, 'cpu'), 0.1, CancelToken()))\n"
        "    *_, last = engine.audit(AuditRequest(run, None, 'cpu'), CancelToken())\n"
        "    assert last.report.outcome.value == 'VERIFIED', last.report.reason\n"
        "    tampered = run.with_name('tampered.cfoil')\n"
        "    *_, last = engine.audit(AuditRequest(tampered, None, 'cpu'), CancelToken())\n"
        "    assert last.report.outcome.value == 'DISPUTED', last.report.reason\n"
        "    assert last.evidence is None\n"
        "    engine.write_capsule(last.report, run.with_name('dispute.cfoil'))\n"
        "    assert run.with_name('dispute.cfoil').exists()\n"
        "    engine.close()\n"
        "    found = {'torch', 'h5py', 'numba', 'cryptography'} & set(sys.modules)\n"
        "    sys.exit(f'loaded: {found}' if found else 0)\n"
    )
    script = run.with_name("replay_it.py")
    script.write_text(program)
    done = subprocess.run([sys.executable, str(script), str(run)], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr


RUN, CAPSULE = Path("run.cfoil"), Path("a.capsule.cfoil")
ASKED = KnownRequest(RUN, Path("job.cfoil"), workers=LocalWorkers(2), limits=LARGE, trainer="ab" * 32)
GONE = Revocation("cd" * 32, "2026-01-01T00:00:00Z", Cause.RETIRED, "x")
STORE = store_of("ab" * 32, lists=[RevocationList.of_keys([GONE], 1)])
NEEDED = FakeEngine(disputed=37).report(AuditRequest(RUN), {}, 60, Outcome.DISPUTED)
FOLLOWED = KnownFollow(recording_folder(RUN), RUN, Path("job.cfoil"), limits=LARGE, trainer="ab" * 32)
ARGUMENTS: dict[str, tuple[object, ...]] = {
    "adjudicate": (CAPSULE, None, "cpu", 2),
    "audit": (ASKED,),
    "audit_followed": (FOLLOWED,),
    "capsule_subject": (CAPSULE,),
    "carry_capsule": (NEEDED,),
    "check_rules": (RulesRequest(RUN, Path("rules.toml"), (Path("v.json"),), STORE, Path("job.cfoil")),),
    "client_order": (Path("job.cfoil"), RUN),
    "compare_bundles": (BundlesRequest(RUN, Path("other.cfoil"), data=Path("d.cfdata")),),
    "compare_providers": (ProvidersRequest((RUN, Path("other.cfoil")), Path("job.cfoil"), limits=LARGE),),
    "devices": (),
    "disputed_rows": (LookRequest(RUN, 3, part="share 2"),),
    "examine": (),
    "facts_as_json": (FACTS,),
    "fetch": ("https://example.org/run.cfoil", RUN),
    "find": (Path("v.json"), Wanted(FileUse.RUN, RUN.name, FACTS.order, FACTS.about, STORE)),
    "follow": (FOLLOWED,),
    "hand_over_run": (RUN, Path("heads.jsonl"), "ab" * 32, Path("handed over")),
    "handed_out": (CAPSULE,),
    "has_begun": (recording_folder(RUN), RUN),
    "incoming": ((RUN, CAPSULE),),
    "inspect": (RUN, None, ("ab" * 32,)),
    "kept": (ASKED, Digest.of(b"order"), Digest.of(b"run")),
    "list_folder": (Path(),),
    "locate": (LocateRequest(RUN, Digest.of(b"state")),),
    "make_sample": (Path("sample"), SampleKind.TAMPERED),
    "operator_look": (LookRequest(RUN, 3),),
    "outline": (RUN,),
    "plan": (ASKED, 0.5),
    "preview": (NEEDED, datetime(2026, 1, 31, tzinfo=UTC)),
    "preview_data": ("digits-cnn", None),
    "read_key": (Path("auditor.pem"),),
    "read_ledger": (LedgerRequest(Path("verdicts"), ("ab" * 32,), RatePolicy(400)),),
    "read_revocations": (Path("list.json"), "ab" * 32),
    "read_verdict": (Path("v.json"), STORE, None, ()),
    "record_run": (RecordRequest(Path("job.cfoil"), RUN, "ab" * 32, heads=Path("heads.jsonl"), limits=LARGE),),
    "release": (),
    "run_facts": (FactsRequest(RUN, Path("job.cfoil")),),
    "tensor_sides": (LookRequest(RUN, 3, tensor="head.weight"),),
    "verify_weights": (Path("model"), RUN, None, STORE, NEEDED),
    "version": (),
    "write_capsule": (NEEDED, CAPSULE),
}


def signed(statement: bytes) -> bytes:
    return statement


@pytest.mark.parametrize("name", ENGINE.names)
def test_what_goes_to_a_method_and_comes_back_passes(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("v.json").write_text("{}")
    engine = FakeEngine(disputed=37, lying_log=12, crew=(WorkerState(1, trouble="No."),), data_file="d.h5")
    method, given = ENGINE.form(name), ARGUMENTS[name]
    assert repr(decode(encode(given), method.arguments)) == repr(given)
    brought = getattr(engine, name)(
        *given, *([signed] if name == "record_run" else []), *([CancelToken()] if method.yields else [])
    )
    values = list(brought) if method.yields else [brought]
    assert values
    for value in values:
        assert repr(decode(encode(value), method.brings)) == repr(value)


class SlowReader:
    """Sends to another side that is slow."""

    def __init__(self) -> None:
        self.gate = threading.Event()
        self.batches: list[tuple[Answer, ...]] = []

    def __call__(self, data: bytes) -> None:
        assert self.gate.wait(30)
        self.batches.append(decode(data, Delivery))


def test_progress_events_do_not_pile_up() -> None:
    reader = SlowReader()
    outbox = Outbox(reader, PROGRESS)
    outbox.put(Item(1, "first"))
    for done in range(200_000):
        outbox.put(Item(1, OperatorDone(1, done, 200_000)))
    reader.gate.set()
    outbox.put(Returned(1, None))
    outbox.close()
    sent = [message for batch in reader.batches for message in batch]
    assert isinstance(sent[0], Item)
    assert decode(sent[0].value, str) == "first"
    last, end = sent[-2:]
    assert isinstance(last, Item)
    assert decode(last.value, OperatorDone) == OperatorDone(1, 199_999, 200_000)
    assert isinstance(end, Returned)
    assert len(sent) < 1000


def test_a_slow_reader_slows_the_sender_down() -> None:
    reader = SlowReader()
    outbox = Outbox(reader)
    row = FakeEngine().row(1)
    sender = threading.Thread(target=lambda: [outbox.put(Item(1, StepReplayed(row))) for _ in range(5_000)])
    sender.start()
    sender.join(0.3)
    assert sender.is_alive(), "steps piled up without bound"
    reader.gate.set()
    sender.join(30)
    outbox.close()
    assert sum(len(batch) for batch in reader.batches) == 5_000
    assert max(len(batch) for batch in reader.batches) <= 500


def test_nothing_is_signed_for_a_recording_that_was_stopped() -> None:
    asked: list[bytes] = []

    def sign(statement: bytes) -> bytes:
        asked.append(statement)
        return statement

    token = CancelToken()
    signing = _Signing(sign, token)
    assert signing.sign(b"one") == b"one"
    token.cancel()
    with pytest.raises(CounterfoilError, match="cancelled"):
        signing.sign(b"two")
    assert asked == [b"one"]
