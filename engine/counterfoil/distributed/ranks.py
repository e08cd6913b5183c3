"""The ranks of a recording, joined: what one of them asks of the others, over gloo between CPUs and NCCL between GPUs.

Collectives carry integers and bytes in tensors; none pickles. Before one for which a rank may come late, all meet at
the store, where a wait can be stopped and a rank that is gone is found; so their time-out is short.
"""

from __future__ import annotations

import os
import socket
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from datetime import timedelta
from itertools import count

import torch
import torch.distributed as dist
from torch import Tensor

from counterfoil.base.buckets import buckets
from counterfoil.base.joberrors import RankError
from counterfoil.distributed.launch import Launch, launch
from counterfoil.distributed.liveness import Liveness, Store
from counterfoil_core.base.cancel import CancelToken
from counterfoil_core.base.errors import CancelledError
from counterfoil_core.base.trouble import obstacle

# Where the environment says that the ranks' store is, and whether it is reached from here. torch waits for it as long
# as for a collective, hears no Ctrl-C meanwhile, and says at the end which call failed.

AGENT_SECONDS = 20.0
"""How long a store is tried for that torchrun keeps: it is there before the ranks are."""
RANK_0_SECONDS = 120.0
"""The same for one that rank 0 keeps, which may begin so much later than others."""
_ATTEMPT_SECONDS = 5.0
_PAUSE_SECONDS = 0.5
_NAMED = (
    "On one machine start with torchrun --standalone --local-addr 127.0.0.1. On several give torchrun --local-addr on "
    "each of them, its own address that the others reach; without torchrun set MASTER_ADDR to an address of rank 0's "
    "machine. Or have the name found, by /etc/hosts for instance."
)
_REACHED = (
    "Look whether rank 0 runs and has not failed, whether MASTER_ADDR and MASTER_PORT are those of its machine, and "
    "whether a firewall lies between."
)


@dataclass(frozen=True)
class StoreAddress:
    """Where the store is, as ``MASTER_ADDR`` and ``MASTER_PORT`` say."""

    host: str  #: Name or address of the machine.
    port: int  #: The port.
    begun: bool  #: Whether it is there already: torchrun keeps it, and not rank 0.

    def wait(self, rank: int, cancel: CancelToken | None) -> None:
        """Wait until the store can be reached.

        Args:
            rank: This rank; 0 begins the store itself where it is not there already, and needs its name alone.
            cancel: Looked at meanwhile.

        Raises:
            RankError: It cannot, and why.
            CancelledError: ``cancel`` was set.
        """
        until = time.monotonic() + (AGENT_SECONDS if self.begun else RANK_0_SECONDS)
        while (trouble := self._trouble(connects=rank > 0 or self.begun)) is not None:
            if time.monotonic() > until:
                raise self._error(trouble) from trouble
            (cancel or CancelToken()).wait(_PAUSE_SECONDS)

    def _trouble(self, *, connects: bool) -> Exception | None:
        """Return what stands between this process and the store; None where nothing does."""
        try:
            socket.getaddrinfo(self.host, self.port, type=socket.SOCK_STREAM)
            if connects:
                socket.create_connection((self.host, self.port), _ATTEMPT_SECONDS).close()
        except (OSError, UnicodeError) as error:  # the latter for what cannot be a name
            return error
        return None

    def _error(self, trouble: Exception) -> RankError:
        where, remedy = (
            f"The store by which the ranks find each other, at {self.host}:{self.port}, is not reached",
            _REACHED,
        )
        why = getattr(trouble, "strerror", None) or "nobody answers there"
        if isinstance(trouble, socket.gaierror | UnicodeError):
            why, remedy = f"no address is found for the name {self.host}", _NAMED
        elif isinstance(trouble, ConnectionRefusedError):
            why = "nobody listens there"
        return RankError(f"{where}: {why}.", remedy=remedy, detail=str(trouble))


def store_address() -> StoreAddress | None:
    """Return what the environment says of the store; None where it says nothing that could be one, as torch then says.

    torchrun's word for a store that it keeps itself is that of ``torch.distributed``.
    """
    host, port = os.environ.get("MASTER_ADDR", ""), os.environ.get("MASTER_PORT", "")
    if not host or not port.isdecimal():
        return None
    return StoreAddress(host, int(port), os.environ.get("TORCHELASTIC_USE_AGENT_STORE") == "True")


TIMEOUT = timedelta(minutes=5)
"""A collective that takes longer, though all have met for it, will not end."""

ANSWER_SECONDS = 60.0
"""A rank that is asked for what it gave, and sends no piece of it for so long, is silent."""
_PIECE_BYTES = 4 * 2**20
"""Of what travels through the store, which takes no values of more than 8 MiB."""

_RECORDINGS = count()
"""Recordings of this process so far, by which they are told apart in the store. All ranks have had as many."""


@dataclass(frozen=True)
class _Groups:
    """Who talks to whom."""

    control: dist.ProcessGroup  #: gloo, for what lies in the memory of the CPU.
    data: dist.ProcessGroup  #: For what lies on the device; the same on a CPU.

    def of(self, device: torch.device) -> dist.ProcessGroup:
        """Return the group for tensors of a device."""
        return self.control if device.type == "cpu" else self.data


