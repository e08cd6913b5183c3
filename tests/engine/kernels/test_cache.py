"""What was compiled before is run only where every source that it was made of is still the same."""

from __future__ import annotations

import ast
import json
import os
import re
import shutil
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, nullcontext
from pathlib import Path
from typing import Any

import pytest

from counterfoil_core.kernels import cache as kernelcache
from support.packages import COURT, ENGINE, PACKAGES

KERNELS = [
    path
    for path in sorted(COURT.rglob("*.py"))
    if "import numba" in (text := path.read_text(encoding="utf-8"))
    or "from counterfoil_core.kernels.cache import" in text
]

SERVER = """
import json, os, resource, signal, sys
import numba, numba.core.caching, numba.core.ccallback, platformdirs, logging, shutil, tempfile

for line in sys.stdin:
    given = json.loads(line)
    # Who runs the tests may have loaded counterfoil by a .pth file; the copies come first.
    reading, writing = os.pipe()
    if not os.fork():
        os.environ.update(given["environment"])
        for name in given["unset"]:
            os.environ.pop(name, None)
        if given["full"]:
            signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
            resource.setrlimit(resource.RLIMIT_FSIZE, (0, 0))
        sys.path.insert(0, given["folder"])
        sys.dont_write_bytecode = True
        try:
            from counterfoil_core import outer
            answer = [outer.asked(3), outer.back(3), outer.hits()]
        except BaseException as error:
            answer = repr(error)
        os.write(writing, json.dumps(answer).encode())
        os._exit(0)
    os.close(writing)
    os.wait()
    print(os.read(reading, 10_000).decode(), flush=True)
    os.close(reading)
"""
OUTER = """
from numba import types
from counterfoil_core.inner import added, plus
from counterfoil_core.kernels.cache import callback, kernel
from counterfoil_core.numbers import CONSTANT

@kernel(nogil=True)
def asked(x):
    return added(plus(x)) + CONSTANT

def _back(x):
    return asked(x) + 1000

_COMPILED = callback(types.int64(types.int64), _back)

def back(x):
    return _COMPILED.ctypes(x)

def hits():
    return sum(asked.stats.cache_hits.values()) + _COMPILED.cache_hits
"""
INNER = """
from counterfoil_core.kernels.cache import inlined, kernel

@kernel(nogil=True)
def added(x):
    return x + 10

@inlined
def plus(x):
    return x + 1
"""
NUMBERS = "from counterfoil_core.further import FURTHER\n\nCONSTANT = 100 * FURTHER\n"
FURTHER = "FURTHER = 1\n"
Asked = Callable[..., Any]


