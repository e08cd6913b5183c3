"""The private copy of a working folder: what a script writes stays in it, and what it reads and writes is noted."""

from __future__ import annotations

import errno
import os
import socket
from collections.abc import Iterator
from pathlib import Path

import pytest

from counterfoil.training.scripts import workfolder
from counterfoil.training.scripts.workfolder import FileUse, WorkFolder, files_unwatched, files_watched, work_folder


@pytest.fixture
def original(tmp_path: Path) -> Path:
    folder = tmp_path / "mine"
    (folder / "data" / "deep").mkdir(parents=True)
    (folder / "small.txt").write_text("small")
    (folder / "data" / "rows.bin").write_bytes(b"r" * 4000)
    (folder / "data" / "deep" / "notes.txt").write_text("notes")
    (folder / ".git").mkdir()
    (folder / ".git" / "HEAD").write_text("ref")
    return folder


@pytest.fixture
def copy(original: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[WorkFolder]:
    """A copy in which files of more than 1000 bytes are links; it is the current folder."""
    monkeypatch.setattr(workfolder, "_LARGE", 1000)
    with work_folder(original) as folder:
        monkeypatch.chdir(folder.path)
        yield folder
        monkeypatch.undo()


def contents(folder: Path) -> dict[str, bytes]:
    found = {}
    for place, _, names in os.walk(folder, followlinks=True):
        found |= {str((Path(place) / name).relative_to(folder)): (Path(place) / name).read_bytes() for name in names}
    return found


def test_a_copy_has_what_the_folder_has_under_its_name_and_goes_away(original: Path) -> None:
    with work_folder(original) as folder:
        assert folder.path.name == "mine"
        assert contents(folder.path) == contents(original)
        assert not any(link in folder.path.parents for link in (folder.original, original))
        (folder.path / "new.txt").write_text("new")
        root = folder.path.parent
    assert not root.exists()
    assert not (original / "new.txt").exists()


def test_what_lies_beside_the_folder_lies_beside_the_copy_and_is_not_written_to(
    original: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    beside = original.parent / "rows"
    beside.mkdir()
    (beside / "rows.txt").write_text("rows")
    with work_folder(original) as folder:
        monkeypatch.chdir(folder.path)
        use = FileUse(folder)
        with files_watched(use):
            assert Path("../rows/rows.txt").read_text() == "rows"
            Path("../rows/rows.txt").write_text("others")
            Path("../rows/new.txt").write_text("new")
        assert Path("../rows/rows.txt").read_text() == "others"
        # As the client knows it, and the same in each copy.
        assert use.reads == {str(beside / "rows.txt"): 0}
        assert sorted(use.writes) == [str(beside / "new.txt"), str(beside / "rows.txt")]
        monkeypatch.undo()
    assert contents(beside) == {"rows.txt": b"rows"}


def test_large_files_are_links_and_small_ones_are_not(copy: WorkFolder) -> None:
    assert (copy.path / "data" / "rows.bin").is_symlink()
    assert not (copy.path / "small.txt").is_symlink()
    assert not (copy.path / "data").is_symlink()
    # What nobody trains from is not gone through.
    assert (copy.path / ".git").is_symlink()


@pytest.mark.parametrize(("most_bytes", "linked"), [(2**20, False), (4, True)])
def test_no_more_than_so_many_bytes_are_copied(
    original: Path, monkeypatch: pytest.MonkeyPatch, most_bytes: int, linked: bool
) -> None:
    monkeypatch.setattr(workfolder, "_MOST_BYTES", most_bytes)
    with work_folder(original) as folder:
        assert (folder.path / "small.txt").is_symlink() is linked
        assert contents(folder.path) == contents(original)


def test_a_folder_of_many_files_is_linked_from_some_depth_on(original: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(workfolder, "_MOST_ENTRIES", 3)
    with work_folder(original) as folder:
        assert (folder.path / "data" / "deep").is_symlink()
        assert contents(folder.path / "data" / "deep") == {"notes.txt": b"notes"}


@pytest.mark.parametrize("mode", ["r+b", "ab", "wb", "xb"])
def test_who_opens_a_link_to_write_gets_a_file_of_the_copys_own(copy: WorkFolder, original: Path, mode: str) -> None:
    before = contents(original)
    name = "data/other.bin" if mode == "xb" else "data/rows.bin"
    use = FileUse(copy)
    with files_watched(use), open(name, mode) as file:
        file.write(b"mine")
    assert contents(original) == before
    written = (copy.path / name).read_bytes()
    assert written == {"r+b": b"mine" + b"r" * 3996, "ab": b"r" * 4000 + b"mine"}.get(mode, b"mine")
    assert not (copy.path / name).is_symlink()
    assert list(use.writes) == [name]


def test_who_writes_below_a_folder_that_is_linked_writes_in_the_copy(
    original: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(workfolder, "_MOST_ENTRIES", 3)
    before = contents(original)
    with work_folder(original) as folder:
        monkeypatch.chdir(folder.path)
        with files_watched(FileUse(folder)):
            Path("data/deep/notes.txt").write_text("other")
            Path("data/deep/more.txt").write_text("more")
        assert contents(folder.path / "data" / "deep") == {"notes.txt": b"other", "more.txt": b"more"}
        monkeypatch.undo()
    assert contents(original) == before


@pytest.mark.parametrize("change", ["remove", "rename", "truncate"])
def test_whoever_removes_renames_or_shortens_does_so_in_the_copy(copy: WorkFolder, original: Path, change: str) -> None:
    before = contents(original)
    use = FileUse(copy)
    with files_watched(use):
        if change == "remove":
            os.remove("data/rows.bin")
        elif change == "rename":
            os.rename("data/rows.bin", "data/gone.bin")
        else:
            os.truncate("data/rows.bin", 3)
    assert contents(original) == before
    assert "data/rows.bin" in use.writes
    assert contents(copy.path) != before


def test_reads_and_writes_have_their_step_and_a_name_from_the_folder(copy: WorkFolder, tmp_path: Path) -> None:
    use = FileUse(copy)
    outside = tmp_path / "elsewhere.txt"
    with files_watched(use):
        Path("small.txt").read_text()
        use.step = 3
        Path("log.txt").write_text("a")
        # Under the name that the folder has for its user.
        (copy.original / "data" / "deep" / "notes.txt").read_text()
        outside.write_text("b")
        use.step = 4
        Path("log.txt").read_text()
        Path("log.txt").write_text("c")
        with files_unwatched():
            Path("hidden.txt").write_text("d")
        with pytest.raises(FileNotFoundError):
            Path("nowhere.txt").read_text()
    assert use.reads == {"small.txt": 0, "data/deep/notes.txt": 3, "log.txt": 4}
    assert use.writes == {"log.txt": 3, str(outside): 3}
    assert use.stale == {}
    Path("after.txt").write_text("e")
    assert "after.txt" not in use.writes


def test_what_an_earlier_run_left_under_a_name_that_is_written_is_stale(copy: WorkFolder) -> None:
    use = FileUse(copy)
    with files_watched(use):
        Path("small.txt").read_text()
        Path("data/deep/notes.txt").read_text()
        Path("fresh.txt").write_text("its own")
        Path("fresh.txt").read_text()
        Path("small.txt").write_text("over it")
    assert list(use.stale) == ["small.txt"]


def test_who_may_refuse_a_read_is_asked_each_time(copy: WorkFolder) -> None:
    asked: list[str] = []

    def ask(name: str) -> None:
        asked.append(name)
        if len(asked) > 1:
            raise PermissionError(name)

    with files_watched(FileUse(copy, before_read=ask)):
        Path("small.txt").read_text()
        with pytest.raises(PermissionError):
            Path("small.txt").read_text()
    assert asked == ["small.txt", "small.txt"]


def test_what_is_pythons_or_the_systems_is_none_of_the_scripts(copy: WorkFolder) -> None:
    use = FileUse(copy)
    with files_watched(use):
        Path(os.__file__).read_bytes()
        Path(workfolder.__file__).read_bytes()
        Path(os.devnull).write_bytes(b"")
    assert (use.reads, use.writes) == ({}, {})


def test_another_machine_is_not_reached_without_a_network(copy: WorkFolder) -> None:
    with socket.create_server(("127.0.0.1", 0)) as server, files_watched(FileUse(copy), network=False):
        with pytest.raises(OSError, match="left out") as refused, socket.socket() as far:
            far.connect(("192.0.2.1", 9))
        assert refused.value.errno == errno.ENETUNREACH
        with socket.create_connection(server.getsockname()) as near:
            assert near.getpeername() == server.getsockname()
    with files_watched(FileUse(copy)), socket.socket() as far:
        far.settimeout(0.01)
        # No matter what becomes of it: it is not this program that refuses.
        with pytest.raises(OSError, match=r"^(?!.*left out)"):
            far.connect(("192.0.2.1", 9))
