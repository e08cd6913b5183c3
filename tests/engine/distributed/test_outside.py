"""What a rank in a box may have done with the process group that lies beside it."""

from __future__ import annotations

import socket
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import pytest
import torch

from counterfoil.base.joberrors import RankError
from counterfoil.cli.monitor import ASKED
from counterfoil.distributed import outside
from counterfoil.distributed.direct import DirectGroup
from counterfoil.distributed.group import AT_ONCE, PIECE_BYTES, Collective
from counterfoil.distributed.launch import Launch
from counterfoil.distributed.outside import GROUP, GroupOutside, outside_group, shared_memory, slot_of
from counterfoil.talk.messages import FormError, encode
from counterfoil.talk.port import Call, Port
from counterfoil_core.base.cancel import CancelToken
from counterfoil_core.base.errors import CancelledError, CounterfoilError

UNASKED = "asked for what it was not given"


class Straight:
    """Asks without a pipe; all goes through messages all the same."""

    def __init__(self, group: GroupOutside) -> None:
        self._group = group

    def ask(self, port: Port[Any], question: Callable[..., Any], *arguments: Any, **named: Any) -> Any:
        call = port.call(question, arguments, named)
        return port.read(Call(call.number, call.name, encode(call.arguments)))(self._group)


@contextmanager
def ready(group: GroupOutside) -> Iterator[None]:
    """Let the group come together."""
    assert group._memory is not None
    with outside_group(Straight(group), group._memory, Launch(0, 1, 0), None):
        yield


@pytest.fixture
def alone(monkeypatch: pytest.MonkeyPatch) -> GroupOutside:
    """A rank of a group of one."""
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    for name, value in {"RANK": "0", "WORLD_SIZE": "1", "MASTER_ADDR": "127.0.0.1", "MASTER_PORT": str(port)}.items():
        monkeypatch.setenv(name, value)
    monkeypatch.setattr(outside, "launch", lambda: Launch(0, 1, 0))
    return GroupOutside(shared_memory())


def test_what_is_asked_for_is_done_in_memory_that_both_have(alone: GroupOutside) -> None:
    memory = alone._memory
    assert memory is not None
    with outside_group(Straight(alone), memory, Launch(0, 1, 0), None) as group:
        assert group.store.add("a", 2) == 2
        group.store.set("b", b"said")
        assert group.store.check(["a", "b"])
        assert group.store.get("b") == b"said"
        assert group.store.delete_key("b")
        assert not group.store.check(["b"])
        given = torch.arange(10, dtype=torch.int64)
        for what in Collective:
            buffer = given.clone().view(torch.uint8)
            shaped = buffer if what in (Collective.SUM, Collective.SPREAD) else buffer.view(1, -1)
            work = group.begin(what, shaped, 0)
            while not work.is_completed():
                pass
            work.wait()
            assert torch.equal(buffer.view(torch.int64), given), what
        works = [group.begin(Collective.SUM, given.clone().view(torch.uint8), 0) for _ in range(AT_ONCE)]
        for work in works:
            work.wait()


@pytest.mark.parametrize(
    ("slot", "count", "source", "what"),
    [
        (AT_ONCE, 8, 0, Collective.SUM), (-1, 8, 0, Collective.SUM), (0, PIECE_BYTES + 8, 0, Collective.SPREAD),
        (0, -8, 0, Collective.SPREAD), (0, 8, 1, Collective.SPREAD), (0, 8, -1, Collective.SPREAD),
        (0, 9, 0, Collective.SUM),
    ],
)  # fmt: skip
def test_nothing_is_done_with_other_memory(
    alone: GroupOutside, slot: int, count: int, source: int, what: Collective
) -> None:
    with ready(alone), pytest.raises(CounterfoilError, match=UNASKED):
        alone.begin_collective(what, slot, count, source)


def test_a_slot_has_one_collective_and_each_has_one_end(alone: GroupOutside) -> None:
    with ready(alone):
        with pytest.raises(CounterfoilError, match=UNASKED):
            alone.end_collective(0)
        alone.begin_collective(Collective.SUM, 0, 8, 0)
        with pytest.raises(CounterfoilError, match=UNASKED):
            alone.begin_collective(Collective.SUM, 0, 8, 0)
        while not alone.end_collective(0):
            pass
        with pytest.raises(CounterfoilError, match=UNASKED):
            alone.end_collective(0)
        with pytest.raises(CounterfoilError, match=UNASKED):
            alone.join()


def test_a_command_that_is_no_rank_has_no_group() -> None:
    group = GroupOutside(None)
    for ask in (group.join, lambda: group.add_value("a", 1), lambda: group.begin_collective(Collective.SUM, 0, 8, 0)):
        with pytest.raises(CounterfoilError, match=UNASKED):
            ask()


@pytest.mark.parametrize(
    ("name", "arguments"),
    [
        ("set_value", ("a" * 101, b"")), ("set_value", ("a", b"\0" * (2**23 + 1))), ("has_values", (("a" * 101,),)),
        ("begin_collective", ("other", 0, 8, 0)), ("begin_collective", ("sum", "0", 8, 0)), ("_group", ()),
    ],
)  # fmt: skip
def test_what_is_said_is_bounded_and_typed(name: str, arguments: tuple[object, ...]) -> None:
    for port in (GROUP, ASKED):
        with pytest.raises(FormError):
            port.read(Call(1, name, encode(arguments)))


def test_whoever_waits_for_the_others_can_be_stopped() -> None:
    class Waiting(Straight):
        def ask(self, port: Port[Any], question: Callable[..., Any], *arguments: Any, **named: Any) -> Any:
            return False

    cancel, memory = CancelToken(), shared_memory()
    cancel.cancel()
    with (
        pytest.raises(CancelledError),
        outside_group(Waiting(GroupOutside(memory)), memory, Launch(1, 2, 1), cancel),
    ):
        pass


def test_what_keeps_the_ranks_apart_is_said(alone: GroupOutside) -> None:
    alone._trouble = RankError("The ranks did not come together.")
    with pytest.raises(RankError, match="did not come together"):
        alone.has_joined()


def test_a_broken_connection_is_an_error_of_torch_in_the_box(alone: GroupOutside) -> None:
    class Broken:
        def add(self, key: str, amount: int) -> int:
            raise RuntimeError("connection reset")

    assert alone._memory is not None
    with ready(alone):
        assert isinstance(alone._joined, DirectGroup)
    alone._joined = DirectGroup(Broken(), 0, 1, alone._joined.control, alone._joined.data)  # type: ignore[arg-type]
    with pytest.raises(RuntimeError, match="connection reset"):
        outside._AskedStore(Straight(alone)).add("a", 1)


def test_slots_lie_one_behind_the_other() -> None:
    memory = shared_memory()
    slot_of(memory, 1, 4).fill_(7)
    assert memory[PIECE_BYTES : PIECE_BYTES + 5] == b"\7\7\7\7\0"
    assert memory[PIECE_BYTES - 1] == 0
    assert slot_of(memory, 0, 0).shape == (0,)
