"""A process that has loaded the libraries and the engine; what is tried is tried in forks of it."""

from __future__ import annotations

import ast
import gc
import hashlib
import importlib
import json
import os
import pkgutil
import select
import signal
import tempfile
import time
import traceback
import types
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).parents[2]
_LEFT_OUT = ("triton", "__main__", "sha256_loops")


def load() -> Path:
    """Load whatever tests of the engine load, and return the folder in which the packages of the engine lie."""
    import torch

    torch.set_num_threads(1)
    if not torch.cuda.is_available():
        os.environ["TRITON_INTERPRET"] = "1"
    import hypothesis  # noqa: F401
    import torch._dynamo

    from counterfoil_core.commit import sha256
    from support.packages import PACKAGES

    for package in PACKAGES:
        for module in pkgutil.walk_packages([str(package)], f"{package.name}."):
            if not any(word in module.name for word in _LEFT_OUT):
                importlib.import_module(module.name)
    sha256.compiled_loops()
    return PACKAGES[0].parent


class Forked(Exception):  # noqa: N818
    """A fork ended without an answer: it was killed, or ran out of time."""


def forked(work: Callable[[], Any], seconds: float) -> Any:
    """Return what a function gives in a fork, as JSON carries it; its output is kept to itself.

    Raises:
        Forked: It took longer than ``seconds``, or ended without an answer.
    """
    reading, writing = os.pipe()
    child = os.fork()
    if not child:
        os.setsid()
        code = 1
        try:
            nothing = os.open(os.devnull, os.O_RDWR)
            for stream in (0, 1, 2):
                os.dup2(nothing, stream)
            with tempfile.TemporaryDirectory(prefix="counterfoil-mutation-") as folder:
                os.environ["TMPDIR"] = tempfile.tempdir = folder
                answer = work()
            with os.fdopen(writing, "wb") as sink:
                sink.write(json.dumps(answer).encode())
            code = 0
        except BaseException:
            if told := os.environ.get("COUNTERFOIL_MUTATION_LOG"):
                Path(told).write_text(traceback.format_exc())
        finally:
            os._exit(code)
    os.close(writing)
    end = time.monotonic() + seconds
    pieces: list[bytes] = []
    try:
        while True:
            if not select.select([reading], [], [], max(0.0, end - time.monotonic()))[0]:
                raise Forked("time")
            piece = os.read(reading, 1 << 16)
            if not piece:
                break
            pieces.append(piece)
    finally:
        os.close(reading)
        try:
            os.killpg(child, signal.SIGKILL)
        except ProcessLookupError:
            # It has not become the head of its group yet, or its group is gone.
            os.kill(child, signal.SIGKILL)
        os.waitpid(child, 0)
    try:
        return json.loads(b"".join(pieces))
    except ValueError:
        raise Forked("crash") from None


class _Watching:
    """A plugin of pytest: what each test took and how it ended, in the order asked for."""

    def __init__(self, wanted: list[str], context: Callable[[str], None] | None = None) -> None:
        self.seconds: dict[str, float] = {}
        self.failed: set[str] = set()
        self.passed: set[str] = set()
        self._wanted = {name: place for place, name in enumerate(wanted)}
        self._context = context

    @pytest.hookimpl(trylast=True)
    def pytest_collection_modifyitems(self, items: list[pytest.Item]) -> None:
        if self._wanted:
            items[:] = sorted((item for item in items if item.nodeid in self._wanted), key=self._place)

    def _place(self, item: pytest.Item) -> int:
        return self._wanted[item.nodeid]

    def pytest_runtest_logstart(self, nodeid: str) -> None:
        if self._context is not None:
            self._context(nodeid)

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        self.seconds[report.nodeid] = self.seconds.get(report.nodeid, 0.0) + report.duration
        if report.failed:
            self.failed.add(report.nodeid)
        elif report.when == "call" and report.passed:
            self.passed.add(report.nodeid)

    def pytest_collectreport(self, report: pytest.CollectReport) -> None:
        if report.failed:
            self.failed.add(report.nodeid)


_PLAIN = ["-q", "-n", "0", "-p", "no:cacheprovider", "--no-header", "-W", "ignore"]


def run_tests(names: list[str]) -> str:
    """Run tests until one fails, and return that one; empty: all passed."""
    files = list(dict.fromkeys(name.partition("::")[0] for name in names))
    watching = _Watching(names)
    os.chdir(ROOT)
    code = pytest.main(["-x", *_PLAIN, *files], plugins=[watching])
    if watching.failed:
        return min(watching.failed)
    return "" if code == pytest.ExitCode.OK else f"pytest ended with {code}"


