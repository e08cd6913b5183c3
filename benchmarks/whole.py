"""Trainings of the paper's size from their first step to their last.

Each is ordered, recorded on this machine, audited on another instruction set, and trained ordinarily, in float32, on
both at once; steps of it are recorded with other margins and replayed there. The same command goes on where it was
stopped, inside of a piece too. ``--minutes 0 --write`` puts what is there onto the page.
"""

from __future__ import annotations

import math
import subprocess
import sys
from argparse import Namespace
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import torch
from torch import nn

from benchmarks.imitations import SETTINGS
from benchmarks.measure import (
    Benchmark,
    Cell,
    Results,
    Rows,
    Sections,
    Values,
    argument,
    environment,
    figures,
    on_page,
    origins,
    some_of,
)
from benchmarks.pages import markdown, size
from benchmarks.plots import Curve, Panel, draw_panels
from benchmarks.sessions import key_in
from counterfoil.audit.hearings import run_audit
from counterfoil.training.order import OrderDraft
from counterfoil.training.orderfile import load_order
from counterfoil.training.recipes import gpt2
from counterfoil.training.recipes.resnet import BasicBlock, ResNetLayout, order_resnet
from counterfoil.training.recorder import record
from counterfoil.training.recordingevents import RecordFinished, StepRecorded
from counterfoil.training.tokens import Tokens
from counterfoil.training.weights import Weights
from counterfoil_core.arithmetic.compute.interpreter import Interpreter
from counterfoil_core.arithmetic.machine import open_machine
from counterfoil_core.base.precision import PROFILES, AnyPrecision, Precision
from counterfoil_core.bundle.reader import BundleReader
from counterfoil_core.values.events import AuditFinished, StepReplayed
from counterfoil_core.values.outcome import Outcome
from counterfoil_core.values.request import AuditRequest
from counterfoil_core.values.steptable import StepMatch

THIS, OTHER = "this", "other"
MACHINES: Mapping[str, Mapping[str, str]] = {
    THIS: {},
    # Our own loops are compiled for that processor too.
    OTHER: {**SETTINGS["SSE4"], "NUMBA_CPU_NAME": "nehalem", "NUMBA_CPU_FEATURES": ""},
}
"""The environments of the processes of two machines: as it is, and held to SSE4."""
PROVEN = "proven"
MARGINS = (PROVEN, *(f"m{bits}" for bits in (50, 47, 44, 41, 38, 35)))
"""Margins that are compared: those that are proven for each operator, and fixed ones, from the narrowest that float64
allows. One that is too wide logs what no machine would turn; with one that is too narrow a replay elsewhere ends in
another state."""
SHORT = 2
"""Steps of each training with another margin."""
KEEP_EVERY = 10
"""Steps of ordinary training after which the whole state is kept, to go on from."""
_IMAGES, _SEQUENCE = 2048, 64
_SLOWER = 4
"""How much longer a step may take on the other machine."""
_DAY = 86_400.0
_UNDER = "@"
"""Between the name of a training and that of another profile than its recipe's."""
_TRAIN = "import sys; from benchmarks.whole import train_one; train_one(*sys.argv[1:])"
FloatArray = npt.NDArray[np.float32]
Draft = Callable[[Path | None, int, int, AnyPrecision | None], OrderDraft]
"""Drafts an order: from a text or None, of so many steps, with a state stored every so many, in a precision."""


# What is trained.


@dataclass(frozen=True)
class WholeJob:
    """One training."""

    title: str  #: What is trained, for the page.
    steps: int  #: How many steps it has.
    checkpoint_every: int  #: A state is stored every so many steps; an audit that was stopped goes on from one.
    draft: Draft  #: Drafts its order.
    seconds: float  #: What a step is expected to take on this machine.


