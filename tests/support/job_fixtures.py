"""Runs that several test files look at: recorded once in a test run, by whichever of its processes needs them first."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from filelock import FileLock

from counterfoil.training.tamper import LabelFlip
from counterfoil_core.signing.keys import SigningKey
from support.bundles import test_key
from support.jobs import Job, digits_order, gpt2_order, record_job
from support.precisions import CALIBRATED, PROVEN

Once = Callable[[str, Callable[[Path], object]], Path]
"""Given a name and what fills a folder: the folder of that name, filled."""


@pytest.fixture(scope="session")
def once(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Once]:
    """Fill a folder once for all processes of a test run; whoever looks at its files leaves them as they are."""
    own = tmp_path_factory.getbasetemp()
    shared = own.parent / "shared" if "PYTEST_XDIST_WORKER" in os.environ else own / "shared"
    seen: dict[Path, tuple[int, int]] = {}

    def filled(name: str, fill: Callable[[Path], object]) -> Path:
        folder = shared / name
        shared.mkdir(exist_ok=True)
        with FileLock(shared / f"{name}.lock"):
            if not folder.exists():
                begun = shared / f"{name}.begun"
                begun.mkdir()
                fill(begun)
                begun.rename(folder)
        seen.update((path, _stamp(path)) for path in folder.iterdir())
        return folder

    yield filled
    assert {path: _stamp(path) for path in seen} == seen, "a test changed a file that others look at"


def _stamp(path: Path) -> tuple[int, int]:
    status = path.stat()
    return status.st_size, status.st_mtime_ns


@pytest.fixture(scope="session")
def trainer_key(once: Once) -> SigningKey:
    return test_key(once("keys", test_key))


@pytest.fixture(scope="session")
def digits_job(once: Once, trainer_key: SigningKey) -> Job:
    return Job.within(once("digits", lambda folder: record_job(folder, digits_order(), trainer_key)))


@pytest.fixture(scope="session")
def cheat_job(once: Once, trainer_key: SigningKey) -> Job:
    """A run of the same order, whose step 3 of 6, in the second of three segments, was trained on other labels."""
    cheat = LabelFlip(3)
    return Job.within(once("cheat", lambda folder: record_job(folder, digits_order(), trainer_key, tamper=cheat)))


@pytest.fixture(scope="session")
def calibrated_job(once: Once, trainer_key: SigningKey) -> Job:
    order = digits_order(precision=CALIBRATED)
    return Job.within(once("calibrated", lambda folder: record_job(folder, order, trainer_key)))


@pytest.fixture(scope="session")
def proven_job(once: Once, trainer_key: SigningKey) -> Job:
    order = digits_order(precision=PROVEN)
    return Job.within(once("proven", lambda folder: record_job(folder, order, trainer_key)))


@pytest.fixture(scope="session")
def gpt2_job(once: Once, trainer_key: SigningKey) -> Job:
    return Job.within(once("gpt2", lambda folder: record_job(folder, gpt2_order(), trainer_key)))
