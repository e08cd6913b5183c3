"""The folder of an unfinished recording, and the bytes of its steps."""

from __future__ import annotations

import io
import os
import time
from pathlib import Path

import numpy as np
import pytest

from counterfoil.base.joberrors import RecordingError
from counterfoil.signer.gate import Gate, Purpose
from counterfoil.training import recording
from counterfoil.training.recorder import record
from counterfoil.training.recording import Recording
from counterfoil.training.recordingevents import RecordFinished, RecordingResumed, RunAssembled, StepRecorded
from counterfoil.training.recordingfolder import discard_recording, has_published, is_unfinished, recording_folder
from counterfoil.training.stepfile import StoredStep, encode_step, read_steps, stored_step
from counterfoil_core.base.cancel import CancelToken
from counterfoil_core.base.digest import Digest
from counterfoil_core.base.errors import CancelledError, FileWriteError
from counterfoil_core.base.generators import finish
from counterfoil_core.bundle.reader import BundleReader
from counterfoil_core.signing.claims import TreeHead
from counterfoil_core.signing.envelope import parse_statement
from counterfoil_core.signing.keys import SigningKey
from counterfoil_core.signing.kinds import RUN
from support.bundles import Contents, make_contents
from support.interrupted import go_on, stop_after
from support.jobs import Job

SEAL = Digest.of(b"the seal before the first step")


def step(number: int, *, log: bytes = b"log", committed: bool = True) -> StoredStep:
    root = Digest.of(b"state") if committed else None
    words = np.array([1, 2**64 - 1, number], np.uint64)
    return stored_step(number, log=log, log_entries=2, fingerprints=words, loss=-0.0, state_root=root)


def written(steps: list[StoredStep]) -> bytes:
    seal, data = SEAL, b""
    for one in steps:
        piece, seal = encode_step(one, seal)
        data += piece
    return data


def read(data: bytes, seal: Digest = SEAL) -> list[StoredStep]:
    return [one for one, _, _ in read_steps(io.BytesIO(data), len(data), seal)]


def same(one: StoredStep, other: StoredStep) -> bool:
    return (one.record, one.log, one.log_entries) == (other.record, other.log, other.log_entries) and np.array_equal(
        one.fingerprints, other.fingerprints
    )


STEPS = [step(1), step(2, log=b"", committed=False), step(3, log=bytes(5000))]


def test_steps_are_read_as_they_were_written() -> None:
    found = read(written(STEPS))
    assert len(found) == 3
    assert all(map(same, found, STEPS))


def test_every_flipped_byte_is_noticed_at_its_step() -> None:
    data = written(STEPS[:2])
    first = len(written(STEPS[:1]))
    for position in range(len(data)):
        damaged = bytearray(data)
        damaged[position] ^= 0x10
        assert len(read(bytes(damaged))) == int(position >= first), position


def test_what_is_torn_ends_before_it() -> None:
    data = written(STEPS[:2])
    first = len(written(STEPS[:1]))
    for length in range(len(data)):
        assert len(read(data[:length])) == int(length >= first), length


def test_steps_do_not_fit_behind_another_seal_or_in_another_order() -> None:
    assert read(written(STEPS), Digest.of(b"another")) == []
    one = written(STEPS[:1])
    two = written(STEPS[:2])[len(one) :]
    assert read(two + one) == []
    assert len(read(one + one)) == 1


# The folder.


@pytest.fixture
def contents() -> Contents:
    return make_contents(steps=5, checkpoint_every=2)


def begin(folder: Path, contents: Contents, key: SigningKey, steps: int) -> Recording:
    """A recording with some of the steps that the contents hold."""
    found = Recording.begin(folder / "run.cfoil", contents.manifest, key.public)
    list(found.check())
    add(found, contents, range(1, steps + 1))
    return found


def add(found: Recording, contents: Contents, steps: range) -> None:
    records = contents.records()
    for number in steps:
        one = contents.steps[number - 1]
        found.append(StoredStep(records[number], one.log, one.log_entries, one.fingerprints), contents.manifest.extent)
        if contents.manifest.extent.is_checkpoint(number):
            found.store_state(number, one.state)


def head(contents: Contents, key: SigningKey) -> TreeHead:
    return TreeHead(contents.manifest.digest, 2, SEAL, signed_at="2026-01-01T00:00:00Z", public_key=key.public.pem)


def test_every_kind_of_tensor_comes_back(tmp_path: Path, contents: Contents, trainer_key: SigningKey) -> None:
    with begin(tmp_path, contents, trainer_key, 5):
        pass
    with Recording.open(tmp_path / "run.cfoil", contents.manifest, trainer_key.public) as found:
        list(found.check())
        assert found.steps == 5
        for number in (2, 4, 5):
            state = found.state(number, contents.initial)
            for name, array in contents.steps[number - 1].state.items():
                assert state[name].dtype == array.dtype
                assert np.array_equal(state[name], array)
        assert [one.record for one in found.read(4)] == contents.records()[4:]


