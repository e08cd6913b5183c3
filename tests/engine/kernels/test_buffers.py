"""Memory of large tensors is used again, and never while somebody reads it."""

from __future__ import annotations

import random
import sys
import threading
from pathlib import Path

import pytest
import torch

from counterfoil_core.kernels import buffers
from counterfoil_core.kernels.buffers import Arena
from counterfoil_core.kernels.exact import elementwise

LARGE = (1024, 512)
SIZE = 4 * 1024 * 512
READERS = [
    lambda x: x[3:5],
    lambda x: x.t(),
    lambda x: x.view(-1)[7:],
    lambda x: x.numpy(),
    lambda x: x.numpy()[1:2],
    lambda x: x.detach(),
    lambda x: x.view(torch.int32),
    lambda x: x.untyped_storage(),
]


def address(x: torch.Tensor) -> int:
    return x.untyped_storage().data_ptr()


def test_what_nobody_reads_serves_the_next() -> None:
    arena = Arena()
    x = arena.empty(LARGE)
    place = address(x)
    assert (x.shape, x.dtype, x.is_contiguous(), place % 64) == (LARGE, torch.float32, True, 0)
    assert SIZE <= arena.used < SIZE + 512
    del x
    assert arena.used == 0
    other = arena.empty((512, 1024), torch.int32)
    assert address(other) == place


@pytest.mark.parametrize("reader", READERS)
def test_a_view_keeps_it(reader: object) -> None:
    arena = Arena()
    x = arena.empty(LARGE)
    place, view = address(x), reader(x)  # type: ignore[operator]
    del x
    assert arena.used >= SIZE
    assert address(arena.empty(LARGE)) != place
    del view
    assert arena.used == 0


def test_pieces_of_all_sizes_never_meet() -> None:
    """Each piece is filled with its own number, and still holds it when it is given up; holes that meet become one."""
    arena, rng = Arena(), random.Random(0)
    held: dict[int, torch.Tensor] = {}
    most = live = 0
    for number in range(120):
        if held and rng.random() < 0.5:
            gone = rng.choice(sorted(held))
            assert bool((held[gone] == gone % 256).all())
            live -= held.pop(gone).numel()
        else:
            size = rng.randrange(1 << 20, 4 << 20)
            held[number] = arena.empty((size,), torch.uint8).fill_(number % 256)
            live += size
        most = max(most, live)
    assert live <= arena.used <= arena.extent < 2 * most
    held.clear()
    assert arena.used == 0
    first = arena.empty(LARGE)
    place = address(first)
    del first
    assert address(arena.empty((most,), torch.uint8)) == place


def test_a_range_that_is_full_grows() -> None:
    """As it does where the system counts what is reserved: in parts, of which no piece has bytes of two."""
    arena = Arena(region=4 << 20)
    pieces = [arena.empty((3 << 20,), torch.uint8).fill_(n) for n in range(4)]
    pieces.append(arena.empty((9 << 20,), torch.uint8).fill_(4))
    assert [(int(p.min()), int(p.max())) for p in pieces] == [(n, n) for n in range(5)]
    extent, places = arena.extent, [address(p) for p in pieces]
    pieces.clear()
    arena.give_back()
    again = [arena.empty((3 << 20,), torch.uint8).fill_(n) for n in range(4)]
    assert [address(p) for p in again] == places[:4]
    assert [(int(p.min()), int(p.max())) for p in again] == [(n, n) for n in range(4)]
    assert arena.extent == extent


def test_where_the_system_reserves_nothing_the_library_does(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(length: int) -> None:
        raise OSError(12, "Cannot allocate memory")

    monkeypatch.setattr(buffers, "map_memory", refuse)
    arena = Arena()
    assert arena.empty(LARGE).fill_(7).sum() == 7 * 1024 * 512
    assert arena.used == arena.extent == 0


def test_small_tensors_are_the_librarys() -> None:
    arena = Arena()
    small = arena.empty((10, 10))
    assert (small.shape, arena.used) == ((10, 10), 0)


def test_threads_take_and_give_back_at_once() -> None:
    arena = Arena()
    wrong: list[int] = []

    def work(number: int) -> None:
        for _ in range(20):
            x = arena.empty((1 << 20,), torch.uint8).fill_(number)
            if not bool((x == number).all()):
                wrong.append(number)

    threads = [threading.Thread(target=work, args=(n,)) for n in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert (wrong, arena.used) == ([], 0)
    assert arena.extent <= 9 * ((1 << 20) + 512)


@pytest.mark.skipif(sys.platform != "linux", reason="the system does not say how much memory a process uses")
def test_what_nobody_reads_is_given_back_to_the_system() -> None:
    def resident() -> int:
        return int(Path("/proc/self/statm").read_text().split()[1]) * 4096

    arena = Arena()
    kept = arena.empty((8 << 20,), torch.uint8).fill_(3)
    gone = arena.empty((64 << 20,), torch.uint8).fill_(1)
    after = arena.empty((8 << 20,), torch.uint8).fill_(5)
    del gone
    before = resident()
    arena.give_back()
    assert before - resident() > 60 << 20
    assert (int(kept.min()), int(after.max())) == (3, 5)
    assert int(arena.empty((64 << 20,), torch.uint8).fill_(9).min()) == 9


def _counted(start: int) -> bool:
    """Whether the system counts what is reserved at an address as promised (proc(5), ``ac`` among the flags)."""
    found, inside = False, False
    for line in Path("/proc/self/smaps").read_text("utf-8").splitlines():
        first = line.split(" ", 1)[0]
        if "-" in first and not first.endswith(":"):
            begin, end = (int(part, 16) for part in first.split("-"))
            inside = begin <= start < end
        elif inside and first == "VmFlags:":
            found = "ac" in line.split()
    return found


@pytest.mark.skipif(sys.platform != "linux", reason="the system does not say what it counts")
def test_a_process_that_forks_promises_the_range_to_nobody(monkeypatch: pytest.MonkeyPatch) -> None:
    if Path("/proc/sys/vm/overcommit_memory").read_text().strip() == "2":
        pytest.skip("this system counts whatever is reserved")
    assert not _counted(Arena().empty(LARGE).fill_(1).data_ptr())
    monkeypatch.setattr(buffers, "_UNCOUNTED", 0)
    assert _counted(Arena().empty(LARGE).fill_(1).data_ptr()), "control: without the flag it is"


def test_elementwise_results_are_the_librarys() -> None:
    """Of all strides and broadcasts, large and small."""
    x, y = torch.randn(700, 600), torch.randn(700, 600)
    cases = [(x, y), (x, y[0]), (x[:, :1], y[:1]), (x.t(), y.t()), (x, torch.tensor(3.0)), (x[::2], y[1::2]), (x[0], y)]
    for rule, function in (
        (elementwise.add, torch.add),
        (elementwise.subtract, torch.sub),
        (elementwise.multiply, torch.mul),
        (elementwise.divide, torch.div),
    ):
        for a, b in cases:
            results = [rule(a, b) for _ in range(3)]
            assert all(torch.equal(found, function(a, b)) for found in results)
            assert len({address(found) for found in results}) == 3
