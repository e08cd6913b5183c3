"""A small file that declares data it does not hold: asking for them asks for terabytes of memory."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from counterfoil.bundle.writer import write_data_file
from counterfoil_core.base.errors import BundleError, CommitmentError
from counterfoil_core.bundle.datafile import DataFile
from counterfoil_core.bundle.hdf5.format import MOST_ZEROS
from counterfoil_core.bundle.reader import BundleReader
from counterfoil_core.commit.state import tensor_digest
from support.bundles import opened_for_change
from support.hostile import hostile_bundle


@pytest.mark.parametrize("group", ["order/initial", "run/checkpoints/0000000002"])
def test_a_tensor_that_is_left_out_and_was_not_zero_has_another_digest(tmp_path: Path, group: str) -> None:
    with hostile_bundle(tmp_path) as (path, file):
        del file[f"{group}/fc.weight"]
        file.create_dataset(f"{group}/fc.weight", (40, 150), np.float32)
    with BundleReader.open(path) as reader:
        if group == "order/initial":
            with pytest.raises(CommitmentError, match="initial state"):
                reader.check_order_contents()
        else:
            with pytest.raises(CommitmentError, match="stored state of step 2"):
                reader.checkpoint(2)
            with pytest.raises(CommitmentError, match="stored state of step 2"):
                reader.verify_checkpoint(2)
            array, digest = reader.checkpoint_tensor(2, "fc.weight")
            assert digest == tensor_digest("fc.weight", np.zeros((40, 150), np.float32))
            assert not array.any()


@pytest.mark.parametrize("extra", [0, 1])
def test_zeros_that_are_left_out_are_bounded_by_the_file(tmp_path: Path, extra: int) -> None:
    """However many tensors they are cut into; one byte more than allowed is refused."""

    def write(rest: int) -> Path:
        path = tmp_path / f"{rest}.cfdata"
        write_data_file(path, {"a": np.ones(10_000, np.uint8)})
        with opened_for_change(path) as file:
            for number in range(9):
                file.create_dataset(f"data/zeros{number}", (1000,), np.uint8)
            file.create_dataset("data/rest", (rest,), np.uint8)
        return path

    # How long the data are that are left out does not change how long the file is.
    path = write(MOST_ZEROS * write(1).stat().st_size - 9000 + extra)
    if extra:
        with pytest.raises(BundleError, match="one of its size may leave out"):
            DataFile.open(path)
    else:
        with DataFile.open(path) as opened:
            assert not opened._read("/data/rest").any()
