"""The one door through which functions are compiled, and where what was compiled is kept for the next process.

numba keeps compiled code under a digest of the file that holds the *outer* function: an inner function, or a constant,
of another file may change, and the next process still runs the old one. So what is kept here lies in a folder keyed by
the sources of all modules that a kernel can be made of: its own, and every module of the package that it imports,
however indirectly. Versions of numba, llvmlite and Python are in the key, too; numba adds the processor. With
``NUMBA_BOUNDSCHECK=1`` every index is checked, and builds with these checks lie in folders of their own.

Folders are, in this order: what ``NUMBA_CACHE_DIR`` says, ``__pycache__`` of the package, the user's cache folder.
Where none of these can be written, or the disk is full, or what is kept is damaged, kernels are compiled anew and live
in memory: this is nothing that an audit depends on.

numba keeps compiled functions as pickles. They lie beside Python's own ``.pyc`` files, or in a folder of the user's,
and are run as these are: whoever can write there can change the program itself. No folder of a stranger's is among
them.

numba reads settings from a file in the folder that one is in, where files of strangers lie, and one of them says where
compiled code is taken from. So it is loaded here first, without that file, and others take it from here.
"""

from __future__ import annotations

import hashlib
import logging
import os
import re
import shutil
import sys
import tempfile
import time
import warnings
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from functools import cache
from pathlib import Path
from typing import Any, TypeVar, cast

import llvmlite
import platformdirs

with warnings.catch_warnings():
    warnings.simplefilter("ignore")  # numba says that it did not read the file
    _yaml = sys.modules.pop("yaml", None)
    sys.modules["yaml"] = cast(Any, None)  # without which numba does not read it
    import numba
    from numba import types
    from numba.core import config as _config, event as _event, sigutils
    from numba.core.caching import CompileResultCacheImpl, FunctionCache, _CacheLocator
    from numba.core.ccallback import CFunc
    from numba.extending import intrinsic

    # It looks again whenever it compiles.
    _config._config_fname = os.devnull
    if _yaml is None:
        del sys.modules["yaml"]
    else:
        sys.modules["yaml"] = _yaml

__all__ = [
    "KEPT_BUILDS",
    "build_of",
    "callback",
    "compile_ahead",
    "compiling_time",
    "folder_of",
    "inlined",
    "intrinsic",
    "keep_place",
    "kept_folders",
    "kernel",
    "lacks_kernels",
    "numba",
    "sources",
    "types",
]

KEPT_BUILDS = 3
"""Folders of one module that are kept: that of its present sources, and those of other branches or versions."""

Function = TypeVar("Function", bound=Callable[..., Any])

_LOG = logging.getLogger("counterfoil")
_CONFIG: Any = _config
_PACKAGE = Path(__file__).parents[1]
_declared: set[Path] = set()
"""Modules whose kernels were declared."""
_ahead: list[tuple[Any, Any]] = []
"""Functions, and signatures that are to be compiled ahead of their first use."""
_DIGEST_DIGITS = 16
_LOCK = ".lock"
_FROM = re.compile(r"from counterfoil_core([\w.]*) import (\([^)]*\)|[^\n]*)")
_WHOLE = re.compile(r"import counterfoil_core([\w.]*)")
_NAME = re.compile(r"(\w+)(?:[ \t]+as[ \t]+\w+)?")


def kernel(*signature: Any, ahead: Sequence[Any] = (), **options: Any) -> Callable[[Function], Function]:
    """Return the decorator of a function that is compiled, and kept for the next process.

    Args:
        *signature: One signature, for which the function is compiled at once; none: when it is first called.
        ahead: Signatures with which it is called and that :func:`compile_ahead` compiles: of functions that neither a
            region nor the self-test of a machine calls.
        **options: Those of ``numba.njit``.
    """

    def decorate(function: Function) -> Function:
        made: Any = numba.njit(**options)(function)
        if not _CONFIG.DISABLE_JIT:
            _keep(made, function)
            _ahead.extend((made, each) for each in ahead)
            for each in signature:
                made.compile(each)
                made.disable_compile()
        return cast(Function, made)

    return decorate


def inlined(function: Function) -> Function:
    """Decorate a function that becomes part of every kernel that calls it."""
    return cast(Function, numba.njit(inline="always")(function))


