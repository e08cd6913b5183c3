"""Each file is looked at by a process of its own, which is forked, boxed, bounded, and gone when it is done."""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from counterfoil.base.descendants import children
from counterfoil.sandbox import box
from counterfoil.sandbox.apart import work_apart
from counterfoil_core.base.cancel import CancelToken
from counterfoil_core.base.errors import CancelledError
from support.boxes import closed

__all__ = ["closed"]

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="there are boxes on Linux only")


def apart(paths: list[Path], work: Callable[[Path], bytes], cancel: CancelToken | None = None, **how: float):
    return work_apart(paths, work, cancel or CancelToken(), **how)


@pytest.fixture(autouse=True)
def nobody_is_left() -> Iterator[None]:
    before = children()
    yield
    assert children() <= before


@pytest.fixture
def files(tmp_path: Path) -> list[Path]:
    paths = [tmp_path / f"{number}.txt" for number in range(9)]
    for path in paths:
        path.write_text(path.name)
    return paths


def test_each_file_gets_what_its_own_process_says(files: list[Path]) -> None:
    said = dict(apart(files, lambda path: path.read_bytes() + b" " + str(os.getpid()).encode()))
    assert set(said) == set(files)
    assert all(said[path].startswith(path.name.encode()) for path in files)
    assert len({each.split()[1] for each in said.values()}) == len(files)
    assert str(os.getpid()).encode() not in b"".join(said.values())


def test_a_process_that_dies_hangs_or_talks_too_much_answers_for_no_other_file(files: list[Path]) -> None:
    def work(path: Path) -> bytes:
        match path.name:
            case "1.txt":
                os.abort()
            case "2.txt":
                time.sleep(60)
            case "3.txt":
                return b"x" * 2**20
            case "4.txt":
                raise MemoryError
        return b"fine"

    begun = time.monotonic()
    said = dict(apart(files, work, seconds=3.0))
    assert time.monotonic() - begun < 30
    bad = {"1.txt", "2.txt", "3.txt", "4.txt"}
    assert {path.name: said[path] for path in files} == {
        path.name: None if path.name in bad else b"fine" for path in files
    }


def test_a_process_reads_its_own_file_and_writes_none(files: list[Path], tmp_path: Path) -> None:
    if any(b"landlock" not in words for _, words in apart(files[:1], lambda _: box.sandbox().encode())):
        pytest.skip("this kernel has no Landlock")

    def work(path: Path) -> bytes:
        found = []
        for other in files:
            try:
                found.append(other.read_text())
            except OSError:
                continue
        for attempt in (lambda: (tmp_path / "new").write_text("x"), lambda: os.write(5, b"x"), os.fork):
            try:
                attempt()
            except OSError:
                continue
            return b"escaped"
        return " ".join(found).encode()

    assert dict(apart(files, work)) == {path: path.name.encode() for path in files}


def test_it_is_cancelled_in_the_middle(files: list[Path]) -> None:
    cancel = CancelToken()
    told = apart(files, lambda path: time.sleep(0.0 if path.name == "0.txt" else 60) or b"", cancel)
    assert next(told)[0] == files[0]
    cancel.cancel()
    with pytest.raises(CancelledError):
        next(told)