@pytest.fixture(scope="module")
def server() -> Iterator[subprocess.Popen[str]]:
    """A process that has loaded numba, and asks copies of a small package in forks of itself."""
    with subprocess.Popen(
        [sys.executable, "-c", SERVER], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as process:
        yield process
        assert process.stdin is not None
        process.stdin.close()


@pytest.fixture
def asked(server: subprocess.Popen[str]) -> Asked:
    def ask(folder: Path, *unset: str, full: bool = False, **environment: str) -> Any:
        assert server.stdin is not None
        assert server.stdout is not None
        given = {"folder": str(folder), "environment": environment, "unset": unset, "full": full}
        print(json.dumps(given), file=server.stdin, flush=True)
        return json.loads(server.stdout.readline())

    return ask


@pytest.fixture
def package(tmp_path: Path) -> Path:
    """A package of that name with the real module that keeps kernels, and a kernel made of four files."""
    folder = tmp_path / "counterfoil_core"
    (folder / "kernels").mkdir(parents=True)
    (folder / "kernels" / "__init__.py").touch()
    shutil.copy(kernelcache.__file__, folder / "kernels")
    texts = {"__init__": "", "outer": OUTER, "inner": INNER, "numbers": NUMBERS, "further": FURTHER, "other": "X = 1\n"}
    for name, text in texts.items():
        (folder / f"{name}.py").write_text(text)
    return folder


def change(package: Path, name: str, old: str, new: str) -> None:
    path = package / f"{name}.py"
    text = path.read_text()
    assert old in text
    path.write_text(text.replace(old, new))


def builds(package: Path, name: str = "outer") -> list[Path]:
    return list((package / "__pycache__" / "kernels").glob(f"{name}-*"))


def test_the_next_process_takes_what_was_compiled(package: Path, asked: Asked) -> None:
    assert asked(package.parent) == [114, 1114, 0]
    assert asked(package.parent) == [114, 1114, 2]
    change(package, "other", "1", "2")
    assert asked(package.parent) == [114, 1114, 2]


def test_a_change_further_in_is_seen(package: Path, asked: Asked) -> None:
    """Of a function that is called, of one that is inlined, of a constant, and of one that the constant is made of."""
    assert asked(package.parent) == [114, 1114, 0]
    for name, old, new, answer in (
        ("inner", "x + 10", "x + 20", 124),
        ("inner", "x + 1\n", "x + 2\n", 125),
        ("numbers", "100", "300", 325),
        ("further", "FURTHER = 1", "FURTHER = 5", 1525),
    ):
        change(package, name, old, new)
        assert asked(package.parent)[:2] == [answer, 1000 + answer]


def test_numba_by_itself_does_not_see_it(package: Path, asked: Asked) -> None:
    """The control: the same kernels under numba's own cache."""
    change(
        package, "outer", "from counterfoil_core.kernels.cache import callback, kernel", "from numba import cfunc, njit"
    )
    change(package, "outer", "@kernel(nogil=True)", "@njit(nogil=True, cache=True)")
    change(package, "outer", "callback(types.int64(types.int64), _back)", "cfunc('i8(i8)', cache=True)(_back)")
    change(package, "inner", "from counterfoil_core.kernels.cache import inlined, kernel", "from numba import njit")
    change(package, "inner", "@kernel(nogil=True)", "@njit(nogil=True, cache=True)")
    change(package, "inner", "@inlined", "@njit(inline='always')")
    assert asked(package.parent) == [114, 1114, 0]
    change(package, "inner", "x + 10", "x + 20")
    change(package, "further", "FURTHER = 1", "FURTHER = 5")
    assert asked(package.parent)[:2] == [114, 1114]


def test_builds_of_old_sources_are_removed(package: Path, asked: Asked) -> None:
    for number in range(kernelcache.KEPT_BUILDS + 2):
        change(package, "further", f"FURTHER = {number + 1}", f"FURTHER = {number + 2}")
        assert asked(package.parent)[0] == 14 + 100 * (number + 2)
    assert len(builds(package)) == kernelcache.KEPT_BUILDS
    # Those of another module, which did not change, stay.
    assert len(builds(package, "inner")) == 1
    assert asked(package.parent)[2] == 2


def test_a_folder_can_be_named(package: Path, asked: Asked, tmp_path: Path) -> None:
    named = tmp_path / "named"
    script = f"import numba.core.config\nnumba.core.config.CACHE_DIR = {str(named)!r}\n"
    (package / "__init__.py").write_text(script)
    assert asked(package.parent)[2] == 0
    assert asked(package.parent)[2] == 2
    assert not builds(package)
    assert list(named.glob("counterfoil-*/outer-*/*.nbi"))


def test_the_users_folder_serves_where_the_package_is_read_only(package: Path, asked: Asked, tmp_path: Path) -> None:
    (package / "__pycache__").write_bytes(b"no folder can be made here")
    cache = {"XDG_CACHE_HOME": str(tmp_path / "cache"), "HOME": str(tmp_path)}
    assert asked(package.parent, **cache)[2] == 0
    assert asked(package.parent, **cache)[2] == 2


@pytest.mark.skipif(os.name != "posix", reason="limits and devices of POSIX")
@pytest.mark.parametrize("full", [False, True], ids=["nowhere", "disk full"])
def test_kernels_live_in_memory_where_nothing_can_be_written(package: Path, asked: Asked, full: bool) -> None:
    """As for a service user without a home, over a system that is read-only."""
    if not full:
        (package / "__pycache__").write_bytes(b"no folder can be made here")
    nowhere = {"XDG_CACHE_HOME": "/dev/null/cache", "HOME": "/dev/null", "TMPDIR": "/dev/null"}
    for _ in range(2):
        assert asked(package.parent, full=full, **nowhere) == [114, 1114, 0]


@pytest.mark.parametrize(
    ("ending", "damage"),
    [("nbc", b"\x80\x05\x95junk"), *(pytest.param(each, b"", marks=pytest.mark.slow) for each in ("nbi", "nbc"))],
)
def test_damaged_files_are_no_trouble(package: Path, asked: Asked, ending: str, damage: bytes) -> None:
    asked(package.parent)
    damaged = list((package / "__pycache__" / "kernels").glob(f"*/*.{ending}"))
    assert damaged
    for path in damaged:
        path.write_bytes(damage)
    assert asked(package.parent) == [114, 1114, 0]
    assert asked(package.parent) == [114, 1114, 2]


@pytest.mark.skipif(sys.platform == "win32", reason="locks of POSIX")
@pytest.mark.parametrize("alone", [kernelcache._alone, lambda folder: nullcontext()], ids=["", "control"])
def test_two_that_keep_something_at_once_forget_nothing(
    tmp_path: Path, alone: Callable[[Path], AbstractContextManager[None]]
) -> None:
    """As numba does it: read an index, add to it, and write it."""
    index = tmp_path / "index"
    index.write_text("")

    def keep(name: str) -> None:
        for number in range(20):
            with alone(tmp_path):
                known = index.read_text()
                time.sleep(0.001)
                index.write_text(f"{known}{name}{number}\n")

    others = [threading.Thread(target=keep, args=(name,)) for name in "abc"]
    for other in others:
        other.start()
    for other in others:
        other.join()
    assert (len(index.read_text().splitlines()) == 60) is (alone is kernelcache._alone)


@pytest.mark.skipif(sys.platform == "win32", reason="locks of POSIX")
def test_whatever_is_kept_is_kept_alone(package: Path, asked: Asked) -> None:
    asked(package.parent)
    kept = builds(package) + builds(package, "inner")
    assert len(kept) == 2
    assert all((folder / ".lock").is_file() for folder in kept)


def test_what_is_declared_is_compiled_ahead(package: Path, asked: Asked) -> None:
    first = "compile_ahead()\nBEFORE = sum(asked.stats.cache_hits.values())\n"
    change(package, "outer", "@kernel(nogil=True)", "@kernel(nogil=True, ahead=['(int64,)'])")
    change(package, "outer", "cache import", "cache import compile_ahead,")
    change(package, "outer", "_COMPILED = ", f"{first}_COMPILED = ")
    change(package, "outer", "def hits():\n    return ", "def hits():\n    return 10 * BEFORE + ")
    assert asked(package.parent) == [114, 1114, 0]
    assert asked(package.parent) == [114, 1114, 12]


def test_no_kernel_lies_outside_of_the_court() -> None:
    """The key follows imports within one package: a kernel of another one would be kept under too small a key."""
    assert len(kernelcache.sources(COURT / "kernels" / "cpu" / "rounding.py")) == 18
    declares = re.compile(r"from counterfoil_core\.kernels\.cache import [^\n]*\b(kernel|inlined|callback)\b")
    assert not [path for path in ENGINE.rglob("*.py") if declares.search(path.read_text(encoding="utf-8"))]


def test_every_kernel_goes_through_one_door() -> None:
    """Nobody else compiles or keeps, so nobody can keep too long."""
    words = (
        "njit",
        "numba.jit",
        "cfunc",
        "(cache=True",
        " cache=True",
        "vectorize(",
        "guvectorize",
        "stencil(",
        "CFunc",
    )
    found = [
        f"{path.relative_to(root)}: {word}"
        for root in (*PACKAGES, ENGINE.parents[1] / "app")
        for path in root.rglob("*.py")
        if path != Path(kernelcache.__file__)
        for word in words
        if word in path.read_text(encoding="utf-8")
    ]
    assert not found
    assert len(KERNELS) > 15


def imported(path: Path) -> Iterator[Path]:
    """What a file imports of the package, as Python's own parser reads it."""
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.ImportFrom):
            assert not node.level, f"{path} imports by a relative name, which the key does not follow"
            names = [node.module or "", *(f"{node.module}.{alias.name}" for alias in node.names)]
        elif isinstance(node, ast.Import):
            names = [alias.name for alias in node.names]
        else:
            continue
        for name in names:
            first, *rest = name.split(".")
            if first == "counterfoil_core":
                place = COURT.joinpath(*rest)
                yield from (
                    each for each in (place.with_name(f"{place.name}.py"), place / "__init__.py") if each.is_file()
                )


