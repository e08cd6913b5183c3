"""The section of docs/scripts.md counts what is kept, and gives each refusal its sentence."""

from __future__ import annotations

from pathlib import Path

from tests.fidelity.results import Row, keep, results, row_of, section
from tests.fidelity.trial import Trial


def row(name: str, outcome: str, sentence: str = "") -> Row:
    return {"name": name, "outcome": outcome, "sentence": sentence}


def test_the_section_counts_by_idiom_and_gives_each_refusal_its_sentence() -> None:
    rows = [
        row("a/one", "agrees"),
        row("a/two", "refused", "It asks for a|b."),
        row("b/one", "draws"),
        row("b/two", "agrees"),
    ]
    written = section({each["name"]: each for each in rows})
    assert "Of 4 scripts: agrees 2, draws 1, refused 1, different 0, crash 0." in written
    assert "| a | 2 | 1 |  | 1 |  |  |" in written
    assert "| b | 2 | 1 | 1 |  |  |  |" in written
    assert "| a/two | It asks for a\\|b. |" in written
    assert "### Different" not in written
    assert "### Crashes" not in written


def test_what_is_silently_different_and_what_crashes_is_named() -> None:
    rows = [row("a/one", "different", "off by 1 %"), row("a/two", "crash", "KeyError")]
    written = section({each["name"]: each for each in rows})
    assert "### Different\n\n| script | what is said |\n|---|---|\n| a/one | off by 1 % |" in written
    assert "### Crashes\n\n| script | what is said |\n|---|---|\n| a/two | KeyError |" in written


def test_where_a_machine_has_its_libraries_is_not_kept() -> None:
    said = (
        "It fails (/srv/me/.venv/lib/python3.11/site-packages/numpy/lib/format.py, line 7; /usr/lib/python3.11/re.py)."
    )
    assert row_of(Trial("a/one", "refused", said))["sentence"] == "It fails (numpy/lib/format.py, line 7; re.py)."


def test_what_cannot_be_tried_here_keeps_what_was_known(tmp_path: Path) -> None:
    path = tmp_path / "results.jsonl"
    keep([Trial("a/one", "agrees", ""), Trial("a/two", "refused", "One\n  line.")], ["a/one", "a/two"], path)
    assert results(path)["a/two"] == row("a/two", "refused", "One line.")
    keep([Trial("a/one", "missing", "not installed: trl"), Trial("a/two", "agrees", "")], ["a/one", "a/two"], path)
    assert [each["outcome"] for each in results(path).values()] == ["agrees", "agrees"]
    keep([], ["a/two"], path)
    assert list(results(path)) == ["a/two"]
