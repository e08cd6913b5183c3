from __future__ import annotations

import errno
import os
import stat
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from counterfoil.base import wholefiles
from counterfoil.base.joberrors import TargetExistsError
from counterfoil.base.wholefiles import (
    LEFTOVER_SECONDS,
    check_room,
    lock,
    part_path,
    remove_leftovers,
    whole_file,
    write_whole,
)
from counterfoil_core.base.errors import FileWriteError
from support.full_disk import TESTS, can_mount, run_code

OLD = b"what was there before"
posix = pytest.mark.skipif(os.name != "posix", reason="there are no such locks and links")


def names(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir())


@pytest.fixture
def target(tmp_path: Path) -> Path:
    (tmp_path / "verdict.json").write_bytes(OLD)
    return tmp_path / "verdict.json"


@pytest.fixture
def mask() -> Iterator[None]:
    before = os.umask(0o027)
    yield
    os.umask(before)


def test_a_new_file(tmp_path: Path) -> None:
    write_whole(tmp_path / "new.json", b"{}", what="the verdict")
    assert (tmp_path / "new.json").read_bytes() == b"{}"
    assert names(tmp_path) == ["new.json"]


def test_an_old_file_is_replaced_only_at_the_end(target: Path) -> None:
    with whole_file(target, what="the verdict") as file:
        file.write(b"one, ")
        file.write(b"two")
        assert target.read_bytes() == OLD
    assert target.read_bytes() == b"one, two"
    assert names(target.parent) == [target.name]


@posix
@pytest.mark.usefixtures("mask")
@pytest.mark.parametrize(("mode", "expected"), [(0o666, 0o640), (0o600, 0o600)])
def test_permissions_are_those_asked_for_less_the_mask(tmp_path: Path, mode: int, expected: int) -> None:
    write_whole(tmp_path / "key.pem", b"key", what="the key", mode=mode)
    assert stat.S_IMODE((tmp_path / "key.pem").stat().st_mode) == expected


@pytest.mark.parametrize("error", [RuntimeError, KeyboardInterrupt])
def test_what_is_stopped_leaves_the_old_file_and_nothing_else(target: Path, error: type[BaseException]) -> None:
    def write() -> None:
        with whole_file(target, what="the verdict") as file:
            file.write(b"half")
            raise error

    with pytest.raises(error):
        write()
    assert target.read_bytes() == OLD
    assert names(target.parent) == [target.name]


def test_a_file_that_must_not_be_replaced(target: Path) -> None:
    with pytest.raises(TargetExistsError, match="there is a file of this name"):
        write_whole(target, b"new", what="the key", replace=False)
    assert target.read_bytes() == OLD
    assert names(target.parent) == [target.name]


