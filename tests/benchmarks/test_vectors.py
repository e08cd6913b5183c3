"""The conformance vectors in tests/vectors are what this Counterfoil gives, and its own audit verifies their runs."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from benchmarks.__main__ import main
from benchmarks.vectors.writing import RUNS, write_vectors

from counterfoil_core.bundle.reader import BundleReader
from counterfoil_core.bundle.schema import FORMAT_VERSION
from counterfoil_core.values.outcome import Outcome
from support.jobs import audited

STORED = Path(__file__).parents[1] / "vectors"
LOGGED = ("run_root", "log", "record", "leaf")
"""What depends on which decisions were close on the machine that wrote a log."""


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("vectors")
    write_vectors(folder)
    return folder


def read(path: Path) -> Any:
    return json.loads(path.read_text(encoding="utf-8"))


def without_logs(value: Any) -> Any:
    if isinstance(value, list):
        return [without_logs(item) for item in value]
    if isinstance(value, dict):
        return {key: without_logs(item) for key, item in value.items() if key not in LOGGED}
    return value


def test_the_stored_folder_holds_the_same_files(made: Path) -> None:
    assert {path.name for path in STORED.iterdir()} == {"README.md", *(path.name for path in made.iterdir())}
    assert sum(path.stat().st_size for path in STORED.iterdir()) < 530_000


def test_every_file_stands_in_the_readme(made: Path) -> None:
    text = (STORED / "README.md").read_text(encoding="utf-8")
    assert f"(version {FORMAT_VERSION})" in text
    for path in made.iterdir():
        assert f"`{path.stem}.{'cfoil' if path.stem in RUNS else 'json'}`" in text


def test_single_functions_give_the_stored_bytes(made: Path) -> None:
    names = sorted(path.name for path in made.glob("*.json") if path.stem not in RUNS)
    assert len(names) == 13
    for name in names:
        assert (STORED / name).read_bytes() == (made / name).read_bytes(), name


@pytest.mark.parametrize("name", RUNS)
def test_runs_give_the_stored_values(name: str, made: Path) -> None:
    if f"as torch {torch.__version__.split('+')[0]} captures" not in (STORED / "README.md").read_text(encoding="utf-8"):
        pytest.skip("another torch may capture another list of operators")
    stored, fresh = read(STORED / f"{name}.json"), read(made / f"{name}.json")
    if name in ("exact", "shares"):  # there is no log, so nothing depends on a machine
        assert stored == fresh
    # The turned decision is one of the log, so that what follows from it depends on the machine as the log does.
    steps = fresh["turned_step"] - 1 if fresh.get("turned_step") else len(fresh["steps"])
    if stored["steps"] != fresh["steps"]:
        stored["steps"], fresh["steps"] = stored["steps"][:steps], fresh["steps"][:steps]
    assert without_logs(stored) == without_logs(fresh)


@pytest.mark.sampled(2)
@pytest.mark.parametrize("name", RUNS)
def test_runs_are_verified(name: str) -> None:
    report = audited(STORED / f"{name}.cfoil").report
    assert report.outcome is Outcome.VERIFIED, report.reason
    assert report.run_root is not None
    assert report.run_root.hex == read(STORED / f"{name}.json")["run_root"]
    assert (report.corrections > 0) == (name == "convolution")


@pytest.mark.slow
def test_the_command_writes_the_same_again(made: Path, tmp_path: Path) -> None:
    assert main(["vectors", "--out", str(tmp_path / "again")]) == 0
    for path in made.iterdir():
        assert (tmp_path / "again" / path.name).read_bytes() == path.read_bytes(), path.name


def test_a_folder_that_cannot_be_written_is_refused(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    assert main(["vectors", "--out", str(tmp_path / "file")]) == 4


def test_the_turned_decision_is_one_quantum_of_one_element(made: Path) -> None:
    """The control: the turned step is not what rounding to nearest gives, and differs from it in its fingerprints."""
    from benchmarks.vectors.jobs import convolution_order
    from benchmarks.vectors.recording import record_steps

    honest = list(record_steps(convolution_order()))
    expected = read(made / "convolution.json")
    turned = expected["turned_step"]
    with BundleReader.open(made / "convolution.cfoil") as reader:
        rows = [reader.fingerprints(step) for step in range(1, reader.manifest.steps + 1)]
    assert np.array_equal(rows[turned - 2], honest[turned - 2].fingerprints)
    assert not np.array_equal(rows[turned - 1], honest[turned - 1].fingerprints)