def _images(model: str | ResNetLayout, batch: int) -> Draft:
    def draft(_text: Path | None, steps: int, every: int, precision: AnyPrecision | None) -> OrderDraft:
        rng = np.random.default_rng(0)
        labels = rng.integers(0, 10, _IMAGES)
        # Made up, but to be learned: each class has a picture of its own, under noise.
        pictures = rng.integers(64, 192, (10, 3, 32, 32))
        images = (pictures[labels] + rng.integers(-64, 64, (_IMAGES, 3, 32, 32))).astype(np.uint8)
        return order_resnet(
            images, labels, model=model, steps=steps, batch_size=batch, checkpoint_every=every, precision=precision
        )

    return draft


def text_tokens(text: Path | None, vocabulary: int, rows: int) -> Tokens:
    """Return the tokens that are trained on: the bytes of a text, or made-up ones.

    Args:
        text: A file of text, or None.
        vocabulary: That of the model; bytes are its first 256 tokens.
        rows: How many rows are needed where they are made up.
    """
    if text is not None:
        return Tokens(np.frombuffer(text.read_bytes(), np.uint8).astype(np.int32), vocabulary, text)
    made_up = np.random.default_rng(0).integers(0, vocabulary, rows * (_SEQUENCE + 1)).astype(np.int32)
    return Tokens(made_up, vocabulary, Path("made up"))


def _gpt2(text: Path | None, steps: int, every: int, precision: AnyPrecision | None) -> OrderDraft:
    shape, batch = gpt2.SIZES["124M"], 8
    torch.manual_seed(0)  # the recipe's own drawing, the same on every machine, takes minutes at this size
    model = gpt2.Gpt2(shape)
    for parameter in model.parameters():
        nn.init.normal_(parameter, std=gpt2.DEVIATION)
    return gpt2.order_gpt2(
        text_tokens(text, shape.vocabulary, 64 * batch),
        size=shape,
        weights=Weights(Path("made up"), {name: one.detach() for name, one in model.named_parameters()}),
        sequence=_SEQUENCE,
        batch_size=batch,
        steps=steps,
        learning_rate=5e-5,
        checkpoint_every=every,
        precision=precision,
    )


_SMALL = _images(ResNetLayout(BasicBlock, (1, 1, 1, 1), width=8), 8)
JOBS: Mapping[str, WholeJob] = {
    "resnet50": WholeJob("ResNet-50, 32x32, batch 64", 40, 10, _images("resnet50", 64), 12),
    "gpt2": WholeJob("GPT-2 124M, sequence 64, batch 8", 16, 4, _gpt2, 40),
    "rehearsal": WholeJob("small ResNet, batch 8: a rehearsal", 6, 2, _SMALL, 0.1),
}
"""The trainings by name; the last one is there to try the command."""


# One training: ordered, recorded and audited; each goes on where it was stopped.


