"""A safetensors file of a stranger's (https://huggingface.co/docs/safetensors), read by nobody but this module.

The format is 8 bytes with the length of a header, the header, JSON, and the numbers. Every byte behind the header
belongs to exactly one tensor: a file with an overlap, a hole or a name that stands twice could show one model to us and
another to whoever loads it, and is refused.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from counterfoil.base.joberrors import WeightsError
from counterfoil_core.base import canonical
from counterfoil_core.base.arrays import Array
from counterfoil_core.base.sentence import say
from counterfoil_core.bundle.steady import SteadyFile, bundle_errors

MAX_HEADER = 16 * 2**20
"""Bytes of a header; one of 100,000 tensors takes about 12 MB."""
MAX_TENSORS = 200_000
MAX_AXES = 64
MAX_NAME = 1000
_LENGTH_BYTES = 8
_METADATA = "__metadata__"
_FIELDS = {"dtype", "shape", "data_offsets"}
DTYPES = {
    "F64": "<f8",
    "F32": "<f4",
    "F16": "<u2",
    "BF16": "<u2",
    "I64": "<i8",
    "I32": "<i4",
    "I16": "<i2",
    "I8": "|i1",
    "U64": "<u8",
    "U32": "<u4",
    "U16": "<u2",
    "U8": "|u1",
    "BOOL": "|u1",
    "F8_E4M3": "|u1",
    "F8_E5M2": "|u1",
}
"""The format's dtypes, each with numpy's code of what is read: bit patterns where numpy has no such numbers."""


@dataclass(frozen=True)
class StoredTensor:
    """A tensor of an open file."""

    name: str  #: Its name.
    dtype: str  #: Its dtype, as the format names it.
    shape: tuple[int, ...]  #: Its shape.
    offset: int  #: Where its bytes begin in the file.

    @property
    def elements(self) -> int:
        """Number of elements."""
        return math.prod(self.shape)

    @property
    def bytes(self) -> int:
        """Size in bytes."""
        return self.elements * np.dtype(DTYPES[self.dtype]).itemsize


@dataclass(frozen=True)
class TensorFile:
    """An open safetensors file whose header was checked."""

    file: SteadyFile  #: Its bytes.
    tensors: Mapping[str, StoredTensor]  #: What lies in it, by name.
    metadata: Mapping[str, str]  #: Texts that its writer put beside the tensors.

    def read(self, tensor: StoredTensor) -> Array:
        """Return a tensor's elements, of the dtype that :data:`DTYPES` gives.

        Raises:
            WeightsError: A truth value is neither 0 nor 1.
            FileChangedError: The file is no longer what it was.
            ObstacleError: It cannot be read, or there is no memory for it.
        """
        what = say("the tensor {0}", repr(tensor.name))
        with bundle_errors(what):
            array = np.empty(tensor.shape, DTYPES[tensor.dtype])
        self.file.read_into(tensor.offset, array.reshape(-1).view(np.uint8).data, what)
        if tensor.dtype == "BOOL":
            if array.size and int(array.max()) > 1:
                raise _refused(self.file, say("the tensor {0} has truth values other than 0 and 1", repr(tensor.name)))
            return array.view(np.bool_)
        return array


def open_tensors(file: SteadyFile) -> TensorFile:
    """Read the header of a file that is open, and check that its tensors share its bytes out.

    Raises:
        WeightsError: It is no safetensors file, or breaks a rule of the format.
    """
    length = int.from_bytes(file.read(0, _LENGTH_BYTES), "little")
    rest = file.size - _LENGTH_BYTES
    if rest < 2 or not 2 <= length <= min(rest, MAX_HEADER):
        raise _refused(file, say("its header cannot be {0} bytes long", length))
    header = file.read(_LENGTH_BYTES, length)
    if not header.startswith(b"{"):
        raise _refused(file, say("its header is not a JSON object"))
    try:
        fields = canonical.parse(header)
    except canonical.CanonicalError as error:
        raise _refused(file, say("its header cannot be used: {0}", str(error)), str(error)) from error
    metadata = fields.pop(_METADATA, {})
    if not isinstance(metadata, dict) or not all(isinstance(text, str) for text in metadata.values()):
        raise _refused(file, say("the texts of its header are not texts"))
    if len(fields) > MAX_TENSORS:
        raise _refused(file, say("it names {0} tensors, and at most {1} are read", len(fields), MAX_TENSORS))
    start = _LENGTH_BYTES + length
    tensors = {name: _tensor(file, name, value, start) for name, value in fields.items()}
    _check_bytes(file, start, tensors, {name: value["data_offsets"] for name, value in fields.items()})
    return TensorFile(file, dict(sorted(tensors.items())), metadata)


def _tensor(file: SteadyFile, name: str, value: Any, start: int) -> StoredTensor:
    if not name or len(name) > MAX_NAME or not name.isprintable():
        raise _refused(file, say("{0} is no name for a tensor", repr(name[:MAX_NAME])))
    if not isinstance(value, dict) or value.keys() != _FIELDS:
        raise _refused(file, say("what stands under {0} does not describe a tensor", repr(name)))
    dtype, shape, offsets = value["dtype"], value["shape"], value["data_offsets"]
    if not isinstance(dtype, str) or dtype not in DTYPES:
        raise _refused(file, say("the tensor {0} has the dtype {1}, which is not read", repr(name), repr(dtype)[:40]))
    if not _lengths(shape) or len(shape) > MAX_AXES:
        raise _refused(file, say("the shape of the tensor {0} is not a list of lengths", repr(name)))
    if not _lengths(offsets) or len(offsets) != 2 or offsets[0] > offsets[1]:
        raise _refused(file, say("the place of the tensor {0} is not one", repr(name)))
    tensor = StoredTensor(name, dtype, tuple(shape), start + offsets[0])
    if offsets[1] - offsets[0] != tensor.bytes:
        raise _refused(file, say("the tensor {0} has another size than its shape and dtype ask for", repr(name)))
    return tensor


def _lengths(value: Any) -> bool:
    return isinstance(value, list) and all(type(item) is int and 0 <= item < 2**63 for item in value)


def _check_bytes(
    file: SteadyFile, start: int, tensors: Mapping[str, StoredTensor], offsets: Mapping[str, list[int]]
) -> None:
    end = 0
    for name in sorted(tensors, key=lambda name: offsets[name]):
        begin = offsets[name][0]
        if begin != end:
            what = say("overlaps another") if begin < end else say("lies behind bytes that belong to none")
            raise _refused(file, say("the tensor {0} {1}", repr(name), what))
        end = offsets[name][1]
    if start + end != file.size:
        raise _refused(file, say("it ends at {0} bytes, and its tensors at {1}", file.size, start + end))


def _refused(file: SteadyFile, why: str, detail: str = "") -> WeightsError:
    return WeightsError(
        say("{0} is not a sound safetensors file: {1}.", file.path.name, why),
        remedy=say("Ask for the weights again, as safetensors files."),
        detail=detail,
    )
