"""What holds for the repository as a whole."""

from __future__ import annotations

import ast
import os
import re
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

import counterfoil
from counterfoil.audit.values.outcome import Outcome

ROOT = Path(__file__).parents[1]

PUBLIC_NAMES = sorted(
    line.strip()
    for line in """
Adadelta
Adagrad
Adam
AdamW
Adamax
Adjudication
AdjudicationFinished
AdjudicationOutcome
AdjudicationReport
AdjudicationStarted
Afterwards
AuditFinished
AuditReport
AuditRequest
AuditStarted
Basis
BundleSummary
CancelToken
CapsuleContents
Check
CheckChanged
CheckNumber
CheckState
ClipByNorm
ClipByValue
ComparedTensor
CounterfoilError
CustomJob
DataChecked
DeliveryOutcome
DeliveryProgress
DeliveryReport
Device
Digest
Dispute
DisputeLocated
DisputedElement
DisputedOperator
DivergenceMeasured
ElementComparison
Estimate
Event
ExactPrecision
FileUse
Finding
FineTuning
GivenFileError
Gpt2Size
Kept
LabelFlip
Level
Limits
Lion
LocalWorkers
Lora
MachineTrust
MerkleComparison
NAdam
NeighbourOperator
OperatorDone
OperatorRecorded
OrderSource
OrderTrust
Outcome
PROFILES
ParameterGroup
ParameterGroups
Passphrase
Plan
PlanProgress
PlanRow
Precision
ProgressRestored
PublicKey
RAdam
Recognised
RecordFinished
RecordStarted
RecordingChecked
RecordingError
RecordingResumed
Relation
Reply
ResumedFromCheckpoint
Right
RmsProp
RunAssembled
Sample
SegmentRequest
Selection
Sgd
SignatureError
SignerError
SignerProcess
SigningKey
Steering
SteeringRow
StepMatch
StepRecorded
StepReplayed
StepRestored
StepRow
StepTable
TensorDetail
TensorDivergence
TrainerTrust
Trust
TrustLine
Turn
TurnsJob
Verdict
WeightAverage
WeightsFile
Withdrawal
WorkerState
WorkersReported
account_of
adjudicate
afterwards
basis_of
bound_by
check_bundle_file
claimed_key_ids
discard_recording
export_weights
find_progress
generate_key
grouped
inspect
inspect_stages
is_public_key
key_id_of
limits_for
list_devices
load_private_key
load_public_key
meaning_of
needs_passphrase
one_line
order_custom
order_digits
order_gpt2
order_huggingface
order_logistic
order_resnet
order_turns
order_vgg
pem_of
plan_audit
preview_adjudication
preview_verdict
ranges
read_client_order
recognise
record
rows_named
run_audit
seen_by
sign_verdict
signed_by_trainer
start_signer
state_folder
statements_beside
trust_of
uniform
verdict_digest
verify_signed
verify_verdict
verify_weights
with_client_key
with_client_order
with_trainer_key
write_capsule
write_steps_csv
write_whole
""".strip().splitlines()
)


