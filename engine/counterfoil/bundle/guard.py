"""The structural check of a file that may come from a stranger, before any of its data is read.

HDF5 can name other files, declare sizes that it does not hold, and load plugins. Each rule here closes one of these
ways; docs/bundle-format.md lists them. The check looks at structure only: what the data say is checked against
digests later. Whoever reads on must read through the same file id, since a path can be swapped for another file.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from counterfoil.bundle._hdf5 import DTYPES, FILE_TYPES, h5a, h5d, h5g, h5l, h5o, h5s, h5t, reading
from counterfoil.bundle.schema import CAPSULE_FORMAT_VERSION, DATA_FORMAT_VERSION, FORMAT_VERSION, NAME_PATTERN
from counterfoil.errors import BundleError

SIGNATURE = b"\x89HDF\r\n\x1a\n"
"""First bytes of every HDF5 file."""
HEADER_BYTES = 12
"""How much of the start of a file :func:`check_header` looks at."""
FORMAT_ATTRIBUTE = b"format"
"""Name of the one attribute of a file, at its root."""
FORMAT_BYTES = 32
"""Length of that attribute: ASCII, padded with zero bytes."""
_FILTERS = {1: "deflate", 2: "shuffle", 3: "fletcher32"}


@dataclass(frozen=True)
class FileKind:
    """A kind of file that Counterfoil writes.

    Attributes:
        name: What it is called, for sentences.
        prefix: What its format attribute begins with.
        version: The number behind that.
    """

    name: str
    prefix: bytes
    version: int

    @property
    def mark(self) -> bytes:
        """What its format attribute says."""
        return self.prefix + str(self.version).encode()


BUNDLE = FileKind("bundle", b"counterfoil-", FORMAT_VERSION)
CAPSULE = FileKind("capsule", b"counterfoil-capsule-", CAPSULE_FORMAT_VERSION)
DATA_FILE = FileKind("data file", b"counterfoil-data-", DATA_FORMAT_VERSION)


@dataclass(frozen=True)
class Limits:
    """How large a file's structure may be.

    Attributes:
        objects: Groups and datasets in all.
        depth: Levels below the root.
        chunk_bytes: Size of one inflated chunk.
        inflation: Size of a chunked dataset in units of what it takes on disk.
    """

    objects: int = 200_000
    depth: int = 8
    chunk_bytes: int = 16 * 2**20
    inflation: int = 16


@dataclass(frozen=True)
class DatasetInfo:
    """Dtype name (``bool`` for a bit field of 8 bits) and shape of a dataset."""

    dtype: str
    shape: tuple[int, ...]


@dataclass(frozen=True)
class Inventory:
    """Every object of a file that passed the guard.

    Attributes:
        groups: Paths of the groups; the root is ``/``.
        datasets: The datasets by path.
    """

    groups: frozenset[str]
    datasets: Mapping[str, DatasetInfo]


def check_header(header: bytes, kind: FileKind = BUNDLE) -> None:
    """Check the first bytes of a file, before libhdf5 sees it.

    Raises:
        BundleError: It is no HDF5 file, has a user block, or has an old superblock without checksums.
    """
    if not header.startswith(SIGNATURE):
        raise BundleError(f"The file is not a Counterfoil {kind.name}: it is not an HDF5 file.")
    version = header[len(SIGNATURE)] if len(header) > len(SIGNATURE) else -1
    if version not in (2, 3):
        raise BundleError(f"The file has an HDF5 superblock of version {version}; a {kind.name}'s is 2 or 3.")


def check_file(file: Any, file_bytes: int, limits: Limits | None = None, kind: FileKind = BUNDLE) -> Inventory:
    """Walk a file from its root, by hard links only, and check every object in it.

    Args:
        file: The open file id (``h5py.h5f.FileID``).
        file_bytes: Size of the file.
        limits: Sizes to allow.
        kind: What kind of file it must be.

    Raises:
        BundleError: A rule of docs/bundle-format.md is broken, or libhdf5 cannot read the structure.
    """
    with reading(f"the structure of the {kind.name}"):
        return _Walk(file, file_bytes, limits or Limits(), kind).run()


class _Walk:
    """One walk over one file."""

    def __init__(self, file: Any, file_bytes: int, limits: Limits, kind: FileKind) -> None:
        self._file = file
        self._file_bytes = file_bytes
        self._limits = limits
        self._kind = kind
        self._seen: set[tuple[int, int]] = set()
        self._groups: set[str] = set()
        self._datasets: dict[str, DatasetInfo] = {}
        self._extents: list[tuple[int, int]] = []

    def run(self) -> Inventory:
        if self._file.get_create_plist().get_userblock():
            raise BundleError(f"The {self._kind.name} has a user block in front of it, which is not allowed.")
        root = h5g.open(self._file, b"/")
        _check_format(root, self._kind)
        self._note(h5o.get_info(root), "/")
        self._groups.add("/")
        pending = [(root, "", 1)]
        while pending:
            group, path, depth = pending.pop()
            for name in self._names(group, path or "/"):
                child = f"{path}/{name.decode('ascii')}"
                if depth > self._limits.depth:
                    raise BundleError(f"The {self._kind.name}'s groups are nested more than {self._limits.depth} deep.")
                info = h5o.get_info(group, name)
                self._note(info, child)
                if info.type == h5o.TYPE_GROUP:
                    below = h5g.open(group, name)
                    self._no_attributes(below, child)
                    self._groups.add(child)
                    pending.append((below, child, depth + 1))
                elif info.type == h5o.TYPE_DATASET:
                    dataset = h5d.open(group, name)
                    self._no_attributes(dataset, child)
                    self._datasets[child] = self._dataset(dataset, child)
                else:
                    raise BundleError(f"{child} is neither a group nor a dataset.")
        self._check_extents()
        return Inventory(frozenset(self._groups), self._datasets)

    def _names(self, group: Any, path: str) -> list[bytes]:
        """List a group's members; every one must be a hard link with a plain name."""
        count = group.get_num_objs()
        if len(self._seen) + count > self._limits.objects:
            raise BundleError(f"The {self._kind.name} holds more than {self._limits.objects} objects.")
        links: list[tuple[bytes, int]] = []
        group.links.iterate(lambda name, info: links.append((name, info.type)), info=True)
        for name, kind in links:
            shown = name.decode("ascii", "backslashreplace")
            if kind != h5l.TYPE_HARD:
                raise BundleError(
                    f"{shown!r} in {path} is a link to somewhere else; a {self._kind.name} holds hard links only."
                )
            if not NAME_PATTERN.fullmatch(shown) or shown in (".", ".."):
                raise BundleError(f"{path} holds an object with the name {shown!r}, which cannot stand in a bundle.")
        names = sorted(name for name, _ in links)
        if len(set(names)) != count:
            raise BundleError(f"{path} holds two objects of the same name.")
        return names

    def _note(self, info: Any, path: str) -> None:
        identity = (info.fileno, info.addr)
        if identity in self._seen:
            raise BundleError(f"{path} is a second name for another object, which is not allowed.")
        if info.hdr.version < 2:
            raise BundleError(f"{path} has an old object header without a checksum.")
        self._seen.add(identity)

    @staticmethod
    def _no_attributes(item: Any, path: str) -> None:
        if h5a.get_num_attrs(item):
            raise BundleError(f"{path} has an attribute; only the root of a bundle has one.")

    def _dataset(self, dataset: Any, path: str) -> DatasetInfo:
        dtype = _dtype_name(dataset.get_type(), path)
        space = dataset.get_space()
        if space.get_simple_extent_type() not in (h5s.SCALAR, h5s.SIMPLE):
            raise BundleError(f"{path} has no shape.")
        shape = tuple(int(length) for length in space.get_simple_extent_dims())
        stored_bytes = math.prod(shape) * DTYPES[dtype].itemsize
        properties = dataset.get_create_plist()
        layout = properties.get_layout()
        if properties.get_external_count():
            raise BundleError(f"{path} keeps its data in another file, which is not allowed.")
        if layout == h5d.CHUNKED:
            self._chunks(dataset, properties, path, shape, stored_bytes, DTYPES[dtype].itemsize)
        elif layout in (h5d.COMPACT, h5d.CONTIGUOUS):
            if dataset.get_storage_size() != stored_bytes:
                raise BundleError(f"{path} declares {stored_bytes} bytes of data and does not hold as many.")
            if layout == h5d.CONTIGUOUS and stored_bytes:
                self._extent(dataset.get_offset(), stored_bytes, path)
        else:
            raise BundleError(f"{path} is put together from other datasets or files, which is not allowed.")
        return DatasetInfo(dtype, shape)

    def _chunks(
        self, dataset: Any, properties: Any, path: str, shape: tuple[int, ...], stored_bytes: int, itemsize: int
    ) -> None:
        chunk = properties.get_chunk()
        chunk_bytes = math.prod(chunk) * itemsize
        if chunk_bytes > self._limits.chunk_bytes:
            raise BundleError(
                f"{path} has chunks of {chunk_bytes} bytes; at most {self._limits.chunk_bytes} are allowed."
            )
        filters = [properties.get_filter(index)[0] for index in range(properties.get_nfilters())]
        for code in filters:
            if code not in _FILTERS:
                raise BundleError(
                    f"{path} uses the HDF5 filter number {code}; allowed are {', '.join(_FILTERS.values())}."
                )
        if len(set(filters)) != len(filters):
            raise BundleError(f"{path} uses the same HDF5 filter twice.")
        # Bound the declared size before the chunks are walked: a small file can declare any number of them.
        if stored_bytes > self._limits.inflation * dataset.get_storage_size() + chunk_bytes:
            raise BundleError(
                f"{path} declares {stored_bytes} bytes of data, more than {self._limits.inflation} times what it holds."
            )
        found: list[tuple[int, int]] = []
        if stored_bytes:
            dataset.chunk_iter(lambda info: found.append((info.byte_offset, info.size)))
        expected = math.prod(-(-length // step) for length, step in zip(shape, chunk, strict=True))
        if len(found) != expected:
            raise BundleError(f"{path} declares {expected} chunks and holds {len(found)}.")
        for offset, size in found:
            if not filters and size != chunk_bytes:
                raise BundleError(f"{path} has a chunk of {size} bytes instead of {chunk_bytes}.")
            self._extent(offset, size, path)

    def _extent(self, offset: int | None, size: int, path: str) -> None:
        if offset is None or not 0 <= offset <= offset + size <= self._file_bytes:
            raise BundleError(f"{path} has its data outside the file.")
        self._extents.append((offset, offset + size))

    def _check_extents(self) -> None:
        """Refuse data that is stored once and declared several times: a small file would read as a huge one."""
        self._extents.sort()
        end = 0
        for first, last in self._extents:
            if first < end:
                raise BundleError(f"Two datasets of the {self._kind.name} share the same place, which is not allowed.")
            end = last


def _dtype_name(kind: Any, path: str) -> str:
    # The class comes first: comparing says nothing about types that only look alike, and others have members.
    if not kind.committed() and kind.get_class() in (h5t.INTEGER, h5t.FLOAT, h5t.BITFIELD):
        for name, file_type in FILE_TYPES.items():
            if kind == file_type:
                return name
    raise BundleError(f"{path} has a data type that a bundle does not know.")


def _check_format(root: Any, wanted: FileKind) -> None:
    """Check the root's one attribute, which says what kind of file this is, and of which format."""
    foreign = BundleError(f"The file is not a Counterfoil {wanted.name}: it lacks the mark of one.")
    if h5a.get_num_attrs(root) != 1 or not h5a.exists(root, FORMAT_ATTRIBUTE):
        raise foreign
    attribute = h5a.open(root, FORMAT_ATTRIBUTE)
    kind = attribute.get_type()
    if kind.get_class() != h5t.STRING or kind.is_variable_str() or kind.get_size() != FORMAT_BYTES:
        raise foreign
    if attribute.get_space().get_simple_extent_type() != h5s.SCALAR:
        raise foreign
    buffer = np.empty((), f"S{FORMAT_BYTES}")
    attribute.read(buffer)
    value = bytes(buffer.item())
    if not value.startswith(BUNDLE.prefix):
        raise foreign
    found = next((kind for kind in (CAPSULE, DATA_FILE) if value.startswith(kind.prefix)), BUNDLE)
    if found is not wanted:
        raise BundleError(
            f"The file is a Counterfoil {found.name}, where a {wanted.name} is needed.",
            remedy="Give it to 'counterfoil adjudicate'." if found is CAPSULE else "",
        )
    if value != wanted.mark:
        version = value.removeprefix(wanted.prefix).decode("ascii", "backslashreplace")
        raise BundleError(
            f"The {wanted.name} has format {version}; this Counterfoil reads format {wanted.version}.",
            remedy="Use a Counterfoil of the version that wrote it.",
        )
