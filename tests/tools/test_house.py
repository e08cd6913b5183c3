"""What is measured of the house, on sources of which every number is known."""

from __future__ import annotations

from pathlib import Path

import pytest
from tools.house import Module

from tools import house

SOURCE = '''"""A module."""

from __future__ import annotations

import os

LIMIT = 3
"""Most of something."""


# A reason.
class Telling:
    """A class.

    Attributes:
        one: A field.
        two: Another
            one.

    Raises:
        ValueError: Never.
    """

    def known(
        self,
        value: dict[str, int],  # no reason
    ) -> int:
        """A method."""
        return value["--row-leaves"]


def open_row_leaves() -> str:
    text = """not

a docstring"""
    return os.fspath(text)
'''


def module(name: str, source: str = SOURCE) -> Module:
    return Module("counterfoil.audit", Path("engine/counterfoil/audit", f"{name}.py"), source)


def test_every_line_is_of_one_kind() -> None:
    one = module("one")
    counted = house.kinds(one)
    assert counted.total() == one.lines
    assert dict(counted) == {
        "docstrings": 1 + 1 + 10 + 1, "imports": 2, "comments": 1, "signatures": 4 + 1, "blanks": 9, "code": 6,
    }  # fmt: skip


def test_an_empty_module_has_no_lines() -> None:
    assert house.kinds(module("none", "")).total() == module("none", "").lines == 0


def test_names_in_several_modules_are_found_and_private_ones_are_not() -> None:
    one, two = module("one"), module("two", "def open_row_leaves(): ...\ndef _own(): ...\nclass Alone: ...\n")
    other = module("other", "def _own(): ...\n")
    assert house.names_in_several([one, two, other]) == {"open_row_leaves": [one.path, two.path]}


@pytest.mark.parametrize("name", ["telling", "known", "_signed_by", "known_keys", "recorded", "Held", "growing"])
def test_a_participle_is_one(name: str) -> None:
    assert house.is_participle(name)


@pytest.mark.parametrize(
    "name", ["string", "seed", "feed_back", "row", "embed", "ring", "need_run", "anything", "tell"]
)
def test_a_noun_or_a_verb_is_none(name: str) -> None:
    assert not house.is_participle(name)


def test_what_a_change_touches_is_identifiers_and_options_and_no_prose() -> None:
    one = module("one")
    prose = module("prose", '"""Row leaves, and row_leaves."""\n# row_leaves\nleaves = "row_leaves"\n')
    camel = module("camel", "class RowLeaves: ...\nrow_leaves_of = RowLeaves\n")
    assert house.touched("row_leaves", [one, prose, camel]) == {one.path: 2, camel.path: 3}
    assert house.touched("--row-leaves", [one]) == house.touched("RowLeaves", [one]) == {one.path: 2}
    assert house.touched("leave", [one]) == {}
    said = house.touch_text("row_leaves", [one, prose, camel])
    assert said.splitlines()[0] == "counterfoil: 2 files, 5 places"
    assert said.endswith("row_leaves: 2 files, 2 of them no tests")


def test_parameters_of_commands_are_read_from_their_help() -> None:
    text = """Usage: counterfoil x

  For --others.

Arguments:
  HASH|FILE <str>      Digits.
  RUN... <list[Path]>  Runs.

Options:
  -o, --out <path>     A file for --key.
                       --no option
  --flip / --no-flip   Mirror.
  --help               Show this message and exit.
"""
    assert house.parameters({"x": text}) == {"x": ["HASH|FILE", "RUN", "--out", "--flip"]}
    assert house.parameters({"y": "Usage: y\n"}) == {"y": []}


def test_the_stored_help_has_parameters() -> None:
    given = house.parameters(house.stored_help())
    assert {"RUN", "--order", "--verdict", "--json"} <= set(given["counterfoil audit"])
    assert {"HASH|FILE", "RUN", "--row"} <= set(given["counterfoil locate"])


def test_sections_of_attributes_are_counted_by_lines() -> None:
    assert house.attribute_sections(module("one")) == [4]


def test_sizes_and_lines_of_groups_stand_in_tables() -> None:
    group = {"counterfoil": [module("one"), module("two", "x = 1\n" * 501)]}
    assert house.sizes_table(group).splitlines()[1].split() == ["counterfoil", "2", "268", "1", "1", "1", "1"]
    assert house.lines_table(group).splitlines()[1].split()[:3] == ["counterfoil", "537", "507"]


def test_a_repository_is_measured(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for name in ("engine/counterfoil/audit/held.py", "tools/house.py", "tests/engine/audit/test_held.py"):
        path = tmp_path / name
        path.parent.mkdir(parents=True)
        path.write_text(SOURCE, encoding="utf-8")
    assert [module.package for module in house.modules(tmp_path)] == ["counterfoil.audit", "tools", "tests"]
    assert house.main([], tmp_path) == 0
    rows = {line[:39].strip(): line[39:].split() for line in capsys.readouterr().out.splitlines()}
    assert rows["modules named by a participle"] == ["1"]
    assert rows["public names in two modules or more"] == ["2"]
    assert house.main(["--touch", "telling"], tmp_path) == 0
    assert "engine/counterfoil/audit/held.py: 1" in capsys.readouterr().out
    assert house.main(["--names"], tmp_path) == 0
    assert "  engine/counterfoil/audit/held.py: known" in capsys.readouterr().out


def test_the_modules_of_this_repository_are_found() -> None:
    assert {"counterfoil.audit", "counterfoil_app.views", "tests", "tools"} <= {
        module.package for module in house.modules()
    }
