"""Parses superblocks and object headers from their bytes: exactly what Counterfoil writes, all else refused by name.

Sections named are those of the HDF5 File Format Specification 3.0. Checksums are the caller's to check.
"""

from __future__ import annotations

import struct
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple, NoReturn

import numpy as np

from counterfoil_core.base.dtypes import CODES, tensor_bytes
from counterfoil_core.base.errors import BundleError
from counterfoil_core.base.plaintext import quote
from counterfoil_core.base.sentence import say
from counterfoil_core.bundle.hdf5.source import CHECKSUM_BYTES, UNDEFINED

SIGNATURE = b"\x89HDF\r\n\x1a\n"
"""First bytes of every HDF5 file."""
SUPERBLOCK_BYTES = 48
ADDRESS_BYTES = 8
MAX_HEADER_BYTES = 4096
"""Length of one block of an object header; none that Counterfoil writes comes near it."""
MAX_BLOCKS = 16
"""Blocks of one object header."""
MAX_MESSAGES = 32
"""Messages of one object header, empty ones too; a group of more than eight members keeps them elsewhere."""
MAX_RANK = 32
"""As in HDF5."""
MAX_DATA_BYTES = 2**62
"""A dataset's size if each of its empty axes had length one, so that no length overflows anywhere."""
MOST_ZEROS = 16
"""How many bytes of zeros a file may leave out for each byte that it has: a bound on what a small file can ask for. The
optimizers that keep most about a weight keep three numbers that start as zeros."""

DTYPES: dict[str, np.dtype[Any]] = {name: np.dtype("u1" if name == "bool" else code) for name, code in CODES.items()}
"""The numpy dtype whose memory holds exactly the bytes in the file, by the name of a type (``bool``: a bit field)."""

# Section IV.A.2.d: class and version, class bits, size; then bit offset and precision, and for floats where exponent
# and significand lie, and the exponent's bias.
_TYPES = {
    bytes.fromhex("11201f00 04000000 0000 2000 17 08 00 17 7f000000"): "float32",
    bytes.fromhex("11203f00 08000000 0000 4000 34 0b 00 34 ff030000"): "float64",
    bytes.fromhex("10080000 08000000 0000 4000"): "int64",
    bytes.fromhex("10080000 04000000 0000 2000"): "int32",
    bytes.fromhex("10000000 01000000 0000 0800"): "uint8",
    bytes.fromhex("10000000 04000000 0000 2000"): "uint32",
    bytes.fromhex("10000000 08000000 0000 4000"): "uint64",
    bytes.fromhex("14000000 01000000 0000 0800"): "bool",
}

NIL, SPACE, LINK_INFO, TYPE, OLD_FILL, FILL, LINK, EXTERNAL, LAYOUT = range(9)
GROUP_INFO, FILTERS, ATTRIBUTE, CONTINUATION, OLD_GROUP = 0x0A, 0x0B, 0x0C, 0x10, 0x11
ATTRIBUTE_INFO, REFERENCES = 0x15, 0x16
_FOREIGN = {
    OLD_FILL: say("has a fill value of the old form, which is not allowed."),
    EXTERNAL: say("keeps its data in another file, which is not allowed."),
    FILTERS: say("uses HDF5 filters, which is not allowed."),
    ATTRIBUTE: say("has an attribute, and only the root of a file may have one."),
    OLD_GROUP: say("is a group of the old form, without checksums, which is not allowed."),
    REFERENCES: say("has a second name, or is a second name for another object, which is not allowed."),
    0x0D: say("has a comment, which is not allowed."),
    0x0E: say("stores the times of its changes, which no bundle does."),
    0x0F: say("has shared messages, which is not allowed."),
    0x12: say("stores the times of its changes, which no bundle does."),
}
"""What is said of messages that some HDF5 programs write and Counterfoil does not."""
_ZEROS = b"\x03\x0a"
"""The fill value message of a dataset that may be left out: room is taken late, and what was not written is zero."""
_SHARED = 0x02
_TIMES = 0x20
"""In the flags of an object header: four times stand before the length."""
_KNOWN_FLAGS = 0x05
"""Of a message: it does not change, it is never shared. Both only concern programs that write."""
_LAYOUTS = {
    0: say("keeps its data within its header, which is not allowed."),
    2: say("keeps its data in chunks; a bundle's lie in one piece."),
    3: say("is put together from other datasets or files, which is not allowed."),
}


class HeaderMessage(NamedTuple):
    """One message of an object header."""

    kind: int  #: Its number.
    body: bytes  #: Its content.
    place: int  #: Where its content begins in the block that holds it.
    shared: bool  #: Whether the content is a reference to that of another object.


