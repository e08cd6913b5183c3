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
from functools import lru_cache

import numpy as np
import numpy.typing as npt

from counterfoil_core.base.errors import LogError
from counterfoil_core.base.sentence import Sentence, say
from counterfoil_core.kernels.cache import kernel
from counterfoil_core.kernels.grid import LARGEST_EXPONENT, ZERO_SCALE

VERSION = 1
_SMALLEST_EXPONENT = -1074
_MAX_RICE = 40
_NUMBER_BYTES = 6


@dataclass(frozen=True)
class SiteLog:
    """The log of one rounding site."""

    exponent: int  #: The trainer's E, or ZERO_SCALE.
    indices: npt.NDArray[np.int64]  #: int64 ``[k]``: flat C-order indices, strictly ascending.
    ups: npt.NDArray[np.bool_]  #: bool ``[k]``: the trainer's direction, True towards plus infinity.


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
    view, limits = np.frombuffer(data, np.uint8), np.array(elements, np.int64)
    exponents, counts = np.empty(len(limits), np.int64), np.empty(len(limits), np.int64)
    # An entry takes at least two bits, so a claim beyond that is refused before its memory is touched.
    room = min(_MOST_IN_A_BYTE * len(data), int(limits.sum()))
    indices, ups = np.empty(room, np.int64), np.empty(room, np.bool_)
    status, number, position = _decode(view, limits, exponents, counts, indices, ups.view(np.uint8))
    if status:
        raise LogError(_problem(status, number, exponents, counts, limits))
    if position != len(data):
        raise LogError(say("A rounding log has {0} bytes too many.", len(data) - position))
    found = int(counts.sum())
    indices, ups = indices[:found].copy(), ups[:found].copy()
    sites: list[SiteLog] = []
    start = 0
    for exponent, count in zip(exponents.tolist(), counts.tolist(), strict=True):
        end = start + count
        sites.append(SiteLog(exponent, indices[start:end], ups[start:end]) if count else _without_entries(exponent))
        start = end
    return tuple(sites)


@lru_cache(maxsize=4096)
def _without_entries(exponent: int) -> SiteLog:
    return SiteLog(exponent, np.empty(0, np.int64), np.empty(0, np.bool_))


def _exponent_code(exponent: int) -> int:
    # 0 stands for a scale of zero; small exponents of either sign have small codes (zigzag).
    if exponent == ZERO_SCALE:
        return 0
    return 1 + (2 * exponent if exponent >= 0 else -2 * exponent - 1)


def _write_number(out: bytearray, number: int) -> None:
    """LEB128: seven bits a byte, least significant first, the high bit set on all but the last."""
    while number >= 0x80:
        out.append(number & 0x7F | 0x80)
        number >>= 7
    out.append(number)


def _rice_parameter(indices: npt.NDArray[np.int64]) -> int:
    # The best parameter for geometric gaps of mean g is about log2(g * ln 2).
    if not len(indices):
        return 0
    mean = (int(indices[-1]) + 1) / len(indices)
    return min(max(int(np.ceil(np.log2(max(mean, 1.0) * 0.6931471805599453))), 0), _MAX_RICE)


_MOST_IN_A_BYTE = 4
_TRUNCATED, _OUT_OF_RANGE, _PADDING, _NUMBER, _EXPONENT, _CLAIM, _RICE = range(-1, -8, -1)
_PROBLEMS = {
    _TRUNCATED: say("truncated"),
    _OUT_OF_RANGE: say("out of range"),
    _PADDING: say("followed by bits that are not zero"),
}


def _problem(
    status: int,
    number: int,
    exponents: npt.NDArray[np.int64],
    counts: npt.NDArray[np.int64],
    limits: npt.NDArray[np.int64],
) -> Sentence:
    """Say what is wrong with the log of a site, of which as much was read as could be."""
    if status == _NUMBER:
        return say("A number in a rounding log is truncated, too large, or not in its shortest form.")
    if status == _EXPONENT:
        return say("Rounding site {0} of a log has the impossible scale exponent {1}.", number, int(exponents[number]))
    if status == _CLAIM:
        count, limit = int(counts[number]), int(limits[number])
        return say("Rounding site {0} of a log claims {1} entries for {2} elements.", number, count, limit)
    if status == _RICE:
        return say("Rounding site {0} of a log is truncated, or has no proper Rice parameter.", number)
    return say("The entries of rounding site {0} of a log are {1}.", number, _PROBLEMS[status])


@kernel(nogil=True)
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


@kernel(nogil=True)
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


@kernel(nogil=True)
def _read_number(data: npt.NDArray[np.uint8], position: int) -> tuple[int, int]:
    """Return a number and where the next one begins; a negative number where there is none in its shortest form."""
    number = 0
    for place in range(_NUMBER_BYTES):
        if position >= data.size:
            break
        byte = int(data[position])
        position += 1
        number |= (byte & 0x7F) << (7 * place)
        if byte < 0x80:
            if byte == 0 and place:
                break
            return number, position
    return -1, position


@kernel(nogil=True)
def _decode(
    data: npt.NDArray[np.uint8],
    limits: npt.NDArray[np.int64],
    exponents: npt.NDArray[np.int64],
    counts: npt.NDArray[np.int64],
    indices: npt.NDArray[np.int64],
    ups: npt.NDArray[np.uint8],
) -> tuple[int, int, int]:
    """Decode the sites of a log behind its first byte.

    Returns:
        0, or the negative number of a problem; the site that has it; the end.
    """
    position = 1
    found = 0
    for site in range(limits.size):
        code, position = _read_number(data, position)
        if code < 0:
            return _NUMBER, site, position
        count, position = _read_number(data, position)
        if count < 0:
            return _NUMBER, site, position
        half, odd = (code - 1) // 2, (code - 1) % 2
        exponent = ZERO_SCALE if code == 0 else -half - 1 if odd else half
        exponents[site], counts[site] = exponent, count
        if exponent != ZERO_SCALE and not _SMALLEST_EXPONENT <= exponent <= LARGEST_EXPONENT:
            return _EXPONENT, site, position
        if count > limits[site] or count > _MOST_IN_A_BYTE * (data.size - position):
            return _CLAIM, site, position
        if count:
            if position >= data.size or data[position] > _MAX_RICE:
                return _RICE, site, position
            end = found + count
            used = _decode_entries(
                data[position + 1 :], count, int(data[position]), int(limits[site]), indices[found:end], ups[found:end]
            )
            if used < 0:
                return used, site, position
            position += 1 + used
            found = end
    return 0, limits.size, position
