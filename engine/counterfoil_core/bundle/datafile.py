"""Reads a data file: arrays that an order names by digest and does not hold.

The arrays may be larger than memory. They are hashed once before use, piece by piece; rows are read when a step needs
them, and every 16 KiB chunk that is read is compared with the hash of before, so that a file that changes under a
running replay is noticed and nobody is accused of what the file did.
"""

from __future__ import annotations

import os
from collections.abc import Generator, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager

import numpy as np
import numpy.typing as npt

from counterfoil_core.base.arrays import Array
from counterfoil_core.base.cancel import CancelToken
from counterfoil_core.base.digest import DIGEST_BYTES
from counterfoil_core.base.dtypes import tensor_bytes
from counterfoil_core.base.errors import BundleError, CommitmentError, GivenFileError, RefusedError
from counterfoil_core.base.plaintext import quote
from counterfoil_core.base.sentence import say
from counterfoil_core.bundle import layout
from counterfoil_core.bundle.hdf5.format import DTYPES
from counterfoil_core.bundle.kind import DATA_FILE
from counterfoil_core.bundle.schema import ArraySpec, OrderManifest
from counterfoil_core.bundle.steady import SteadyFile
from counterfoil_core.bundle.strictfile import BLOCK_BYTES, CheckedFile, bytes_of, row_bytes
from counterfoil_core.commit.merkle import MerkleTree, leaf_hash
from counterfoil_core.commit.state import CHUNK_BYTES, ChunkProof, StreamedDigest

_REMEDY = say("Ask the client for the data file that was written together with the order.")
Checking = Generator[tuple[int, int], None, "dict[str, CheckedRows]"]
"""Yields the bytes hashed so far and their total; returns the arrays."""


def _missing_data(manifest: OrderManifest) -> BundleError:
    """Return the error that says that an order needs a data file and none was given."""
    return BundleError(
        say(
            "The order keeps {0} in a data file, {1}, and none was given.",
            _named(manifest.outside),
            quote(str(manifest.data_file)),
        ),
        remedy=say(
            "Give it with --data FILE, or choose it in the window. The client wrote it together with the order."
        ),
    )


def open_data_file(manifest: OrderManifest, path: str | os.PathLike[str] | None, stack: ExitStack) -> DataFile | None:
    """Open the data file of an order; :meth:`DataFile.check` must follow. None where the order keeps no data outside.

    Args:
        manifest: The order's manifest.
        path: The file, as the user gives it.
        stack: Keeps it open.

    Raises:
        BundleError: The order needs one and none was given, or it is damaged.
        GivenFileError: There is no such file, or it may not be read.
    """
    if not manifest.outside:
        return None
    if path is None:
        raise _missing_data(manifest)
    return stack.enter_context(DataFile.open(path))


@contextmanager
def a_slip_of_the_giver() -> Iterator[None]:
    """What is wrong with a data file is no fault of an order's or a run's: the order says which data it needs.

    Raises:
        GivenFileError: No data file was given, or it is damaged, or not the one that the order names.
    """
    try:
        yield
    except (GivenFileError, RefusedError) as error:
        raise GivenFileError(error.sentence, role="data", remedy=error.remedy, detail=error.detail) from error


def _named(specs: Mapping[str, ArraySpec]) -> str:
    names = ", ".join(map(repr, sorted(specs)))
    return say("its data arrays {0}", names) if len(specs) > 1 else say("its data array {0}", names)