@dataclass(frozen=True)
class DatasetInfo:
    """Dtype name (``bool`` for a bit field of 8 bits) and shape of a dataset."""

    dtype: str
    shape: tuple[int, ...]

    @cached_property
    def data_bytes(self) -> int:
        """How many bytes its elements take."""
        return tensor_bytes(self.dtype, self.shape)


@dataclass(frozen=True)
class GroupHeader:
    """What the object header of a group says."""

    links: tuple[bytes, ...]  #: The content of the link messages: the members that are named in the header itself.
    dense: tuple[int, int] | None  #: Where the heap and the B-tree of the members lie, when there are many.
    attributes: tuple[bytes, ...]  #: The content of the attribute messages.
    more_attributes: bool  #: Whether there are attributes elsewhere.


@dataclass(frozen=True)
class DatasetHeader:
    """What the object header of a dataset says."""

    info: DatasetInfo  #: Dtype and shape.
    address: int  #: Where the data lie; UNDEFINED without any, and where all are zeros that were left out.
    place: int  #: Where that address stands in the block of the header that holds it.


def parse_superblock(data: bytes, file_bytes: int) -> int:
    """Return where the root group lies.

    Args:
        data: The first 48 bytes of the file, :func:`check_start` passed and the checksum checked.
        file_bytes: Length of the file.

    Raises:
        BundleError: The file has another length than it says, was not closed, or uses what no bundle does.
    """
    widths, flags, base, extension, end, root = struct.unpack_from("<HBQQQQ", data, 9)
    if widths != 0x0808 or base != 0 or extension != UNDEFINED:
        raise BundleError(say("The HDF5 superblock has settings that no bundle has."))
    if flags:
        raise BundleError(
            say("The file was not closed by the program that wrote it."), remedy=say("Ask for the file again.")
        )
    if end != file_bytes:
        raise BundleError(
            say("The file has {0} bytes; it says that it has {1}.", file_bytes, end),
            remedy=say("Ask for the whole file."),
        )
    return int(root)


def header_lengths(start: bytes, path: str) -> tuple[int, int]:
    """Return how long the prefix of an object header is, and the whole of its first block with the checksum.

    Args:
        start: What lies at its address, at least 10 bytes if the file is long enough.
        path: Of the object, for sentences.

    Raises:
        BundleError: There is no object header of version 2, or it has settings that no bundle has.
    """
    if start[:5] != b"OHDR\x02" or len(start) < 10:
        if start[:1] == b"\x01":
            raise BundleError(say("{0} has an old object header without a checksum.", path))
        raise BundleError(say("{0} has no object header of version 2.", path))
    if start[5] & ~(0x03 | _TIMES):
        raise BundleError(say("{0} has an object header with settings that no bundle has.", path))
    width = 1 << (start[5] & 0x03)
    prefix = 6 + (16 if start[5] & _TIMES else 0) + width
    total = prefix + int.from_bytes(start[prefix - width : prefix], "little") + CHECKSUM_BYTES
    if total > MAX_HEADER_BYTES:
        raise BundleError(say("{0} has an object header longer than {1} bytes.", path, MAX_HEADER_BYTES))
    return prefix, total


def check_times(block: bytes, path: str) -> None:
    """Refuse times in an object header, given its first block; raises BundleError."""
    if block[5] & _TIMES:
        raise BundleError(say("{0} stores the times of its changes, which no bundle does.", path))


def parse_messages(block: bytes, first: int, path: str) -> list[HeaderMessage]:
    """Cut a block of an object header into its messages, empty ones too.

    Args:
        block: The whole block.
        first: Where its first message begins.
        path: Of the object, for sentences.

    Raises:
        BundleError: A message does not end within the block or has flags that no bundle has, or there are too many.
    """
    messages: list[HeaderMessage] = []
    at, end = first, len(block) - CHECKSUM_BYTES
    # Up to three bytes too few for another message may be left at the end.
    while at + 4 <= end:
        kind, size, flags = struct.unpack_from("<BHB", block, at)
        at += 4
        if at + size > end:
            raise BundleError(say("The object header of {0} is damaged: a message does not end within it.", path))
        if flags & ~(_KNOWN_FLAGS | _SHARED):
            raise BundleError(say("The object header of {0} has a message with flags that no bundle has.", path))
        messages.append(HeaderMessage(kind, block[at : at + size], at, bool(flags & _SHARED)))
        at += size
        if len(messages) > MAX_MESSAGES:
            raise BundleError(say("{0} has an object header of more than {1} messages.", path, MAX_MESSAGES))
    return messages


def parse_continuation(body: bytes, path: str) -> tuple[int, int]:
    """Return address and length of the next block of an object header; raises BundleError when it can be none."""
    if len(body) != 16:
        _damaged(path, "continuation")
    address, length = struct.unpack("<QQ", body)
    if not 8 <= length <= MAX_HEADER_BYTES:
        raise BundleError(say("{0} has an object header with a block of {1} bytes, which no bundle has.", path, length))
    return address, length