@pytest.mark.parametrize("roll", [1, 10**9], ids=["many files", "one file"])
@pytest.mark.parametrize("steps", range(5))
def test_it_goes_on_after_any_step(
    tmp_path: Path,
    contents: Contents,
    trainer_key: SigningKey,
    steps: int,
    roll: int,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(recording, "ROLL_BYTES", roll)
    with begin(tmp_path, contents, trainer_key, steps):
        pass
    assert is_unfinished(tmp_path / "run.cfoil") == bool(steps), "a recording without a step leaves nothing"
    if not steps:
        assert list(tmp_path.iterdir()) == []
        return
    with Recording.open(tmp_path / "run.cfoil", contents.manifest, trainer_key.public) as found:
        list(found.check())
        assert found.steps == steps
        assert finish(found.last_state(contents.initial))[0] == steps - steps % 2
        add(found, contents, range(steps + 1, 6))
        assert [one.record for one in found.read(1)] == contents.records()[1:]


def test_what_lies_behind_the_last_whole_step_is_removed(
    tmp_path: Path, contents: Contents, trainer_key: SigningKey
) -> None:
    with begin(tmp_path, contents, trainer_key, 3):
        pass
    folder = recording_folder(tmp_path / "run.cfoil")
    for name in ("steps-00000004", "steps-00000009", "state-00000004"):
        (folder / name).write_bytes(b"")
    (folder / "mine.txt").write_bytes(b"not ours")
    with Recording.open(tmp_path / "run.cfoil", contents.manifest, trainer_key.public) as found:
        list(found.check())
        assert found.steps == 3
        names = sorted(path.name for path in folder.iterdir())
        assert names == ["mine.txt", "recording.json", "state-00000002", "steps-00000001"]
        found.discard()
    assert [path.name for path in folder.iterdir()] == ["mine.txt"]


def test_a_recording_that_fails_before_its_check_is_not_thrown_away(
    tmp_path: Path, contents: Contents, trainer_key: SigningKey
) -> None:
    with begin(tmp_path, contents, trainer_key, 3):
        pass
    with Recording.open(tmp_path / "run.cfoil", contents.manifest, trainer_key.public):
        pass
    assert is_unfinished(tmp_path / "run.cfoil")


@pytest.mark.parametrize(
    ("header", "words"),
    [(b"", "is damaged"), (b"{}", "is damaged"), (b'{"format":0}', "is damaged"), (b"\xff", "is damaged")],
)
def test_a_damaged_header(
    tmp_path: Path, contents: Contents, trainer_key: SigningKey, header: bytes, words: str
) -> None:
    with begin(tmp_path, contents, trainer_key, 3):
        pass
    (recording_folder(tmp_path / "run.cfoil") / "recording.json").write_bytes(header)
    with pytest.raises(RecordingError, match=words):
        Recording.open(tmp_path / "run.cfoil", contents.manifest, trainer_key.public)


def test_damaged_heads_are_named(tmp_path: Path, contents: Contents, trainer_key: SigningKey) -> None:
    with begin(tmp_path, contents, trainer_key, 3) as found:
        found.publish(head(contents, trainer_key), b"{}\n")
    assert has_published(tmp_path / "run.cfoil")
    with pytest.raises(RecordingError, match=r"The tree heads in .*heads\.jsonl are damaged"):
        Recording.open(tmp_path / "run.cfoil", contents.manifest, trainer_key.public)


def test_a_folder_without_a_header_is_in_nobodys_way(
    tmp_path: Path, contents: Contents, trainer_key: SigningKey
) -> None:
    """As it is left when its removal is stopped half-way."""
    with begin(tmp_path, contents, trainer_key, 3):
        pass
    folder = recording_folder(tmp_path / "run.cfoil")
    (folder / "recording.json").unlink()
    with begin(tmp_path, contents, trainer_key, 1) as found:
        assert found.steps == 1
    discard_recording(tmp_path / "run.cfoil")
    discard_recording(tmp_path / "run.cfoil")
    assert list(tmp_path.iterdir()) == []


def test_the_disk_is_waited_for_by_share_and_before_something_is_published(
    tmp_path: Path, contents: Contents, trainer_key: SigningKey, monkeypatch: pytest.MonkeyPatch
) -> None:
    synced: list[int] = []

    def slow(descriptor: int) -> None:
        synced.append(descriptor)
        time.sleep(0.02)

    monkeypatch.setattr(recording, "LEAST_SYNC_SECONDS", 0.0)
    with begin(tmp_path, contents, trainer_key, 1) as found:
        monkeypatch.setattr(os, "fsync", slow)
        found._sync()
        waited = len(synced)
        assert waited >= 2, "the steps and the folder"
        assert found._pause >= 0.04 / recording.SYNC_SHARE
        add(found, contents, range(2, 5))
        assert len(synced) == waited, "the next time is far away"
        found.publish(head(contents, trainer_key), b"{}\n")
        assert len(synced) >= waited + 4, "steps, state, folder and the head itself"


# The whole way.


def test_no_trace_of_the_stop_is_in_the_run(tmp_path: Path, digits_job: Job, trainer_key: SigningKey) -> None:
    run = tmp_path / "run.cfoil"
    stop_after(3, digits_job.order, run, trainer_key)
    events = go_on(digits_job.order, run, trainer_key)
    assert [event for event in events if isinstance(event, RecordingResumed)] == [RecordingResumed(3, 2)]
    assert [event.done for event in events if isinstance(event, RunAssembled)] == [1, 2, 3, 4, 5, 6]
    assert sorted(path.name for path in tmp_path.iterdir()) == ["run.cfoil"]
    with BundleReader.open(run) as one, BundleReader.open(digits_job.run) as two:
        assert one.step_records() == two.step_records()
        for number in (2, 4, 6):
            stored, expected = one.checkpoint(number), two.checkpoint(number)
            assert all(np.array_equal(stored[name], expected[name]) for name in expected)
        assert one.log_entries().tolist() == two.log_entries().tolist()


class StoppingKey:
    """A trainer's key behind its signer's gate, which signs one claim; a token is set where a claim is signed."""

    def __init__(self, key: SigningKey, token: CancelToken | None = None) -> None:
        self.public, self._key, self._token = key.public, key, token
        self._gate = Gate(Purpose.TRAIN, key.public)

    def sign(self, payload: bytes) -> bytes:
        self._gate.check(payload)
        if self._token is not None and parse_statement(payload)["predicateType"] == RUN.predicate:
            self._token.cancel()
        return self._key.sign(payload)


@pytest.mark.parametrize("written", [1, 6])
def test_a_stop_while_the_run_is_written_leaves_the_signer_its_claim(
    tmp_path: Path, digits_job: Job, trainer_key: SigningKey, written: int
) -> None:
    run, key, token = tmp_path / "run.cfoil", StoppingKey(trainer_key), CancelToken()

    def stopped() -> None:
        for event in record(digits_job.order, run, key, threads=1, cancel=token):
            if isinstance(event, RunAssembled) and event.done == written:
                token.cancel()

    with pytest.raises(CancelledError, match="the first 6 steps are kept"):
        stopped()
    assert sorted(path.name for path in tmp_path.iterdir()) == [recording_folder(run).name]
    assert isinstance(go_on(digits_job.order, run, key)[-1], RecordFinished)


def test_a_stop_while_the_claim_is_signed_comes_too_late(
    tmp_path: Path, digits_job: Job, trainer_key: SigningKey
) -> None:
    run, token = tmp_path / "run.cfoil", CancelToken()
    events = list(record(digits_job.order, run, StoppingKey(trainer_key, token), threads=1, cancel=token))
    assert token.cancelled
    assert isinstance(events[-1], RecordFinished)
    assert sorted(path.name for path in tmp_path.iterdir()) == [run.name]


def test_resuming_what_was_never_begun_begins_it(tmp_path: Path, digits_job: Job, trainer_key: SigningKey) -> None:
    events = go_on(digits_job.order, tmp_path / "run.cfoil", trainer_key)
    assert not any(isinstance(event, RecordingResumed) for event in events)
    assert sum(isinstance(event, StepRecorded) for event in events) == 6


def test_heads_lie_there_as_before_until_there_is_one(tmp_path: Path, digits_job: Job, trainer_key: SigningKey) -> None:
    heads = tmp_path / "heads.jsonl"
    heads.write_bytes(b"of another run")
    events = record(digits_job.order, tmp_path / "run.cfoil", trainer_key, threads=1, heads=heads, heads_every=2)
    for event in events:
        if isinstance(event, StepRecorded):
            assert (heads.read_bytes() == b"of another run") == (event.step == 1)
    assert len(heads.read_bytes().splitlines()) == 3


def test_a_head_that_cannot_be_written_leaves_no_half_of_it(
    tmp_path: Path, digits_job: Job, trainer_key: SigningKey, monkeypatch: pytest.MonkeyPatch
) -> None:
    from counterfoil.training import tree_head_file as module

    path = tmp_path / "heads.jsonl"
    with module.TreeHeadFile(path) as file:
        file.append(b"one\n")

        def full(_descriptor: int) -> None:
            raise OSError(28, "No space left on device")

        monkeypatch.setattr(os, "fsync", full)
        with pytest.raises(FileWriteError, match="the disk is full"):
            file.append(b"two\n")
    assert path.read_bytes() == b"one\n"
