"""What the last checkpoint of a run leaves out where its order lets it: the optimizer's slots, bound by their records.

The state root of the last step is over all tensors of the state, so the run is judged as any other. Whoever wants to
train on needs the slots, and a run that leaves them out cannot give them. docs/bundle-format.md, section 19.
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass

from counterfoil_core.base import canonical
from counterfoil_core.base.digest import Digest
from counterfoil_core.base.dtypes import STATE_DTYPES
from counterfoil_core.base.errors import BundleError
from counterfoil_core.base.fields import Fields
from counterfoil_core.base.sentence import say
from counterfoil_core.commit.merkle import leaf_hash

AVERAGE = "average"
"""The slot in which an order that asks for it keeps the average of each parameter."""


def is_slot(name: str, state: Collection[str]) -> bool:
    """Whether a state tensor is a slot of the optimizer, ``slot:parameter``, and none of the module's."""
    return name.partition(":")[2] in state


def slots_to_leave_out(state: Collection[str]) -> frozenset[str]:
    """Return which tensors of a state a last checkpoint of the weights lacks: the slots, without averages of weights.

    Args:
        state: The names of the state's tensors.
    """
    return frozenset(name for name in state if is_slot(name, state) and name.partition(":")[0] != AVERAGE)


@dataclass(frozen=True)
class LeftOut:
    """A tensor that a checkpoint leaves out: its record, of which its digest is taken."""

    dtype: str  #: Dtype name.
    shape: tuple[int, ...]  #: Shape.
    digest: Digest  #: Tensor digest.


def read_left_out(data: bytes, held: Collection[str]) -> dict[str, LeftOut]:
    """Read ``/run/left_out`` of a stranger's.

    Args:
        data: What it holds.
        held: The names of the tensors that the last checkpoint holds.

    Returns:
        What is left out, by name.

    Raises:
        BundleError: It is no list of records, or they are not of slots of the tensors that are held.
    """
    try:
        listed = canonical.decode(data)
    except canonical.CanonicalError as error:
        raise BundleError(
            say("What the last checkpoint leaves out is not written properly."), detail=str(error)
        ) from error
    if not isinstance(listed, list):
        raise BundleError(say("What the last checkpoint leaves out is not written properly."))
    found: dict[str, LeftOut] = {}
    for item in listed:
        fields = Fields(item, say("record of a tensor that is left out"), BundleError)
        name, dtype, shape = fields.take("name", str), fields.take("dtype", str), fields.take("shape", list)
        fields.digest("chunks")
        fields.end()
        lengths = all(type(length) is int and 0 <= length < 2**40 for length in shape)
        if dtype not in STATE_DTYPES or not lengths or len(shape) > 16:
            raise BundleError(say("The record of a tensor that is left out is of no tensor of a state."))
        found[name] = LeftOut(dtype, tuple(shape), leaf_hash(canonical.encode(item)))
    names = [item["name"] for item in listed]
    if names != sorted(set(names), key=str.encode):
        raise BundleError(say("The tensors that the last checkpoint leaves out are not sorted, or named twice."))
    if slots_to_leave_out({*names, *held}) != set(names):
        raise BundleError(say("The last checkpoint leaves out what is no slot of a tensor that it holds."))
    return found
