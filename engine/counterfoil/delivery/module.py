"""Which tensors of a state are the client's module's, and how a file of the module names them."""

from __future__ import annotations

from collections.abc import Collection, Mapping

from counterfoil_core.base.errors import DataError
from counterfoil_core.base.sentence import say
from counterfoil_core.bundle.lastcheckpoint import AVERAGE, is_slot
from counterfoil_core.bundle.schema import OrderManifest


def module_tensors(state: Collection[str]) -> tuple[str, ...]:
    """Return the names of the parameters, buffers and constants among the tensors of a state, sorted."""
    return tuple(sorted(name for name in state if not is_slot(name, state)))


def saved_names(manifest: OrderManifest, state: Collection[str], *, average: bool = False) -> dict[str, str]:
    """Return under which name a file of the module holds which state tensor, sorted.

    Args:
        manifest: The order's manifest, which says what files of the module leave out.
        state: The names of the state's tensors.
        average: Take the average of each parameter that has one in place of the parameter.

    Raises:
        DataError: The averages are asked for, and the state holds none.
    """
    unsaved = frozenset() if manifest.module is None else frozenset(manifest.module.unsaved)
    names = {name: name for name in module_tensors(state) if name not in unsaved}
    if not average:
        return names
    averaged = {name: slot for name in names if (slot := f"{AVERAGE}:{name}") in state}
    if not averaged:
        raise DataError(
            say("The run keeps no average of its weights."), remedy=say("Leave --average out: its order asks for none.")
        )
    return names | averaged


def tied_names(manifest: OrderManifest) -> Mapping[str, str]:
    """Return the second names of tied tensors, each with the state tensor that it stands for."""
    return {} if manifest.module is None else manifest.module.tied
