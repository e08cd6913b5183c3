"""Tensors of zeros, as optimizers begin with, take no room in a file, and are read as what they are."""

from __future__ import annotations

import tracemalloc
from dataclasses import replace
from pathlib import Path

import h5py
import numpy as np
import pytest

from counterfoil.bundle.filewriter import held_bytes, zero_tensors
from counterfoil_core.bundle.hdf5.format import MOST_ZEROS
from counterfoil_core.bundle.reader import BundleReader
from counterfoil_core.commit.state import state_root
from support.bundles import Array, make_contents, opened_for_change, same_state, write_bundle
from support.hdf5_files import same_as_h5py

MIB = 2**20


def test_only_tensors_whose_bits_are_all_zero_are_left_out() -> None:
    late = np.zeros(5000, np.float32)
    late[-1] = 1e-45
    state = {
        "weight": np.ones(4000, np.float32),
        "float": np.zeros((20, 100), np.float32),
        "int": np.zeros((0, 7), np.int64),
        "bool": np.zeros(5000, np.bool_),
        "strided": np.zeros((100, 100), np.int32)[::2, ::2],
        "minus": np.full(5000, -0.0, np.float32),
        "late": late,
        "small": np.zeros(1000, np.float32),
        "number": np.zeros((), np.float32),
    }
    assert zero_tensors(state) == {"float", "bool", "strided"}
    assert held_bytes(state) == 4 * (4000 + 5000 + 5000 + 1000 + 1)


def test_no_more_is_left_out_than_a_reader_takes(tmp_path: Path) -> None:
    held = {"weight": np.ones(1000, np.float32)}
    fitting: dict[str, Array] = {**held, "slot": np.zeros(MOST_ZEROS * 4000, np.uint8)}
    assert zero_tensors(fitting) == {"slot"}
    too_many: dict[str, Array] = {**held, "slot": np.zeros(MOST_ZEROS * 4000 + 1, np.uint8)}
    assert zero_tensors(too_many) == frozenset()
    assert zero_tensors({"only": np.zeros(MIB, np.float32)}) == frozenset()
    for number, state in enumerate((fitting, too_many, {"only": np.zeros(MIB, np.float32)})):
        with BundleReader.open(order_of(tmp_path / f"{number}.cfoil", state)) as reader:
            assert same_state(reader.initial_state(), state)
            reader.check_order_contents()


def order_of(path: Path, initial: dict[str, Array]) -> Path:
    contents = make_contents(run=False)
    manifest = replace(contents.manifest, initial_root=state_root(initial))
    return write_bundle(path, replace(contents, manifest=manifest, initial=initial))


def test_an_order_of_zeros_is_as_long_as_what_is_not_zero(tmp_path: Path) -> None:
    weight = np.random.default_rng(0).random(MIB // 4, np.float32)
    slots = {f"{slot}:weight": np.zeros_like(weight) for slot in ("exp_avg", "exp_avg_sq")}
    without = order_of(tmp_path / "without.cfoil", {"weight": weight})
    path = order_of(tmp_path / "with.cfoil", {"weight": weight, **slots})
    assert path.stat().st_size < without.stat().st_size + 4096
    assert same_as_h5py(path) > 8
    with h5py.File(path) as file:
        assert [file[f"order/initial/{name}"].id.get_offset() for name in slots] == [None, None]
    with BundleReader.open(path) as reader:
        assert same_state(reader.initial_state(), {"weight": weight, **slots})
    # The same state with its zeros in the file has the same digests.
    with opened_for_change(path) as changed:
        for name in slots:
            changed[f"order/initial/{name}"][...] = 0
    assert path.stat().st_size > 3 * MIB
    with BundleReader.open(path) as reader:
        assert reader.check_order_contents().initial.keys() == {"weight", *slots}


@pytest.mark.parametrize("step", [2, 4, 5])
def test_every_way_to_load_a_stored_state_gives_the_zeros(tmp_path: Path, step: int) -> None:
    contents = make_contents(steps=5, checkpoint_every=2)
    with BundleReader.open(write_bundle(tmp_path / "run.cfoil", contents)) as reader:
        wanted = contents.steps[step - 1].state
        assert not wanted["slot"].any()
        assert same_state(reader.checkpoint(step), wanted)
        assert same_state({name: reader.checkpoint_tensor(step, name)[0] for name in wanted}, wanted)
        reader.verify_checkpoint(step)
        stored = reader._read(f"/run/checkpoints/{step:010d}/slot", 3, 4)
        assert stored.shape == (4, 50)
        target = np.ones((4, 50), np.float32)
        reader._read(f"/run/checkpoints/{step:010d}/slot", 3, 4, into=target)
        assert not target.any()


def test_a_state_that_is_only_checked_is_not_held_in_memory(tmp_path: Path) -> None:
    """Of the zeros of a file no more is in memory at a time than of what it holds."""
    contents = make_contents(steps=2)
    zeros = np.zeros(MOST_ZEROS * 4 * MIB, np.uint8)
    contents.initial |= {"weight": np.ones(MIB, np.float32), "zeros": zeros}
    contents = replace(contents, manifest=replace(contents.manifest, initial_root=state_root(contents.initial)))
    for step in contents.steps:
        step.state |= {"weight": np.ones(MIB, np.float32), "zeros": zeros}
    path = write_bundle(tmp_path / "run.cfoil", contents)
    assert path.stat().st_size < 9 * MIB
    with BundleReader.open(path) as reader:
        tracemalloc.start()
        try:
            reader.verify_checkpoint(2)
            most = tracemalloc.get_traced_memory()[1]
        finally:
            tracemalloc.stop()
    assert most < 24 * MIB
