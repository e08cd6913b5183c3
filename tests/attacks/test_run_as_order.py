"""A trainer hands its own run on as "the client's order": what it put there confirms nothing."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from counterfoil.audit.overview import inspect
from counterfoil.cli import main
from counterfoil_core.base.errors import GivenFileError
from counterfoil_core.values.outcome import CheckNumber, CheckState
from support.jobs import Job


def test_a_run_does_not_pass_as_the_order_of_itself_or_of_its_copy(
    digits_job: Job, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    copy = Path(shutil.copy(digits_job.run, tmp_path / "job.cfoil"))
    for order in (copy, digits_job.run):
        with pytest.raises(GivenFileError, match="Choose the order file that the client wrote and kept"):
            inspect(digits_job.run, order)
        assert main(["audit", str(digits_job.run), "--order", str(order)]) == 4
        assert "VERIFIED" not in "".join(capsys.readouterr())


def test_control_the_client_s_own_order_passes(digits_job: Job) -> None:
    assert inspect(digits_job.run, digits_job.order).checks[CheckNumber.ORDER - 1].state is CheckState.PASSED
