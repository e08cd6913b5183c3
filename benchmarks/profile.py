"""Where the time of a step goes, and how far it is from what it must take.

A few steps are recorded by the recorder and audited by the auditor, as everybody's are, with their bundle in a
temporary folder. Meanwhile a timer interrupts the main thread a thousand times a second and notes which function it
found: the time since the last interruption is that function's, by the table :data:`PARTS` of files of the engine.
Nothing of the engine is changed or wrapped, so the code may be rewritten without this module.

The roofline says what a step must take at the least: every value written once and read once for each use, at the rate
at which this machine copies memory, and the products at the rate at which it multiplies matrices in float64.
"""

from __future__ import annotations

import re
import resource
import signal
import sys
import time
from argparse import Namespace
from collections import defaultdict
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import cache
from types import FrameType

import torch

from benchmarks.forms import Forms
from benchmarks.measure import Benchmark, Cell, Results, Sections, Values, argument, figures, seconds_of, some_of
from benchmarks.pages import markdown, paragraphs
from benchmarks.sessions import recorded_steps, replayed_steps
from benchmarks.workloads import WORKLOADS
from counterfoil.training.order import OrderDraft
from counterfoil_core.arithmetic.machine import Machine, open_machine
from counterfoil_core.base.dtypes import ITEM_BYTES
from counterfoil_core.operators.facts import OperatorClass
from counterfoil_core.operators.node import Node
from counterfoil_core.program.estimate import product_flops
from counterfoil_core.program.graph import Program, node_values

INTERVAL = 0.001
"""Seconds between two looks."""
WARM_UP = 2
"""Steps that are not looked at: kernels are loaded, memory is taken."""
SECONDS = 3.0
"""So long each form is looked at, roughly."""
FLOAT64_BYTES = 8
_TRIES = 10
"""Of what is measured for the roofline; the best counts."""

WAITING = "waiting for what is done behind the step"
PARTS: tuple[tuple[str, str, str], ...] = (
    ("kernels/(cpu/regions|threads|buffers)", "", ""),
    ("kernels/cpu/(convolutionloops|convolutiontables|pairsums|tiles)", "", "compute"),
    ("grid/(tiles|instructions|chains)|compute/chain", "", "chains: compute and rounding in one sweep"),
    ("compute/(interpreter|operation|plan)", r"\b_?native\b|own_form|Operation.__call__|\b_result$", "compute"),
    (
        "compute/(interpreter|plan)",
        r"\b(load|given|keep|store|stored|result|all_finite|_unshared)$",
        "state and copies",
    ),
    (
        "compute/(definitions|exactly|draws|rewriting)|families/memoryreuse|kernels/exact|cpu/(norms|philox)",
        "",
        "compute",
    ),
    ("grid/(infinities|margin)|families/magnitude|operators/(.*/)?bounds|cpu/(formulas|measures)", "", "scale rules"),
    ("arithmetic/families/", "", ""),  # a scale, a form or a definition: whoever asks for it says which
    ("grid/rounder", "_scales|measured", "scale rules"),
    ("kernels/.*/rounding|grid/(rounder|replayrounder|fingerprints)", "fingerprint|mix|watch", "fingerprints"),
    ("grid/exactresults", "", "fingerprints"),
    ("grid/(rounder|replayrounder)", r"\b(_round|_put|_merged)$", "log"),
    ("grid/(log|neighbours|directions)|kernels/result|arithmetic/profiles", "", "log"),
    ("grid/(rounder|replayrounder)", "__call__|_grid|_checked", "dispatch"),
    ("arithmetic/grid/|kernels/(.*/rounding|grid|result)", "", "rounding"),
    ("base/behind", "", WAITING),
    ("commit/|kernels/cpu/sha256", "", "hashing"),
    ("training/(recording|stepfile)|bundle/|base/wholefiles", "", "writing and reading"),
    ("arithmetic/|program/|operators/|base/(generators|turns|cancel)", "", "dispatch"),
)
"""Files of the engine, qualified names of functions there, and the part that they are: the first that fits. The empty
one is its caller's."""
OTHER = "recorder and auditor"
"""What none of them names."""
BETWEEN = "(before and after)"
"""The kind of what belongs to no operator."""
_BETWEEN = ("load", "given", "keep", "store", "result")
ORDER = (
    "compute",
    "chains: compute and rounding in one sweep",
    "scale rules",
    "rounding",
    "log",
    "fingerprints",
    "state and copies",
    "dispatch",
    "hashing",
    "writing and reading",
    WAITING,
    OTHER,
)


_WITHIN = re.compile(r".*/counterfoil(?:_core)?/(.*)")
"""A module of the engine, and its path behind its package."""


@cache
def part_of(file: str, function: str) -> str | None:
    """Return the part of a step that a function is; empty for that of its caller, None outside the engine."""
    within = _WITHIN.search(file.replace("\\", "/"))
    if within is None:
        return None
    for pattern, functions, part in PARTS:
        if re.search(pattern, within[1]) and re.search(functions, function):
            return part
    return OTHER


