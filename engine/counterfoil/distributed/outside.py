"""The process group of a rank that is in a box: it is beside the box, in a process that parses nothing of a stranger's.

gloo opens sockets, which a box refuses. So what a rank wants of the others it asks for, by declared types, and what
collectives change lies in memory that both processes have had since before the box was closed. The one that owns the
group reads none of it: who sends what, and what becomes of it, is decided in the box.
"""

from __future__ import annotations

import mmap
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, ExitStack, contextmanager
from typing import TYPE_CHECKING, Annotated, Concatenate, ParamSpec, TypeVar

from msgspec import Meta

from counterfoil.base.joberrors import RankError
from counterfoil.distributed.group import AT_ONCE, PIECE_BYTES, Collective, Group, Work
from counterfoil.distributed.launch import Launch, launch
from counterfoil.distributed.liveness import SHORTEST_PAUSE
from counterfoil.signer.environment import drop_passphrase
from counterfoil.talk.failure import refusal
from counterfoil.talk.port import Link, Port
from counterfoil_core.base.cancel import CancelToken
from counterfoil_core.base.trouble import obstacle

if TYPE_CHECKING:
    from torch import Tensor

    from counterfoil.distributed.direct import DirectGroup

_Key = Annotated[str, Meta(max_length=100)]
_Keys = Annotated[tuple[_Key, ...], Meta(max_length=100_000)]
_Value = Annotated[bytes, Meta(max_length=2**23)]
_LOOK_SECONDS = 0.02
"""How often it is asked whether the ranks have come together."""
_MOMENT = 0.01
"""So long it is waited outside: to ask costs more than to look."""
P = ParamSpec("P")
T = TypeVar("T")
Connect = Callable[[Launch, str, CancelToken | None], AbstractContextManager[Group]]
"""Brings the ranks together: :func:`counterfoil.distributed.direct.direct_group`, or :func:`outside_group`."""


