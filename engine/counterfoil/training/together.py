"""The shares of a step divided among ranks: which of them run here, and what the ranks tell each other of them."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence

from torch import Tensor

from counterfoil.base.joberrors import RankError
from counterfoil.distributed.ranks import ANSWER_SECONDS, Ranks
from counterfoil.talk.messages import FormError, decode, encode
from counterfoil.training.exchange import ShareDone
from counterfoil_core.arithmetic.combination import Given
from counterfoil_core.bundle.shares import Shares


class Together:
    """The :class:`counterfoil.training.exchange.Exchange` of a rank; rank 0 writes.

    Args:
        ranks: The ranks, no more than there are shares.
        count: How many shares a step has.

    Attributes:
        mine: The shares of this rank: neighbours, as many as others have, or one more.
    """

    def __init__(self, ranks: Ranks, count: int) -> None:
        self._ranks = ranks
        self._shares = [shares_of(rank, ranks.size, count) for rank in range(ranks.size)]
        self.mine = self._shares[ranks.rank]
        self.several = ranks.size > 1

    def known(self, mine: Sequence[bytes]) -> Sequence[bytes]:
        """One message for all tensors."""
        size, most = len(mine[0]), max(map(len, self._shares))
        self._ranks.meet()
        rows = self._ranks.all_of(b"".join(mine).ljust(most * size, b"\0"))
        return [
            row[place * size : (place + 1) * size]
            for row, shares in zip(rows, self._shares, strict=True)
            for place in range(len(shares))
        ]

    def begin_sum(self, total: Tensor) -> Callable[[], None]:
        """Integers: their order shows in no sum."""
        return self._ranks.begin_sum(total)

    def beside(self, mine: Sequence[Given]) -> Sequence[Given]:
        """From each rank its own, one after the other."""
        found = list[Given]()
        for rank, shares in enumerate(self._shares):
            for share in shares:
                # Of others only the shapes are known, which are those of any share.
                found.append(self._ranks.spread(mine[share - self.mine[0] if share in self.mine else 0], rank))
        return found

    def buffers(self, first: Mapping[str, Tensor] | None, like: Mapping[str, Tensor]) -> Mapping[str, Tensor]:
        """From rank 0, which has share 0."""
        return self._ranks.spread(like if first is None else first, 0)

    def shares(self, mine: Sequence[ShareDone]) -> Sequence[ShareDone]:
        """All at rank 0, none elsewhere."""
        said = self._ranks.gather(encode(tuple(mine)))
        every = list[ShareDone]()
        for rank, part in enumerate(said):
            try:
                given = decode(part, tuple[ShareDone, ...])
            except FormError as error:
                raise RankError(f"What rank {rank} said of its shares is in no form.", detail=str(error)) from error
            if [share.record.share for share in given] != [*self._shares[rank]]:
                raise RankError(f"Rank {rank} spoke of other shares than its own.")
            every += given
        return every

    def agree(self, holds: bool) -> bool:
        """Rank 0 tells the others."""
        if not self._ranks.rank:
            self._ranks.tell(bytes([holds]))
            return holds
        return self._ranks.hear() == bytes([True])

    def collect(self, step: int, mine: Sequence[Given]) -> Iterator[Given]:
        """Share by share through the store, so that no other rank has it in its hands, and who is silent is known."""
        if self._ranks.rank:
            for given in mine:
                self._ranks.hand_over(given)
            return
        yield from mine
        for rank, shares in enumerate(self._shares[1:], 1):
            for share in shares:
                silent = RankError(
                    f"Rank {rank} is silent: asked once more for share {share} of step {step}, it sent nothing for "
                    f"{ANSWER_SECONDS:.0f} seconds.",
                    remedy="Every step before it is kept. Look at that rank and its machine, then go on with --resume.",
                )
                yield self._ranks.take_from(rank, mine[0], silent)

    def spread(self, tensors: Given) -> dict[str, Tensor]:
        """From rank 0."""
        return self._ranks.spread(tensors, 0)

    def rank_of(self, share: int) -> int:
        """Each rank runs neighbours."""
        return next(rank for rank, mine in enumerate(self._shares) if share in mine)


def shares_of(rank: int, ranks: int, count: int) -> range:
    """Return which of the shares of a step a rank runs."""
    return range(rank * count // ranks, (rank + 1) * count // ranks)


def exchange_of(ranks: Ranks | None, shares: Shares | None) -> Together | None:
    """Return what this rank and others tell each other in a step; None for a process alone.

    Args:
        ranks: The ranks.
        shares: What the order says of shares.

    Raises:
        RankError: As :func:`check_ranks`.
    """
    return None if ranks is None else Together(ranks, check_ranks(ranks.size, shares))


def check_ranks(ranks: int, shares: Shares | None) -> int:
    """Return how many shares the ranks divide among them.

    Args:
        ranks: How many there are.
        shares: What the order says of shares.

    Raises:
        RankError: The order has none, or fewer than there are ranks.
    """
    if shares is None:
        raise RankError(
            f"The order has no shares, so {ranks} ranks cannot divide its steps.",
            remedy="Train it with one process, without torchrun or with --nproc-per-node 1. A client who wants many "
            f"devices orders shares: counterfoil order ... --shares {ranks}.",
        )
    if ranks > shares.count:
        raise RankError(
            f"The order has {shares.count} share{'s'[: shares.count > 1]} a step, and there are {ranks} ranks: "
            "some would have nothing to do.",
            remedy=f"Start {shares.count} or fewer: --nproc-per-node {shares.count}.",
        )
    return shares.count