class DataFile(CheckedFile):
    """An open data file; use it as a context manager, from one thread. Made by :meth:`open`."""

    KIND = DATA_FILE

    def __init__(self, file: SteadyFile) -> None:
        """Check an open file; raises as :class:`CheckedFile`."""
        super().__init__(file)
        groups = self._inventory.groups
        strange = sorted(groups.keys() - {"/", layout.ARRAYS}) + [f"/{name}" for name in groups["/"]]
        if strange or layout.ARRAYS not in groups:
            what = (
                say("holds {0}, which its format does not know", strange[0])
                if strange
                else say("lacks {0}", layout.ARRAYS)
            )
            raise BundleError(say("The data file {0}.", what))

    @classmethod
    def open(cls, path: str | os.PathLike[str]) -> DataFile:
        """Open a data file and check its structure.

        Raises:
            BundleError: The file cannot be read, is no data file, or breaks a rule of docs/bundle-format.md.
        """
        try:
            return super().open(path)
        except BundleError as error:
            raise BundleError(
                say("The data file {0} cannot be used. {1}", os.fspath(path), error.sentence),
                remedy=error.remedy or _REMEDY,
                detail=error.detail,
            ) from error

    def check(self, manifest: OrderManifest, cancel: CancelToken | None = None) -> Checking:
        """Check the arrays that an order keeps outside against their digests; others in the file are ignored.

        Args:
            manifest: The order's manifest; the digests lead to its data root, which the reader of the order checks.
            cancel: Looked at between pieces.

        Yields:
            Bytes done and their total, from 0 on.

        Returns:
            The arrays by name, whose rows are read on demand.

        Raises:
            BundleError: An array is missing, or has another dtype or shape than the order says.
            CommitmentError: An array differs from what the order commits to.
            CancelledError: ``cancel`` was set.
        """
        specs = dict(sorted(manifest.outside.items()))
        for name, spec in specs.items():
            self._compare(name, spec)
        total = sum(tensor_bytes(spec.dtype, spec.shape) for spec in specs.values())
        done = 0
        arrays = {}
        yield done, total
        for name, spec in specs.items():
            digest = StreamedDigest(name, spec.dtype, spec.shape)
            for piece in self._pieces(f"{layout.ARRAYS}/{name}", cancel):
                digest.add(piece)
                done += len(piece)
                yield done, total
            found, leaves = digest.finish()
            if found != spec.digest:
                self.file.check_unchanged()  # one that is still being copied looks like another
                raise CommitmentError(
                    say("The data array {0} in {1} differs from what the order commits to.", repr(name), self.path),
                    remedy=_REMEDY,
                )
            arrays[name] = CheckedRows(self, name, spec, leaves)
        return arrays

    def _compare(self, name: str, spec: ArraySpec) -> None:
        stored = self._inventory.find(f"{layout.ARRAYS}/{name}")
        if stored is None:
            raise BundleError(
                say("The data file {0} lacks the array {1}, which the order names.", self.path, repr(name)),
                remedy=_REMEDY,
            )
        info = stored.info
        if (info.dtype, info.shape) != (spec.dtype, spec.shape) or not spec.shape:
            raise BundleError(
                say(
                    "The data array {0} in {1} is {2} of shape {3}; the order says {4} of shape {5}.",
                    repr(name),
                    self.path,
                    info.dtype,
                    list(info.shape),
                    spec.dtype,
                    list(spec.shape),
                ),
                remedy=_REMEDY,
            )

    def _rows(self, name: str, first: int, count: int) -> memoryview:
        """Read some rows of an array as little-endian bytes."""
        return bytes_of(self._read(f"{layout.ARRAYS}/{name}", first, count))

    def read_checked(self, name: str, spec: ArraySpec, leaves: bytes, first: int, count: int) -> Array:
        """Read rows of an array that was checked before, and compare every chunk they touch with its leaf hash.

        Args:
            name: The array.
            spec: Its dtype and shape in the order's manifest.
            leaves: The leaf hashes of its 16 KiB chunks, 32 bytes each, as the check found them.
            first: The first row.
            count: How many rows.

        Returns:
            The rows, ``[count, *spec.shape[1:]]``.

        Raises:
            FileChangedError: The file holds other bytes by now.
        """
        width = row_bytes(spec.dtype, spec.shape)
        begin, end = first * width, (first + count) * width
        start = begin // CHUNK_BYTES
        found = self.read_chunks(name, spec, leaves, range(start, -(-end // CHUNK_BYTES)))
        rows = np.frombuffer(found[begin - start * CHUNK_BYTES : end - start * CHUNK_BYTES], DTYPES[spec.dtype])
        return rows.reshape(count, *spec.shape[1:])

    def read_chunks(self, name: str, spec: ArraySpec, leaves: bytes, chunks: range) -> memoryview:
        """Read neighbouring chunks of an array that was checked before, and compare each with its leaf hash.

        Args:
            name: The array.
            spec: Its dtype and shape in the order's manifest.
            leaves: The leaf hashes of all its chunks, 32 bytes each, as the check found them.
            chunks: Which chunks.

        Returns:
            Their bytes; behind them there may be more, up to the end of the last row that was read.

        Raises:
            FileChangedError: The file holds other bytes by now.
        """
        width = row_bytes(spec.dtype, spec.shape)
        # Whole rows that cover whole chunks.
        low = chunks.start * CHUNK_BYTES // width
        high = min(spec.shape[0], -(-chunks.stop * CHUNK_BYTES // width))
        try:
            found = self._rows(name, low, high - low)[chunks.start * CHUNK_BYTES - low * width :]
        except BundleError as error:  # It could be read when it was checked.
            raise self.file.changed(say("the data array {0}", repr(name))) from error
        for number, chunk in enumerate(chunks):
            piece = found[number * CHUNK_BYTES :][:CHUNK_BYTES]
            if leaf_hash(bytes(piece)).value != leaves[DIGEST_BYTES * chunk :][:DIGEST_BYTES]:
                raise self.file.changed(say("the data array {0}", repr(name)))
        return found


class CheckedRows:
    """An array of a data file that has the digest that the order commits to; rows are read when they are asked for."""

    def __init__(self, file: DataFile, name: str, spec: ArraySpec, leaves: bytes) -> None:
        self._file = file
        self._name = name
        self._spec = spec
        self._leaves = leaves

    def __len__(self) -> int:
        return self._spec.shape[0]

    def chunk_proofs(self, chunks: Sequence[int]) -> tuple[ChunkProof, ...]:
        """Return the proofs of some chunks, in the order asked for; only these are read.

        Raises:
            ProofError: There is no such chunk.
            FileChangedError: The file is no longer what it was when it was checked.
            FileReadError: It cannot be read any more.
        """
        tree = MerkleTree.from_packed(self._leaves)
        proofs = []
        for chunk in chunks:
            path = tree.inclusion_proof(chunk)
            found = self._file.read_chunks(self._name, self._spec, self._leaves, range(chunk, chunk + 1))
            proofs.append(ChunkProof(chunk, bytes(found[:CHUNK_BYTES]), tree.root, path))
        return tuple(proofs)

    def __getitem__(self, rows: npt.NDArray[np.int64]) -> Array:
        """Return the rows of these numbers, int64 ``[n]``, in this order.

        Raises:
            FileChangedError: The file is no longer what it was when it was checked.
            FileReadError: It cannot be read any more.
        """
        result = np.empty((len(rows), *self._spec.shape[1:]), DTYPES[self._spec.dtype])
        if not result.size:
            return result
        order = np.argsort(rows, kind="stable")
        # Rows that share chunks are read together; a stretch that would be too long in memory is cut.
        width = row_bytes(self._spec.dtype, self._spec.shape)
        most = max(1, BLOCK_BYTES // width)
        position = 0
        while position < len(order):
            first = int(rows[order[position]])
            end = position + 1
            while (
                end < len(order)
                and int(rows[order[end]]) < first + most
                and (int(rows[order[end]]) - int(rows[order[end - 1]])) * width <= CHUNK_BYTES
            ):
                end += 1
            taken = order[position:end]
            count = int(rows[taken[-1]]) - first + 1
            block = self._file.read_checked(self._name, self._spec, self._leaves, first, count)
            result[taken] = block[rows[taken] - first]
            position = end
        return result
