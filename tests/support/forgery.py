"""Changes a recorded run after the fact; with :func:`support.jobs.sign_again` the lie is signed and consistent."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

import h5py
import numpy as np

from counterfoil.training.orderfile import load_order
from counterfoil_core.arithmetic.grid.log import SiteLog, decode, encode
from counterfoil_core.bundle.reader import BundleReader
from counterfoil_core.commit.state import state_root
from support.bundles import change
from support.jobs import Array, replace_bytes, set_row

EditLog = Callable[[list[SiteLog], Sequence[int]], Sequence[SiteLog]]


def log_of(run: Path, step: int) -> list[SiteLog]:
    """The log of one step, site by site."""
    with BundleReader.open(run) as reader:
        return list(decode(reader.log(step), [site.elements for site in load_order(reader).program.sites]))


def rewrite_log(run: Path, step: int, edit: EditLog) -> None:
    """Replace the log of one step; ``edit`` gets its sites and their numbers of elements. All other logs stay.

    The number of its entries, which nothing signed binds, is made to fit.
    """
    with BundleReader.open(run) as reader:
        elements = [site.elements for site in load_order(reader).program.sites]
        logs = [reader.log(number) for number in range(1, reader.manifest.steps + 1)]
    edited = edit(list(decode(logs[step - 1], elements)), elements)
    logs[step - 1] = encode(edited)
    set_row(run, "/run/log_entries", step - 1, np.array(sum(len(site.indices) for site in edited)))
    replace_bytes(run, "/run/log", b"".join(logs))
    change(run, "/run/log_ends", lambda ends: np.cumsum([len(log) for log in logs]).astype(ends.dtype))


def checkpoint(run: Path, step: int) -> dict[str, Array]:
    """The stored state of a step, whether or not it is the one that the run commits to."""
    with h5py.File(run, "r") as file:
        return {name: np.asarray(array[()]) for name, array in file[f"/run/checkpoints/{step:010d}"].items()}


def set_state_root(run: Path, step: int, state: Mapping[str, Array]) -> None:
    """Commit to another state; the stored one, if any, stays."""
    set_row(run, "/run/state_roots", step, np.frombuffer(state_root(state).value, np.uint8))


def store_checkpoint(run: Path, step: int, state: Mapping[str, Array]) -> None:
    """Store another state of a step, and leave the commitment to it as it was."""
    for name, array in state.items():
        change(run, f"/run/checkpoints/{step:010d}/{name}", lambda old, new=array: np.broadcast_to(new, old.shape))


def forge_checkpoint(run: Path, step: int, state: Mapping[str, Array]) -> None:
    """Store another state of a step, and commit to it."""
    store_checkpoint(run, step, state)
    set_state_root(run, step, state)