@dataclass
class Samples:
    """Where the main thread was found."""

    parts: dict[str, float] = field(default_factory=lambda: defaultdict(float))  #: Seconds by part of a step.
    #: Seconds by operator kind and part.
    kinds: dict[tuple[str, str], float] = field(default_factory=lambda: defaultdict(float))
    seconds: float = 0.0  #: Seconds in all.
    steps: int = 0  #: Steps that these were.
    faults: int = 0  #: Page faults.

    def add(self, frame: FrameType | None, seconds: float) -> None:
        """Count time for the innermost function that is a part, and for the operator that is at work."""
        part = ""
        kind = ""
        while frame is not None and not (part and kind):
            part = part or part_of(frame.f_code.co_filename, frame.f_code.co_qualname) or ""
            kind = kind or _operator(frame)
            frame = frame.f_back
        self.parts[part or OTHER] += seconds
        self.kinds[kind or BETWEEN, part or OTHER] += seconds
        self.seconds += seconds

    def in_a_step(self) -> Values:
        """Return all of it for one step, as JSON takes it."""
        kinds: dict[str, dict[str, float]] = {}
        for (kind, part), seconds in self.kinds.items():
            kinds.setdefault(kind, {})[part] = seconds / self.steps
        parts = {part: seconds / self.steps for part, seconds in self.parts.items()}
        return {
            "parts": parts,
            "kinds": kinds,
            "seconds": self.seconds / self.steps,
            "faults": self.faults / self.steps,
        }


def _operator(frame: FrameType) -> str:
    """Return the kind of the operator that a function works on, if one of its variables is that."""
    if frame.f_code.co_name in _BETWEEN:
        return BETWEEN
    if _WITHIN.search(frame.f_code.co_filename.replace("\\", "/")) is None:
        return ""
    names = frame.f_code.co_varnames
    if "chain" in names:
        return "(chain)"
    for name in ("node", "operation", "self"):
        if name in names:
            found = frame.f_locals.get(name)
            node = found if isinstance(found, Node) else getattr(found, "node", None)
            if isinstance(node, Node):
                return node.entry.kind
    return ""


class Watch:
    """Looks at the main thread while it runs; only there can it be used."""

    def __init__(self) -> None:
        self.samples = Samples()
        self._last = 0.0

    @contextmanager
    def installed(self) -> Iterator[None]:
        """Take the interruptions; :meth:`begin` lets them come."""
        before = signal.signal(signal.SIGALRM, self._look)
        # A call of the system that is interrupted goes on by itself.
        signal.siginterrupt(signal.SIGALRM, False)
        try:
            yield
        finally:
            signal.setitimer(signal.ITIMER_REAL, 0)
            signal.signal(signal.SIGALRM, before)

    def begin(self) -> None:
        """Look from here on."""
        self.samples = Samples(faults=-_faults())
        self._last = time.perf_counter()
        signal.setitimer(signal.ITIMER_REAL, INTERVAL, INTERVAL)

    def end(self, steps: int) -> Samples:
        """Look no longer."""
        signal.setitimer(signal.ITIMER_REAL, 0)
        # What passed since the last interruption, which on a busy machine may be long.
        self._look(0, sys._getframe(1))
        self.samples.faults += _faults()
        self.samples.steps = steps
        return self.samples

    def _look(self, _: int, frame: FrameType | None) -> None:
        now = time.perf_counter()
        # A call that takes long is found once, when it is over: all of the time is its.
        self.samples.add(frame, now - self._last)
        self._last = time.perf_counter()


def _faults() -> int:
    return resource.getrusage(resource.RUSAGE_SELF).ru_minflt


def follow_steps(steps: Iterator[object], count: int, watch: Watch) -> Samples:
    """Follow steps, of which each is one item, and look at those after the warm-up."""
    done = 0
    found = Samples()
    with watch.installed():
        for done, _ in enumerate(steps, 1):
            if done == WARM_UP:
                watch.begin()
            if done == count:
                found = watch.end(count - WARM_UP)
    assert done >= count, "fewer steps came than were ordered"
    return found


def _unrounded(draft: OrderDraft, machine: Machine, count: int) -> Iterator[None]:
    with machine.kernels() as kernels:
        forms = Forms(draft, machine, kernels)
        for _ in range(count):
            forms.run()
            yield


def bytes_to_move(program: Program) -> int:
    """Return the bytes that an unrounded step moves at the least, when no two operators are made one.

    Every value is written once and read once for each use, in float64 where it is floating-point. Views move nothing.
    State tensors are read once and written once in float32.
    """
    sizes = [
        0 if t is None else t.elements * (FLOAT64_BYTES if t.floating else ITEM_BYTES[t.dtype]) for t in program.types
    ]
    moved = 0
    for node in program.nodes:
        if node.entry.operator_class is not OperatorClass.VIEW:
            moved += sum(sizes[value.number] for value in node_values(node))
            moved += sum(sizes[node.first_value : node.first_value + len(node.outputs)])
    for item in program.inputs:
        if item.kind == "state":
            writes = 1 + (item.name in program.updates)
            moved += item.type.elements * (4 if item.type.floating else ITEM_BYTES[item.type.dtype]) * writes
    return moved


