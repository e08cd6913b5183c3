"""Follows a file from its root and lists what it holds, checking every structure before it is used.

Level by level, so that neither recursion nor the order of reading is the file's to choose, and so that the checksums
of a level are computed together. No data are read: where they lie is checked, and that nothing lies there twice.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from counterfoil.bundle.hdf5.dense import read_members
from counterfoil.bundle.hdf5.format import (
    CONTINUATION,
    MAX_BLOCKS,
    SUPERBLOCK_BYTES,
    DatasetHeader,
    DatasetInfo,
    GroupHeader,
    Link,
    Message,
    check_start,
    check_times,
    header_lengths,
    parse_continuation,
    parse_messages,
    parse_object,
    parse_superblock,
)
from counterfoil.bundle.hdf5.source import Source, check_sums
from counterfoil.bundle.schema import NAME_PATTERN
from counterfoil.errors import BundleError

_PEEK_BYTES = 512
"""What is read of an object header at first; most are shorter."""
_MAX_SEEN = 4096
"""How many headers are remembered to recognize others by, for each place of the address."""
_BEGIN_BYTES = 14
"""So much of a header's beginning tells, mostly, where the address stands: it reaches to the number of axes."""


@dataclass(frozen=True)
class Limits:
    """How large a file's structure may be.

    Attributes:
        objects: Groups and datasets in all.
        depth: Levels below the root.
    """

    objects: int = 200_000
    depth: int = 8


class StoredDataset(NamedTuple):
    """A dataset, and where its data lie in the file, in one piece; UNDEFINED when it has none."""

    info: DatasetInfo
    offset: int


@dataclass(frozen=True)
class Inventory:
    """Every object of a file.

    Attributes:
        groups: The datasets right in each group, by path of the group (the root is ``/``) and by name, sorted.
        attributes: The attribute messages of the root.
    """

    groups: Mapping[str, Mapping[str, StoredDataset]]
    attributes: tuple[bytes, ...]

    def find(self, path: str) -> StoredDataset | None:
        """Return the dataset of this path, if there is one."""
        group, _, name = path.rpartition("/")
        return self.groups.get(group or "/", {}).get(name)


class _Object(NamedTuple):
    """An object that a link leads to."""

    group: str
    name: str
    address: int

    @property
    def path(self) -> str:
        return f"{self.group}/{self.name}"


def walk(source: Source, name: str, limits: Limits | None = None) -> Inventory:
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
    return _Walk(source, limits or Limits()).run(parse_superblock(start, source.size))


