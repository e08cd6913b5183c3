"""Measures one training step in every form, in a process of its own.

A process for each measurement bounds the memory, and gives the peak of it.
"""

from __future__ import annotations

import json
import math
import os
import statistics
import sys
import time
from collections.abc import Callable
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TypeVar

from benchmarks.forms import Forms, peak_memory
from benchmarks.paper.experiments import EXPERIMENTS, Step
from counterfoil_core.arithmetic.compute.interpreter import StepResult
from counterfoil_core.arithmetic.grid.log import encode
from counterfoil_core.arithmetic.machine import open_machine
from counterfoil_core.arithmetic.otherwise.perturbation import perturb
from counterfoil_core.base.digest import Digest
from counterfoil_core.base.errors import CounterfoilError, MemoryShortageError
from counterfoil_core.base.trouble import obstacles_noticed
from counterfoil_core.commit.state import state_root
from counterfoil_core.kernels.result import Counts

MEMORY_EXIT = 3
"""Exit code of a process that would have needed more memory than it was given."""
LONG_SECONDS = 1.0
"""From here on a form is run once; a shorter one is repeated for as long, after a first run that warms up."""
REPETITIONS = 5
"""At least so often."""
_Result = TypeVar("_Result")


@dataclass(frozen=True)
class Measurement:
    """What one experiment gave at one batch size."""

    experiment: str  #: Its name.
    batch: int  #: Rows per step.
    parameters: int  #: Trainable values.
    operators: int  #: Operators of the program.
    values: int  #: Values rounded in a step.
    entries: int  #: Logged rounding decisions of a step.
    log_bytes: int  #: Bytes of a step's log.
    eager32: float  #: Seconds of a step of ordinary eager training in float32.
    unrounded: float  #: Seconds of a step of the program in float64 without rounding.
    recorded: float  #: Seconds of the same with rounding and log.
    replayed: float  #: Seconds of the same, following the log.
    perturbed: float  #: Seconds of the same with every reduction reversed.
    digested: float  #: Seconds for the state root of one state.
    corrections: int  #: Directions taken from the log under reversed reductions.
    contradictions: int  #: Contradictions there.
    omissions: int  #: Omissions there.
    identical: bool  #: Whether that state has the recorded state root.
    state_bytes: int  #: Bytes of one state: what a checkpoint stores.
    peak_bytes: int  #: Peak memory of the process (CUDA: of the device).

    @property
    def seconds(self) -> float:
        """Seconds of one step in every form."""
        eager = 0.0 if math.isnan(self.eager32) else self.eager32
        return eager + self.unrounded + self.recorded + self.replayed + self.perturbed

    def to_json(self) -> str:
        """Return the JSON form."""
        return json.dumps(asdict(self))

    @classmethod
    def from_json(cls, text: str) -> Measurement:
        """Read the JSON form of our own child process."""
        return cls(**json.loads(text))


def measure(
    name: str, batch: int, *, device: str = "cpu", threads: int | None = None, images: Path | None = None
) -> Measurement:
    """Measure an experiment in this process.

    Args:
        name: Key of EXPERIMENTS.
        batch: Rows per step.
        device: ``cpu`` or ``cuda:0``.
        threads: Threads on the CPU; None for torch's choice.
        images: Folder of CIFAR-10; None for made-up images.

    Raises:
        DeviceError: There is no such device.
        DataError: The images cannot be used.
    """
    machine = open_machine(device, threads)
    step = EXPERIMENTS[name].build(batch, images)
    with machine.kernels() as kernels:
        forms = Forms(step.order, machine, kernels)
        eager = _time_eager(step) if machine.device.type == "cpu" else float("nan")
        unrounded, _ = _timed(forms.run)
        recorded, (log, result) = _timed(lambda: _record(forms))
        digested, root = _timed(lambda: _root(result))
        del result
        replayed, _ = _timed(forms.replay)
        other, result = _timed(lambda: forms.replay(perturb("reversed")))
    counts = sum(forms.counts, Counts())
    manifest, initial = step.order.manifest, step.order.initial
    return Measurement(
        experiment=name,
        batch=manifest.batch_size,
        parameters=sum(array.size for item, array in initial.items() if _is_parameter(item, step)),
        operators=len(step.order.program.nodes),
        values=sum(site.elements for site in step.order.program.sites),
        entries=sum(len(site.indices) for site in forms.logs),
        log_bytes=len(log),
        eager32=eager,
        unrounded=unrounded,
        recorded=recorded,
        replayed=replayed,
        perturbed=other,
        digested=digested,
        corrections=counts.corrections,
        contradictions=counts.contradictions,
        omissions=counts.omissions,
        identical=_root(result) == root,
        state_bytes=sum(array.nbytes for array in initial.values()),
        peak_bytes=peak_memory(machine.device),
    )


def _is_parameter(name: str, step: Step) -> bool:
    """Whether a state tensor is trained: an optimizer slot names it, or without slots every float tensor."""
    slots = {item.split(":", 1)[1] for item in step.order.initial if ":" in item}
    return name in slots if slots else ":" not in name and step.order.initial[name].dtype.name == "float32"


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
            return statistics.median(times[1:]), result


def _record(forms: Forms) -> tuple[bytes, StepResult]:
    """Run the step as a trainer does: rounded, its log encoded."""
    result = forms.record()
    return encode(forms.logs), result


def _root(result: StepResult) -> Digest:
    return state_root({name: tensor.cpu().numpy() for name, tensor in result.state.items()})


def _time_eager(step: Step) -> float:
    """Seconds of a later step: the first one allocates optimizer slots."""
    run = step.eager()
    run()
    return _timed(run)[0]


def child(asked: str) -> None:
    """Measure what is asked for, as JSON, and print the result on the last line."""
    request = json.loads(asked)
    _limit_memory(request.pop("memory"))
    images = request.pop("images")
    try:
        with obstacles_noticed():
            print(measure(**request, images=None if images is None else Path(images)).to_json())
    except MemoryShortageError as error:
        print(error.detail, file=sys.stderr)
        raise SystemExit(MEMORY_EXIT) from error
    except CounterfoilError as error:
        print(error, file=sys.stderr)
        raise SystemExit(1) from error


def _limit_memory(limit: int) -> None:
    """Let allocations fail beyond so many bytes, rather than have the system end some process, perhaps another's."""
    if os.name == "posix" and limit:
        import resource

        resource.setrlimit(resource.RLIMIT_DATA, (limit, limit))