@pytest.mark.parametrize("path", KERNELS, ids=lambda path: path.stem)
def test_the_key_holds_whatever_a_kernel_can_be_made_of(path: Path) -> None:
    seen, waiting = set[Path](), [path]
    while waiting:
        if (one := waiting.pop()) not in seen:
            seen.add(one)
            waiting += imported(one)
    keyed = kernelcache.sources(path)
    assert {each.relative_to(COURT).as_posix() for each in seen} <= set(keyed)
    assert keyed[path.relative_to(COURT).as_posix()] == path.read_bytes()


def test_kernels_are_made_of_what_their_files_import_by_name() -> None:
    """A name that a package hands on lazily would come from a file that the key does not hold."""
    for path in KERNELS:
        for name in kernelcache.sources(path):
            for node in ast.walk(ast.parse((COURT / name).read_text(encoding="utf-8"))):
                if isinstance(node, ast.ImportFrom) and (node.module or "").startswith("counterfoil_core"):
                    place = COURT.joinpath(*(node.module or "").split(".")[1:])
                    if place.is_dir():
                        own = (place / "__init__.py").read_text(encoding="utf-8")
                        for alias in node.names:
                            part = place / alias.name
                            assert part.is_dir() or part.with_name(f"{alias.name}.py").is_file() or alias.name in own


@pytest.mark.slow
def test_a_changed_rule_of_rounding_is_seen_by_the_instructions(tmp_path: Path) -> None:
    """What went unseen: ``rounding._mix`` within ``instructions.watch``."""
    copied = tmp_path / "counterfoil_core"
    shutil.copytree(COURT, copied, ignore=shutil.ignore_patterns("__pycache__"))
    script = (
        "import numpy as np\nfrom counterfoil_core.arithmetic.grid.instructions import watch\n"
        "print(watch(np.arange(9.0), np.uint64(0), np.uint64(0)), sum(watch.stats.cache_hits.values()))"
    )

    def ask() -> list[str]:
        environment = {**os.environ, "PYTHONPATH": str(tmp_path), "PYTHONDONTWRITEBYTECODE": "1"}
        run = subprocess.run(
            [sys.executable, "-c", script], env=environment, capture_output=True, text=True, check=True
        )
        return run.stdout.split()

    first = ask()
    assert ask() == [*first[:-1], "1"]
    change(copied / "kernels" / "cpu", "rounding", "0xBF58476D1CE4E5B9", "0xBF58476D1CE4E5BB")
    assert ask()[0] != first[0]
