"""What all benchmarks share: the runner keeps to its time, does nothing twice, and pages are written between marks."""

from __future__ import annotations

import json
import os
import sys
from argparse import Namespace
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import pytest
from benchmarks.measure import (
    Benchmark,
    Cell,
    CommandCost,
    Ended,
    LeftOutError,
    Result,
    Results,
    Rows,
    Sections,
    Store,
    least,
    measure_all,
    on_page,
    ratio,
    rounds_of,
    run_command,
    show,
)
from benchmarks.pages import between, duration, replaced_between, size, tabulated, write_between

from counterfoil_core.base.cancel import CancelToken
from counterfoil_core.base.errors import DataError

PRETENDING = """
import json, os, sys, time
with open({journal!r}, "a") as journal:
    journal.write("process\\n")
for line in sys.stdin:
    name = json.loads(line)
    with open({journal!r}, "a") as journal:
        journal.write("begin " + name + "\\n")
    if name.startswith("hang"):
        time.sleep(600)
    if name.startswith("die"):
        os._exit(7)
    time.sleep(0.05)
    with open({journal!r}, "a") as journal:
        journal.write("end " + name + "\\n")
    outcome = "failed" if name.startswith("fail") else "done"
    print(json.dumps(dict(key=name, outcome=outcome, said="so", seconds=0.05)), flush=True)
"""
NOTHING = Benchmark("", lambda _: [], lambda _, __: {}, lambda _, __: {})


class Pretended:
    """Measures cells that only have names, in processes that only pretend."""

    def __init__(self, folder: Path) -> None:
        self.store, self._journal = Store(folder / "results"), folder / "journal"
        self.said: list[str] = []

    def run(
        self, cells: Sequence[Cell], minutes: float = 1.0, workers: int = 1, cancel: CancelToken | None = None
    ) -> list[str]:
        self._journal.write_text("")
        child = [sys.executable, "-S", "-c", PRETENDING.format(journal=str(self._journal))]
        options = Namespace(minutes=minutes, workers=workers)
        undone = measure_all(NOTHING, options, cells, self.store, child, say=self.said.append, cancel=cancel)
        return [cell.key for cell in undone]

    @property
    def outcomes(self) -> dict[str, Ended]:
        return {key: one.outcome for key, one in self.store.results().items()}

    @property
    def journal(self) -> list[str]:
        return [line for line in self._journal.read_text().splitlines() if line != "process"]

    @property
    def processes(self) -> int:
        return self._journal.read_text().splitlines().count("process")


@pytest.fixture
def pretended(tmp_path: Path) -> Pretended:
    return Pretended(tmp_path)


def cell(name: str, *, seconds: float = 0.1, limit: float = 30.0, alone: bool = False, fresh: bool = False) -> Cell:
    return Cell(name, seconds, limit, alone, fresh)


def test_a_cell_that_hangs_or_dies_or_fails_takes_no_other_with_it(pretended: Pretended) -> None:
    cells = [cell("a"), cell("hang", limit=0.5), cell("b"), cell("die"), cell("fail"), cell("c")]
    assert not pretended.run(cells)
    assert pretended.outcomes == {
        "a": Ended.DONE, "hang": Ended.TIMED_OUT, "b": Ended.DONE, "die": Ended.FAILED, "fail": Ended.FAILED,
        "c": Ended.DONE,
    }  # fmt: skip
    assert len([line for one in pretended.store.results().values() for line in one.sentences]) == 3
    assert pretended.processes == 4, "what went wrong in one process says nothing of the next cell"
    assert any("hang: timed out: It took more than 500 ms." in line for line in pretended.said)


def test_what_failed_comes_again_after_what_is_new_and_what_is_done_does_not(pretended: Pretended) -> None:
    pretended.run([cell("fail"), cell("a")])
    pretended.run([cell("fail"), cell("a"), cell("b")])
    assert pretended.journal == ["begin b", "end b", "begin fail", "end fail"]
    assert "1 of 3 are done already." in pretended.said