def parse_object(messages: Sequence[HeaderMessage], path: str) -> GroupHeader | DatasetHeader:
    """Read an object from all messages of its header, continuations left out.

    Raises:
        BundleError: It is neither a group nor a dataset of Counterfoil's.
    """
    messages = [message for message in messages if message.kind != NIL]
    kinds = {message.kind for message in messages}
    if kinds & {LINK_INFO, LINK, GROUP_INFO, OLD_GROUP}:
        return _group(messages, path)
    if {SPACE, LAYOUT} & kinds:
        return _dataset(messages, path)
    raise BundleError(say("{0} is neither a group nor a dataset.", path))


def _group(messages: Sequence[HeaderMessage], path: str) -> GroupHeader:
    links: list[bytes] = []
    attributes: list[bytes] = []
    single: dict[int, bytes] = {}
    for message in messages:
        if message.shared:
            _foreign(path, message)
        if message.kind == LINK:
            links.append(message.body)
        elif message.kind == ATTRIBUTE:
            attributes.append(message.body)
        elif message.kind in (LINK_INFO, GROUP_INFO, ATTRIBUTE_INFO) and message.kind not in single:
            single[message.kind] = message.body
        else:
            _foreign(path, message)
    if single.get(GROUP_INFO) != b"\0\0":
        raise BundleError(say("The group {0} has settings that no bundle has.", path))
    info = single.get(LINK_INFO, b"")
    if len(info) != 18 or info[:2] != b"\0\0":
        raise BundleError(say("The group {0} tracks the order of its members, or is damaged.", path))
    heap, tree = struct.unpack("<QQ", info[2:])
    dense = None if heap == tree == UNDEFINED else (heap, tree)
    if dense and links:
        raise BundleError(say("The group {0} names its members in two places.", path))
    return GroupHeader(tuple(links), dense, tuple(attributes), _attributes_elsewhere(single.get(ATTRIBUTE_INFO), path))


def _dataset(messages: Sequence[HeaderMessage], path: str) -> DatasetHeader:
    single: dict[int, HeaderMessage] = {}
    for message in messages:
        if message.kind in single and message.kind not in _FOREIGN:
            raise BundleError(say("The object header of {0} says something twice.", path))
        single[message.kind] = message
    kind = single.get(TYPE)
    dtype = None if kind is None or kind.shared else _TYPES.get(kind.body)
    if dtype is None:
        raise BundleError(say("{0} has a data type that a bundle does not know.", path))
    for number in sorted(single):
        if number not in (SPACE, TYPE, FILL, LAYOUT, ATTRIBUTE_INFO) or single[number].shared:
            _foreign(path, single[number])
    if ATTRIBUTE_INFO in single and _attributes_elsewhere(single[ATTRIBUTE_INFO].body, path):
        raise BundleError(say("{0} has an attribute, and only the root of a file may have one.", path))
    if SPACE not in single or LAYOUT not in single:
        raise BundleError(say("{0} has no shape, or no place for its data.", path))
    layout = single[LAYOUT].body
    _check_layout(layout, path)
    shape = parse_space(single[SPACE].body, path)
    info = DatasetInfo(dtype, shape)
    if tensor_bytes(dtype, [length or 1 for length in shape]) > MAX_DATA_BYTES:
        raise BundleError(say("{0} declares the shape {1}, which is larger than any file.", path, list(shape)))
    # The value of elements that were never written: no bundle gives one, so it is zero.
    fill = single[FILL].body if FILL in single else b""
    if len(fill) != 2 or fill[0] != 3 or fill[1] & 0xE0:
        raise BundleError(say("{0} declares a fill value, or none as a bundle does.", path))
    address, data_bytes = struct.unpack_from("<QQ", layout, 2)
    if data_bytes != info.data_bytes or (data_bytes and address == UNDEFINED and fill != _ZEROS):
        raise BundleError(say("{0} declares {1} bytes of data and does not hold as many.", path, info.data_bytes))
    return DatasetHeader(info, address, single[LAYOUT].place + 2)


def parse_space(body: bytes, path: str) -> tuple[int, ...]:
    """Return the shape that a dataspace message gives (section IV.A.2.b); raises BundleError when it gives none."""
    if len(body) < 4 or body[0] != 2 or body[1] > MAX_RANK or body[2] > 1:
        raise BundleError(say("{0} has a shape of a form that no bundle has.", path))
    _, rank, with_most, kind = body[:4]
    if kind > 1 or (kind == 0) != (rank == 0):
        raise BundleError(say("{0} has no shape.", path))
    if len(body) != 4 + 8 * rank * (1 + with_most):
        _damaged(path, "dataspace")
    lengths = struct.unpack_from(f"<{rank}Q", body, 4)
    if with_most and struct.unpack_from(f"<{rank}Q", body, 4 + 8 * rank) != lengths:
        raise BundleError(say("{0} can grow, which no dataset of a bundle can.", path))
    return lengths