@dataclass(frozen=True)
class Pieces:
    """The files of one training."""

    folder: Path  #: Where they lie.
    job: WholeJob  #: What is trained.
    text: Path | None  #: The text that a language model learns; None for made-up tokens.
    threads: int  #: Threads on the CPU.
    precision: AnyPrecision | None = None  #: That of the order, if it is not the recipe's own.

    @property
    def order(self) -> Path:
        """The order."""
        return self.folder / "job.cfoil"

    @property
    def run(self) -> Path:
        """The run."""
        return self.folder / "run.cfoil"

    def with_margin(self, margin: str) -> Pieces:
        """Return a short training with a margin, a name of :data:`MARGINS`."""
        short = replace(self.job, steps=SHORT, checkpoint_every=SHORT)
        precision = Precision() if margin == PROVEN else Precision(proven=False, margin_bits=int(margin[1:]))
        return replace(self, folder=self.folder / margin, job=short, precision=precision)

    def write_order(self) -> Values:
        """Write the order."""
        self.folder.mkdir(parents=True, exist_ok=True)
        draft = self.job.draft(self.text, self.job.steps, self.job.checkpoint_every, self.precision)
        draft.write(self.order, trial=False)
        return {"operators": len(draft.program.nodes), "said": f"ordered, {draft.manifest.steps} steps"}

    def record(self) -> Values:
        """Record the run, or go on recording it."""
        kept, root = Rows(self.folder / "recorded.jsonl"), ""
        key, resume = key_in(self.folder), not self.run.exists()
        for event in record(self.order, self.run, key, threads=self.threads, resume=resume):
            if isinstance(event, StepRecorded):
                row = {"step": event.step, "loss": event.loss, "seconds": event.seconds}
                kept.keep({**row, "entries": event.log_entries, "bytes": event.log_bytes})
            elif isinstance(event, RecordFinished):
                root = event.run_root.hex
        rows = _in_order(kept)
        said = f"recorded {len(rows)} steps, run root {root[:16]}"
        return {"run_root": root, "bytes": self.run.stat().st_size, "steps": rows, "said": said}

    def audit(self) -> Values:
        """Audit the run, or go on auditing it."""
        kept, progress, report = Rows(self.folder / "replayed.jsonl"), self.folder / "progress", None
        progress.mkdir(exist_ok=True)
        request = AuditRequest(self.run, self.order, threads=self.threads, progress=progress, resume=True, begin=True)
        for event in run_audit(request):
            if isinstance(event, StepReplayed):
                row = {
                    name: getattr(event.row, name)
                    for name in ("step", "corrections", "contradictions", "omissions", "seconds")
                }
                kept.keep({**row, "equal": event.row.match is StepMatch.MATCH, "values": event.row.rounded_values})
            elif isinstance(event, AuditFinished):
                report = event.report
        assert report is not None, "an audit ends with its report"
        rows = _in_order(kept)
        strange = [] if report.outcome is Outcome.VERIFIED else [f"{self.job.title}: {report.reason}"]
        said = f"{report.outcome.value}, {sum(row['equal'] for row in rows)} of {len(rows)} steps equal"
        return {"outcome": report.outcome.value, "steps": rows, "strange": strange, "said": said}


def _in_order(kept: Rows) -> list[Values]:
    return [row for _, row in sorted(kept.by("step").items())]


# Ordinary float32 training on two machines at once, and how far their weights are apart after each step. Each machine
# is a process; after each step it leaves its weights in a file, which is all that is kept of them, since those of every
# step would take tens of gigabytes.


@dataclass(frozen=True)
class Apart:
    """How far two states of one training are apart."""

    step: int  #: The step after which they were compared.
    distance: float  #: The Euclidean distance of all weights.
    relative: float  #: That divided by the length of the first machine's weights.
    largest: float  #: The largest distance of one weight.
    differing: int  #: How many weights differ, of ``weights``.
    weights: int  #: How many there are.


def apart(step: int, one: FloatArray, other: FloatArray) -> Apart:
    """Compare the weights of two machines after a step, in float64."""
    difference = np.subtract(one, other, dtype=np.float64)
    distance, length = float(np.linalg.norm(difference)), float(np.linalg.norm(one.astype(np.float64)))
    largest, differing = float(np.abs(difference).max(initial=0.0)), int(np.count_nonzero(difference))
    return Apart(step, distance, distance / length if length else 0.0, largest, differing, one.size)


def _weights_file(folder: Path, machine: str) -> Path:
    return folder / f"ordinary-{machine}.f32"


def _state_file(folder: Path, machine: str, step: int) -> Path:
    return folder / f"ordinary-{machine}-{step:05}.pt"


