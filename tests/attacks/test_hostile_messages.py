"""A process that computes for a stranger and was taken over sends messages that would change what its reader says."""

from __future__ import annotations

import pickle
import struct
import sys
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import msgspec
import pytest
from hypothesis import given, strategies as st

from counterfoil import AuditFinished, AuditReport, Device, Event, Outcome, StepReplayed
from counterfoil.audit.parts import rayexec
from counterfoil.audit.parts.partfile import Died, Message, Ready, SegmentDone, Unable
from counterfoil.audit.parts.task import Task
from counterfoil.talk import process
from counterfoil.talk.failure import Failure
from counterfoil.talk.messages import FormError, decode, encode
from counterfoil.talk.port import MOST_MESSAGES, Call, Delivery, Item, Raised, Returned
from counterfoil.talk.table import MOST_BYTES
from counterfoil_app.engine.port import ENGINE
from counterfoil_app.engine.process import ProcessEngine
from counterfoil_core.base.digest import Digest
from counterfoil_core.base.errors import CounterfoilError
from counterfoil_core.hearing.result import Identity, SegmentResult
from counterfoil_core.signing.kinds import statement_of
from counterfoil_core.signing.statements import read_said
from counterfoil_core.statement.judgement import Verdict
from counterfoil_core.statement.model import VerdictStatement
from counterfoil_core.statement.write import verdict_statement
from counterfoil_core.values.workers import Place
from support.fake_engine import FakeEngine
from support.reports import disputed_report

BUILD = b"ccounterfoil_core.values.outcome\nOutcome\n(VDISPUTED\ntR}(V_value_\nVVERIFIED\nub."
"""A pickle that names nothing but a member of an enumeration of ours, and gives it another value (opcode BUILD)."""
REPORT = disputed_report()
FINISHED: Any = msgspec.msgpack.decode(encode(AuditFinished(REPORT)))
"""What a window hears of it, as maps and lists."""


