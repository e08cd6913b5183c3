"""A store that is not reached is waited for so long as it may still come, and then it is said what stands between."""

from __future__ import annotations

import socket
import threading
import time
from collections.abc import Callable, Iterator

import pytest

from counterfoil.base.joberrors import RankError
from counterfoil.distributed import direct
from counterfoil.distributed.direct import StoreAddress, store_address
from counterfoil.distributed.ranks import join_ranks
from counterfoil_core.base.cancel import CancelToken
from counterfoil_core.base.errors import CancelledError


@pytest.fixture(autouse=True)
def _soon(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(direct, "AGENT_SECONDS", 0.1)
    monkeypatch.setattr(direct, "RANK_0_SECONDS", 0.1)
    monkeypatch.setattr(direct, "_PAUSE_SECONDS", 0.02)


@pytest.fixture
def free() -> Iterator[socket.socket]:
    """A port at which nobody listens yet."""
    with socket.socket() as found:
        found.bind(("127.0.0.1", 0))
        yield found


def at(found: socket.socket, *, begun: bool) -> StoreAddress:
    return StoreAddress("127.0.0.1", found.getsockname()[1], begun)


def raising(error: Exception) -> Callable[..., object]:
    def call(*_: object, **__: object) -> object:
        raise error

    return call


@pytest.mark.parametrize(("rank", "begun"), [(0, True), (1, True), (1, False)])
def test_nobody_listens(free: socket.socket, rank: int, begun: bool) -> None:
    with pytest.raises(RankError, match=r", at 127\.0\.0\.1:\d+, is not reached: nobody listens there\.") as raised:
        at(free, begun=begun).wait(rank, None)
    assert "MASTER_ADDR" in raised.value.remedy
    assert "--local-addr" not in raised.value.remedy


def test_rank_0_does_not_wait_for_the_store_that_it_begins_itself(free: socket.socket) -> None:
    at(free, begun=False).wait(0, None)


def test_a_name_that_no_service_knows(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(socket, "getaddrinfo", raising(socket.gaierror(-2, "Name or service not known")))
    for rank in (0, 1):
        with pytest.raises(
            RankError, match=r", at node-0:29500, .* no address is found for the name node-0\."
        ) as raised:
            StoreAddress("node-0", 29500, False).wait(rank, None)
        assert "--local-addr" in raised.value.remedy
        assert raised.value.detail.endswith("Name or service not known")


def test_what_cannot_be_a_name() -> None:
    with pytest.raises(RankError, match="no address is found for the name xxx"):
        StoreAddress("x" * 64, 29500, True).wait(1, None)


@pytest.mark.parametrize(
    ("error", "said"),
    [(TimeoutError("timed out"), "nobody answers there"), (OSError(113, "No route to host"), "No route to host")],
)
def test_a_machine_that_does_not_answer(monkeypatch: pytest.MonkeyPatch, error: Exception, said: str) -> None:
    monkeypatch.setattr(socket, "create_connection", raising(error))
    with pytest.raises(RankError, match=rf": {said}\."):
        StoreAddress("127.0.0.1", 29500, False).wait(1, None)


def test_a_store_that_comes_later_is_waited_for(free: socket.socket, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(direct, "RANK_0_SECONDS", 60.0)
    later = threading.Timer(0.3, free.listen)
    later.start()
    begun = time.monotonic()
    at(free, begun=False).wait(1, None)
    assert time.monotonic() - begun > 0.2
    later.join()


def test_it_can_be_stopped(free: socket.socket, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(direct, "RANK_0_SECONDS", 600.0)
    token = CancelToken()
    later = threading.Timer(0.2, token.cancel)
    later.start()
    with pytest.raises(CancelledError):
        at(free, begun=False).wait(1, token)
    later.join()


@pytest.mark.parametrize(
    ("said", "found"),
    [
        ({}, None),
        ({"MASTER_ADDR": "node-0"}, None),
        ({"MASTER_ADDR": "node-0", "MASTER_PORT": "any"}, None),
        ({"MASTER_ADDR": "node-0", "MASTER_PORT": "29500"}, StoreAddress("node-0", 29500, False)),
        (
            {"MASTER_ADDR": "::1", "MASTER_PORT": "80", "TORCHELASTIC_USE_AGENT_STORE": "True"},
            StoreAddress("::1", 80, True),
        ),
    ],
)
def test_the_environment_says_where_it_is(
    monkeypatch: pytest.MonkeyPatch, said: dict[str, str], found: StoreAddress | None
) -> None:
    for name in ("MASTER_ADDR", "MASTER_PORT", "TORCHELASTIC_USE_AGENT_STORE"):
        monkeypatch.delenv(name, raising=False)
    for name, value in said.items():
        monkeypatch.setenv(name, value)
    assert store_address() == found


def test_ranks_look_before_torch_waits(free: socket.socket, monkeypatch: pytest.MonkeyPatch) -> None:
    port = str(free.getsockname()[1])
    for name, value in {"RANK": "1", "WORLD_SIZE": "2", "MASTER_ADDR": "127.0.0.1", "MASTER_PORT": port}.items():
        monkeypatch.setenv(name, value)
    with pytest.raises(RankError, match="nobody listens there"), join_ranks("cpu", None):
        pass