def train_one(named: str, machine: str, threads: str) -> None:
    """Be one machine: train a step for each number on standard input, from the state kept after the step before.

    Each number comes back on standard output when the weights lie in their file.

    Args:
        named: The folder of the training, whose order is written.
        machine: Key of :data:`MACHINES`; the environment of this process is that machine's.
        threads: Threads on the CPU.
    """
    opened, folder = open_machine("cpu", int(threads)), Path(named)
    with BundleReader.open(folder / "job.cfoil") as reader:
        job = load_order(reader)
    interpreter, state = Interpreter(job.program, opened.device, torch.float32), None
    for line in sys.stdin:
        step = int(line)
        if state is None:
            kept = _state_file(folder, machine, step - 1)
            state = job.initial if step == 1 else torch.load(kept, weights_only=True)
        state = interpreter.run(job.inputs(step, state)).state
        # What has an optimizer slot is trained; running statistics of a norm are far larger than any weight.
        trained = sorted({slot.partition(":")[2] for slot in state if ":" in slot} & state.keys())
        weights = torch.cat([state[name].float().reshape(-1) for name in trained])
        weights.numpy().tofile(_weights_file(folder, machine))
        if step % KEEP_EVERY == 0:
            torch.save(dict(state), _state_file(folder, machine, step))
        print(step, flush=True)


