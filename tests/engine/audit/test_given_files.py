"""What an auditor names beside a run, and gets wrong: a slip is said, and nothing is concluded of the trainer."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from counterfoil.audit.hearings import adjudicate, run_audit
from counterfoil.audit.overview import inspect
from counterfoil.audit.values.comparedorders import with_client_order
from counterfoil.cli import main
from counterfoil_core.base.digest import Digest
from counterfoil_core.base.errors import GivenFileError, OrderMismatchError
from counterfoil_core.bundle.reader import BundleReader
from counterfoil_core.panel.panel import run_panel
from counterfoil_core.values.outcome import CheckNumber, CheckState, Outcome
from counterfoil_core.values.request import AuditRequest
from support.jobs import Job, audited, digits_order


def copied(job: Job, folder: Path) -> Path:
    return Path(shutil.copy(job.run, folder / "copy.cfoil"))


def notes(job: Job, folder: Path) -> Path:
    path = folder / "notes.txt"
    path.write_text("call the client")
    return path


WRONG: dict[str, tuple[Callable[[Job, Path], Path], str]] = {
    "the run itself": (lambda job, _folder: job.run, "the order in it confirms nothing"),
    "another copy of the run": (copied, "a trainer's run"),
    "some text": (notes, "is no order"),
    "nothing": (lambda _job, folder: folder / "gone.cfoil", "There is no file"),
    "a folder": (lambda _job, folder: folder, "is a folder"),
}


@pytest.mark.parametrize("wrong", WRONG)
def test_what_is_no_order_of_a_client_s_concludes_nothing(digits_job: Job, tmp_path: Path, wrong: str) -> None:
    make, said = WRONG[wrong]
    order = make(digits_job, tmp_path)
    attempts: list[Callable[[], object]] = [
        lambda: inspect(digits_job.run, order),
        lambda: list(run_audit(AuditRequest(digits_job.run, order))),
        lambda: list(run_panel([digits_job.run, digits_job.run], order=order)),
    ]
    for attempt in attempts:
        with pytest.raises(GivenFileError, match=said):
            attempt()


def test_an_order_does_not_confirm_itself_by_another_name(digits_job: Job, tmp_path: Path) -> None:
    """A link is the same file; a copy that the client kept is another."""
    link = tmp_path / "link.cfoil"
    link.symlink_to(digits_job.order)
    with pytest.raises(GivenFileError, match="confirms nothing"):
        inspect(digits_job.order, link)
    kept = Path(shutil.copy(digits_job.order, tmp_path / "kept.cfoil"))
    assert inspect(digits_job.order, kept).checks[CheckNumber.ORDER - 1].state is CheckState.PASSED


def test_a_run_or_capsule_that_is_not_there_concludes_nothing(digits_job: Job, tmp_path: Path) -> None:
    gone = tmp_path / "gone.cfoil"
    for attempt in (
        lambda: inspect(gone),
        lambda: list(run_audit(AuditRequest(gone))),
        lambda: list(adjudicate(gone)),
        lambda: list(run_panel([digits_job.run, gone])),
    ):
        with pytest.raises(GivenFileError, match="There is no file"):
            attempt()


@pytest.mark.sampled(2)
@pytest.mark.parametrize("wrong", WRONG)
def test_the_command_line_ends_in_an_error_and_signs_nothing(
    digits_job: Job, tmp_path: Path, wrong: str, capsys: pytest.CaptureFixture[str]
) -> None:
    order = WRONG[wrong][0](digits_job, tmp_path)
    key = tmp_path / "auditor.pem"
    assert main(["keygen", str(key), "--no-passphrase"]) == 0
    verdict = tmp_path / "verdict.json"
    audit = ["audit", str(digits_job.run), "--order", str(order), "--verdict", str(verdict), "--key", str(key)]
    capsys.readouterr()
    assert main(audit) == Outcome.ERROR.exit_code
    assert "REFUSED" not in "".join(capsys.readouterr())
    assert not verdict.exists()


def test_what_is_not_compared_does_not_pass_beside_another_order(digits_job: Job, tmp_path: Path) -> None:
    other = tmp_path / "other.cfoil"
    digits_order(seed=99).write(other)
    found = {check.number: check for check in inspect(digits_job.run, other).checks}
    assert found[CheckNumber.ORDER].state is CheckState.FAILED
    assert found[CheckNumber.ORDER_CONTENTS].state is CheckState.SKIPPED
    assert "another order" in found[CheckNumber.ORDER_CONTENTS].detail
    assert found[CheckNumber.PROGRAM].state is CheckState.PENDING
    report = audited(digits_job.run, other).report
    assert report.outcome is Outcome.REFUSED
    assert report.checks[CheckNumber.ORDER_CONTENTS - 1].state is CheckState.SKIPPED


def test_an_order_that_comes_later_gives_the_report_of_one_that_came_first(digits_job: Job) -> None:
    """So that a run need not be replayed again when the client's order turns up."""
    before, first = audited(digits_job.run).report, audited(digits_job.run, digits_job.order).report
    assert before.checks != first.checks
    with BundleReader.open(digits_job.order) as order:
        digest = order.manifest.digest
    assert replace(with_client_order(before, digest), seconds=0.0) == replace(first, seconds=0.0)
    with pytest.raises(OrderMismatchError, match="the client's order is"):
        with_client_order(before, Digest.of(b"another"))
    with pytest.raises(OrderMismatchError, match="could not read"):
        with_client_order(replace(before, order_digest=None, run_order=None), digest)
