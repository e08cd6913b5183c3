"""Tries to get out of a box, each a function of a :class:`World`: run as ``python escapes.py WORLD box|open NAME ...``.

Each prints one line of JSON for each name: what it got, or why it got nothing. A try counts as a success only if it
returns the thing itself. Without a box each succeeds: that is its control.
"""

from __future__ import annotations

import ctypes
import fcntl
import json
import os
import resource
import signal
import socket
import struct
import sys
import threading
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

SECRET = "what nobody in a box may know"


@dataclass(frozen=True)
class World:
    """What lies around a box.

    Attributes:
        home: The user's folder, with ``secret.txt``, ``key.pem``, ``data.txt``.
        job: A folder that the box lets read.
        work: A folder that the box lets write.
        library: A shared library in the user's folder.
        victim: The id of another process of this user, with SECRET in its environment and memory.
        tcp: A port of this machine where somebody listens.
        udp: A port where somebody receives.
        unix: The path of a socket where somebody listens.
        abstract: The name of an abstract socket where somebody listens.
        folder: The descriptor of ``home``, opened before the box was closed.
        address: Where SECRET lies in the victim's memory.
    """

    home: str
    job: str
    work: str
    library: str
    victim: int
    tcp: int
    udp: int
    unix: str
    abstract: str
    folder: int
    address: int


TRIES: dict[str, Callable[[World], object]] = {}
_C = ctypes.CDLL(None, use_errno=True)
_NUMBERS = {
    "x86_64": {"memfd_create": 319, "io_uring_setup": 425, "open_by_handle_at": 304, "name_to_handle_at": 303},
    "aarch64": {"memfd_create": 279, "io_uring_setup": 425, "open_by_handle_at": 265, "name_to_handle_at": 264},
}[os.uname().machine]
_SIGNAL_PROBE = 0


def attempt(function: Callable[[World], object]) -> Callable[[World], object]:
    """Register a try under its name."""
    TRIES[function.__name__] = function
    return function


def _checked(result: int | None) -> int:
    if result is None or result < 0:
        number = ctypes.get_errno()
        raise OSError(number, os.strerror(number))
    return result


def _secret(text: str) -> str:
    if SECRET not in text:
        raise ValueError("something else")
    return SECRET


# Files.


@attempt
def read_a_file_of_home(world: World) -> object:
    return _secret(Path(world.home, "secret.txt").read_text())


@attempt
def read_the_private_key(world: World) -> object:
    return _secret(Path(world.home, "key.pem").read_text())


@attempt
def read_through_an_open_folder(world: World) -> object:
    with os.fdopen(os.open("secret.txt", os.O_RDONLY, dir_fd=world.folder)) as file:
        return _secret(file.read())


@attempt
def read_through_proc_root(world: World) -> object:
    return _secret(Path("/proc/self/root" + world.home, "secret.txt").read_text())


@attempt
def read_in_a_thread(world: World) -> object:
    found: list[object] = []

    def read() -> None:
        found.append(_secret(Path(world.home, "secret.txt").read_text()))

    threading.excepthook = lambda _: None
    thread = threading.Thread(target=read)
    thread.start()
    thread.join()
    return found[0]


@attempt
def list_home(world: World) -> object:
    return sorted(os.listdir(world.home))


@attempt
def write_a_new_file(world: World) -> object:
    return Path(world.home, "new.txt").write_text("x")


@attempt
def write_into_what_is_read(world: World) -> object:
    return Path(world.job, "run.txt").write_text("x")


@attempt
def append_to_a_file(world: World) -> object:
    with Path(world.home, "data.txt").open("a") as file:
        return file.write("x")


@attempt
def truncate_a_file(world: World) -> object:
    os.truncate(Path(world.home, "data.txt"), 1)
    return "done"


@attempt
def rename_over_a_file(world: World) -> object:
    mine = Path(world.work, "mine.txt")
    mine.write_text("x")
    mine.replace(Path(world.home, "data.txt"))
    return "done"


@attempt
def move_a_file_in(world: World) -> object:
    taken = Path(world.work, "taken.txt")
    Path(world.home, "secret.txt").rename(taken)
    try:
        return _secret(taken.read_text())
    finally:
        taken.rename(Path(world.home, "secret.txt"))


@attempt
def hard_link_a_file_in(world: World) -> object:
    link = Path(world.work, "hard.txt")
    os.link(Path(world.home, "secret.txt"), link)
    return _secret(link.read_text())


