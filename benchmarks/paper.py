"""The paper's four experiments, measured on this machine, beside the published figures.

Each is one training step in every form, in processes of their own: that bounds the memory, and gives the peak of it.
The first is at a small batch, the last at the largest that this machine can do in the time that it is given.
"""

from __future__ import annotations

import json
import math
import os
import resource
import subprocess
import sys
import time
from argparse import Namespace
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from statistics import median
from types import MappingProxyType
from typing import TypeVar

import numpy as np
import torch
from torch import nn
from torch.nn import functional

from benchmarks.forms import Forms
from benchmarks.measure import (
    Benchmark,
    Cell,
    Results,
    Sections,
    Values,
    argument,
    environment,
    figures,
    origins,
    peak_memory,
    some_of,
)
from benchmarks.pages import duration, markdown, size, tabulated
from benchmarks.sessions import root_of
from benchmarks.workloads import CPU, STEPS, EagerStep, eager_step, public_gpt2, sgd
from counterfoil import __version__
from counterfoil.training.images import Labels, Normalisation, Pixels
from counterfoil.training.order import OrderDraft
from counterfoil.training.recipes import logistic
from counterfoil.training.recipes.resnet import LAYOUTS as RESNETS, ResNet, order_resnet
from counterfoil.training.recipes.vgg import LAYOUTS as VGGS, Vgg, order_vgg
from counterfoil_core.arithmetic.compute.interpreter import StepResult
from counterfoil_core.arithmetic.grid.log import encode
from counterfoil_core.arithmetic.machine import open_machine
from counterfoil_core.arithmetic.otherwise.perturbation import perturb
from counterfoil_core.base.errors import CounterfoilError, MemoryShortageError
from counterfoil_core.base.trouble import obstacles_noticed
from counterfoil_core.kernels.result import Counts

PAGE = "paper-experiments.md"
SEQUENCE, FEATURES = 64, 1024
BITS_PER_VALUE = 1.6
"""What the paper's released code writes: five decisions of three kinds in a byte."""
AIM = 500
"""The log should be at most one part in so many of the paper's encoding."""
MEMORY_EXIT = 3
"""Exit code of a process that would have needed more memory than it was given."""
LONG_SECONDS = 1.0
"""From here on a form is run once; a shorter one is repeated for as long, after a first run that warms up."""
REPETITIONS = 5
"""At least so often."""
_MEMORY_SHARE = 0.7
_CHILD = "import sys; from benchmarks.paper import child; child(sys.argv[1])"
_Result = TypeVar("_Result")


# What is measured.


@dataclass(frozen=True)
class Step:
    """One training step in two forms."""

    order: OrderDraft  #: The order whose first step is measured.
    #: Makes ordinary float32 training of the same model and batch size, one step for each call.
    eager: Callable[[], EagerStep]


@dataclass(frozen=True)
class Experiment:
    """One experiment of the paper."""

    title: str  #: What is trained, for the table.
    batch: int  #: Rows per step in the paper, or in the comparison it makes.
    rows: int  #: Rows of one epoch there.
    build: Callable[[int], Step]  #: Makes the step at a batch size, of made-up data.
    smallest: int  #: Smallest batch that is worth measuring.


def _images(batch: int) -> tuple[Pixels, Labels]:
    rng = np.random.default_rng(0)
    return rng.integers(0, 256, (batch, 3, 32, 32)).astype(np.uint8), rng.integers(0, 10, batch)


def _classifier(model: nn.Module, images: Pixels, labels: Labels, rate: float) -> EagerStep:
    x, y = Normalisation.of(images)(torch.from_numpy(images)), torch.from_numpy(labels)
    return eager_step(sgd(model, rate), lambda: functional.cross_entropy(model(x), y))


def _resnet50(batch: int) -> Step:
    data = _images(batch)
    order = order_resnet(*data, steps=STEPS, batch_size=batch)
    return Step(order, lambda: _classifier(ResNet(RESNETS["resnet50"], 3, 10), *data, 0.1))


def _vgg11(batch: int) -> Step:
    data = _images(batch)
    order = order_vgg(*data, steps=STEPS, batch_size=batch)
    return Step(order, lambda: _classifier(Vgg(VGGS["small"], 3, 10), *data, 0.01))


def _gpt2(batch: int) -> Step:
    step = public_gpt2(batch, SEQUENCE)
    return Step(step.order(None), lambda: step.eager(torch.float32, CPU))


