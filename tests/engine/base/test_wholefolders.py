"""A folder has its name when all of it is there, and leaves nothing behind when something fails."""

from __future__ import annotations

from pathlib import Path

import pytest

from counterfoil.base.joberrors import TargetExistsError
from counterfoil.base.wholefolders import whole_folder
from counterfoil_core.base.errors import FileWriteError


def test_it_has_its_name_at_the_end(tmp_path: Path) -> None:
    with whole_folder(tmp_path / "out", what="the folder") as folder:
        (folder / "file").write_text("x")
        assert not (tmp_path / "out").exists()
        assert folder.parent == tmp_path
    assert (tmp_path / "out" / "file").read_text() == "x"
    assert [path.name for path in tmp_path.iterdir()] == ["out"]


def test_an_empty_folder_may_be_there(tmp_path: Path) -> None:
    (tmp_path / "out").mkdir()
    with whole_folder(tmp_path / "out", what="the folder") as folder:
        (folder / "file").write_text("x")
    assert (tmp_path / "out" / "file").is_file()


def test_nothing_is_left_of_one_that_failed(tmp_path: Path) -> None:
    def failing() -> None:
        with whole_folder(tmp_path / "out", what="the folder") as folder:
            (folder / "file").write_text("x")
            raise RuntimeError("half way")

    with pytest.raises(RuntimeError, match="half way"):
        failing()
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("kind", ["file", "folder", "link"])
def test_what_lies_there_stays(kind: str, tmp_path: Path) -> None:
    target = tmp_path / "out"
    if kind == "file":
        target.write_text("mine")
    elif kind == "folder":
        target.mkdir()
        (target / "mine").write_text("mine")
    else:
        (tmp_path / "empty").mkdir()
        target.symlink_to(tmp_path / "empty")
    before = sorted(tmp_path.rglob("*"))
    with pytest.raises(TargetExistsError, match="something of this name"), whole_folder(target, what="the folder"):
        raise AssertionError("it was begun")
    assert sorted(tmp_path.rglob("*")) == before


def test_what_comes_to_lie_there_meanwhile_stays(tmp_path: Path) -> None:
    def overtaken() -> None:
        with whole_folder(tmp_path / "out", what="the folder") as folder:
            (folder / "file").write_text("x")
            (tmp_path / "out").mkdir()
            (tmp_path / "out" / "theirs").write_text("y")

    with pytest.raises(FileWriteError):
        overtaken()
    assert sorted(path.name for path in tmp_path.rglob("*")) == ["out", "theirs"]


def test_a_folder_in_no_folder(tmp_path: Path) -> None:
    with (
        pytest.raises(FileWriteError, match="no such folder"),
        whole_folder(tmp_path / "no" / "out", what="the folder"),
    ):
        raise AssertionError("it was begun")
