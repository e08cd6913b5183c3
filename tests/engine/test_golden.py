"""Digests that do not change unless the numerics or the format do."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from counterfoil_core.arithmetic.otherwise.perturbation import PERTURBATIONS
from counterfoil_core.bundle.reader import BundleReader
from counterfoil_core.values.outcome import Outcome
from support.jobs import audited, record_run
from support.scripts import load_script

NAMES = ("digits", "gpt2", "exact")


golden = load_script(Path(__file__).with_name("make_golden.py"))
EXPECTED = json.loads(golden.DIGESTS.read_text())


def need_the_same_machine() -> None:
    if golden.machine() != EXPECTED["machine"]:
        pytest.skip(f"the digests were made on {EXPECTED['machine']}, this is {golden.machine()}")


@pytest.mark.parametrize("name", NAMES)
def test_the_stored_files_have_the_golden_digests(name):
    assert golden.digests(golden.run_path(name)) == EXPECTED[name]
    with BundleReader.open(golden.job_path(name)) as reader:
        assert reader.manifest.digest.hex == EXPECTED[name]["order"]
    assert golden.job_path(name).stat().st_size < 200_000


@pytest.mark.sampled
@pytest.mark.parametrize("perturbation", [None, *PERTURBATIONS])
@pytest.mark.parametrize("name", NAMES)
def test_the_stored_run_is_verified_on_every_machine(name, perturbation):
    report = audited(golden.run_path(name), golden.job_path(name), perturbation=perturbation).report
    assert report.outcome is Outcome.VERIFIED, report.reason
    assert report.run_root is not None
    assert report.run_root.hex == EXPECTED[name]["run_root"]


@pytest.mark.parametrize("name", NAMES)
def test_recording_gives_the_golden_digests(name, tmp_path, trainer_key):
    if name != "exact":  # which has no log: every machine must reach them
        need_the_same_machine()
    run = record_run(golden.job_path(name), tmp_path / "run.cfoil", trainer_key)
    assert golden.digests(run) == EXPECTED[name]


@pytest.mark.sampled(1)
@pytest.mark.parametrize("name", NAMES)
def test_the_recipe_drafts_the_golden_order(name):
    if golden.machine()["torch"] != EXPECTED["machine"]["torch"]:
        pytest.skip("another torch may capture another list of operators")
    assert golden.ORDERS[name]().manifest.digest.hex == EXPECTED[name]["order"]


# A second process on this machine, with another instruction set and one thread.

AUDIT = """
import sys
from pathlib import Path
import torch
import counterfoil

assert torch.backends.cpu.get_cpu_capability() == "DEFAULT"
assert torch.get_num_threads() == 1
for run, order in zip(sys.argv[1::2], sys.argv[2::2], strict=True):
    request = counterfoil.AuditRequest(run=Path(run), order=Path(order))
    for event in counterfoil.run_audit(request):
        pass
    report = event.report
    print(report.outcome.value, report.contradictions, report.omissions, report.run_root)
"""


def test_another_instruction_set_and_thread_count(digits_job, gpt2_job):
    jobs = (digits_job, gpt2_job)
    environment = {**os.environ, "ATEN_CPU_CAPABILITY": "default", "OMP_NUM_THREADS": "1"}
    result = subprocess.run(
        [sys.executable, "-c", AUDIT, *(str(path) for job in jobs for path in (job.run, job.order))],
        env=environment,
        capture_output=True,
        text=True,
        check=False,
    )
    assert result.returncode == 0, result.stderr
    for job, printed in zip(jobs, result.stdout.splitlines(), strict=True):
        with BundleReader.open(job.run) as reader:
            root = golden.run_tree(reader.step_records()).root
        assert printed.split() == ["VERIFIED", "0", "0", root.hex]