@contextmanager
def _machines(pieces: Pieces) -> Iterator[dict[str, subprocess.Popen[str]]]:
    # Both at once: more threads than cores wait for each other most of the time.
    threads = str(max(1, pieces.threads // len(MACHINES)))
    started = {
        name: subprocess.Popen(
            [sys.executable, "-c", _TRAIN, str(pieces.folder), name, threads],
            env=environment(**variables), stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, encoding="utf-8",
        )
        for name, variables in MACHINES.items()
    }  # fmt: skip
    try:
        yield started
    finally:
        for process in started.values():
            process.kill()
            process.wait()


def train_apart(pieces: Pieces) -> Values:
    """Train on both machines, step by step, or go on with that."""
    kept, folder = Rows(pieces.folder / "apart.jsonl"), pieces.folder
    # The last step whose state both machines kept.
    steps = [{int(path.stem.rsplit("-", 1)[1]) for path in folder.glob(f"ordinary-{name}-*.pt")} for name in MACHINES]
    with _machines(pieces) as machines:
        for step in range(max(set.intersection(*steps), default=0) + 1, pieces.job.steps + 1):
            for process in machines.values():
                assert process.stdin is not None
                process.stdin.write(f"{step}\n")
                process.stdin.flush()
            for name, process in machines.items():
                assert process.stdout is not None
                if process.stdout.readline().strip() != str(step):
                    raise RuntimeError(f"the machine '{name}' ended at step {step}: {process.wait()}")
            kept.keep(asdict(apart(step, *(np.fromfile(_weights_file(folder, name), np.float32) for name in machines))))
            if step % KEEP_EVERY == 0:
                for name in machines:
                    _state_file(folder, name, step - KEEP_EVERY).unlink(missing_ok=True)
    rows = _in_order(kept)
    said = f"{rows[-1]['relative']:.2g} of the weights' length apart after step {rows[-1]['step']}"
    # Without a difference the machines would be no two machines, and equal replays would show nothing.
    same = [] if any(row["differing"] for row in rows) else ["Ordinary training was the same on both machines."]
    return {"steps": rows, "said": said, "strange": same}


# The whole.


def _named(options: Namespace) -> list[str]:
    chosen = options.jobs or list(JOBS)[:2]
    return [*chosen, *(f"{name}{_UNDER}{profile}" for profile in options.precision for name in chosen)]


def _job(name: str) -> WholeJob:
    """The training of a name; under another profile it has that behind it."""
    plain, _, profile = name.partition(_UNDER)
    return replace(JOBS[plain], title=f"{JOBS[plain].title}, {profile}") if profile else JOBS[plain]


def _names() -> list[str]:
    return [*JOBS, *(f"{name}{_UNDER}{profile}" for name in JOBS for profile in PROFILES)]


def cells(options: Namespace) -> list[Cell]:
    """Return the cells of some trainings: whole ones first, then the short ones of the margins."""
    found, here, there = [], MACHINES[THIS], MACHINES[OTHER]
    for name in _named(options):
        whole = _job(name).steps * _job(name).seconds
        found.append(Cell(f"{name}/order", 60, _DAY))
        found.append(Cell(f"{name}/record", whole, _DAY, alone=True, variables=here))
        found.append(Cell(f"{name}/audit", _SLOWER * whole, _DAY, alone=True, variables=there))
        if _UNDER not in name:
            found.append(Cell(f"{name}/apart", whole, _DAY, alone=True, variables=here))
    for name in options.jobs or list(JOBS)[:2]:
        step = _job(name).seconds
        for margin in MARGINS:
            found.append(Cell(f"{name}/record-{margin}", 60 + SHORT * step, _DAY, variables=here))
            found.append(Cell(f"{name}/audit-{margin}", 60 + SHORT * _SLOWER * step, _DAY, variables=there))
    return found


def _measure(options: Namespace, key: str) -> Values:
    name, what = key.split("/")
    kind, _, margin = what.partition("-")
    profile = PROFILES.get(name.partition(_UNDER)[2])
    pieces = Pieces(options.out / name, _job(name), options.text and options.text.resolve(), options.threads, profile)
    if not margin:
        return {"order": pieces.write_order, "record": pieces.record, "audit": pieces.audit}.get(
            kind, lambda: train_apart(pieces)
        )()
    pieces = pieces.with_margin(margin)
    if kind == "record":
        pieces.write_order()
        return pieces.record()
    # That a replay parts from a run with too small a margin is what is looked for.
    return {**pieces.audit(), "strange": []}


def _counts(rows: Sequence[Values]) -> list[str]:
    return [f"{sum(row[what] for row in rows):,}" for what in ("corrections", "contradictions", "omissions")]


def _run_row(job: WholeJob, recorded: Values, audit: Values | None) -> list[str]:
    def median(rows: Sequence[Values]) -> str:
        return f"{sorted(row['seconds'] for row in rows)[len(rows) // 2]:.3g}"

    steps = recorded["steps"]
    log, losses = sum(row["bytes"] for row in steps), f"{steps[0]['loss']:.3f}, {steps[-1]['loss']:.3f}"
    head, tail = [job.title, str(len(steps)), median(steps)], [losses, size(recorded["bytes"])]
    if audit is None:
        return [*head, *["not yet"] * 3, size(log), *["-"] * 4, *tail]
    rows = audit["steps"]
    equal = f"{sum(row['equal'] for row in rows)} of {len(steps)}"
    values, log_there = sum(row["values"] for row in rows), sum(row["bytes"] for row in steps[: len(rows)])
    bits = f"{8 * log_there / values:.5f}" if values else "-"
    return [*head, median(rows), audit["outcome"], equal, size(log), bits, *_counts(rows), *tail]


def _so_far(folder: Path) -> Values | None:
    """What an audit that is not done has replayed; None for nothing."""
    rows = _in_order(Rows(folder / "replayed.jsonl"))
    return {"steps": rows, "outcome": f"not yet: {len(rows)} replayed"} if rows else None


def _apart_row(job: WholeJob, rows: Sequence[Values], audit: Values | None) -> list[str]:
    first, last = rows[0], rows[-1]
    equal = audit is not None and all(row["equal"] for row in audit["steps"])
    after = f"{last['relative']:.2g} (step {last['step']})"
    differ = f"{100 * last['differing'] / last['weights']:.1f} %"
    return [job.title, f"{first['relative']:.2g}", after, differ, f"{last['largest']:.2g}", "0" if equal else "not yet"]


def _margin_row(margin: str, recorded: Sequence[Values], audit: Values) -> list[str]:
    name = "proven" if margin == PROVEN else f"2^(E-{margin[1:]})"
    log = [f"{sum(row['entries'] for row in recorded):,}", size(sum(row["bytes"] for row in recorded))]
    equal = f"{sum(row['equal'] for row in audit['steps'])} of {len(recorded)}"
    return [name, *log, *_counts(audit["steps"]), equal, audit["outcome"]]


def sections(results: Results, options: Namespace) -> Sections:
    """Return the part of the page."""
    found = {name: figures(results, f"{name}/") for name in _names()}
    found = {name: each for name, each in found.items() if each}
    runs = [
        _run_row(_job(name), each["record"], each.get("audit") or _so_far(options.out / name))
        for name, each in found.items()
        if "record" in each
    ]
    distances = [
        _apart_row(_job(name), each["apart"]["steps"], each.get("audit"))
        for name, each in found.items()
        if "apart" in each
    ]
    margins = []
    for name, each in found.items():
        there = [margin for margin in MARGINS if f"audit-{margin}" in each]
        rows = [_margin_row(margin, each[f"record-{margin}"]["steps"], each[f"audit-{margin}"]) for margin in there]
        margins.append(f"*{_job(name).title}*\n\n{markdown(_MARGIN_HEADS, rows)}" if rows else "")
    text = "made-up tokens" if options.text is None else options.text.name
    return on_page(
        "paper-experiments.md", "whole",
        f"{origins(results)} The language model learns {text}; images are made up.", markdown(_HEADS, runs),
        "**Weights of two machines, apart.** Ordinary float32 training, as the order says, on both machines at once:",
        markdown(_APART_HEADS, distances),
        f"**Margins.** {SHORT} steps, recorded here and replayed on the other machine. A *proven* margin follows from "
        "an error bound of each operator and so adapts to it; 2^(E-m) is the same for all.", *margins,
    )  # fmt: skip


_HEADS = (
    "training", "steps", "recorded, s a step", "replayed on SSE4, s a step", "outcome", "steps with equal states",
    "log", "bits per value", "corrections", "contradictions", "omissions", "loss, first and last", "run file",
)  # fmt: skip
_APART_HEADS = (
    "training", "distance / length after step 1", "after the last", "weights that differ then", "largest difference",
    "Counterfoil's, after every step",
)  # fmt: skip
_MARGIN_HEADS = (
    "margin", "logged", "log", "taken from the log there", "contradictions", "omissions", "equal states", "outcome",
)  # fmt: skip


def draw(results: Results, path: Path) -> None:
    """Draw how far two machines are apart after each step, and that Counterfoil's are not."""

    def panel(name: str, rows: Sequence[Mapping[str, Any]]) -> Panel:
        # A logarithm has no 0: ours is drawn on the floor, below everything that is not 0.
        heights = [math.log10(row["relative"]) for row in rows if row["relative"] > 0]
        floor = math.floor(min(heights, default=-8)) - 1
        far = [(row["step"], math.log10(row["relative"]) if row["relative"] > 0 else floor) for row in rows]
        curves = [
            Curve("Counterfoil: 0", tuple((step, floor) for step, _ in far)),
            Curve("ordinary float32", tuple(far)),
        ]
        ticks = [(tick, f"1e{tick}") for tick in range(floor + 1, math.ceil(max(heights, default=0)) + 1)]
        label = "distance of the weights / their length"
        return Panel("step", label, curves, False, JOBS[name].title, [(floor, "0"), *ticks])

    found = {name: figures(results, f"{name}/") for name in JOBS}
    panels = [panel(name, each["apart"]["steps"]) for name, each in found.items() if "apart" in each]
    draw_panels(panels, path)


WHOLE = Benchmark(
    __doc__,
    cells,
    _measure,
    sections,
    (
        some_of("jobs", JOBS),
        some_of("--precision", PROFILES),
        argument("--text", type=Path, help="a file of text for the language model; made-up tokens otherwise"),
    ),
    out="bench-results/whole",
    about=lambda options: {"text": "made-up tokens" if options.text is None else options.text.name},
    picture=draw,
)
