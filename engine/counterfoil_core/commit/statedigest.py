"""State roots of tensors: a state on a CUDA device is hashed there, and only its leaf hashes leave it."""

from __future__ import annotations

from collections.abc import Mapping

from torch import Tensor

from counterfoil_core.base.digest import Digest
from counterfoil_core.commit.state import CHUNK_BYTES, root_of_leaves, state_root, tensor_digests


def root_of(state: Mapping[str, Tensor]) -> Digest:
    """Return the state root of tensors by name; raises DataError as :func:`.commit.state.state_root`."""
    found = root_on_device(state)
    return state_root({name: tensor.cpu().numpy() for name, tensor in state.items()}) if found is None else found


def digests_of(state: Mapping[str, Tensor]) -> dict[str, Digest]:
    """Return the tensor digest of each tensor, by name, sorted."""
    return tensor_digests({name: state[name].cpu().numpy() for name in sorted(state)})


def root_on_device(state: Mapping[str, Tensor], *, anywhere: bool = False) -> Digest | None:
    """Return the state root of tensors by name, hashed where they are.

    Args:
        state: Contiguous tensors.
        anywhere: On the CPU as well, by Triton's interpreter.

    Returns:
        The root; None where the tensors are not all on one CUDA device, or this machine has no Triton.

    Raises:
        DataError: A dtype is not supported.
    """
    devices = {tensor.device for tensor in state.values()}
    if len(devices) != 1 or not (anywhere or next(iter(devices)).type == "cuda"):
        return None
    try:
        from counterfoil_core.kernels.cuda.sha256 import leaf_hashes
    except ImportError:
        return None
    found = leaf_hashes(list(state.values()), CHUNK_BYTES)
    return root_of_leaves(
        {
            name: (str(tensor.dtype).removeprefix("torch."), tuple(tensor.shape), leaves)
            for (name, tensor), leaves in zip(state.items(), found, strict=True)
        }
    )
