"""Proves that a row stands in an order's data to whoever holds the row and no other; docs/locate.md.

Data are hashed in chunks of 16 KiB, not by row. The proof of a row is therefore one of the chunks in which it lies, and
holds what else lies in them: the bytes before and behind the row. The row itself is not in it.
"""

from __future__ import annotations

import base64
import binascii
import math
from collections.abc import Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from counterfoil.delivery.location import RowArrays, RowUse
from counterfoil.delivery.signedrecords import signed_records
from counterfoil_core.base import canonical
from counterfoil_core.base.arrays import Array
from counterfoil_core.base.cancel import CancelToken
from counterfoil_core.base.canonical import CanonicalError
from counterfoil_core.base.digest import Digest
from counterfoil_core.base.dtypes import TENSOR_DTYPES, tensor_bytes
from counterfoil_core.base.errors import GivenFileError, ProofError
from counterfoil_core.base.fields import Fields
from counterfoil_core.base.sentence import say
from counterfoil_core.base.trouble import obstacles_noticed
from counterfoil_core.bundle.datafile import CheckedRows
from counterfoil_core.bundle.reader import BundleReader
from counterfoil_core.bundle.schema import ArraySpec
from counterfoil_core.bundle.strictfile import row_bytes
from counterfoil_core.commit.merkle import verify_inclusion
from counterfoil_core.commit.rows import chunks_of_rows
from counterfoil_core.commit.state import CHUNK_BYTES, ChunkProof, chunk_proofs, state_tree, verify_chunk

FORMAT = "counterfoil-row-proof-1"
MAX_BYTES = 2**26
"""Bytes of a file of proofs that is read."""
MOST_PLACES = 1_000
"""Places of rows that one file proves."""
MAX_ARRAYS = 2**20
"""Data arrays of which a proof may speak; a bundle has fewer objects."""
MAX_ELEMENTS = 2**50
"""Elements of an array of which a proof may speak."""
_MOST_AXES = 64
_MOST_HASHES = 64
_WHAT = say("row proof")


@dataclass(frozen=True)
class RowProof:
    """Proof that a row stands at a place of a data array, for whoever has the row."""

    array: str  #: Name of the data array.
    dtype: str  #: Its dtype.
    shape: tuple[int, ...]  #: Its shape; the first axis is the row.
    place: int  #: Which row it is, from 0.
    row: Digest  #: SHA-256 of the row's bytes.
    before: bytes  #: What lies in the row's first chunk before it.
    after: bytes  #: What lies in its last chunk behind it.
    chunks_root: Digest  #: Root over the chunks of the array.
    #: Inclusion proof of each chunk of the row in ``chunks_root``, lowest sibling first.
    paths: tuple[tuple[Digest, ...], ...]
    index: int  #: Which leaf of the data root the array's digest is, from 0.
    arrays: int  #: Number of its leaves, which is that of the order's data arrays.
    digest: Digest  #: Tensor digest of the array.
    array_path: tuple[Digest, ...]  #: Inclusion proof of the digest in the data root.


