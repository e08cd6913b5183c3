"""An unfinished recording as a stranger reads it: whole steps count, torn ones are waited for, nothing is believed."""

from __future__ import annotations

import os
import re
import shutil
import sys
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from counterfoil.base.joberrors import RecordingError
from counterfoil.training import recording
from counterfoil.training.orderfile import load_order
from counterfoil.training.recordingfolder import recorded_run, recording_folder
from counterfoil.training.recordingview import GrowingRecording
from counterfoil.training.stepfile import StoredStep, encode_step, first_seal, read_steps, stored_step
from counterfoil_core.base.cancel import CancelToken
from counterfoil_core.base.digest import Digest
from counterfoil_core.base.errors import (
    CommitmentError,
    CounterfoilError,
    FileChangedError,
    OrderMismatchError,
    RefusedError,
    SignatureError,
)
from counterfoil_core.bundle.reader import BundleReader
from counterfoil_core.bundle.schema import StepRecord, run_tree
from counterfoil_core.commit.merkle import leaf_hash
from counterfoil_core.order.executable import LoadedOrder
from counterfoil_core.signing.keys import SigningKey
from support.interrupted import stop_after
from support.jobs import Job

STEPS = 6


@pytest.fixture(scope="module")
def order(digits_job: Job) -> LoadedOrder:
    with BundleReader.open(digits_job.order) as reader:
        return load_order(reader)