def test_when_the_time_is_over_the_rest_is_named_and_the_next_run_goes_on(pretended: Pretended) -> None:
    cells = [cell("a"), cell("long", seconds=1000), cell("hang"), cell("b")]
    assert set(pretended.run(cells, minutes=1.0 / 60, workers=2)) == {"long", "hang"}
    assert pretended.outcomes == {"a": Ended.DONE, "b": Ended.DONE}, "what still fits is done"
    assert "begin long" not in pretended.journal
    assert any("hang: ended, the time is over" in line for line in pretended.said)
    assert not pretended.run([replace(one, seconds=0.1) for one in cells if one.key != "hang"])
    assert pretended.journal == ["begin long", "end long"]
    assert pretended.run([cell("never")], minutes=0) == ["never"], "and with no time nothing begins"


def test_what_is_timed_has_the_machine_to_itself(pretended: Pretended) -> None:
    assert not pretended.run([cell(f"{one}{n}", alone=one == "t") for n in range(4) for one in "atb"], workers=3)
    inside: set[str] = set()
    beside = False
    for line in pretended.journal:
        what, name = line.split()
        inside = inside | {name} if what == "begin" else inside - {name}
        beside = beside or len(inside) > 1
        assert not (len(inside) > 1 and any(one.startswith("t") for one in inside)), pretended.journal
    assert beside, "others run side by side"


def test_a_fresh_process_did_nothing_before(pretended: Pretended) -> None:
    pretended.run([cell("a"), cell("b"), cell("c", fresh=True), cell("d", fresh=True), cell("e")])
    assert pretended.processes == 4


def test_a_run_that_is_stopped_keeps_what_is_done(pretended: Pretended) -> None:
    cancel = CancelToken()
    pretended.said = type("Said", (list,), {"append": lambda _, line: "a: so" in line and cancel.cancel()})()
    assert pretended.run([cell("a"), cell("hang")], cancel=cancel) == ["hang"]
    assert pretended.outcomes == {"a": Ended.DONE}


# A benchmark of its own.


def _of_each(options: Namespace, key: str) -> dict[str, object]:
    if key == "left":
        raise LeftOutError("There is none here.")
    if key == "bad":
        raise ValueError("so it is")
    return {"square": int(key) ** 2, "said": f"squared {key}", "strange": ["It is odd."] if key == "3" else []}


def _squares(results: Results, _: Namespace) -> Sections:
    return on_page("page.md", "squares", ", ".join(str(one.values.get("square")) for one in results.values()))


SQUARES = Benchmark(
    "Squares.",
    lambda _: [Cell(key) for key in ("2", "left", "bad", "3")],
    _of_each,
    lambda results, _: on_page(
        "page.md", "squares", ", ".join(str(one.values.get("square")) for one in results.values())
    ),
    here=True,
)


def test_what_is_found_is_kept_shown_and_said(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "page.md").write_text("<!-- squares: begin -->\n<!-- squares: end -->\n")
    words = ["--out", str(tmp_path / "results"), "--write", str(tmp_path)]
    assert SQUARES.main("squares", words) == 1, "one is strange, and one failed"
    assert between((tmp_path / "page.md").read_text(), "squares") == "4, None, None, 9"
    said = capsys.readouterr().out
    assert "Not as it should be: It is odd." in said
    assert "Not as it should be: bad: failed: ValueError: so it is" in said
    found = Store(tmp_path / "results").results()
    assert found["left"].outcome is Ended.LEFT_OUT
    assert "so it is" in found["bad"].detail
    assert all(one.peak > 2**20 and "torch" in one.origin for one in found.values())
    assert SQUARES.main("squares", [*words[:2], "--minutes", "0"]) == 1
    assert "4, None, None, 9" in capsys.readouterr().out


