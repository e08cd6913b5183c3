"""A few of the kills of ``python -m tests.kills``; as controls, what is lost or different is seen."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from kills.campaign import SUBJECTS, Killed, Killer, table

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="there is no fork and no kill -9, or no box")


@pytest.mark.slow
def test_some_kills(tmp_path: Path) -> None:
    with Killer(tmp_path, seed=2) as killer:
        killed = list(killer.kills(len(SUBJECTS) + 1))
    assert [each for each in killed if each.wrong] == []


def test_what_goes_wrong_is_counted() -> None:
    killed = [Killed("a"), Killed("a", lost=True), Killed("b", different=True, left=".part"), Killed("b", trouble="no")]
    assert [each.wrong for each in killed] == [False, True, True, True]
    said = table(killed, 1)
    assert "4 commands were killed" in said
    assert "3 went wrong" in said
    assert "| a | 2 | 1 | 0 | 0 | 0 |" in said
    assert "| b | 2 | 0 | 1 | 1 | 1 |" in said