@attempt
def symbolic_link_out(world: World) -> object:
    link = Path(world.work, "soft.txt")
    link.symlink_to(Path(world.home, "secret.txt"))
    return _secret(link.read_text())


@attempt
def make_a_folder(world: World) -> object:
    Path(world.home, "folder").mkdir()
    return "done"


@attempt
def make_a_pipe(world: World) -> object:
    os.mkfifo(Path(world.home, "pipe"))
    return "done"


@attempt
def remove_a_file(world: World) -> object:
    Path(world.home, "spare.txt").unlink()
    return "done"


@attempt
def change_a_mode(world: World) -> object:
    Path(world.home, "data.txt").chmod(0o666)
    return "done"


@attempt
def change_a_time(world: World) -> object:
    os.utime(Path(world.home, "data.txt"), (1, 1))
    return "done"


@attempt
def watch_home(world: World) -> object:
    watch = _checked(_C.inotify_init1(0))
    return _checked(_C.inotify_add_watch(watch, os.fsencode(world.home), 0x2))


@attempt
def load_a_library(world: World) -> object:
    return ctypes.CDLL(world.library)._name


@attempt
def open_by_handle(world: World) -> object:
    handle = ctypes.create_string_buffer(struct.pack("Ii", 128, 0) + bytes(128))
    mount = ctypes.c_int()
    path = os.fsencode(world.home) + b"/secret.txt"
    _checked(_C.syscall(_NUMBERS["name_to_handle_at"], -100, path, handle, ctypes.byref(mount), 0))
    found = _checked(_C.syscall(_NUMBERS["open_by_handle_at"], world.folder, handle, os.O_RDONLY))
    with os.fdopen(found) as file:
        return _secret(file.read())


# The network, and sockets.


@attempt
def connect_by_tcp(world: World) -> object:
    with socket.create_connection(("127.0.0.1", world.tcp), 5) as connection:
        return connection.getpeername()


@attempt
def listen_by_tcp(world: World) -> object:
    with socket.create_server(("127.0.0.1", 0)) as server:
        return server.getsockname()


@attempt
def send_by_udp(world: World) -> object:
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as sender:
        return sender.sendto(b"x", ("127.0.0.1", world.udp))


@attempt
def connect_to_a_socket_file(world: World) -> object:
    with socket.socket(socket.AF_UNIX) as connection:
        connection.connect(world.unix)
        return "connected"


@attempt
def connect_to_an_abstract_socket(world: World) -> object:
    with socket.socket(socket.AF_UNIX) as connection:
        connection.connect("\0" + world.abstract)
        return "connected"


@attempt
def make_a_pair_of_sockets(world: World) -> object:
    one, other = socket.socketpair()
    one.close()
    other.close()
    return "done"


# Programs and processes.


@attempt
def fork(world: World) -> object:
    child = os.fork()
    if child == 0:
        os._exit(7)
    return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])


@attempt
def spawn(world: World) -> object:
    child = os.posix_spawn("/bin/true", ["true"], {})
    return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])


@attempt
def run_another_program(world: World) -> object:
    reading, writing = os.pipe()
    os.dup2(writing, 1)
    os.execv(sys.executable, [sys.executable, "-c", "print('{\"got\": \"ran\"}', file=__import__('sys').stderr)"])
    return reading


@attempt
def run_a_program_in_memory(world: World) -> object:
    program = _checked(_C.syscall(_NUMBERS["memfd_create"], b"x", 0))
    os.write(program, Path("/bin/true").read_bytes())
    child = os.fork()
    if child == 0:
        os.execve(program, ["true"], {})
    code = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
    if code:
        raise OSError(f"exit code {code}")
    return "ran"


@attempt
def signal_the_parent(world: World) -> object:
    os.kill(os.getppid(), _SIGNAL_PROBE)
    return "could be killed"


@attempt
def signal_another(world: World) -> object:
    os.kill(world.victim, signal.SIGCONT)
    return "could be killed"


@attempt
def signal_through_a_descriptor(world: World) -> object:
    found = os.pidfd_open(world.victim)
    signal.pidfd_send_signal(found, signal.SIGCONT)
    return "could be killed"


@attempt
def let_the_kernel_signal(world: World) -> object:
    reading, _ = os.pipe()
    fcntl.fcntl(reading, fcntl.F_SETOWN, world.victim)
    if fcntl.fcntl(reading, fcntl.F_GETOWN) != world.victim:
        raise ValueError("not set")
    return "could be signalled"