def reach(file: str, package: Path) -> dict[str, Any]:
    """Run a file's tests with coverage; returns seconds of each that passed, and lines of functions that it reached.

    Functions are named as ``path::qualified name``, those nested in others by the outermost one; their lines are
    counted from that of ``def``, so that they stay while the function does.
    """
    import coverage

    os.chdir(ROOT)
    measured = coverage.Coverage(data_file=None, source_pkgs=["counterfoil_core", "counterfoil"], config_file=False)
    watching = _Watching([], measured.switch_context)
    measured.start()
    try:
        pytest.main([*_PLAIN, "-m", "not slow and not gpu and not xvfb", file], plugins=[watching])
    finally:
        measured.stop()
    data = measured.get_data()
    passed = watching.passed - watching.failed
    found: dict[str, dict[str, list[int]]] = {name: {} for name in watching.seconds if name in passed}
    for path in data.measured_files():
        within = Path(path).relative_to(package).as_posix()
        lines = {line: set(names) & passed for line, names in data.contexts_by_lineno(path).items()}
        for name, first, body in bodies(Path(path).read_text(encoding="utf-8")):
            for line in body:
                for test in lines.get(line, ()):
                    found[test].setdefault(f"{within}::{name}", []).append(line - first)
    return {name: [round(watching.seconds[name], 2), reached] for name, reached in found.items()}


def bodies(text: str) -> Iterator[tuple[str, int, range]]:
    """Names of outermost functions, where their ``def`` stands, and the lines of their bodies."""

    def walk(body: list[Any], within: str) -> Iterator[tuple[str, int, range]]:
        for node in body:
            if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)):
                yield within + node.name, node.lineno, range(node.body[0].lineno, (node.end_lineno or 0) + 1)
            elif isinstance(node, ast.ClassDef):
                yield from walk(node.body, f"{within}{node.name}.")
            elif isinstance(node, ast.If):
                yield from walk(node.body, within)

    yield from walk(ast.parse(text).body, "")


def statement(text: str, line: int) -> range:
    """The lines of the statement that a line belongs to; of one that holds others those before them."""
    found = range(line, line + 1)
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.stmt) and node.lineno <= line <= (node.end_lineno or 0):
            inner = getattr(node, "body", None)
            last = max(node.lineno, inner[0].lineno - 1) if isinstance(inner, list) and inner else node.end_lineno or 0
            if line <= last:
                found = range(node.lineno, last + 1)
    return found


def digest(path: Path) -> str:
    return hashlib.sha256(path.read_bytes()).hexdigest()[:16]


def apply(path: Path, source: str, first: int, last: int) -> bool:
    """Put the code of a mutated file in the place of that of the functions that were loaded from it.

    Whoever holds a function, under whatever name, calls the mutant from now on. Compiled functions are compiled anew.

    Args:
        path: The file.
        source: Its content, mutated within one function.
        first: First line of that function; decorators stand above or at it.
        last: Its last line.

    Returns:
        Whether a function was changed.
    """
    codes = {
        (code.co_qualname, code.co_firstlineno): code
        for code in _codes(compile(source, str(path), "exec", dont_inherit=True))
        if first - 10 <= code.co_firstlineno <= last
    }
    found = False
    # What is kept out of the collector's sight is not found there.
    gc.unfreeze()
    for function in [each for each in gc.get_objects() if type(each) is types.FunctionType]:
        old = function.__code__
        new = codes.get((old.co_qualname, old.co_firstlineno))
        if new is not None and old.co_filename == str(path) and old != new:
            function.__code__ = new
            found = True
    if found:
        _compile_anew(path)
    return found


def _codes(code: types.CodeType) -> Iterator[types.CodeType]:
    """Code of functions that are made when a module is loaded: not of those within functions."""
    for each in code.co_consts:
        if isinstance(each, types.CodeType):
            if each.co_flags & 0x02:  # CO_NEWLOCALS and fast locals: a function
                yield each
            else:
                yield from _codes(each)


def _compile_anew(path: Path) -> None:
    """Let no kernel be loaded that could be made of what was changed."""
    from numba.core.caching import NullCache
    from numba.core.dispatcher import Dispatcher

    from counterfoil_core.kernels import cache as kernelcache

    package = Path(kernelcache.__file__).parents[1]
    if not path.is_relative_to(package):  # no kernel lies outside of it
        return
    within = path.relative_to(package).as_posix()
    text = path.read_text(encoding="utf-8")
    if "kernels.cache" not in text and "import cache" not in text and "numba" not in text:
        return

    def keep(made: Any, function: Any) -> None:
        if within not in kernelcache.sources(Path(function.__code__.co_filename)):
            plain(made, function)

    plain, kernelcache._keep = kernelcache._keep, keep
    for made in [each for each in gc.get_objects() if isinstance(each, Dispatcher)]:
        file = Path(made.py_func.__code__.co_filename)
        if file.is_relative_to(package) and within in kernelcache.sources(file):
            made._cache = NullCache()
            assert not made.overloads or made._can_compile is False, f"{made} was compiled before it was mutated"
