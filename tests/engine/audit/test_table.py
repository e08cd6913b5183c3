from __future__ import annotations

import csv
from dataclasses import fields, replace
from pathlib import Path

import pytest

from counterfoil.audit.table import write_steps_csv
from counterfoil.audit.values.report import StepMatch, StepRow
from counterfoil.errors import FileWriteError
from support.reports import step_row


def test_one_line_per_step_with_exact_numbers(tmp_path: Path) -> None:
    rows = [step_row(1), replace(step_row(2), match=StepMatch.MISMATCH, trainer_loss=float("nan"))]
    write_steps_csv(rows, tmp_path / "steps.csv")
    with (tmp_path / "steps.csv").open(encoding="utf-8", newline="") as file:
        lines = list(csv.DictReader(file))
    assert list(lines[0]) == [column.name for column in fields(StepRow)]
    assert float(lines[0]["replay_loss"]) == rows[0].replay_loss
    assert lines[0]["trainer_leaf"] == rows[0].trainer_leaf.hex
    assert lines[1]["match"] == "mismatch"
    assert lines[1]["trainer_loss"] == "nan"


def test_an_unwritable_place_is_an_error_with_a_sentence(tmp_path: Path) -> None:
    with pytest.raises(FileWriteError, match="cannot be written"):
        write_steps_csv([], tmp_path / "no folder" / "steps.csv")
