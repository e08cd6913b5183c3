"""What users and other implementations see is what it was: each frozen file is made again, and compared to the byte."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.frozen import statements
from tests.frozen.groups import GROUPS
from tests.frozen.store import Texts, differences, obstacle, stored
from tests.frozen.world import World

from counterfoil import Digest
from support.statements import keeps_every_rule

MADE_HERE = [
    pytest.param(name, marks=() if name in ("statements", "help") else pytest.mark.slow)
    for name in GROUPS
    if name not in ("window", "german")
]
"""The others are made by test_window.py. Of ``roots`` and ``recordings`` tests/engine/test_golden.py holds three jobs,
and tests/attacks and tests/engine/cli hold what audits and commands conclude, in every run of the tests.
"""
FILES = [
    pytest.param(group, name, marks=given.marks, id=name)
    for given in MADE_HERE
    for group in given.values
    for name in stored(GROUPS[group].prefixes)
]


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Texts]:
    """What is made now, by group; each when it is first asked for."""
    folder = tmp_path_factory.mktemp("frozen")

    class Made(dict[str, Texts]):
        def __missing__(self, name: str) -> Texts:
            self[name] = GROUPS[name].make(folder)
            return self[name]

    return Made()


@pytest.mark.parametrize(("group", "name"), FILES)
def test_a_file_is_made_again_to_the_byte(group: str, name: str, made: dict[str, Texts]) -> None:
    if reason := obstacle(name):
        pytest.skip(reason)
    assert made[group].get(name) == stored((name,))[name], "python -m tests.frozen shows the difference"


@pytest.mark.parametrize("group", MADE_HERE)
def test_nothing_is_made_that_is_not_stored(group: str, made: dict[str, Texts]) -> None:
    kept = stored(GROUPS[group].prefixes)
    if all(map(obstacle, kept)):
        pytest.skip("nothing of it is the same on this machine")
    assert {name for name in made[group] if not obstacle(name)} <= kept.keys()


def test_every_kind_of_statement_is_there() -> None:
    texts = stored(("statements/",))
    types = texts.pop("statements/types.json")
    assert statements.KINDS
    for kind in statements.KINDS:
        assert kind in types
        assert any(f'"predicateType": "{kind}"' in text for text in texts.values()), kind


@pytest.mark.parametrize("name", statements.verdict_reports())
def test_frozen_verdicts_are_such_as_a_reader_takes(name: str) -> None:
    keeps_every_rule(statements.verdict_reports()[name])


def test_control_a_word_that_changed_is_shown() -> None:
    name = "statements/order.json"
    (text,) = stored((name,)).values()
    assert list(differences({name: text}, (name,))) == []
    shown = list(differences({name: text.replace("order", "ordr", 1)}, (name,)))
    assert shown[:2] == [f"--- stored/{name}", f"+++ made/{name}"]
    assert any(line.startswith("+") and "ordr" in line for line in shown)
    assert list(differences({}, (name,)))


def test_control_what_a_machine_decides_is_left_out_and_nothing_else(tmp_path: Path) -> None:
    world = World(tmp_path)
    (tmp_path / "run.json").write_text("{}")
    world.label_files()
    digits = Digest.of(b"{}").hex
    said = f"at 2026-11-27T17:55:01Z, not 2026-01-01T00:00:00Z; {digits[:12]} in {tmp_path}, 0.1 s  \n{digits}\n"
    plain = "at <time>, not 2026-01-01T00:00:00Z; <SHA-256 of run.json, 12 digits> in <folder>, 0.1 s\n"
    assert world.plain(said) == f"{plain}<SHA-256 of run.json>\n"


def test_no_file_knows_the_machine_that_made_it() -> None:
    here = str(Path.home()), str(Path(__file__).parents[2]), "/tmp/"
    assert [name for name, text in stored().items() if any(place in text for place in here)] == []
