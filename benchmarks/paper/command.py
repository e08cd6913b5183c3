"""``python -m benchmarks paper``: measure the paper's experiments here, beside the published figures."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from pathlib import Path

from benchmarks.pages import between, markers
from benchmarks.paper.experiments import EXPERIMENTS
from benchmarks.paper.measurement import child
from benchmarks.paper.page import WHOLE, page
from benchmarks.paper.runs import run_experiments
from counterfoil.base.wholefiles import write_whole
from counterfoil.cli.targets import check_writable


def main(arguments: Sequence[str]) -> None:
    """Measure and write the page.

    Raises:
        CounterfoilError: A measurement failed, or the page cannot be written.
    """
    parser = argparse.ArgumentParser(prog="python -m benchmarks paper", description=__doc__)
    parser.add_argument("experiments", nargs="*", metavar="experiment", help=f"some of {', '.join(EXPERIMENTS)}")
    parser.add_argument("--out", type=Path, default=Path("docs/paper-experiments.md"), help="the page to write")
    parser.add_argument(
        "--seconds", type=float, default=120.0, help="time for one experiment, roughly; its batch is made to fit"
    )
    parser.add_argument("--images", type=Path, help="folder of CIFAR-10, binary version; images are made up otherwise")
    parser.add_argument("--device", default="cpu", help="cpu or cuda:0 (default cpu)")
    parser.add_argument("--threads", type=int, help="threads on the CPU; torch's choice by default")
    parser.add_argument("--child", help=argparse.SUPPRESS)
    options = parser.parse_args(arguments)
    if options.child:
        child(options.child)
        return
    check_writable(options.out, force=True)
    found = run_experiments(
        options.experiments or list(EXPERIMENTS),
        device=options.device,
        threads=options.threads,
        seconds=options.seconds,
        images=options.images,
    )
    before = options.out.read_text(encoding="utf-8") if options.out.exists() else ""
    more = {"whole": between(before, WHOLE)} if markers(WHOLE)[0] in before else {}
    text = page(found, options.device, made_up_images=options.images is None, seconds=options.seconds, **more)
    write_whole(options.out, text.encode(), what="the page")
    print(f"Wrote {options.out}.")