@attempt
def read_an_environment(world: World) -> object:
    return _secret(Path(f"/proc/{world.victim}/environ").read_text())


@attempt
def read_the_parents_environment(world: World) -> object:
    return len(Path(f"/proc/{os.getppid()}/environ").read_bytes()) or 1


@attempt
def read_a_memory(world: World) -> object:
    with Path(f"/proc/{world.victim}/mem").open("rb", buffering=0) as memory:
        memory.seek(world.address)
        return _secret(memory.read(len(SECRET)).decode())


@attempt
def read_a_memory_by_call(world: World) -> object:
    buffer = ctypes.create_string_buffer(len(SECRET))

    class Piece(ctypes.Structure):
        _fields_ = (("base", ctypes.c_void_p), ("length", ctypes.c_size_t))

    here = Piece(ctypes.cast(buffer, ctypes.c_void_p), len(SECRET))
    there = Piece(world.address, len(SECRET))
    _checked(_C.process_vm_readv(world.victim, ctypes.byref(here), 1, ctypes.byref(there), 1, 0))
    return _secret(buffer.raw.decode())


@attempt
def list_open_files(world: World) -> object:
    return sorted(os.listdir(f"/proc/{world.victim}/fd"))


@attempt
def read_a_command_line(world: World) -> object:
    return Path(f"/proc/{world.victim}/cmdline").read_text()


@attempt
def trace_another(world: World) -> object:
    attach, detach = 16, 17
    _C.ptrace.argtypes = (ctypes.c_long, ctypes.c_long, ctypes.c_void_p, ctypes.c_void_p)
    _checked(_C.ptrace(attach, world.victim, None, None))
    os.waitpid(world.victim, 0x40000000)
    _checked(_C.ptrace(detach, world.victim, None, None))
    return "attached"


@attempt
def limit_another(world: World) -> object:
    return resource.prlimit(world.victim, resource.RLIMIT_CORE, (0, 0))


@attempt
def slow_another(world: World) -> object:
    os.setpriority(os.PRIO_PROCESS, world.victim, 19)
    return "done"


@attempt
def pin_another(world: World) -> object:
    os.sched_setaffinity(world.victim, os.sched_getaffinity(world.victim))
    return "done"


# Memory that others find, and large parts of the kernel.


@attempt
def share_memory(world: World) -> object:
    found = _checked(_C.shmget(0, 4096, 0o1600))
    _checked(_C.shmctl(found, 0, None))
    return "shared"


@attempt
def share_memory_by_name(world: World) -> object:
    name = f"/counterfoil-escape-{os.getpid()}".encode()
    found = _checked(_C.shm_open(name, os.O_CREAT | os.O_RDWR, 0o600))
    _C.shm_unlink(name)
    return found


@attempt
def make_a_file_in_memory(world: World) -> object:
    return _checked(_C.syscall(_NUMBERS["memfd_create"], b"x", 0))


@attempt
def make_a_namespace(world: World) -> object:
    # In a process of its own: a namespace is for good.
    child = os.fork()
    if child == 0:
        os._exit(0 if _C.unshare(0x10000000) == 0 else 1)
    if os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]):
        raise OSError("not here")
    return "made"


@attempt
def ask_io_uring(world: World) -> object:
    return _checked(_C.syscall(_NUMBERS["io_uring_setup"], 2, ctypes.create_string_buffer(120)))


def main() -> None:
    """Close the box, if it is to be closed, and try; what is found goes to standard error, line by line."""
    world = World(**json.loads(sys.argv[1]))
    if sys.argv[2] == "box":
        from counterfoil.sandbox import box

        words = box.enter([world.job, "/bin", "/usr/bin"], [world.work]).words
    else:
        words = "none"
    print(json.dumps({"sandbox": words}), file=sys.stderr)
    # The control of the box itself: what it is to let through.
    assert Path(world.job, "run.txt").read_text()
    assert Path(world.work, f"own-{os.getpid()}.txt").write_text("x")
    attempt_all(world, sys.argv[3:])


def attempt_all(world: World, names: Sequence[str]) -> None:
    """Try, and say on standard error what each try brought."""
    for name in names:
        print(json.dumps({"try": name}), file=sys.stderr)
        try:
            said = {"got": repr(TRIES[name](world))}
        except Exception as error:
            said = {"nothing": repr(error)}
        print(json.dumps(said), file=sys.stderr, flush=True)


def described(world: World) -> str:
    """Return a world as the first argument."""
    return json.dumps(asdict(world))


if __name__ == "__main__":
    main()