def copy_rate() -> float:
    """Measure how many bytes per second are read and written when 256 MiB are copied into memory that is there."""
    source = torch.ones(2**25, dtype=torch.float64)
    target = torch.zeros_like(source)
    return 2 * source.nbytes / min(seconds_of(lambda: target.copy_(source), _TRIES))


def product_rate() -> float:
    """Measure the floating-point operations per second of a float64 product of two matrices of 1024 x 1024."""
    a = torch.randn(1024, 1024, dtype=torch.float64)
    return float(2 * 1024**3 / min(seconds_of(lambda: a @ a, _TRIES)))


def profile(options: Namespace, key: str) -> Values:
    """Look at a workload's step in three forms: unrounded, recorded, replayed."""
    threads = options.threads
    machine, workload = open_machine("cpu", threads), WORKLOADS[key]()
    rates = copy_rate(), product_rate()
    draft = workload.order(None)
    with machine.kernels() as kernels:
        forms = Forms(draft, machine, kernels)
        forms.record()
        step = min(seconds_of(forms.record, 2))
    count = WARM_UP + max(3, int(SECONDS / step))
    # One step more than is looked at: nothing is computed while the last one is hashed and written.
    draft, watch, folder = workload.order(None, count + 1), Watch(), options.out
    found = {
        "unrounded": follow_steps(_unrounded(draft, machine, count), count, watch),
        "recorded": follow_steps(recorded_steps(folder, draft, threads=threads), count, watch),
        "replayed": follow_steps(replayed_steps(folder, threads), count, watch),
    }
    copied, multiplied = map(max, rates, (copy_rate(), product_rate()))
    return {
        "name": workload.name, "forms": {form: samples.in_a_step() for form, samples in found.items()},
        "moved": bytes_to_move(draft.program), "operations": product_flops(draft.program), "copy_rate": copied,
        "product_rate": multiplied,
    }  # fmt: skip


def table(found: Values) -> str:
    """Return the parts of a step in each form, and the roofline, as Markdown."""
    forms, moved, copied = found["forms"], found["moved"], found["copy_rate"]
    least = moved / copied + found["operations"] / found["product_rate"]

    def cell(one: Values, part: str) -> str:
        spent = one["parts"].get(part)
        return f"{1e3 * spent:.1f} ms, {spent / one['seconds']:.0%}" if spent else ""

    def row(head: str, of: Callable[[Values], str]) -> list[str]:
        return [head, *(of(one) for one in forms.values())]

    def rate(one: Values) -> str:
        return f"{moved / one['seconds'] / 1e9:.2f} GB/s, {moved / one['seconds'] / copied:.0%}"

    rows = [
        row(part, lambda one, part=part: cell(one, part))  # type: ignore[misc]
        for part in ORDER
        if any(one["parts"].get(part) for one in forms.values())
    ]
    rows += [
        row("**in all**", lambda one: f"**{1e3 * one['seconds']:.1f} ms**"),
        row("page faults", lambda one: f"{one['faults']:,.0f}"),
        row("rate of what must be moved", rate),
        row("time / least time", lambda one: f"{one['seconds'] / least:.2f}"),
    ]
    said = (
        f"**{found['name']}**. A step must move {moved / 1e6:,.0f} MB (values written once and read once for each use; "
        f"this machine copies {copied / 1e9:.1f} GB/s) and multiply {found['operations'] / 1e9:.2f} GFLOP (float64: "
        f"{found['product_rate'] / 1e9:.1f} GFLOP/s): {1e3 * least:.1f} ms at the least."
    )
    return paragraphs(said, markdown(["part of a step", *forms], rows))


def operator_table(one: Values, form: str, most: int = 20) -> str:
    """Return the operator kinds that take the most time, as Markdown."""
    kinds, parts = one["kinds"], [part for part in ORDER if one["parts"].get(part)]
    slowest = sorted(kinds, key=lambda kind: -sum(kinds[kind].values()))[:most]
    rows = [
        [
            kind,
            *(
                f"{1e3 * seconds:.2f}"
                for seconds in (sum(kinds[kind].values()), *(kinds[kind].get(part, 0.0) for part in parts))
            ),
        ]
        for kind in slowest
    ]
    return f"{form}, ms a step by operator kind:\n\n{markdown(['operator', 'in all', *parts], rows)}"


def sections(results: Results, options: Namespace) -> Sections:
    """Return a part of the page for each workload."""
    found = {}
    for key, one in figures(results).items():
        more = [operator_table(each, form) for form, each in one["forms"].items()] if options.operators else []
        found["benchmarks.md", f"profile-{key}"] = paragraphs(table(one), *more, results[key].origin)
    return found


PROFILE = Benchmark(
    "Where the time of a step goes, and how far it is from what it must take.",
    lambda options: [Cell(key, alone=True, fresh=True) for key in options.workloads or WORKLOADS],
    profile,
    sections,
    (
        some_of("workloads", WORKLOADS),
        argument("--operators", action="store_true", help="print a table by operator kind too"),
    ),
)
