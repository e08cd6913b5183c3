"""What a judgement says of a run's weights: only one that VERIFIED says anything."""

from __future__ import annotations

import dataclasses

import pytest

from counterfoil.delivery.basis import basis_of
from counterfoil_core.base.errors import SignatureError
from counterfoil_core.bundle.reader import BundleReader
from counterfoil_core.bundle.schema import run_tree
from counterfoil_core.signing.keys import SigningKey
from counterfoil_core.values.outcome import Outcome
from support.jobs import Job
from support.resuming import ended, request_of, whole


def test_only_a_run_that_was_verified_has_weights_to_compare(digits_job: Job, trainer_key: SigningKey) -> None:
    report = ended(whole(request_of(digits_job))).report
    basis = basis_of(report)
    with BundleReader.open(digits_job.run) as reader:
        assert basis.run_root == run_tree(reader.step_records()).root
    assert (basis.warnings, basis.trainer_key) == ((), report.trainer_key)
    for outcome in set(Outcome) - {Outcome.VERIFIED}:
        with pytest.raises(SignatureError, match=outcome.value) as caught:
            basis_of(dataclasses.replace(report, outcome=outcome))
        remedy = caught.value.remedy
        assert ("not those of a verified run" in remedy) == (outcome is Outcome.DISPUTED)
        assert ("audited to its end first" in remedy) == (outcome in (Outcome.INCONCLUSIVE, Outcome.ERROR))
