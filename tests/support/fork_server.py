"""Runs ``counterfoil`` in processes that can be killed, a hundred in the time that importing torch takes once.

A server imports everything; each command runs in a fork of it, a process of its own, which is killed with SIGKILL.
"""

from __future__ import annotations

import contextlib
import gc
import io
import json
import os
import signal
import subprocess
import sys
import time
import traceback
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType
from typing import Any, Self

TESTS = Path(__file__).parents[1]


@dataclass(frozen=True)
class Ended:
    """How a command ended.

    Attributes:
        code: Its exit code; None when it was killed.
        said: What it said.
        seconds: How long it took.
        processor_seconds: How much of the processor it took.
        memory: The most memory that it had, in MiB; what the server had loaded is part of it.
        seconds_after_interrupt: How much of the processor it still took when it had been interrupted; None if it ended
            before.
    """

    code: int | None
    said: str
    seconds: float
    processor_seconds: float = 0.0
    memory: int = 0
    seconds_after_interrupt: float | None = None


class ForkServer:
    """Use it as a context manager.

    Args:
        environment: What is set for its commands.
        own: Whether each command is the only one that its process works for, and closes a box.
    """

    def __init__(self, environment: Mapping[str, str] | None = None, *, own: bool = False) -> None:
        self._process = subprocess.Popen(
            [sys.executable, "-m", "support.fork_server", *(["own"] if own else [])],
            cwd=TESTS,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            env={**os.environ, "OMP_NUM_THREADS": "1", **(environment or {})},
        )

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        assert self._process.stdin is not None
        self._process.stdin.close()
        self._process.wait()
        assert self._process.stdout is not None
        self._process.stdout.close()

    def run(
        self,
        *arguments: object,
        kill_after: float | None = None,
        interrupt_after: float | None = None,
        kill_at_write: int | None = None,
        largest_file: int | None = None,
        fault: Mapping[str, Any] | None = None,
        fork: bool = True,
    ) -> Ended:
        """Run a command.

        Args:
            arguments: Those of ``counterfoil``.
            kill_after: Kill it so many seconds after it began.
            interrupt_after: Interrupt it as Ctrl-C does when it has taken so many processor seconds. Needs Linux.
            kill_at_write: Kill it in the middle of so manieth of the writes that a recording makes.
            largest_file: No file may become larger: writing fails as on a full disk.
            fault: Which call of the C library fails, for ``faults.shim``, which must be preloaded.
            fork: False runs it in the server itself, so that later ones need not load kernels first; on one thread.
        """
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        job = {
            "arguments": [str(argument) for argument in arguments],
            "kill_after": kill_after,
            "interrupt_after": interrupt_after,
            "kill_at_write": kill_at_write,
            "largest_file": largest_file,
            "fault": None if fault is None else dict(fault),
            "fork": fork,
        }
        self._process.stdin.write(json.dumps(job) + "\n")
        self._process.stdin.flush()
        return Ended(**json.loads(self._process.stdout.readline()))


def _serve() -> None:
    from counterfoil import cli
    from counterfoil.cli.commands import own_process

    _import_what_commands_need()
    # What is there now stays: a fork that looks for garbage in it would copy it all.
    gc.collect()
    gc.freeze()
    for line in sys.stdin:
        job = json.loads(line)
        begun = time.perf_counter()
        if not job["fork"]:
            with contextlib.redirect_stdout(io.StringIO()) as said:
                code = cli.main(job["arguments"])
            ended = {"code": code, "said": said.getvalue(), "seconds": time.perf_counter() - begun}
            print(json.dumps(ended), flush=True)
            continue
        reader, writer = os.pipe()
        child = os.fork()
        if not child:
            os.close(reader)
            os.dup2(writer, 1)
            os.dup2(writer, 2)
            try:
                _prepare(job)
                if sys.argv[1:]:
                    own_process()
                code = cli.main(job["arguments"])
            except BaseException:
                traceback.print_exc()
                code = 99
            if job["fault"] is not None:
                from faults import shim

                shim.end(job["fault"])
            sys.stdout.flush()
            sys.stderr.flush()
            os._exit(code)
        os.close(writer)
        said, status, used, interrupted = _watch(child, reader, job["kill_after"], job["interrupt_after"])
        ended = {
            "code": None if os.WIFSIGNALED(status) else os.WEXITSTATUS(status),
            "said": said,
            "seconds": time.perf_counter() - begun,
            "processor_seconds": used.ru_utime + used.ru_stime,
            "memory": used.ru_maxrss * (1 if sys.platform == "darwin" else 1024) >> 20,
            "seconds_after_interrupt": used.ru_utime + used.ru_stime - interrupted if interrupted else None,
        }
        print(json.dumps(ended), flush=True)


