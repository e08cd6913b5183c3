"""``python -m benchmarks steps``: measure, print a table, and write it into a page or store its ratios if asked."""

from __future__ import annotations

import argparse
from collections.abc import Callable, Sequence
from pathlib import Path

from benchmarks.check import STORED, store
from benchmarks.measure import FORMS, MEMORY_FORMS, Result, measure, run_alone
from benchmarks.pages import MEASURED, origin, tabulated, write_between
from benchmarks.workloads import WORKLOADS


def table(results: list[Result], device: str, threads: int | None) -> str:
    """Return the results as Markdown."""

    def milliseconds(form: str) -> Callable[[Result], str]:
        return lambda r: f"{1e3 * r.seconds[form]:.1f} ms" if form in r.seconds else "-"

    def peak(form: str) -> Callable[[Result], str]:
        return lambda r: f"{r.memory[form]} MiB" if r.memory else "-"

    times: dict[str, Callable[[Result], object]] = {
        "step": lambda r: r.name,
        "operators": lambda r: r.operators,
        **{form: milliseconds(form) for form in FORMS},
        "recorded / unrounded": lambda r: f"{r.recorded_ratio:.2f}",
        "replayed / unrounded": lambda r: f"{r.replayed_ratio:.2f}",
        "unrounded / eager float64": lambda r: f"{r.unrounded_ratio:.2f}",
        "recorded / eager float64": lambda r: f"{r.eager64_ratio:.2f}",
        "recorded / eager float32": lambda r: f"{r.eager32_ratio:.2f}",
    }
    log: dict[str, Callable[[Result], object]] = {
        "step": lambda r: r.name,
        "values rounded": lambda r: f"{r.values:,}",
        "log entries": lambda r: f"{r.entries:,}",
        "log bytes": lambda r: f"{r.log_bytes:,}",
        "bits per value": lambda r: f"{8 * r.log_bytes / r.values:.5f}",
        "1.6 bits per value would be": lambda r: f"{0.2 * r.values / r.log_bytes:.0f} times as much",
        **{f"{'' if number else 'peak memory '}{form}": peak(form) for number, form in enumerate(MEMORY_FORMS)},
    }
    return f"{origin(threads, device)}\n\n{tabulated(results, times)}\n\n{tabulated(results, log)}\n"


def main(arguments: Sequence[str]) -> None:
    """Measure the workloads that were asked for."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks steps", description=__doc__)
    parser.add_argument(
        "workloads", nargs="*", metavar="workload", help=f"some of {', '.join(WORKLOADS)}; all by default"
    )
    parser.add_argument("--rounds", type=int, default=9, help="rounds after warming up (default 9)")
    parser.add_argument("--device", default="cpu", help="cpu or cuda:0 (default cpu)")
    parser.add_argument("--threads", type=int, help="threads on the CPU; torch's choice by default")
    parser.add_argument("--no-memory", action="store_true", help="do not measure peak memory, in processes of its own")
    parser.add_argument("--write", type=Path, help="a page whose measured part is replaced")
    parser.add_argument("--store", action="store_true", help=f"store the ratios for make bench-check in {STORED.name}")
    parser.add_argument("--child", nargs=2, help=argparse.SUPPRESS)
    options = parser.parse_args(arguments)
    if options.child:
        run_alone(*options.child)
        return
    results = []
    for key in options.workloads or WORKLOADS:
        result = measure(key, options.rounds, options.device, options.threads, memory=not options.no_memory)
        print(f"{result.name}: recorded {result.recorded_ratio:.2f} x unrounded", flush=True)
        if options.store:
            store(key, result, options.threads)
        results.append(result)
    measured = table(results, options.device, options.threads)
    print(f"\n{measured}")
    if options.write:
        write_between(options.write, MEASURED, measured)
