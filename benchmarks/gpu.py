"""All that is to be known of a GPU, on one page: who agrees, who is accused, what a step costs.

Stopped, or out of time, the same command goes on. Each part is there to be asked for: the most valuable comes first,
since a machine that is lent for minutes is not to end with the best part undone. Where what was opened is no CUDA
device (``python -m tests.ptx.rehearsal`` imitates one), all of it is tried at small sizes, and the page has no figures.
"""

from __future__ import annotations

import platform
from argparse import Namespace
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, replace

from benchmarks.answer_agreement import ANSWERS
from benchmarks.cross_hardware import rows_of
from benchmarks.gpu_agreement import (
    GOLDEN,
    LARGE,
    OTHERS,
    TESTS,
    accuse,
    accused_jobs,
    answers,
    cross,
    crossed_jobs,
    exhaust_memory,
    fine_tuning,
    larger,
    run_tests,
)
from benchmarks.gpu_costs import (
    COUNTED,
    EAGER,
    EXACT,
    FULL,
    ROUNDED,
    bandwidth,
    compiling,
    environment,
    launches,
    step_costs,
)
from benchmarks.gpu_jobs import FIRST, HOST, SMALL, small
from benchmarks.gpu_page import pages
from benchmarks.measure import (
    Benchmark,
    Cell,
    Store,
    Values,
    argument,
    some_of,
)
from benchmarks.pages import machine_name
from counterfoil_core.arithmetic.machine import open_machine
from counterfoil_core.base.errors import DeviceError
from counterfoil_core.base.sentence import say

# The whole.


@dataclass(frozen=True)
class Part:
    """A part of the whole: its cells take a measure each."""

    measure: Callable[[Namespace, str], Values]  #: Takes one.
    seconds: float  #: What a cell is expected to take on an H100 beside 16 cores.
    limit: float  #: Seconds after which it is ended.
    alone: bool = False  #: Whether nothing may run beside it.
    fresh: bool = False  #: Whether it needs a process of its own.


PARTS: Mapping[str, Part] = {
    "environment": Part(environment, 12, 90, alone=True),
    "tests": Part(run_tests, 90, 400),
    "crossing": Part(cross, 20, 180),
    "accusations": Part(accuse, 12, 240),
    "answers": Part(answers, 60, 300),
    # Without memory Triton's kernels give no known answer when a device is opened, and are left out in that process.
    "memory": Part(exhaust_memory, 8, 90, alone=True, fresh=True),
    "bandwidth": Part(bandwidth, 15, 120, alone=True),
    "steps": Part(step_costs, 13, 300, alone=True),
    "launches": Part(launches, 6, 120, alone=True),
    "larger": Part(larger, 50, 300),
    "compiling": Part(compiling, 60, 240, alone=True, fresh=True),
    "fine-tuning": Part(fine_tuning, 120, 400, alone=True),
}
"""The parts, the most valuable first. With eight workers, in seconds, :func:`budget` of what :func:`cells` returns:
environment 12, tests 6 x 90 / 8 = 68, crossing (3 + 16 first, 24 at the end) 43 x 20 / 8 = 108, accusations 54 x 12 /
8 = 81, answers 2 x 60 / 8 = 15, memory 2 x 8, bandwidth 15, steps 16 x 13 = 208, launches 4 x 6 = 24, larger 14 x 50
/ 8 = 88, compiling 60, fine-tuning 120: 13.8 minutes of 15."""
WORKERS = 8
"""Processes side by side that the budget counts on."""


def cells(options: Namespace) -> list[Cell]:
    """Return the cells of the chosen parts, in the order of their worth."""
    is_small = small(options)
    names, crossed = [*SMALL][:1] if is_small else [*FULL], list(crossed_jobs(options))
    first = [name for name in crossed if is_small or name.endswith(FIRST)]
    forms = (ROUNDED, EAGER, *EXACT)
    timed = [f"{name}.{form}" for form in forms for name in names[:-1]] + [f"{names[-1]}.{form}" for form in forms]
    # A CPU may be busy with other work, and executes kernels slowly.
    patience = 10 if is_small else 1

    def of(name: str, keys: Iterable[str]) -> list[Cell]:
        part = PARTS[name]
        chosen = not options.parts or name in options.parts
        return [
            Cell(f"{name}/{key}", part.seconds, patience * part.limit, part.alone, part.fresh) for key in keys if chosen
        ]

    def under(keys: Iterable[str]) -> list[str]:
        return [f"{key}.{profile}" for key in keys for profile in FIRST]

    key = [replace(cell, alone=True, seconds=1) for cell in of("crossing", ["key"])]
    return [
        *of("environment", ["machine"]),
        *of("tests", [kind for kind in TESTS if kind != OTHERS or not is_small]),
        *key,
        *of("crossing", [*([] if is_small else [f"golden-{name}" for name in GOLDEN]), *first]),
        *of("accusations", accused_jobs(options)),
        *of("answers", ANSWERS),
        *of("memory", FIRST),
        *of("bandwidth", ["kernels"]),
        *of("steps", timed),
        *of("launches", under(["dropout"] if is_small else COUNTED)),
        *of("larger", under(SMALL if is_small else LARGE)),
        *of("compiling", ["kernels"]),
        *of("fine-tuning", ["example"]),
        *of("crossing", [name for name in crossed if name not in first]),
    ]


def budget(planned: Iterable[Cell], workers: int = WORKERS) -> float:
    """Return the seconds that cells are expected to take: those that may run side by side, by so many workers."""
    return sum(cell.seconds if cell.alone else cell.seconds / workers for cell in planned)


def _measure(options: Namespace, key: str) -> Values:
    part, name = key.split("/", 1)
    return PARTS[part].measure(options, name)


def about(options: Namespace) -> dict[str, str]:
    """What is said of the results: the device's title, the host, and whether it is a rehearsal.

    Raises:
        DeviceError: There is no such device, or it is the CPU itself.
    """
    if options.device == HOST:
        raise DeviceError(
            say("This is about GPUs; the CPU is none."),
            remedy=say("python -m tests.ptx.rehearsal tries all of it without one."),
        )
    open_machine(options.device, 1)
    return {
        "title": machine_name(options.device), "rehearsal": "yes" if small(options) else "no",
        "host": f"{machine_name()}, {platform.system()} {platform.machine()}",
    }  # fmt: skip


GPU = Benchmark(
    __doc__,
    cells,
    _measure,
    lambda results, options: pages(
        results, Store(options.out).about, rows_of(options.out / "campaign" / "results"), options.write
    ),
    (some_of("parts", PARTS), argument("--device", default="cuda:0", help="which GPU (%(default)s)")),
    out="gpu-results",
    threads=None,
    about=about,
)
