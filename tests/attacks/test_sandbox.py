"""Whoever takes over a process in a box tries to get out of it; without the box every one of these tries succeeds."""

from __future__ import annotations

import json
import os
import shutil
import socket
import subprocess
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any

import msgspec
import pytest

from counterfoil.audit.boxed import session
from counterfoil.audit.parts.helpers import Processes
from counterfoil.audit.parts.partfile import Died, SegmentDone
from counterfoil.audit.parts.task import Task
from counterfoil.signing.privatekeys import generate_key
from counterfoil.talk import process
from counterfoil.talk.frames import read_frame
from counterfoil.talk.messages import decode, encode
from counterfoil.talk.port import Call, Delivery, Returned
from counterfoil.talk.table import ENGINE, REPLAY
from counterfoil_app.engine import broker
from counterfoil_app.verdict import report_process
from counterfoil_core.base.cancel import CancelToken
from counterfoil_core.values.events import AuditFinished
from counterfoil_core.values.outcome import Outcome
from counterfoil_core.values.request import AuditRequest
from counterfoil_core.values.workers import LocalWorkers
from engine.training.test_ranks import write_order
from support import escapes, taken_over as taker
from support.boxes import closed
from support.fake_engine import FakeEngine
from support.jobs import Job
from support.pages import contents
from support.resuming import ended, request_of, whole

__all__ = ["closed"]

pytestmark = [
    pytest.mark.own_process,
    pytest.mark.skipif(sys.platform != "linux", reason="there are boxes on Linux only"),
]
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


def read(said: str) -> tuple[str, dict[str, dict[str, str]]]:
    """Return what a box says of itself, and what each try brought."""
    found: dict[str, dict[str, str]] = {}
    words = name = ""
    for line in said.splitlines():
        told = json.loads(line) if line.startswith("{") else {}
        words = told.get("sandbox", words)
        name = told.get("try", name)
        if told.keys() & {"got", "nothing"}:
            found[name] = told
    return words, found


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
            words, brought = read(done.stderr)
            found |= brought
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
    assert len(possible) >= 100, sorted(set(free) - possible)


def test_each_try_succeeds_without_a_box(free: dict[str, dict[str, str]]) -> None:
    # Some need what a machine, a container or an ordinary user may lack.
    may_lack = {
        "open_by_handle", "ask_io_uring", "make_a_namespace", "trace_another", "read_a_memory", "read_a_memory_by_call",
        "share_memory_by_name", "limit_another",
        # What a file system keeps of files, and what a kernel was built with.
        "set_an_inode_flag", "read_an_inode_flag", "set_a_project", "set_a_generation", "read_the_space_of_a_file",
        "set_an_attribute", "remove_an_attribute", "lease_a_file", "catch_a_handle", "link_by_a_descriptor",
        "make_secret_memory", "speak_by_ipv6", "let_the_kernel_encrypt", "keep_a_key", "ask_for_keys",
        "run_in_the_kernel", "count_performance", "handle_faults", "compare_with_another", "open_a_terminal",
        # What only an administrator may.
        "send_raw_packets", "see_all_packets", "watch_all_files", "read_the_kernels_log", "read_the_kernels_messages",
        "read_all_memory", "mount_a_disk", "change_the_root", "open_a_tree", "open_a_file_system", "be_another_user",
        "leave_groups", "see_the_root_of_another", "read_the_io_of_another",
    }  # fmt: skip
    failed = {name: said["nothing"] for name, said in free.items() if "got" not in said}
    assert set(failed) <= may_lack, failed


@contextmanager
def taken_over(folder: Path, module: str, run: Path) -> Iterator[tuple[list[str], Path, Callable[[], str]]]:
    """Provide a command for a process that is taken over, its run, and what it says to standard error."""
    with world(folder) as around, (folder / "said").open("w+b") as said, pytest.MonkeyPatch.context() as patch:
        shutil.copy(run, Path(around.job, "run.txt"))
        start = subprocess.Popen

        def started(command: Sequence[str], **options: Any) -> subprocess.Popen[bytes]:
            kept = (around.folder, *options.get("pass_fds", ()))
            return start(command, **{**options, "stderr": said, "pass_fds": kept})

        patch.setattr(subprocess, "Popen", started)
        patch.setenv("HOME", around.home)
        yield (
            [sys.executable, "-P", taker.__file__, escapes.described(around), module],
            Path(around.job, "run.txt"),
            lambda: (folder / "said").read_text(),
        )


def nobody_got_out(said: str) -> None:
    words, found = read(said)
    if not words.startswith("landlock-v"):
        pytest.skip(f"this kernel has no Landlock: {words}")
    assert "seccomp" in words
    assert {name: told["got"] for name, told in found.items() if "got" in told} == {}
    assert set(found) == set(escapes.TRIES), said


