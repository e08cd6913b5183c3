"""What the writer writes, the reader reads: the same bits, dtypes and shapes, and no other file is touched."""

from __future__ import annotations

import os
import stat
import subprocess
import sys
from pathlib import Path

import h5py
import numpy as np
import pytest

from counterfoil.bundle.writer import BundleWriter
from counterfoil_core.base.digest import Digest
from counterfoil_core.base.errors import BundleError
from counterfoil_core.base.generators import finish
from counterfoil_core.bundle.reader import BundleReader
from counterfoil_core.bundle.schema import run_tree
from counterfoil_core.signing.claims import RunClaim
from counterfoil_core.signing.statements import open_said
from support.bundles import make_claim, make_contents, same_state, test_key, write_bundle, write_run
from support.packages import sources


@pytest.mark.parametrize(
    ("steps", "commit_every", "checkpoint_every"), [(1, 1, 1), (5, 1, 2), (7, 2, 4), (6, 3, 3), (4, 10, 10)]
)
def test_a_run_comes_back(tmp_path: Path, steps: int, commit_every: int, checkpoint_every: int) -> None:
    contents = make_contents(steps=steps, commit_every=commit_every, checkpoint_every=checkpoint_every)
    key = test_key(tmp_path)
    path = write_bundle(tmp_path / "run.cfoil", contents, key)
    with BundleReader.open(path) as reader:
        assert reader.has_run
        assert reader.file_bytes == path.stat().st_size
        assert reader.manifest == contents.manifest
        assert reader.program() == contents.program
        np.testing.assert_array_equal(reader.schedule(), contents.schedule)
        np.testing.assert_array_equal(reader.scalars(), contents.scalars)
        assert same_state({name: reader.data(name) for name in contents.data}, contents.data)
        assert same_state(reader.initial_state(), contents.initial)
        assert reader.state_layout() == {
            name: (array.dtype.name, array.shape) for name, array in sorted(contents.initial.items())
        }
        reader.check_order_contents()
        for number, step in enumerate(contents.steps, 1):
            assert reader.log(number) == step.log
            np.testing.assert_array_equal(reader.fingerprints(number), step.fingerprints)
        assert reader.log_sizes().tolist() == [len(step.log) for step in contents.steps]
        assert reader.log_entries().tolist() == [step.log_entries for step in contents.steps]
        assert reader.losses().tolist() == [step.loss for step in contents.steps]
        assert reader.checkpoint_steps() == tuple(
            step for step in range(1, steps + 1) if contents.manifest.extent.is_checkpoint(step)
        )
        for step in reader.checkpoint_steps():
            state = reader.checkpoint(step)
            assert same_state(state, contents.steps[step - 1].state)
        records = reader.step_records()
        assert records == contents.records()
        claim = open_said(RunClaim, reader.claim(), key.public)
        assert claim == make_claim(contents, key)
        assert claim.run_root == run_tree(records).root


def test_an_order_comes_back(tmp_path: Path) -> None:
    contents = make_contents(run=False)
    with BundleReader.open(write_bundle(tmp_path / "job.cfoil", contents)) as reader:
        assert not reader.has_run
        assert same_state(reader.initial_state(), contents.initial)
        reader.check_order_contents()
        for call in (
            reader.claim,
            reader.losses,
            reader.log_sizes,
            reader.log_entries,
            reader.checkpoint_steps,
            reader.step_records,
            lambda: reader.log(1),
            lambda: reader.fingerprints(1),
            lambda: reader.checkpoint(2),
            lambda: reader.committed_root(0),
        ):
            with pytest.raises(BundleError):
                call()


def test_an_order_is_written_into_a_run_as_it_was_loaded(tmp_path: Path) -> None:
    contents = make_contents()
    job = write_bundle(tmp_path / "job.cfoil", make_contents(run=False))
    key = test_key(tmp_path)
    with BundleReader.open(job) as order, BundleWriter.create(tmp_path / "run.cfoil") as writer:
        found = order.check_order_contents()
        writer.write_order(order.manifest, found.programs, found.schedule, found.scalars, found.data, found.initial)
        write_run(writer, contents, key)
    with BundleReader.open(tmp_path / "run.cfoil") as reader:
        assert reader.manifest == contents.manifest
        reader.check_order_contents()
        assert same_state(reader.initial_state(), contents.initial)
        assert reader.step_records() == contents.records()


def test_runs_without_fingerprints_or_logs(tmp_path: Path) -> None:
    contents = make_contents(steps=3)
    for step in contents.steps:
        step.log = b""
        step.fingerprints = np.zeros(0, np.uint64)
    with BundleReader.open(write_bundle(tmp_path / "run.cfoil", contents)) as reader:
        assert reader.log(2) == b""
        assert reader.fingerprints(2).shape == (0,)
        assert reader.step_records() == contents.records()


