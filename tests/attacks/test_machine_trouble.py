"""No attack: memory runs out, a disk or a share fails, the device fails, in the middle of an honest audit."""

from __future__ import annotations

import errno
import io
import os
import subprocess
import sys
import tempfile

import numpy as np
import pytest
import torch

from counterfoil.audit.boxed import files
from counterfoil.audit.overview import inspect
from counterfoil.cli import main
from counterfoil.program import tracing
from counterfoil.sandbox.box import SWITCH
from counterfoil.talk.programs import settle_temporary_folder
from counterfoil.training.recorder import record
from counterfoil_core.arithmetic import machine
from counterfoil_core.arithmetic.compute.operation import native
from counterfoil_core.base.errors import DeviceFailureError, FileReadError, MemoryShortageError, ProgramError
from counterfoil_core.base.trouble import obstacle
from counterfoil_core.bundle import steady
from counterfoil_core.bundle.steady import SteadyFile
from counterfoil_core.hearing import segments, session
from counterfoil_core.panel.panel import run_panel
from counterfoil_core.replay import replayer as audit_steps
from counterfoil_core.values.adjudication import AdjudicationOutcome
from counterfoil_core.values.events import StepReplayed
from counterfoil_core.values.outcome import Outcome
from support.capsules import adjudicated
from support.jobs import audited, record_run
from support.rewriting import before

SHORTAGES = {
    "torch on Linux": RuntimeError(
        "[enforce fail at alloc_cpu.cpp:117] err == 0. DefaultCPUAllocator: can't allocate memory: you tried to "
        "allocate 400000000000 bytes. Error code 12 (Cannot allocate memory)"
    ),
    "torch on Windows": RuntimeError(
        "[enforce fail at alloc_cpu.cpp:114] data. DefaultCPUAllocator: not enough memory: you tried to allocate 8 B."
    ),
    "Python": MemoryError(),
    "numpy": np._core._exceptions._ArrayMemoryError((10**9, 10**9), np.dtype(np.float64)),
    "CUDA": torch.OutOfMemoryError("CUDA out of memory. Tried to allocate 20.00 GiB."),
    "cuBLAS": RuntimeError("CUDA error: CUBLAS_STATUS_ALLOC_FAILED when calling `cublasCreate(handle)`"),
    "C++": RuntimeError("std::bad_alloc"),
    "the system": OSError(errno.ENOMEM, "Cannot allocate memory"),
    "a library in C": SystemError("error return without exception set"),
}
FAILURES = {
    "the device": torch.AcceleratorError("CUDA error: unspecified launch failure"),
    "its library": RuntimeError("cuDNN error: CUDNN_STATUS_EXECUTION_FAILED"),
}


def failing(error: Exception, after: int = 40):
    """Compute natively, and raise the error at some operator of the first step."""
    count = 0

    def compute(operation, args, kwargs):
        nonlocal count
        count += 1
        if count > after:
            raise error
        return native(operation, args, kwargs)

    return compute


@pytest.mark.sampled(4)
@pytest.mark.parametrize("error", [*SHORTAGES.values(), *FAILURES.values()], ids=[*SHORTAGES, *FAILURES])
def test_an_audit_that_cannot_go_on_concludes_nothing(digits_job, trainer_key, tmp_path, monkeypatch, error):
    expected = MemoryShortageError if error in SHORTAGES.values() else DeviceFailureError
    monkeypatch.setattr(machine, "native", failing(error))
    report = audited(digits_job.run, digits_job.order).report
    assert report.outcome is Outcome.INCONCLUSIVE, report.reason
    found = obstacle(error)
    assert isinstance(found, expected)
    assert found.remedy
    assert report.reason == str(found)
    assert report.mismatched_steps == ()
    # The trainer gets the same words, and no half of a run.
    monkeypatch.setattr(machine, "native", failing(error))
    with pytest.raises(expected):
        record_run(digits_job.order, tmp_path / "run.cfoil", trainer_key)
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    ("error", "code"), [(MemoryError(), 2), (SystemError("no exception set"), 2), (ValueError(), 3)]
)
def test_an_order_that_this_machine_cannot_write_is_not_refused(tmp_path, monkeypatch, capsys, error, code):
    def failing_capture(*_: object, **__: object) -> None:
        raise error

    monkeypatch.setattr(tracing, "make_fx", failing_capture)
    assert main(["order", "digits-cnn", "--steps", "2", "--width", "4", "--out", str(tmp_path / "o.cfoil")]) == code
    said = capsys.readouterr().err
    assert ("too little memory" in said) == (code == 2)
    assert "This is a bug" not in said
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(("error", "code"), [(MemoryError(), 2), (KeyError("x"), 4)])
def test_memory_that_runs_out_anywhere_is_no_bug(tmp_path, monkeypatch, capsys, error, code):
    def failing_start(*_: object, **__: object) -> None:
        raise error

    monkeypatch.setattr("counterfoil.cli.statements.start_signer", failing_start)
    assert main(["keygen", str(tmp_path / "k.pem"), "--no-passphrase"]) == code
    assert ("This is a bug" in capsys.readouterr().err) == (code == 4)


