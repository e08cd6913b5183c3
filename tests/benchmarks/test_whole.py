"""Whole trainings: two machines that differ, pieces that go on, and a page that says what was found."""

from __future__ import annotations

import io
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from benchmarks.campaign.store import Store
from benchmarks.campaign.task import Ended, Result
from benchmarks.whole.apart import apart, train_one
from benchmarks.whole.command import ORDER, main, tasks
from benchmarks.whole.jobs import JOBS, MACHINES, OTHER, THIS, text_tokens
from benchmarks.whole.page import section, write_page
from benchmarks.whole.pieces import Lines, Pieces
from benchmarks.whole.thresholds import MARGINS, precision_of

from counterfoil_core.base.precision import Precision

STEPS = 2


@pytest.fixture(scope="module")
def pieces(tmp_path_factory: pytest.TempPathFactory) -> Pieces:
    job = replace(JOBS["rehearsal"], steps=STEPS)
    made = Pieces(tmp_path_factory.mktemp("whole"), job, None, 1)
    made.write_order()
    return made


@pytest.fixture(scope="module")
def done(pieces: Pieces) -> dict[str, object]:
    return {"record": pieces.record().values, "audit": pieces.audit().values}


@pytest.mark.slow
def test_a_training_is_recorded_and_audited_whole(done: dict[str, dict[str, object]]) -> None:
    assert done["audit"]["outcome"] == "VERIFIED"
    assert [(row["step"], row["equal"]) for row in done["audit"]["steps"]] == [(1, True), (2, True)]  # type: ignore[attr-defined]
    assert all(row["bytes"] > 0 for row in done["record"]["steps"])  # type: ignore[attr-defined]


def test_of_rows_of_one_step_the_later_counts_and_half_a_line_is_left_out(tmp_path: Path) -> None:
    lines = Lines(tmp_path / "rows.jsonl")
    assert lines.rows() == []
    for step, seconds in ((2, 1.0), (1, 2.0), (2, 3.0)):
        lines.keep(step=step, seconds=seconds)
    with lines.path.open("a") as file:
        file.write('{"step": 3, "sec')
    assert lines.rows() == [{"step": 1, "seconds": 2.0}, {"step": 2, "seconds": 3.0}]


def test_distances_are_of_all_weights() -> None:
    one = np.array([3.0, 4.0, 0.0], np.float32)
    found = apart(7, one, np.array([3.0, 4.0, 2.0], np.float32))
    assert (found.step, found.distance, found.relative, found.largest) == (7, 2.0, 0.4, 2.0)
    assert (found.differing, found.weights) == (1, 3)
    assert apart(1, one, one).distance == 0
    assert apart(1, 0 * one, 0 * one).relative == 0


def test_a_machine_leaves_its_weights_after_each_step_and_goes_on_from_its_state(
    pieces: Pieces, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("benchmarks.whole.apart.KEEP_EVERY", 1)
    answers = io.StringIO()
    train_one(pieces, THIS, io.StringIO("1\n2\n"), answers)
    assert answers.getvalue() == "1\n2\n"
    weights = np.fromfile(pieces.folder / f"ordinary-{THIS}.f32", np.float32)
    # Another process goes on from what was kept after the first step, and ends in the same weights.
    train_one(pieces, THIS, io.StringIO("2\n"), answers)
    again = np.fromfile(pieces.folder / f"ordinary-{THIS}.f32", np.float32)
    assert weights.size > 1000
    assert not apart(2, weights, again).differing


def test_the_other_machine_is_held_back_in_every_library() -> None:
    assert not MACHINES[THIS]
    assert {"ATEN_CPU_CAPABILITY", "ONEDNN_MAX_CPU_ISA", "MKL_CBWR", "NUMBA_CPU_NAME"} <= set(MACHINES[OTHER])


def test_every_piece_of_a_training_is_a_task_on_its_machine() -> None:
    found = {task.name: task for task in tasks(["gpt2"])}
    assert list(found)[:4] == [ORDER, "record", "apart", "audit"]
    assert found["record"].variables == MACHINES[THIS]
    assert found["audit"].variables == MACHINES[OTHER]
    assert {f"{what}-{margin}" for what in ("record", "audit") for margin in MARGINS} < set(found)


def test_margins_are_proven_or_fixed() -> None:
    assert precision_of(MARGINS[0]) == Precision()
    assert [precision_of(margin).margin_bits for margin in MARGINS[1:]] == [50, 47, 44, 41, 38, 35]
    assert not precision_of(MARGINS[1]).proven


def test_the_text_gives_its_bytes_as_tokens(tmp_path: Path) -> None:
    text = tmp_path / "text"
    text.write_bytes(b"To be")
    assert text_tokens(text, 50257, 8).numbers.tolist() == list(b"To be")
    assert text_tokens(None, 50257, 8).numbers.max() > 256


def _stored(folder: Path, done: dict[str, object]) -> Iterator[Store]:
    store = Store(folder)
    store.claim({"origin": "A machine.", "text": "plays"}, same=("text",))
    rows = [
        {"step": step, "distance": 1e-6, "relative": 1e-7 * step, "largest": 1e-8, "differing": 5, "weights": 10}
        for step in (1, 2)
    ]
    figures = {**done, "apart": {"steps": rows}, "record-m50": done["record"], "audit-m50": done["audit"]}
    for task, values in figures.items():
        assert isinstance(values, dict)
        store.keep(Result("rehearsal", task, Ended.DONE, "", 1.0, values))
    yield store


def test_the_page_says_what_was_found(tmp_path: Path, done: dict[str, object]) -> None:
    page = tmp_path / "page.md"
    page.write_text("before\n<!-- whole: begin -->\nNot measured yet.\n<!-- whole: end -->\nafter\n")
    for store in _stored(tmp_path / "results", done):
        write_page(page, store)
    text = page.read_text()
    assert text.startswith("before")
    assert text.endswith("after\n")
    assert "| VERIFIED | 2 of 2 |" in text
    assert "| 1e-07 | 2e-07 (step 2) | 50.0 % | 1e-08 | 0 |" in text
    assert "| 2^(E-50) |" in text
    assert (tmp_path / "images" / "whole-trainings.png").stat().st_size > 1000


def test_what_is_not_done_is_not_said_to_be_equal(done: dict[str, object]) -> None:
    text = section({("rehearsal", "record"): done["record"]}, "A machine.", "plays")  # type: ignore[dict-item]
    assert "| not yet | not yet | not yet |" in text


def test_an_unknown_training_is_named(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        main([str(tmp_path), "alexnet"])
    assert "there is no training 'alexnet'" in capsys.readouterr().err
