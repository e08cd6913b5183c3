"""SHA-256 in Triton against hashlib, and roots of states that are hashed where they are."""

from __future__ import annotations

import hashlib

import numpy as np
import pytest
import torch

from counterfoil_core.base.errors import DataError
from counterfoil_core.commit import state as commit, statedigest
from counterfoil_core.commit.state import state_root
from counterfoil_core.commit.statedigest import root_of, root_on_device
from counterfoil_core.kernels.cuda import sha256 as sha256_triton
from counterfoil_core.kernels.cuda.sha256 import leaf_hashes
from support.triton_device import DEVICES, ON_DEVICE

pytestmark = pytest.mark.parametrize("device", DEVICES)


def drawn(count: int) -> torch.Tensor:
    return torch.from_numpy(np.random.default_rng(count).integers(0, 256, count, dtype=np.uint8))


def expected(tensor: torch.Tensor, chunk: int) -> list[bytes]:
    data = tensor.cpu().numpy().tobytes()
    return [hashlib.sha256(b"\0" + data[start : start + chunk]).digest() for start in range(0, len(data), chunk)]


@pytest.mark.often
def test_chunks_of_several_tensors_are_hashed_as_hashlib_does(device: str) -> None:
    """The padding takes a block more from 55 bytes on, beside the prefix. Control: one bit changes one chunk."""
    lengths = (0, 1, 54, 55, 56, 63, 64, 100, 101, 1000)
    changed = drawn(1000)
    changed[317] ^= 4
    tensors = [*map(drawn, lengths), changed, torch.arange(3), torch.tensor(1.5)]
    found = leaf_hashes([tensor.to(device) for tensor in tensors], 100)
    assert [[row.tobytes() for row in rows] for rows in found] == [expected(tensor, 100) for tensor in tensors]
    assert np.flatnonzero((found[9] != found[10]).any(1)).tolist() == [3]


def test_a_state_root_is_the_hosts(device: str, monkeypatch: pytest.MonkeyPatch) -> None:
    if not ON_DEVICE:
        # The interpreter is slow: chunks of 16 KiB would take it minutes.
        for module in (commit, statedigest):
            monkeypatch.setattr(module, "CHUNK_BYTES", 100)
    state = {
        "w": torch.randn(9, 11),
        "b": torch.tensor(2.5),
        "mask": torch.tensor([True, False]),
        "none": torch.empty(0, 3),
        "step": torch.tensor([7]),
    }
    known = state_root({name: tensor.numpy() for name, tensor in state.items()})
    here = {name: tensor.to(device) for name, tensor in state.items()}
    assert root_on_device(here, anywhere=True) == known == root_of(here)
    assert (root_on_device(here) is None) == (not ON_DEVICE)


def test_a_dtype_without_a_digest_is_refused(device: str) -> None:
    with pytest.raises(DataError, match="bfloat16"):
        root_on_device({"x": torch.zeros(0, dtype=torch.bfloat16, device=device)}, anywhere=True)


@pytest.mark.gpu
def test_chunks_of_the_format(device: str) -> None:
    tensor = torch.randn(100_003, device=device)
    (found,) = leaf_hashes([tensor], commit.CHUNK_BYTES)
    assert [row.tobytes() for row in found] == expected(tensor, commit.CHUNK_BYTES)
    assert sha256_triton.leaf_hashes([tensor[:1].clone()], commit.CHUNK_BYTES)[0].shape == (1, 32)
