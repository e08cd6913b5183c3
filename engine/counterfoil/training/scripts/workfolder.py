"""A private copy of the working folder, in which a script runs: nothing that it writes there reaches the user's own.

Small files are copied, and large ones are links until somebody opens them to write (copy-up, as an overlay file system
does it), so that a folder of any size costs little and needs no rights of an administrator.
"""

from __future__ import annotations

import errno
import itertools
import os
import shutil
import sys
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from types import FrameType
from typing import Any

from counterfoil.program import whereabouts

_FORK = "os.fork"
_MOST_ENTRIES = 5_000
"""So many files and folders are mirrored; whatever lies deeper is linked as a whole."""
_MOST_BYTES = 256 * 2**20
_LARGE = 16 * 2**20
"""A file of more bytes is linked, and copied only when it is opened to write."""
_LINKED = frozenset({".git", ".hg", "__pycache__", "node_modules"})
_WRITES = os.O_WRONLY | os.O_RDWR
_CHANGES = frozenset({"os.remove", "os.rename", "os.truncate", "os.rmdir", "os.mkdir", "os.link", "os.symlink"})
"""What Python says of changes to a folder, its paths first (PEP 578, table of audit events)."""


@dataclass(frozen=True)
class WorkFolder:
    """A private copy of a working folder; what lies beside that one lies beside the copy, as links."""

    original: Path  #: The user's own folder.
    path: Path  #: The copy.

    def private(self, path: Path) -> Path:
        """Return where something of the folder lies in the copy; what lies elsewhere stays where it is."""
        return self.path / path.relative_to(self.original) if path.is_relative_to(self.original) else path

    def name(self, path: str) -> str:
        """Return how a file is named to a user: relative to the folder where it lies in it."""
        for root in (self.path, self.original):
            if Path(path).is_relative_to(root):
                return Path(path).relative_to(root).as_posix()
        beside = self.path.parent
        return str(self.original.parent / Path(path).relative_to(beside)) if Path(path).is_relative_to(beside) else path

    def copy_up(self, path: str) -> None:
        """Make a file of the copy, or beside it, its own before it is written to: links on its way are replaced."""
        place = self.path.parent
        if not Path(path).is_relative_to(place):
            return
        for part in Path(path).relative_to(place).parts:
            place = place / part
            if place.is_symlink():
                target = Path(os.path.realpath(place))
                if target.is_relative_to(self.path.parent):
                    continue
                place.unlink()
                if target.is_dir():
                    place.mkdir()
                    for entry in os.scandir(target):
                        (place / entry.name).symlink_to(entry.path)
                elif target.exists():
                    shutil.copy2(target, place)


@contextmanager
def work_folder(original: Path) -> Iterator[WorkFolder]:
    """Make a private copy of a folder; it is removed afterwards.

    Args:
        original: The folder.
    """
    # Below a real path: the folder that one is in has no link in its name.
    root = Path(os.path.realpath(tempfile.mkdtemp(prefix="counterfoil-")))
    try:
        copy = root / (original.name or "folder")
        copy.mkdir()
        _mirror(original, copy)
        _link_neighbours(original, root)
        yield WorkFolder(original, copy)
    finally:
        shutil.rmtree(root, ignore_errors=True)


def _link_neighbours(original: Path, root: Path) -> None:
    """Link what lies beside a folder, which scripts find as ``../data``."""
    with suppress(PermissionError):
        for entry in itertools.islice(os.scandir(original.parent), _MOST_ENTRIES):
            with suppress(FileExistsError):
                (root / entry.name).symlink_to(entry.path)


def _mirror(original: Path, copy: Path) -> None:
    entries, copied, waiting = 0, 0, [(original, copy)]
    while waiting:
        source, target = waiting.pop(0)
        with suppress(PermissionError):
            for entry in os.scandir(source):
                entries += 1
                place = target / entry.name
                folder = entry.is_dir(follow_symlinks=False)
                whole = entry.name in _LINKED or os.path.exists(os.path.join(entry.path, "pyvenv.cfg"))
                if folder and not whole and entries <= _MOST_ENTRIES:
                    place.mkdir()
                    waiting.append((Path(entry.path), place))
                elif entry.is_file(follow_symlinks=False) and _is_small(entry, copied):
                    copied += entry.stat().st_size
                    shutil.copy2(entry.path, place)
                else:
                    place.symlink_to(entry.path)


def _is_small(entry: os.DirEntry[str], copied: int) -> bool:
    size = entry.stat().st_size
    return size <= _LARGE and copied + size <= _MOST_BYTES and os.access(entry.path, os.R_OK)


