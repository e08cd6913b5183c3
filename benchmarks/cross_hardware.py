"""Runs recorded on one machine and replayed on another, and the reverse.

Machines share nothing but a folder (``--out``), which is copied from one to the other and back:

    order                    once, on any machine: every recipe under every profile, and a key for the campaign
    work --machine NAME      on each machine, what is not done yet: the self-test, a recording of every order,
                             ordinary float32 training of every job, an answer of a small model, and an audit
                             of every run and a check of every answer that other machines left in the folder
    selftest --machine NAME  only that
    capture --machine NAME   captures every job here, too, for the digest of its order
    page                     collects the results, and shows those of all machines: docs/cross-hardware.md
    versions                 shows machines that are versions of torch and Python (packaging/torches.sh) for that page,
                             and the table of docs/literature.md

A machine works once to record and once more when others' runs are there. What is done is not done again, and work that
was stopped goes on. Nothing here knows what the machines are: emulated ones (packaging/arm64.sh), a GPU
(``--device cuda:0``), a colleague's.
"""

from __future__ import annotations

import platform
import re
import tempfile
import warnings
from argparse import Namespace
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

import torch

from benchmarks import accuracy
from benchmarks.answer_agreement import ANSWERS, answer_of, check_libraries, check_of, model_in, strange_check
from benchmarks.cross_pages import measured_sections, version_sections
from benchmarks.honest_jobs import LITERATURE, ORDERS, Job
from benchmarks.measure import (
    ROOT,
    Benchmark,
    Cell,
    LeftOutError,
    Results,
    Sections,
    Store,
    Values,
    argument,
    figures,
    slug,
)
from benchmarks.pages import machine_name
from benchmarks.sessions import audit, key_in, root_of, train_unrounded
from counterfoil.audit.hearings import adjudicate
from counterfoil.bundle.capsulewriter import write_capsule
from counterfoil.signing.kinds import AnswerStatement
from counterfoil.training.recorder import record
from counterfoil.training.recordingevents import RecordFinished, StepRecorded
from counterfoil.training.tamper import LabelFlip
from counterfoil.training.trial import CoarseGridWarning
from counterfoil_core.arithmetic.machine import open_machine
from counterfoil_core.arithmetic.selftest import run_selftest
from counterfoil_core.base.digest import Digest
from counterfoil_core.base.errors import CounterfoilError, DeviceError
from counterfoil_core.base.precision import PROFILES
from counterfoil_core.bundle.reader import BundleReader
from counterfoil_core.signing.statements import open_said, sign_said
from counterfoil_core.values.adjudication import AdjudicationOutcome
from counterfoil_core.values.events import AdjudicationFinished
from counterfoil_core.values.outcome import Outcome
from counterfoil_core.values.request import AuditRequest

STEPS = 3
MEASURED = ("float64-24", "float64-18", "float32-bfloat16", "exact-20", "exact-20-rows", "exact-13")
"""Names of precision profiles; the first one's program is trained ordinarily too."""
JOBS: Mapping[str, Job] = {**ORDERS, **LITERATURE}
"""The recipes and the trainings of the literature: how to order each."""
ANSWERING = "answers"
"""The job that is no training: a model's answers."""
EVERY = [*JOBS, ANSWERING]
TAMPERED = ("digits-cnn",)
"""Jobs of which each machine also records a run with a poisoned batch."""
_MODEL = Path("answers", "model")
"""The folder of the model that answers, within the campaign's."""
_SIGNED = datetime(2026, 1, 1, tzinfo=UTC)
"""When every machine signs its answers, so that equal ones are equal files."""
COLLECTED = ROOT / "benchmarks" / "measured" / "cross_hardware"
"""Results of the machines that were measured so far."""
_LIBRARIES = re.compile(r"(?:BLAS|LAPACK)_INFO=\w+|Intel\(R\) MKL-DNN v[0-9.]+")
_EAGER_STEPS = 10


@dataclass(frozen=True)
class Training:
    """A job under a profile, trained honestly or not."""

    job: str  #: Name of the job.
    profile: str  #: Name of the precision profile.
    tampered: bool = False  #: Whether the trainer departs from the order.

    @property
    def order_name(self) -> str:
        """Its order in file names."""
        return f"{slug(self.job)}.{self.profile}"

    @property
    def name(self) -> str:
        """Its run in file names."""
        return f"{self.order_name}.tampered" if self.tampered else self.order_name

    @property
    def row(self) -> Values:
        """What every result of it says."""
        return {"job": self.job, "profile": self.profile, "tampered": self.tampered}


def trainings(jobs: Collection[str], profiles: Collection[str]) -> list[Training]:
    """Return the trainings of some jobs and profiles, honest ones before tampered ones."""
    pairs = [(job, profile) for job in JOBS for profile in MEASURED if job in jobs and profile in profiles]
    return [
        Training(job, profile, tampered)
        for job, profile in pairs
        for tampered in ((False, True) if job in TAMPERED else (False,))
    ]


