"""The states that the last checkpoint leaves out, encoded for the writer."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from counterfoil_core.base import canonical
from counterfoil_core.base.arrays import Array
from counterfoil_core.commit.state import tensor_record


def encode_left_out(state: Mapping[str, Array], names: Iterable[str]) -> bytes:
    """Return what ``/run/left_out`` holds: the records of some tensors of a state, sorted by name.

    Args:
        state: The state.
        names: The names of the tensors.
    """
    records = (canonical.decode(tensor_record(name, state[name])) for name in sorted(names, key=str.encode))
    return canonical.encode(list(records))