def started_for(patch: pytest.MonkeyPatch, module: str, command: list[str]) -> None:
    """Let a command be started for one of the program's processes; any other, such as one that compiles, is its own."""
    own = process.program_command

    def chosen(wanted: str, *more: str) -> list[str]:
        return [*command, *more] if wanted == module else own(wanted, *more)

    patch.setattr(process, "program_command", chosen)


def test_nobody_gets_out_of_the_process_that_replays_for_a_command(digits_job: Job, tmp_path: Path) -> None:
    with (
        taken_over(tmp_path, REPLAY.module, digits_job.run) as (command, run, said),
        pytest.MonkeyPatch.context() as patch,
    ):
        started_for(patch, REPLAY.module, command)
        with session.open_session() as box:
            *_, last = box.audit(AuditRequest(run, threads=2), CancelToken())
        assert isinstance(last, AuditFinished)
        assert last.report.outcome is Outcome.VERIFIED
        nobody_got_out(said())


def test_nobody_gets_out_of_a_worker(digits_job: Job, tmp_path: Path) -> None:
    with taken_over(tmp_path, "counterfoil.audit.parts.worker", digits_job.run) as (command, run, said):
        processes = Processes([Task(str(run), threads=2)], command)
        answers: list[object] = []
        try:
            processes.start(1)
            processes.give(1, 1)
            while not any(isinstance(each, (SegmentDone, Died)) for each in answers):
                answers += processes.wait(60)
        finally:
            processes.close()
        assert any(isinstance(each, SegmentDone) for each in answers), said()
        nobody_got_out(said())


def test_nobody_gets_out_of_a_process_of_the_windows_engine(digits_job: Job, tmp_path: Path) -> None:
    read, write = os.pipe()
    with (
        taken_over(tmp_path, ENGINE.module, digits_job.run) as (command, run, said),
        os.fdopen(read, "rb") as brought,
        os.fdopen(write, "wb") as answers,
        pytest.MonkeyPatch.context() as patch,
    ):
        started_for(patch, ENGINE.module, command)
        between = broker.Broker(answers)
        arguments = msgspec.Raw(encode((run, None, ())))
        between.hand_on(encode(Call(1, "inspect", arguments)))
        delivered: list[object] = []
        while not any(isinstance(each, Returned) for each in delivered):
            delivered += decode(read_frame(brought, ENGINE.says), Delivery)
        between.close()
        nobody_got_out(said())


def test_nobody_gets_out_of_the_process_that_prints(
    digits_job: Job, tmp_path: Path, qapp: object, monkeypatch: pytest.MonkeyPatch
) -> None:
    page = contents(FakeEngine())
    with taken_over(tmp_path, report_process.__name__, digits_job.run) as (command, _, said):
        monkeypatch.setattr(process, "program_command", lambda _: command)
        assert report_process.print_report(page).startswith(b"%PDF-")
        nobody_got_out(said())


@pytest.mark.parametrize("command", [pytest.param("inspect", marks=pytest.mark.slow), "train"])
def test_nobody_gets_out_of_a_command(command: str, digits_job: Job, tmp_path: Path) -> None:
    generate_key(tmp_path / "k.pem", None)
    options = ["--out", tmp_path / "made.cfoil", "--key", tmp_path / "k.pem"] if command == "train" else []
    with taken_over(tmp_path / "world", "counterfoil.cli", digits_job.run) as (start, run, said):
        kept = [int(json.loads(start[3])["folder"])]
        with subprocess.Popen([*start, command, run, *options], pass_fds=kept) as process:
            process.wait(300)
        nobody_got_out(said())


@pytest.mark.slow
def test_nobody_gets_out_of_a_rank(tmp_path: Path) -> None:
    order = write_order(tmp_path / "job.cfoil", 2)
    generate_key(tmp_path / "k.pem", None)
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    ranks = {"WORLD_SIZE": "2", "MASTER_ADDR": "127.0.0.1", "MASTER_PORT": str(port)}
    with taken_over(tmp_path / "world", "counterfoil.cli", order) as (start, run, said):
        options = ["train", run, "--out", tmp_path / "made.cfoil", "--key", tmp_path / "k.pem"]
        kept, plain = [int(json.loads(start[3])["folder"])], [sys.executable, "-P", "-m", "counterfoil"]
        with (
            subprocess.Popen([*start, *options], pass_fds=kept, env={**os.environ, **ranks, "RANK": "0"}) as first,
            subprocess.Popen([*plain, *options], env={**os.environ, **ranks, "RANK": "1"}) as second,
        ):
            first.wait(300)
            second.wait(60)
        nobody_got_out(said())


@pytest.mark.slow
def test_an_honest_run_is_verified_by_workers_in_boxes(digits_job: Job) -> None:
    report = ended(whole(request_of(digits_job, workers=LocalWorkers(1), recheck=0))).report
    assert report.outcome is Outcome.VERIFIED
    assert dict(report.environment)["sandbox"] == "none: not asked for"
    assert report.replayed_at == ()