@dataclass(frozen=True)
class Machine:
    """A machine at work in a folder.

    What it does returns a row each, as the pages read it: ``kind`` says what of.
    """

    folder: Path  #: The folder that machines share.
    name: str  #: This machine's name.
    about: str  #: What it is, in words.
    device: str = "cpu"  #: ``cpu`` or ``cuda:0``.
    threads: int | None = 1  #: Threads on the CPU; None for torch's choice.

    def order_file(self, training: Training) -> Path:
        """Where the order of a training lies."""
        return self.folder / "orders" / f"{training.order_name}.cfoil"

    def run_file(self, machine: str, training: Training) -> Path:
        """Where a machine's run lies."""
        return self.folder / "runs" / machine / f"{training.name}.cfoil"

    def order(self, training: Training, steps: int, *, captured: bool = False) -> Values:
        """Order a job, or capture it only for the digest of its order; a job that a profile refuses is told."""
        found = {
            "kind": "ordered",
            **training.row,
            "order": "",
            "refused": "",
            "machine": self.name if captured else "",
        }
        self.order_file(training).parent.mkdir(parents=True, exist_ok=True)
        torch.manual_seed(0)  # a job may leave its first weights to torch
        try:
            with warnings.catch_warnings():
                # A grid too coarse for the gradients of a job this small is so on every machine.
                warnings.simplefilter("ignore", CoarseGridWarning)
                draft = JOBS[training.job](steps, PROFILES[training.profile])
                manifest = draft.manifest if captured else draft.write(self.order_file(training))
        except CounterfoilError as error:
            return {**found, "refused": str(error), "said": f"refused: {error}"}
        return {**found, "order": manifest.digest.hex}

    def answer_file(self, machine: str, name: str) -> Path:
        """Where a machine's answer lies."""
        return self.folder / "answers" / f"{machine}.{name}.json"

    def answer(self, name: str) -> Values:
        """Let the campaign's model answer; ``name`` is a key of ``ANSWERS``."""
        check_libraries()
        said = answer_of(
            model_in(self.folder / _MODEL, small=True), name, open_machine(self.device, self.threads), small=True
        )
        data = sign_said(said, key_in(self.folder), _SIGNED)
        self.answer_file(self.name, name).write_bytes(data)
        digest = Digest.of(data).hex
        return {"kind": "answered", "machine": self.name, "answer": name, "digest": digest, "said": digest[:16]}

    def check(self, maker: str, name: str) -> Values:
        """Check another machine's answer, and the same with a forged token."""
        check_libraries()
        data = self.answer_file(maker, name).read_bytes()
        said = open_said(AnswerStatement, data, key_in(self.folder).public)
        found = check_of(model_in(self.folder / _MODEL, small=True), said, open_machine(self.device, self.threads))
        strange = strange_check(found, f"the {name} answer of {maker} on {self.name}")
        of = {"kind": "checked", "machine": self.name, "maker": maker, "answer": name, "digest": Digest.of(data).hex}
        return {**found, **of, "strange": strange}

    def selftest(self) -> Values:
        """Test this machine as each profile does.

        Raises:
            DeviceError: There is no such device.
        """
        machine = open_machine(self.device, self.threads)
        said, failed = {}, []
        for profile in MEASURED:
            try:
                said[profile] = str(run_selftest(machine, PROFILES[profile]))
            except DeviceError as error:
                said[profile] = f"{error.sentence} {error.detail}".strip()
                failed.append(profile)
        libraries = ", ".join(dict.fromkeys(_LIBRARIES.findall(torch.__config__.show())))
        return {
            "kind": "machine", "machine": self.name, "about": self.about, "device": self.device, "libraries": libraries,
            "selftest": said, "failed": failed, "environment": dict(machine.environment),
            "strange": [f"{self.about} fails the self-test under {', '.join(failed)}"] if failed else [],
        }  # fmt: skip

    def record(self, training: Training, order: str) -> Values:
        """Record a run of the order that has a digest."""
        path, run = self.order_file(training), self.run_file(self.name, training)
        run.parent.mkdir(parents=True, exist_ok=True)
        tamper, key = LabelFlip(step=2) if training.tampered else None, key_in(self.folder)
        settings = {"device": self.device, "threads": self.threads, "tamper": tamper, "fresh": True}
        *events, last = record(path, run, key, **settings)  # type: ignore[arg-type]
        steps = [event for event in events if isinstance(event, StepRecorded)]
        assert isinstance(last, RecordFinished)
        with BundleReader.open(run) as reader:
            assert reader.manifest.digest.hex == order, "the folder's order is not the one that its result names"
            root = reader.committed_root(reader.extent.steps)
        return {
            "kind": "recorded", **training.row, "order": order, "machine": self.name, "steps": len(steps),
            "run_root": last.run_root.hex, "state_root": root.hex, "said": f"run root {last.run_root.hex[:16]}",
        }  # fmt: skip

    def replay(self, recorder: str, training: Training) -> Values:
        """Audit a run; make the capsule of a dispute, and adjudicate it."""
        path, run = self.order_file(training), self.run_file(recorder, training)
        last = audit(AuditRequest(run, path, device=self.device, threads=self.threads))
        report = last.report
        assert report.order_digest is not None, report.reason
        assert report.run_root is not None, report.reason
        found = {
            "kind": "replayed", **training.row, "order": report.order_digest.hex, "recorder": recorder,
            "machine": self.name, "run_root": report.run_root.hex, "outcome": report.outcome.value,
            "steps": report.steps_replayed, "mismatched": len(report.mismatched_steps),
            "corrections": report.corrections, "contradictions": report.contradictions, "omissions": report.omissions,
            "capsule": "", "adjudicated": "",
        }  # fmt: skip
        if last.evidence is not None:
            capsule = self.folder / "capsules" / self.name / recorder / f"{training.name}.cfoil"
            capsule.parent.mkdir(parents=True, exist_ok=True)
            write_capsule(last.evidence, capsule)
            *_, ruled = adjudicate(capsule, order=path, device=self.device, threads=self.threads)
            assert isinstance(ruled, AdjudicationFinished)
            found |= {"capsule": Digest.of(capsule.read_bytes()).hex, "adjudicated": ruled.report.outcome.value}
        strange = [] if (good := as_expected(found)) else [f"{training.name} of {recorder} on {self.name}: {found}"]
        return {**found, "expected": good, "strange": strange, "said": found["outcome"]}

    def train(self, job: str, order: str, train: Callable[[], Digest]) -> Values:
        """Train ordinarily in float32: the control."""
        root = train().hex
        said = f"state root {root[:16]}"
        return {"kind": "trained", "job": job, "order": order, "machine": self.name, "state_root": root, "said": said}

    def control(self, training: Training, order: str) -> Values:
        """Train ordinarily as an order says, operator by operator."""
        return self.train(
            training.job, order, lambda: train_unrounded(self.order_file(training), self.device, self.threads)
        )