def prove_rows(
    uses: Sequence[RowUse],
    path: Path,
    cancel: CancelToken | None = None,
    *,
    neighbours: bool = False,
    data: Path | None = None,
) -> tuple[RowProof, ...]:
    """Prove each place of each row that was found.

    Args:
        uses: What was found.
        path: The run in which it was.
        cancel: Looked at while arrays are read.
        neighbours: Whether a proof may hold bytes of other rows.
        data: The data file, for an order that keeps arrays outside.

    Raises:
        GivenFileError: A row shares a chunk with others and ``neighbours`` is not set, no row stands anywhere, they
            stand at more than ``MOST_PLACES``, or the run or the data file is another.
        RefusedError: The run is damaged, or not what its trainer signed.
        CancelledError: ``cancel`` was set.
    """
    count = sum(len(use.places) for use in uses)
    if not count:
        raise GivenFileError(
            say("No row was found, so that there is no place to prove."),
            remedy=say("An absence has no proof: whoever holds the data can sign that it looked."),
        )
    if count > MOST_PLACES:
        raise GivenFileError(
            say("The rows stand at {0} places; at most {1} are proven at once.", count, MOST_PLACES),
            remedy=say("Ask for fewer rows."),
        )
    with obstacles_noticed(), ExitStack() as stack:
        reader = stack.enter_context(BundleReader.open(path))
        if signed_records(reader, cancel)[1] != uses[0].about:
            raise GivenFileError(say("The run is another than that in which the rows were found."))
        manifest = reader.manifest
        digests = {name: spec.digest for name, spec in manifest.data.items()}
        sought = [(use, manifest.data[use.array], place) for use in uses for place in use.places]
        if not neighbours:
            for use, spec, place in sought:
                _need_alone(use, spec.shape, place)
        tree, order = state_tree(digests), sorted(digests, key=str.encode)
        arrays = RowArrays(reader, sorted({use.array for use, _, _ in sought}), data, stack)
        arrays.check(cancel)
        proven = {
            name: _chunks(arrays.of(name, cancel), spec, [place for use, _, place in sought if use.array == name])
            for name, spec in ((name, manifest.data[name]) for name in arrays.names)
        }
        found = []
        for use, spec, place in sought:
            proofs = [proven[use.array][chunk] for chunk in _chunks_of(spec, [place])]
            whole, index = b"".join(proof.chunk for proof in proofs), order.index(use.array)
            before, after = _beside(spec.dtype, spec.shape, place)
            found.append(
                RowProof(
                    use.array, spec.dtype, spec.shape, place, use.row, whole[:before], whole[len(whole) - after :],
                    proofs[0].chunks_root, tuple(proof.path for proof in proofs), index, tree.size, spec.digest,
                    tree.inclusion_proof(index),
                )
            )  # fmt: skip
        return tuple(found)


