"""What is hashed is what is used: a part that is read again is hashed again, and one that changed is not handed out."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from counterfoil.training.orderfile import load_order
from counterfoil.training.recorder import record
from counterfoil.training.recordingevents import RecordStarted, StepRecorded
from counterfoil_core.base.errors import BundleError, CommitmentError, FileChangedError
from counterfoil_core.bundle import strictfile
from counterfoil_core.bundle.reader import BundleReader
from counterfoil_core.bundle.strictfile import CheckedFile
from counterfoil_core.signing.keys import SigningKey
from support.bundles import make_contents, write_bundle
from support.expectations import run_root, verified
from support.jobs import Job, record_run
from support.rewriting import before, flipped, place_of

PARTS: dict[str, tuple[Callable[[BundleReader], object], str]] = {
    "/order/program": (BundleReader.program, "the program"),
    "/order/schedule": (BundleReader.schedule, "the schedule"),
    "/order/scalars": (BundleReader.scalars, "the per-step scalars"),
    "/order/data/x": (lambda reader: reader.data("x"), "the data array 'x'"),
    "/order/initial/fc.weight": (BundleReader.initial_state, "the initial state"),
    "/run/checkpoints/0000000004/fc.bias": (
        lambda reader: reader.checkpoint(4), "the stored state of step 4",
    ),
}  # fmt: skip


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return write_bundle(tmp_path / "run.cfoil", make_contents())


@pytest.mark.parametrize("dataset", PARTS)
def test_a_part_that_changed_is_not_handed_out(path: Path, dataset: str) -> None:
    read, what = PARTS[dataset]
    place = place_of(path, dataset)
    with BundleReader.open(path) as reader:
        read(reader)
        place.write(flipped(place.before))
        with pytest.raises(FileChangedError, match=f"{what} is not what it was before"):
            read(reader)
        place.write(place.before)
        read(reader)
    # A file that was never right is not one that changed.
    place.write(flipped(place.before))
    with BundleReader.open(path) as reader, pytest.raises(CommitmentError):
        read(reader)


def test_logs_and_fingerprints_are_those_of_the_records(path: Path) -> None:
    log, fingerprints = place_of(path, "/run/log"), place_of(path, "/run/fingerprints", 2)
    with BundleReader.open(path) as reader:
        reader.step_records()
        honest = reader.log(1), reader.fingerprints(3)
        log.write(flipped(log.before))
        fingerprints.write(flipped(fingerprints.before))
        with pytest.raises(FileChangedError, match="the rounding log of step 1"):
            reader.log(1)
        with pytest.raises(FileChangedError, match="the fingerprints of step 3"):
            reader.fingerprints(3)
        reader.log(3)
        reader.fingerprints(1)
        log.write(log.before)
        fingerprints.write(fingerprints.before)
        assert reader.log(1) == honest[0]
        assert np.array_equal(reader.fingerprints(3), honest[1])
        assert [reader.log_size(step) for step in range(1, 6)] == reader.log_sizes().tolist()


@pytest.mark.parametrize(("dataset", "row"), [("/run/state_roots", 4), ("/run/losses", None), ("/run/claim", None)])
def test_small_parts_are_read_once(path: Path, dataset: str, row: int | None) -> None:
    place = place_of(path, dataset, row)
    with BundleReader.open(path) as reader:
        found = reader.committed_root(4), reader.losses().tolist(), reader.claim()
        place.write(flipped(place.before))
        assert (reader.committed_root(4), reader.losses().tolist(), reader.claim()) == found


def test_what_is_loaded_is_read_once(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Check and load are one: no byte of the order is read or hashed twice."""
    monkeypatch.setattr("counterfoil_core.bundle.strictfile.BLOCK_BYTES", 700)
    read: list[tuple[str, int]] = []
    reading = CheckedFile._read

    def counting(self: CheckedFile, path: str, first: int | None = None, *args: object, **settings: object) -> object:
        read.append((path, first or 0))
        return reading(self, path, first, *args, **settings)  # type: ignore[arg-type]

    with BundleReader.open(path) as reader:
        monkeypatch.setattr(CheckedFile, "_read", counting)
        contents = reader.check_order_contents()
    assert len(set(read)) == len(read)
    assert sum(path == "/order/data/x" for path, _ in read) > 5, "in pieces"
    expected = make_contents()
    assert all(np.array_equal(contents.data[name], array) for name, array in expected.data.items())


def test_a_file_that_is_still_being_copied(tmp_path: Path, path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """It looks damaged, and is whole by the time at which it would be refused."""
    whole = path.read_bytes()
    part = tmp_path / "part.cfoil"
    part.write_bytes(whole[:3000])
    with pytest.raises(BundleError):
        BundleReader.open(part)
    before(monkeypatch, strictfile, "walk", lambda *_: part.write_bytes(whole))
    part.write_bytes(whole[:3000])
    os.utime(part, ns=(0, 0))
    with pytest.raises(FileChangedError):
        BundleReader.open(part)


def test_initial_weights_that_changed_while_it_trained_are_not_written(
    digits_job: Job, trainer_key: SigningKey, tmp_path: Path
) -> None:
    """They are read once more when the run is put together; nothing that was done is lost."""
    order, run = tmp_path / "job.cfoil", tmp_path / "run.cfoil"
    order.write_bytes(digits_job.order.read_bytes())
    place = place_of(order, "/order/initial/head.bias")
    recording = record(order, run, trainer_key, threads=1)
    next(event for event in recording if isinstance(event, StepRecorded))
    place.write(flipped(place.before))
    with pytest.raises(FileChangedError, match="the initial state is not what it was"):
        list(recording)
    assert not run.exists()
    place.write(place.before)
    for _ in record(order, run, trainer_key, threads=1, resume=True):
        pass
    assert run_root(run) == run_root(digits_job.run)


def test_the_recorder_writes_the_order_that_it_executes(
    digits_job: Job, trainer_key: SigningKey, tmp_path: Path
) -> None:
    """The order's file is rewritten while the trainer trains: the run holds what was checked, and is verified."""
    order = tmp_path / "job.cfoil"
    order.write_bytes(digits_job.order.read_bytes())
    # The initial state is read once more when the run is put together, and compared then.
    places = [place_of(order, f"/order/{part}") for part in ("program", "schedule", "data/labels")]
    spoiled = 0
    for event in record(order, tmp_path / "run.cfoil", trainer_key, threads=1):
        if isinstance(event, (RecordStarted, StepRecorded)):
            spoiled += 1
            for place in places:
                place.write(flipped(place.before))
    assert spoiled == 7
    assert run_root(tmp_path / "run.cfoil") == run_root(digits_job.run)
    verified(tmp_path / "run.cfoil", digits_job.order)
    with pytest.raises(CommitmentError):
        record_run(order, tmp_path / "again.cfoil", trainer_key)
    with BundleReader.open(digits_job.order) as reader:
        assert load_order(reader).manifest == reader.manifest
