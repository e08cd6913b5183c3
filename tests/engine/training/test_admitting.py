"""An order that a box reads and admits before a process in none does."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

import counterfoil
from counterfoil.audit.boxed.session import signers_in_box
from counterfoil.audit.signers import signers_of_run
from counterfoil.sandbox import box
from counterfoil.signing.privatekeys import key_from_seed
from counterfoil.training import recorder
from counterfoil.training.admission import Admission, admitted_in_box
from counterfoil_core.base.cancel import CancelToken
from counterfoil_core.base.digest import Digest
from counterfoil_core.base.errors import CancelledError, FileChangedError, GivenFileError, LimitError, RefusedError
from counterfoil_core.bundle.reader import BundleReader
from counterfoil_core.program.limits import Limits
from counterfoil_core.signing.claims import RunClaim
from counterfoil_core.signing.statements import open_said
from support.boxes import closed
from support.jobs import Job

__all__ = ["closed"]

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="there are boxes on Linux only")
BEFORE = "; a box read and admitted the order before: "


def sandbox_of(run: Path) -> str:
    with BundleReader.open(run) as reader:
        return dict(open_said(RunClaim, reader.claim()).environment)["sandbox"]


def recorded(order: Path, run: Path) -> str:
    (*_, end) = counterfoil.record(order, run, key_from_seed(bytes(32)), threads=1)
    assert isinstance(end, counterfoil.RecordFinished)
    return end.run_root.hex


@pytest.mark.parametrize("why", ["not asked for", "not closed with CUDA, whose driver needs more than files"])
def test_a_claim_says_that_a_box_admitted_the_order(digits_job: Job, tmp_path: Path, why: str) -> None:
    with box.without_box(why):
        root = recorded(digits_job.order, tmp_path / "run.cfoil")
        assert box.sandbox() == f"none: {why}", "of the recording alone"
    with BundleReader.open(digits_job.run) as reader:
        assert root == open_said(RunClaim, reader.claim()).run_root.hex
    own, between, boxed = sandbox_of(tmp_path / "run.cfoil").partition(BEFORE)
    assert (own, between) == (f"none: {why}", BEFORE)
    assert "seccomp" in boxed


def test_what_a_box_refuses_is_refused_in_the_same_words(digits_job: Job, tmp_path: Path) -> None:
    damaged = tmp_path / "damaged.cfoil"
    data = bytearray(digits_job.order.read_bytes())
    data[len(data) // 2 :] = bytes(len(data) - len(data) // 2)
    damaged.write_bytes(data)
    (tmp_path / "none.txt").write_text("no order")
    for path, kind in (
        (damaged, RefusedError), (tmp_path / "none.txt", RefusedError), (tmp_path / "away.cfoil", GivenFileError)
    ):  # fmt: skip
        with pytest.raises(kind) as inside:
            recorded(path, tmp_path / "run.cfoil")
        with pytest.MonkeyPatch.context() as patch:
            patch.setenv(box.SWITCH, "off")
            with pytest.raises(kind) as outside:
                recorded(path, tmp_path / "run.cfoil")
        assert (inside.type, inside.value.sentence) == (outside.type, outside.value.sentence)


def test_limits_hold_there(digits_job: Job) -> None:
    with pytest.raises(LimitError), admitted_in_box(digits_job.order, Limits(operators=1), None):
        pass


def test_it_can_be_stopped(digits_job: Job) -> None:
    cancel = CancelToken()
    cancel.cancel()
    with pytest.raises(CancelledError), admitted_in_box(digits_job.order, None, cancel):
        pass


def test_what_is_recorded_is_what_was_admitted(
    digits_job: Job, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def other(*_: object) -> Admission:
        return Admission(Digest.of(b"another"), "landlock-v7, seccomp")

    monkeypatch.setattr("counterfoil.training.admission.Process.ask", lambda *_: iter([other()]))
    with pytest.raises(FileChangedError, match="the order is not what it was before"):
        recorded(digits_job.order, tmp_path / "run.cfoil")
    assert not (tmp_path / "run.cfoil").exists()


def test_nothing_is_started_where_the_process_is_in_a_box_or_none_can_be(
    digits_job: Job, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("counterfoil.training.admission.Process", None)
    monkeypatch.setattr(box, "_closed", box.Closed(("landlock-v7", "seccomp")))
    with admitted_in_box(digits_job.order, None, None) as found:
        assert found is None
    monkeypatch.undo()
    monkeypatch.setattr("counterfoil.training.admission.Process", None)
    monkeypatch.setenv(box.SWITCH, "off")
    with admitted_in_box(digits_job.order, None, None) as found:
        assert found is None
    assert recorder.admitted_in_box is admitted_in_box


def test_neither_it_nor_who_says_who_signed_loads_torch(digits_job: Job) -> None:
    program = (
        "import sys, counterfoil.audit.boxed.lookup, counterfoil.training.admission as a\n"
        "from pathlib import Path; from counterfoil_core.base.cancel import CancelToken\n"
        f"a.admit(None, Path({str(digits_job.order)!r}), None, CancelToken())\n"
        "sys.exit('torch' in sys.modules)"
    )
    subprocess.run([sys.executable, "-c", program], check=True, env={**os.environ, "OMP_NUM_THREADS": "1"})
    assert signers_in_box(digits_job.run, CancelToken()) == signers_of_run(digits_job.run)
