"""Counts what a dispute capsule hands to whoever gets it, so that it can be said before one is handed on."""

from __future__ import annotations

import os

import numpy as np

from counterfoil.audit.values.capsulecontents import HandedOut, HandedRows
from counterfoil_core.base.dtypes import tensor_bytes
from counterfoil_core.bundle.capsule import CapsuleContents, CapsuleReader, ChunkProofs
from counterfoil_core.bundle.schema import ArraySpec
from counterfoil_core.bundle.stepparts import AddedTensor, UpdateInputs
from counterfoil_core.commit.state import CHUNK_BYTES
from counterfoil_core.hearing.evidence import prove_part
from counterfoil_core.order.admission import share_rows


def count_contents(contents: CapsuleContents) -> HandedOut:
    """Count rows and tensors in a capsule.

    Args:
        contents: What it holds; its rows are proven once more, since which are needed follows from its schedule.

    Raises:
        CommitmentError: Its rows are not those of its order.
    """
    about = None if contents.shared is None else contents.shared.about
    schedule = prove_part(contents).schedule
    if isinstance(about, int):
        schedule = schedule[:, share_rows(contents.manifest, about)]
    needed = np.unique(schedule).size
    tensors = list(contents.state.values())
    if isinstance(about, UpdateInputs):
        tensors += [*about.combined.values(), *about.buffers.values()]
    if isinstance(about, AddedTensor):
        tensors += list(about.given)
    specs, part = contents.manifest.data, contents.part
    shown = {name: _shown(specs[name], proofs) for name, proofs in part.data.items()}
    shown |= {name: len(proofs) for name, proofs in part.rows.items()}
    rows = tuple(HandedRows(name, needed, count, specs[name].shape[0]) for name, count in sorted(shown.items()))
    return HandedOut(contents.agreed_step, len(tensors), sum(array.nbytes for array in tensors), rows)


def count_file_contents(path: str | os.PathLike[str]) -> HandedOut:
    """Count rows and tensors in a capsule's file; raises BundleError, GivenFileError and CommitmentError."""
    with CapsuleReader.open(path) as reader:
        return count_contents(reader.contents())


def _shown(spec: ArraySpec, proofs: ChunkProofs) -> int:
    """Return of how many rows the chunks hold a byte."""
    row, total = tensor_bytes(spec.dtype, spec.shape[1:]), spec.shape[0]
    if not row or not proofs:
        return 0
    chunks = np.array([proof.index for proof in proofs], np.int64)
    first = chunks * CHUNK_BYTES // row
    stop = np.minimum(-(-(chunks + 1) * CHUNK_BYTES // row), total)
    # Neighbouring chunks, which are ascending, may share a row.
    first[1:] = np.maximum(first[1:], stop[:-1])
    return int(np.sum(np.maximum(stop - first, 0)))