@pytest.fixture
def says(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[[bytes], ProcessEngine]:
    """Returns an engine whose process says certain bytes, whatever it is asked."""

    def engine(said: bytes) -> ProcessEngine:
        (tmp_path / "said").write_bytes(said)
        code = "import sys; sys.stdout.buffer.write(open(sys.argv[1], 'rb').read()); sys.stdout.flush(); input()"
        command = [sys.executable, "-P", "-c", code, str(tmp_path / "said")]
        monkeypatch.setattr(process, "program_command", lambda _program: command)
        return ProcessEngine()

    return engine


def framed(body: bytes) -> bytes:
    return struct.pack("<I", len(body)) + body


def changed(value: Any, *path: Any, to: Any) -> Any:
    """The same maps and lists with another value in one place; a function is asked for it."""
    if not path:
        return to(value) if callable(to) else to
    copy = dict(value) if isinstance(value, dict) else list(value)
    copy[path[0]] = changed(value.get(path[0]) if isinstance(value, dict) else value[path[0]], *path[1:], to=to)
    return copy


def test_control_a_pickle_made_disputed_say_verified() -> None:
    try:
        assert pickle.loads(BUILD) is Outcome.DISPUTED
        assert Outcome.DISPUTED.value == "VERIFIED"
    finally:
        Outcome.DISPUTED._value_ = "DISPUTED"


@pytest.mark.parametrize("kind", [Delivery, AuditReport, Outcome, Event, Message])
def test_no_pickle_is_read(kind: Any) -> None:
    for data in (BUILD, pickle.dumps(Outcome.VERIFIED), pickle.dumps(REPORT)):
        with pytest.raises(FormError):
            decode(data, kind)
    assert Outcome.DISPUTED.value == "DISPUTED"


@pytest.mark.parametrize(
    "body",
    [
        BUILD,
        b"",
        b"\xc1",
        b"\x91" * 100_000,
        encode((Returned(1, 1),))[:-1],
        encode((Returned(1, 1),)) + b"\x00",
        encode(REPORT),
        encode(((Device("cpu", "", ""),),)),
        encode((Returned(1, (Device("cpu", "", ""),)),) * (MOST_MESSAGES + 1)),
        encode((Returned(1, REPORT),)),
        encode((Returned(1, ({"is": "Outcome", "name": "cpu", "title": "", "float64_note": ""},)),)),
    ],
)
def test_the_window_ends_a_process_that_says_anything_else(body: bytes, says: Callable[[bytes], ProcessEngine]) -> None:
    engine = says(framed(body))
    with pytest.raises(CounterfoilError, match="cannot be read") as caught:
        engine.devices()
    assert "may have taken it over" in caught.value.remedy
    assert engine.process_id is None
    assert Outcome.DISPUTED.value == "DISPUTED"


def test_control_the_window_takes_what_was_asked_for(says: Callable[[bytes], ProcessEngine]) -> None:
    engine = says(framed(encode((Returned(1, (Device("cpu", "a", "b"),)),))))
    assert engine.devices() == (Device("cpu", "a", "b"),)
    engine.close()


def test_a_message_that_is_too_large(says: Callable[[bytes], ProcessEngine]) -> None:
    with pytest.raises(CounterfoilError, match="cannot be read"):
        says(struct.pack("<I", MOST_BYTES + 1)).devices()


def test_a_failure_is_told_in_sentences(says: Callable[[bytes], ProcessEngine]) -> None:
    engine = says(framed(encode((Raised(1, Failure("CounterfoilError", "No.", "Wait.")),))))
    with pytest.raises(CounterfoilError, match=r"No\.") as caught:
        engine.devices()
    assert caught.value.remedy == "Wait."
    engine.close()


OUTCOME = "report", "outcome"
DISPUTE = "report", "dispute"
HOSTILE: dict[str, tuple[tuple[Any, ...], Any]] = {
    "an outcome that there is not": (OUTCOME, "BUILD"),
    "an outcome in small letters": (OUTCOME, "verified"),
    "the name of a member": ((*DISPUTE, "finding", "right"), "REPLAY"),
    "an outcome with more in it": (OUTCOME, {"is": "Outcome", "_value_": "VERIFIED"}),
    "an outcome of another enumeration": (OUTCOME, "CONFIRMED"),
    "no outcome": (OUTCOME, None),
    "a number for an outcome": (OUTCOME, 0),
    "a list of outcomes": (OUTCOME, ["VERIFIED"]),
    "a field that there is not": (("report",), lambda report: {**report, "headline": "VERIFIED"}),
    "an attribute of a class": (("report",), lambda report: {**report, "__class__": "AuditReport"}),
    "a field that is missing": (("report",), lambda r: {name: r[name] for name in r if name != "dispute"}),
    "another class": (("report", "is"), "AdjudicationReport"),
    "a class of nobody": (("report", "is"), "Popen"),
    "a digest of 31 bytes": (("report", "bundle_digest", "value"), bytes(31)),
    "a digest in digits": (("report", "bundle_digest", "value"), "0" * 64),
    "a number as text": (("report", "steps_ordered"), "60"),
    "a fraction of a step": (("report", "steps_ordered"), 60.5),
    "a number for whether": ((*DISPUTE, "confirmed"), 1),
    "text for whether": ((*DISPUTE, "confirmed"), "no"),
    "bytes for text": (("report", "title"), b"Digits"),
    "a text that is too long": (("report", "title"), "a" * (2**24 + 1)),
    "a source that there is not": (("report", "order_source"), "trainer"),
    "a check that there is not": (("report", "checks", 0, "number"), 11),
    "evidence": (("evidence",), {"is": "CapsuleContents"}),
    "a table of steps": (("steps",), {}),
    "a template that looks into its values": (
        ("report", "reason"),
        {"is": "spoken", "template": "{0.__class__}", "values": ["a"]},
    ),
    "a number of a thousand million digits": (
        ("report", "reason"),
        {"is": "spoken", "template": "{0:999999999}", "values": [1]},
    ),
    "a place without a value": (("report", "reason"), {"is": "spoken", "template": "{1}", "values": ["a"]}),
    "a value that is a list": (("report", "reason"), {"is": "spoken", "template": "{0}", "values": [[]]}),
    "a template that is none": (("report", "reason"), {"is": "spoken", "template": 1, "values": []}),
    "an integer of endless digits": (
        ("report", "steps_ordered"),
        {"is": "large", "digits": "9" * 5000},
    ),
    "an integer of no digits": (("report", "steps_ordered"), {"is": "large", "digits": "__import__('os')"}),
}


@pytest.mark.parametrize("what", HOSTILE)
def test_a_report_that_is_none(what: str) -> None:
    path, to = HOSTILE[what]
    with pytest.raises(FormError):
        decode(msgspec.msgpack.encode(changed(FINISHED, *path, to=to)), Event)
    control = decode(msgspec.msgpack.encode(FINISHED), Event)
    assert repr(control) == repr(AuditFinished(REPORT)), "which holds what is not a number, and equals nothing"


def test_sentences_that_repeat_each_other_do_not_fill_the_memory() -> None:
    value: Any = "a" * 1000
    for _ in range(40):
        value = {"is": "spoken", "template": "{0}" * 1000, "values": [value]}
    with pytest.raises(FormError, match="too long"):
        decode(msgspec.msgpack.encode(value), str)


@pytest.mark.parametrize(
    ("dtype", "shape", "data"),
    [
        ("|O8", [1], bytes(8)),
        ("<U1", [1], bytes(4)),
        ("<M8", [1], bytes(8)),
        ("<f4", [1], bytes(4)),
        ("<f8", [2], bytes(8)),
        ("<f8", [-1], bytes(8)),
        ("<f8", [2**40, 2**40], bytes(8)),
        ("<f8,<f8", [1], bytes(16)),
        ("<f8", [1] * 100, bytes(8)),
    ],
)
def test_arrays_of_anything_else_than_numbers(dtype: str, shape: list[int], data: bytes) -> None:
    summary = FakeEngine().summary(Path("run.cfoil"), None)
    said: Any = msgspec.msgpack.decode(encode(summary))
    numbers = {"is": "numbers", "dtype": dtype, "shape": shape, "data": data}
    with pytest.raises(FormError):
        decode(
            msgspec.msgpack.encode(changed(said, "run", "recorded", "trainer_loss", to=numbers)),
            ENGINE.form("outline").brings,
        )
    assert decode(msgspec.msgpack.encode(said), ENGINE.form("outline").brings) == summary, "the control"


MESSAGE = encode((Item(1, StepReplayed(FakeEngine().row(1))), Returned(1, AuditFinished(REPORT))))
OUTCOMES = {each.name: each.value for each in Outcome}


@given(st.data())
def test_a_damaged_message_is_refused_or_says_what_it_says(data: st.DataObject) -> None:
    place = data.draw(st.integers(0, len(MESSAGE) - 1))
    piece = data.draw(st.binary(max_size=8))
    said = MESSAGE[:place] + piece + MESSAGE[place + data.draw(st.integers(0, 8)) :]
    try:
        answers = decode(said, Delivery)
        found = [decode(one.value, Event) for one in answers if not isinstance(one, Raised)]
    except FormError:
        found = []
    for event in found:
        assert isinstance(event, Event)
        if isinstance(event, AuditFinished):
            assert type(event.report) is AuditReport
            assert event.report.outcome in Outcome
    assert {each.name: each.value for each in Outcome} == OUTCOMES


def test_control_a_verdict_passes() -> None:
    statement = statement_of(verdict_statement(disputed_report(), datetime(2026, 1, 31, tzinfo=UTC)))
    verdict = Verdict(read_said(VerdictStatement, statement), "ab" * 32)
    found = decode(encode(verdict), Verdict)
    assert found == verdict
    assert found.predicate == statement["predicate"]
    said: Any = msgspec.msgpack.decode(encode(verdict))
    for path, to in (
        (("statement", "result"), "BUILD"),
        (("statement", "counts", "corrections"), 1),
        (("statement", "counts", "corrections"), "1e9"),
        (("statement", "more"), "x"),
    ):
        with pytest.raises(FormError):
            decode(msgspec.msgpack.encode(changed(said, *path, to=to)), Verdict)


# A cluster

PLACE = Place("m", (("device", "cpu"),))
IDENTITY = Identity(*(Digest.of(bytes([number])) for number in range(3)))


def brought(message: object) -> bytes:
    """What an actor says that a call brought."""
    return encode([Item(1, message)])


ANSWERS: dict[str, object] = {
    "a pickle": BUILD,
    "no bytes": Outcome.VERIFIED,
    "bytes that can be changed": bytearray(brought(Ready(1, IDENTITY, PLACE))),
    "nothing": encode([]),
    "two answers": encode([Item(1, Ready(1, IDENTITY, PLACE)), Item(1, Ready(1, IDENTITY, PLACE))]),
    "of another worker": brought(Ready(2, IDENTITY, PLACE)),
    "that it died": brought(Died(1, "\x1b[2J")),
    "a question": encode([Call(1, "open_run", ())]),
    "a fault": encode([Raised(1, Failure("", "\x1b[2J"))]),
    "one field more": brought({"is": "Ready", "worker": 1, "reason": "", "more": 1}),
    "a place with one field more": brought(
        changed(msgspec.msgpack.decode(encode(Ready(1, IDENTITY, PLACE))), "place", "trusted", to=True)
    ),
    "counts without end": brought(
        SegmentDone(1, msgspec.structs.replace(SegmentResult(1, (), ()), sums=((0,) * 10_000,)))
    ),
    "trouble without end": brought(SegmentDone(1, SegmentResult(1, (), (), "a" * 2**21))),
}


class OwnError(Exception):
    """\x1b[2JVERIFIED"""


OwnError.__name__ = "\x1b[2JVERIFIED"


class Ray(SimpleNamespace):
    """Stands for the library: one actor, which says one thing or raises."""

    class exceptions:  # noqa: N801, as the library's
        class RayError(Exception):
            pass

        class ActorDiedError(RayError):
            pass

    def __init__(self, said: object) -> None:
        super().__init__()
        self._said = said

    def is_initialized(self) -> bool:
        return True

    def cluster_resources(self) -> dict[str, float]:
        return {"CPU": 1.0}

    def remote(self, **_needs: object) -> Callable[[type], Any]:
        actor = SimpleNamespace(carry_out=SimpleNamespace(remote=lambda *_arguments: "handle"))
        return lambda _kind: SimpleNamespace(remote=lambda *_arguments: actor)

    def wait(self, asked: list[str], **_settings: object) -> tuple[list[str], list[str]]:
        return asked, []

    def get(self, _handle: str) -> object:
        if isinstance(self._said, Exception):
            raise self._said
        return self._said

    def kill(self, _actor: object) -> None:
        pass


def heard(said: object, monkeypatch: pytest.MonkeyPatch) -> list[Message]:
    monkeypatch.setattr(rayexec, "_ray", lambda: Ray(said))
    actors = rayexec.RayActors("auto", Task("run.cfoil"), None, 1)
    actors.start(1)
    return actors.wait(0)


@pytest.mark.parametrize("what", ANSWERS)
def test_an_actor_that_says_anything_else_is_as_good_as_dead(what: str, monkeypatch: pytest.MonkeyPatch) -> None:
    (message,) = heard(ANSWERS[what], monkeypatch)
    assert isinstance(message, Died)
    assert message.how.isprintable()


def test_an_error_of_an_actor_names_itself_nowhere(monkeypatch: pytest.MonkeyPatch) -> None:
    assert heard(OwnError(), monkeypatch) == [Died(1, "an error that is none of Ray's")]
    assert heard(Ray.exceptions.ActorDiedError(), monkeypatch) == [Died(1, "Ray lost it or its machine")]


def test_control_an_actor_is_heard(monkeypatch: pytest.MonkeyPatch) -> None:
    for message in (Ready(1, IDENTITY, PLACE), SegmentDone(1, SegmentResult(1, (), ()))):
        assert heard(brought(message), monkeypatch) == [message]
    unable = encode([Raised(1, Failure("WorkerError", "No."))])
    assert heard(unable, monkeypatch) == [Unable(1, "No.")]