class GroupOutside:
    """Owns the process group of a rank that is in a box. Whoever answers one declares these with its own.

    Args:
        memory: :func:`shared_memory`; None where this process is no rank.
    """

    def __init__(self, memory: mmap.mmap | None) -> None:
        self._memory = memory
        self._joining: threading.Thread | None = None
        self._trouble: BaseException | None = None
        self._joined: DirectGroup | None = None
        self._letting_go = ExitStack()
        self._works: dict[int, Work] = {}

    def join(self) -> None:
        """Begin to join the other ranks."""
        if self._memory is None or self._joining is not None:
            raise refusal()
        drop_passphrase()  # the keys are open; the other ranks are spoken to
        self._joining = threading.Thread(target=self._join, name="join", daemon=True)
        self._joining.start()

    def has_joined(self) -> bool:
        """Whether the ranks have come together; raises RankError where they cannot."""
        if self._trouble is not None:
            raise self._trouble
        return self._joined is not None

    def add_value(self, key: _Key, amount: int) -> int:
        """As :class:`counterfoil.distributed.liveness.Store`, and so the next ones."""
        with _connected():
            return self._group.store.add(key, amount)

    def set_value(self, key: _Key, value: _Value) -> None:
        """Put a value there."""
        with _connected():
            self._group.store.set(key, value)

    def get_value(self, key: _Key) -> _Value:
        """Return a value."""
        with _connected():
            return bytes(self._group.store.get(key))

    def has_values(self, keys: _Keys) -> bool:
        """Return whether there are values, or will be in a moment."""
        with _connected():
            return _comes(lambda: self._group.store.check(list(keys)))

    def delete_value(self, key: _Key) -> bool:
        """Forget a value."""
        with _connected():
            return self._group.store.delete_key(key)

    def begin_collective(self, what: Collective, slot: int, count: int, source: int) -> None:
        """Begin a collective with the first bytes of a slot of the shared memory."""
        group, memory = self._group, self._memory
        each = {Collective.SUM: 8, Collective.SPREAD: 1}.get(what, group.size)
        if not (0 <= slot < AT_ONCE and 0 <= count <= PIECE_BYTES and 0 <= source < group.size):
            raise refusal()
        if memory is None or slot in self._works or count % each:
            raise refusal()
        buffer = slot_of(memory, slot, count)
        if what in (Collective.GATHER, Collective.GATHER_ALL):
            buffer = buffer.view(group.size, count // group.size)
        with _connected():
            self._works[slot] = group.begin(what, buffer, source)

    def end_collective(self, slot: int) -> bool:
        """End the collective of a slot, if it has come to its end or will have in a moment; whether it has."""
        if slot not in self._works:
            raise refusal()
        if not _comes(self._works[slot].is_completed):
            return False
        with _connected():
            self._works.pop(slot).wait()
        return True

    def leave(self) -> None:
        """Let go of the group, when all has gone well."""
        self._letting_go.close()

    @property
    def _group(self) -> DirectGroup:
        if self._joined is None:
            raise refusal()
        return self._joined

    def _join(self) -> None:
        try:
            from counterfoil.distributed.direct import direct_group

            started = launch()
            assert started is not None, "it has memory that it shares"
            self._joined = self._letting_go.enter_context(direct_group(started, "cpu", None))
        except BaseException as error:  # whoever asks is told
            self._trouble = error


GROUP = Port[GroupOutside](
    GroupOutside.join, GroupOutside.has_joined, GroupOutside.add_value, GroupOutside.set_value, GroupOutside.get_value,
    GroupOutside.has_values, GroupOutside.delete_value, GroupOutside.begin_collective, GroupOutside.end_collective,
    GroupOutside.leave,
)  # fmt: skip
"""What a rank in a box may ask for."""


def shared_memory() -> mmap.mmap:
    """Return memory for collectives that this process shares with those that are forked from it."""
    return mmap.mmap(-1, AT_ONCE * PIECE_BYTES)


def slot_of(memory: mmap.mmap, slot: int, count: int) -> Tensor:
    """Return the first bytes of a slot: uint8 ``[count]``."""
    import torch

    if not count:
        return torch.empty(0, dtype=torch.uint8)
    return torch.frombuffer(memory, dtype=torch.uint8, count=count, offset=slot * PIECE_BYTES)


@contextmanager
def outside_group(link: Link, memory: mmap.mmap, started: Launch, cancel: CancelToken | None) -> Iterator[Group]:
    """Bring the ranks together, outside of the box of this process.

    Args:
        link: Leads to the :class:`GroupOutside`.
        memory: What both share.
        started: This process.
        cancel: Looked at meanwhile.

    Raises:
        RankError: The ranks do not come together.
    """
    link.ask(GROUP, GroupOutside.join)
    while not link.ask(GROUP, GroupOutside.has_joined):
        (cancel or CancelToken()).wait(_LOOK_SECONDS)
    yield _AskedGroup(link, memory, started.rank)
    link.ask(GROUP, GroupOutside.leave)


class _AskedGroup:
    """A :class:`counterfoil.distributed.group.Group` that asks for what is done."""

    def __init__(self, link: Link, memory: mmap.mmap, rank: int) -> None:
        self._link, self._memory, self._rank = link, memory, rank
        self._free = list(range(AT_ONCE))
        self.store = _AskedStore(link)

    def begin(self, what: Collective, buffer: Tensor, source: int) -> Work:
        """As :class:`counterfoil.distributed.group.Group`."""
        slot = self._free[-1]
        shared = slot_of(self._memory, slot, buffer.nbytes).view(buffer.shape)
        if what in (Collective.GATHER, Collective.GATHER_ALL):
            shared[self._rank] = buffer[self._rank]
        elif what is Collective.SUM or source == self._rank:
            shared.copy_(buffer)
        _asked(self._link, GroupOutside.begin_collective, what, slot, buffer.nbytes, source)
        self._free.pop()
        changes = self._rank != source if what is Collective.SPREAD else what is not Collective.GATHER or not self._rank

        def finish() -> None:
            if changes:
                buffer.copy_(shared)
            self._free.append(slot)

        return _AskedWork(lambda: _asked(self._link, GroupOutside.end_collective, slot), finish)


class _AskedWork:
    """A collective outside, whose end is asked for until it comes."""

    def __init__(self, end: Callable[[], bool], finish: Callable[[], None]) -> None:
        self._end, self._finish = end, finish
        self._ended = False
        self._broke: RuntimeError | None = None

    def is_completed(self) -> bool:
        if not self._ended:
            try:
                self._ended = self._end()
            except RuntimeError as error:
                self._ended, self._broke = True, error
        return self._ended

    def wait(self) -> None:
        while not self.is_completed():
            pass
        if self._broke is not None:
            raise self._broke
        self._finish()


class _AskedStore:
    """A :class:`counterfoil.distributed.liveness.Store`."""

    def __init__(self, link: Link) -> None:
        self._link = link

    def add(self, key: str, amount: int) -> int:
        return _asked(self._link, GroupOutside.add_value, key, amount)

    def set(self, key: str, value: bytes) -> None:
        _asked(self._link, GroupOutside.set_value, key, value)

    def get(self, key: str) -> bytes:
        return _asked(self._link, GroupOutside.get_value, key)

    def check(self, keys: list[str]) -> bool:
        return _asked(self._link, GroupOutside.has_values, tuple(keys))

    def delete_key(self, key: str) -> bool:
        return _asked(self._link, GroupOutside.delete_value, key)


def _comes(done: Callable[[], bool]) -> bool:
    """Whether something comes in a moment: whoever is told that it has not asks again."""
    until = time.monotonic() + _MOMENT
    while not (found := done()) and time.monotonic() < until:
        time.sleep(SHORTEST_PAUSE)
    return found


def _asked(link: Link, question: Callable[Concatenate[GroupOutside, P], T], *arguments: P.args, **named: P.kwargs) -> T:
    """Ask, and raise what torch would where a connection is broken: whoever waits finds out whose fault it is."""
    try:
        return link.ask(GROUP, question, *arguments, **named)
    except RankError as error:
        raise RuntimeError(error.detail) from error


@contextmanager
def _connected() -> Iterator[None]:
    """Say in the block what can be said where a connection is broken."""
    try:
        yield
    except RuntimeError as error:
        if obstacle(error) is not None:
            raise
        raise RankError("The connection between the ranks broke.", detail=str(error)) from error