@pytest.mark.parametrize("links", [True, False], ids=["links", "no links"])
def test_of_two_who_write_a_new_file_the_second_fails(
    tmp_path: Path, links: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The other one comes while this one is being written, so that a look beforehand does not do."""

    def no_links(*_: object, **__: object) -> None:
        raise PermissionError(errno.EPERM, "")

    if not links:
        monkeypatch.setattr(os, "link", no_links)
    path = tmp_path / "key.pem"

    def write() -> None:
        with whole_file(path, what="the key", replace=False) as file:
            file.write(b"mine")
            path.write_bytes(OLD)

    with pytest.raises(TargetExistsError):
        write()
    assert path.read_bytes() == OLD
    write_whole(tmp_path / "other.pem", b"mine", what="the key", replace=False)
    assert names(tmp_path) == ["key.pem", "other.pem"]


def test_a_long_name(tmp_path: Path) -> None:
    name = "ä" * 120 + ".json"
    write_whole(tmp_path / name, b"{}", what="the verdict")
    assert names(tmp_path) == [name]
    with pytest.raises(FileWriteError, match="the name is too long"):
        write_whole(tmp_path / ("x" * 300), b"{}", what="the verdict")


@pytest.mark.parametrize(
    ("place", "words"), [("none/verdict.json", "there is no such folder"), ("folder", "that is a folder")]
)
def test_a_place_that_cannot_be_written(tmp_path: Path, place: str, words: str) -> None:
    (tmp_path / "folder").mkdir()
    with pytest.raises(FileWriteError, match=words) as caught:
        write_whole(tmp_path / place, b"{}", what="the verdict")
    assert caught.value.sentence.startswith("The verdict cannot be written to ")
    assert caught.value.remedy
    assert names(tmp_path) == ["folder"]


@posix
def test_a_device_or_a_pipe_is_never_replaced(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    (tmp_path / "null").symlink_to("/dev/null")
    for name in ("pipe", "null"):
        with pytest.raises(FileWriteError, match="not a regular file"):
            write_whole(tmp_path / name, b"{}", what="the verdict")
    assert names(tmp_path) == ["null", "pipe"]


def test_room_is_looked_at_first(target: Path) -> None:
    with pytest.raises(FileWriteError, match=r"There is no room for the order in .*: it needs 1000000\.0 TB, and"):
        check_room(target.parent, 10**18, "the order")
    check_room(target.parent, 1, "the order")
    check_room(target.parent / "none", 10**18, "the order")


# Disks that are full.

LIMITED = """
import resource
from pathlib import Path
from counterfoil_core.base.errors import FileWriteError
from counterfoil.base.wholefiles import whole_file, write_whole
path = Path({path!r})
{limit}
{before}
try:
    with whole_file(path, what="the verdict") as file:
        for _ in range(100):
            file.write(bytes(10_000))
except FileWriteError as error:
    print(error)
    print(path.read_bytes() == {old!r}, sorted(entry.name for entry in path.parent.iterdir()))
"""


@posix
def test_a_limit_on_sizes_ends_in_a_sentence_and_leaves_the_old_file(target: Path) -> None:
    limit = "resource.setrlimit(resource.RLIMIT_FSIZE, (55_000, 55_000))"
    code = LIMITED.format(path=str(target), limit=limit, before="", old=OLD)
    done = subprocess.run([sys.executable, "-c", code], cwd=TESTS, capture_output=True, text=True, check=True)
    assert done.stdout.splitlines() == [
        f"The verdict cannot be written to {target}: the file is larger than is allowed there. "
        "Make room there, or choose another folder.",
        "True ['verdict.json']",
    ]


@pytest.mark.skipif(not can_mount(), reason="this user may not mount a disk")
def test_a_full_disk_ends_in_a_sentence_and_leaves_the_old_file(tmp_path: Path) -> None:
    target = tmp_path / "verdict.json"
    code = LIMITED.format(path=str(target), limit="", before=f"path.write_bytes({OLD!r})", old=OLD)
    done = run_code(code, size="200k", folder=tmp_path)
    assert done.stdout.splitlines() == [
        f"The verdict cannot be written to {target}: the disk is full. Make room there, or choose another folder.",
        "True ['verdict.json']",
    ], done.stderr
    control = run_code(code, size="2m", folder=tmp_path)
    assert (control.returncode, control.stdout) == (0, ""), control.stderr


@pytest.mark.skipif(not can_mount(), reason="this user may not mount a disk")
def test_a_disk_without_room_is_not_even_begun_to_be_written(tmp_path: Path) -> None:
    code = LIMITED.format(
        path=str(tmp_path / "verdict.json"), limit="", before=f"path.write_bytes({OLD!r})", old=OLD
    ).replace(
        'with whole_file(path, what="the verdict") as file:',
        'write_whole(path, bytes(10**6), what="the verdict")\n    for file in ():',
    )
    done = run_code(code, size="200k", folder=tmp_path)
    assert done.stdout.startswith(f"There is no room for the verdict in {tmp_path}: it needs 1.0 MB, and ")
    assert done.stdout.endswith("True ['verdict.json']\n")


# What killed processes leave behind.


def leave(part: Path, age: float = LEFTOVER_SECONDS + 60) -> Path:
    part.write_bytes(b"half")
    then = time.time() - age
    os.utime(part, (then, then))
    return part


def test_what_was_left_behind_is_removed_when_the_same_file_is_written(target: Path) -> None:
    left = leave(part_path(target))
    assert remove_leftovers(target) == (left,)
    leave(left)
    write_whole(target, b"new", what="the verdict")
    assert names(target.parent) == [target.name]


def test_files_that_are_not_ours_are_never_touched(target: Path) -> None:
    folder = target.parent
    mark = "0123456789abcdef"
    others = [
        f".{target.name}.part",
        f".{target.name}.{mark[:-1]}.part",
        f".{target.name}.{mark}0.part",
        f".{target.name}.{mark.upper()}.part",
        f".{target.name}.{mark}.party",
        f".{target.name}.{mark}",
        f".other.json.{mark}.part",
        f"{target.name}.{mark}.part",
    ]
    for name in others:
        leave(folder / name)
    leave(part_path(target), age=LEFTOVER_SECONDS - 60)  # perhaps of another machine, which our locks do not reach
    part_path(target).mkdir()
    assert remove_leftovers(target) == ()
    assert len(names(folder)) == len(others) + 3


@posix
def test_links_are_not_followed(target: Path) -> None:
    precious = leave(target.parent / "precious")
    part_path(target).symlink_to(precious)
    hard = part_path(target)
    os.link(precious, hard)
    assert remove_leftovers(target) == (hard,)
    assert precious.read_bytes() == b"half"


@posix
def test_a_file_that_is_being_written_is_never_removed(target: Path) -> None:
    part = leave(part_path(target))
    with part.open("rb") as file:
        lock(file.fileno())
        assert remove_leftovers(target) == ()
    assert remove_leftovers(target) == (part,)


@posix
def test_whole_files_are_locked_while_they_are_written(target: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(wholefiles, "LEFTOVER_SECONDS", -60)
    with whole_file(target, what="the verdict"):
        assert remove_leftovers(target) == ()
    left = leave(part_path(target), age=0)
    assert remove_leftovers(target) == (left,)
