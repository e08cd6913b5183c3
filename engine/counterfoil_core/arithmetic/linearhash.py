"""A hash of integers that adds up as they do: what the hashes of shares come to must be that of their sum.

Of each tensor t of a step the integers q of a share w, in C order, have the hash ``sum of r_i q_i + c_w E_w`` modulo
``p = 2^127 - 1``, where E_w is the exponent of the share alone. With ``i = 4096 j + k`` the weight r_i is ``a_j b_k``.
Weights are drawn from a seed that is made of all that was sent, so nobody knows them before it is. docs/proofs.md,
"Hashes of what was added", says with what probability other integers have the same hash.

Sums are exact: with digits of 27 bits on one side and of 13 on the other, 4096 products are below ``2^52``, and
float64 adds integers below ``2^53`` without rounding, in any order.
"""

from __future__ import annotations

import hashlib
import struct
from collections.abc import Mapping, Sequence
from functools import cached_property

import numpy as np
import numpy.typing as npt
import torch
from torch import Tensor

from counterfoil_core.base.digest import Digest
from counterfoil_core.bundle.shares import HASH_BYTES, SharesRoot
from counterfoil_core.bundle.stepshares import Additions, exponents_digest
from counterfoil_core.kernels.exact.combine import combine_bits, exponents_of, is_exponent, quantised

PRIME = 2**127 - 1
_ROW = 4096
_DIGIT, _DIGITS = 27, 3
"""Bits of a digit of a sum, which has 63 with its sign, and their number."""
_WEIGHT_DIGIT, _WEIGHT_DIGITS = 13, 10
_BLOCK_ROWS = 64
"""Rows at a time, which a processor's cache holds."""
_TITLE = b"counterfoil: weights of what is added\n"


def seed_of(order: Digest, step: int, root: Digest, exponents: Digest, seen: Digest) -> bytes:
    """Return the seed of a step's weights.

    Args:
        order: The order's digest.
        step: The step.
        root: The root over the leaves of its shares.
        exponents: SHA-256 of the exponents by which they are added.
        seen: What :func:`seen_of` says of the sum.
    """
    return hashlib.sha256(
        _TITLE + order.value + struct.pack("<Q", step) + root.value + exponents.value + seen.value
    ).digest()


def seen_of(own_exponents: npt.NDArray[np.int32], sums: Mapping[str, Digest]) -> Digest:
    """Return the digest of what was seen of a sum: of what was sent for it.

    Args:
        own_exponents: int32 ``[W, tensors]``: those that each share said of itself, by the names of the tensors.
        sums: The digest of the integer sum of each tensor, as :func:`sum_digest` returns it.
    """
    return Digest.of(exponents_digest(own_exponents).value + b"".join(sums[name].value for name in sorted(sums)))


def sum_digest(total: Tensor) -> Digest:
    """Return the SHA-256 of a sum: int64, little-endian, in C order."""
    return Digest.of(np.ascontiguousarray(total.cpu().numpy(), "<i8").tobytes())