def as_expected(row: Values) -> bool:
    """Whether an honest run was VERIFIED without a word against it, or a tampered one proven to be so."""
    if row["tampered"]:
        proven: bool = row["adjudicated"] == AdjudicationOutcome.CONFIRMED.value and bool(row["capsule"])
        return proven and row["outcome"] == Outcome.DISPUTED.value
    spotless = not (row["mismatched"] or row["contradictions"] or row["omissions"])
    return spotless and row["outcome"] == Outcome.VERIFIED.value


# Eager training on the CPU, as everybody writes it: model, ``backward``, optimizer.


def _eager_digits() -> Digest:
    model, _ = accuracy.eager()(accuracy.digits_task(_EAGER_STEPS), 1, open_machine("cpu", 1))
    return root_of(model.state_dict())


def _eager_gpt() -> Digest:
    with tempfile.TemporaryDirectory() as folder:
        text = Path(folder) / "text"
        text.write_bytes(b"Two machines add the same numbers in another order. " * 80)
        model, _ = accuracy.eager()(accuracy.gpt_task(text, _EAGER_STEPS), 1, open_machine("cpu", 1))
    return root_of(model.state_dict())


EAGER: Mapping[str, Callable[[], Digest]] = {
    f"digits-cnn with torch.optim, {_EAGER_STEPS} steps": _eager_digits,
    f"GPT with torch.optim, {_EAGER_STEPS} steps": _eager_gpt,
}


# The campaign.


def rows_of(folder: Path) -> list[Values]:
    """Return the rows of all machines that left results in a folder."""
    return [
        one for path in sorted(folder.glob("*.jsonl")) for one in figures(Store(folder, path.stem).results()).values()
    ]


def collect(folder: Path, results: Path = COLLECTED) -> None:
    """Collect the results of a folder beside those of other machines, which stay."""
    for path in sorted(folder.glob("*.jsonl")):
        kept = Store(results, path.stem)
        before = kept.results()
        for key, one in Store(folder, path.stem).results().items():
            if one != before.get(key):
                kept.keep(one)


def _results(options: Namespace) -> Path:
    folder: Path = options.out / "results"
    return folder


def _store(options: Namespace) -> Store:
    return Store(_results(options), "orders" if options.action == "order" else options.machine)


_Named = Mapping[str, tuple[str, Training, str]]
"""What each key stands for: who recorded, the training, and the digest of its order."""