@pytest.fixture(scope="module")
def recorded(digits_job: Job, trainer_key: SigningKey, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of a recording whose steps are all done; each file holds the steps of a segment."""
    run = tmp_path_factory.mktemp("recorded") / "run.cfoil"
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(recording, "ROLL_BYTES", 1)
        return stop_after(STEPS, digits_job.order, run, trainer_key)


@pytest.fixture
def folder(recorded: Path, tmp_path: Path) -> Path:
    return Path(shutil.copytree(recorded, tmp_path / recorded.name))


def opened(folder: Path, order: LoadedOrder) -> GrowingRecording:
    found = GrowingRecording(folder, order)
    assert found.begin()
    return found


def seen(found: GrowingRecording) -> list[int]:
    return [record.step for record in found.look(CancelToken())]


def steps_of(folder: Path, first: int = 1) -> list[tuple[StoredStep, int]]:
    """The steps of a file, each with the position behind it."""
    path = folder / f"steps-{first:08d}"
    seal = first_seal((folder / "recording.json").read_bytes(), first)
    with path.open("rb") as file:
        return [(step, end) for step, end, _ in read_steps(file, path.stat().st_size, seal)]


def write_steps(folder: Path, steps: list[StoredStep]) -> None:
    """Write a first file of steps, sealed as a recorder seals it."""
    seal, data = first_seal((folder / "recording.json").read_bytes(), 1), b""
    for step in steps:
        piece, seal = encode_step(step, seal)
        data += piece
    (folder / "steps-00000001").write_bytes(data)


def test_all_of_a_recording_is_read_as_its_run_holds_it(folder: Path, order: LoadedOrder, digits_job: Job) -> None:
    found = opened(folder, order)
    assert seen(found) == [1, 2, 3, 4, 5, 6]
    assert seen(found) == []
    assert {path.name for path in folder.glob("steps-*")} == {f"steps-{first:08d}" for first in (1, 3, 5)}
    with BundleReader.open(digits_job.run) as reader:
        records = reader.step_records()
        assert found.records == records
        assert found.tree.root == run_tree(records).root
        assert found.extent == reader.extent
        for step in range(1, STEPS + 1):
            assert found.log(step) == reader.log(step)
            assert found.log_size(step) == reader.log_size(step)
            assert np.array_equal(found.fingerprints(step), reader.fingerprints(step))
        for step in reader.checkpoint_steps():
            assert found.stored(step)
            theirs, ours = reader.checkpoint(step), found.checkpoint(step)
            assert theirs.keys() == ours.keys()
            assert all(np.array_equal(theirs[name], ours[name]) for name in theirs)


def test_what_is_torn_is_waited_for(folder: Path, order: LoadedOrder) -> None:
    path = folder / "steps-00000001"
    data, ends = path.read_bytes(), [end for _, end in steps_of(folder)]
    for later in (3, 5):
        (folder / f"steps-{later:08d}").unlink()
    path.unlink()
    found, got = opened(folder, order), []
    for length in sorted({0, 1, 40, *(end + more for end in ends for more in (-33, -1, 0, 1, 90)), len(data)}):
        path.write_bytes(data[:length])
        got += seen(found)
        assert got == [number for number, end in enumerate(ends, 1) if end <= length], length
    assert found.log(2) == steps_of(folder)[1][0].log


def test_a_damaged_step_does_not_count_and_nothing_behind_it(folder: Path, order: LoadedOrder) -> None:
    path = folder / "steps-00000003"
    data = bytearray(path.read_bytes())
    data[steps_of(folder, 3)[0][1] + 60] ^= 1
    path.write_bytes(data)
    assert seen(opened(folder, order)) == [1, 2, 3]


def test_a_state_counts_when_it_is_whole_and_the_one_of_its_step(folder: Path, order: LoadedOrder) -> None:
    found, path = opened(folder, order), folder / "state-00000002"
    seen(found)
    data = path.read_bytes()
    pulses = {found.pulse}
    for other in (b"", data[:-1], data + b"0", bytes(len(data))):
        path.write_bytes(other)
        assert not found.stored(2)
        with pytest.raises(FileChangedError, match="stored state of step 2"):
            found.checkpoint(2)
    path.unlink()
    assert not found.stored(2)
    path.write_bytes(data)
    assert found.stored(2)
    assert pulses == {found.pulse}


def test_what_changes_behind_the_reader_is_noticed(folder: Path, order: LoadedOrder) -> None:
    found, path = opened(folder, order), folder / "steps-00000001"
    seen(found)
    (_, end), _ = steps_of(folder)
    data = bytearray(path.read_bytes())
    data[end - 40] ^= 1
    path.write_bytes(data)
    with pytest.raises(FileChangedError, match="step 1 is not what it was"):
        found.log(1)
    with pytest.raises(FileChangedError, match="step 1 is not what it was"):
        found.fingerprints(1)
    path.unlink()
    with pytest.raises(FileChangedError, match="step 2 is not what it was"):
        found.log(2)


def test_steps_that_are_forgotten_are_not_read_again(folder: Path, order: LoadedOrder) -> None:
    found = opened(folder, order)
    seen(found)
    found.forget(2)
    with pytest.raises(FileChangedError):
        found.log(2)
    assert Digest.of(found.log(3)) == found.records[3].log


def test_a_recording_that_goes_back_must_come_to_the_same_steps(folder: Path, order: LoadedOrder) -> None:
    found, last = opened(folder, order), folder / "steps-00000005"
    assert seen(found) == [1, 2, 3, 4, 5, 6]
    data, end = last.read_bytes(), steps_of(folder, 5)[0][1]
    last.write_bytes(data[:end])
    assert seen(found) == []
    assert found.sealed == 5
    last.write_bytes(data)
    assert (seen(found), found.sealed, len(found.records)) == ([], 6, 7)
    other = [replace(step, record=replace(step.record, loss=1.5)) for step, _ in steps_of(folder)]
    write_steps(folder, other)
    for later in (3, 5):
        (folder / f"steps-{later:08d}").unlink()
    with pytest.raises(FileChangedError, match="another step 1 than the one that was followed"):
        seen(found)


def test_a_recording_that_is_gone_gives_nothing(folder: Path, order: LoadedOrder) -> None:
    found = opened(folder, order)
    shutil.rmtree(folder)
    assert not found.present
    assert seen(found) == []
    assert GrowingRecording(folder, order).begin() is False


def test_one_that_is_begun_anew_is_another(folder: Path, order: LoadedOrder) -> None:
    found, header = opened(folder, order), folder / "recording.json"
    data = header.read_bytes()
    header.rename(folder / "kept")
    header.write_bytes(data)
    with pytest.raises(FileChangedError, match="begun anew"):
        seen(found)


def test_a_header_waits_for_its_acceptance(folder: Path, order: LoadedOrder, trainer_key: SigningKey) -> None:
    acceptance = folder / "acceptance.json"
    data = acceptance.read_bytes()
    acceptance.unlink()
    found = GrowingRecording(folder, order)
    assert not found.begin(trainer_key.public)
    acceptance.write_bytes(data.replace(b'"sig":"', b'"sig":"AAAA', 1).replace(b'"sig": "', b'"sig": "AAAA', 1))
    with pytest.raises(SignatureError):
        found.begin(trainer_key.public)
    acceptance.write_bytes(data)
    assert found.begin(trainer_key.public)
    assert found.acceptance.key_id == trainer_key.public.key_id


@pytest.mark.parametrize(
    "header",
    [b"", b"{", b"[]", b"null", b'{"order":1}', b'{"order":"00","public_key":"no key"}', b"\xff" * 100, b"[" * 10**6],
)
def test_a_header_that_is_none_is_refused(folder: Path, order: LoadedOrder, header: bytes) -> None:
    (folder / "recording.json").write_bytes(header)
    with pytest.raises(RefusedError, match="damaged, or was written by another version"):
        GrowingRecording(folder, order).begin()


def test_a_header_of_another_version_or_order_is_refused(folder: Path, order: LoadedOrder) -> None:
    path = folder / "recording.json"
    data = path.read_bytes()
    path.write_bytes(re.sub(rb'"format":[0-9]+', b'"format":99', data))
    with pytest.raises(RefusedError, match="another version"):
        GrowingRecording(folder, order).begin()
    digest = order.manifest.digest.hex.encode()
    path.write_bytes(data.replace(digest, digest[::-1]))
    with pytest.raises(OrderMismatchError, match="another order"):
        GrowingRecording(folder, order).begin()


def forged(step: StoredStep, **changes: object) -> StoredStep:
    record = step.record
    given = {
        "log": step.log, "log_entries": step.log_entries, "fingerprints": step.fingerprints,
        "loss": record.loss, "state_root": record.state_root,
    }  # fmt: skip
    return stored_step(record.step, **(given | changes))  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"fingerprints": np.zeros(3, np.uint64)}, "3 fingerprints"),
        ({"state_root": None}, "do not say the same"),
    ],
)
def test_sealed_steps_that_are_none_of_the_order_are_refused(
    folder: Path, order: LoadedOrder, changes: dict[str, object], words: str
) -> None:
    (first, _), (second, _) = steps_of(folder)
    write_steps(folder, [first, forged(second, **changes)])
    with pytest.raises(CommitmentError, match=words):
        seen(opened(folder, order))


def test_sealed_steps_in_another_order_are_refused(folder: Path, order: LoadedOrder) -> None:
    (first, _), (second, _) = steps_of(folder)
    write_steps(folder, [second, first])
    with pytest.raises(CommitmentError, match="step 2 stands where step 1 should"):
        seen(opened(folder, order))


def test_nothing_is_read_behind_the_last_step(folder: Path, order: LoadedOrder) -> None:
    steps = [step for first in (1, 3, 5) for step, _ in steps_of(folder, first)]
    steps.append(replace(steps[-1], record=replace(steps[-1].record, step=STEPS + 1)))
    for later in (3, 5):
        (folder / f"steps-{later:08d}").unlink()
    write_steps(folder, steps)
    found = opened(folder, order)
    assert seen(found) == [1, 2, 3, 4, 5, 6]
    assert found.tree.leaf(STEPS) == leaf_hash(StepRecord(*_fields(steps[STEPS - 1].record)).to_bytes())


def _fields(record: StepRecord) -> Iterator[object]:
    yield from (record.step, record.state_root, record.log, record.fingerprints, record.loss)


def test_a_step_that_says_it_is_endless_is_torn(folder: Path, order: LoadedOrder) -> None:
    path = folder / "steps-00000005"
    data = bytearray(path.read_bytes())
    data[8:16] = (2**63).to_bytes(8, "little")
    path.write_bytes(data)
    assert seen(opened(folder, order)) == [1, 2, 3, 4]


@pytest.mark.skipif(sys.platform == "win32", reason="there are no named pipes in folders")
@pytest.mark.parametrize("name", ["recording.json", "acceptance.json", "steps-00000001", "state-00000002"])
def test_a_pipe_is_no_part_of_a_recording(folder: Path, order: LoadedOrder, name: str) -> None:
    (folder / name).unlink()
    os.mkfifo(folder / name)
    found = GrowingRecording(folder, order)
    if name == "recording.json":
        assert not found.begin()  # no recording
    else:
        with pytest.raises(RecordingError, match="no regular file"):
            found.begin()


@pytest.mark.skipif(sys.platform == "win32", reason="there are no named pipes in folders")
def test_a_pipe_that_comes_later_is_not_waited_for(folder: Path, order: LoadedOrder) -> None:
    found = opened(folder, order)
    (folder / "steps-00000003").unlink()
    os.mkfifo(folder / "steps-00000003")
    (folder / "state-00000002").unlink()
    os.mkfifo(folder / "state-00000002")
    assert seen(found) == [1, 2]
    with pytest.raises(CounterfoilError):
        found.stored(2)


def test_a_folder_and_its_run_name_each_other() -> None:
    run = Path("some") / "run.cfoil"
    assert recorded_run(recording_folder(run)) == run
    assert recorded_run(run) == run
    assert recorded_run(Path(".recording")) == Path(".recording")
