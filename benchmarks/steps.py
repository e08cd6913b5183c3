"""A training step in every form, side by side: ``steps``, ``check`` (``make bench-check``) and ``exact-training``.

In each round every form runs once, and ratios are taken round by round, so that a machine whose speed drifts does not
change them. They still scatter, and depend on processor and number of threads, so that a check has a tolerance and says
where the stored ratios are from. No part of ``make test``.
"""

from __future__ import annotations

import json
import math
import os
import time
from argparse import Namespace
from collections.abc import Callable, Mapping
from contextlib import ExitStack
from pathlib import Path
from statistics import median

import torch

from benchmarks.forms import Forms
from benchmarks.measure import (
    Benchmark,
    Cell,
    LeftOutError,
    Results,
    Sections,
    Values,
    argument,
    figures,
    on_page,
    origins,
    ratio,
    rounds_of,
    some_of,
)
from benchmarks.pages import MEASURED, markdown, origin, tabulated
from benchmarks.workloads import CPU, WORKLOADS
from counterfoil_core.arithmetic.machine import open_machine
from counterfoil_core.base.precision import PROFILES
from counterfoil_core.kernels.exact.forms import Profile

PAGE = "benchmarks.md"
EAGER = {"eager float64": torch.float64, "eager float32": torch.float32}
FORMS = ("unrounded", "recorded", "replayed", *EAGER)
MEMORY_FORMS = FORMS[:-1]
"""Those whose peak memory is measured."""
RATIOS = (
    ("recorded", "unrounded"), ("replayed", "unrounded"), ("unrounded", "eager float64"), ("recorded", "eager float64"),
    ("recorded", "eager float32"),
)  # fmt: skip
STORED = Path(__file__).with_name("ratios.json")
TOLERANCE = 0.15
"""A ratio may be so much greater than the stored one, as a share of it."""
ORDINARY, RECORDED = "ordinary float32", ("float64-24", "exact-20", "exact-20-rows", "exact-13")
_WORKLOADS = some_of("workloads", WORKLOADS)


def times(key: str, rounds: int, threads: int | None) -> Values:
    """Time a workload in every form: milliseconds, ratios, and what its step has."""
    machine, workload = open_machine("cpu", threads), WORKLOADS[key]()
    with machine.kernels() as kernels:
        forms = Forms(workload.order(None), machine, kernels)
        eager = {name: workload.eager(dtype, CPU) for name, dtype in EAGER.items()}
        found = rounds_of({**forms.calls, **eager}, rounds)
        return {
            "name": workload.name,
            "said": f"recorded {ratio(found, 'recorded', 'unrounded'):.2f} x unrounded",
            "ms": {form: 1e3 * median(found[form]) for form in FORMS},
            "ratios": {f"{upper} / {lower}": ratio(found, upper, lower) for upper, lower in RATIOS},
            **forms.counted,
        }


def _three_times(key: str, form: str) -> Values:
    """Run one form three times, whose process then has its peak memory; a replay needs a recording before it."""
    workload, machine = WORKLOADS[key](), open_machine("cpu")
    with machine.kernels() as kernels:
        if form in EAGER:
            call: Callable[[], object] = workload.eager(EAGER[form], CPU)
        else:
            forms = Forms(workload.order(None), machine, kernels)
            if form == "replayed":
                forms.record()
            call = forms.calls[form]
        for _ in range(3):
            call()
    return {}


def _cells(options: Namespace) -> list[Cell]:
    keys = options.workloads or list(WORKLOADS)
    alone = [] if options.no_memory else [f"memory/{key}/{form}" for key in keys for form in MEMORY_FORMS]
    return [*(Cell(f"times/{key}", alone=True) for key in keys), *(Cell(key, fresh=True) for key in alone)]


def _measure(options: Namespace, key: str) -> Values:
    what, workload, *form = key.split("/")
    if what == "memory":
        return _three_times(workload, *form)
    found = times(workload, options.rounds, options.threads)
    if options.store:
        store(workload, found["ratios"], options.threads)
    return found


def _sections(results: Results, _options: Namespace) -> Sections:
    rows = [
        {**one, "peak": {form: _peak(results, key, form) for form in MEMORY_FORMS}}
        for key, one in figures(results, "times/").items()
    ]
    first = {"step": "{name}", "operators": "{operators}", **{form: f"{{ms[{form}]:.1f}} ms" for form in FORMS}}
    ratios = {f"{a} / {b}": f"{{ratios[{a} / {b}]:.2f}}" for a, b in RATIOS}
    log: dict[str, str | Callable[[Values], object]] = {
        "step": "{name}", "values rounded": "{values:,}", "log entries": "{entries:,}", "log bytes": "{log_bytes:,}",
        "bits per value": lambda one: f"{8 * one['log_bytes'] / one['values']:.5f}",
        "1.6 bits per value would be": lambda one: f"{0.2 * one['values'] / one['log_bytes']:.0f} times as much",
        **{f"{'peak memory ' * (not at)}{form}": f"{{peak[{form}]}}" for at, form in enumerate(MEMORY_FORMS)},
    }  # fmt: skip
    return on_page(PAGE, MEASURED, origins(results), tabulated(rows, {**first, **ratios}), tabulated(rows, log))


def _peak(results: Results, key: str, form: str) -> str:
    found = results.get(f"memory/{key}/{form}")
    return f"{found.peak >> 20} MiB" if found is not None else "-"


STEPS = Benchmark(
    "Time, log and memory of a step in every form.",
    _cells,
    _measure,
    _sections,
    (
        _WORKLOADS,
        argument("--rounds", type=int, default=9, help="rounds after warming up (default 9)"),
        argument("--no-memory", action="store_true", help="do not measure peak memory, in processes of its own"),
        argument("--store", action="store_true", help=f"store the ratios for make bench-check in {STORED.name}"),
    ),
)


