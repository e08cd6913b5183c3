"""Commands for developers and implementers: measuring, and conformance vectors."""

from __future__ import annotations

from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

from counterfoil.audit.values.outcome import Outcome
from counterfoil.base.interrupt import cancel_on_interrupt
from counterfoil.base.wholefiles import write_whole
from counterfoil.cli import terminal
from counterfoil.cli.exits import Done
from counterfoil.cli.options import DeviceOption, ThreadsOption
from counterfoil.cli.places import READS_FOLDER, WRITES, WRITES_INTO
from counterfoil.cli.targets import check_target
from counterfoil.cli.terminal import shown

bench_app = typer.Typer(
    help="Developer: measure what recording and replaying cost on this machine.", no_args_is_help=True
)


class PaperExperiment(StrEnum):
    """The experiments of the paper."""

    RESNET50 = "resnet50"
    GPT2 = "gpt2"
    VGG11 = "vgg11"
    LOGISTIC = "logistic"


@bench_app.command("paper")
def bench_paper(
    experiments: Annotated[
        list[PaperExperiment] | None,
        typer.Argument(help="Which experiments; all four unless named.", show_default=False),
    ] = None,
    out: Annotated[Path, WRITES, typer.Option("--out", "-o", help="The page to write; replaced if it exists.")] = Path(
        "docs/paper-experiments.md"
    ),
    seconds: Annotated[
        float, typer.Option(min=1.0, help="Time for one experiment, roughly; its batch is made to fit.")
    ] = 120.0,
    images: Annotated[
        Path | None,
        READS_FOLDER,
        typer.Option(help="Folder of CIFAR-10, binary version.", show_default="images are made up"),
    ] = None,
    device: DeviceOption = "cpu",
    threads: ThreadsOption = None,
) -> None:
    """Measure the paper's experiments here, and write a page with the figures beside the published ones.

    Example: counterfoil bench paper --seconds 120
    """
    check_target(out, force=True)
    from counterfoil.benchmark.paper import page, run_experiments

    console = terminal.console()
    found = run_experiments(
        [item.value for item in experiments or list(PaperExperiment)],
        device=device,
        threads=threads,
        seconds=seconds,
        images=images,
        say=lambda line: console.print(shown(line)),
    )
    text = page(found, device, made_up_images=images is None, seconds=seconds)
    write_whole(out, text.encode(), what="the page")
    console.print(f"Wrote {shown(str(out))}.")


class GpuPart(StrEnum):
    """The parts of what is measured on a GPU."""

    ENVIRONMENT = "environment"
    CROSSING = "crossing"
    STEPS = "steps"
    LARGER = "larger"
    TESTS = "tests"
    ACCUSATIONS = "accusations"
    FINE_TUNING = "fine-tuning"


class GpuScale(StrEnum):
    """How large the jobs are."""

    FULL = "full"
    SMALL = "small"


@bench_app.command("gpu")
def bench_gpu(
    parts: Annotated[
        list[GpuPart] | None, typer.Argument(help="Which parts; all unless named.", show_default=False)
    ] = None,
    out: Annotated[
        Path, WRITES_INTO, typer.Option("--out", "-o", help="The folder of results; what it has is not done again.")
    ] = (Path("gpu-results")),
    device: DeviceOption = "cuda:0",
    minutes: Annotated[
        float, typer.Option(min=0.01, help="What is not done by then is left for the next call.")
    ] = 15.0,
    scale: Annotated[
        GpuScale | None, typer.Option(help="How large the jobs are.", show_default="full, and small on the CPU")
    ] = None,
    write: Annotated[
        Path | None,
        WRITES_INTO,
        typer.Option(
            help="Measure nothing; write the sections on GPUs of cross-hardware.md and benchmarks.md in this folder "
            "from the results.",
            show_default=False,
        ),
    ] = None,
    workers: Annotated[
        int | None,
        typer.Option(min=1, help="Processes for what is not timed.", show_default="half the cores; 1 on the CPU"),
    ] = None,
    threads: ThreadsOption = None,
) -> None:
    """Measure all that is to be known of a GPU: what is equal there, who is accused, and what a step costs.

    Stopped, or out of time, the same command goes on. From a source tree the tests that need a GPU, the golden runs
    and the example are in it. Ends with 1 if anything is not as it should be, with 2 if something is left to do.

    Example: counterfoil bench gpu --device cuda:0 --out gpu-results --minutes 15
    """
    from counterfoil.benchmark.gpu import page
    from counterfoil.benchmark.gpu.parts import NAMES
    from counterfoil.benchmark.gpu.runner import run
    from counterfoil.benchmark.gpu.settings import Scale, Settings, source_tree

    console = terminal.console()
    if write is not None:
        for written in page.write_pages(out, write):
            console.print(f"Wrote {shown(str(written))}.")
        return
    chosen = scale or (GpuScale.SMALL if device == "cpu" else GpuScale.FULL)
    settings = Settings(device, Scale(chosen.value), out.resolve(), source_tree(), threads)
    with cancel_on_interrupt() as cancel:
        summary = run(
            settings,
            minutes=minutes,
            names=[part.value for part in parts] if parts else NAMES,
            workers=workers,
            say=lambda line: console.print(shown(line), soft_wrap=True),
            cancel=cancel,
        )
    console.print(f"Wrote {shown(str(page.write_report(settings.out)))}.")
    if summary.bundles:
        console.print(f"{summary.bundles} runs to replay elsewhere are in {shown(str(settings.out / 'bundles'))}.")
    for sentence in summary.strange:
        console.print(f"[bold red]Not as it should be[/]  {shown(sentence)}", soft_wrap=True)
    if summary.undone:
        names = ", ".join(f"{task.part} {task.name}" for task in summary.undone)
        console.print(f"Not done: {shown(names)}. The same command goes on.", soft_wrap=True)
    if summary.strange or summary.undone:
        raise Done(Outcome.DISPUTED.exit_code if summary.strange else Outcome.INCONCLUSIVE.exit_code)


def vectors(
    out: Annotated[
        Path, WRITES_INTO, typer.Option("--out", help="The folder to write; files of the same names are replaced.")
    ],
) -> None:
    """Implementer: write conformance vectors for a second implementation of the format and the numerics.

    Small runs, logs and single functions with the results that they must have; README.md in the folder explains each.

    Example: counterfoil vectors --out vectors
    """
    from counterfoil.vectors import write_vectors

    written = write_vectors(out)
    terminal.console().print(f"Wrote {len(written)} files to {shown(str(out))}; README.md explains them.")
