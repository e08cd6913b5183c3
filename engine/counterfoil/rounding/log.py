"""The rounding log of a step: which decisions were close, and which way the trainer's went.

For each rounding site, in the program's order: E, the number of entries, and, if there are any, the Rice parameter and
the entries as gaps between ascending indices in Golomb-Rice code, each followed by its direction bit. Close decisions
lie at random places, so gaps are geometrically distributed and Rice coding is within a few percent of their entropy
(Golomb 1966, Rice 1979).

The bytes are specified in docs/bundle-format.md; the Merkle leaf of the step commits to their SHA-256.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numba
import numpy as np
import numpy.typing as npt

from counterfoil.errors import LogError
from counterfoil.rounding.grid import LARGEST_EXPONENT, ZERO_SCALE
from counterfoil.sentence import say

VERSION = 1
_SMALLEST_EXPONENT = -1074
_MAX_RICE = 40


@dataclass(frozen=True)
class SiteLog:
    """The log of one rounding site.

    Attributes:
        exponent: The trainer's E, or ZERO_SCALE.
        indices: int64 ``[k]``: flat C-order indices, strictly ascending.
        ups: bool ``[k]``: the trainer's direction, True towards plus infinity.
    """

    exponent: int
    indices: npt.NDArray[np.int64]
    ups: npt.NDArray[np.bool_]


def encode(sites: Sequence[SiteLog]) -> bytes:
    """Encode the log of a step."""
    out = bytearray([VERSION])
    for site in sites:
        count = len(site.indices)
        _write_number(out, _exponent_code(site.exponent))
        _write_number(out, count)
        if count:
            rice = _rice_parameter(site.indices)
            out.append(rice)
            out += _encode_entries(site.indices, site.ups.astype(np.uint8), rice).tobytes()
    return bytes(out)


def decode(data: bytes, elements: Sequence[int]) -> tuple[SiteLog, ...]:
    """Decode the log of a step, which may come from a stranger.

    Args:
        data: The bytes.
        elements: Number of elements of each rounding site, in the program's order.

    Raises:
        LogError: The bytes are truncated, have a rest, or hold an index that is out of range or out of order.
    """
    if not data or data[0] != VERSION:
        raise LogError(say("A rounding log is truncated, or not one of this format."))
    view = np.frombuffer(data, np.uint8)
    sites: list[SiteLog] = []
    position = 1
    for number, limit in enumerate(elements):
        code, position = _read_number(data, position)
        count, position = _read_number(data, position)
        exponent = _exponent_of(code)
        if exponent != ZERO_SCALE and not _SMALLEST_EXPONENT <= exponent <= LARGEST_EXPONENT:
            raise LogError(say("Rounding site {0} of a log has the impossible scale exponent {1}.", number, exponent))
        # An entry takes at least two bits, so a claim beyond that is refused before memory is set aside for it.
        if count > limit or count > 4 * (len(data) - position):
            raise LogError(say("Rounding site {0} of a log claims {1} entries for {2} elements.", number, count, limit))
        indices = np.empty(count, np.int64)
        ups = np.empty(count, np.uint8)
        if count:
            if position >= len(data) or data[position] > _MAX_RICE:
                raise LogError(say("Rounding site {0} of a log is truncated, or has no proper Rice parameter.", number))
            used = _decode_entries(view[position + 1 :], count, int(data[position]), limit, indices, ups)
            if used < 0:
                raise LogError(say("The entries of rounding site {0} of a log are {1}.", number, _PROBLEMS[used]))
            position += 1 + used
        sites.append(SiteLog(exponent, indices, ups.astype(np.bool_)))
    if position != len(data):
        raise LogError(say("A rounding log has {0} bytes too many.", len(data) - position))
    return tuple(sites)


def _exponent_code(exponent: int) -> int:
    # 0 stands for a scale of zero; small exponents of either sign have small codes (zigzag).
    if exponent == ZERO_SCALE:
        return 0
    return 1 + (2 * exponent if exponent >= 0 else -2 * exponent - 1)


def _exponent_of(code: int) -> int:
    if code == 0:
        return ZERO_SCALE
    half, odd = divmod(code - 1, 2)
    return -half - 1 if odd else half


def _write_number(out: bytearray, number: int) -> None:
    """LEB128: seven bits a byte, least significant first, the high bit set on all but the last."""
    while number >= 0x80:
        out.append(number & 0x7F | 0x80)
        number >>= 7
    out.append(number)


def _read_number(data: bytes, position: int) -> tuple[int, int]:
    number = 0
    for shift in range(0, 42, 7):
        if position >= len(data):
            break
        byte = data[position]
        position += 1
        number |= (byte & 0x7F) << shift
        if byte < 0x80:
            if byte == 0 and shift:
                break
            return number, position
    raise LogError(say("A number in a rounding log is truncated, too large, or not in its shortest form."))


def _rice_parameter(indices: npt.NDArray[np.int64]) -> int:
    # The best parameter for geometric gaps of mean g is about log2(g * ln 2).
    if not len(indices):
        return 0
    mean = (int(indices[-1]) + 1) / len(indices)
    return min(max(int(np.ceil(np.log2(max(mean, 1.0) * 0.6931471805599453))), 0), _MAX_RICE)


_TRUNCATED, _OUT_OF_RANGE, _PADDING = -1, -2, -3
_PROBLEMS = {
    _TRUNCATED: say("truncated"),
    _OUT_OF_RANGE: say("out of range"),
    _PADDING: say("followed by bits that are not zero"),
}


@numba.njit(nogil=True, cache=True)
def _encode_entries(indices: npt.NDArray[np.int64], ups: npt.NDArray[np.uint8], rice: int) -> npt.NDArray[np.uint8]:
    bits = 0
    for entry in range(indices.size):
        previous = indices[entry - 1] if entry else -1
        bits += ((indices[entry] - previous - 1) >> rice) + rice + 2
    out = np.zeros((bits + 7) // 8, np.uint8)
    at = 0
    for entry in range(indices.size):
        previous = indices[entry - 1] if entry else -1
        gap = indices[entry] - previous - 1
        for _ in range(gap >> rice):
            out[at >> 3] |= np.uint8(1 << (at & 7))
            at += 1
        at += 1
        for bit in range(rice):
            if (gap >> bit) & 1:
                out[at >> 3] |= np.uint8(1 << (at & 7))
            at += 1
        if ups[entry]:
            out[at >> 3] |= np.uint8(1 << (at & 7))
        at += 1
    return out


@numba.njit(nogil=True, cache=True)
def _decode_entries(
    data: npt.NDArray[np.uint8],
    count: int,
    rice: int,
    limit: int,
    indices: npt.NDArray[np.int64],
    ups: npt.NDArray[np.uint8],
) -> int:
    """Return the bytes used, or the negative number of a problem."""
    bits = data.size * 8
    at = 0
    previous = -1
    for entry in range(count):
        quotient = 0
        while True:
            if at >= bits:
                return _TRUNCATED
            one = (data[at >> 3] >> (at & 7)) & 1
            at += 1
            if one == 0:
                break
            quotient += 1
            if (quotient << rice) > limit:
                return _OUT_OF_RANGE
        if at + rice + 1 > bits:
            return _TRUNCATED
        gap = quotient << rice
        for bit in range(rice):
            if (data[at >> 3] >> (at & 7)) & 1:
                gap |= 1 << bit
            at += 1
        previous += gap + 1
        if previous >= limit:
            return _OUT_OF_RANGE
        indices[entry] = previous
        ups[entry] = (data[at >> 3] >> (at & 7)) & 1
        at += 1
    while at & 7:
        if (data[at >> 3] >> (at & 7)) & 1:
            return _PADDING
        at += 1
    return at // 8
