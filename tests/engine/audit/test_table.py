from __future__ import annotations

import csv
import math
from dataclasses import fields, replace
from pathlib import Path

import pytest

from counterfoil.audit.table import write_steps_csv
from counterfoil_core.base.errors import FileWriteError
from counterfoil_core.values.steptable import StepMatch, StepRow, StepTable
from support.reports import step_row, table_of


def test_one_line_per_step_with_exact_numbers(tmp_path: Path) -> None:
    lost = replace(step_row(3), match=StepMatch.UNJUDGED, replay_leaf=None, replay_loss=math.nan, log_entries=0)
    rows = [step_row(1), replace(step_row(2), match=StepMatch.MISMATCH, trainer_loss=float("nan")), lost]
    write_steps_csv(table_of(5, rows), tmp_path / "steps.csv")
    with (tmp_path / "steps.csv").open(encoding="utf-8", newline="") as file:
        lines = list(csv.DictReader(file))
    assert list(lines[0]) == [column.name for column in fields(StepRow)]
    assert float(lines[0]["replay_loss"]) == rows[0].replay_loss
    assert lines[0]["trainer_leaf"] == rows[0].trainer_leaf.hex
    assert lines[1]["match"] == "mismatch"
    assert lines[1]["trainer_loss"] == "nan"
    assert (lines[2]["replay_leaf"], lines[2]["log_entries"]) == ("", "0"), "not replayed: no leaf, and nothing counted"
    assert [line["step"] for line in lines] == ["1", "2", "3"], "steps without a row are left out"


def test_an_unwritable_place_is_an_error_with_a_sentence(tmp_path: Path) -> None:
    with pytest.raises(FileWriteError, match="cannot be written"):
        write_steps_csv(StepTable(), tmp_path / "no folder" / "steps.csv")
