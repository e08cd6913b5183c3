"""The writer leaves either a whole bundle under the target's name or nothing, and says why in a sentence."""

from __future__ import annotations

import dataclasses
import errno
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from counterfoil.bundle import filewriter
from counterfoil.bundle.writer import BundleWriter
from counterfoil_core.base.errors import BundleError, FileWriteError
from counterfoil_core.base.turns import Turns
from counterfoil_core.bundle.places import Places
from counterfoil_core.bundle.reader import BundleReader
from support.bundles import Contents, make_contents, test_key, write_bundle, write_run
from support.full_disk import can_mount, run_code


def write_order(writer: BundleWriter, contents: Contents, **changes: Any) -> None:
    parts = {
        "manifest": contents.manifest,
        "programs": Turns.alone(contents.program),
        "schedule": contents.schedule,
        "scalars": contents.scalars,
        "data": contents.data,
        "initial": contents.initial,
    }
    writer.write_order(**{**parts, **changes})


def log_bytes(contents: Contents) -> int:
    return sum(len(step.log) for step in contents.steps)


def append(writer: BundleWriter, contents: Contents, step: int, **changes: Any) -> None:
    source = contents.steps[step - 1]
    root = contents.records()[step].state_root
    parts = {
        "log": source.log,
        "log_entries": source.log_entries,
        "fingerprints": source.fingerprints,
        "loss": source.loss,
        "state_root": root,
    }
    writer.append_step(step, **{**parts, **changes})


def files(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir())


def test_nothing_lies_under_the_name_before_the_end(tmp_path: Path) -> None:
    contents, key = make_contents(), test_key(tmp_path / "..")
    target = tmp_path / "run.cfoil"
    with BundleWriter.create(target) as writer:
        write_order(writer, contents)
        assert not target.exists()
        write_run(writer, contents, key)
        assert not target.exists()
    assert files(tmp_path) == ["run.cfoil"]


def fail_half_way(path: Path) -> None:
    with BundleWriter.create(path) as writer:
        write_order(writer, make_contents(seed=3))
        writer.begin_run(Turns.alone(Places(6)), 0)
        raise ZeroDivisionError


def test_an_exception_leaves_nothing(tmp_path: Path) -> None:
    with pytest.raises(ZeroDivisionError):
        fail_half_way(tmp_path / "run.cfoil")
    assert files(tmp_path) == []


def test_an_exception_leaves_the_old_bundle(tmp_path: Path) -> None:
    path = write_bundle(tmp_path / "job.cfoil", make_contents(run=False))
    before = path.read_bytes()
    with pytest.raises(ZeroDivisionError):
        fail_half_way(path)
    assert path.read_bytes() == before
    assert files(tmp_path) == ["job.cfoil"]


def test_a_new_bundle_replaces_an_old_one(tmp_path: Path) -> None:
    path = write_bundle(tmp_path / "job.cfoil", make_contents(run=False))
    write_bundle(path, make_contents(run=False, seed=3))
    with BundleReader.open(path) as reader:
        assert reader.manifest == make_contents(run=False, seed=3).manifest


def test_closing_or_aborting_twice_does_no_harm(tmp_path: Path) -> None:
    with BundleWriter.create(tmp_path / "job.cfoil") as writer:
        write_order(writer, make_contents(run=False))
        writer.close()
    writer.abort()
    assert files(tmp_path) == ["job.cfoil"]
    other = BundleWriter.create(tmp_path / "other.cfoil")
    other.abort()
    other.abort()
    assert files(tmp_path) == ["job.cfoil"]


def test_a_folder_that_is_not_there(tmp_path: Path) -> None:
    with pytest.raises(FileWriteError, match=r"The bundle cannot be written to .*: there is no such folder") as caught:
        BundleWriter.create(tmp_path / "none" / "run.cfoil")
    assert caught.value.remedy


def test_a_target_that_is_a_folder(tmp_path: Path) -> None:
    (tmp_path / "run.cfoil").mkdir()
    with pytest.raises(FileWriteError), BundleWriter.create(tmp_path / "run.cfoil") as writer:
        write_order(writer, make_contents(run=False))
    assert files(tmp_path) == ["run.cfoil"]


