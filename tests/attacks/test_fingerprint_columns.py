"""The run has a fingerprint too few or too many for each step, and the trainer signed that."""

from __future__ import annotations

import numpy as np
import pytest

from counterfoil.training.orderfile import load_order
from counterfoil_core.bundle.reader import BundleReader
from counterfoil_core.values.outcome import CheckNumber
from support.bundles import opened_for_change
from support.expectations import refused, verified


def reshaped(run, columns: int) -> None:
    with opened_for_change(run) as file:
        old = file["run/fingerprints"][...]
        new = np.zeros((len(old), columns), np.uint64)
        shared = min(columns, old.shape[1])
        new[:, :shared] = old[:, :shared]
        del file["run/fingerprints"]
        file.create_dataset("run/fingerprints", data=new)


@pytest.mark.parametrize("more", [-1, 1, 100])
def test_columns_that_the_program_does_not_have(forge, digits_job, more):
    with BundleReader.open(digits_job.run) as reader:
        columns = len(load_order(reader).program.places)
        assert reader.fingerprint_columns().only == columns
    run = forge(lambda run: reshaped(run, columns + more))
    sentence = f"The run has {columns + more} fingerprints for each step; a step of its program has {columns}."
    refused(run, digits_job.order, CheckNumber.COMMITMENTS, sentence)


def test_no_columns_at_all(forge, digits_job):
    run = forge(lambda run: reshaped(run, 0))
    refused(run, digits_job.order, CheckNumber.COMMITMENTS, "The run has 0 fingerprints for each step")


def test_control_the_dataset_is_written_anew(forge, digits_job):
    with BundleReader.open(digits_job.run) as reader:
        columns = reader.fingerprint_columns().only
    verified(forge(lambda run: reshaped(run, columns)), digits_job.order)