def parse_link(body: bytes, path: str) -> bytes:
    """Return the name that a link message gives (section IV.A.2.g); the address of the object are its last 8 bytes.

    Args:
        body: The content of the message.
        path: Of the group, for sentences.

    Raises:
        BundleError: It is no hard link, or of a form that Counterfoil does not write.
    """
    # Creation orders (flag 4) are never kept, and names are at most 200 bytes long, so their length is one byte.
    if len(body) < 4 or body[0] != 1 or body[1] & ~0x18:
        raise BundleError(say("The group {0} has a link of a form that no bundle has.", path))
    at = 2
    kind = 0
    if body[1] & 0x08:
        kind, at = body[at], at + 1
    # Names are checked to be ASCII, which is what either character set makes of them.
    at += bool(body[1] & 0x10)
    length = body[at] if at < len(body) else 0
    name = body[at + 1 : at + 1 + length]
    if kind:
        shown = name.decode("ascii", "backslashreplace")
        raise BundleError(
            say("{0} in {1} is a link to somewhere else; a bundle holds hard links only.", quote(shown), path)
        )
    if len(body) != at + 1 + length + ADDRESS_BYTES:
        _damaged(path, "link")
    return name


def parse_text_attribute(body: bytes, length: int) -> tuple[bytes, bytes] | None:
    """Return name and value of an attribute that is one fixed string of ``length`` bytes; None of any other.

    Section IV.A.2.m, version 3: sizes of name, type and space, character set, then these three and the value.
    """
    head = struct.Struct("<BBHHHB")
    if len(body) < head.size:
        return None
    version, flags, name_bytes, type_bytes, space_bytes, characters = head.unpack_from(body)
    name = body[head.size : head.size + name_bytes]
    rest = body[head.size + name_bytes :]
    # A string of fixed length, terminated or padded by zeros, ASCII; a scalar.
    forms = [b"\x13" + pad + b"\0\0" + length.to_bytes(4, "little") + b"\x02\0\0\0" for pad in (b"\0", b"\1")]
    if (version, flags, characters, type_bytes, space_bytes) != (3, 0, 0, 8, 4) or name[-1:] != b"\0":
        return None
    if rest[: len(forms[0])] not in forms or len(rest) != len(forms[0]) + length:
        return None
    return name[:-1], rest[-length:]


def _check_layout(body: bytes, path: str) -> None:
    """Refuse every layout but the contiguous one (section IV.A.2.i)."""
    if len(body) < 2 or body[0] not in (3, 4) or (body[1] == 1 and body[0] != 3):
        raise BundleError(say("{0} has a layout of a form that no bundle has.", path))
    if body[1] != 1:
        raise BundleError(say("{0} {1}", path, _LAYOUTS.get(body[1]) or say("has a layout of an unknown kind.")))
    if len(body) != 18:
        _damaged(path, "layout")


def _attributes_elsewhere(body: bytes | None, path: str) -> bool:
    if body is None:
        return False
    if len(body) != 18 or body[:2] != b"\0\0":
        raise BundleError(say("{0} tracks the order of its attributes, or is damaged.", path))
    return body[2:] != b"\xff" * 16


def _foreign(path: str, message: HeaderMessage) -> NoReturn:
    if message.shared:
        raise BundleError(say("{0} shares a part of its header with another object, which is not allowed.", path))
    if message.kind == FILTERS and message.body[:1] == b"\x02":
        number = int.from_bytes(message.body[2:4], "little")
        raise BundleError(say("{0} uses the HDF5 filter number {1}, which is not allowed.", path, number))
    if message.kind in _FOREIGN:
        raise BundleError(say("{0} {1}", path, _FOREIGN[message.kind]))
    raise BundleError(say("{0} has an HDF5 message of the type {1}, which no bundle has.", path, message.kind))


def _damaged(path: str, what: str) -> NoReturn:
    raise BundleError(say("The object header of {0} is damaged: its {1} message has the wrong length.", path, what))


def check_start(start: bytes, name: str) -> None:
    """Check the first bytes of a file.

    Args:
        start: At least nine, if the file is as long.
        name: What kind of file it should be, for sentences.

    Raises:
        BundleError: It is no HDF5 file, has a user block, or has an old superblock without checksums.
    """
    if not start.startswith(SIGNATURE):
        raise BundleError(say("The file is not a Counterfoil {0}: it is not an HDF5 file.", name))
    version = start[len(SIGNATURE)] if len(start) > len(SIGNATURE) else -1
    if version not in (2, 3):
        raise BundleError(say("The file has an HDF5 superblock of version {0}; a {1}'s is 2 or 3.", version, name))