@pytest.mark.sampled(2)
@pytest.mark.parametrize("limit", [3_000, 40_000, 60_000, 90_000, 120_000])
def test_a_full_disk_ends_in_a_sentence_and_leaves_nothing(tmp_path: Path, limit: int) -> None:
    """A limit on the size of files fails writes as a full disk does, wherever libhdf5 makes them."""
    code = f"""
import resource, sys
from pathlib import Path
from counterfoil_core.base.errors import FileWriteError
from support.bundles import make_contents, test_key, write_bundle
folder = Path({str(tmp_path)!r})
key = test_key(folder.parent)
contents = make_contents(steps=5)
resource.setrlimit(resource.RLIMIT_FSIZE, ({limit}, {limit}))
try:
    write_bundle(folder / "run.cfoil", contents, key)
except FileWriteError as error:
    print(error)
"""
    tests = Path(__file__).parents[2]
    done = subprocess.run([sys.executable, "-c", code], cwd=tests, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert done.stdout == (
        f"The bundle cannot be written to {tmp_path / 'run.cfoil'}: the file is larger than is allowed there. "
        "Make room there, or choose another folder.\n"
    )
    assert files(tmp_path) == []


FULL = """
from pathlib import Path
from counterfoil.bundle import filewriter
from counterfoil_core.base.errors import FileWriteError
from support.bundles import make_contents, test_key, write_bundle
path = Path({path!r})
{settings}
key = test_key(Path({keys!r}))
write_bundle(path, make_contents(run=False))
old = path.read_bytes()
path.with_name("filling").write_bytes(bytes({filling}))
try:
    write_bundle(path, make_contents(steps=5), key)
except FileWriteError as error:
    print(error)
print(path.read_bytes() == old, sorted(entry.name for entry in path.parent.iterdir()))
"""


@pytest.mark.sampled(3)
@pytest.mark.skipif(not can_mount(), reason="this user may not mount a disk")
@pytest.mark.parametrize("room", [0, 2_000, 8_000, 20_000, 60_000, 100_000])
def test_a_disk_that_fills_up_meanwhile_leaves_the_old_file_and_shows_no_pointers(tmp_path: Path, room: int) -> None:
    disk, keys = tmp_path / "disk", tmp_path / "keys"
    disk.mkdir()
    keys.mkdir()
    path = disk / "run.cfoil"
    # The disk had room when it was looked at: others write to it too.
    settings = "filewriter.check_room = lambda *_: None"
    code = FULL.format(path=str(path), keys=str(keys), settings=settings, filling=400 * 1024 - 49_152 - room)
    done = run_code(code, size="400k", folder=disk)
    assert done.stdout.splitlines() == [
        f"The bundle cannot be written to {path}: the disk is full. Make room there, or choose another folder.",
        "True ['filling', 'run.cfoil']",
    ], done.stderr


@pytest.mark.skipif(not can_mount(), reason="this user may not mount a disk")
def test_a_disk_without_room_is_said_so_at_once(tmp_path: Path) -> None:
    disk, keys = tmp_path / "disk", tmp_path / "keys"
    disk.mkdir()
    keys.mkdir()
    code = FULL.format(path=str(disk / "run.cfoil"), keys=str(keys), settings="", filling=300 * 1024)
    done = run_code(code, size="400k", folder=disk)
    assert done.stdout.startswith(f"There is no room for the bundle in {disk}: it needs "), done.stderr
    assert done.stdout.endswith("True ['filling', 'run.cfoil']\n")
    control = run_code(code, size="2m", folder=disk)
    assert control.stdout == "False ['filling', 'run.cfoil']\n"


def test_a_disk_that_is_full_at_the_first_byte_leaves_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """HDF5's library has made the file when writing its first block fails."""

    def full(name: bytes, *_: object) -> None:
        Path(name.decode()).touch()
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(filewriter.h5f, "create", full)
    with pytest.raises(FileWriteError, match="the disk is full"):
        BundleWriter.create(tmp_path / "run.cfoil")
    assert list(tmp_path.iterdir()) == []


def test_control_the_disk_that_is_large_enough(tmp_path: Path) -> None:
    assert write_bundle(tmp_path / "run.cfoil", make_contents(steps=5)).stat().st_size > 120_000


# What does not fit the order.


def test_an_order_of_other_arrays_than_its_manifest(tmp_path: Path) -> None:
    contents = make_contents(run=False)
    for changes in (
        {"schedule": contents.schedule[:-1]},
        {"schedule": contents.schedule.astype(np.int32)},
        {"scalars": contents.scalars.astype(np.float32)},
        {"data": {"x": contents.data["x"]}},
        {"data": {**contents.data, "y": contents.data["y"][:-1]}},
        {"initial": {"w": np.zeros(3)}},
        {"initial": {"a/b": np.zeros(3, np.float32)}},
        {"initial": {"..": np.zeros(3, np.float32)}},
    ):
        with pytest.raises(BundleError), BundleWriter.create(tmp_path / "job.cfoil") as writer:
            write_order(writer, contents, **changes)
        assert files(tmp_path) == []


def test_steps_come_in_order_and_once(tmp_path: Path) -> None:
    contents = make_contents()
    with BundleWriter.create(tmp_path / "run.cfoil") as writer:
        write_order(writer, contents)
        with pytest.raises(BundleError, match="no run"):
            append(writer, contents, 1)
        writer.begin_run(Turns.alone(Places(6)), log_bytes(contents))
        with pytest.raises(BundleError, match="cannot follow"):
            append(writer, contents, 2)
        append(writer, contents, 1)
        with pytest.raises(BundleError, match="cannot follow"):
            append(writer, contents, 1)
        writer.abort()


@pytest.mark.parametrize(
    "changes", [{"fingerprints": np.zeros(5, np.uint64)}, {"fingerprints": np.zeros((2, 3), np.uint64)}]
)
def test_fingerprints_of_another_number(tmp_path: Path, changes: dict[str, Any]) -> None:
    contents = make_contents()
    with BundleWriter.create(tmp_path / "run.cfoil") as writer:
        write_order(writer, contents)
        writer.begin_run(Turns.alone(Places(6)), log_bytes(contents))
        with pytest.raises(BundleError, match="fingerprints"):
            append(writer, contents, 1, **changes)
        writer.abort()


def test_states_are_committed_where_the_order_says(tmp_path: Path) -> None:
    contents = make_contents(steps=3, commit_every=2)
    root = contents.manifest.initial_root
    for step, wrong in ((1, root), (2, None), (3, None)):
        with BundleWriter.create(tmp_path / "run.cfoil") as writer:
            write_order(writer, contents)
            writer.begin_run(Turns.alone(Places(6)), log_bytes(contents))
            for before in range(1, step):
                append(writer, contents, before)
            with pytest.raises(BundleError, match="disagree"):
                append(writer, contents, step, state_root=wrong)
            writer.abort()


def test_checkpoints_are_those_of_the_order(tmp_path: Path) -> None:
    contents = make_contents(steps=4, checkpoint_every=2)
    state = contents.steps[1].state
    with BundleWriter.create(tmp_path / "run.cfoil") as writer:
        write_order(writer, contents)
        writer.begin_run(Turns.alone(Places(6)), log_bytes(contents))
        for step in (0, 1, 3, 5, 6):
            with pytest.raises(BundleError, match="asks for no state"):
                writer.write_checkpoint(step, state)
        with pytest.raises(BundleError, match="other tensors"):
            writer.write_checkpoint(2, {"fc.bias": state["fc.bias"]})
        writer.write_checkpoint(2, state)
        with pytest.raises(BundleError, match="asks for no state"):
            writer.write_checkpoint(2, state)
        with pytest.raises(BundleError, match="should have the dtype float32"):
            writer.write_checkpoint(4, {**state, "fc.bias": state["fc.bias"].astype(np.float64)})
        writer.abort()


def test_a_run_without_all_its_steps_or_checkpoints_is_not_finished(tmp_path: Path) -> None:
    contents = make_contents(steps=2)
    with BundleWriter.create(tmp_path / "run.cfoil") as writer:
        write_order(writer, contents)
        writer.begin_run(Turns.alone(Places(6)), log_bytes(contents))
        append(writer, contents, 1)
        with pytest.raises(BundleError, match="has 1 steps"):
            writer.finish_run(b"{}", b"{}")
        append(writer, contents, 2)
        with pytest.raises(BundleError, match="lacks a checkpoint"):
            writer.finish_run(b"{}", b"{}")
        with pytest.raises(BundleError, match="not complete"):
            writer.close()
    assert files(tmp_path) == []


def test_a_bundle_without_an_order_is_none(tmp_path: Path) -> None:
    with pytest.raises(BundleError, match="no order"), BundleWriter.create(tmp_path / "run.cfoil"):
        pass
    assert files(tmp_path) == []


def test_a_written_file_passes_the_guard_even_if_its_manifest_lies(tmp_path: Path) -> None:
    """The writer does not judge digests: orders that lie can be made, and the reader's checks tested with them."""
    contents = make_contents(run=False)
    manifest = dataclasses.replace(contents.manifest, initial_root=contents.manifest.data_root)
    with BundleWriter.create(tmp_path / "job.cfoil") as writer:
        write_order(writer, contents, manifest=manifest)
    with BundleReader.open(tmp_path / "job.cfoil") as reader:
        assert reader.manifest == manifest
