"""A process that reads files and was taken over sends the window messages that would run code there."""

from __future__ import annotations

import os
import pickle
import subprocess
import sys
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import msgspec
import numpy as np
import pytest

from counterfoil import Digest
from counterfoil.audit.statement.model import VerdictStatement, json_of, read_statement
from counterfoil.audit.statement.signed import Verdict
from counterfoil.audit.statement.write import verdict_statement
from counterfoil.audit.values.outcome import Check, CheckNumber, CheckState, Outcome
from counterfoil.audit.values.steptable import Recorded
from counterfoil.cli import main
from counterfoil.errors import CounterfoilError
from counterfoil.sentence import say
from counterfoil_app.engine import link, messages
from counterfoil_app.engine import process as engine_process
from counterfoil_app.engine.child import Item, Returned
from counterfoil_app.engine.messages import MessageError, dumps, loads
from counterfoil_app.engine.process import ProcessEngine
from support.reports import disputed_report


class Runs:
    """Unpickled as any pickle is, it calls a function."""

    def __init__(self, function: Any, *arguments: Any) -> None:
        self._call = function, arguments

    def __reduce__(self) -> Any:
        return self._call


@dataclass(frozen=True)
class NotOurs:
    value: int


HOSTILE = {
    "a shell": Runs(os.system, "touch taken"),
    "a program": Runs(subprocess.Popen, ["touch", "taken"]),
    "code": Runs(eval, "open('taken', 'w')"),
    "our command line": Runs(main, ["keygen", "taken"]),
    "an import": Runs(__import__, "torch"),
    "an attribute": Runs(getattr, Outcome, "__class__"),
    "a function of ours": Runs(engine_process.write_steps_csv, [], "taken"),
    "a class of another's": NotOurs(1),
    "the reader of statements": Runs(msgspec.json.decode, b"1"),
    "a function beside a statement": Runs(json_of, 1),
    "numpy's own": Runs(np._core.multiarray._reconstruct, np.ndarray, (0,), b"b"),
    "a class of ours that is no value": Runs(ProcessEngine),
}


@pytest.mark.parametrize("what", HOSTILE)
def test_a_message_that_names_something_else(what: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    for message in (HOSTILE[what], [Item(1, HOSTILE[what])], [Returned(1, (HOSTILE[what],))]):
        with pytest.raises(MessageError, match="which no plain value is made of"):
            loads(pickle.dumps(message))
    assert not list(tmp_path.iterdir())


def test_control_any_other_reader_would_run_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    pickle.loads(pickle.dumps(HOSTILE["code"]))
    assert [path.name for path in tmp_path.iterdir()] == ["taken"]


def test_dotted_names_and_junk() -> None:
    dotted = b"\x80\x04\x8c\x20counterfoil.audit.values.outcome\x8c\x0fOutcome.__doc__\x93."
    for data in (dotted, b"", b"junk", pickle.dumps([1])[:-3], b"\x80\x04\x8c\x01xQ."):
        with pytest.raises(MessageError):
            loads(data)


def test_control_plain_values_pass() -> None:
    value = (
        Check(CheckNumber.FORMAT, CheckState.PASSED, "x"), Digest.of(b""), Path("a"), datetime.now(UTC), 1, 2.5, None,
        [True], {"a": (1,)}, b"x", Outcome.VERIFIED, Recorded.of([0.5, float("nan")], [1, 2], [3, 4]),
    )  # fmt: skip
    assert loads(dumps(value)) == value
    for array in (np.arange(6.0).reshape(2, 3), np.array(3, np.uint64), np.zeros((0, 2), np.bool_)):
        found = loads(dumps(array))
        assert found.dtype == array.dtype
        assert (found == array).all()
        assert found.shape == array.shape
    assert loads(dumps(np.float32(0.1))) == np.float32(0.1)


def test_sentences_pass_with_their_parts() -> None:
    value = say("Step {0} {1}.", 3, say("differs"))
    found = loads(dumps([value, Check(CheckNumber.FORMAT, CheckState.PASSED, value)]))
    assert found == [value, Check(CheckNumber.FORMAT, CheckState.PASSED, value)]
    for sentence in (found[0], found[1].detail):
        assert (sentence.template, sentence.values) == (value.template, value.values)
        assert sentence.values[1].template == "differs"


class Claims:
    """Unpickled by the window, it asks for a sentence."""

    def __init__(self, *parts: Any) -> None:
        self._parts = parts

    def __reduce__(self) -> Any:
        return messages.sentence, self._parts


@pytest.mark.parametrize(
    ("template", "values"),
    [("{0.__class__}", ("a",)), ("{0:999999999}", (1,)), ("{0}", ([],)), ("{1}", ("a",)), (1, ()), ("a", 1)],
)
def test_sentences_that_are_none(template: Any, values: Any) -> None:
    with pytest.raises(MessageError, match="cannot be read"):
        loads(pickle.dumps(Claims(template, values)))


def test_sentences_that_repeat_each_other_do_not_fill_the_memory() -> None:
    value: Any = "a" * 1000
    for _ in range(40):
        value = Claims("{0}{1}", (value, value))
    with pytest.raises(MessageError, match="too long"):
        loads(pickle.dumps(value))


def test_control_a_verdict_passes() -> None:
    statement = verdict_statement(disputed_report(), datetime(2026, 1, 31, tzinfo=UTC))
    verdict = Verdict(read_statement(statement, VerdictStatement), "ab" * 32)
    found = loads(dumps([Returned(1, verdict)]))[0].value
    assert found == verdict
    assert found.predicate == statement["predicate"]


def test_arrays_of_objects_are_none() -> None:
    with pytest.raises(MessageError):
        loads(dumps(np.array([object()])))


def test_the_window_ends_such_a_process(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "said").write_bytes(pickle.dumps([Returned(1, HOSTILE["a shell"])]))
    code = "from counterfoil.frames import *; write_frame(own_pipes()[1], open('said', 'rb').read()); input()"
    monkeypatch.setattr(link, "program_command", lambda _program: [sys.executable, "-P", "-c", code])
    engine = ProcessEngine()
    with pytest.raises(CounterfoilError, match=r"names posix\.system") as caught:
        engine.devices()
    assert "may have taken it over" in caught.value.remedy
    assert engine.process_id is None
    assert not Path("taken").exists()
