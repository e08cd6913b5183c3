"""The mutation trial: its mutants reach the code that is run, and nothing that it found is left unjudged."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

pytest.importorskip("mutmut", reason="the library mutmut is not installed")

from counterfoil.signer import gate
from mutation import page, warm
from mutation.mutants import File, Mutant

SOURCE = '''\
def above(x, y):
    """Whether one is more than 1 above the other."""
    if x > y + 1:
        raise ValueError(say("{0} is 3 too large", x))
    check(x)
    return x is not None
'''


def mutants(text: str) -> list[Mutant]:
    return [place.mutant() for place in File("some.py", text).places()]


def test_mutants_change_one_thing_each_and_no_sentence() -> None:
    found = mutants(SOURCE)
    assert sorted(each.after for each in found) == sorted(
        [
            "if (not (x > y + 1)):",
            "if (x > y + 1) and False:",
            "if x >= y + 1:",
            "if x > y - 1:",
            "if x > y + 2:",
            "pass",
            "pass",
            "return x is None",
        ]
    )
    assert len({each.key for each in found}) == len(found)
    for each in found:
        compile(each.source, "some.py", "exec")
        assert each.function == "above"


def test_a_mutant_stays_the_same_one_while_its_function_does() -> None:
    other = "import os\n\n\ndef before():\n    return 1 + 1\n\n\n" + SOURCE
    assert {each.key for each in mutants(SOURCE)} <= {each.key for each in mutants(other)}
    changed = SOURCE.replace("check(x)", "check(y)")
    assert not {each.key for each in mutants(SOURCE)} & {each.key for each in mutants(changed)}


def test_whoever_holds_a_function_calls_the_mutant() -> None:
    """As of a fork that tries it; here the function is put back."""
    path = Path(gate.__file__)
    places = File("counterfoil/signer/gate.py", path.read_text(encoding="utf-8")).places()
    mutant = next(place for place in places if place.name == "Gate.check").mutant()
    held = gate.Gate.check
    code = held.__code__
    try:
        assert warm.apply(path, mutant.source, mutant.first, mutant.last)
        assert held.__code__ != code
        assert gate.Gate.check is held
    finally:
        held.__code__ = code


def test_a_fork_that_ends_or_never_ends_is_told() -> None:
    assert warm.forked(lambda: {"is": [1, "x"]}, 60.0) == {"is": [1, "x"]}
    with pytest.raises(warm.Forked, match="crash"):
        warm.forked(lambda: 1 / 0, 60.0)
    with pytest.raises(warm.Forked, match="time"):
        warm.forked(lambda: __import__("time").sleep(60), 0.3)


def test_every_survivor_was_judged_and_none_changes_a_judgement() -> None:
    found, said = page.results(), page.judged()
    survivors = {key: one for key, one in found.items() if one["outcome"] != "killed"}
    assert {key for key in survivors if key not in said} == set(), "look at these, and write into judged.json"
    for key in survivors:
        assert said[key]["kind"] in page.KINDS
        assert said[key]["kind"] != "judgement", survivors[key]
        assert said[key]["reason"]


def test_the_page_is_made_of_the_results() -> None:
    assert page.PAGE.read_text(encoding="utf-8") == page.text()
    assert json.loads(page.JUDGED.read_text(encoding="utf-8")) == page.judged()
