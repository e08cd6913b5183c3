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
from typing import Any

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


# What a file system keeps of a file beside its bytes.


def _of_inode(request: int, value: bytes, world: World) -> object:
    """Ask the file system something of a file that may be read."""
    with Path(world.job, "run.txt").open("rb") as file:
        return fcntl.ioctl(file, request, value)


def _attribute(change: bool) -> Callable[[World], object]:
    def tried(world: World) -> object:
        path = Path(world.work, "own.txt")
        path.write_text("x")
        os.setxattr(path, "user.mine", b"x")
        return os.getxattr(path, "user.mine") if not change else os.removexattr(path, "user.mine")

    return tried


def _lease(world: World) -> object:
    with Path(world.work, "leased.txt").open("w") as file:
        file.write("x")
    with Path(world.work, "leased.txt").open() as file:
        return fcntl.fcntl(file, fcntl.F_SETLEASE, fcntl.F_RDLCK)


# What is said of other processes, and of the machine.


def _of_victim(name: str) -> Callable[[World], object]:
    return lambda world: Path(f"/proc/{world.victim}", name).read_bytes() or "empty"


def _listed(path: str) -> Callable[[World], object]:
    return lambda _: sorted(os.listdir(path))


def _read(path: str) -> Callable[[World], object]:
    def tried(_: World) -> object:
        with open(path, "rb", buffering=0) as file:
            os.set_blocking(file.fileno(), False)
            return file.read(16)

    return tried


def _written(folder: str) -> Callable[[World], object]:
    def tried(_: World) -> object:
        path = Path(folder, f"counterfoil-escape-{os.getpid()}")
        try:
            return path.write_text("x")
        finally:
            path.unlink(missing_ok=True)

    return tried


def _from(world: World) -> str:
    return f"{world.home}/secret.txt"


def _after(change: Callable[[World], object], name: str = "secret.txt") -> Callable[[World], object]:
    """Read after having gone to another folder."""

    def tried(world: World) -> object:
        before = os.getcwd()
        change(world)
        try:
            return _secret(Path(name).read_text())
        finally:
            os.chdir(before)

    return tried


def _by_path_descriptor(world: World) -> object:
    found = os.open(_from(world), os.O_PATH)
    return _secret(Path(f"/proc/self/fd/{found}").read_text())


def _by_openat2(world: World) -> object:
    how = struct.pack("QQQ", os.O_RDONLY, 0, 0)
    with os.fdopen(_checked(_C.syscall(437, -100, _from(world).encode(), how, len(how)))) as file:
        return _secret(file.read())


def _copied(by: Callable[[int, int], object]) -> Callable[[World], object]:
    """Have the kernel copy a file into one of one's own."""

    def tried(world: World) -> object:
        own = Path(world.work, "copied.txt")
        with open(_from(world), "rb") as source, own.open("wb") as target:
            by(source.fileno(), target.fileno())
        return _secret(own.read_text())

    return tried


def _mapped(world: World) -> object:
    import mmap

    with open(_from(world), "rb") as file, mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as memory:
        return _secret(memory[:].decode())


def _mapped_code(world: World) -> object:
    import mmap

    with open(world.library, "rb") as file:
        return len(mmap.mmap(file.fileno(), 4096, mmap.MAP_PRIVATE, mmap.PROT_READ | mmap.PROT_EXEC))


def _shared_anonymous(size: int) -> Callable[[World], object]:
    def tried(_: World) -> object:
        import mmap

        with mmap.mmap(-1, size, mmap.MAP_SHARED | mmap.MAP_ANONYMOUS) as memory:
            memory[0] = 1
            return len(memory)

    return tried


def _removed(how: Callable[[World], object], make: Callable[[World], object]) -> Callable[[World], object]:
    def tried(world: World) -> object:
        make(world)
        how(world)
        return "done"

    return tried


def _socket(family: int, kind: int, number: int = 0) -> Callable[[World], object]:
    def tried(_: World) -> object:
        with socket.socket(family, kind, number) as made:
            return made.fileno()

    return tried