class Ranks:
    """This rank among the others; made by :func:`join_ranks`.

    Attributes:
        rank: Its number, from 0.
        size: How many there are.
        device: The device on which it computes.
    """

    def __init__(self, started: Launch, device: str, groups: _Groups, store: Store, liveness: Liveness) -> None:
        self.rank, self.size, self.device = started.rank, started.size, device
        self._groups, self._store, self._liveness = groups, store, liveness
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
        group = self._groups.of(total.device)
        work = self._begin(lambda: dist.all_reduce(total, dist.ReduceOp.SUM, group, async_op=True))
        return lambda: self._end(work)

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
        sizes = [int(row) for row in self._from_all(torch.tensor([len(said)], dtype=torch.int64))]
        # gloo gathers as much from each, and lets nobody look whether a message from one to another has come.
        mine = torch.zeros(max(sizes), dtype=torch.uint8)
        mine[: len(said)] = _tensor(said)
        there = None if self.rank else [torch.empty_like(mine) for _ in range(self.size)]
        self._end(self._begin(lambda: dist.gather(mine, there, 0, self._groups.control, async_op=True)))
        return [] if there is None else [_bytes(row[:size]) for row, size in zip(there, sizes, strict=True)]

    def all_of(self, digest: bytes) -> list[bytes]:
        """Return the bytes that each rank gives, as many from each."""
        return [_bytes(row) for row in self._from_all(_tensor(digest))]

    # Inside.

    def _from_all(self, own: Tensor) -> list[Tensor]:
        found = [torch.empty_like(own) for _ in range(self.size)]
        self._end(self._begin(lambda: dist.all_gather(found, own, self._groups.control, async_op=True)))
        return found

    def _spread(self, tensors: list[Tensor], source: int) -> None:
        flat = _flat(tensors)
        group = self._groups.of(flat.device)
        self._end(self._begin(lambda: dist.broadcast(flat, source, group, async_op=True)))
        if self.rank != source:
            _unflatten(flat, tensors)

    def _begin(self, collective: Callable[[], dist.Work | None]) -> dist.Work:
        with self._broken_connections():
            work = collective()
        assert work is not None, "this process is of the group"
        return work

    def _end(self, work: dist.Work) -> None:
        """Wait for a collective, where Ctrl-C is heard and a rank that is gone is found."""
        self._liveness.wait_until(lambda: True if work.is_completed() else None)
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
def join_ranks(device: str, cancel: CancelToken | None) -> Iterator[Ranks | None]:
    """Join the other ranks that were started with this process; None where it was started alone.

    A process group that is there already is used and left as it is, as that of Ray Train.

    Args:
        device: Where this rank computes; ``cuda`` alone is the GPU of its number on its machine.
        cancel: Looked at while others are waited for.

    Raises:
        RankError: The ranks do not come together; or, as whatever the block raises, one of them is lost.
    """
    started = _started()
    if started is None:
        yield None
        return
    if device == "cuda" and torch.cuda.is_available():
        device = f"cuda:{started.local % torch.cuda.device_count()}"
    if device.startswith("cuda:"):
        torch.cuda.set_device(device)
    with ExitStack() as stack:
        store = stack.enter_context(_store(started.rank, cancel))
        liveness = Liveness(store, started.rank, started.size, cancel)
        stack.enter_context(liveness.alive())
        ranks = Ranks(started, device, stack.enter_context(_groups(device)), store, liveness)
        try:
            yield ranks
        except CancelledError as error:
            # torchrun asks all to end when one has.
            found = liveness.blame() if started.rank == 0 else None
            if not isinstance(found, RankError):
                raise
            found.remedy = found.remedy or error.remedy
            raise found from error


def _started() -> Launch | None:
    if not (dist.is_available() and dist.is_initialized()):
        return launch()
    rank, size, named = dist.get_rank(), dist.get_world_size(), launch()
    return Launch(rank, size, rank if named is None else named.local) if size > 1 else None


@contextmanager
def _store(rank: int, cancel: CancelToken | None) -> Iterator[Store]:
    """Bring the ranks together, unless they are; returns a store of this recording."""
    ours = not dist.is_initialized()
    if ours:
        address = store_address()
        if address is not None:
            address.wait(rank, cancel)
        try:
            dist.init_process_group("gloo", timeout=TIMEOUT)
        except (RuntimeError, ValueError) as error:
            raise RankError(
                "The ranks did not come together.",
                remedy="Start all of them with torchrun, with the same --rdzv-endpoint on all machines; each must "
                "reach the others' network. Where a machine finds no address by its own name, GLOO_SOCKET_IFNAME "
                "names the interface that it is reached by.",
                detail=str(error),
            ) from error
    store = dist.distributed_c10d._get_default_store()
    yield dist.PrefixStore(f"counterfoil/{next(_RECORDINGS)}", store)  # type: ignore[attr-defined, misc]
    # Not where the block failed: to let go of a broken group may take until its time-out.
    if ours:
        dist.destroy_process_group()


@contextmanager
def _groups(device: str) -> Iterator[_Groups]:
    control = data = dist.new_group(backend="gloo", timeout=TIMEOUT)
    if device != "cpu":
        data = dist.new_group(backend="nccl", timeout=TIMEOUT)
    yield _Groups(control, data)
    for group in {id(each): each for each in (data, control)}.values():
        dist.destroy_process_group(group)


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
