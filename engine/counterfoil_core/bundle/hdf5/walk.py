"""Follows a file from its root and lists what it holds, checking every structure before it is used.

Level by level, so that neither recursion nor the order of reading is the file's to choose, and so that the checksums
of a level are computed together. No data are read: where they lie is checked, and that nothing lies there twice.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from counterfoil_core.base.errors import BundleError
from counterfoil_core.base.sentence import say
from counterfoil_core.bundle.hdf5.dense import read_members
from counterfoil_core.bundle.hdf5.format import (
    CONTINUATION,
    MAX_BLOCKS,
    MAX_MESSAGES,
    MOST_ZEROS,
    SUPERBLOCK_BYTES,
    DatasetHeader,
    DatasetInfo,
    GroupHeader,
    HeaderMessage,
    check_start,
    check_times,
    header_lengths,
    parse_continuation,
    parse_messages,
    parse_object,
    parse_superblock,
)
from counterfoil_core.bundle.hdf5.names import NamedAddress, Names
from counterfoil_core.bundle.hdf5.source import UNDEFINED, ByteSource, check_sums

_PEEK_BYTES = 512
"""What is read of an object header at first; most are shorter."""
_AT_ONCE = 4096
"""So many objects are read together."""
_MAX_SEEN = 4096
"""How many headers are remembered to recognize others by, for each place of the address."""
_PREFIX_BYTES = 8
"""What tells the length of most headers."""
_BEGIN_BYTES = 14
"""So much of a header's beginning tells, mostly, where the address stands: it reaches to the number of axes."""


@dataclass(frozen=True)
class StructureLimits:
    """How large a file's structure may be."""

    objects: int = 200_000  #: Groups and datasets in all.
    depth: int = 8  #: Levels below the root.


class StoredDataset(NamedTuple):
    """A dataset, and where its data lie in the file, in one piece; UNDEFINED when it has none or they are left out."""

    info: DatasetInfo
    offset: int

    @property
    def left_out(self) -> bool:
        """Whether it has elements, all of them zeros that do not lie in the file."""
        return self.offset == UNDEFINED and self.info.data_bytes > 0


@dataclass(frozen=True)
class Inventory:
    """Every object of a file."""

    #: The datasets right in each group, by path of the group (the root is ``/``) and by name, sorted.
    groups: Mapping[str, Mapping[str, StoredDataset]]
    attributes: tuple[bytes, ...]  #: The attribute messages of the root.

    def find(self, path: str) -> StoredDataset | None:
        """Return the dataset of this path, if there is one."""
        group, _, name = path.rpartition("/")
        return self.groups.get(group or "/", {}).get(name)


_Object = tuple[str, str, int]
"""An object that a link leads to: the path of its group without the last slash, its name, its address."""


def walk(source: ByteSource, name: str, limits: StructureLimits | None = None) -> Inventory:
    """List every object of a file.

    Args:
        source: The file's bytes.
        name: What kind of file it should be, for sentences.
        limits: Sizes to allow.

    Raises:
        BundleError: The file is not HDF5 as Counterfoil writes it, is damaged, or is larger than allowed.
    """
    check_start(source.peek(0, SUPERBLOCK_BYTES) if source.size else b"", name)
    start = source.take(0, SUPERBLOCK_BYTES)
    check_sums([start])
    return _Walk(source, limits or StructureLimits()).run(parse_superblock(start, source.size))


