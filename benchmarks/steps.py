"""``python -m benchmarks steps``: measure, print a table, and write it into a page or store its ratios if asked."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from pathlib import Path

from benchmarks.check import STORED, store
from benchmarks.measure import MEMORY_FORMS, Result, measure, run_alone
from benchmarks.pages import MEASURED, markdown, origin, write_between
from benchmarks.workloads import WORKLOADS


def table(results: list[Result], device: str, threads: int | None) -> str:
    """Return the results as Markdown."""
    times = ["unrounded", "recorded", "replayed", "eager float64", "eager float32"]
    heads = ["step", "operators", *times, "recorded / unrounded", "replayed / unrounded"]
    heads += ["unrounded / eager float64", "recorded / eager float64", "recorded / eager float32"]
    rows = [
        [
            r.name,
            str(r.operators),
            *(f"{1e3 * r.seconds[form]:.1f} ms" if form in r.seconds else "-" for form in times),
            f"{r.recorded_ratio:.2f}",
            f"{r.replayed_ratio:.2f}",
            f"{r.unrounded_ratio:.2f}",
            f"{r.eager64_ratio:.2f}",
            f"{r.eager32_ratio:.2f}",
        ]
        for r in results
    ]
    log_heads = ["step", "values rounded", "log entries", "log bytes", "bits per value", "1.6 bits per value would be"]
    log_rows = [
        [
            r.name,
            f"{r.values:,}",
            f"{r.entries:,}",
            f"{r.log_bytes:,}",
            f"{8 * r.log_bytes / r.values:.5f}",
            f"{0.2 * r.values / r.log_bytes:.0f} times as much",
            *(f"{r.memory[form]} MiB" if r.memory else "-" for form in MEMORY_FORMS),
        ]
        for r in results
    ]
    memory = [f"{'peak memory ' if not number else ''}{form}" for number, form in enumerate(MEMORY_FORMS)]
    return f"{origin(threads, device)}\n\n{markdown(heads, rows)}\n\n{markdown([*log_heads, *memory], log_rows)}\n"


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
