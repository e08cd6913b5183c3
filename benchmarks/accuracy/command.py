"""``python -m benchmarks accuracy``: train every task under every arithmetic, and compare."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path

from benchmarks.accuracy.cases import Done, Progress, all_cases, train_all
from benchmarks.accuracy.page import final_loss, page
from benchmarks.accuracy.tasks import Task, digits_task, fashion_task, gpt_task
from benchmarks.accuracy.training import ARITHMETICS, REFERENCE
from counterfoil.cli.terminal import duration
from counterfoil_core.arithmetic.machine import open_machine

ROOT = Path(__file__).parents[2]
FASHION = Path("/usr/share/datasets/fashion-mnist")
COMPARED = ("float32, weights one ulp up", "bfloat16 autocast", "float64-24", "float32-bfloat16")
COMPARED_EXACT = ("exact-20", "exact-13", "exact-10", "exact-8")
LEAST_SEEDS = 2
"""There is no spread of one."""


def main(arguments: Sequence[str]) -> None:
    """Train what is not done yet, and print or write the page."""
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks accuracy",
        description="Train models under the precision profiles and in ordinary float32 and compare them. What is done "
        "is kept, one file for each training, so that it can be stopped at any time and goes on where it was.",
    )
    parser.add_argument("--seeds", type=int, default=5, help="trainings of each kind (default 5)")
    parser.add_argument("--digits-steps", type=int, default=200, help="steps on digits, 0 for none (default 200)")
    parser.add_argument("--gpt-steps", type=int, default=150, help="steps of the GPT, 0 for none (default 150)")
    parser.add_argument(
        "--fashion-steps", type=int, default=200, help="steps on Fashion-MNIST, 0 for none (default 200)"
    )
    parser.add_argument(
        "--arithmetics",
        nargs="+",
        choices=[name for name in ARITHMETICS if name != REFERENCE],
        default=[*COMPARED, *COMPARED_EXACT],
        metavar="NAME",
        help="what is compared with float32: precision profiles and others (default: %(default)s)",
    )
    parser.add_argument("--text", type=Path, default=ROOT / "LICENSE", help="a text for the GPT (default: the licence)")
    parser.add_argument("--fashion", type=Path, default=FASHION, help=f"Fashion-MNIST, if there (default {FASHION})")
    parser.add_argument("--threads", type=int, help="threads on the CPU; one for each core by default")
    parser.add_argument(
        "--folder", type=Path, default=Path("bench-results/accuracy"), help="what is done (default %(default)s)"
    )
    parser.add_argument("--write", type=Path, help="the page to write; printed otherwise")
    options = parser.parse_args(arguments)
    if options.seeds < LEAST_SEEDS:
        parser.error(f"--seeds must be {LEAST_SEEDS} at least: there is no spread of one")
    tasks = _tasks(options)
    if not tasks:
        parser.error("there is nothing to train: all steps are 0, or the data is not there")
    machine = open_machine("cpu", options.threads)
    cases = all_cases(tasks, [REFERENCE, *options.arithmetics], options.seeds)
    done = []
    try:
        for progress in train_all(cases, options.folder, machine):
            done.append(progress.done)
            print(_line(progress), flush=True)
    except KeyboardInterrupt:
        print(f"Stopped. The same command goes on with what is in {options.folder}.", file=sys.stderr)
        sys.exit(2)
    _publish(done, options, page(done, _command(options), machine))


def _tasks(options: argparse.Namespace) -> list[Task]:
    tasks = []
    if options.digits_steps:
        tasks.append(digits_task(options.digits_steps))
    if options.gpt_steps:
        tasks.append(gpt_task(options.text, options.gpt_steps))
    if options.fashion_steps and options.fashion.is_dir():
        tasks.append(fashion_task(options.fashion, options.fashion_steps))
    elif options.fashion_steps:
        print(f"There is no Fashion-MNIST in {options.fashion}: left out.", file=sys.stderr)
    return tasks


def _line(progress: Progress) -> str:
    one: Done = progress.done
    left = "" if progress.seconds_left is None else f"; about {duration(progress.seconds_left)} left"
    return (
        f"{progress.count} of {progress.total}: {one.case.task.name}, {one.case.arithmetic}, seed {one.case.seed}: "
        f"final loss {final_loss(one.trained):.4f}, held out {one.trained.held_out_loss:.4f} and "
        f"{one.trained.held_out_accuracy:.2f} %, {duration(one.seconds)}{left}"
    )


def _command(options: argparse.Namespace) -> str:
    """The command that trains the same again; folders are the machine's own."""
    parts = [f"--seeds {options.seeds}"]
    parts += [f"--{task}-steps {getattr(options, f'{task}_steps')}" for task in ("digits", "gpt", "fashion")]
    parts += [f"--text {options.text.name}", *([] if options.threads is None else [f"--threads {options.threads}"])]
    if list(options.arithmetics) != [*COMPARED, *COMPARED_EXACT]:
        parts.append("--arithmetics " + " ".join(f'"{name}"' if " " in name else name for name in options.arithmetics))
    return " ".join(["python -m benchmarks accuracy", *parts])


def _publish(done: list[Done], options: argparse.Namespace, text: str) -> None:
    if options.write is None:
        print(f"\n{text}")
        return
    options.write.write_text(text, encoding="utf-8")
    print(f"Wrote {options.write}: {len(done)} trainings.")
