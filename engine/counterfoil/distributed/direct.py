"""The process group in this very process: gloo between CPUs, and NCCL between GPUs."""

from __future__ import annotations

import os
import socket
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from datetime import timedelta
from itertools import count

import torch
import torch.distributed as dist
from torch import Tensor

from counterfoil.base.joberrors import RankError
from counterfoil.distributed.group import Collective, Work
from counterfoil.distributed.launch import Launch, launch
from counterfoil.distributed.liveness import Store
from counterfoil_core.base.cancel import CancelToken

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

_RECORDINGS = count()
"""Recordings of this process so far, by which they are told apart in the store. All ranks have had as many."""


@dataclass(frozen=True)
class DirectGroup:
    """A :class:`counterfoil.distributed.group.Group` of torch."""

    store: Store  #: A store of this recording.
    rank: int  #: The number of this rank.
    size: int  #: How many there are.
    control: dist.ProcessGroup  #: gloo, for what lies in the memory of the CPU.
    data: dist.ProcessGroup  #: For what lies on the device; the same on a CPU.

    def begin(self, what: Collective, buffer: Tensor, source: int) -> Work:
        """As :class:`counterfoil.distributed.group.Group`; none of the collectives pickles."""
        group = self.control if buffer.device.type == "cpu" else self.data
        work: Work | None = None
        match what:
            case Collective.SUM:
                work = dist.all_reduce(buffer.view(torch.int64), dist.ReduceOp.SUM, group, async_op=True)
            case Collective.SPREAD:
                work = dist.broadcast(buffer, source, group, async_op=True)
            case Collective.GATHER:
                # gloo gathers as much from each, and lets nobody look whether a message from one to another has come.
                rows = None if self.rank else list(buffer)
                work = dist.gather(buffer[self.rank].clone(), rows, 0, group, async_op=True)
            case Collective.GATHER_ALL:
                work = dist.all_gather(list(buffer), buffer[self.rank].clone(), group, async_op=True)
        assert work is not None, "this process is of the group"
        return work


def started_among() -> Launch | None:
    """Return what this process is among those that were started with it; None where it was started alone.

    A process group that is there already says so before the environment does, as that of Ray Train.
    """
    if not (dist.is_available() and dist.is_initialized()):
        return launch()
    rank, size, named = dist.get_rank(), dist.get_world_size(), launch()
    return Launch(rank, size, rank if named is None else named.local) if size > 1 else None


@contextmanager
def direct_group(started: Launch, device: str, cancel: CancelToken | None) -> Iterator[DirectGroup]:
    """Bring the ranks together; a process group that is there already is used and left as it is.

    Args:
        started: This process.
        device: What it computes on.
        cancel: Looked at while others are waited for.

    Raises:
        RankError: The ranks do not come together.
    """
    with ExitStack() as stack:
        store = stack.enter_context(_store(started.rank, cancel))
        control, data = stack.enter_context(_groups(device))
        yield DirectGroup(store, started.rank, started.size, control, data)


@contextmanager
def _store(rank: int, cancel: CancelToken | None) -> Iterator[Store]:
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
def _groups(device: str) -> Iterator[tuple[dist.ProcessGroup, dist.ProcessGroup]]:
    control = data = dist.new_group(backend="gloo", timeout=TIMEOUT)
    if device != "cpu":
        data = dist.new_group(backend="nccl", timeout=TIMEOUT)
    yield control, data
    for group in {id(each): each for each in (data, control)}.values():
        dist.destroy_process_group(group)
