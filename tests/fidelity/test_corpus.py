"""Every script of the corpus is ordered as what it does, or refused: never silently as another training.

All of them are tried in ``make test-all``, and each becomes what the kept results say; test_trial.py tries a few
always.
"""

from __future__ import annotations

import os

import pytest
from tests.fidelity import judge
from tests.fidelity.corpus import corpus
from tests.fidelity.results import results
from tests.fidelity.runs import trials
from tests.fidelity.trial import Trial

NAMES = [script.name for script in corpus()]
WRONG = (judge.DIFFERENT, judge.CRASH, judge.BROKEN)


def test_what_is_kept_is_of_the_scripts_that_there_are() -> None:
    assert list(results()) == NAMES, "run python -m tests.fidelity --write docs/scripts.md"


def test_none_is_silently_another_training() -> None:
    assert {row["outcome"] for row in results().values()}.isdisjoint(WRONG)


@pytest.fixture(scope="module")
def every(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Trial]:
    found = trials(tmp_path_factory.mktemp("every"), "--jobs", str(os.cpu_count() or 1))
    return {trial.name: trial for trial in found}


@pytest.mark.slow
@pytest.mark.parametrize("name", NAMES)
def test_a_script_becomes_what_is_kept(name: str, every: dict[str, Trial]) -> None:
    trial = every[name]
    if trial.outcome == judge.MISSING:
        pytest.skip(trial.sentence)
    assert trial.outcome not in WRONG, trial
    assert trial.outcome == results()[name]["outcome"], trial
