"""A box closes as far as the system can, and says how far; nothing of this process is restricted here."""

from __future__ import annotations

import mmap
import os
import platform
import subprocess
import sys
from pathlib import Path

import pytest

from counterfoil.sandbox import box
from counterfoil.sandbox.box import Policy
from counterfoil.sandbox.calls import ARCHITECTURES
from support.boxes import closed

__all__ = ["closed"]

linux = pytest.mark.skipif(
    sys.platform != "linux" or platform.machine() not in ARCHITECTURES, reason="there are boxes on Linux only"
)
_PRELUDE = "from counterfoil.sandbox import box, kernel\n"


def said(program: str, **environment: str) -> str:
    done = subprocess.run(
        [sys.executable, "-P", "-c", _PRELUDE + program],
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
        env={**os.environ, **environment},
    )
    assert done.returncode == 0, done.stderr
    return done.stdout.strip()


@pytest.fixture(autouse=True)
def untouched(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(box, "_closed", box._OPEN)


def test_words() -> None:
    assert box.sandbox() == "none: not asked for"
    assert box.Closed(("landlock-v4", "seccomp")).words == "landlock-v4, seccomp"
    assert box.Closed(("seccomp",), ("landlock: x",)).words == "seccomp; without landlock: x"
    assert box.Closed((), ("landlock: x", "seccomp: y")).words == "none: landlock: x; seccomp: y"


def test_where_there_is_none(monkeypatch: pytest.MonkeyPatch) -> None:
    policy = Policy(())
    assert box.close(policy, {box.SWITCH: "off"}).words == f"none: switched off by {box.SWITCH}"
    assert box.sandbox() == f"none: switched off by {box.SWITCH}"
    monkeypatch.setattr(sys, "platform", "darwin")
    assert box.close(policy, {}).words == "none: this system has neither Landlock nor seccomp"


@linux
def test_on_another_processor() -> None:
    program = "import platform; platform.machine = lambda: 'riscv64'; print(box.enter([]).words); open('/etc/passwd')"
    assert said(program) == "none: unknown numbers of system calls on this processor"


@linux
def test_the_library_is_asked_about_operators_where_nothing_can_be_written() -> None:
    """Its compiler's front end makes a folder when it is loaded: in a box every program with a question ended so."""
    program = """
print(box.enter([]).words)
from torch._subclasses.fake_tensor import FakeTensorMode
import torch
with FakeTensorMode(): print(tuple(torch.empty(2, 3).T.shape))
"""
    assert said(program).splitlines()[-1] == "(3, 2)"


@linux
def test_a_kernel_without_landlock_still_filters_calls() -> None:
    program = """
def absent(self): raise OSError(38, "Function not implemented")
kernel.Kernel.landlock_version = absent
print(box.enter([]).words)
import socket
try: socket.socket()
except PermissionError: print("refused")
"""
    assert said(program) == "seccomp; without landlock: Function not implemented\nrefused"


@linux
def test_a_kernel_without_seccomp_still_restricts_files() -> None:
    program = """
def absent(self, program): raise OSError(22, "Invalid argument")
kernel.Kernel.restrict_calls = absent
print(box.enter([]).words)
try: open("/etc/hostname")
except PermissionError: print("refused")
"""
    words, refused = said(program).split("\n")
    if not words.startswith("landlock-v"):
        pytest.skip(f"this kernel has no Landlock: {words}")
    assert words.endswith("; without seccomp: Invalid argument")
    assert refused == "refused"


@linux
@pytest.mark.parametrize("version", range(1, 8))
def test_every_version_of_landlock(version: int) -> None:
    # A newer kernel does what an older one did.
    program = f"""
asked = kernel.Kernel.landlock_version
def older(self):
    if asked(self) < {version}: print("skip"); raise SystemExit
    return {version}
kernel.Kernel.landlock_version = older
print(box.enter([]).words)
try: open("/etc/hostname")
except PermissionError: print("refused")
open("/dev/null", "w").write("x")
"""
    words = said(program)
    if words == "skip" or "Function not implemented" in words or "Operation not supported" in words:
        pytest.skip("this kernel has an older Landlock, or none")
    assert words == f"landlock-v{version}, seccomp\nrefused"


@linux
def test_other_threads_would_stay_outside() -> None:
    program = """
import threading
threading.Thread(target=threading.Event().wait, daemon=True).start()
print(box.enter([]).words)
import os; os._exit(print(flush=True) or 0)
"""
    assert said(program) == "seccomp; without landlock: other threads run"


@linux
def test_memory_is_limited_by_what_there_is() -> None:
    program = """
import resource
closed = box.enter([])
limit, _ = resource.getrlimit(resource.RLIMIT_DATA)
from counterfoil_core.base.memory import memory_total
print(0 < limit <= memory_total() + 2**36, resource.getrlimit(resource.RLIMIT_CORE))
try: bytearray(2**45)
except MemoryError: print("refused")
"""
    assert said(program) == "True (0, 0)\nrefused"


@linux
def test_what_a_process_has_reserved_before_leaves_it_room() -> None:
    """A fork comes with an arena as large as the machine, of which nothing need be touched."""
    program = """
from counterfoil_core.base.memory import memory_total
from counterfoil_core.kernels.buffers import map_memory
arena = map_memory(memory_total())
closed = box.enter([])
print(len(bytearray(2**26)))
try: bytearray(2**45)
except MemoryError: print("refused")
"""
    assert said(program) == f"{2**26}\nrefused"


def test_memory_that_is_shared_makes_no_folder_readable() -> None:
    with mmap.mmap(-1, 4096) as shared:
        named = [line for line in Path("/proc/self/maps").read_text().splitlines() if "/dev/zero" in line]
        assert named, "it has the name of a file there"
        assert len(shared) == 4096
        assert not {"/dev", "/"} & set(box.installation())
