"""A command in a box: it closes one around itself before it reads anything, and leaves a monitor outside of it.

The monitor is forked from the command before that, and does what the box does not let: it holds the private key by way
of the signer, claims what will be written and puts it in place, and fetches what lies elsewhere. It reads no file of a
stranger's. What the command asks for is read by declared types, and is done for the paths of its own options alone:
the command may be a stranger's by then. A file is written into a staging folder beside its target, and what lies there
is looked at before it gets its name.
"""

from __future__ import annotations

import errno
import mmap
import os
import shutil
import signal
import socket
import stat
import threading
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, ExitStack, contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, BinaryIO, Concatenate, NoReturn, ParamSpec, TypeVar, cast

from counterfoil.audit.boxed.farrun import FarRun
from counterfoil.audit.boxed.start import why_open
from counterfoil.base import wholefiles
from counterfoil.cli.continuation import Written
from counterfoil.cli.places import Given, claims
from counterfoil.distributed.outside import GROUP, Connect, GroupOutside, outside_group, shared_memory
from counterfoil.sandbox import box
from counterfoil.signer.client import SignerProcess, ask_passphrase, start_signer
from counterfoil.signer.environment import drop_passphrase
from counterfoil.talk.failure import refusal
from counterfoil.talk.frames import read_frame, write_frame
from counterfoil.talk.line import Line
from counterfoil.talk.messages import decode, encode
from counterfoil.talk.port import Delivery, Item, Port, Raised, Returned
from counterfoil.talk.table import MONITOR
from counterfoil_core.base.errors import CounterfoilError
from counterfoil_core.base.sentence import say
from counterfoil_core.remote.address import Address, place_of

if TYPE_CHECKING:
    from counterfoil_core.base.cancel import CancelToken
    from counterfoil_core.remote.ranges import Ranges

_ENVIRONMENT = {"OPENBLAS_NUM_THREADS": "1", "XDG_RUNTIME_DIR": ""}
"""What libraries are told in a box: numpy needs no threads, and there is no folder for temporary files but its own."""
P = ParamSpec("P")
T = TypeVar("T")


@dataclass(frozen=True)
class Begun:
    """What the monitor has made ready."""

    staging: tuple[tuple[Path, Path], ...]  #: What will be written, each with its staging folder.
    near: Path | None  #: The copy of what lies elsewhere, where its server gives no pieces of it.


