"""Runs that several test files look at; recorded once for each folder of tests."""

from __future__ import annotations

import pytest

from counterfoil.signing.keys import SigningKey
from support.bundles import test_key
from support.jobs import Job, digits_order, gpt2_order, record_job
from support.precisions import CALIBRATED, PROVEN


@pytest.fixture(scope="session")
def trainer_key(tmp_path_factory: pytest.TempPathFactory) -> SigningKey:
    return test_key(tmp_path_factory.mktemp("keys"))


@pytest.fixture(scope="session")
def digits_job(tmp_path_factory: pytest.TempPathFactory, trainer_key: SigningKey) -> Job:
    return record_job(tmp_path_factory.mktemp("digits"), digits_order(), trainer_key)


@pytest.fixture(scope="session")
def calibrated_job(tmp_path_factory: pytest.TempPathFactory, trainer_key: SigningKey) -> Job:
    return record_job(tmp_path_factory.mktemp("calibrated"), digits_order(precision=CALIBRATED), trainer_key)


@pytest.fixture(scope="session")
def proven_job(tmp_path_factory: pytest.TempPathFactory, trainer_key: SigningKey) -> Job:
    return record_job(tmp_path_factory.mktemp("proven"), digits_order(precision=PROVEN), trainer_key)


@pytest.fixture(scope="session")
def gpt2_job(tmp_path_factory: pytest.TempPathFactory, trainer_key: SigningKey) -> Job:
    return record_job(tmp_path_factory.mktemp("gpt2"), gpt2_order(), trainer_key)
