"""Orders whose rows are leaves, and the rows in their capsules, checked by the second implementation."""

from __future__ import annotations

from pathlib import Path

import h5py
import numpy as np
import pytest

from independent.bundle import Bundle, RefusedError, parse, proven_rows
from support.bundles import opened_for_change, test_key as key_in
from support.capsules import crafted, save
from support.jobs import Job, digits_order, record_job

STEP = 3


@pytest.fixture(scope="module")
def job(tmp_path_factory: pytest.TempPathFactory) -> Job:
    folder = tmp_path_factory.mktemp("rows")
    return record_job(folder, digits_order(commit_every=1).with_row_leaves(), key_in(folder))


def test_an_order_and_a_run_with_row_leaves_are_what_the_page_says(job: Job) -> None:
    for path in (job.order, job.run):
        Bundle(path).check_order()
    Bundle(job.run).check_run()


@pytest.mark.parametrize("path", ["order/row_key", "order/data/labels"])
def test_control_another_key_or_row_is_noticed(path: str, job: Job, tmp_path: Path) -> None:
    other = tmp_path / "run.cfoil"
    other.write_bytes(job.run.read_bytes())
    with opened_for_change(other) as file:
        file[path][3] ^= 1
    with pytest.raises(RefusedError, match="another"):
        Bundle(other).check_order()


def test_rows_of_a_capsule_are_proven_by_themselves(job: Job, tmp_path: Path) -> None:
    with h5py.File(job.order, "r") as order:
        rows = sorted(set(order["order/schedule"][STEP - 1].tolist()))
        expected = {name: array[:] for name, array in order["order/data"].items()}
    with h5py.File(save(crafted(job.run, STEP), tmp_path / "a.cfoil"), "r") as capsule:
        specs = parse(capsule["order/manifest"][:].tobytes())["data"]
        assert specs.keys() == capsule["capsule/data"].keys() == {"images", "labels"}
        for name, spec in specs.items():
            group = {each: dataset[:] for each, dataset in capsule[f"capsule/data/{name}"].items()}
            assert proven_rows(group, spec) == {row: expected[name][row].tobytes() for row in rows}
            for each in ("values", "salts", "proofs"):
                spoiled = group[each].copy()
                spoiled.reshape(-1)[-1] ^= 1
                with pytest.raises(RefusedError, match="another array"):
                    proven_rows({**group, each: spoiled}, spec)
            with pytest.raises(RefusedError, match="more rows"):
                proven_rows({**group, "proofs": np.concatenate([group["proofs"], group["proofs"][:1]])}, spec)