@dataclass
class FileUse:
    """Which files a script reads and writes, as Python's audit events tell; other languages' libraries do not say."""

    folder: WorkFolder  #: Where it works.
    reads: dict[str, int] = field(default_factory=dict)  #: Files that it read, and at which step first.
    writes: dict[str, int] = field(default_factory=dict)  #: Files that it wrote, and at which step first.
    #: Files that it read before it wrote them, which somebody else had left there.
    stale: dict[str, None] = field(default_factory=dict)
    #: File and line where it started a process of its own, as a copy or anew.
    forks: list[str] = field(default_factory=list)
    step: int = 0  #: The number of the step that it is in, 0 before the first.
    before_read: Callable[[str], None] = lambda _: None  #: Is told the name of a file before it is read; may raise.

    def wrote(self, file: Any) -> None:
        """Take note of a file that a library writes past Python: torch and safetensors do.

        Args:
            file: Its path; anything else is no file of its own.
        """
        if isinstance(file, (str, bytes, os.PathLike)):
            self._opened(os.path.abspath(os.fsdecode(file)), reads=False, writes=True)

    def starts_process(self) -> None:
        """Take note that it starts a process of Python's multiprocessing."""
        self.forks.append(script_line())

    def saw(self, event: str, args: tuple[Any, ...]) -> None:
        """Take an audit event."""
        if event == _FORK:
            self.forks.append(script_line())
        elif event == "open":
            path, mode, flags = args
            if isinstance(path, (str, bytes, os.PathLike)):
                writes = any(letter in mode for letter in "wax+") if isinstance(mode, str) else bool(flags & _WRITES)
                reads = not writes or (isinstance(mode, str) and "+" in mode and "w" not in mode)
                self._opened(os.path.abspath(os.fsdecode(path)), reads=reads, writes=writes)
        elif event in _CHANGES:
            for path in args[:2]:
                if isinstance(path, (str, bytes, os.PathLike)):
                    self._opened(os.path.abspath(os.fsdecode(path)), reads=False, writes=True)

    def _opened(self, path: str, *, reads: bool, writes: bool) -> None:
        if _is_of_python(path):
            return
        name = self.folder.name(path)
        if reads and name not in self.reads and os.path.isfile(path):
            self.before_read(name)
            self.reads[name] = self.step
        elif reads:
            self.before_read(name)
        if writes:
            self.folder.copy_up(path)
            if name in self.reads and name not in self.writes:
                self.stale[name] = None
            self.writes.setdefault(name, self.step)


_PYTHONS = tuple(
    {os.path.realpath(place) + os.sep for place in (sys.prefix, sys.base_prefix, os.path.dirname(os.__file__))}
)
_SYSTEMS = ("/dev/", "/proc/", "/sys/", "/usr/", "/lib", "/etc/")
_INSTALLED = (f"{os.sep}site-packages{os.sep}", f".egg-info{os.sep}", f".dist-info{os.sep}")
_OWN = str(Path(__file__).parents[2]) + os.sep


def _is_of_python(path: str) -> bool:
    """Whether a file is of Python, of a library, of this program or of the system, and none of the script's."""
    return path.startswith((*_PYTHONS, *_SYSTEMS, _OWN)) or any(part in path for part in _INSTALLED)


_HERE = ("127.0.0.1", "::1", "localhost")


_EVENTS = frozenset({"open", _FORK, *_CHANGES})


def script_line() -> str:
    """Return file and line of the script's code that runs, whatever of Python or a library it called; empty if none."""
    frame: FrameType | None = sys._getframe(1)
    while frame is not None and (_is_of_python(frame.f_code.co_filename) or frame.f_code.co_filename.startswith("<")):
        frame = frame.f_back
    return "" if frame is None else f"{whereabouts.file_of(frame.f_code)}, line {frame.f_lineno}"


class _Hook:
    """The one audit hook of this process: there is no way to take one back."""

    def __init__(self) -> None:
        self.use: FileUse | None = None
        self.network = True
        self._added = False
        self._within = False

    def add(self) -> None:
        if not self._added:
            sys.addaudithook(self)
            self._added = True

    def __call__(self, event: str, args: tuple[Any, ...]) -> None:
        if event == "socket.connect" and not self.network:
            _refuse_connection(args)
        if self.use is None or self._within or event not in _EVENTS:
            return
        self._within = True
        try:
            self.use.saw(event, args)
        finally:
            self._within = False


_hook = _Hook()


def _refuse_connection(args: tuple[Any, ...]) -> None:
    """Refuse a connection to another machine, as a machine without a network does."""
    address = args[1]
    if isinstance(address, tuple) and str(address[0]) not in _HERE:
        raise OSError(errno.ENETUNREACH, "The network is left out: the script has run with it once")


@contextmanager
def files_watched(use: FileUse, *, network: bool = True) -> Iterator[None]:
    """Note within which files are read and written.

    Args:
        use: Is told.
        network: Whether other machines can be reached within.
    """
    before = _hook.use, _hook.network
    _hook.use, _hook.network = use, network
    _hook.add()
    try:
        yield
    finally:
        _hook.use, _hook.network = before


@contextmanager
def files_unwatched() -> Iterator[None]:
    """Read and write within what is none of the script's."""
    before, _hook.use = _hook.use, None
    try:
        yield
    finally:
        _hook.use = before
