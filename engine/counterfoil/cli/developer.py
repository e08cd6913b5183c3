"""Commands for developers and implementers: measuring, and conformance vectors."""

from __future__ import annotations

from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

from counterfoil import terminal
from counterfoil.cli.options import DeviceOption, ThreadsOption
from counterfoil.cli.targets import check_target
from counterfoil.terminal import shown
from counterfoil.wholefiles import write_whole

bench_app = typer.Typer(
    help="Developer: measure what recording and replaying cost on this machine.", no_args_is_help=True
)


class PaperExperiment(StrEnum):
    """The experiments of the paper."""

    RESNET50 = "resnet50"
    GPT2 = "gpt2"
    VGG11 = "vgg11"
    LOGISTIC = "logistic"


@bench_app.callback()
def _bench() -> None:
    """Keep ``paper`` a command of its own."""


@bench_app.command("paper")
def bench_paper(
    experiments: Annotated[
        list[PaperExperiment] | None,
        typer.Argument(help="Which experiments; all four unless named.", show_default=False),
    ] = None,
    out: Annotated[Path, typer.Option("--out", "-o", help="The page to write; replaced if it exists.")] = Path(
        "docs/paper-experiments.md"
    ),
    seconds: Annotated[
        float, typer.Option(min=1.0, help="Time for one experiment, roughly; its batch is made to fit.")
    ] = 120.0,
    images: Annotated[
        Path | None, typer.Option(help="Folder of CIFAR-10, binary version.", show_default="images are made up")
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


def vectors(
    out: Annotated[Path, typer.Option("--out", help="The folder to write; files of the same names are replaced.")],
) -> None:
    """Implementer: write conformance vectors for a second implementation of the format and the numerics.

    Small runs, logs and single functions with the results that they must have; README.md in the folder explains each.

    Example: counterfoil vectors --out vectors
    """
    from counterfoil.vectors import write_vectors

    written = write_vectors(out)
    terminal.console().print(f"Wrote {len(written)} files to {shown(str(out))}; README.md explains them.")