# Whether ratios are as good as the stored ones.


def regressions(workload: str, stored: Mapping[str, float], found: Mapping[str, float], tolerance: float) -> list[str]:
    """Return a sentence for each ratio that is worse than the stored one by more than a share of it.

    Raises:
        ValueError: A ratio that is stored was not measured, or one is not a positive number: nothing could get worse.
    """
    if missing := stored.keys() - found.keys():
        raise ValueError(f"stored and not measured: {', '.join(sorted(missing))}")
    for name, value in (*stored.items(), *found.items()):
        if not (math.isfinite(value) and value > 0):
            raise ValueError(f"{workload}: {name} is {value}")
    return [
        f"{workload}: {name} is {found[name]:.2f}, stored {then:.2f}, {found[name] / then - 1:+.0%}"
        for name, then in stored.items()
        if found[name] > then * (1 + tolerance)
    ]


def read_stored(threads: int | None) -> dict[str, dict[str, float]]:
    """Return the stored ratios for a number of threads, by workload."""
    kept = json.loads(STORED.read_text(encoding="utf-8"))["ratios"] if STORED.exists() else {}
    return dict(kept.get(_held(threads), {}))


def store(workload: str, found: Mapping[str, float], threads: int | None) -> None:
    """Store the ratios of a workload beside those of the others."""
    whole = json.loads(STORED.read_text(encoding="utf-8")) if STORED.exists() else {"ratios": {}}
    kept = {name: round(value, 3) for name, value in found.items() if name != "recorded / eager float64"}
    whole["ratios"].setdefault(_held(threads), {})[workload] = kept
    whole["measured"] = origin(threads)
    STORED.write_text(json.dumps(whole, indent=1, sort_keys=True) + "\n", encoding="utf-8")


def _held(threads: int | None) -> str:
    return "threads of its own choice" if threads is None else f"threads {threads}"


def _check(options: Namespace, key: str) -> Values:
    stored = read_stored(options.threads).get(key)
    if stored is None:
        raise LeftOutError(
            f"No ratios of it are stored for {options.threads} threads; benchmarks steps --store does it."
        )
    found = times(key, options.rounds, options.threads)
    return {**found, "stored": stored, "strange": regressions(key, stored, found["ratios"], options.tolerance)}


def _checked(results: Results, _options: Namespace) -> Sections:
    rows = [
        [key, name, f"{then:.2f}", f"{one['ratios'][name]:.2f}", f"{one['ratios'][name] / then - 1:+.0%}"]
        for key, one in figures(results).items()
        for name, then in one["stored"].items()
    ]
    where = json.loads(STORED.read_text(encoding="utf-8"))["measured"]
    table = markdown(["step", "ratio", "stored", "now", "change"], rows)
    return on_page(PAGE, "check", f"Stored: {where}", f"Now: {origins(results)}", table)


CHECK = Benchmark(
    "Whether the ratios of those times are as good as the stored ones.",
    lambda options: [Cell(key, alone=True) for key in options.workloads or WORKLOADS],
    _check,
    _checked,
    (
        _WORKLOADS,
        argument("--rounds", type=int, default=5, help="rounds after warming up (default 5)"),
        argument("--tolerance", type=float, default=TOLERANCE, help=f"as a share (default {TOLERANCE})"),
    ),
)


# What a recorded step costs under each kind of profile.


def _exact(options: Namespace, key: str) -> Values:
    machine, workload = open_machine("cpu", options.threads), WORKLOADS[key]()
    calls: dict[str, Callable[[], object]] = {ORDINARY: workload.eager(torch.float32, CPU)}
    with ExitStack() as stack:
        for profile in RECORDED:
            kernels = stack.enter_context(machine.kernels())
            calls[profile] = Forms(workload.order(PROFILES[profile]), machine, kernels).record
        taken = rounds_of(calls, options.rounds, clock=time.process_time)
    seconds = {name: min(each) for name, each in taken.items()}
    factors = {name: seconds[name] / seconds[ORDINARY] for name in RECORDED}
    said = ", ".join(f"{name} {factor:.2f}" for name, factor in factors.items())
    return {"name": workload.name, "ms": 1e3 * seconds[ORDINARY], "factors": factors, "said": said}


def _exact_sections(results: Results, _options: Namespace) -> Sections:
    forms = ", ".join(f"{Profile.on(CPU, bits).matrices.value} (exact-{bits})" for bits in (20, 13))
    limit = os.environ.get("ONEDNN_MAX_CPU_ISA")
    held = f", oneDNN held to {limit}" if limit else ""
    columns = {"step": "{name}", ORDINARY: "{ms:.1f} ms", **{name: f"{{factors[{name}]:.2f}}" for name in RECORDED}}
    table = tabulated(figures(results).values(), columns)
    return on_page(PAGE, "exact-training", f"Products by {forms}{held}. {origins(results)}", table)


EXACT_TRAINING = Benchmark(
    "What a recorded step costs under each kind of profile: least processor times of all rounds, by those of ordinary "
    "float32 training. ONEDNN_MAX_CPU_ISA=AVX512_CORE before the command keeps oneDNN from 8-bit dot products. "
    "Fingerprints are in it, hashing and writing are not.",
    lambda options: [Cell(key, alone=True) for key in options.workloads or WORKLOADS],
    _exact,
    _exact_sections,
    (_WORKLOADS, argument("--rounds", type=int, default=7, help="rounds after warming up (default 7)")),
)
