from __future__ import annotations

import pytest

from counterfoil.base.joberrors import RankError
from counterfoil.distributed.launch import Launch, launch


@pytest.mark.parametrize(
    ("said", "found"),
    [
        ({}, None),
        ({"RANK": "0"}, None),
        ({"RANK": "0", "WORLD_SIZE": "1"}, None),
        ({"RANK": "5", "WORLD_SIZE": "8", "LOCAL_RANK": "1"}, Launch(5, 8, 1)),
        ({"RANK": "1", "WORLD_SIZE": "2"}, Launch(1, 2, 1)),
    ],
)
def test_the_environment_says_which_rank_this_is(monkeypatch, said, found) -> None:
    say(monkeypatch, said)
    assert launch() == found


@pytest.mark.parametrize(("rank", "size"), [("2", "2"), ("-1", "2"), ("one", "2"), ("0", "")])
def test_a_rank_that_cannot_be_is_refused(monkeypatch, rank, size) -> None:
    say(monkeypatch, {"RANK": rank, "WORLD_SIZE": size})
    with pytest.raises(RankError, match="which cannot be"):
        launch()


def say(monkeypatch: pytest.MonkeyPatch, said: dict[str, str]) -> None:
    for name in ("RANK", "WORLD_SIZE", "LOCAL_RANK"):
        monkeypatch.delenv(name, raising=False)
    for name, value in said.items():
        monkeypatch.setenv(name, value)
