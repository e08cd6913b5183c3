"""One bit of a capsule is flipped: it is refused, whichever part it lies in."""

from __future__ import annotations

import shutil
from dataclasses import replace
from pathlib import Path

import h5py
import numpy as np
import pytest
from hypothesis import given, settings, strategies as st

from counterfoil_core.values.adjudication import AdjudicationOutcome, AdjudicationReport
from support.bundles import flip_bit
from support.capsules import adjudicated


@pytest.fixture(scope="module")
def control(capsule: Path) -> AdjudicationReport:
    report = adjudicated(capsule)
    assert report.outcome is AdjudicationOutcome.CONFIRMED
    return report


def datasets(path: Path) -> dict[str, h5py.Dataset]:
    """Size in elements and bytes of an element of every dataset that holds anything."""
    found: dict[str, tuple[int, int]] = {}

    def note(name: str, item: object) -> None:
        if isinstance(item, h5py.Dataset) and item.size:
            found[f"/{name}"] = (item.size, item.dtype.itemsize)

    with h5py.File(path) as file:
        file.visititems(note)
    return found


def flipped_is_told(capsule: Path, copy: Path, control: AdjudicationReport, dataset: str, place: int) -> None:
    size, itemsize = datasets(capsule)[dataset]
    element, bit = divmod(place % (size * itemsize * 8), itemsize * 8)
    shutil.copy(capsule, copy)
    flip_bit(copy, dataset, element, bit)
    report = adjudicated(copy)
    # Base64 and DSSE's key hint leave a few bits of the envelope without meaning.
    same = replace(report, capsule_digest=control.capsule_digest, seconds=control.seconds) == control
    assert report.outcome is AdjudicationOutcome.REFUSED or (same and dataset == "/run/claim"), (dataset, element, bit)
    assert report.steps_replayed == 0 or same


def test_every_dataset(capsule: Path, tmp_path: Path, control: AdjudicationReport) -> None:
    rng = np.random.default_rng(2)
    for dataset in datasets(capsule):
        flipped_is_told(capsule, tmp_path / "flipped.cfoil", control, dataset, int(rng.integers(2**30)))


@settings(max_examples=20)
@given(data=st.data())
def test_any_bit(
    capsule: Path, tmp_path_factory: pytest.TempPathFactory, control: AdjudicationReport, data: st.DataObject
) -> None:
    # The large parts hold most of the bits, so the part is drawn first.
    dataset = data.draw(st.sampled_from(sorted(datasets(capsule))))
    copy = tmp_path_factory.getbasetemp() / "any.cfoil"
    flipped_is_told(capsule, copy, control, dataset, data.draw(st.integers(0, 2**30)))
