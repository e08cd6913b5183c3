"""A file that moved is found by what it holds: the real engine, in its own process."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest
from msgspec.structs import replace

from counterfoil import CancelToken, CounterfoilError, Digest, FileUse, LabelFlip
from counterfoil_app.engine.port import Engine
from counterfoil_app.engine.process import ProcessEngine
from counterfoil_app.engine.search import Wanted, search
from counterfoil_core.base.errors import CancelledError
from counterfoil_core.signing.keys import SigningKey
from counterfoil_core.signing.subject import Subject
from support.job_fixtures import digits_job, once, trainer_key
from support.jobs import Job, digits_order, record_job

__all__ = ["digits_job", "once", "trainer_key"]


@pytest.fixture(scope="module")
def archive(tmp_path_factory: pytest.TempPathFactory, digits_job: Job, trainer_key: SigningKey) -> Path:
    """Folders with an honest run, a tampered one of the same order, the order, junk, and a copy of the name."""
    folder = tmp_path_factory.mktemp("archive")
    tampered = record_job(tmp_path_factory.mktemp("tampered"), digits_order(), trainer_key, tamper=LabelFlip(2))
    (folder / "a").mkdir()
    (folder / "b" / "c").mkdir(parents=True)
    shutil.copy(tampered.run, folder / "a" / "run.cfoil")
    shutil.copy(digits_job.run, folder / "b" / "c" / "honest")
    shutil.copy(digits_job.order, folder / "b" / "order.cfoil")
    (folder / "junk.cfoil").write_bytes(b"\x89HDF\r\n\x1a\n" + bytes(1000))
    (folder / "b" / "loop").symlink_to(folder)
    return folder


def facts(path: Path) -> tuple[Digest, Subject | None]:
    found = Engine().outline(path)
    return found.order.digest, None if found.run is None else found.run.about


@pytest.fixture(scope="module")
def engine() -> Iterator[ProcessEngine]:
    made = ProcessEngine()
    yield made
    made.close()


def looked(engine: Engine | ProcessEngine, place: Path, wanted: Wanted) -> tuple[Path | None, int]:
    last = list(engine.find(place, wanted, CancelToken()))[-1]
    return last.found, last.total


def test_a_run_is_found_by_what_it_is_under_any_name(archive: Path, engine: ProcessEngine) -> None:
    for real in (archive / "b" / "c" / "honest", archive / "a" / "run.cfoil"):
        order, about = facts(real)
        assert about is not None
        assert looked(engine, archive, Wanted(FileUse.RUN, "run.cfoil", order, about)) == (real, 4)
    nowhere = Wanted(FileUse.RUN, "run.cfoil", order, replace(about, trainer_key=Digest.of(b"another").hex))
    assert looked(engine, archive, nowhere) == (None, 4)


def test_an_order_is_no_run_of_it(archive: Path) -> None:
    order, _ = facts(archive / "b" / "order.cfoil")
    found = looked(Engine(), archive, Wanted(FileUse.ORDER, "x", order))
    assert found == (archive / "b" / "order.cfoil", 4)
    assert looked(Engine(), archive, Wanted(FileUse.ORDER, "order.cfoil", Digest.of(b"x")))[0] is None


def test_one_file_is_looked_at_by_itself(archive: Path) -> None:
    real = archive / "b" / "c" / "honest"
    order, about = facts(real)
    wanted = Wanted(FileUse.RUN, "run.cfoil", order, about)
    assert looked(Engine(), real, wanted) == (real, 1)
    assert looked(Engine(), archive / "a" / "run.cfoil", wanted) == (None, 1)
    with pytest.raises(CounterfoilError, match="There is no file"):
        looked(Engine(), archive / "nothing", wanted)


def test_weights_name_no_order_and_are_found_by_their_name(tmp_path: Path) -> None:
    for name in ("one", "two"):
        (tmp_path / name).mkdir()
        (tmp_path / name / f"{name}.safetensors").write_bytes(b"\x02" + bytes(7) + b"{}")
    wanted = Wanted(FileUse.WEIGHTS, "two.safetensors", Digest.of(b"order"))
    assert looked(Engine(), tmp_path, wanted)[0] == tmp_path / "two" / "two.safetensors"
    assert looked(Engine(), tmp_path, Wanted(FileUse.WEIGHTS, "one"))[0] == tmp_path / "one"


def test_a_search_ends_when_it_is_cancelled(archive: Path) -> None:
    token = CancelToken()
    steps = search(Engine(), archive, Wanted(FileUse.RUN, "x", Digest.of(b"x")), token)
    next(steps)
    token.cancel()
    with pytest.raises(CancelledError):
        list(steps)