def callback(signature: Any, function: Callable[..., Any], **options: Any) -> Any:
    """Compile a function to one that C calls, and keep it; it must outlive its ``address``.

    Args:
        signature: numba's signature of it.
        function: The function.
        **options: Those of ``numba.cfunc``.
    """
    made: Any = CFunc(function, (signature.args, signature.return_type), locals={}, options=options)
    _keep(made, function)
    made.compile()
    return made


def sources(module: Path, package: Path = _PACKAGE) -> dict[str, bytes]:
    """Return what a kernel of a module can be made of: its file, and those of the package that it imports, and so on.

    Args:
        module: A file of the package.
        package: The folder of the package.

    Returns:
        The content of each file, by its path within the package; sorted.

    Raises:
        OSError: A file cannot be read.
    """
    found: dict[str, bytes] = {}
    waiting = [module]
    while waiting:
        path = waiting.pop()
        name = path.relative_to(package).as_posix()
        if name not in found:
            found[name], imported = _source(path, package)
            waiting += imported
    return dict(sorted(found.items()))


@cache
def _source(path: Path, package: Path) -> tuple[bytes, tuple[Path, ...]]:
    """Return a file, and those of the package that it imports, within functions too; packages and their parts alike."""
    content = path.read_bytes()
    text = content.decode("utf-8")
    places = {place.replace(".", "/") for place in _WHOLE.findall(text)}
    for origin, names in _FROM.findall(text):
        base = origin.replace(".", "/")
        places |= {base, *(f"{base}/{name}" for name in _NAME.findall(re.sub(r"#[^\n]*", "", names)))}
    candidates = (f"{package}{place}{ending}" for place in places for ending in (".py", "/__init__.py"))
    return content, tuple(Path(each) for each in candidates if os.path.isfile(each))


@cache
def build_of(module: Path, package: Path = _PACKAGE) -> str | None:
    """Return the digest of all that the compiled kernels of a module depend on; None where sources cannot be read."""
    try:
        files = sources(module, package)
    except (OSError, ValueError):
        return None
    summary = hashlib.sha256()
    versions = (numba.__version__, llvmlite.__version__, sys.version, *(["checked"] if _CONFIG.BOUNDSCHECK else []))
    for name, content in [*((each, b"") for each in versions), *files.items()]:
        summary.update(hashlib.sha256(name.encode("utf-8")).digest() + hashlib.sha256(content).digest())
    return summary.hexdigest()


class _Compiling(_event.Listener):
    """Adds up how long is compiled; what is compiled within a compilation counts once."""

    def __init__(self) -> None:
        self.seconds = 0.0
        self._depth = 0
        self._begun = 0.0

    def on_start(self, _event: object) -> None:
        if not self._depth:
            self._begun = time.perf_counter()
        self._depth += 1

    def on_end(self, _event: object) -> None:
        self._depth -= 1
        if not self._depth:
            self.seconds += time.perf_counter() - self._begun


@contextmanager
def compiling_time() -> Iterator[Callable[[], float]]:
    """Yield what says for how many seconds kernels were compiled since the block was entered."""
    listener = _Compiling()
    with _event.install_listener("numba:compile", listener):
        yield lambda: listener.seconds


def compile_ahead() -> None:
    """Compile what the modules that are loaded declare to be compiled ahead."""
    for made, signature in _ahead:
        # As a call would ask for it: what is kept is found by the very types.
        types_given, _ = sigutils.normalize_signature(signature)  # type: ignore[no-untyped-call]
        made.compile(types_given)


def lacks_kernels() -> bool:
    """Whether nothing is kept yet of a module whose kernels were declared in this process."""
    return any(folder is None or not folder.is_dir() for folder in kept_folders())


def kept_folders() -> list[Path | None]:
    """Return :func:`folder_of` of each module whose kernels were declared in this process."""
    return [folder_of(module) for module in sorted(_declared)]


def keep_place() -> bool:
    """Make the folders that :func:`lacks_kernels` looks for, so that it finds them next; False where that fails."""
    try:
        for folder in filter(None, map(folder_of, _declared)):
            folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        _LOG.info("Compiled kernels are not kept: %s", error)
    return not lacks_kernels()


def folder_of(module: Path) -> Path | None:
    """Return where compiled kernels of a module are kept, whether it exists or not; None: in memory only."""
    build = build_of(module)
    if build is None:
        return None
    name = module.relative_to(_PACKAGE).with_suffix("").as_posix().replace("/", ".")
    folder = f"{name}-{build[:_DIGEST_DIGITS]}"
    for base in _bases():
        if (base / folder).is_dir() or _writable(base):
            return base / folder
    return None