class _Walk:
    """One walk over one file."""

    def __init__(self, source: Source, limits: Limits) -> None:
        self._source = source
        self._limits = limits
        self._addresses: set[int] = set()
        self._names: dict[bytes, str] = {}
        self._groups: dict[str, dict[str, StoredDataset]] = {}
        self._attributes: tuple[bytes, ...] = ()
        # Headers of datasets that were read, without the address of the data, by where that address stands; and the
        # places to look at in a header that begins so.
        self._seen: dict[int, dict[bytes, DatasetInfo]] = {}
        self._places: dict[bytes, dict[int, None]] = {}

    def run(self, root: int) -> Inventory:
        self._note([Link(b"", root)], "/")
        level = [_Object("", "", root)]
        depth = 0
        while level:
            groups = self._read_level(level)
            depth += 1
            dense = [(path, *header.dense) for path, header in groups if header.dense]
            room = self._limits.objects - len(self._addresses)
            more = iter(read_members(self._source, dense, room))
            level = []
            for path, header in groups:
                links = next(more) if header.dense else header.links
                if links and depth > self._limits.depth:
                    raise BundleError(f"The file's groups are nested more than {self._limits.depth} deep.")
                level += self._members(links, path)
        self._source.check_disjoint()
        groups_found = {path: dict(sorted(members.items())) for path, members in self._groups.items()}
        return Inventory(groups_found, self._attributes)

    def _members(self, links: Sequence[Link], path: str) -> list[_Object]:
        """Check the names of a group's members, and that none of them was met before."""
        self._note(links, path)
        parent = path if path != "/" else ""
        members = [
            _Object(parent, self._names.get(link.name) or self._name(link.name, path), link.address) for link in links
        ]
        if len({member.name for member in members}) != len(members):
            raise BundleError(f"{path} holds two objects of the same name.")
        return members

    def _note(self, links: Sequence[Link], path: str) -> None:
        if len(self._addresses) + len(links) > self._limits.objects:
            raise BundleError(f"The file holds more than {self._limits.objects} objects.")
        for link in links:
            if link.address in self._addresses:
                shown = link.name.decode("ascii", "backslashreplace")
                raise BundleError(f"{shown!r} in {path} is a second name for another object, which is not allowed.")
            self._addresses.add(link.address)

    def _name(self, name: bytes, path: str) -> str:
        shown = name.decode("ascii", "backslashreplace")
        if not NAME_PATTERN.fullmatch(shown) or shown in (".", ".."):
            raise BundleError(f"{path} holds an object with the name {shown!r}, which cannot stand in a bundle.")
        self._names[name] = shown
        return shown

    def _read_level(self, level: Sequence[_Object]) -> list[tuple[str, GroupHeader]]:
        """Read the headers of all objects of a level: note the datasets, return the groups."""
        blocks = [self._first_block(item) for item in level]
        check_sums(blocks)
        groups = []
        continued = []
        for item, block in zip(level, blocks, strict=True):
            known = self._recognize(block)
            if known:
                self._dataset(item, known)
                continue
            messages = parse_messages(block, header_lengths(block, item.path)[0], item.path)
            if any(message.kind == CONTINUATION for message in messages):
                continued.append((item, block, messages))
                continue
            header = parse_object(messages, item.path)
            check_times(block, item.path)
            if isinstance(header, GroupHeader):
                groups.append((item, header))
            else:
                self._remember(block, header)
                self._dataset(item, StoredDataset(header.info, header.address))
        whole = self._continue([(item, messages) for item, _, messages in continued])
        for (item, block, _), messages in zip(continued, whole, strict=True):
            header = parse_object(messages, item.path)
            check_times(block, item.path)
            if isinstance(header, GroupHeader):
                groups.append((item, header))
            else:
                self._dataset(item, StoredDataset(header.info, header.address))
        for item, header in groups:
            self._group(item, header)
        return [(item.path, header) for item, header in groups]

    def _first_block(self, item: _Object) -> bytes:
        start = self._source.peek(item.address, _PEEK_BYTES)
        _, length = header_lengths(start, item.path)
        self._source.claim_metadata(item.address, length)
        block = start[:length] if length <= len(start) else self._source.peek(item.address, length)
        if len(block) != length:
            raise BundleError("The file became shorter while it was read.")
        return block

    def _continue(self, objects: Sequence[tuple[_Object, list[Message]]]) -> list[list[Message]]:
        """Return all messages of objects whose headers have more than one block, without the continuations."""
        found: list[list[Message]] = [[] for _ in objects]
        counts = [1] * len(objects)
        pending = [(number, messages) for number, (_, messages) in enumerate(objects)]
        while pending:
            ahead = []
            for number, messages in pending:
                path = objects[number][0].path
                for message in messages:
                    if message.kind == CONTINUATION:
                        ahead.append((number, *parse_continuation(message.body, path)))
                        counts[number] += 1
                    else:
                        found[number].append(message)
                if counts[number] > MAX_BLOCKS:
                    raise BundleError(f"{path} has an object header of more than {MAX_BLOCKS} blocks.")
            blocks = [self._source.take(address, length) for _, address, length in ahead]
            check_sums(blocks)
            if any(not block.startswith(b"OCHK") for block in blocks):
                raise BundleError("The file is damaged: a block of an object header lacks its mark.")
            pending = [
                (number, parse_messages(block, 4, objects[number][0].path))
                for (number, _, _), block in zip(ahead, blocks, strict=True)
            ]
        return found

    def _group(self, item: _Object, header: GroupHeader) -> None:
        self._groups[item.path] = {}
        if item.path == "/":
            self._attributes = () if header.more_attributes else header.attributes
        elif header.attributes or header.more_attributes:
            raise BundleError(f"{item.path} has an attribute, and only the root of a file may have one.")

    def _dataset(self, item: _Object, stored: StoredDataset) -> None:
        if not item.name:
            raise BundleError("The root of the file is not a group.")
        count = stored.info.data_bytes
        if count and not self._source.claim(stored.offset, count):
            raise BundleError(f"{item.path} has its data outside the file.")
        self._groups[item.group or "/"][item.name] = stored

    def _recognize(self, block: bytes) -> StoredDataset | None:
        """Return what a header says if one was read that differs from it only in where the data lie."""
        for place in self._places.get(block[:_BEGIN_BYTES], ()):
            info = self._seen[place].get(block[:place] + block[place + 8 : -4])
            if info:
                return StoredDataset(info, int.from_bytes(block[place : place + 8], "little"))
        return None

    def _remember(self, block: bytes, header: DatasetHeader) -> None:
        seen = self._seen.setdefault(header.place, {})
        if len(seen) < _MAX_SEEN:
            seen[block[: header.place] + block[header.place + 8 : -4]] = header.info
            self._places.setdefault(block[:_BEGIN_BYTES], {})[header.place] = None
