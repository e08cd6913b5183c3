"""Whoever takes over a process in a box tries to get out of it; without the box every one of these tries succeeds."""

from __future__ import annotations

import json
import os
import shutil
import socket
import subprocess
import sys
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

import pytest

from counterfoil.audit.parts.frames import Task
from counterfoil.audit.parts.processes import Processes
from counterfoil.audit.parts.result import Ready, SegmentDone
from counterfoil.audit.values.outcome import Outcome
from counterfoil.audit.values.workers import LocalWorkers
from support import escapes
from support.boxes import closed
from support.job_fixtures import digits_job, trainer_key
from support.jobs import Job
from support.resuming import ended, request_of, whole

__all__ = ["closed", "digits_job", "trainer_key"]

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="there are boxes on Linux only")
_ALONE = ("run_another_program",)
"""Tries after which a process is no more what it was."""
_VICTIM = (
    "import ctypes, os, sys; text = ctypes.create_string_buffer(os.environ['SECRET'].encode()); "
    "print(ctypes.addressof(text), flush=True); sys.stdin.read()"
)


@contextmanager
def world(folder: Path) -> Iterator[escapes.World]:
    home, job, work = (folder / name for name in ("home", "job", "work"))
    for each in (home, job, work):
        each.mkdir(parents=True)
    for name in ("secret.txt", "key.pem", "data.txt", "spare.txt"):
        (home / name).write_text(escapes.SECRET)
    (job / "run.txt").write_text("a run")
    library = home / "library.so"
    shutil.copy(_a_library(), library)
    with ExitStack() as stack:
        tcp = stack.enter_context(socket.create_server(("127.0.0.1", 0)))
        udp = stack.enter_context(socket.socket(socket.AF_INET, socket.SOCK_DGRAM))
        udp.bind(("127.0.0.1", 0))
        unix, abstract = (stack.enter_context(socket.socket(socket.AF_UNIX)) for _ in range(2))
        unix.bind(str(home / "socket"))
        abstract.bind(f"\0counterfoil-{folder.name}-{os.getpid()}")
        for each in (unix, abstract):
            each.listen()
        victim = stack.enter_context(
            subprocess.Popen(
                [sys.executable, "-S", "-c", _VICTIM],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                env={"SECRET": escapes.SECRET},
            )
        )
        stack.callback(victim.kill)
        assert victim.stdout is not None
        address = int(victim.stdout.readline())
        opened = os.open(home, os.O_RDONLY | os.O_DIRECTORY)
        stack.callback(os.close, opened)
        yield escapes.World(
            str(home),
            str(job),
            str(work),
            str(library),
            victim.pid,
            tcp.getsockname()[1],
            udp.getsockname()[1],
            str(home / "socket"),
            abstract.getsockname()[1:].decode(),
            opened,
            address,
        )


def _a_library() -> str:
    maps = Path("/proc/self/maps").read_text().splitlines()
    return next(line[line.index("/") :] for line in maps if "/libm" in line or "/libz" in line or "/libc" in line)


def tried(folder: Path, how: str) -> tuple[str, dict[str, dict[str, str]]]:
    """Return what the box says of itself, and what each try brought."""
    found: dict[str, dict[str, str]] = {}
    words = ""
    with world(folder) as around:
        together = [name for name in escapes.TRIES if name not in _ALONE]
        for names in (together, *([each] for each in _ALONE)):
            done = subprocess.run(
                [sys.executable, "-P", escapes.__file__, escapes.described(around), how, *names],
                capture_output=True,
                text=True,
                timeout=120,
                check=False,
                pass_fds=(around.folder,),
                env={**os.environ, "HOME": around.home},
            )
            name = ""
            for line in done.stderr.splitlines():
                said = json.loads(line) if line.startswith("{") else {}
                words = said.get("sandbox", words)
                name = said.get("try", name)
                if said.keys() & {"got", "nothing"}:
                    found[name] = said
            assert set(names) <= set(found), done.stderr
    return words, found


@pytest.fixture(scope="module")
def boxed(tmp_path_factory: pytest.TempPathFactory) -> tuple[str, dict[str, dict[str, str]]]:
    return tried(tmp_path_factory.mktemp("boxed"), "box")


@pytest.fixture(scope="module")
def free(tmp_path_factory: pytest.TempPathFactory) -> dict[str, dict[str, str]]:
    return tried(tmp_path_factory.mktemp("free"), "open")[1]


def test_nobody_gets_out(boxed: tuple[str, dict[str, dict[str, str]]], free: dict[str, dict[str, str]]) -> None:
    words, found = boxed
    if not words.startswith("landlock-v"):
        pytest.skip(f"this kernel has no Landlock: {words}")
    possible = {name for name, said in free.items() if "got" in said}
    got = {name: said["got"] for name, said in found.items() if "got" in said}
    assert got == {}
    assert len(possible) >= 30, sorted(set(free) - possible)


def test_each_try_succeeds_without_a_box(free: dict[str, dict[str, str]]) -> None:
    # Some need what a machine, a container or an ordinary user may lack.
    may_lack = {
        "open_by_handle", "ask_io_uring", "make_a_namespace", "trace_another", "read_a_memory", "read_a_memory_by_call",
        "share_memory_by_name", "limit_another",
    }  # fmt: skip
    failed = {name: said["nothing"] for name, said in free.items() if "got" not in said}
    assert set(failed) <= may_lack, failed


def test_a_worker_replays_in_a_box(digits_job: Job) -> None:
    processes = Processes([Task(str(digits_job.run), threads=1)])
    said: list[object] = []
    try:
        processes.start(1)
        processes.give(1, 1)
        status = Path(f"/proc/{processes.process_id(1)}/status")
        while not any(isinstance(each, SegmentDone) for each in said):
            said += processes.wait(60)
            assert said
        fields = dict(line.split(":\t", 1) for line in status.read_text().splitlines() if ":\t" in line)
    finally:
        processes.close()
    (ready,) = (each for each in said if isinstance(each, Ready))
    (done,) = (each.result for each in said if isinstance(each, SegmentDone))
    assert not done.trouble
    words = dict(ready.place.environment)["sandbox"]
    assert "seccomp" in words
    assert (fields["NoNewPrivs"], fields["Seccomp"]) == ("1", "2")


def test_an_honest_run_is_verified_by_workers_in_boxes(digits_job: Job) -> None:
    report = ended(whole(request_of(digits_job, workers=LocalWorkers(1), recheck=0))).report
    assert report.outcome is Outcome.VERIFIED
    assert dict(report.environment)["sandbox"] == "none: not asked for"
    assert report.replayed_at == ()
