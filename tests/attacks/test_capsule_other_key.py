"""The accuser makes a dishonest run, signs it with a key of his own, and says it is the trainer's."""

from __future__ import annotations

from pathlib import Path

import pytest

from counterfoil_core.bundle.capsule import CapsuleContents
from counterfoil_core.signing.keys import SigningKey
from counterfoil_core.values.adjudication import AdjudicationOutcome
from support.bundles import test_key as key_of
from support.capsules import adjudicated, evidence_of, record_cheat, refused, save
from support.jobs import digits_order


@pytest.fixture(scope="module")
def accuser(tmp_path_factory: pytest.TempPathFactory) -> SigningKey:
    return key_of(tmp_path_factory.mktemp("accuser"))


@pytest.fixture(scope="module")
def forged(tmp_path_factory: pytest.TempPathFactory, accuser: SigningKey) -> CapsuleContents:
    return evidence_of(record_cheat(tmp_path_factory.mktemp("forged"), digits_order(), accuser).run)


def test_the_trainers_key_tells(forged: CapsuleContents, trainer_key: SigningKey, tmp_path: Path) -> None:
    refused(save(forged, tmp_path / "a.cfoil"), "signature does not hold", trainer_key=trainer_key.public)


def test_without_it_the_report_names_the_key_that_signed(
    forged: CapsuleContents, accuser: SigningKey, trainer_key: SigningKey, tmp_path: Path
) -> None:
    report = adjudicated(save(forged, tmp_path / "a.cfoil"))
    assert report.outcome is AdjudicationOutcome.CONFIRMED
    assert report.trainer_key == accuser.public.key_id != trainer_key.public.key_id
    assert "compare it with the trainer's" in report.checks[4].detail


def test_control_with_the_right_key(capsule: Path, trainer_key: SigningKey) -> None:
    report = adjudicated(capsule, trainer_key=trainer_key.public)
    assert report.outcome is AdjudicationOutcome.CONFIRMED
