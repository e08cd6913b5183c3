"""The control: a follower with one repair taken back gives a wrong order, which both judges see.

With the product's comparison off the judge of this folder calls it different; with it on the product refuses it.
"""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.fidelity import judge
from tests.fidelity.mutants import MUTANTS, Mutant
from tests.fidelity.results import results
from tests.fidelity.runs import trials
from tests.fidelity.trial import Trial

NAMES = [mutant.name for mutant in MUTANTS]


def _tried(folder: Path, *arguments: str) -> dict[str, Trial]:
    return {trial.mutant: trial for trial in trials(folder, "--mutants", *arguments)}


@pytest.fixture(scope="module")
def uncompared(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Trial]:
    return _tried(tmp_path_factory.mktemp("uncompared"), "--uncompared")


@pytest.fixture(scope="module")
def compared(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Trial]:
    return _tried(tmp_path_factory.mktemp("compared"))


def test_no_two_mutants_have_one_name() -> None:
    assert len(set(NAMES)) == len(NAMES)


@pytest.mark.parametrize("mutant", MUTANTS, ids=NAMES)
def test_the_script_of_a_mutant_is_ordered_as_what_it_does(mutant: Mutant) -> None:
    assert results()[mutant.script]["outcome"] in (judge.AGREES, judge.DRAWS)


@pytest.mark.slow
@pytest.mark.parametrize("name", NAMES)
def test_a_mutant_that_is_not_compared_gives_another_training(name: str, uncompared: dict[str, Trial]) -> None:
    assert uncompared[name].outcome == judge.DIFFERENT, uncompared[name]


@pytest.mark.slow
@pytest.mark.xfail(strict=True, reason="orders are not compared with their scripts yet")
@pytest.mark.parametrize("name", NAMES)
def test_a_mutant_that_is_compared_is_refused(name: str, compared: dict[str, Trial]) -> None:
    assert compared[name].outcome == judge.REFUSED, compared[name]
