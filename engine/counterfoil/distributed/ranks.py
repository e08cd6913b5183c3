"""The ranks of a recording, joined: what one of them asks of the others, over gloo between CPUs and NCCL between GPUs.

Collectives carry integers and bytes in tensors; none pickles. Before one for which a rank may come late, all meet at
the store, where a wait can be stopped and a rank that is gone is found; so their time-out is short.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager

import torch
from torch import Tensor

from counterfoil.base.buckets import buckets
from counterfoil.base.joberrors import RankError
from counterfoil.distributed.direct import direct_group, started_among
from counterfoil.distributed.group import AT_ONCE, PIECE_BYTES, Collective, Group, Work
from counterfoil.distributed.launch import Launch
from counterfoil.distributed.liveness import Liveness
from counterfoil.distributed.outside import Connect
from counterfoil_core.base.cancel import CancelToken
from counterfoil_core.base.errors import CancelledError
from counterfoil_core.base.trouble import obstacle

ANSWER_SECONDS = 60.0
"""A rank that is asked for what it gave, and sends no piece of it for so long, is silent."""
_PIECE_BYTES = 4 * 2**20
"""Of what travels through the store, which takes no values of more than 8 MiB."""


class Ranks:
    """This rank among the others; made by :func:`join_ranks`.

    Attributes:
        rank: Its number, from 0.
        size: How many there are.
        device: The device on which it computes.
    """

    def __init__(self, started: Launch, device: str, group: Group, liveness: Liveness) -> None:
        self.rank, self.size, self.device = started.rank, started.size, device
        self._group, self._store, self._liveness = group, group.store, liveness
        self._under_way = list[Work]()
        self._met = self._told = 0

    # Through the store.

    def meet(self) -> None:
        """Wait until all ranks are here."""
        self._met += self.size
        with self._liveness.reaching_the_store():
            self._store.add("met", 1)
        self._liveness.wait_until(lambda: True if self._store.add("met", 0) >= self._met else None)

    def tell(self, said: bytes) -> None:
        """Tell the others something that they hear one after the other; rank 0 alone does. It does not wait."""
        self._told += 1
        with self._liveness.reaching_the_store():
            self._store.set(f"told/{self._told}", said)

    def hear(self) -> bytes:
        """Wait for what rank 0 tells next."""
        self._told += 1
        key = f"told/{self._told}"
        return self._liveness.wait_until(lambda: bytes(self._store.get(key)) if self._store.check([key]) else None)

    def say(self, said: bytes) -> None:
        """Say something for rank 0, once."""
        with self._liveness.reaching_the_store():
            self._store.set(f"said/{self.rank}", said)

    def all_said(self) -> list[bytes]:
        """Wait for what all ranks say; rank 0 alone does."""
        keys = [f"said/{rank}" for rank in range(self.size)]
        self._liveness.wait_until(lambda: True if self._store.check(keys) else None)
        return [bytes(self._store.get(key)) for key in keys]

    def hand_over(self, tensors: Mapping[str, Tensor]) -> None:
        """Hand tensors to rank 0, a piece at a time, each when the one before was taken."""
        flat, key = _flat([tensors[name] for name in sorted(tensors)]).cpu(), _sent(self.rank)
        for piece in torch.split(flat, _PIECE_BYTES):
            with self._liveness.reaching_the_store():
                self._store.set(key, _bytes(piece))
            self._liveness.wait_until(lambda: None if self._store.check([key]) else True)

    def take_from(self, rank: int, like: Mapping[str, Tensor], silent: RankError) -> dict[str, Tensor]:
        """Return the tensors that a rank hands over; rank 0 alone does. Pieces of another length are taken for zeros.

        Args:
            rank: The rank.
            like: Tensors of their names, shapes, dtypes and devices.
            silent: Raised where no piece comes for :data:`ANSWER_SECONDS`.
        """
        names, key = sorted(like), _sent(rank)
        found = {name: torch.zeros_like(like[name], memory_format=torch.contiguous_format) for name in names}
        flat = torch.zeros(sum(tensor.nbytes for tensor in found.values()), dtype=torch.uint8)
        for piece in torch.split(flat, _PIECE_BYTES):
            until = time.monotonic() + ANSWER_SECONDS

            def came(until: float = until) -> bool | None:
                if self._store.check([key]):
                    return True
                if time.monotonic() > until:
                    raise silent
                return None

            self._liveness.wait_until(came)
            with self._liveness.reaching_the_store():
                data = bytes(self._store.get(key))
                self._store.delete_key(key)
            if len(data) == len(piece):
                piece.copy_(_tensor(data))
        _unflatten(flat, list(found.values()))
        return found

    # From memory to memory.

    def begin_sum(self, total: Tensor) -> Callable[[], None]:
        """Begin to add int64 numbers of all ranks, in place; returns what waits until they are added."""
        return self._begin(Collective.SUM, total.view(-1).view(torch.uint8))

    def spread(self, tensors: Mapping[str, Tensor], source: int) -> dict[str, Tensor]:
        """Return the tensors of one rank, bit for bit.

        Args:
            tensors: Its tensors; others give some of the same names, shapes, dtypes and devices.
            source: The rank.
        """
        names, given = sorted(tensors), [tensors[name].contiguous() for name in sorted(tensors)]
        if self.rank != source:
            given = [torch.empty_like(tensor) for tensor in given]
        for bucket in buckets([tensor.nbytes for tensor in given]):
            self._spread([given[number] for number in bucket], source)
        return dict(zip(names, given, strict=True))

    def gather(self, said: bytes) -> list[bytes]:
        """Return what each rank says, at rank 0; nothing elsewhere."""
        length = torch.tensor([len(said)], dtype=torch.int64).view(torch.uint8)
        sizes = [int(row.view(torch.int64)) for row in self._rows(Collective.GATHER_ALL, length)]
        rows = self._rows(Collective.GATHER, _tensor(said.ljust(max(sizes), b"\0")))
        return [] if self.rank else [_bytes(row[:size]) for row, size in zip(rows, sizes, strict=True)]

    def all_of(self, digest: bytes) -> list[bytes]:
        """Return the bytes that each rank gives, as many from each."""
        return [_bytes(row) for row in self._rows(Collective.GATHER_ALL, _tensor(digest))]

    # Inside.

    def _rows(self, what: Collective, own: Tensor) -> Tensor:
        """Return the bytes of all ranks, where they come: uint8 ``[ranks, bytes]``."""
        found = torch.zeros(self.size, len(own), dtype=torch.uint8)
        for place in range(0, len(own), PIECE_BYTES // self.size):
            piece = own[place : place + PIECE_BYTES // self.size]
            rows = torch.zeros(self.size, len(piece), dtype=torch.uint8)
            rows[self.rank] = piece
            self._begin(what, rows)()
            if what is Collective.GATHER_ALL or not self.rank:
                found[:, place : place + len(piece)] = rows
        return found

    def _spread(self, tensors: list[Tensor], source: int) -> None:
        flat = _flat(tensors)
        self._begin(Collective.SPREAD, flat, source)()
        if self.rank != source:
            _unflatten(flat, tensors)

    def _begin(self, what: Collective, buffer: Tensor, source: int = 0) -> Callable[[], None]:
        """Begin a collective, in pieces where it is long; returns what waits for its end."""
        works = list[Work]()
        for piece in torch.split(buffer, PIECE_BYTES):
            if len(self._under_way) == AT_ONCE:
                self._end(self._under_way[0])
            with self._broken_connections():
                works.append(self._group.begin(what, piece, source))
            self._under_way.append(works[-1])

        def end() -> None:
            for work in works:
                self._end(work)

        return end

    def _end(self, work: Work) -> None:
        """Wait for a collective, unless that was done, where Ctrl-C is heard and a rank that is gone is found."""
        if work in self._under_way:
            self._liveness.wait_until(lambda: True if work.is_completed() else None)
            self._under_way.remove(work)
            with self._broken_connections():
                work.wait()

    @contextmanager
    def _broken_connections(self) -> Iterator[None]:
        """Say which rank is to blame for what gloo and NCCL raise."""
        try:
            yield
        except RuntimeError as error:
            if obstacle(error) is not None:
                raise
            found = self._liveness.blame()
            raise (found or RankError("The connection between the ranks broke.", detail=str(error))) from error


@contextmanager
def join_ranks(device: str, cancel: CancelToken | None, connect: Connect = direct_group) -> Iterator[Ranks | None]:
    """Join the other ranks that were started with this process; None where it was started alone.

    Args:
        device: Where this rank computes; ``cuda`` alone is the GPU of its number on its machine.
        cancel: Looked at while others are waited for.
        connect: Brings the ranks together.

    Raises:
        RankError: The ranks do not come together; or, as whatever the block raises, one of them is lost.
    """
    started = started_among()
    if started is None:
        yield None
        return
    if device == "cuda" and torch.cuda.is_available():
        device = f"cuda:{started.local % torch.cuda.device_count()}"
    if device.startswith("cuda:"):
        torch.cuda.set_device(device)
    with ExitStack() as stack:
        group = stack.enter_context(connect(started, device, cancel))
        liveness = Liveness(group.store, started.rank, started.size, cancel)
        stack.enter_context(liveness.alive())
        ranks = Ranks(started, device, group, liveness)
        try:
            yield ranks
        except CancelledError as error:
            # torchrun asks all to end when one has.
            found = liveness.blame() if started.rank == 0 else None
            if not isinstance(found, RankError):
                raise
            found.remedy = found.remedy or error.remedy
            raise found from error


def _sent(rank: int) -> str:
    return f"sent/{rank}"


def _flat(tensors: Sequence[Tensor]) -> Tensor:
    """Return the bytes of tensors, one behind the other: uint8 ``[bytes]``, on their device."""
    return torch.cat([tensor.contiguous().view(-1).view(torch.uint8) for tensor in tensors])


def _unflatten(flat: Tensor, tensors: Sequence[Tensor]) -> None:
    """Write bytes into contiguous tensors."""
    for tensor, found in zip(tensors, torch.split(flat, [tensor.nbytes for tensor in tensors]), strict=True):
        tensor.view(-1).view(torch.uint8).copy_(found)


def _bytes(tensor: Tensor) -> bytes:
    return tensor.numpy().tobytes()


def _tensor(said: bytes) -> Tensor:
    return torch.frombuffer(bytearray(said), dtype=torch.uint8) if said else torch.empty(0, dtype=torch.uint8)