def test_control_a_program_that_cannot_be_computed_is_refused(digits_job, monkeypatch):
    error = RuntimeError("The size of tensor a (3) must match the size of tensor b (4)")
    assert obstacle(error) is None
    monkeypatch.setattr(machine, "native", failing(error))
    report = audited(digits_job.run, digits_job.order).report
    assert report.outcome is Outcome.REFUSED
    assert "cannot be computed" in report.reason


def test_a_dispute_that_was_found_before_stays(cheat_job, monkeypatch):
    """Step 3 is confirmed; memory runs out at a later one."""

    def compute(operation, args, kwargs):
        if found:
            raise MemoryError
        return native(operation, args, kwargs)

    found = before(monkeypatch, segments, "gather", lambda *_: None)
    monkeypatch.setattr(machine, "native", compute)
    report = audited(cheat_job.run, cheat_job.order).report
    assert found
    assert report.outcome is Outcome.DISPUTED
    assert report.mismatched_steps == (3,)


def test_adjudicator_and_panel_are_short_of_memory(capsule, cheat_job, digits_job, monkeypatch):
    monkeypatch.setattr(machine, "native", failing(SHORTAGES["torch on Linux"]))
    report = adjudicated(capsule)
    assert report.outcome is AdjudicationOutcome.INCONCLUSIVE, report.reason
    assert "too little memory" in report.reason
    monkeypatch.setattr(machine, "native", failing(MemoryError()))
    with pytest.raises(MemoryShortageError):
        list(run_panel([cheat_job.run, digits_job.run], threads=1))
    assert main(["panel", str(cheat_job.run), str(digits_job.run)]) == Outcome.INCONCLUSIVE.exit_code


@pytest.mark.parametrize("cause", [MemoryError(), RuntimeError("[...] DefaultCPUAllocator: not enough memory: ...")])
def test_memory_is_short_outside_of_operators(digits_job, monkeypatch, cause):
    """While rounding, hashing, loading: wherever it is, it is the machine's."""

    def short(*_):
        raise cause

    for module, name in ((audit_steps, "state_root"), (segments, "compare_states"), (session, "run_selftest")):
        with monkeypatch.context() as patch:
            patch.setattr(module, name, short)
            report = audited(digits_job.run, digits_job.order).report
            assert report.outcome is Outcome.INCONCLUSIVE, (name, report.reason)


PROGRAM = """
import resource, sys
from pathlib import Path
from support.jobs import audited
from counterfoil_core.values.outcome import Outcome
run, order = Path(sys.argv[1]), Path(sys.argv[2])
report = audited(run, order).report
assert report.outcome is Outcome.VERIFIED, report.reason
held = int(Path("/proc/self/statm").read_text().split()[0]) * resource.getpagesize()
for spare in sys.argv[3:]:
    resource.setrlimit(resource.RLIMIT_AS, (held + int(spare), resource.RLIM_INFINITY))
    report = audited(run, order).report
    print(report.outcome.value, report.reason)
"""


@pytest.mark.slow
@pytest.mark.skipif(sys.platform != "linux", reason="the limit on memory is Linux's")
def test_a_machine_with_too_little_memory(tmp_path, trainer_key):
    """A step holds a tensor of 160 MB; the second audit may take 30 MB, the third 3 GB."""
    from torch import nn
    from torch.nn import functional

    from support.jobs import draw, own_order, record_job

    def objective(model, batch):
        size = torch.ones((20_000_000,)).sum()
        return functional.mse_loss(model(batch["x"]) * (size / 20_000_000), batch["y"])

    draft = own_order(nn.Linear(3, 2), objective, {"x": draw((16, 3), 1), "y": draw((16, 2), 2)}, steps=1)
    job = record_job(tmp_path, draft, trainer_key)
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM, str(job.run), str(job.order), str(30 * 2**20), str(3 * 2**30)],
        env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path), "OMP_NUM_THREADS": "1"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    short, enough = done.stdout.splitlines()
    assert short.startswith("INCONCLUSIVE This machine has too little memory left"), short
    assert enough.startswith("VERIFIED"), "control: the same audit with enough memory"


class BrokenDisk(io.FileIO):
    """An open file that the system knows and cannot read."""

    def read(self, *_):
        raise OSError(errno.EIO, "Input/output error")

    readinto = read


