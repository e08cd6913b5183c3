"""Arguments by chance, for all operators of the allow-list: each program is refused or computed, and nothing else."""

from __future__ import annotations

from collections import Counter

import pytest

from counterfoil_core.values.outcome import Outcome
from support.random_programs import cases, outcome


def counted(seed: int, count: int) -> Counter[Outcome | None]:
    """How the cases ended; an exception that is none of Counterfoil's ends the test."""
    found: Counter[Outcome | None] = Counter()
    for case in cases(seed, count):
        try:
            found[outcome(case.data)] += 1
        except Exception as error:
            error.add_note(f"{case.name}: {case.data[:4000].decode()}")
            raise
    return found


def test_some_hundreds() -> None:
    found = counted(1, 150)
    # A test in which everything is refused, or nothing, would show little.
    assert found[None] > 20
    assert found[Outcome.REFUSED] > 20


@pytest.mark.slow
def test_ten_thousand() -> None:
    found = counted(2, 10_000)
    assert found[None] > 1500
    assert found[Outcome.REFUSED] > 1500
    assert found[Outcome.INCONCLUSIVE] > 0