def _named(options: Namespace) -> _Named:
    if options.action in ("page", "versions", "selftest"):
        return {}
    every, machine = trainings(options.jobs, options.profiles), options.machine
    if options.action in ("order", "capture"):
        return {f"ordered/{one.order_name}": ("", one, "") for one in every if not one.tampered}
    rows = rows_of(_results(options))
    orders = {
        (one["job"], one["profile"]): one["order"] for one in rows if one["kind"] == "ordered" and not one["machine"]
    }
    found: dict[str, tuple[str, Training, str]] = {}
    for training in every:
        if not (order := orders.get((training.job, training.profile))):
            continue
        of = f"{training.name}/{order[:12]}"
        found[f"recorded/{of}"] = (machine, training, order)
        key = ("recorded", order, training.tampered)
        others = {one["machine"] for one in rows if (one["kind"], one.get("order"), one.get("tampered")) == key}
        # Its own honest runs say nothing of another machine; of a tampered one the capsules are compared.
        for recorder in sorted(others | {machine} if training.tampered else others - {machine}):
            found[f"replayed/{recorder}/{of}"] = (recorder, training, order)
        if training.profile == MEASURED[0] and not training.tampered:
            found[f"trained/{of}"] = ("", training, order)
    return found


def _answers(options: Namespace) -> list[str]:
    """Keys of the answers to make and to check; the machine that orders writes the model."""
    if ANSWERING not in options.jobs:
        return []
    if options.action == "order":
        return ["answers"]
    if options.action != "work" or not (options.out / _MODEL).exists():
        return []
    made = [
        one for one in rows_of(_results(options)) if one["kind"] == "answered" and one["machine"] != options.machine
    ]
    return [
        *(f"answered/{name}" for name in ANSWERS),
        *(f"checked/{one['machine']}/{one['answer']}/{one['digest'][:12]}" for one in made),
    ]


def _cells(options: Namespace) -> list[Cell]:
    options.named = _named(options)
    # Beside all jobs, so that a part of them does not wait for it.
    eager = list(EAGER) if options.device == "cpu" and options.action == "work" and options.jobs == EVERY else []
    tested = ["selftest"] if options.action in ("work", "selftest") else []
    return [Cell(key) for key in (*tested, *_answers(options), *options.named, *(f"eager/{name}" for name in eager))]


def _measure(options: Namespace, key: str) -> Values:
    machine = Machine(
        options.out, options.machine, options.about or machine_name(options.device), options.device, options.threads
    )
    kind, _, name = key.partition("/")
    if kind == "selftest":
        return machine.selftest()
    if options.action == "work" and _store(options).results()["selftest"].strange:
        raise LeftOutError("A machine whose self-test fails does nothing else.")
    if kind == "eager":
        return machine.train(name, "", EAGER[name])
    match kind, *name.split("/"):
        case "answers", _:
            check_libraries()
            model_in(options.out / _MODEL, small=True)
            key_in(options.out)
            return {"kind": "answers"}
        case "answered", answer:
            return machine.answer(answer)
        case "checked", maker, answer, _:
            return machine.check(maker, answer)
    recorder, training, order = options.named[key]
    match kind:
        case "ordered":
            key_in(options.out)  # before several machines need it
            return machine.order(training, options.steps, captured=options.action == "capture")
        case "recorded":
            return machine.record(training, order)
        case "replayed":
            return machine.replay(recorder, training)
    return machine.control(training, order)


def sections(_results_here: Results, options: Namespace) -> Sections:
    """Return what is shown of all machines."""
    if options.action == "page":
        collect(_results(options))
        return measured_sections(rows_of(COLLECTED))
    return version_sections(rows_of(_results(options)), list(LITERATURE)) if options.action == "versions" else {}


def _name(text: str) -> str:
    if not re.fullmatch(r"[A-Za-z0-9][A-Za-z0-9._-]{0,60}", text):
        raise ValueError(text)
    return text


CROSS_HARDWARE = Benchmark(
    __doc__,
    _cells,
    _measure,
    sections,
    (
        argument("action", choices=("order", "work", "selftest", "capture", "page", "versions")),
        argument("--machine", type=_name, default=platform.machine(), help="this machine's name"),
        argument("--about", help="what this machine is, in words; by default the name of its processor"),
        argument("--device", default="cpu", help="cpu or cuda:0"),
        argument("--jobs", nargs="+", choices=EVERY, default=EVERY, help="which jobs (default all)"),
        argument("--profiles", nargs="+", choices=MEASURED, default=list(MEASURED), help="which (default all)"),
        argument("--steps", type=int, default=STEPS, help=f"steps of each job (default {STEPS})"),
    ),
    out="bench-results/machines",
    here=True,
    store=_store,
)
