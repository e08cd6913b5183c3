"""``python -m benchmarks gpu``: all that is to be known of a GPU: who agrees, who is accused, what a step costs.

Stopped, or out of time, the same command goes on. The tests that need a GPU, the golden runs and the example are in it.
Ends with 1 if anything is not as it should be, with 2 if something is left to do.
"""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from functools import partial
from pathlib import Path

from benchmarks.campaign.process import serve
from benchmarks.gpu import page
from benchmarks.gpu.bundles import gather
from benchmarks.gpu.parts import NAMES, do, measure
from benchmarks.gpu.settings import Scale, Settings
from counterfoil.base.interrupt import cancel_on_interrupt

STRANGE, UNDONE = 1, 2
"""Exit codes."""


def main(arguments: Sequence[str]) -> int:
    """Measure, or write the pages from what was measured.

    Raises:
        CounterfoilError: There is no such device, or a file of results cannot be written or read.
    """
    parser = argparse.ArgumentParser(prog="python -m benchmarks gpu", description=__doc__)
    parser.add_argument("parts", nargs="*", metavar="part", help=f"some of {', '.join(NAMES)}; all by default")
    parser.add_argument(
        "--out", type=Path, default=Path("gpu-results"), help="the folder of results; what it has is not done again"
    )
    parser.add_argument("--device", default="cuda:0", help="cuda:0 by default; cpu tries the parts at small sizes")
    parser.add_argument("--minutes", type=float, default=15.0, help="what is not done by then is left (default 15)")
    parser.add_argument("--scale", type=Scale, choices=list(Scale), help="full by default, and small on the CPU")
    parser.add_argument(
        "--write", type=Path, help="measure nothing; write the sections on GPUs of the pages in this folder"
    )
    parser.add_argument("--workers", type=int, help="processes for what is not timed (half the cores; 1 on the CPU)")
    parser.add_argument("--threads", type=int, help="threads on the CPU; all cores by default")
    parser.add_argument("--child", type=Settings.from_json, help=argparse.SUPPRESS)
    options = parser.parse_args(arguments)
    if unknown := set(options.parts) - set(NAMES):
        parser.error(f"there is no part {', '.join(unknown)}")
    if options.child:
        serve(partial(do, options.child))
        return 0
    if options.write is not None:
        for written in page.write_pages(options.out, options.write):
            print(f"Wrote {written}.")
        return 0
    scale = options.scale or (Scale.SMALL if options.device == "cpu" else Scale.FULL)
    settings = Settings(options.device, scale, options.out.resolve(), options.threads)
    with cancel_on_interrupt() as cancel:
        summary = measure(
            settings,
            minutes=options.minutes,
            names=options.parts or NAMES,
            workers=options.workers,
            say=partial(print, flush=True),
            cancel=cancel,
        )
    print(f"Wrote {page.write_report(settings.out)}.")
    if bundles := gather(settings):
        print(f"{bundles} runs to replay elsewhere are in {settings.out / 'bundles'}.")
    for sentence in summary.strange:
        print(f"Not as it should be: {sentence}")
    if summary.undone:
        names = ", ".join(f"{task.part} {task.name}" for task in summary.undone)
        print(f"Not done: {names}. The same command goes on.")
    return STRANGE if summary.strange else UNDONE if summary.undone else 0
