"""``python -m benchmarks``: measure, print a table, and write it into a page if asked."""

from __future__ import annotations

import argparse
import os
import platform
from datetime import UTC, datetime
from pathlib import Path

import torch

from benchmarks.measure import Result, measure
from counterfoil.benchmark.markers import MEASURED, write_between
from counterfoil.benchmark.workloads import WORKLOADS


def table(results: list[Result], device: str) -> str:
    """Return the results as Markdown."""
    title = torch.cuda.get_device_name(device) if device != "cpu" else f"{_cpu()}, {os.cpu_count()} cores"
    today = datetime.now(UTC).date().isoformat()
    lines = [
        f"{title}; torch {torch.__version__}, Python {platform.python_version()}, {today}.",
        "",
        "| step | operators | unrounded float64 | recorded | replayed | recorded / unrounded | replayed / unrounded "
        "| recorded / eager float64 | recorded / eager float32 |",
        "|---|---|---|---|---|---|---|---|---|",
    ]
    for r in results:
        times = " | ".join(f"{1e3 * r.seconds[form]:.1f} ms" for form in ("unrounded", "recorded", "replayed"))
        lines.append(
            f"| {r.name} | {r.operators} | {times} | {r.recorded_ratio:.2f} | {r.replayed_ratio:.2f} "
            f"| {r.eager64_ratio:.2f} | {r.eager32_ratio:.2f} |"
        )
    lines += [
        "",
        "| step | values rounded | log entries | log bytes | bits per value | 1.6 bits per value would be "
        "| peak memory unrounded | recorded |",
        "|---|---|---|---|---|---|---|---|",
    ]
    for r in results:
        memory = " | ".join(f"{r.memory[form]} MiB" if r.memory else "-" for form in ("unrounded", "recorded"))
        lines.append(
            f"| {r.name} | {r.values:,} | {r.entries:,} | {r.log_bytes:,} | {8 * r.log_bytes / r.values:.5f} "
            f"| {0.2 * r.values / r.log_bytes:.0f} times as much | {memory} |"
        )
    return "\n".join(lines) + "\n"


def _cpu() -> str:
    try:
        for line in Path("/proc/cpuinfo").read_text().splitlines():
            if line.startswith("model name"):
                return line.split(":", 1)[1].strip()
    except OSError:
        return platform.processor() or platform.machine()
    return platform.machine()


def main() -> None:
    """Measure the workloads that were asked for."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks", description=__doc__)
    parser.add_argument(
        "workloads", nargs="*", metavar="workload", help=f"some of {', '.join(WORKLOADS)}; all by default"
    )
    parser.add_argument("--rounds", type=int, default=9, help="rounds after warming up (default 9)")
    parser.add_argument("--device", default="cpu", help="cpu or cuda:0 (default cpu)")
    parser.add_argument("--write", type=Path, help="a page whose measured part is replaced")
    options = parser.parse_args()
    results = []
    for key in options.workloads or WORKLOADS:
        result = measure(key, options.rounds, options.device)
        print(f"{result.name}: recorded {result.recorded_ratio:.2f} x unrounded", flush=True)
        results.append(result)
    measured = table(results, options.device)
    print(f"\n{measured}")
    if options.write:
        write_between(options.write, MEASURED, measured)


if __name__ == "__main__":
    main()
