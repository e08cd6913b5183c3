"""What commands take before they do what they are for: each is measured, and what fails is no measurement."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest
from benchmarks.starts import Taken, audited, least, measured, record, taken


def test_each_start_is_measured_and_an_audit_is_measured_without_its_steps(tmp_path: Path) -> None:
    pytest.importorskip("PySide6")
    record(tmp_path, steps=2)
    found = measured(tmp_path, rounds=1)
    assert [name.split("`")[1] if "`" in name else name.split(",")[0] for name in found] == [
        "import torch",
        "counterfoil --help",
        "counterfoil inspect run.cfoil --order job.cfoil",
        "counterfoil audit run.cfoil --order job.cfoil",
        "window",
    ]
    assert all(0 < each.seconds < 600 and each.processor > 0 for each in found.values())
    beside, steps = audited(tmp_path)
    assert steps > 0
    assert beside.seconds > 0


def test_a_command_that_fails_is_no_measurement() -> None:
    with pytest.raises(ValueError, match=r"ended with 3: why"):
        taken([sys.executable, "-c", "import sys; print('why', file=sys.stderr); sys.exit(3)"])
    assert taken([sys.executable, "-c", "print('done')"])[1] == "done\n"


def test_the_least_of_each_time_is_shown() -> None:
    assert least([Taken(1.0, 5.0), Taken(2.0, 4.0)]).row("x") == "| x | 1.00 s | 4.00 s |"