class Monitor(FarRun, GroupOutside):
    """Does what the command may not: what that may ask for is a method, whose signature says what goes in and out.

    Args:
        given: What the command is given.
        handles: Where descriptors are handed over.
        memory: What it shares with the command, of a rank among others.
    """

    def __init__(self, given: Given, handles: socket.socket, memory: mmap.mmap | None = None) -> None:
        self._given = given
        address = place_of(given.address) if given.address else None
        FarRun.__init__(self, address if isinstance(address, Address) else None)
        GroupOutside.__init__(self, memory)
        self._handles = handles
        self._stack = ExitStack()
        self._staging: dict[Path, Path] = {}
        self._signers: dict[Path, SignerProcess] = {}

    def begin(self) -> Begun:
        """Claim what will be written, make a staging folder beside each of it, and reach what lies elsewhere.

        Raises:
            FileWriteError: Another process is going to write one of the files.
            GivenFileError, FileReadError: What lies elsewhere cannot be had.
        """
        self._stack.enter_context(claims(self._given))
        for place in self._given.places if self._given.writes else ():
            for target in map(_whole, place.writes):
                with suppress(OSError):  # whoever writes there says what is wrong
                    for folder in place.role.makes(target):
                        self._make(folder)
                    if place.role.claims:
                        folder = wholefiles.part_path(target)
                        folder.mkdir(mode=0o700)
                        self._stack.callback(shutil.rmtree, folder, ignore_errors=True)
                        self._staging[target] = folder
        near: object = None
        if self._address is not None:
            from counterfoil.remote import files  # with the libraries for networks

            near = self._stack.enter_context(files.near(self._address))
        return Begun(tuple(self._staging.items()), near if isinstance(near, Path) else None)

    def place(self, target: Path, name: str, what: str, replace: bool) -> None:
        """Put a file or a folder in place that the command has written into the staging folder of a target."""
        if target not in self._staging or os.path.basename(name) != name:
            raise refusal()
        part = self._staging[target] / name
        with wholefiles.write_errors(target, what):
            _check_plain(part)
        wholefiles.put_in_place(part, target, what=what, replace=replace)

    def open_log(self, target: Path, new: bool) -> str:
        """Open a file that grows, and hand its descriptor over; returns the name of the error where that fails."""
        if target not in self._staging:
            raise refusal()
        try:
            handle = wholefiles.open_log(target, new=new)
        except OSError as error:
            return errno.errorcode.get(error.errno or 0, "EIO")
        socket.send_fds(self._handles, [b" "], [handle])
        os.close(handle)
        return ""

    def remove_leftovers(self, target: Path) -> tuple[Path, ...]:
        """Remove what stopped processes have left behind of a target."""
        if target not in self._staging:
            return ()
        return wholefiles.remove_leftovers(target)

    def open_key(self, key: Path, purpose: str, about: str) -> str:
        """Start the process that holds a private key; returns the public key as PEM."""
        if not any(key in place.reads for place in self._given.places if place.role.secret):
            raise refusal()
        signer = self._signers[key] = self._stack.enter_context(
            start_signer(key, purpose, ask_passphrase(), about=about)
        )
        return signer.pem

    def sign(self, key: Path, statement: bytes) -> bytes:
        """Have a statement signed; returns the envelope."""
        if key not in self._signers:
            raise refusal()
        return self._signers[key].sign(statement)

    def wrote(self, target: Path) -> bool:
        """Whether a command of this kind wrote the file that lies there, and was not done."""
        return self._written(target).has(target)

    def note(self, target: Path) -> None:
        """Take note of the file that lies there: it is the command's, and this is not done."""
        self._written(target).note(target, target)

    def forget(self, target: Path) -> None:
        """It is done."""
        self._written(target).forget()

    def ask_server(self, query: bytes) -> bytes:
        """Send a query to the time-stamping server; returns its answer, which nobody has looked at."""
        from counterfoil.exports.timestamp import ask_server

        return ask_server(self._given.server, query)

    def compile(self) -> None:
        """Compile kernels, which are kept where a process in a box cannot write."""
        from counterfoil.audit.boxed.compilation import compile_where_possible

        compile_where_possible()

    def close(self) -> int:
        """Let go of all; returns the exit code of its process."""
        self.close_run()
        self._stack.close()
        return 0

    def _written(self, target: Path) -> Written:
        if target not in self._staging:
            raise refusal()
        return Written(target)

    def _make(self, folder: Path) -> None:
        """Make a folder; in the end it is removed if nothing was put into it, or all was taken out."""
        if folder.is_dir() and not any(folder.iterdir()):
            return
        folder.mkdir(exist_ok=True)
        wholefiles.sync_folder(folder.parent)

        def remove() -> None:
            with suppress(OSError):
                folder.rmdir()

        self._stack.callback(remove)


ASKED = Port[Monitor](
    Monitor.begin, Monitor.place, Monitor.open_log, Monitor.remove_leftovers, Monitor.open_key, Monitor.sign,
    Monitor.open_run, Monitor.fetch_run, Monitor.compare_run, Monitor.close_run, Monitor.compile, Monitor.ask_server,
    Monitor.wrote, Monitor.note, Monitor.forget, *GROUP.functions,
)  # fmt: skip
"""What a command in a box may ask for."""