def _import_what_commands_need() -> None:
    """So that the forks need not; the first fake tensor is an import too."""
    import torch
    from torch._subclasses.fake_tensor import FakeTensorMode

    from counterfoil.training import recorder  # noqa: F401

    with FakeTensorMode():
        torch.ones(2).add(1)


def _prepare(job: dict[str, Any]) -> None:
    if job["largest_file"] is not None:
        import resource

        resource.setrlimit(resource.RLIMIT_FSIZE, (job["largest_file"], job["largest_file"]))
    if job["kill_at_write"] is not None:
        _kill_at_write(job["kill_at_write"])
    if job["fault"] is None:
        os.fsync = lambda _handle: None  # as in tests/conftest.py
    else:
        from faults import shim

        shim.begin(job["fault"])


def _kill_at_write(chosen: int) -> None:
    """Kill this process when half of a write is done; also before and after the run gets its name."""
    from counterfoil.base import wholefiles
    from counterfoil.bundle import filewriter
    from counterfoil.training import recording

    counted = 0
    written, placed, removed = recording._write, wholefiles.put_in_place, recording._remove

    def due() -> bool:
        nonlocal counted
        counted += 1
        return counted == chosen

    def die() -> None:
        os.kill(os.getpid(), signal.SIGKILL)

    def write(file: Any, data: bytes | memoryview, folder: Path) -> None:
        if due():
            written(file, memoryview(data)[: len(data) // 2], folder)
            die()
        written(file, data, folder)

    def place(part: Path, path: Path, **settings: Any) -> None:
        if due():
            die()
        placed(part, path, **settings)
        if due():
            die()

    def remove(folder: Path) -> None:
        if due():
            die()
        (folder / "recording.json").unlink()
        if due():
            die()
        removed(folder)

    recording._write = write
    filewriter.put_in_place = place  # type: ignore[attr-defined]
    recording._remove = remove


def processor_seconds(process: int) -> float:
    """How much of the processor a process has taken; until it is waited for. Needs Linux."""
    fields = Path(f"/proc/{process}/stat").read_text().rsplit(")", 1)[1].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def _watch(
    child: int, reader: int, kill_after: float | None, interrupt_after: float | None
) -> tuple[str, int, Any, float | None]:
    """Read what a child says until its end, and kill or interrupt it when its time has come.

    Also returns what it used of the machine, and the processor seconds at which it was interrupted.
    """
    import select

    interrupted: float | None = None

    end = None if kill_after is None else time.perf_counter() + kill_after
    said = b""
    with contextlib.closing(os.fdopen(reader, "rb", buffering=0)) as pipe:
        while True:
            wait = None if end is None else max(0.0, end - time.perf_counter())
            if interrupt_after is not None and interrupted is None:
                taken = processor_seconds(child)
                if taken >= interrupt_after:
                    os.kill(child, signal.SIGINT)
                    interrupted = taken
                    continue
                if not select.select([pipe], [], [], 0.01)[0]:
                    continue
            elif not select.select([pipe], [], [], wait)[0]:
                os.kill(child, signal.SIGKILL)
                end = None
                continue
            piece = pipe.read(65536)
            if not piece:
                break
            said += piece
    _, status, used = os.wait4(child, 0)
    return said.decode(errors="replace"), status, used, interrupted


if __name__ == "__main__":
    _serve()
