"""``python -m benchmarks check`` (``make bench-check``): are the ratios that are measured now as good as those stored?

Ratios of two times that were taken side by side say more than times: another machine, or other work on this one, moves
both. They still scatter, and depend on processor and number of threads, so that there is a tolerance, and a table that
says where the stored ones are from. ``python -m benchmarks steps --store`` stores new ones. No part of ``make test``.
"""

from __future__ import annotations

import argparse
import json
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from benchmarks.measure import Result, measure
from benchmarks.pages import markdown, origin
from benchmarks.workloads import WORKLOADS

STORED = Path(__file__).with_name("ratios.json")
TOLERANCE = 0.15
"""A ratio may be so much greater than the stored one, as a share of it."""


@dataclass(frozen=True)
class Row:
    """One ratio, then and now."""

    workload: str  #: Key of WORKLOADS.
    ratio: str  #: What was divided by what.
    stored: float | None  #: The stored ratio; None where there is none.
    found: float  #: The ratio now.
    worse: bool  #: Whether it got worse by more than the tolerance.


def ratios(result: Result) -> dict[str, float]:
    """Return the ratios that are compared, by name; smaller is better."""
    return {
        "recorded / unrounded": result.recorded_ratio,
        "replayed / unrounded": result.replayed_ratio,
        "unrounded / eager float64": result.unrounded_ratio,
        "recorded / eager float32": result.eager32_ratio,
    }


def compare(workload: str, stored: Mapping[str, float], found: Mapping[str, float], tolerance: float) -> list[Row]:
    """Compare the ratios of a workload.

    Args:
        workload: Key of WORKLOADS.
        stored: The stored ratios by name.
        found: The ratios now by name.
        tolerance: By what share a ratio may be greater.

    Raises:
        ValueError: A ratio that is stored was not measured, or one is not a positive number: nothing could get worse.
    """
    missing = stored.keys() - found.keys()
    if missing:
        raise ValueError(f"stored and not measured: {', '.join(sorted(missing))}")
    for name, value in (*stored.items(), *found.items()):
        if not (math.isfinite(value) and value > 0):
            raise ValueError(f"{workload}: {name} is {value}")
    return [
        Row(workload, name, stored.get(name), now, name in stored and now > stored[name] * (1 + tolerance))
        for name, now in found.items()
    ]


def table(rows: list[Row]) -> str:
    """Return rows as Markdown."""
    lines = []
    for row in rows:
        before, change = (
            ("-", "new") if row.stored is None else (f"{row.stored:.2f}", f"{row.found / row.stored - 1:+.0%}")
        )
        lines.append([row.workload, row.ratio, before, f"{row.found:.2f}", f"{change}{' WORSE' if row.worse else ''}"])
    return markdown(["step", "ratio", "stored", "now", "change"], lines)


def read_stored() -> dict[str, dict[str, dict[str, float]]]:
    """Return the stored ratios by threads and workload."""
    if not STORED.exists():
        return {}
    found: dict[str, dict[str, dict[str, float]]] = json.loads(STORED.read_text(encoding="utf-8"))["ratios"]
    return found


def store(key: str, result: Result, threads: int | None) -> None:
    """Store the ratios of a workload beside those of the others."""
    kept = read_stored()
    kept.setdefault(_held(threads), {})[key] = {name: round(value, 3) for name, value in ratios(result).items()}
    whole = {"measured": origin(threads), "ratios": kept}
    STORED.write_text(json.dumps(whole, indent=1, sort_keys=True) + "\n", encoding="utf-8")


def _held(threads: int | None) -> str:
    return "threads of its own choice" if threads is None else f"threads {threads}"


def main(arguments: Sequence[str]) -> int:
    """Compare the workloads that were asked for; returns 1 if a ratio got worse, 2 if there was nothing to compare."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks check", description=__doc__)
    parser.add_argument(
        "workloads", nargs="*", metavar="workload", help=f"some of {', '.join(WORKLOADS)}; all by default"
    )
    parser.add_argument("--rounds", type=int, default=5, help="rounds after warming up (default 5)")
    parser.add_argument("--threads", type=int, default=1, help="threads on the CPU (default 1)")
    parser.add_argument("--tolerance", type=float, default=TOLERANCE, help=f"as a share (default {TOLERANCE})")
    options = parser.parse_args(arguments)
    stored = read_stored().get(_held(options.threads), {})
    if not stored:
        print(f"No ratios are stored for {options.threads} threads: python -m benchmarks steps --store --threads ...")
        return 2
    rows = []
    for key in options.workloads or WORKLOADS:
        result = measure(key, options.rounds, threads=options.threads, memory=False)
        rows += compare(key, stored.get(key, {}), ratios(result), options.tolerance)
        print(f"{result.name} is measured", flush=True)
    print(f"\nStored: {json.loads(STORED.read_text(encoding='utf-8'))['measured']}\nNow: {origin(options.threads)}\n")
    print(table(rows))
    worse = [row for row in rows if row.worse]
    print(f"\n{len(worse)} of {len(rows)} ratios got worse by more than {options.tolerance:.0%}.")
    return 1 if worse else 0