def _bases() -> Iterator[Path]:
    # Packages at different places take turns nowhere: each has a folder of its own where they share one.
    place = hashlib.sha256(os.fsencode(_PACKAGE)).hexdigest()[:_DIGEST_DIGITS]
    if _CONFIG.CACHE_DIR:
        yield Path(_CONFIG.CACHE_DIR) / f"counterfoil-{place}"
    yield _PACKAGE / "__pycache__" / "kernels"
    try:
        yield platformdirs.user_cache_path("counterfoil", appauthor=False) / f"kernels-{place}"
    except (OSError, RuntimeError) as error:
        # Nobody knows where this user is at home.
        _LOG.info("No folder for compiled kernels: %s", error)


@cache
def _writable(folder: Path) -> bool:
    try:
        folder.mkdir(parents=True, exist_ok=True)
        tempfile.TemporaryFile(dir=folder).close()
    except OSError:
        return False
    return True


def _keep(made: Any, function: Callable[..., Any]) -> None:
    """Let a dispatcher or callback of numba's find what was compiled before, and keep what it compiles."""
    module = Path(function.__code__.co_filename)
    if not module.is_relative_to(_PACKAGE):
        return
    _declared.add(module)
    if folder_of(module) is not None:
        kept: Any = _Kept
        made._cache = kept(function)


class _Locator(_CacheLocator):
    """Where numba looks for what was compiled of a function."""

    def __init__(self, function: Callable[..., Any], path: Path, folder: Path) -> None:
        self._py_file, self._line, self._folder = str(path), function.__code__.co_firstlineno, folder

    @classmethod
    def from_function(cls, py_func: Any, py_file: str) -> _Locator | None:
        folder = folder_of(Path(py_file))
        return None if folder is None else cls(py_func, Path(py_file), folder)

    def get_cache_path(self) -> str:
        return str(self._folder)

    def get_source_stamp(self) -> str:
        return str(build_of(Path(self._py_file)))

    def get_disambiguator(self) -> str:
        return str(self._line)

    def ensure_cache_path(self) -> None:
        if not self._folder.is_dir():
            self._folder.mkdir(parents=True, exist_ok=True)
            _tidy(self._folder)


class _Files(CompileResultCacheImpl):
    _locator_classes: Any = [_Locator]  # noqa: RUF012, as numba declares it


class _Kept(FunctionCache):
    """numba's cache of a function, with which no kernel fails: whatever happens to its files, it is compiled anew."""

    _impl_class = _Files

    def _save_overload(self, sig: Any, data: Any) -> None:
        # numba reads an index, adds to it, and writes it: of two processes that do so at once one is forgotten, or its
        # code is filed under what the other compiled.
        self._impl.locator.ensure_cache_path()
        with _alone(Path(self.cache_path)):
            super()._save_overload(sig, data)  # type: ignore[no-untyped-call]

    @contextmanager
    def _guard_against_spurious_io_errors(self) -> Iterator[None]:
        try:
            yield
        except Exception as error:
            # What unpickling damaged files and LLVM's loader may raise is anybody's guess.
            _LOG.info("Compiled kernels are not kept in %s: %r", self.cache_path, error)
            shutil.rmtree(self.cache_path, ignore_errors=True)


@contextmanager
def _alone(folder: Path) -> Iterator[None]:
    """Wait until no other process keeps something in a folder; where the system cannot tell, nobody waits."""
    if sys.platform == "win32":
        yield
        return
    import fcntl

    with open(folder / _LOCK, "ab") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield


def _tidy(folder: Path) -> None:
    """Remove what was compiled of other sources of the same module, but for the builds written last."""
    module = folder.name.rpartition("-")[0]
    try:
        others = [each for each in folder.parent.iterdir() if each.name.rpartition("-")[0] == module]
        others.sort(key=lambda each: each.stat().st_mtime, reverse=True)
    except OSError as error:
        # Another process tidies at the same time.
        _LOG.info("Old kernels stay in %s: %s", folder.parent, error)
        return
    for old in [each for each in others if each != folder][KEPT_BUILDS - 1 :]:
        shutil.rmtree(old, ignore_errors=True)