class Asked:
    """The monitor as the command reaches it: a :class:`counterfoil.base.wholefiles.Placer`, among others.

    Args:
        pipe: Leads to it.
        handles: Where it hands descriptors over.
        memory: What it shares with a rank among others.
    """

    def __init__(self, pipe: socket.socket, handles: socket.socket, memory: mmap.mmap | None) -> None:
        self._handles, self._memory = handles, memory
        self._asking = threading.Lock()
        self._pipe = _stream(pipe)
        self._staging: dict[Path, Path] = {}
        self.near: Path | None = None

    def ask(
        self, port: Port[Any], question: Callable[Concatenate[Any, P], T], *arguments: P.args, **named: P.kwargs
    ) -> T:
        """Ask for one of :data:`ASKED`, whatever side declares it; raises the CounterfoilError of a refusal."""
        del port
        said = None
        with self._asking, suppress(OSError, ValueError):
            try:
                write_frame(self._pipe, encode(ASKED.call(question, arguments, named)))
                said = read_frame(self._pipe, MONITOR.says)
            except KeyboardInterrupt:
                self._pipe.close()  # else the next one to ask would hear this answer
                raise
        if said is None:
            raise CounterfoilError(say("The process outside of the box has ended. Nothing was concluded."))
        (answer,) = decode(said, Delivery)
        if isinstance(answer, Raised):
            raise answer.failure.error
        assert isinstance(answer, (Returned, Item)), "the monitor asks nothing"
        return cast("T", decode(answer.value, ASKED.form(question.__name__).brings))

    def begin(self) -> None:
        """Let it make ready what is written; raises as :meth:`Monitor.begin`."""
        begun = self.ask(ASKED, Monitor.begin)
        self._staging, self.near = dict(begun.staging), begun.near

    @property
    def folders(self) -> tuple[Path, ...]:
        """The staging folders."""
        return tuple(self._staging.values())

    def staging(self, path: Path) -> Path | None:
        """As :class:`~counterfoil.base.wholefiles.Placer`, and so the next ones."""
        return self._staging.get(_whole(path))

    def place(self, part: Path, path: Path, what: str, replace: bool) -> None:
        """Put a file in place."""
        self.ask(ASKED, Monitor.place, _whole(path), part.name, what, replace)

    def open_log(self, path: Path, new: bool) -> int:
        """Open a file that grows."""
        failed = self.ask(ASKED, Monitor.open_log, _whole(path), new)
        if failed:
            number = getattr(errno, failed)
            raise OSError(number, os.strerror(number))
        _, (handle,), _, _ = socket.recv_fds(self._handles, 1, 1)
        return handle

    def remove_leftovers(self, path: Path) -> tuple[Path, ...]:
        """Remove what stopped processes have left behind."""
        return self.ask(ASKED, Monitor.remove_leftovers, _whole(path))

    def open_key(self, key: Path, purpose: str, about: str) -> SignerProcess:
        """Start the process that holds a private key; raises as :func:`counterfoil.signer.client.start_signer`."""
        return _AskedSigner(self, key, self.ask(ASKED, Monitor.open_key, key, purpose, about))

    def ask_server(self, url: str, query: bytes) -> bytes:
        """Send a query to the time-stamping server that the command names; raises DataError."""
        del url
        return self.ask(ASKED, Monitor.ask_server, query)

    def ranges(self, address: Address, cancel: CancelToken) -> Ranges:
        """Open what lies elsewhere, outside; raises GivenFileError, FileReadError and CancelledError."""
        from counterfoil.audit.boxed.questions import Asking

        return Asking(self, Path()).ranges(address, cancel)

    @property
    def connect(self) -> Connect | None:
        """Brings ranks together; None where this process is none."""
        memory = self._memory
        if memory is None:
            return None
        return lambda started, _device, cancel: outside_group(self, memory, started, cancel)


class _AskedWritten(Written):
    """What was written, of which the monitor takes note."""

    def __init__(self, asked: Asked, run: Path) -> None:
        self._asked, self._run = asked, _whole(run)

    def has(self, path: Path) -> bool:
        return _whole(path) == self._run and self._asked.ask(ASKED, Monitor.wrote, self._run)

    def note(self, path: Path, content: Path) -> None:
        self._asked.ask(ASKED, Monitor.note, self._run)

    def forget(self) -> None:
        self._asked.ask(ASKED, Monitor.forget, self._run)


