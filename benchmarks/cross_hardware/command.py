"""``python -m benchmarks cross-hardware``: runs recorded on one machine and replayed on another, and the reverse.

Machines share nothing but a folder, which is copied from one to the other and back:

    order FOLDER                     once, on any machine: every recipe under every profile, and a key for the campaign
    work FOLDER --machine NAME       on each machine, what is not done yet: the self-test, a recording of every order,
                                     ordinary float32 training of every job, and an audit of every run that other
                                     machines left in the folder
    selftest FOLDER --machine NAME   only that
    capture FOLDER --machine NAME    captures every job here, too, for the digest of its order
    page FOLDER                      collects the results and writes docs/cross-hardware.md
    versions FOLDER                  writes that page's section on machines that are versions of torch and Python
                                     (packaging/torches.sh), and the table of docs/literature.md

A machine works once to record and once more when others' runs are there. Each part is a file of its own: what is done
is not done again, and work that was stopped goes on. Nothing here knows what the machines are: emulated ones
(packaging/arm64.sh), a GPU (--device cuda:0), a colleague's.
"""

from __future__ import annotations

import argparse
import platform
import re
from collections.abc import Sequence
from pathlib import Path

from benchmarks.cross_hardware import literature, versions
from benchmarks.cross_hardware.campaign import JOBS, MEASURED, STEPS, Campaign
from benchmarks.cross_hardware.ordinary import EAGER
from benchmarks.cross_hardware.page import unexpected, write_page
from benchmarks.cross_hardware.replays import sections
from benchmarks.cross_hardware.results import collect, collected, parts_of
from benchmarks.cross_hardware.work import Worker
from benchmarks.pages import MEASURED as MEASURED_PART, machine_name, write_between

RESULTS = Path(__file__).with_name("measured")
"""Collected results of the machines that were measured so far."""
PAGE = Path("docs/cross-hardware.md")
LITERATURE_PAGE = "literature.md"
"""The page beside it that has a table of the trainings of the literature."""


def _machine(text: str) -> str:
    if not re.fullmatch(r"[A-Za-z0-9][A-Za-z0-9._-]{0,60}", text):
        raise ValueError(text)
    return text


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks cross-hardware",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("action", choices=("order", "work", "selftest", "capture", "page", "versions"))
    parser.add_argument("folder", type=Path, help="the folder that the machines share")
    parser.add_argument("--machine", type=_machine, default=platform.machine(), help="this machine's name")
    parser.add_argument("--about", help="what this machine is, in words; by default the name of its processor")
    parser.add_argument("--device", default="cpu", help="cpu or cuda:0")
    parser.add_argument("--threads", type=int, default=1, help="threads on the CPU (default 1)")
    parser.add_argument("--jobs", nargs="+", choices=JOBS, default=list(JOBS), help="which jobs (default all)")
    parser.add_argument("--profiles", nargs="+", choices=MEASURED, default=list(MEASURED), help="which (default all)")
    parser.add_argument("--steps", type=int, default=STEPS, help=f"steps of each job (default {STEPS})")
    parser.add_argument("--results", type=Path, default=RESULTS, help="the folder of collected results")
    parser.add_argument("--write", type=Path, default=PAGE, help=f"the page (default {PAGE})")
    return parser


def _said(found: list[str], page: Path) -> int:
    """Print what is unexpected on a page; returns the exit code."""
    print("\n".join(found) if found else f"Everything is as expected; wrote {page}.")
    return bool(found)


def main(arguments: Sequence[str]) -> int:
    """Do what was asked. Ends with 1 if the machine is not sound, or if the page says what nobody expects."""
    options = _parser().parse_args(arguments)
    campaign = Campaign(options.folder)
    if options.action == "page":
        collect(campaign.folder / "results", options.results)
        parts = list(collected(options.results))
        write_page(options.write, parts, sections(options.results))
        return _said(unexpected(parts), options.write)
    if options.action == "versions":
        parts = list(parts_of(campaign.folder / "results"))
        write_between(options.write, "versions", versions.section(parts))
        write_between(options.write.with_name(LITERATURE_PAGE), MEASURED_PART, literature.section(parts))
        return _said(versions.unexpected(parts), options.write)
    if options.action in ("order", "capture"):
        wanted = options.jobs, options.profiles, options.steps
        capturing = options.action == "capture"
        done = campaign.capture_all(options.machine, *wanted) if capturing else campaign.order_all(*wanted)
        for ordered in done:
            print(f"{ordered.job}, {ordered.profile}: {ordered.refused or 'ordered'}", flush=True)
        return 0
    about = options.about or machine_name(options.device)
    eager = EAGER if options.device == "cpu" else {}
    worker = Worker(campaign, options.machine, about, options.device, options.threads, eager)
    tested = worker.selftest()
    for profile, sentence in tested.selftest.items():
        print(f"{profile}: {sentence}", flush=True)
    if tested.failed:
        return 1
    if options.action == "work":
        for line in worker.work(campaign.ordered(options.jobs, options.profiles)):
            print(line, flush=True)
    return 0