def _logistic(batch: int) -> Step:
    table = logistic.synthetic_table(batch, FEATURES, 0)
    order = logistic.order_logistic(table.features, table.labels, steps=STEPS, batch_size=batch)

    def eager() -> EagerStep:
        model = nn.Linear(FEATURES, 1)
        rows = {"features": torch.from_numpy(table.features), "labels": torch.from_numpy(table.labels)}
        optimizer = torch.optim.SGD(model.parameters(), lr=0.5)
        return eager_step(optimizer, lambda: logistic.objective(model, rows))

    return Step(order, eager)


EXPERIMENTS: Mapping[str, Experiment] = MappingProxyType(
    {
        "resnet50": Experiment("ResNet-50 on CIFAR-10", 64, 50_000, _resnet50, 2),
        # Shakespeare, 1.1 million tokens in rows of 64.
        "gpt2": Experiment("GPT-2 124M, sequence 64", 8, 1_100_000 // SEQUENCE, _gpt2, 1),
        "vgg11": Experiment("VGG-11, 10 million parameters, on CIFAR-10", 16, 50_000, _vgg11, 2),
        "logistic": Experiment("Logistic regression, 262,144 x 1,024", 1024, 262_144, _logistic, 64),
    }
)
"""The experiments by name."""


# One measurement, in a process of its own.


def measure(name: str, batch: int, *, device: str = "cpu", threads: int | None = None) -> Values:
    """Measure an experiment in this process: what a step has, and the seconds of it in every form.

    Args:
        name: Key of EXPERIMENTS.
        batch: Rows per step.
        device: ``cpu`` or ``cuda:0``.
        threads: Threads on the CPU; None for torch's choice.

    Raises:
        DeviceError: There is no such device.
    """
    machine, step = open_machine(device, threads), EXPERIMENTS[name].build(batch)
    with machine.kernels() as kernels:
        forms = Forms(step.order, machine, kernels)
        eager = _time_eager(step) if machine.device.type == "cpu" else None
        unrounded, _ = _timed(forms.run)
        recorded, (_, result) = _timed(lambda: _record(forms))
        digested, root = _timed(lambda: root_of(result.state))
        del result
        replayed, _ = _timed(forms.replay)
        # Every reduction reversed.
        other, result = _timed(lambda: forms.replay(perturb("reversed")))
    counts, initial, there = sum(forms.counts, Counts()), step.order.initial, machine.device
    return {
        "batch": step.order.manifest.batch_size, **forms.counted, "eager32": eager, "unrounded": unrounded,
        "recorded": recorded, "replayed": replayed, "perturbed": other, "digested": digested,
        "corrections": counts.corrections, "contradictions": counts.contradictions, "omissions": counts.omissions,
        "identical": root_of(result.state) == root, "state_bytes": sum(array.nbytes for array in initial.values()),
        "peak_bytes": torch.cuda.max_memory_allocated(there) if there.type == "cuda" else peak_memory(),
        "seconds": (eager or 0.0) + unrounded + recorded + replayed + other,
    }  # fmt: skip


def _timed(call: Callable[[], _Result]) -> tuple[float, _Result]:
    """Return the seconds of a call and its result; the median of several when it is short, the first left out."""
    times = []
    while True:
        begun = time.perf_counter()
        result = call()
        times.append(time.perf_counter() - begun)
        if times[0] >= LONG_SECONDS:
            return times[0], result
        if len(times) > REPETITIONS and sum(times) >= LONG_SECONDS:
            return median(times[1:]), result


def _record(forms: Forms) -> tuple[bytes, StepResult]:
    """Run the step as a trainer does: rounded, its log encoded."""
    result = forms.record()
    return encode(forms.logs), result


def _time_eager(step: Step) -> float:
    """Seconds of a later step: the first one allocates optimizer slots."""
    run = step.eager()
    run()
    return _timed(run)[0]


def child(asked: str) -> None:
    """Measure what is asked for, as JSON, and print the result on the last line."""
    request = json.loads(asked)
    limit = request.pop("memory")
    if os.name == "posix" and limit:
        # Allocations fail beyond so many bytes, rather than have the system end some process, perhaps another's.
        resource.setrlimit(resource.RLIMIT_DATA, (limit, limit))
    try:
        with obstacles_noticed():
            print(json.dumps(measure(**request)))
    except MemoryShortageError as error:
        print(error.detail, file=sys.stderr)
        raise SystemExit(MEMORY_EXIT) from error
    except CounterfoilError as error:
        print(error, file=sys.stderr)
        raise SystemExit(1) from error


# One experiment, at the largest batch that this machine can do in a given time.


class _OutOfMemoryError(CounterfoilError):
    """A measurement needs more memory than is free."""


def measure_alone(name: str, batch: int, options: Namespace) -> Values:
    """Measure in a process of its own, which may take a share of the free memory.

    Raises:
        CounterfoilError: The measurement failed; the sentence says why.
    """
    asked = {"name": name, "batch": batch, "device": options.device, "threads": options.threads}
    request = json.dumps({**asked, "memory": int(_MEMORY_SHARE * free_memory())})
    ended = subprocess.run(
        [sys.executable, "-c", _CHILD, request], env=environment(), capture_output=True, text=True, check=False
    )
    if ended.returncode:
        lines = ended.stderr.strip().splitlines()
        reason = lines[-1].rstrip(".") if lines else f"exit code {ended.returncode}"
        if ended.returncode < 0:
            reason = f"the process was ended by signal {-ended.returncode}, perhaps for want of memory"
        kind = _OutOfMemoryError if ended.returncode == MEMORY_EXIT else CounterfoilError
        raise kind(f"Measuring {EXPERIMENTS[name].title} with {batch} rows failed: {reason}.", detail=ended.stderr)
    found: Values = json.loads(ended.stdout.strip().splitlines()[-1])
    return found


def free_memory() -> int:
    """Free memory in bytes; 0 where the system does not say."""
    try:
        lines = Path("/proc/meminfo").read_text().splitlines()
    except OSError:
        return 0
    return next((int(line.split()[1]) * 1024 for line in lines if line.startswith("MemAvailable")), 0)


def run_experiment(options: Namespace, name: str) -> Values:
    """Measure an experiment at its smallest batch, and at the largest that was possible."""
    experiment = EXPERIMENTS[name]
    small = large = measure_alone(name, experiment.smallest, options)
    batch = min(2 * small["batch"], experiment.batch)
    while batch > large["batch"]:
        try:
            large = measure_alone(name, batch, options)
        except _OutOfMemoryError:
            experiment = replace(experiment, batch=max(batch // 2, large["batch"]))
        batch = affordable_batch(experiment, small, large, options.seconds)
    said = (
        f"recorded in {large['recorded']:.2f} s, {large['recorded'] / large['unrounded']:.2f} times the unrounded step"
    )
    return {"small": small, "large": large, "said": said}


def affordable_batch(experiment: Experiment, small: Values, large: Values, seconds: float) -> int:
    """Return the largest batch whose steps take at most so long, or else the batch that was measured last.

    The batch is the experiment's, divided by a power of two. Time is taken to lie on the line through two measurements.
    """
    batch = experiment.batch
    while batch > large["batch"] and on_line(small, large, batch, "seconds") > seconds:
        batch //= 2
    return int(max(batch, large["batch"]))


def on_line(small: Values, large: Values, batch: int, quantity: str) -> float:
    """A quantity at a batch, on the line through two measurements; through one and the origin if they are the same."""
    here: float = large[quantity]
    if batch == large["batch"]:
        return here
    upper: int = large["batch"]
    if small["batch"] == upper:
        return here * batch / upper
    slope: float = (here - small[quantity]) / (upper - small["batch"])
    return here + slope * (batch - upper)


# What is shown of it.


@dataclass(frozen=True)
class Extremes:
    """What was measured of one experiment."""

    name: str  #: Key of EXPERIMENTS.
    small: Values  #: At the smallest batch.
    large: Values  #: At the largest batch that was possible.

    @property
    def experiment(self) -> Experiment:
        """What was measured."""
        return EXPERIMENTS[self.name]

    @property
    def about(self) -> str:
        """Whether the paper's batch is larger than what was measured."""
        return "extrapolated" if self.large["batch"] < self.experiment.batch else "measured"

    @property
    def batch(self) -> str:
        """The batch that was measured, of that of the paper."""
        whole = "" if self.about == "measured" else f" of {self.experiment.batch}"
        return f"{self.large['batch']}{whole}"

    def full(self, quantity: str) -> float:
        """A quantity at the paper's batch: measured, or on the line through both measurements."""
        return on_line(self.small, self.large, self.experiment.batch, quantity)


def encoded_in_the_paper(values: float) -> float:
    """Bytes that the paper's encoding takes for so many values."""
    return values * BITS_PER_VALUE / 8


def _share(ratio: float) -> str:
    """One part in ``ratio``, and whether that reaches the aim."""
    return f"1/{ratio:,.0f}" + ("" if ratio >= AIM else f", short of 1/{AIM}")


def sections(results: Results, options: Namespace) -> Sections:
    """Return the measured parts of the page."""
    measured = figures(results)
    found = [
        Extremes(name, measured[name]["small"], measured[name]["large"]) for name in EXPERIMENTS if name in measured
    ]
    origin = (
        f"Written by `python -m benchmarks paper --seconds {options.seconds:g}`: {origins(results)} "
        f"Counterfoil {__version__}."
    )
    tables = {"log": _log_table, "time": _time_table, "replay": _replay_table, "published": _published}
    return {(PAGE, "origin"): origin, **{(PAGE, part): make(found) for part, make in tables.items()}}


_Columns = Mapping[str, str | Callable[[Extremes], object]]
_HEAD: _Columns = {"experiment": lambda one: one.experiment.title, "batch measured": lambda one: one.batch}


def _large(form: str) -> Callable[[Extremes], str]:
    return lambda one: form.format(**one.large)


def _log_table(found: Sequence[Extremes]) -> str:
    columns: _Columns = {
        **_HEAD,
        "values rounded": _large("{values:,}"),
        "logged": _large("{entries:,}"),
        "log": lambda one: size(one.large["log_bytes"]),
        "bits per value": lambda one: f"{8 * one.large['log_bytes'] / one.large['values']:.5f}",
        "log at the paper's batch": lambda one: f"{size(one.full('log_bytes'))}, {one.about}",
        "paper's encoding there": lambda one: size(encoded_in_the_paper(one.full("values"))),
        "ours is": lambda one: _share(encoded_in_the_paper(one.full("values")) / one.full("log_bytes")),
    }
    return tabulated(found, columns)


def _time_table(found: Sequence[Extremes]) -> str:
    def time_of(form: str) -> Callable[[Extremes], str]:
        return lambda one: duration(math.nan if one.large[form] is None else one.large[form])

    def by(form: str, base: str) -> Callable[[Extremes], str]:
        return lambda one: f"{one.large[form] / one.large[base]:.2f}" if one.large[base] else "-"

    columns: _Columns = {
        **_HEAD,
        "eager float32": time_of("eager32"),
        "unrounded float64": time_of("unrounded"),
        "recorded": time_of("recorded"),
        "replayed": time_of("replayed"),
        "recorded / unrounded": by("recorded", "unrounded"),
        "replayed / unrounded": by("replayed", "unrounded"),
        "recorded / eager float32": by("recorded", "eager32"),
    }
    return tabulated(found, columns)


def _replay_table(found: Sequence[Extremes]) -> str:
    columns: _Columns = {
        **_HEAD,
        "same state root": lambda one: "yes" if one.large["identical"] else "NO",
        "corrections": _large("{corrections:,}"),
        "contradictions": _large("{contradictions}"),
        "omissions": _large("{omissions}"),
        "a checkpoint": lambda one: size(one.large["state_bytes"]),
        "its digest": lambda one: duration(one.large["digested"]),
        "peak memory of all forms": lambda one: size(one.large["peak_bytes"]) if one.large["peak_bytes"] else "-",
    }
    return tabulated(found, columns)


def _published(found: Sequence[Extremes]) -> str:
    """What others published, beside what of it was measured here."""
    rows = []
    for one in found:
        title, batch = one.experiment.title, one.experiment.batch
        log, recorded, replayed = (one.full(quantity) for quantity in ("log_bytes", "recorded", "replayed"))
        theirs = {"resnet50": 210e6, "gpt2": 42e6}.get(one.name)
        if theirs is not None:
            code = "105 MB forward and 105 MB backward" if one.name == "resnet50" else "42 MB"
            ours = f"{size(log)}, {one.about}: {_share(theirs / log)}"
            rows.append([f"log of a step of {title}, batch {batch}", f"{code} (the paper's released code)", ours])
        elif one.name == "vgg11":
            ours = f"{duration(recorded)} to record, {duration(replayed)} to replay, {one.about}"
            rows.append(["VGG-11, 10 million parameters, a batch of 16", "22 min to prove (Kaizen)", ours])
        else:
            steps = -(-one.experiment.rows // batch)
            ours = (
                f"{duration(steps * recorded)} to record, {duration(steps * replayed)} to replay, {size(steps * log)} "
                f"of log: {steps} times what one step takes"
            )
            rows.append(["Logistic regression, 262,144 x 1,024, an epoch", "72 s and 350 MB (zkPoT)", ours])
    return markdown(["what", "published", "ours on this machine"], rows)


PAPER = Benchmark(
    "The paper's experiments, each at the largest batch that the machine can do in a given time.",
    lambda options: [
        Cell(name, options.seconds, 100 * options.seconds + 3600, alone=True)
        for name in options.experiments or EXPERIMENTS
    ],
    run_experiment,
    sections,
    (
        some_of("experiments", EXPERIMENTS),
        argument(
            "--seconds", type=float, default=120.0, help="time for one experiment, roughly; its batch is made to fit"
        ),
        argument("--device", default="cpu", help="cpu or cuda:0 (default cpu)"),
    ),
    threads=None,
)