def continuation(run: Path) -> Written:
    """Return what was written of a run that is not done."""
    return Written(run) if _asked is None else _AskedWritten(_asked, run)


class _AskedSigner(SignerProcess):
    """A signer of the monitor's, which ends with that."""

    def __init__(self, asked: Asked, key: Path, pem: str) -> None:
        self._asked, self._key, self.pem, self.certificates = asked, key, pem, ()

    def close(self) -> None:
        """Nothing: it ends with the command."""

    def signed(self, payload: bytes) -> bytes:
        return self._asked.ask(ASKED, Monitor.sign, self._key, payload)


_asked: Asked | None = None


def within(given: Given) -> AbstractContextManager[None]:
    """Return what a command runs within: its box, or where there is none the claims of what it writes."""
    why = why_open(given.device)
    if not why:
        return close_box(given)
    box.leave_open(why)
    return claims(given)


def get_kernels() -> None:
    """Let the kernels that are not kept be compiled, where this command could not keep them."""
    if _asked is None:
        return
    from counterfoil_core.kernels.cache import lacks_kernels

    if lacks_kernels():
        _asked.ask(ASKED, Monitor.compile)


def connect() -> Connect | None:
    """Return what brings the ranks together beside the box of this command; None where it is in none."""
    return None if _asked is None else _asked.connect


def current_monitor() -> Asked | None:
    """Return the monitor of this command; None where it is in no box."""
    return _asked


@contextmanager
def close_box(given: Given) -> Iterator[None]:
    """Close the box of a command around this process, for good; the monitor ends with the block.

    Raises:
        FileWriteError: Another process is going to write what the command writes.
        GivenFileError, FileReadError: What lies elsewhere cannot be had.
    """
    global _asked
    os.environ.update(_ENVIRONMENT)
    memory = None
    if given.among_ranks:
        memory = shared_memory()
        import torch.distributed  # noqa: F401  # once for both processes
    (ours, theirs), (taken, handed) = socket.socketpair(), socket.socketpair()
    outside = Monitor(given, handed, memory)
    process = os.fork()
    if not process:
        ours.close()
        _watch(theirs, outside)
    theirs.close()
    handed.close()
    drop_passphrase()
    try:
        monitor = Asked(ours, taken, memory)
        monitor.begin()
        into = [path for place in given.places for path in place.role.into(place.path) if given.writes]
        near = () if monitor.near is None else (monitor.near,)
        reads = [path for place in given.places for path in place.boxed]
        lists = [path for place in given.places for path in place.lists]
        box.enter([*reads, *near], [*monitor.folders, *into], lists)
        wholefiles.place_by(monitor)
        _asked = monitor
        yield
    finally:
        ours.shutdown(socket.SHUT_RDWR)
        os.waitpid(process, 0)


def _watch(pipe: socket.socket, monitor: Monitor) -> NoReturn:
    """Be the monitor, until nobody asks any more."""
    code = 1
    try:
        for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):  # the command decides what ends
            signal.signal(number, signal.SIG_IGN)
        nowhere = os.open(os.devnull, os.O_RDWR)
        os.dup2(nowhere, 1)  # else whoever reads what the command prints would wait for this process, too
        line = Line(MONITOR, ASKED, leaves=False, pipes=(_stream(pipe), _stream(pipe)))
        code = line.serve(monitor, stop=lambda _: os._exit(monitor.close()))
        monitor.close()
    finally:
        os._exit(code)


def _stream(pipe: socket.socket) -> BinaryIO:
    return cast("BinaryIO", pipe.makefile("rwb", buffering=0))


def _whole(path: Path) -> Path:
    return Path(os.path.abspath(path))


def _check_plain(part: Path) -> None:
    """Check that the command has written nothing but regular files, and folders of these, with no special rights."""
    within = part.rglob("*") if part.is_dir() and not part.is_symlink() else ()
    for path in (part, *within):
        mode = path.lstat().st_mode
        if not (stat.S_ISREG(mode) or stat.S_ISDIR(mode)) or stat.S_IMODE(mode) & ~0o777:
            raise refusal()