def verify_row(proof: RowProof, row: bytes, data_root: Digest) -> None:
    """Check that a row stands at the place that a proof names, in the data of a root that is trusted.

    Args:
        proof: The proof, of a stranger.
        row: The row's little-endian bytes in C order.
        data_root: Root over the order's data arrays.

    Raises:
        ProofError: It does not, or the proof is malformed.
    """
    if len(row) != row_bytes(proof.dtype, proof.shape) or Digest.of(row) != proof.row:
        raise ProofError(say("The proof speaks of another row."))
    before, after = _beside(proof.dtype, proof.shape, proof.place)
    if (len(proof.before), len(proof.after)) != (before, after):
        raise ProofError(
            say("The row proof does not hold what lies beside row {0} of {1}.", proof.place, repr(proof.array))
        )
    verify_inclusion(proof.digest, proof.index, proof.arrays, proof.array_path, data_root)
    whole = proof.before + row + proof.after
    first = proof.place * len(row) // CHUNK_BYTES
    if len(proof.paths) != -(-len(whole) // CHUNK_BYTES):
        raise ProofError(say("The row proof has another number of chunks than row {0} lies in.", proof.place))
    for number, path in enumerate(proof.paths):
        chunk = whole[number * CHUNK_BYTES : (number + 1) * CHUNK_BYTES]
        given = ChunkProof(first + number, chunk, proof.chunks_root, path)
        verify_chunk(given, proof.array, proof.dtype, proof.shape, proof.digest)


def write_proofs(proofs: Sequence[RowProof]) -> bytes:
    """Return proofs as canonical JSON; nothing in it is signed, each leads to the root by itself."""
    return canonical.encode({"format": FORMAT, "proofs": [_to_json(proof) for proof in proofs]})


def read_proofs(data: bytes) -> tuple[RowProof, ...]:
    """Read a file of proofs of a stranger; raises ProofError where it is none."""
    try:
        value = canonical.decode(data)
    except CanonicalError as error:
        raise ProofError(say("The file of row proofs is not canonical JSON."), detail=str(error)) from error
    fields = Fields(value, _WHAT, ProofError)
    if fields.take("format", str) != FORMAT:
        raise ProofError(say("The {0} is of another format than {1}.", _WHAT, FORMAT))
    found = fields.take("proofs", list)
    fields.end()
    if not 1 <= len(found) <= MOST_PLACES:
        raise ProofError(say("A file holds the proofs of 1 to {0} places.", MOST_PLACES))
    return tuple(map(_from_json, found))


def _beside(dtype: str, shape: tuple[int, ...], place: int) -> tuple[int, int]:
    """How many bytes of its chunks lie before and behind a row."""
    row, total = row_bytes(dtype, shape), tensor_bytes(dtype, shape)
    end = (place + 1) * row
    return place * row % CHUNK_BYTES, min(total, -(-end // CHUNK_BYTES) * CHUNK_BYTES) - end


def _need_alone(use: RowUse, shape: tuple[int, ...], place: int) -> None:
    if any(_beside(use.dtype, shape, place)):
        raise GivenFileError(
            say(
                "A proof would show bytes of other rows: data are hashed in chunks of {0} bytes, and a row of {1} has "
                "{2}.",
                CHUNK_BYTES,
                repr(use.array),
                row_bytes(use.dtype, shape),
            ),
            remedy=say("Allow it with --neighbours if whoever gets the proof may see these rows."),
        )


def _chunks_of(spec: ArraySpec, places: Sequence[int]) -> list[int]:
    spans = chunks_of_rows(np.array(places, np.int64), row_bytes(spec.dtype, spec.shape))
    return [chunk for span in spans for chunk in span]


def _chunks(array: Array | CheckedRows, spec: ArraySpec, places: Sequence[int]) -> dict[int, ChunkProof]:
    """The proofs of the chunks in which some rows lie, by number; the array is hashed once."""
    chunks = _chunks_of(spec, places)
    if not chunks:
        raise GivenFileError(say("A row without any bytes has no proof."))
    proofs = array.chunk_proofs(chunks) if isinstance(array, CheckedRows) else chunk_proofs(array, chunks)
    return {proof.index: proof for proof in proofs}


def _to_json(proof: RowProof) -> dict[str, Any]:
    return {
        "array": proof.array,
        "dtype": proof.dtype,
        "shape": list(proof.shape),
        "place": proof.place,
        "row": proof.row.hex,
        "before": base64.b64encode(proof.before).decode(),
        "after": base64.b64encode(proof.after).decode(),
        "chunks": proof.chunks_root.hex,
        "paths": [[digest.hex for digest in path] for path in proof.paths],
        "index": proof.index,
        "arrays": proof.arrays,
        "digest": proof.digest.hex,
        "array_path": [digest.hex for digest in proof.array_path],
    }


def _from_json(value: Any) -> RowProof:
    fields = Fields(value, _WHAT, ProofError)
    dtype, lengths = fields.take("dtype", str), fields.take("shape", list)
    if dtype not in TENSOR_DTYPES or not _is_shape(lengths):
        raise ProofError(say("The {0} speaks of no array of rows.", _WHAT))
    shape = tuple(lengths)
    paths = fields.take("paths", list)
    if not all(isinstance(path, list) for path in paths):
        raise ProofError(say("The {0} has paths that are none.", _WHAT))
    found = RowProof(
        fields.text("array", 200), dtype, shape, fields.integer("place", 0, shape[0] - 1), fields.digest("row"),
        _bytes(fields, "before"), _bytes(fields, "after"), fields.digest("chunks"),
        tuple(_path(fields, path) for path in paths), fields.integer("index", 0, MAX_ARRAYS),
        fields.integer("arrays", 1, MAX_ARRAYS), fields.digest("digest"),
        _path(fields, fields.take("array_path", list)),
    )  # fmt: skip
    fields.end()
    return found


def _is_shape(lengths: list[Any]) -> bool:
    """Whether these are the lengths of an array with rows, whose elements a tensor digest can count."""
    if not 1 <= len(lengths) <= _MOST_AXES or not all(type(each) is int and each >= 1 for each in lengths):
        return False
    return bool(math.prod(lengths) <= MAX_ELEMENTS)


def _path(fields: Fields, path: list[Any]) -> tuple[Digest, ...]:
    if len(path) > _MOST_HASHES:
        raise ProofError(say("The {0} has a path of {1} hashes.", _WHAT, len(path)))
    return tuple(fields.as_digest(each, say("path of the {0}", _WHAT)) for each in path)


def _bytes(fields: Fields, name: str) -> bytes:
    try:
        found = base64.b64decode(fields.take(name, str), validate=True)
    except (binascii.Error, ValueError) as error:
        raise ProofError(say("The field {0} of the {1} is not base64.", repr(name), _WHAT)) from error
    if len(found) >= CHUNK_BYTES:
        raise ProofError(say("The field {0} of the {1} is longer than a chunk.", repr(name), _WHAT))
    return found
