"""What the shares of a step give, combined, and whether every rank added what it signed for.

Whoever takes part in a sum may add anything to it. So each process hashes what it added of its shares
(:mod:`counterfoil_core.arithmetic.linearhash`), by weights that follow from what all have sent, and rank 0 adds the
hashes up. Where they are not that of the sum, each share goes straight to rank 0 and is held against its record: who
sends something else is named, and so is who sends nothing. Where nothing is added, the roots of what each process got
are compared instead. docs/many-devices.md, "A rank that lies".
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt
import torch
from torch import Tensor

from counterfoil.base.buckets import buckets
from counterfoil.base.joberrors import RankError
from counterfoil.training.exchange import Exchange, ShareDone, SignShare
from counterfoil_core.arithmetic.combination import ExactSum, Given, common_exponents, side_by_side
from counterfoil_core.arithmetic.linearhash import PRIME, LinearHash, read_hashes, seed_of, seen_of, sum_digest
from counterfoil_core.base.digest import DIGEST_BYTES, Digest
from counterfoil_core.bundle.shares import HASH_BYTES, SIGNATURE_BYTES
from counterfoil_core.bundle.stepshares import Additions, exponents_digest
from counterfoil_core.commit.merkle import MerkleTree
from counterfoil_core.commit.statedigest import root_of
from counterfoil_core.kernels.exact.combine import (
    NOT_FINITE,
    combine_bits,
    combined,
    is_exponent,
    no_shares,
    quantise_into,
)
from counterfoil_core.kernels.exact.refusals import not_finite
from counterfoil_core.order.executable import LoadedOrder
from counterfoil_core.signing.parties import Sum

# The exact sum of what ranks computed, in pieces that are still on their way.

BeginSum = Callable[[Tensor], Callable[[], None]]
"""Begins to add int64 numbers of all processes, in place; returns what waits until they are added."""


IN_FLIGHT = 3
"""Buckets that are on their way at once."""


_INT64_BYTES = 8


def exact_sum(
    shares: Sequence[dict[str, Tensor]],
    names: Sequence[str],
    exponents: Mapping[str, int],
    count: int,
    begin_sum: BeginSum,
    look: Callable[[str, Tensor], None] | None = None,
) -> dict[str, Tensor]:
    """Return the sums of all shares of a step, each rounded once to float32, tensors of a bucket at a time.

    One bucket is quantised while others are on their way, and what was added is rounded.

    Args:
        shares: What each share of this process gives; it is taken out, so that its memory is free, unless ``look``
            is given.
        names: Its names, in the order in which buckets are made of them.
        exponents: E of each tensor, of all shares.
        count: W, the number of shares in all.
        begin_sum: Adds what other processes have.
        look: Called with the name and the integer sum of each tensor, before it is rounded.

    Raises:
        NonFiniteError: A share or a sum is infinite or not a number.
    """
    if NOT_FINITE in exponents.values():
        raise not_finite()
    bits, found = combine_bits(count), dict[str, Tensor]()
    under_way = deque[tuple[list[str], Sequence[Tensor], Callable[[], None]]]()

    def finish() -> None:
        part, totals, wait = under_way.popleft()
        wait()
        for name, total in zip(part, totals, strict=True):
            found[name] = combined(total, exponents[name], bits)
            if look is not None:
                look(name, total)

    shapes = {name: shares[0][name].shape for name in names}
    for bucket in buckets([_INT64_BYTES * shapes[name].numel() for name in names]):
        part = [names[number] for number in bucket]
        lengths = [shapes[name].numel() for name in part]
        flat = no_shares((sum(lengths),), shares[0][part[0]].device)
        totals = [total.view(shapes[name]) for name, total in zip(part, torch.split(flat, lengths), strict=True)]
        for given in shares:
            for name, total in zip(part, totals, strict=True):
                quantise_into(total, given.pop(name) if look is None else given[name], exponents[name], bits)
        under_way.append((part, totals, begin_sum(flat)))
        if len(under_way) == IN_FLIGHT:
            finish()
    while under_way:
        finish()
    return {name: found[name] for name in sorted(found)}


_REMEDY = "Every step before it is kept. Let whoever runs that rank look at its program and its machine; then go on "
_REMEDY += "with --resume, without it if need be."


@dataclass(frozen=True)
class Combination:
    """What the shares of a step came to."""

    together: dict[str, Tensor]  #: What the update takes.
    exponents: Sequence[int]  #: Those of the sum; none where nothing is added.
    shares: Sequence[ShareDone]  #: All shares, at rank 0; none elsewhere.
    additions: Additions | None  #: What parties signed of the sum, at rank 0.


def combine(
    order: LoadedOrder,
    step: int,
    before: Digest | None,
    sign: SignShare | None,
    exchange: Exchange,
    given: list[dict[str, Tensor]],
    done: Sequence[ShareDone],
) -> Combination:
    """Combine what the shares of a step give.

    Args:
        order: The order.
        step: The step, from 1.
        before: The state root before it, where parties sign what their shares give.
        sign: Signs for the parties of the shares of this process, then.
        exchange: Says which these are, and hears of the others.
        given: What these shares give; taken out where nobody answers for it, so that its memory is free.
        done: The same shares, as the others hear of them.

    Raises:
        RankError: A rank sent something else than it signed for, sent nothing, or did not sign.
        NonFiniteError: A share or a sum is infinite or not a number.
    """
    shares = order.manifest.shares
    assert shares is not None
    made = (_Sum if shares.sums else _Stack)(order, step, before, sign, exchange, given, done)
    together, every = made.combine(), exchange.shares(made.said())
    for _ in range(_TRIES):
        made.check_records(every)
        if not exchange.several or exchange.agree(not every or made.holds(every)):
            return Combination(together, made.exponents, every, made.additions(every))
        together, every = made.combine_sent(every), exchange.shares(made.said())
    raise RankError(
        f"In step {step} what ranks say that they saw of the shares does not belong together, and each sent what it "
        "signed for: what travels between them is altered.",
        remedy=_REMEDY,
    )


_TRIES = 3
"""Of which the last two are by what was sent straight to rank 0; whoever says something wrong then is named, too."""


@dataclass
class _Step(ABC):
    """A step whose shares are to be combined; its fields are what :func:`combine` takes."""

    order: LoadedOrder
    step: int
    before: Digest | None
    sign: SignShare | None
    exchange: Exchange
    given: list[dict[str, Tensor]]
    done: Sequence[ShareDone]
    exponents: Sequence[int] = ()  #: Those of the sum.

    @property
    def count(self) -> int:
        """W, the number of shares."""
        assert self.order.manifest.shares is not None
        return self.order.manifest.shares.count

    @abstractmethod
    def combine(self) -> dict[str, Tensor]:
        """Combine what the shares give, together with the other ranks."""

    @abstractmethod
    def combine_sent(self, every: Sequence[ShareDone]) -> dict[str, Tensor]:
        """Combine what each rank sends to rank 0, which holds it against what it said before."""

    @abstractmethod
    def said(self) -> list[ShareDone]:
        """Return the shares of this process with what it saw of all, and what it added."""

    @abstractmethod
    def holds(self, every: Sequence[ShareDone]) -> bool:
        """Whether what all say belongs together; rank 0 knows."""

    def additions(self, every: Sequence[ShareDone]) -> Additions | None:
        """Return what parties signed of the sum, checked; raises RankError."""
        return None

    def is_as_said(self, share: ShareDone, tensors: Given) -> bool:
        """Whether what a rank says of a share, beside its record, is true of what it gives."""
        return True

    def check_records(self, every: Sequence[ShareDone]) -> None:
        """Check the records of all shares before they are kept; raises RankError, which names the rank."""
        if self.sign is not None and self.before is not None:
            for share in every:
                self.sign.signed.look_at(self.step, self.before, share.record, share.signature)
                self._check_signed(self.sign, share.record.share)

    def _check_signed(self, sign: SignShare, share: int) -> None:
        if sign.signed.problem is not None:
            raise RankError(
                f"Rank {self.exchange.rank_of(share)} gave share {share} of step {self.step} without the signature of "
                "the party that answers for it.",
                remedy="Every step before it is kept. Let whoever runs that rank look at its key and its program; then "
                "go on with --resume.",
                detail=sign.signed.problem.sentence,
            )

    def _sent(self, every: Sequence[ShareDone]) -> Iterator[dict[str, Tensor]]:
        """Yield, at rank 0, each share as its rank sends it; raises RankError where that is not what it said."""
        for share, tensors in enumerate(self.exchange.collect(self.step, self.given)):
            said = every[share]
            if root_of(tensors) != said.record.gradients or not self.is_as_said(said, tensors):
                raise RankError(
                    f"Rank {self.exchange.rank_of(share)} lied in step {self.step}: what it sent of share {share} is "
                    "not what it signed for.",
                    remedy=_REMEDY,
                )
            yield dict(tensors)


class _Stack(_Step):
    """Of a step whose shares are handed on side by side: each process says the roots of what it got."""

    _seen = b""

    def combine(self) -> dict[str, Tensor]:
        return self._take(self.exchange.beside(self.given))

    def combine_sent(self, every: Sequence[ShareDone]) -> dict[str, Tensor]:
        # All of it first: whoever still sends does not hear.
        sent: Sequence[Given] = list(self._sent(every)) or [self.given[0]] * self.count
        return self._take([self.exchange.spread(tensors) for tensors in sent])

    def said(self) -> list[ShareDone]:
        return [replace(share, seen=self._seen) for share in self.done]

    def holds(self, every: Sequence[ShareDone]) -> bool:
        signed = _joined(share.record.gradients for share in every)
        return all(share.seen == signed for share in every)

    def _take(self, parts: Sequence[Given]) -> dict[str, Tensor]:
        if self.exchange.several:
            self._seen = _joined(root_of(tensors) for tensors in parts)
        return side_by_side(parts)


class _Sum(_Step):
    """Of a step whose shares are added."""

    def combine(self) -> dict[str, Tensor]:
        program = self.order.programs.of(self.step)
        self._names = sorted(program.combined)
        self._answers = self.exchange.several or self.before is not None
        own = np.stack([common_exponents([given]) for given in self.given])
        self._own, self._leaves = self._known(own)
        self._root = MerkleTree(self._leaves).root
        self.exponents = self._own.max(axis=0).tolist()
        self._named = dict(zip(self._names, self.exponents, strict=True))
        self._totals: dict[str, Tensor] = {}
        self._digests: dict[str, Digest] = {}
        # In the order in which backward gives them.
        names = sorted(program.combined, key=lambda name: program.combined[name].number)
        look = self._look if self._answers else None
        together = exact_sum(self.given, names, self._named, self.count, self.exchange.begin_sum, look)
        self._draw()
        return together

    def combine_sent(self, every: Sequence[ShareDone]) -> dict[str, Tensor]:
        adding = ExactSum(self._named, self.count)
        for tensors in self._sent(every):
            adding.add(tensors)
        like = {name: tensor.to(torch.int64) for name, tensor in self.given[0].items()}
        totals, bits = self.exchange.spread(adding.totals or like), combine_bits(self.count)
        for name, total in totals.items():
            self._look(name, total)
        self._draw()
        return {name: combined(total, self._named[name], bits) for name, total in totals.items()}

    def said(self) -> list[ShareDone]:
        return [self._said(share, given) for share, given in zip(self.done, self.given, strict=True)]

    def holds(self, every: Sequence[ShareDone]) -> bool:
        if any(each.seen != self._seed or len(each.hashes) != len(self._names) * HASH_BYTES for each in every):
            return False
        of_shares = zip(*(read_hashes(each.hashes) for each in every), strict=True)
        return all(
            sum(hashes) % PRIME == self._hash.of_sum(name, self._totals[name], own.tolist())
            for name, hashes, own in zip(self._names, of_shares, self._own.T, strict=True)
        )

    def check_records(self, every: Sequence[ShareDone]) -> None:
        for share, leaf in zip(every, self._leaves if self._answers else (), strict=self._answers and bool(every)):
            if share.record.leaf != leaf:
                raise RankError(
                    f"Rank {self.exchange.rank_of(share.record.share)} gave another record of share "
                    f"{share.record.share} of step {self.step} than all were told of, or that was altered on its way.",
                    remedy=_REMEDY,
                )
        super().check_records(every)

    def is_as_said(self, share: ShareDone, tensors: Given) -> bool:
        if share.seen != self._seed:  # it heard something else, and what it said follows from that
            return True
        number = share.record.share
        same = np.array_equal(common_exponents([tensors]), self._own[number])
        return same and share.hashes == self._hashes(number, tensors)

    def additions(self, every: Sequence[ShareDone]) -> Additions | None:
        if self.before is None or self.sign is None or not every:
            return None
        hashes = np.zeros((self.count, len(self._names), HASH_BYTES), np.uint8)
        signatures = np.zeros((self.count, SIGNATURE_BYTES), np.uint8)
        for share in every:
            number, own = share.record.share, share.hashes if share.sum_signature else b""
            self.sign.signed.look_at_addition(self._summed, number, own, share.sum_signature)
            self._check_signed(self.sign, number)
            if own:
                hashes[number] = np.frombuffer(own, np.uint8).reshape(-1, HASH_BYTES)
                signatures[number] = np.frombuffer(share.sum_signature, np.uint8)
        return Additions(self._seen, hashes, signatures)

    @property
    def _summed(self) -> Sum:
        exponents = exponents_digest(np.array(self.exponents, np.int32))
        assert self.before is not None
        return Sum(self.order.manifest.digest, self.step, self.before, self._root, exponents, self._seen)

    def _known(self, own: npt.NDArray[np.int32]) -> tuple[npt.NDArray[np.int32], Sequence[Digest]]:
        """Return the exponents of each share, int32 ``[W, tensors]``, and its leaf."""
        if not self._answers:
            return own, ()
        said = [
            share.record.leaf.value + row.astype("<i4").tobytes() for share, row in zip(self.done, own, strict=True)
        ]
        every = self.exchange.known(said)
        found = np.stack([np.frombuffer(each[DIGEST_BYTES:], "<i4") for each in every])
        for share, row in enumerate(found.tolist()):
            if not all(exponent == NOT_FINITE or is_exponent(exponent) for exponent in row):
                raise RankError(
                    f"Rank {self.exchange.rank_of(share)} lied in step {self.step}: it says of share {share} what no "
                    "numbers are like.",
                    remedy=_REMEDY,
                )
        return found, [Digest(each[:DIGEST_BYTES]) for each in every]

    def _look(self, name: str, total: Tensor) -> None:
        """Take a sum, all of it."""
        self._digests[name] = sum_digest(total)
        if self.exchange.several and 0 in self.exchange.mine:
            self._totals[name] = total

    def _draw(self) -> None:
        """Draw the weights, once all was sent."""
        if self._answers:
            self._seen = seen_of(self._own, self._digests)
            exponents = exponents_digest(np.array(self.exponents, np.int32))
            # Of all that was sent, so that ranks which heard something else are not taken for liars.
            self._seed = seed_of(self.order.manifest.digest, self.step, self._root, exponents, self._seen)
            self._hash = LinearHash(self._seed, self._names, self.count)

    def _said(self, share: ShareDone, given: Given) -> ShareDone:
        if not self._answers:
            return share
        number, hashes = share.record.share, self._hashes(share.record.share, given)
        signed = b"" if self.before is None or self.sign is None else self.sign.addition(self._summed, number, hashes)
        return replace(share, seen=self._seed, hashes=hashes, sum_signature=signed)

    def _hashes(self, share: int, given: Given) -> bytes:
        """Return the hashes of what a share gives; nothing where it does not fit what was said of it on the way."""
        try:
            return self._hash.of_shares(share, given, self._named)
        except ValueError:
            return b""


def _joined(roots: Iterable[Digest]) -> bytes:
    return Digest.of(b"".join(root.value for root in roots)).value