def test_results_of_another_setting_are_refused(tmp_path: Path) -> None:
    store = Store(tmp_path)
    assert store.about == {}
    store.claim({"steps": "2"})
    store.claim({"steps": "2"})
    with pytest.raises(DataError, match="2, not 3"):
        store.claim({"steps": "3"})


def test_of_rows_of_one_step_the_later_counts_and_half_a_line_is_left_out(tmp_path: Path) -> None:
    rows = Rows(tmp_path / "rows.jsonl")
    assert rows.by("step") == {}
    for step, seconds in ((2, 1.0), (1, 2.0), (2, 3.0)):
        rows.keep({"step": step, "seconds": seconds})
    with (tmp_path / "rows.jsonl").open("a") as file:
        file.write('{"step": 3, "sec')
    assert {step: row["seconds"] for step, row in rows.by("step").items()} == {2: 3.0, 1: 2.0}
    rows.keep({"step": 3, "seconds": 4.0})
    assert rows.by("step")[3] == {"step": 3, "seconds": 4.0}, "the half line does not take the next one with it"


# Times.


def test_ratios_are_taken_round_by_round() -> None:
    ticks = iter(range(100))
    times = rounds_of({"a": lambda: None, "b": lambda: next(ticks)}, 3, warm_up=1, clock=lambda: float(next(ticks)))
    assert times == {"a": [1.0] * 3, "b": [2.0] * 3}
    assert ratio(times, "b", "a") == 2.0


def test_a_command_that_fails_is_no_measurement() -> None:
    with pytest.raises(ValueError, match=r"ended with 3: why"):
        run_command([sys.executable, "-c", "import sys; print('why', file=sys.stderr); sys.exit(3)"])
    found = run_command([sys.executable, "-c", "print('one'); print('two')"], {**os.environ})
    assert found.said == "one\ntwo\n"
    assert 0 < found.lines[0] <= found.lines[1] <= found.seconds
    assert least([CommandCost(1.0, 5.0), CommandCost(2.0, 4.0)]) == CommandCost(1.0, 4.0)


# Pages.

PAGE = "before\n<!-- a: begin -->\nold\n<!-- a: end -->\nbetween\n<!-- b: begin -->\n<!-- b: end -->\nafter\n"


def test_what_is_between_the_marks_is_replaced_and_nothing_else(tmp_path: Path) -> None:
    page = tmp_path / "page.md"
    page.write_text(PAGE)
    write_between(page, "a", "\nnew\n")
    assert page.read_text() == PAGE.replace("old", "new")
    assert replaced_between(PAGE, "a", between(PAGE, "a")) == PAGE
    for bad in ("", PAGE + PAGE, PAGE.replace("a: begin", "x"), "<!-- a: end -->\n<!-- a: begin -->"):
        with pytest.raises(DataError, match="a: begin"):
            replaced_between(bad, "a", "new")


def test_tables_and_words_for_numbers() -> None:
    rows = [{"name": "x", "ms": {"a b": 1.25}}]
    assert tabulated(rows, {"who": "{name}", "time": "{ms[a b]:.1f} ms", "all": len}) == (
        "| who | time | all |\n| --- | --- | --- |\n| x | 1.2 ms | 2 |"
    )
    assert [size(n) for n in (117, 2052, 999_400, 195_000_000, 1.5e12)] == [
        "117 bytes", "2.05 KB", "999 KB", "195 MB", "1,500 GB",
    ]  # fmt: skip
    assert [duration(s) for s in (0.0123, 2.5, 1320, float("nan"))] == ["12.3 ms", "2.5 s", "22 min", "-"]


def test_a_page_without_a_place_is_an_error(tmp_path: Path) -> None:
    (tmp_path / "page.md").write_text("nothing")
    results = {"2": Result("2", Ended.DONE, "", 0.0, {"square": 4})}
    with pytest.raises(DataError, match="squares: begin"):
        show(SQUARES, results, Namespace(write=tmp_path))
    assert json.dumps(results["2"].values) == '{"square": 4}'
