"""What holds for the repository as a whole."""

from __future__ import annotations

import ast
import os
import re
import subprocess
import sys
import tomllib
from collections.abc import Collection
from functools import cache
from pathlib import Path, PurePosixPath
from typing import Any

import pytest
import typer

import counterfoil
from counterfoil.cli.app import app
from counterfoil_core.operators.facts import OWN
from counterfoil_core.values.outcome import Outcome

ROOT = Path(__file__).parents[1]

PUBLIC_NAMES = [name for line in """
Adadelta Adagrad Adam AdamW Adamax Adjudication AdjudicationFinished AdjudicationOutcome AdjudicationReport
AdjudicationStarted Afterwards AuditFinished AuditReport AuditRequest AuditStarted Basis Blame BundleSummary
CancelToken CapsuleContents CapsuleSubject Cause Check CheckChanged CheckNumber CheckState CheckedRules ClipBy
ClipByNorm ClipByValue CommandEnded CommandForm CommandOption CommandProgress ComparedRun ComparedTensor
CounterfoilError CustomJob DataChecked DataPreview DataUse DeliveryOutcome DeliveryProgress DeliveryReport Device
Difference DifferenceProgress Digest Dispute DisputeLocated DisputedElement DisputedOperator DisputedRows
DivergenceMeasured Division ElementComparison Estimate Evaluation Event ExactAllreduceState ExactPrecision Expected
FactsProgress FileUse Finding FineTuning Fleet FleetRequest FleetRow FollowEnded FollowEvent FollowRequest
FollowStarted FollowState Followed GPUS GivenFileError Gpt2Size Gpu HandOver HeadsChecked InspectionRequest
Inspections Judgement Kept KeyFile KnownKey LabelFlip Ledger LedgerProgress LedgerRun LedgerVerdict Level Limits Lion
ListNote LocalWorkers LocateProgress Located LookProgress Loop LoopStep Lora MachineFact MachinePage MachineProgress
MachineState MachineTrust MeasuredStep Member MerkleComparison NAdam NO_TRUST NeighbourOperator NotCounted
OperationCount OperatorDone OperatorElements OperatorLook OperatorRecorded OperatorValue OrderError OrderSource
OrderTrust OrderWritten Outcome PROFILES PROFILE_COSTS PanelAdmitted PanelCompared PanelEvent PanelFinished
PanelOutcome PanelReport PanelRuled ParameterGroup ParameterGroups Parting Passphrase Place Plan PlanProgress PlanRow
Precision ProfileCost ProgressRestored PublicKey RAdam RankFinished RatePolicy Recognised RecordFinished RecordStarted
RecordingChecked RecordingError RecordingResumed RecordingWentBack Relation Reply ResumedFromCheckpoint Revocation
RevocationList Right RmsProp Role RowKind RowsRead RuleOutcome RuleResult Ruling RunAssembled RunFacts RunOutcome
Sample Score SegmentRequest Selection Sgd SignatureError SignerError SignerProcess SigningKey Standing StateDifference
Steering SteeringRow StepFollowed StepJudged StepMatch StepRecorded StepReplayed StepRestored StepRow StepSealed
StepTable StepWeights StopRule TensorDetail TensorDivergence TensorSides TrainerRecord TrainerTrust Trust TrustFolder
TrustLine TrustStore Turn TurnsJob Unlike Validity Verdict WeightAverage WeightsFile Withdrawal Witness WorkerState
WorkersReported account_of adjudicate afterwards answer_counts auditors_of basis_of bound_by capsule_subject
check_bundle_file check_run claimed_beside claimed_key claimed_key_ids classification_counts command_form
compare_tensor consequence_of copy_whole count_facts difference_of discard_recording exact_allreduce_hook
examine_machine export_weights facts_as_json figures find_disputed_rows find_progress follow follow_run generate_key
group_digits inspect inspect_stages is_public_key joined_time kept_said key_id_of limits_for list_devices
load_private_key load_public_key locate_hash locate_weights log_said look_at_operator loop make_order meaning_of
measured_by named_keys needs_passphrase of_another_kind one_line open_judgement open_said order_command order_custom
order_digits order_forms order_gpt2 order_huggingface order_logistic order_resnet order_turns order_vgg pem_of
plan_audit plan_fleet plan_inspections preview_adjudication preview_data preview_verdict ranges read_client_order
read_judgement read_ledger read_store recognise record recorded_log_said rows_named run_audit run_command
run_difference run_panel score_lines score_said seen_by set_exact_reduce_scatter sign_verdict signed_by_maker
start_signer state_folder statements_beside token_counts trust_home trust_of uniform verdict_digest verify_signed
verify_verdict verify_weights with_client_key with_client_order with_policy with_trainer_key write_capsule
write_hand_over write_steps_csv write_whole
""".splitlines() for name in line.split()]  # fmt: skip