def _call(name: str, *arguments: Any) -> Callable[[World], object]:
    """A system call by its number, here and there; ``victim`` among its arguments is that process."""

    def tried(world: World) -> object:
        given = [world.victim if each == "victim" else world.folder if each == "folder" else each for each in arguments]
        return _checked(_C.syscall(_CALLS[name][os.uname().machine == "aarch64"], *given))

    return tried


def _in_a_child(how: Callable[[World], object]) -> Callable[[World], object]:
    """What is for good is done by a process of its own."""

    def tried(world: World) -> object:
        child = os.fork()
        if child == 0:
            try:
                how(world)
            except BaseException:
                os._exit(1)
            os._exit(0)
        if os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]):
            raise OSError("not here")
        return "done"

    return tried


_CALLS = {
    "tkill": (200, 130), "tgkill": (234, 131), "kcmp": (312, 272), "ioprio_set": (251, 30), "semget": (64, 190),
    "msgget": (68, 186), "memfd_secret": (447, 447), "add_key": (248, 217), "keyctl": (250, 219), "bpf": (321, 280),
    "perf_event_open": (298, 241), "userfaultfd": (323, 282), "fanotify_init": (300, 262), "personality": (135, 92),
    "syslog": (103, 116), "sync": (162, 81), "syncfs": (306, 267), "unshare": (272, 97), "mount": (165, 40),
    "chroot": (161, 51), "name_to_handle_at": (303, 264), "open_tree": (428, 428), "fsopen": (430, 430),
    "setresuid": (117, 147), "setgroups": (116, 159), "adjtimex": (159, 171),
}  # fmt: skip
_PATH = ctypes.create_string_buffer(b"/")
_EMPTY = ctypes.create_string_buffer(256)
MORE: dict[str, Callable[[World], object]] = {
    "set_an_inode_flag": lambda world: _of_inode(0x40086602, struct.pack("l", 0x40), world),
    "read_an_inode_flag": lambda world: _of_inode(0x80086601, bytes(8), world),
    "set_a_project": lambda world: _of_inode(0x401C5820, bytes(28), world),
    "set_a_generation": lambda world: _of_inode(0x40087602, struct.pack("l", 7), world),
    "read_the_space_of_a_file": lambda world: _of_inode(0x801C581F, bytes(28), world),
    "set_an_attribute": _attribute(change=False),
    "remove_an_attribute": _attribute(change=True),
    "list_attributes": lambda world: str(os.listxattr(Path(world.home, "data.txt"))),
    "lease_a_file": _lease,
    "notice_changes": lambda world: fcntl.fcntl(world.folder, fcntl.F_NOTIFY, 0x2),
    "write_out_all_disks": lambda world: _call("sync")(world) + 1,
    "write_out_a_disk": _call("syncfs", "folder"),
    **{f"read_the_{name}_of_another": _of_victim(name) for name in ("status", "maps", "stat", "io", "cgroup", "comm",
       "limits", "mountinfo", "oom_score", "wchan", "sched")},
    "list_threads_of_another": lambda world: sorted(os.listdir(f"/proc/{world.victim}/task")),
    "see_the_root_of_another": lambda world: sorted(os.listdir(f"/proc/{world.victim}/root")),
    "list_all_processes": _listed("/proc"),
    "list_temporary_files": _listed("/tmp"),
    "list_logs": _listed("/var/log"),
    "list_the_root": _listed("/"),
    "list_settings": _listed("/etc"),
    "list_shared_memory": _listed("/dev/shm"),
    "list_network_devices": _listed("/sys/class/net"),
    "write_a_temporary_file": _written("/tmp"),
    "write_into_shared_memory": _written("/dev/shm"),
    "read_settings": _read("/etc/hosts"),
    "read_groups": _read("/etc/group"),
    "open_a_terminal": _read("/dev/ptmx"),
    "read_the_kernels_messages": _read("/dev/kmsg"),
    "read_all_memory": _read("/dev/mem"),
    "go_there_and_read": _after(lambda world: os.chdir(world.home)),
    "go_there_by_a_descriptor": _after(lambda world: os.fchdir(world.folder)),
    "read_by_a_path_descriptor": _by_path_descriptor,
    "read_by_openat2": _by_openat2,
    "let_the_kernel_copy": _copied(lambda source, target: os.copy_file_range(source, target, 4096)),
    "let_the_kernel_send": _copied(lambda source, target: os.sendfile(target, source, 0, 4096)),
    "map_a_file": _mapped,
    "map_code": _mapped_code,
    "share_memory_without_a_name": _shared_anonymous(4096),
    "share_more_memory_than_allowed": _shared_anonymous(2**26),
    "link_by_a_descriptor": lambda world: os.link(
        f"/proc/self/fd/{os.open(_from(world), os.O_PATH)}", Path(world.work, "linked.txt"), follow_symlinks=True
    ) or _secret(Path(world.work, "linked.txt").read_text()),
    "make_a_symbolic_link_there": lambda world: os.symlink("secret.txt", Path(world.home, "link")) or "done",
    "remove_a_folder": _removed(lambda world: os.rmdir(Path(world.home, "gone")),
                                lambda world: os.mkdir(Path(world.home, "gone"))),
    "truncate_what_is_read": lambda world: os.close(os.open(Path(world.job, "run.txt"), os.O_WRONLY)) or "opened",
    "send_raw_packets": _socket(socket.AF_INET, socket.SOCK_RAW, 1),
    "speak_to_the_kernels_network": _socket(socket.AF_NETLINK, socket.SOCK_RAW),
    "see_all_packets": _socket(socket.AF_PACKET, socket.SOCK_RAW),
    "speak_by_ipv6": _socket(socket.AF_INET6, socket.SOCK_STREAM),
    "let_the_kernel_encrypt": _socket(38, socket.SOCK_SEQPACKET),
    "signal_a_thread": _call("tkill", "victim", 18),
    "signal_a_thread_of_another": _call("tgkill", "victim", "victim", 18),
    "compare_with_another": _call("kcmp", "victim", "victim", 0, 0, 0),
    "schedule_another": lambda world: os.sched_setscheduler(
        world.victim, os.SCHED_BATCH, os.sched_param(0)) or "done",  # type: ignore[call-arg]
    "slow_the_disk_of_another": _call("ioprio_set", 1, "victim", 3 << 13),
    "make_a_semaphore": _call("semget", 0, 1, 0o1600),
    "make_a_queue": _call("msgget", 0, 0o1600),
    "make_secret_memory": _call("memfd_secret", 0),
    "keep_a_key": _call("add_key", b"user", b"counterfoil", b"x", 1, -2),
    "ask_for_keys": _call("keyctl", 0, -2, 1),
    "run_in_the_kernel": _call("bpf", 0, _EMPTY, 72),
    "count_performance": _call("perf_event_open", _EMPTY, 0, -1, -1, 0),
    "handle_faults": _call("userfaultfd", 1),
    "watch_all_files": _call("fanotify_init", 0, 0),
    "be_another_kind_of_process": _call("personality", 0xFFFFFFFF),
    "read_the_kernels_log": _call("syslog", 10, 0, 0),
    "mount_a_disk": _in_a_child(lambda world: (_call("unshare", 0x20000)(world), _call(
        "mount", b"none", world.work.encode(), b"tmpfs", 0, 0)(world))),
    "change_the_root": _in_a_child(_call("chroot", _PATH)),
    "open_a_tree": _call("open_tree", -100, _PATH, 1),
    "open_a_file_system": _call("fsopen", b"tmpfs", 0),
    "be_another_user": _in_a_child(_call("setresuid", 65534, 65534, 65534)),
    "leave_groups": _in_a_child(_call("setgroups", 0, 0)),
    "ask_for_the_clock": _call("adjtimex", _EMPTY),
    "fork_by_another_name": lambda world: _in_a_child(lambda _: None)(world),
    "catch_a_handle": lambda world: _checked(_C.syscall(
        _CALLS["name_to_handle_at"][os.uname().machine == "aarch64"], -100, os.fsencode(world.home),
        ctypes.create_string_buffer(struct.pack("Ii", 128, 0) + bytes(128)), ctypes.byref(ctypes.c_int()), 0)) + 1,
}  # fmt: skip
TRIES |= MORE


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