def test_long_logs_are_hashed_across_blocks(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    contents = make_contents(steps=9)
    rng = np.random.default_rng(5)
    for step in contents.steps[2:7]:
        step.log = rng.bytes(int(rng.integers(50_000, 200_000)))
    path = write_bundle(tmp_path / "run.cfoil", contents)
    for block in (1 << 16, 77_777, 1 << 30):
        monkeypatch.setattr("counterfoil_core.bundle.reader.BLOCK_BYTES", block)
        with BundleReader.open(path) as reader:
            assert reader.step_records() == contents.records()


def test_special_floats_keep_their_bits(tmp_path: Path) -> None:
    contents = make_contents(steps=1, checkpoint_every=1)
    bits = np.array([0, 0x80000000, 1, 0x7FC00001, 0xFFC12345, 0x7F800000, 0x7F7FFFFF], np.uint32)
    contents.steps[0].state["fc.bias"] = np.resize(bits, 40).view(np.float32)
    with BundleReader.open(write_bundle(tmp_path / "run.cfoil", contents)) as reader:
        assert same_state(reader.checkpoint(1), contents.steps[0].state)


def test_strides_and_byte_order_are_normalised(tmp_path: Path) -> None:
    contents = make_contents(steps=1, checkpoint_every=1)
    expected = dict(contents.steps[0].state)
    state = contents.steps[0].state
    state["fc.weight"] = np.asfortranarray(state["fc.weight"])
    state["fc.bias"] = np.repeat(state["fc.bias"], 2)[::2].astype(">f4")
    state["mask"] = np.asfortranarray(state["mask"])
    with BundleReader.open(write_bundle(tmp_path / "run.cfoil", contents)) as reader:
        assert same_state(reader.checkpoint(1), expected)


def test_reading_changes_no_byte_and_takes_no_lock(tmp_path: Path) -> None:
    path = write_bundle(tmp_path / "run.cfoil", make_contents())
    before = path.read_bytes()
    path.chmod(0o444)
    tmp_path.chmod(0o555)
    try:
        with BundleReader.open(path) as reader, BundleReader.open(path) as second:
            reader.check_order_contents()
            assert reader.step_records() == second.step_records()
    finally:
        tmp_path.chmod(0o755)
    assert path.read_bytes() == before


def test_the_open_file_is_what_counts(tmp_path: Path) -> None:
    """A path can be swapped for another file after the check; the reader goes on with the file that it checked."""
    path = write_bundle(tmp_path / "run.cfoil", make_contents(seed=1))
    first = path.read_bytes()
    with BundleReader.open(path) as reader:
        write_bundle(path, make_contents(seed=2))
        assert path.read_bytes() != first
        assert finish(reader.file.settle()) == Digest.of(first)
        reader.check_order_contents()
        assert reader.step_records() == make_contents(seed=1).records()


def test_the_same_contents_give_the_same_file(tmp_path: Path) -> None:
    contents, key = make_contents(), test_key(tmp_path)
    one = write_bundle(tmp_path / "one.cfoil", contents, key).read_bytes()
    assert write_bundle(tmp_path / "two.cfoil", contents, key).read_bytes() == one


def test_any_hdf5_program_can_read_a_bundle(tmp_path: Path) -> None:
    contents = make_contents()
    with h5py.File(write_bundle(tmp_path / "run.cfoil", contents)) as file:
        assert file.attrs["format"] == b"counterfoil-3"
        assert file["order/manifest"][()].tobytes() == contents.manifest.to_bytes()
        np.testing.assert_array_equal(file["order/initial/fc.weight"][()], contents.initial["fc.weight"])
        assert file["order/initial/mask"][()].tolist() == contents.initial["mask"].astype(int).tolist()
        assert file["order/initial/bn.num_batches_tracked"][()] == contents.initial["bn.num_batches_tracked"]
        assert set(file["run/checkpoints"]) == {"0000000002", "0000000004", "0000000005"}


def test_weights_are_contiguous_and_uncompressed(tmp_path: Path) -> None:
    contents = make_contents()
    path = write_bundle(tmp_path / "run.cfoil", contents)
    with h5py.File(path) as file:
        for group in ("order/initial", "run/checkpoints/0000000002"):
            dataset = file[f"{group}/fc.weight"]
            assert dataset.chunks is None
            offset = dataset.id.get_offset()
    raw = contents.steps[1].state["fc.weight"].tobytes()
    assert path.read_bytes()[offset : offset + len(raw)] == raw


def test_a_bundle_has_the_permissions_of_any_new_file(tmp_path: Path) -> None:
    path = write_bundle(tmp_path / "run.cfoil", make_contents(run=False))
    (tmp_path / "plain").touch()
    assert stat.S_IMODE(path.stat().st_mode) == stat.S_IMODE((tmp_path / "plain").stat().st_mode)


def test_settings_come_before_hdf5_is_loaded() -> None:
    """libhdf5 reads them when it is loaded, so a program that imports only the writer must have them."""
    code = (
        "import sys, os, counterfoil.bundle.writer\n"
        "assert 'h5py' in sys.modules\n"
        "print(os.environ['HDF5_PLUGIN_PRELOAD'], os.environ['HDF5_USE_FILE_LOCKING'])"
    )
    env = {name: value for name, value in os.environ.items() if not name.startswith("HDF5")}
    done = subprocess.run([sys.executable, "-c", code], env=env, capture_output=True, text=True, check=True)
    assert done.stdout.split() == ["::", "FALSE"]


def test_reading_needs_no_hdf5_library(tmp_path: Path) -> None:
    """What a stranger sends never meets libhdf5: reading does not even load it."""
    path = write_bundle(tmp_path / "run.cfoil", make_contents())
    code = (
        "import sys\n"
        "from counterfoil_core.bundle.reader import BundleReader\n"
        "with BundleReader.open(sys.argv[1]) as reader:\n"
        "    reader.check_order_contents(), reader.step_records()\n"
        "print('h5py' in sys.modules)"
    )
    done = subprocess.run([sys.executable, "-c", code, str(path)], capture_output=True, text=True, check=True)
    assert done.stdout.split() == ["False"]


def test_only_one_module_imports_h5py() -> None:
    importing = [
        name
        for name, path in sources()
        if any(line.strip().startswith(("import h5py", "from h5py")) for line in path.read_text().splitlines())
    ]
    assert importing == ["bundle/_hdf5.py"]