class _Walk:
    """One walk over one file."""

    def __init__(self, source: ByteSource, limits: StructureLimits) -> None:
        self._source = source
        self._limits = limits
        self._addresses: set[int] = set()
        self._names = Names()
        self._groups: dict[str, dict[str, StoredDataset]] = {}
        self._attributes: tuple[bytes, ...] = ()
        # Lengths of the first blocks of headers that begin so.
        self._lengths: dict[bytes, int] = {}
        # Headers of datasets that were read, without the address of the data, by where that address stands; and the
        # places to look at in a header that begins so.
        self._seen: dict[int, dict[bytes, DatasetInfo]] = {}
        self._places: dict[bytes, dict[int, None]] = {}
        # Bytes of zeros that are left out.
        self._zeros = 0

    def run(self, root: int) -> Inventory:
        level: list[_Object] = [("", "", root)]
        self._addresses.add(root)
        depth = 0
        while level:
            groups: list[tuple[str, GroupHeader]] = []
            count = len(self._addresses)
            for first in range(0, len(level), _AT_ONCE):
                some = self._read_objects(level[first : first + _AT_ONCE])
                # Before more is read than any bundle holds.
                count += sum(len(header.links) for _, header in some)
                self._check_count(count)
                groups += some
            depth += 1
            dense = [(path, *header.dense) for path, header in groups if header.dense]
            more = iter(read_members(self._source, self._names, dense, self._limits.objects - len(self._addresses)))
            level = []
            for path, header in groups:
                links = next(more) if header.dense else [self._names.read(body, path) for body in header.links]
                if links and depth > self._limits.depth:
                    raise BundleError(say("The file's groups are nested more than {0} deep.", self._limits.depth))
                level += self._members(links, path)
        self._source.check_disjoint()
        groups_found = {path: {name: found[name] for name in sorted(found)} for path, found in self._groups.items()}
        return Inventory(groups_found, self._attributes)

    def _members(self, links: Sequence[NamedAddress], path: str) -> list[_Object]:
        """Check that none of a group's members was met before, nor two of them have one name."""
        self._check_count(len(self._addresses) + len(links))
        before = len(self._addresses)
        self._addresses.update([address for _, address in links])
        if len(self._addresses) != before + len(links):
            raise BundleError(say("Something in {0} is a second name for another object, which is not allowed.", path))
        if len({name for name, _ in links}) != len(links):
            raise BundleError(say("{0} holds two objects of the same name.", path))
        parent = path if path != "/" else ""
        return [(parent, name, address) for name, address in links]

    def _check_count(self, objects: int) -> None:
        if objects > self._limits.objects:
            raise BundleError(say("The file holds more than {0} objects.", self._limits.objects))

    def _read_objects(self, objects: Sequence[_Object]) -> list[tuple[str, GroupHeader]]:
        """Read the headers of some objects: note the datasets, return the groups."""
        blocks = self._first_blocks(objects)
        check_sums(blocks)
        groups: list[tuple[str, GroupHeader]] = []
        datasets: list[tuple[_Object, StoredDataset]] = []
        continued = []
        for item, block in zip(objects, blocks, strict=True):
            known = self._recognize(block)
            if known:
                datasets.append((item, known))
                continue
            path = _path(item)
            messages = parse_messages(block, header_lengths(block, path)[0], path)
            if any(message.kind == CONTINUATION for message in messages):
                continued.append((item, block, messages))
                continue
            header = parse_object(messages, path)
            check_times(block, path)
            if isinstance(header, GroupHeader):
                groups.append((path, header))
            else:
                self._remember(block, header)
                datasets.append((item, StoredDataset(header.info, header.address)))
        whole = self._continue([(_path(item), messages) for item, _, messages in continued])
        for (item, block, _), messages in zip(continued, whole, strict=True):
            header = parse_object(messages, _path(item))
            check_times(block, _path(item))
            if isinstance(header, GroupHeader):
                groups.append((_path(item), header))
            else:
                datasets.append((item, StoredDataset(header.info, header.address)))
        for path, header in groups:
            self._note_group(path, header)
        self._note_datasets(datasets)
        return groups

    def _first_blocks(self, objects: Sequence[_Object]) -> list[bytes]:
        """Return the first block of the header of each object."""
        blocks = []
        lengths = []
        peeked = self._source.peek_all([address for _, _, address in objects], _PEEK_BYTES)
        for item, block in zip(objects, peeked, strict=True):
            length = self._lengths.get(block[:_PREFIX_BYTES])
            if length is None:
                prefix, length = header_lengths(block, _path(item))
                if prefix <= _PREFIX_BYTES:
                    self._lengths[block[:_PREFIX_BYTES]] = length
            if length > len(block):
                block = self._source.peek(item[2], length)
            blocks.append(block[:length])
            lengths.append(length)
        self._source.claim_metadata([address for _, _, address in objects], lengths)
        if list(map(len, blocks)) != lengths:
            raise BundleError(say("The file became shorter while it was read."))
        return blocks

    def _continue(self, objects: Sequence[tuple[str, list[HeaderMessage]]]) -> list[list[HeaderMessage]]:
        """Return all messages of objects whose headers have more than one block, without the continuations."""
        found: list[list[HeaderMessage]] = [[] for _ in objects]
        counts = [1] * len(objects)
        pending = [(number, messages) for number, (_, messages) in enumerate(objects)]
        while pending:
            ahead = []
            for number, messages in pending:
                path = objects[number][0]
                for message in messages:
                    if message.kind == CONTINUATION:
                        ahead.append((number, *parse_continuation(message.body, path)))
                        counts[number] += 1
                    else:
                        found[number].append(message)
                if counts[number] > MAX_BLOCKS:
                    raise BundleError(say("{0} has an object header of more than {1} blocks.", path, MAX_BLOCKS))
                if len(found[number]) > MAX_MESSAGES:
                    raise BundleError(say("{0} has an object header of more than {1} messages.", path, MAX_MESSAGES))
            blocks = self._source.take_all([(address, length) for _, address, length in ahead])
            check_sums(blocks)
            if any(not block.startswith(b"OCHK") for block in blocks):
                raise BundleError(say("The file is damaged: a block of an object header lacks its mark."))
            pending = [
                (number, parse_messages(block, 4, objects[number][0]))
                for (number, _, _), block in zip(ahead, blocks, strict=True)
            ]
        return found

    def _note_group(self, path: str, header: GroupHeader) -> None:
        self._groups[path] = {}
        if path == "/":
            self._attributes = () if header.more_attributes else header.attributes
        elif header.attributes or header.more_attributes:
            raise BundleError(say("{0} has an attribute, and only the root of a file may have one.", path))

    def _note_datasets(self, datasets: Sequence[tuple[_Object, StoredDataset]]) -> None:
        if "/" not in self._groups:
            raise BundleError(say("The root of the file is not a group."))
        self._zeros += sum(stored.info.data_bytes for _, stored in datasets if stored.left_out)
        if self._zeros > MOST_ZEROS * self._source.size:
            raise BundleError(
                say(
                    "The file declares {0} bytes of zeros that it does not hold; one of its size may leave out {1}.",
                    self._zeros,
                    MOST_ZEROS * self._source.size,
                )
            )
        # One of 100,000, so no property is asked: what was left out has no address.
        held = [one for one in datasets if one[1].info.data_bytes and one[1].offset != UNDEFINED]
        outside = self._source.claim(
            [stored.offset for _, stored in held], [stored.info.data_bytes for _, stored in held]
        )
        if outside is not None:
            raise BundleError(say("{0} has its data outside the file.", _path(held[outside][0])))
        for (group, name, _), stored in datasets:
            self._groups[group or "/"][name] = stored

    def _recognize(self, block: bytes) -> StoredDataset | None:
        """Return what a header says if one was read that differs from it only in where the data lie."""
        for place in self._places.get(block[:_BEGIN_BYTES], ()):
            info = self._seen[place].get(block[:place] + block[place + 8 : -4])
            if info:
                found = StoredDataset(info, int.from_bytes(block[place : place + 8], "little"))
                # Whether data may be left out is written elsewhere in the header.
                return None if found.left_out else found
        return None

    def _remember(self, block: bytes, header: DatasetHeader) -> None:
        seen = self._seen.setdefault(header.place, {})
        if len(seen) < _MAX_SEEN:
            seen[block[: header.place] + block[header.place + 8 : -4]] = header.info
            self._places.setdefault(block[:_BEGIN_BYTES], {})[header.place] = None


def _path(item: _Object) -> str:
    return f"{item[0]}/{item[1]}"