class LinearHash:
    """Hashes what is added in a step.

    Args:
        seed: As :func:`seed_of` returns it.
        names: The names of all tensors that are added.
        shares: W, the number of shares.
    """

    def __init__(self, seed: bytes, names: Sequence[str], shares: int) -> None:
        self._seed, self._shares = seed, shares
        self._places = {name: place for place, name in enumerate(sorted(names))}

    def of_sum(self, name: str, total: Tensor, own_exponents: Sequence[int]) -> int:
        """Return what the hashes of all shares must come to.

        Args:
            name: A tensor.
            total: Its integer sum, int64 of magnitude ``2^62`` at most.
            own_exponents: Its exponent in each share.
        """
        of_shares, rows = self._weights(name, total.numel())
        said = sum(weight * exponent for weight, exponent in zip(of_shares, own_exponents, strict=True))
        return (said + self._weighed(total, rows)) % PRIME

    def of_share(self, share: int, name: str, given: Tensor, exponent: int) -> int:
        """Return the hash of what is to be added of one tensor of a share.

        Args:
            share: The number of the share.
            name: The tensor.
            given: What the share gives of it: float32.
            exponent: E, by which all shares are added.

        Raises:
            ValueError: It does not fit that exponent.
        """
        of_shares, rows = self._weights(name, given.numel())
        if not is_exponent(exponent):
            raise ValueError(f"{exponent} is the exponent of no numbers")
        said = of_shares[share] * int(exponents_of([given]))
        return (said + self._weighed(quantised(given, exponent, combine_bits(self._shares)), rows, 2)) % PRIME

    def of_shares(self, share: int, given: Mapping[str, Tensor], exponents: Mapping[str, int]) -> bytes:
        """Return the hashes of all tensors of a share as they are stored; raises as :meth:`of_share`."""
        hashes = (self.of_share(share, name, given[name], exponents[name]) for name in self._places)
        return b"".join(each.to_bytes(HASH_BYTES, "little") for each in hashes)

    def _weights(self, name: str, elements: int) -> tuple[list[int], list[int]]:
        """Return c_w of each share, and a_j of each row of a tensor."""
        count = self._shares - (-elements // _ROW)
        drawn = _drawn(self._seed + struct.pack("<I", self._places[name]), count)
        return drawn[: self._shares], drawn[self._shares :]

    @cached_property
    def _columns(self) -> Tensor:
        """The digits of each b_k: float64 ``[10, 4096]``."""
        words = np.array([(weight >> 64, weight & (2**64 - 1)) for weight in _drawn(self._seed, _ROW)], np.uint64)
        bits = np.unpackbits(words.astype(">u8").view(np.uint8).reshape(_ROW, HASH_BYTES), axis=1)
        digits = np.zeros((_WEIGHT_DIGITS, _ROW))
        for place in range(_WEIGHT_DIGIT * _WEIGHT_DIGITS):
            if place < bits.shape[1]:
                digits[place // _WEIGHT_DIGIT] += bits[:, -1 - place] * 2.0 ** (place % _WEIGHT_DIGIT)
        return torch.from_numpy(digits)

    def _weighed(self, integers: Tensor, rows: Sequence[int], digits: int = _DIGITS) -> int:
        """Return the sum of integers, each times its weight; ``digits`` hold their magnitudes and a sign."""
        flat, columns = integers.reshape(-1), self._columns.to(integers.device)
        whole = flat.numel() // _ROW * _ROW
        blocks = [*torch.split(flat[:whole].view(-1, _ROW), _BLOCK_ROWS), flat[whole:].view(1, -1)]
        total, row = 0, 0
        for block in blocks if whole else blocks[1:]:
            for digit in range(digits):
                part = block >> (_DIGIT * digit)
                if digit < digits - 1:
                    part &= (1 << _DIGIT) - 1
                sums = (part.double() @ columns[:, : block.shape[1]].t()).tolist()
                for place, own in enumerate(sums):
                    value = 0
                    for each in reversed(own):
                        value = (value << _WEIGHT_DIGIT) + int(each)
                    total += rows[row + place] * (value << (_DIGIT * digit)) if block.numel() else 0
            row += len(block)
        return total % PRIME


class SignedHashes:
    """What parties signed of what they added in a step, held against what their shares give.

    Args:
        order: The order's digest.
        step: The step.
        signed: What the trainer's record of the step commits to.
        additions: What the parties signed.
        names: The names of all tensors that are added.
    """

    def __init__(
        self, order: Digest, step: int, signed: SharesRoot, additions: Additions, names: Sequence[str]
    ) -> None:
        assert signed.exponents is not None
        seed = seed_of(order, step, signed.root, signed.exponents, additions.seen)
        self._hash = LinearHash(seed, names, len(additions.hashes))
        self._hashes, self._names = additions.hashes, sorted(names)

    def others(self, share: int, given: Mapping[str, Tensor], exponents: Mapping[str, int]) -> set[str]:
        """Return the names of the tensors of which a share gives something else than its party signed that it added.

        None where nobody but the trainer answers for it.

        Args:
            share: The number of the share.
            given: What it gives of some tensors.
            exponents: Those by which these are added.
        """
        stored = self._hashes[share]
        if not stored.any():
            return set()
        found = dict(zip(self._names, read_hashes(stored.tobytes()), strict=True))
        return {name for name, tensor in given.items() if self._of(share, name, tensor, exponents) != found[name]}

    def _of(self, share: int, name: str, given: Tensor, exponents: Mapping[str, int]) -> int | None:
        try:
            return self._hash.of_share(share, name, given, exponents[name])
        except ValueError:  # it signed exponents that are not those of its share
            return None


def read_hashes(stored: bytes) -> list[int]:
    """Return hashes from their stored form, one behind the other."""
    return [int.from_bytes(stored[at : at + HASH_BYTES], "little") for at in range(0, len(stored), HASH_BYTES)]


def _drawn(seed: bytes, count: int) -> list[int]:
    """Return so many numbers of 127 bits, modulo p."""
    data = hashlib.shake_256(seed).digest(HASH_BYTES * count)
    numbers = (int.from_bytes(data[at : at + HASH_BYTES], "little") for at in range(0, len(data), HASH_BYTES))
    return [(number & PRIME) % PRIME for number in numbers]
