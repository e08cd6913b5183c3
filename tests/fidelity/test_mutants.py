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
    return {trial.mutant: trial for trial in trials(folder, *arguments)}


@pytest.fixture(scope="module")
def every_uncompared(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Trial]:
    return _tried(tmp_path_factory.mktemp("uncompared"), "--uncompared", "--mutants")


@pytest.fixture(scope="module")
def every_compared(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Trial]:
    return _tried(tmp_path_factory.mktemp("compared"), "--mutants")


def test_there_are_enough_mutants_and_no_two_have_one_name() -> None:
    assert len(set(NAMES)) == len(NAMES) >= 40


@pytest.mark.parametrize("mutant", MUTANTS, ids=NAMES)
def test_the_script_of_a_mutant_is_ordered_as_what_it_does(mutant: Mutant) -> None:
    """Or refused, where the repair is a refusal: the mutant alone makes another training of it."""
    assert results()[mutant.script]["outcome"] in (judge.AGREES, judge.DRAWS, judge.REFUSED)


@pytest.mark.slow
@pytest.mark.parametrize("name", NAMES)
def test_a_mutant_gives_another_training_and_is_refused(
    name: str, every_uncompared: dict[str, Trial], every_compared: dict[str, Trial]
) -> None:
    assert every_uncompared[name].outcome == judge.DIFFERENT, every_uncompared[name]
    assert every_compared[name].outcome == judge.REFUSED, every_compared[name]