def tracked(*patterns: str) -> list[Path]:
    done = subprocess.run(["git", "ls-files", *patterns], cwd=ROOT, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        pytest.skip("not a git checkout")
    return [path for line in done.stdout.splitlines() if (path := ROOT / line).is_file()]


def test_the_public_names_are_these() -> None:
    assert counterfoil.__all__ == PUBLIC_NAMES


@pytest.mark.parametrize("name", PUBLIC_NAMES)
def test_every_public_name_is_there(name: str) -> None:
    value = getattr(counterfoil, name)
    assert value is not None
    assert not isinstance(value, type(counterfoil)), "a subpackage hides the name"


def test_the_version_stands_in_one_place() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    assert project["project"]["dynamic"] == ["version"]
    assert project["tool"]["setuptools"]["dynamic"]["version"] == {"attr": "counterfoil.__version__"}


def test_the_changelog_has_a_place_for_what_comes_next() -> None:
    assert "## [Unreleased]" in (ROOT / "CHANGELOG.md").read_text(encoding="utf-8")


def test_links_between_documents_lead_somewhere() -> None:
    for document in tracked("*.md"):
        for target in re.findall(r"\]\((?!https?:|#|mailto:)([^)#]+)", document.read_text(encoding="utf-8")):
            assert (document.parent / target).exists(), f"{document.relative_to(ROOT)} links to {target}"


def test_exit_codes_in_the_documents_are_those_of_the_code() -> None:
    for name in ("README.md", "docs/verdict.md"):
        text = (ROOT / name).read_text(encoding="utf-8")
        for outcome in Outcome:
            assert re.search(rf"^\| `?{outcome.value}`? \| {outcome.exit_code} \|", text, re.MULTILINE), (name, outcome)


def test_no_path_of_somebodys_machine_is_in_the_repository() -> None:
    # Written so that this file does not hold what it looks for.
    forbidden = re.compile("/wo" + r"rk/|/ho" + r"me/[a-z]|/ro" + r"ot/|\.pye" + "nv")
    for path in tracked():
        try:
            text = path.read_text(encoding="utf-8")
        except UnicodeDecodeError:
            continue
        found = forbidden.search(text)
        assert found is None, f"{path.relative_to(ROOT)} holds {found.group() if found else ''}"


UNPICKLERS = {"_pickle", "cPickle", "cloudpickle", "dill", "joblib", "marshal", "multiprocessing", "pickle", "shelve"}
"""Modules that make whatever a file or a pipe names; contracts in pyproject.toml forbid to import them."""
SENDERS = {
    "counterfoil_app/desktop/taskbar.py",  # a message of the desktop's bus
    "counterfoil_app/engine/process.py",  # bytes, through a link
    "counterfoil_app/verdict/report_process.py",
}
"""Files in which anything has a method ``send``: that of a multiprocessing.Connection pickles."""


def unpickling(source: str) -> list[str]:
    """What of a program reads a pickle, or may, that no list of imports shows: as it stands there."""
    found = []
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Constant) and isinstance(node.value, str):
            if node.value.partition(".")[0] in UNPICKLERS:
                found.append(node.value)
        elif isinstance(node, ast.Attribute) and node.attr in ("recv", "ProcessPoolExecutor", "read_pickle"):
            found.append(node.attr)
        elif isinstance(node, ast.ImportFrom) and {each.name for each in node.names} & {"ProcessPoolExecutor"}:
            found.append("ProcessPoolExecutor")
        elif isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
            named = f"{ast.unparse(node.func.value)}.{node.func.attr}"
            said = {each.arg: ast.unparse(each.value) for each in node.keywords}
            careless = named == "torch.load" and said.get("weights_only") != "True"
            careless |= named in ("np.load", "numpy.load") and said.get("allow_pickle") != "False"
            if careless or said.get("allow_pickle") == "True" or said.get("trust_remote_code", "False") != "False":
                found.append(named)
    return found


def test_nothing_of_the_program_reads_a_pickle() -> None:
    senders = set()
    for root in ("engine", "app", "resources"):
        for path in (ROOT / root).rglob("*.py"):
            name, source = path.relative_to(ROOT / root).as_posix(), path.read_text(encoding="utf-8")
            assert unpickling(source) == [], name
            if re.search(r"\w\.send\(", source):
                senders.add(name)
    assert senders == SENDERS


@pytest.mark.parametrize(
    "source",
    [
        "importlib.import_module('pickle')",
        "__import__('multiprocessing.connection')",
        "link.recv()",
        "torch.load(path)",
        "torch.load(path, weights_only=False)",
        "torch.load(path, weights_only=safe)",
        "np.load(path)",
        "np.lib.format.read_array(file, allow_pickle=True)",
        "from concurrent.futures import ProcessPoolExecutor",
        "concurrent.futures.ProcessPoolExecutor(2)",
        "Model.from_pretrained(folder, trust_remote_code=True)",
    ],
)
def test_control_what_reads_a_pickle_is_found(source: str) -> None:
    assert unpickling(source)
    assert not unpickling("torch.load(path, weights_only=True)\nnp.load(path, allow_pickle=False)\n'a pickle'")


def test_tests_leave_nothing_in_the_temporary_folder(tmp_path: Path) -> None:
    pytest_here = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "--collect-only", __file__]
    subprocess.run(pytest_here, cwd=ROOT, env={**os.environ, "TMPDIR": str(tmp_path)}, check=True, capture_output=True)
    assert list(tmp_path.iterdir()) == []


def test_tests_are_no_package() -> None:
    # With --import-mode=importlib two test files may have one name only if their folders are no packages.
    assert not tracked("tests/__init__.py", "tests/**/__init__.py")