def tracked(*patterns: str) -> list[Path]:
    done = subprocess.run(["git", "ls-files", *patterns], cwd=ROOT, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        pytest.skip("not a git checkout")
    return [path for line in done.stdout.splitlines() if (path := ROOT / line).is_file()]


def test_the_public_names_are_these() -> None:
    assert counterfoil.__all__ == sorted(PUBLIC_NAMES)


def test_every_public_name_is_there() -> None:
    for name in PUBLIC_NAMES:
        value = getattr(counterfoil, name)
        assert value is not None, name
        assert not isinstance(value, type(counterfoil)), f"a subpackage hides {name}"


def test_the_version_stands_in_one_place() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    assert project["project"]["dynamic"] == ["version"]
    assert project["tool"]["setuptools"]["dynamic"]["version"] == {"attr": "counterfoil_core.__version__"}


def test_the_changelog_has_a_place_for_what_comes_next() -> None:
    assert "## [Unreleased]" in (ROOT / "CHANGELOG.md").read_text(encoding="utf-8")


def test_the_changelog_tells_of_the_version() -> None:
    versions = re.findall(r"^## \[?([0-9.]+)", (ROOT / "CHANGELOG.md").read_text(encoding="utf-8"), re.MULTILINE)
    assert versions[0] == counterfoil.__version__


def test_links_between_documents_lead_somewhere() -> None:
    for document in tracked("*.md"):
        for target in re.findall(r"\]\((?!https?:|#|mailto:)([^)#]+)", document.read_text(encoding="utf-8")):
            assert (document.parent / target).exists(), f"{document.relative_to(ROOT)} links to {target}"


OF_OTHERS = {
    "cryptography.py", "setup.py", "sitecustomize.py", "struct.py", "torch.py", "use.py", "vit_job.py",
    "counterfoil.order", "counterfoil.run_root", "counterfoil.step", "counterfoil.weights",
}  # fmt: skip
"""What pages name that looks like a file or a module of ours: files in a user's folder, fields of exported weights."""


RECORDS = ("CHANGELOG.md", "mutation.md")
"""Pages that tell what was at a time, by the names of that time."""


@cache
def places_of(files: tuple[str, ...]) -> tuple[set[str], set[str]]:
    """The files and folders of the root, and whatever a path of a file or a folder ends with."""
    places = {*files, *(str(folder) for file in files for folder in PurePosixPath(file).parents)}
    ends = {place[at + 1 :] for place in places for at in [-1, *(m.start() for m in re.finditer("/", place))]}
    return {place for place in places if "/" not in place}, ends


def named_and_missing(text: str, files: Collection[str], ignored: str = "") -> list[str]:
    """What a page names in backticks that looks like a path or a module of the repository, and is none.

    Args:
        text: The page.
        files: The tracked files, from the root.
        ignored: What .gitignore says, whose folders are made by commands.
    """
    roots, ends = places_of(tuple(files))
    missing = []
    for word in re.findall(r"[^\s`,;()\[\]]+", " ".join(re.findall(r"`([^`\n]+)`", text))):
        word = word.rstrip(".:")
        if word in OF_OTHERS or word in ignored.split() or word.startswith(("/", "http", "-")):
            continue
        if re.fullmatch(r"(counterfoil|counterfoil_core|counterfoil_app|benchmarks|tests)(\.\w+)+", word):
            if not module_or_name(word):
                missing.append(word)
        elif re.fullmatch(r"[\w./-]+", word):
            folder = word.endswith("/")
            ours = word.endswith((".py", ".pyi")) or ("/" in word and (folder or word.split("/")[0] in roots))
            if ours and word.rstrip("/") not in ends:
                missing.append(word)
    return missing


@cache
def module_or_name(dotted: str) -> bool:
    """Whether a dotted name is a module, something that the source of one names, or an operator of ours."""
    parts = dotted.split(".")
    for length in range(len(parts), 0, -1):
        for root in ("engine", "app", "resources", ""):
            place = ROOT.joinpath(root, *parts[:length])
            sources = [place.with_suffix(".py"), place / "__init__.pyi", place / "__init__.py"]
            found = next((source.read_text(encoding="utf-8") for source in sources if source.is_file()), None)
            if found is not None:
                return all(re.search(rf"\b{name}\b", found) for name in parts[length:]) or dotted in OWN
            if place.is_dir() and length == len(parts):
                return True
    return False


def test_paths_and_modules_that_pages_name_are_there() -> None:
    files = [path.relative_to(ROOT).as_posix() for path in tracked()]
    ignored = (ROOT / ".gitignore").read_text(encoding="utf-8")
    pages = {page for page in tracked("*.md") if page.name not in RECORDS}
    stale = {
        page.relative_to(ROOT).as_posix(): named_and_missing(page.read_text(encoding="utf-8"), files, ignored)
        for page in pages
    }
    assert not any(stale.values()), "\n".join(
        f"{page} names {', '.join(of)}" for page, of in sorted(stale.items()) if of
    )


def test_modules_and_names_that_comments_refer_to_are_there() -> None:
    reference = re.compile(r":[a-z]+:`[~!]?((?:counterfoil|counterfoil_core|counterfoil_app|benchmarks)(?:\.\w+)+)`")
    named = {(path, name) for path in tracked("*.py") for name in reference.findall(path.read_text(encoding="utf-8"))}
    stale = sorted(f"{path.relative_to(ROOT)} refers to {name}" for path, name in named if not module_or_name(name))
    assert not stale, "\n".join(stale)


def test_control_a_path_that_moved_is_found() -> None:
    files = ["engine/counterfoil_core/hearing/session.py", "docs/images/honest.png"]
    fine = "`hearing/session.py`, `session.py`, `engine/counterfoil_core/`, `docs/images/honest.png`, `log/ends`, `a/b`"
    assert named_and_missing(fine, files) == []
    gone = ["audit/parts/replay.py", "eplay.py", "engine/audit/", "docs/images/honest.jpg", "counterfoil.audit.house"]
    assert named_and_missing(" ".join(f"`{name}`" for name in gone), files) == gone


@pytest.mark.parametrize(("package", "section"), [("counterfoil_core", "The court"), ("counterfoil", "The workshop")])
def test_every_room_of_the_engine_has_its_row(package: str, section: str) -> None:
    page = (ROOT / "docs" / "architecture.md").read_text(encoding="utf-8")
    table = page.partition(f"\n## {section}\n")[2].partition("\n## ")[0]
    rooms = {path.parent.name for path in (ROOT / "engine" / package).glob("*/__init__.py")}
    assert set(re.findall(r"^\| `(\w+)/` \|", table, re.MULTILINE)) == rooms


NO_COMMAND = "segment sample v1"
"""What begins with the program's name and is a constant: the words that a sample's seed is made of."""


def unknown_commands(text: str) -> list[str]:
    """The command lines of a page, in backticks or at a prompt, whose command or option the program does not have."""
    unknown = []
    lines = re.findall(r"`counterfoil ([^`\n]+)`", text) + re.findall(r"^(?:\$ )?counterfoil (.+)$", text, re.MULTILINE)
    for line in (line for line in lines if re.match(r"--|[a-z]", line) and line != NO_COMMAND):
        # What stands behind -- is a script's.
        command, words = typer.main.get_command(app), re.split(r" [&|;]+ |;| -- ", line)[0].split()
        if not words[0].startswith("--") and words[0] not in commands_of(command):
            unknown.append(line)
            continue
        options = {"--help"}
        while words and words[0] in commands_of(command):
            command, words = commands_of(command)[words[0]], words[1:]
            options |= options_of(command)
        # A group stands for its commands where a page leaves open which (counterfoil order ... --out job.cfoil).
        options |= {option for each in (command, *commands_of(command).values()) for option in options_of(each)}
        if not {word.split("=")[0] for word in words if word.startswith("--")} <= options:
            unknown.append(line)
    return unknown


def commands_of(command: Any) -> dict[str, Any]:
    """The commands below one, by their names."""
    return {name: getattr(each, "loaded", each) for name, each in getattr(command, "commands", {}).items()}


def options_of(command: Any) -> set[str]:
    """The options of a command, in all their spellings."""
    return {option for each in command.params for option in (*each.opts, *each.secondary_opts)}


def test_commands_and_options_that_pages_name_are_there() -> None:
    for page in tracked("*.md"):
        if page.name not in RECORDS:
            assert unknown_commands(page.read_text(encoding="utf-8")) == [], page.relative_to(ROOT)


def test_control_a_command_or_option_that_is_gone_is_found() -> None:
    gone = ["orders digits-cnn", "order digits-cnn --step 3", "--versions", "audit run.cfoil --orders job.cfoil"]
    assert unknown_commands("\n".join(f"$ counterfoil {line}" for line in gone)) == gone
    assert unknown_commands("`counterfoil order digits-cnn --steps 3; echo --this` and `counterfoil --version`") == []


def test_torchrun_is_given_an_address_where_it_would_take_the_machines_own_name() -> None:
    """Where no address is found by that name, as in many containers, it waits for minutes and fails."""
    files = [ROOT / "README.md", *(ROOT / "docs").rglob("*.md")]
    files += [file for folder in ("engine", "examples", "benchmarks") for file in (ROOT / folder).rglob("*.py")]
    said = [
        (file.name, address)
        for file in files
        for address in re.findall(r"--standalone\W+(local-addr\W+127\.0\.0\.1)?", file.read_text(encoding="utf-8"))
    ]
    assert len(said) > 3
    assert [name for name, address in said if not address] == []


def test_every_decision_has_its_number_and_its_line() -> None:
    folder = ROOT / "docs" / "adr"
    pages = sorted(folder.glob("[0-9]*.md"))
    for number, page in enumerate(pages, start=1):
        title, _, status, *_ = page.read_text(encoding="utf-8").splitlines()
        assert page.name.startswith(f"{number:04}-"), page.name
        assert title.startswith(f"# {number:04}. "), page.name
        assert re.match(r"- Status: (proposed|accepted|replaced by)", status), page.name
    listed = re.findall(
        r"^\| \[(\d+)\]\((.+?)\) \| \S.* \|$", (folder / "README.md").read_text(encoding="utf-8"), re.MULTILINE
    )
    assert listed == [(page.name[:4], page.name) for page in pages]


def test_decisions_that_pages_and_code_name_are_there() -> None:
    numbers = {int(page.name[:4]) for page in (ROOT / "docs" / "adr").glob("[0-9]*.md")}
    for path in tracked("*.md", "*.py", "*.toml"):
        named = {int(number) for number in re.findall(r"\bADRs? (\d+)", path.read_text(encoding="utf-8"))}
        assert named <= numbers, f"{path.relative_to(ROOT)} names ADR {named - numbers}"


def test_hooks_before_a_commit_are_the_commands_of_make_lint() -> None:
    hooks = re.findall(
        r"entry: \.venv/bin/(\S+(?: format| check)?)", (ROOT / ".pre-commit-config.yaml").read_text(encoding="utf-8")
    )
    lint = re.findall(
        r"^\t\$\(BIN\)/((?:ruff|mypy|lint-imports)(?: format| check)?)",
        (ROOT / "Makefile").read_text(encoding="utf-8"),
        re.MULTILINE,
    )
    assert sorted(hooks) == sorted(lint)


def test_what_contributors_are_told_to_run_is_there() -> None:
    page = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")
    targets = set(re.findall(r"^(?!\.)([\w-]+):", (ROOT / "Makefile").read_text(encoding="utf-8"), re.MULTILINE))
    named = set(re.findall(r"(?:^|`)make ([a-z-]+)", page, re.MULTILINE))
    assert {"setup", "test"} <= named <= targets


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
MAY_UNPICKLE = re.compile(
    "|".join(sorted(UNPICKLERS)) + "|recv|ProcessPoolExecutor|read_pickle|allow_pickle|trust_remote_code|[.]load"
)
"""Without one of these words a program is not even parsed, which takes longer than all else."""
SENDERS = {
    "counterfoil/audit/parts/helpers.py",
    "counterfoil/talk/process.py",
    "counterfoil_app/desktop/services.py",  # a message of the desktop's bus
    "counterfoil_app/engine/broker.py",
}
"""Files in which anything has a method ``send``: that of a multiprocessing.Connection pickles."""


OF_SCRIPTS = {("counterfoil/training/following/plainrun.py", "multiprocessing.process")}
"""A module that is not imported there: where a script does, its start of a process is seen."""


def unpickling(source: str) -> list[str]:
    """What of a program reads a pickle, or may, that no list of imports shows: as it stands there."""
    found: list[str] = []
    if not MAY_UNPICKLE.search(source):
        return found
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
            assert [word for word in unpickling(source) if (name, word) not in OF_SCRIPTS] == [], name
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


@pytest.mark.slow
def test_tests_leave_nothing_in_the_temporary_folder(tmp_path: Path) -> None:
    pytest_here = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "--collect-only", __file__]
    subprocess.run(pytest_here, cwd=ROOT, env={**os.environ, "TMPDIR": str(tmp_path)}, check=True, capture_output=True)
    assert list(tmp_path.iterdir()) == []


def test_tests_are_no_package() -> None:
    # With --import-mode=importlib two test files may have one name only if their folders are no packages.
    # What stands for a library has the library's form, and holds no tests.
    packages = [path for path in tracked("tests/__init__.py", "tests/**/__init__.py") if "standins" not in path.parts]
    assert not packages