@pytest.fixture
def lost():
    """The disk fails under an open file."""

    def lose(file: SteadyFile) -> None:
        file._handle = BrokenDisk(os.dup(file._handle.fileno()))

    return lose


def test_the_disk_fails_under_the_replay(digits_job, monkeypatch, lost):
    monkeypatch.setattr(steady, "CACHED_BYTES", 0)  # a file of this size would lie in memory
    before(monkeypatch, session._Audit, "_replay", lambda _audit, inspection, *_: lost(inspection.reader.file))
    result = audited(digits_job.run, digits_job.order)
    assert result.report.outcome is Outcome.INCONCLUSIVE, result.report.reason
    assert "says nothing about the file itself" in result.report.reason
    assert "Check the disk or the network share" in result.report.reason
    assert not result.of(StepReplayed)


def test_the_disk_fails_under_the_checks(digits_job, monkeypatch, lost, capsys):
    opened = SteadyFile.open.__func__

    def opening(cls, path):
        file = opened(cls, path)
        lost(file)
        return file

    monkeypatch.setattr(SteadyFile, "open", classmethod(opening))
    report = audited(digits_job.run).report
    assert report.outcome is Outcome.INCONCLUSIVE, report.reason
    with pytest.raises(FileReadError):
        inspect(digits_job.run)
    assert main(["inspect", str(digits_job.run)]) == Outcome.INCONCLUSIVE.exit_code
    assert "INCONCLUSIVE" in capsys.readouterr().err


def test_the_share_is_gone_when_the_file_is_opened(digits_job, monkeypatch):
    opened = os.open

    def gone(path, *arguments, **settings):
        if path == digits_job.run:
            raise OSError(errno.EHOSTDOWN, "Host is down")
        return opened(path, *arguments, **settings)

    monkeypatch.setattr(os, "open", gone)
    report = audited(digits_job.run).report
    assert report.outcome is Outcome.INCONCLUSIVE, report.reason
    assert "says nothing about the file itself" in report.reason
    monkeypatch.undo()
    assert audited(digits_job.run).report.outcome is Outcome.VERIFIED, "the control"


def test_an_order_that_no_machine_can_hold(digits_job, monkeypatch):
    """What a step needs at the least is compared with this machine before anything is computed."""
    monkeypatch.setattr("counterfoil_core.arithmetic.compute.devices.memory_of", lambda device: 1000)
    report = audited(digits_job.run, digits_job.order).report
    assert report.outcome is Outcome.INCONCLUSIVE
    assert "needs at least" in report.reason
    with pytest.raises(MemoryShortageError):
        list(record(digits_job.order, digits_job.order.with_name("never.cfoil"), None))


def test_a_program_error_is_still_one(digits_job):
    assert obstacle(ProgramError("No such operator.")) is None
    assert obstacle(ValueError("out of memory")) is None


@pytest.fixture
def nowhere(monkeypatch: pytest.MonkeyPatch) -> None:
    """A machine on which no folder for temporary files can be written."""

    def none() -> str:
        raise FileNotFoundError(errno.ENOENT, "No usable temporary directory found")

    monkeypatch.setattr(tempfile, "tempdir", None)
    monkeypatch.setattr(tempfile, "_get_default_tempdir", none)
    monkeypatch.delenv("TORCHINDUCTOR_CACHE_DIR", raising=False)
    # What the program sets is taken back.
    monkeypatch.setenv("TORCHINDUCTOR_CACHE_DIR", "x")
    monkeypatch.delenv("TORCHINDUCTOR_CACHE_DIR")


def test_libraries_are_loaded_without_a_folder_for_temporary_files(nowhere: None) -> None:
    with pytest.raises(FileNotFoundError):
        tempfile.gettempdir()
    settle_temporary_folder()
    assert tempfile.gettempdir() == os.sep
    assert os.environ["TORCHINDUCTOR_CACHE_DIR"] == os.sep


def test_a_replay_without_a_folder_for_temporary_files_blames_nobody(
    nowhere: None, digits_job, tmp_path, monkeypatch, capsys
) -> None:
    """It happens outside of the box, before anything of the run is read."""
    settle_temporary_folder()
    blocked = tmp_path / "file"
    blocked.touch()
    monkeypatch.setattr(files, "state_home", lambda: blocked)
    monkeypatch.setattr(tempfile, "tempdir", str(blocked))
    monkeypatch.delenv(SWITCH)
    assert main(["audit", str(digits_job.run), "--order", str(digits_job.order)]) == Outcome.INCONCLUSIVE.exit_code
    said = capsys.readouterr().err
    assert "There is no folder for the temporary files of a replay" in said
    assert "TMPDIR" in said
