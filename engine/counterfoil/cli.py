"""The command line.

Exit codes are those of :class:`counterfoil.Outcome`, 0 to 4. What needs torch or Qt is imported in the
command that needs it, so that ``--help`` answers at once and the engine works without a window.
"""

from __future__ import annotations

import importlib
import logging
import signal
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from datetime import UTC, datetime
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
import typer.core

from counterfoil import __version__, terminal
from counterfoil.audit.values.outcome import CheckState, Outcome
from counterfoil.bundle.schema import PROFILES, Precision
from counterfoil.cancel import CancelToken
from counterfoil.commit.digest import PIECE_BYTES
from counterfoil.errors import (
    CancelledError,
    CounterfoilError,
    DataError,
    FileWriteError,
    ObstacleError,
    RefusedError,
    SignerError,
)
from counterfoil.inputs import read_input
from counterfoil.plaintext import one_line
from counterfoil.signer.client import Passphrase, SignerProcess, start_signer
from counterfoil.signer.environment import (
    drop_passphrase,
    hide_passphrase,
    take_descriptor,
)
from counterfoil.signer.frames import MAX_STATEMENT_BYTES
from counterfoil.signing import load_public_key, public_path
from counterfoil.terminal import shown
from counterfoil.wholefiles import check_target, remove_leftovers, write_whole

if TYPE_CHECKING:
    from rich.console import Console

    from counterfoil.audit.values.events import AuditFinished
    from counterfoil.audit.values.report import Kept, StepRow
    from counterfoil.training.order import OrderDraft

DEFAULT_SEQUENCE = 64
"""Length of a training sequence for a public size of GPT-2, whose context is much longer."""
MAX_VERDICT_BYTES = 64 * 2**20
"""A verdict on a million steps is far smaller; more is not read."""
MAX_TEXT_BYTES = 4 * 2**30
"""A text to learn from is held in memory."""
_LOG = logging.getLogger("counterfoil")
_WITH_KEY = ("train", "audit", "adjudicate", "sign", "keygen")
"""Commands that may need a passphrase."""
# What typer exits with by itself. Its 2 for a wrong call would read as INCONCLUSIVE.
_TYPER_EXITS = {0: 0, 2: Outcome.ERROR.exit_code}
_TYPER_STOPPED = (1, 130)
"""What typer exits with, next to silently, when somebody presses Ctrl-C; which one depends on its version."""

# The order in which people meet them; typer would list groups last.
_COMMANDS = (
    "order",
    "calibrate",
    "train",
    "inspect",
    "plan",
    "audit",
    "adjudicate",
    "referee",
    "panel",
    "verify",
    "sign",
    "keygen",
    "gui",
    "demo",
    "bench",
    "vectors",
)


class _Commands(typer.core.TyperGroup):
    def list_commands(self, ctx: Any) -> list[str]:
        return list(_COMMANDS)


app = typer.Typer(
    name="counterfoil",
    cls=_Commands,
    help="Find out whether the training you ordered is the training that happened.",
    epilog="Exit codes: 0 VERIFIED or done, 1 DISPUTED, 2 INCONCLUSIVE or stopped, 3 REFUSED, 4 ERROR.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
)
order_app = typer.Typer(no_args_is_help=True)
app.add_typer(order_app, name="order")
bench_app = typer.Typer(
    help="Developer: measure what recording and replaying cost on this machine.", no_args_is_help=True
)
app.add_typer(bench_app, name="bench")

BundleArgument = Annotated[Path, typer.Argument(help="The bundle, a .cfoil file.", show_default=False)]
OutOption = Annotated[Path, typer.Option("--out", "-o", help="The file to write.", show_default=False)]
ForceOption = Annotated[bool, typer.Option("--force", help="Replace files that exist already.")]
ExternalDataOption = Annotated[
    Path | None,
    typer.Option(
        help="Write the data to this file (.cfdata) instead of into the order, and into every run of it: for large "
        "data. Trainer and auditor need the file too, and name it with --data.",
        show_default=False,
    ),
]
DataOption = Annotated[
    Path | None,
    typer.Option(
        "--data",
        help="The data file (.cfdata), for an order that keeps its data outside. It is checked against the order.",
        show_default=False,
    ),
]
JsonOption = Annotated[bool, typer.Option("--json", help="Print JSON on standard output, for scripts.")]
DeviceOption = Annotated[str, typer.Option(help="Where to compute: cpu, cuda:0, cuda:1, ...")]
ThreadsOption = Annotated[
    int | None,
    typer.Option(help="Threads on the CPU; the result is the same for every number.", show_default="all cores"),
]
ClientOrderOption = Annotated[
    Path | None,
    typer.Option(
        "--order",
        help="The order as you, the client, kept it. Without it the order is taken from the run itself, and nobody "
        "knows whether it is what was ordered.",
        show_default=False,
    ),
]
TrainerKeyOption = Annotated[
    Path | None,
    typer.Option(
        help="The trainer's public key (.pub.pem), if you know it. Without it the key that the run names is used.",
        show_default=False,
    ),
]
HeadsOption = Annotated[
    Path | None,
    typer.Option(
        help="The tree heads that the trainer published while training (.jsonl): they show whether history was "
        "rewritten.",
        show_default=False,
    ),
]
AllowLargeOption = Annotated[
    bool,
    typer.Option(
        "--allow-large",
        help="Compute a program that is larger than the limits of operators, memory or computing; "
        "'counterfoil inspect' shows what it takes.",
    ),
]
BadFractionOption = Annotated[
    float, typer.Option(min=0.0, max=1.0, help="Share of bad segments that a sample must not let pass.")
]
TrialOption = Annotated[
    bool,
    typer.Option(
        help="Execute the first step here, on the CPU, before the order is written, so that it does not fail at the "
        "trainer. --no-trial for jobs that only a larger machine can execute."
    ),
]
StepsOption = Annotated[int, typer.Option(min=1, help="Training steps.")]
BatchOption = Annotated[int, typer.Option(min=1, help="Rows of the data per step.")]
RateOption = Annotated[float, typer.Option(min=0.0, help="Highest learning rate.")]
SeedOption = Annotated[
    int, typer.Option(min=0, max=2**64 - 1, help="Seed of initial weights, shuffling and every other random draw.")
]
CommitOption = Annotated[int, typer.Option(min=1, help="Digest the state every so many steps.")]
CheckpointOption = Annotated[
    int, typer.Option(min=1, help="Store the state every so many steps; a multiple of --commit-every.")
]

ImageFolderOption = Annotated[
    Path,
    typer.Option(
        help="Folder of the images: CIFAR-10, binary version (data_batch_1.bin, ...), or the IDX files of MNIST or "
        "Fashion-MNIST (train-images-idx3-ubyte, ..., also as .gz).",
        show_default=False,
    ),
]
RowsOption = Annotated[
    int | None, typer.Option(min=1, help="Use only so many images, the first ones.", show_default="all of them")
]
PaddingOption = Annotated[
    int, typer.Option(min=0, help="Shift images at random by up to so many pixels; 0 for not at all.")
]
FlipOption = Annotated[bool, typer.Option(help="Mirror images at random. Not for digits or letters.")]


class ResNet(StrEnum):
    """Residual networks that can be ordered."""

    RESNET18 = "resnet18"
    RESNET34 = "resnet34"
    RESNET50 = "resnet50"


class Vgg11(StrEnum):
    """Layouts of VGG-11 that can be ordered."""

    SMALL = "small"
    TORCHVISION = "torchvision"


class PaperExperiment(StrEnum):
    """The experiments of the paper."""

    RESNET50 = "resnet50"
    GPT2 = "gpt2"
    VGG11 = "vgg11"
    LOGISTIC = "logistic"


class Gpt2(StrEnum):
    """Sizes of public GPT-2 weights."""

    M124 = "124M"


class Profile(StrEnum):
    """Precision profiles that an order can name: compute dtype, then significand bits or format of the grid."""

    FLOAT64_24 = "float64-24"
    FLOAT64_23 = "float64-23"
    FLOAT64_22 = "float64-22"
    FLOAT64_21 = "float64-21"
    FLOAT64_20 = "float64-20"
    FLOAT64_19 = "float64-19"
    FLOAT64_18 = "float64-18"
    FLOAT32_BFLOAT16 = "float32-bfloat16"


class Margins(StrEnum):
    """Where the margins of an order come from."""

    PROVEN = "proven"
    CALIBRATED = "calibrated"


PrecisionOption = Annotated[
    Profile, typer.Option("--precision", help="How operators compute, and how many significand bits are kept.")
]
MarginsOption = Annotated[
    Margins | None,
    typer.Option(
        help="proven: from a bound on how far machines can differ, the default in float64; calibrated: from measured "
        "differences ('counterfoil calibrate' measures again), the default in float32.",
        show_default=False,
    ),
]


class _Done(SystemExit):
    """Ends a command with an exit code of ours; typer lets a SystemExit pass."""


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command line.

    Args:
        arguments: The arguments. Unless given, those of the process, which is then started again if there is a
            passphrase in its environment.

    Returns:
        The exit code.
    """
    try:
        if arguments is None:
            hide_passphrase()
        app(args=None if arguments is None else list(arguments))
    except _Done as done:
        return _code(done)
    except SystemExit as ended:
        if _code(ended) in _TYPER_STOPPED:
            return _show_error(CancelledError("Stopped; nothing was concluded."))
        return _TYPER_EXITS.get(_code(ended), Outcome.ERROR.exit_code)
    except CounterfoilError as error:
        return _show_error(error)
    except KeyboardInterrupt:
        return _show_error(CancelledError("Stopped; nothing was concluded."))
    except Exception as error:
        _LOG.debug("unexpected", exc_info=True)
        return _show_error(
            CounterfoilError(
                f"Counterfoil failed: {type(error).__name__}: {error}",
                remedy="This is a bug. Run the command again as 'counterfoil --debug ...', and report what it shows.",
            )
        )
    return 0


def _code(ended: SystemExit) -> int:
    return ended.code if isinstance(ended.code, int) else 0


def _show_error(error: CounterfoilError) -> int:
    outcome = Outcome.ERROR
    if isinstance(error, RefusedError):
        outcome = Outcome.REFUSED
    elif isinstance(error, (CancelledError, ObstacleError)):
        outcome = Outcome.INCONCLUSIVE
    out = terminal.console(stderr=True)
    out.print(f"[bold red]{outcome.value}[/]  {shown(error.sentence)}", soft_wrap=True)
    if error.remedy:
        out.print(shown(error.remedy), soft_wrap=True)
    _LOG.debug("%s: %s", type(error).__name__, error.detail, exc_info=error)
    return outcome.exit_code


@app.callback()
def _options(
    context: typer.Context,
    version: Annotated[bool, typer.Option("--version", help="Print the version and stop.", is_eager=True)] = False,
    debug: Annotated[bool, typer.Option("--debug", help="Show technical details of errors.")] = False,
) -> None:
    if version:
        print(f"counterfoil {__version__}")
        raise typer.Exit
    # What libraries warn of concerns developers: it goes to the log, which is shown with --debug.
    logging.captureWarnings(True)
    handler = logging.StreamHandler(sys.stderr)
    handler.setFormatter(terminal.LogFormatter())
    logging.basicConfig(handlers=[handler], level=logging.WARNING if debug else logging.CRITICAL)
    _LOG.setLevel(logging.DEBUG if debug else logging.CRITICAL)
    if context.invoked_subcommand not in _WITH_KEY:
        drop_passphrase()


@order_app.callback(invoke_without_command=True)
def order(
    context: typer.Context,
    source: Annotated[
        str | None,
        typer.Option(
            "--from",
            metavar="MODULE:FUNCTION",
            help="Order your own model: a function of yours that returns a counterfoil.CustomJob. It runs here and "
            "now, and never on the trainer's or the auditor's machine.",
            show_default=False,
        ),
    ] = None,
    out: Annotated[
        Path | None, typer.Option("--out", "-o", help="The file to write, with --from.", show_default=False)
    ] = None,
    trial: TrialOption = True,
    force: ForceOption = False,
) -> None:
    """Client: write an order, the file that says exactly what is to be trained.

    Example: counterfoil order --from mypackage.module:make_job --out job.cfoil
    """
    if context.invoked_subcommand is not None:
        if source is not None or out is not None or force or not trial:
            raise typer.BadParameter(f"Options of '{context.invoked_subcommand}' stand behind it; --from stands alone.")
        return
    if source is None or out is None:
        raise typer.BadParameter("Name a recipe, or give --from MODULE:FUNCTION and --out FILE.")
    _check_target(out, force)
    from counterfoil.training.custom import load_job, order_custom

    _write_order(order_custom(load_job(source)), out, trial=trial)


@order_app.command("digits-cnn")
def order_digits_cnn(
    out: OutOption,
    steps: StepsOption = 60,
    batch_size: BatchOption = 32,
    width: Annotated[int, typer.Option(min=1, help="Channels of the first block.")] = 16,
    learning_rate: RateOption = 0.1,
    seed: SeedOption = 0,
    commit_every: CommitOption = 1,
    checkpoint_every: CheckpointOption = 5,
    precision: PrecisionOption = Profile.FLOAT64_24,
    margins: MarginsOption = None,
    external_data: ExternalDataOption = None,
    trial: TrialOption = True,
    force: ForceOption = False,
) -> None:
    """Order a small residual network on the handwritten digits that come with Counterfoil.

    Example: counterfoil order digits-cnn --out job.cfoil --steps 60
    """
    _check_targets(out, external_data, force)
    _check_intervals(commit_every, checkpoint_every)
    from counterfoil.training.recipes.digits import order_digits
    from counterfoil_resources.digits import load_digits

    images, labels = load_digits()
    draft = order_digits(
        images,
        labels,
        steps=steps,
        batch_size=batch_size,
        width=width,
        learning_rate=learning_rate,
        seed=seed,
        commit_every=commit_every,
        checkpoint_every=checkpoint_every,
        precision=_precision(precision, margins),
    )
    _write_order(draft, out, external_data, trial=trial)


@order_app.command("resnet")
def order_residual_network(
    out: OutOption,
    data: ImageFolderOption,
    model: Annotated[ResNet, typer.Option(help="Which network: 11, 21 or 24 million parameters.")] = ResNet.RESNET50,
    rows: RowsOption = None,
    steps: StepsOption = 1000,
    batch_size: BatchOption = 64,
    crop_padding: PaddingOption = 4,
    flip: FlipOption = True,
    learning_rate: RateOption = 0.1,
    seed: SeedOption = 0,
    commit_every: CommitOption = 1,
    checkpoint_every: CheckpointOption = 100,
    precision: PrecisionOption = Profile.FLOAT64_24,
    margins: MarginsOption = None,
    external_data: ExternalDataOption = None,
    trial: TrialOption = True,
    force: ForceOption = False,
) -> None:
    """Order a residual network on CIFAR-10, MNIST or Fashion-MNIST.

    Example: counterfoil order resnet --model resnet18 --data cifar-10-batches-bin --out job.cfoil --steps 1000
    """
    _check_targets(out, external_data, force)
    _check_intervals(commit_every, checkpoint_every)
    from counterfoil.training.datasets import read_images
    from counterfoil.training.recipes.resnet import order_resnet

    pictures = read_images(data).first(rows)
    draft = order_resnet(
        pictures.images,
        pictures.labels,
        model=model.value,
        steps=steps,
        batch_size=batch_size,
        crop_padding=crop_padding,
        flip=flip,
        learning_rate=learning_rate,
        seed=seed,
        commit_every=commit_every,
        checkpoint_every=checkpoint_every,
        precision=_precision(precision, margins),
    )
    _write_order(draft, out, external_data, trial=trial)


@order_app.command("vgg11")
def order_vgg11(
    out: OutOption,
    data: ImageFolderOption,
    layout: Annotated[
        Vgg11, typer.Option(help="small: 10 million parameters, for 32x32 pixels; torchvision: 129 million.")
    ] = Vgg11.SMALL,
    rows: RowsOption = None,
    steps: StepsOption = 1000,
    batch_size: BatchOption = 16,
    crop_padding: PaddingOption = 4,
    flip: FlipOption = True,
    learning_rate: RateOption = 0.01,
    seed: SeedOption = 0,
    commit_every: CommitOption = 1,
    checkpoint_every: CheckpointOption = 100,
    precision: PrecisionOption = Profile.FLOAT64_24,
    margins: MarginsOption = None,
    external_data: ExternalDataOption = None,
    trial: TrialOption = True,
    force: ForceOption = False,
) -> None:
    """Order a VGG-11 on CIFAR-10, or on other images of at least 32x32 pixels.

    Example: counterfoil order vgg11 --data cifar-10-batches-bin --out job.cfoil --steps 1000
    """
    _check_targets(out, external_data, force)
    _check_intervals(commit_every, checkpoint_every)
    from counterfoil.training.datasets import read_images
    from counterfoil.training.recipes.vgg import order_vgg

    pictures = read_images(data).first(rows)
    draft = order_vgg(
        pictures.images,
        pictures.labels,
        layout=layout.value,
        steps=steps,
        batch_size=batch_size,
        crop_padding=crop_padding,
        flip=flip,
        learning_rate=learning_rate,
        seed=seed,
        commit_every=commit_every,
        checkpoint_every=checkpoint_every,
        precision=_precision(precision, margins),
    )
    _write_order(draft, out, external_data, trial=trial)


@order_app.command("logistic")
def order_logistic_regression(
    out: OutOption,
    data: Annotated[
        Path | None,
        typer.Option(
            help="A table: an .npz file with the arrays features (rows x columns) and labels (0 or 1).",
            show_default="a table is made up",
        ),
    ] = None,
    rows: Annotated[int, typer.Option(min=1, help="Rows of the table that is made up.")] = 16_384,
    features: Annotated[int, typer.Option(min=1, help="Columns of the table that is made up.")] = 128,
    steps: StepsOption = 256,
    batch_size: BatchOption = 1024,
    learning_rate: RateOption = 0.5,
    seed: SeedOption = 0,
    commit_every: CommitOption = 1,
    checkpoint_every: CheckpointOption = 64,
    precision: PrecisionOption = Profile.FLOAT64_24,
    margins: MarginsOption = None,
    external_data: ExternalDataOption = None,
    trial: TrialOption = True,
    force: ForceOption = False,
) -> None:
    """Order logistic regression on a table of yours, or on one that is made up.

    Example: counterfoil order logistic --rows 262144 --features 1024 --out job.cfoil
    """
    _check_targets(out, external_data, force)
    _check_intervals(commit_every, checkpoint_every)
    from counterfoil.training.recipes.logistic import order_logistic, read_table, synthetic_table

    table = synthetic_table(rows, features, seed) if data is None else read_table(data)
    draft = order_logistic(
        table.features,
        table.labels,
        steps=steps,
        batch_size=batch_size,
        learning_rate=learning_rate,
        seed=seed,
        commit_every=commit_every,
        checkpoint_every=checkpoint_every,
        precision=_precision(precision, margins),
    )
    _write_order(draft, out, external_data, trial=trial)


@order_app.command("gpt2")
def order_gpt2_text(
    out: OutOption,
    text: Annotated[
        Path, typer.Option(help="Any file; the model learns its bytes, or its tokens.", show_default=False)
    ],
    tokenizer: Annotated[
        Path | None, typer.Option(help="A tokenizer.json; the text is UTF-8 then.", show_default="bytes")
    ] = None,
    weights: Annotated[
        Path | None,
        typer.Option(help="Public weights to start from, a .safetensors file.", show_default="random ones"),
    ] = None,
    size: Annotated[
        Gpt2 | None,
        typer.Option(help="A public size, in the place of the next four.", show_default="the next four decide"),
    ] = None,
    layers: Annotated[int | None, typer.Option(min=1, help="Transformer blocks.", show_default="4")] = None,
    heads: Annotated[int | None, typer.Option(min=1, help="Attention heads.", show_default="4")] = None,
    width: Annotated[
        int | None, typer.Option(min=1, help="Width of the model; a multiple of --heads.", show_default="128")
    ] = None,
    context: Annotated[
        int | None, typer.Option(min=1, help="Bytes or tokens that the model can see at once.", show_default="64")
    ] = None,
    sequence: Annotated[
        int | None,
        typer.Option(
            min=1,
            help="Bytes or tokens of one training sequence, at most --context.",
            show_default="--context; 64 with --size",
        ),
    ] = None,
    dropout: Annotated[float, typer.Option(min=0.0, max=0.9, help="Dropout probability.")] = 0.1,
    steps: StepsOption = 100,
    batch_size: BatchOption = 8,
    warmup: Annotated[int, typer.Option(min=0, help="Steps over which the learning rate rises.")] = 10,
    learning_rate: Annotated[
        float | None,
        typer.Option(min=0.0, help="Highest learning rate.", show_default="0.001; 0.00005 with --weights"),
    ] = None,
    seed: SeedOption = 0,
    commit_every: CommitOption = 1,
    checkpoint_every: CheckpointOption = 10,
    precision: PrecisionOption = Profile.FLOAT64_24,
    margins: MarginsOption = None,
    external_data: ExternalDataOption = None,
    trial: TrialOption = True,
    force: ForceOption = False,
) -> None:
    """Order a GPT-2 of any size on the bytes or the tokens of a file, from random or from public weights.

    Example: counterfoil order gpt2 --text book.txt --out job.cfoil --layers 2 --width 64

    Example: counterfoil order gpt2 --text book.txt --out job.cfoil --size 124M --weights model.safetensors
    --tokenizer tokenizer.json
    """
    _check_targets(out, external_data, force)
    _check_intervals(commit_every, checkpoint_every)
    shape = {"layers": layers, "heads": heads, "width": width, "context": context}
    given = {name: number for name, number in shape.items() if number is not None}
    if size is not None and given:
        raise typer.BadParameter(f"--size decides --{' and --'.join(given)} already; give one or the other.")
    data = read_input(text, "a text to learn from", DataError, most=MAX_TEXT_BYTES)
    from counterfoil.training.recipes.gpt2 import PREFIX, SIZES, Gpt2Size, order_gpt2
    from counterfoil.training.tokens import tokenize
    from counterfoil.training.weights import read_weights

    tokens = None if tokenizer is None else tokenize(data, tokenizer)
    chosen = Gpt2Size() if size is None else SIZES[size.value]
    if size is None or weights is None:
        # Only public weights of a public size bring a vocabulary of their own; the text must fit it then.
        given["vocabulary"] = Gpt2Size().vocabulary if tokens is None else tokens.vocabulary
    draft = order_gpt2(
        data if tokens is None else tokens,
        size=replace(chosen, dropout=dropout, **given),
        sequence=sequence if size is None else sequence or DEFAULT_SEQUENCE,
        weights=None if weights is None else read_weights(weights, prefix=PREFIX),
        batch_size=batch_size,
        steps=steps,
        warmup=warmup,
        learning_rate=learning_rate if learning_rate is not None else 1e-3 if weights is None else 5e-5,
        seed=seed,
        commit_every=commit_every,
        checkpoint_every=checkpoint_every,
        precision=_precision(precision, margins),
    )
    _write_order(draft, out, external_data, trial=trial)


def _precision(profile: Profile, margins: Margins | None) -> Precision:
    precision = PROFILES[profile.value]
    return precision if margins is None else replace(precision, proven=margins is Margins.PROVEN)


def _check_intervals(commit_every: int, checkpoint_every: int) -> None:
    if checkpoint_every % commit_every:
        raise typer.BadParameter("--checkpoint-every must be a multiple of --commit-every: what is stored is digested.")


def _check_targets(out: Path, external_data: Path | None, force: bool) -> None:
    _check_target(out, force)
    if external_data is not None:
        _check_target(external_data, force)
        if external_data.resolve() == out.resolve():
            raise typer.BadParameter("--out and --external-data name the same file.")


def _write_order(draft: OrderDraft, out: Path, external_data: Path | None = None, *, trial: bool) -> None:
    console = terminal.console()
    if trial:
        _try_order(draft, console)
    manifest = draft.write(out, external_data=external_data, trial=False)
    console.print(f"Ordered {manifest.steps} steps of: {shown(one_line(manifest.title))}")
    console.print(f"Order digest {manifest.digest.hex}")
    if external_data is None:
        console.print(f"Wrote {shown(str(out))}. Keep it, and give the trainer a copy.")
    else:
        console.print(
            f"Wrote {shown(str(out))}, and its data to {shown(str(external_data))}. Keep both, and give the trainer "
            "copies."
        )


def _try_order(draft: OrderDraft, console: Console) -> None:
    """Execute the first step of an order, with a bar, and show what was found."""
    with cancel_on_interrupt() as cancel, terminal.progress("First step", console, unit="operators") as bar:
        from counterfoil.training import trial

        try:
            for event in draft.try_first_step(cancel):
                match event:
                    case trial.TrialStarted():
                        bar.start(event.total)
                    case trial.TrialProgress():
                        bar.update(event.done)
                    case trial.Trial():
                        found = event
        except CancelledError as error:
            raise CancelledError("Stopped; no order was written.") from error
    console.print(f"First step tried here: loss {found.loss:.4f}, {terminal.duration(found.seconds)}.")
    if found.warning:
        console.print(f"[bold yellow]WARNING[/]  {shown(found.warning)}", soft_wrap=True)


@app.command()
def calibrate(
    order: Annotated[Path, typer.Argument(help="An order, a .cfoil file.", show_default=False)],
    out: Annotated[
        Path | None,
        typer.Option(
            "--out", "-o", help="Write the order with the measured margins to this file.", show_default="only measure"
        ),
    ] = None,
    steps: Annotated[int, typer.Option(min=1, help="Steps to measure, from the first.")] = 3,
    data: DataOption = None,
    device: DeviceOption = "cpu",
    threads: ThreadsOption = None,
    allow_large: AllowLargeOption = False,
    json: JsonOption = False,
    force: ForceOption = False,
) -> None:
    """Client: measure how far other hardware would differ on an order, and set its margins by that.

    Each operator is computed again in other orders of summation. The margin of an operator kind becomes the largest
    difference, with 6 bits of headroom.

    Example: counterfoil calibrate job.cfoil --out calibrated.cfoil
    """
    if out is not None:
        _check_target(out, force)
    console = terminal.console(stderr=json)
    with cancel_on_interrupt() as cancel, terminal.progress("Calibrating", console) as bar:
        from counterfoil.program.limits import limits_for
        from counterfoil.training import calibration

        events = calibration.calibrate(
            order,
            out,
            steps=steps,
            data=data,
            device=device,
            threads=threads,
            cancel=cancel,
            limits=limits_for(allow_large),
        )
        for event in events:
            match event:
                case calibration.CalibrationStarted():
                    bar.start(event.steps)
                case calibration.CalibrationProgress():
                    bar.update(event.done)
                case calibration.Calibration():
                    found = event
    if json:
        terminal.print_json(found)
    else:
        terminal.show_calibration(console, found)
    if found.order is not None:
        console.print(f"Order digest {found.order.hex}")
        console.print(f"Wrote {shown(str(out))}. Keep it, and give the trainer a copy.")


@app.command()
def keygen(
    path: Annotated[Path, typer.Argument(help="The private key file to write, for instance trainer.pem.")],
    no_passphrase: Annotated[
        bool, typer.Option("--no-passphrase", help="Do not protect the private key: whoever gets the file can sign.")
    ] = False,
) -> None:
    """Trainer, auditor: make a key to sign with (Ed25519).

    Writes the private key, and beside it the public one for others, for instance trainer.pub.pem. Asks for a
    passphrase; a script gives it through the file descriptor whose number is in COUNTERFOIL_PASSPHRASE_FD, or in the
    environment variable COUNTERFOIL_PASSPHRASE.

    Example: counterfoil keygen trainer.pem
    """
    passphrase = Passphrase.given(None) if no_passphrase else _passphrase()
    with start_signer(path, "audit", passphrase, create=True) as made:
        key_id = made.public.key_id
    public = public_path(path)
    console = terminal.console()
    console.print(f"Wrote {shown(str(path))} (private: keep it) and {shown(str(public))} (public: give it away).")
    console.print(f"Key id {key_id}")


@app.command()
def train(
    order: Annotated[Path, typer.Argument(help="The client's order, a .cfoil file.", show_default=False)],
    out: OutOption,
    key: Annotated[Path, typer.Option(help="Your private key, from 'counterfoil keygen'.", show_default=False)],
    data: DataOption = None,
    heads: Annotated[
        Path | None,
        typer.Option(
            help="Append signed tree heads to this file (.jsonl) while training goes on; publish its lines, and nobody "
            "can say that history was rewritten.",
            show_default=False,
        ),
    ] = None,
    heads_every: Annotated[int, typer.Option(min=1, help="Sign a tree head after so many steps.")] = 10,
    device: DeviceOption = "cpu",
    threads: ThreadsOption = None,
    resume: Annotated[
        bool,
        typer.Option(
            "--resume", help="Go on with the recording that was stopped, if there is one; else begin from the start."
        ),
    ] = False,
    fresh: Annotated[
        bool, typer.Option("--fresh", help="Throw away the recording that was stopped, if there is one.")
    ] = False,
    allow_large: AllowLargeOption = False,
    force: ForceOption = False,
) -> None:
    """Trainer: carry out an order, record every step, and sign the run.

    Finished steps lie in a folder beside the run (.NAME.recording) until it is complete. Ctrl-C, a full disk or a power
    loss leave them there, and --resume goes on with them.

    Example: counterfoil train job.cfoil --out run.cfoil --key trainer.pem
    """
    if resume and fresh:
        raise typer.BadParameter("--resume goes on with what --fresh throws away; give one or the other.")
    from counterfoil.training.recording import has_published

    published = has_published(out)
    _check_target(out, force)
    if heads is not None:
        # The heads that a recording published are added to when it goes on.
        _check_target(heads, force or (resume and published))
    signing_key = _open_key(key, "train")
    console = terminal.console()
    if fresh and published:
        console.print(
            "[bold yellow]WARNING[/]  Tree heads of the recording that is thrown away were published. On another "
            "machine the new one will contradict them.",
            soft_wrap=True,
        )
    with signing_key, cancel_on_interrupt() as cancel, terminal.progress("Training", console) as bar:
        from counterfoil.program.limits import limits_for
        from counterfoil.training import recorder, recording

        events = recorder.record(
            order,
            out,
            signing_key,
            data=data,
            device=device,
            threads=threads,
            cancel=cancel,
            heads=heads,
            heads_every=heads_every,
            resume=resume,
            fresh=fresh,
            limits=limits_for(allow_large),
        )
        for event in events:
            match event:
                case recorder.RecordStarted():
                    bar.start(event.steps)
                case recorder.DataChecked():
                    bar.update(0, f"data file checked: {100 * event.done // max(event.total, 1)} %")
                case recording.RecordingChecked():
                    bar.update(0, f"recording checked: {100 * event.done // max(event.total, 1)} %")
                case recorder.RecordingResumed():
                    console.print(
                        f"Going on after step {event.steps}; the steps after {event.state}, whose state is stored, are "
                        "computed again first."
                        if event.steps > event.state
                        else f"Going on after step {event.steps}."
                    )
                case recorder.StepRestored():
                    bar.update(event.step, "computed again")
                case recorder.RunAssembled():
                    bar.update(event.total, f"run written: {100 * event.done // event.total} %")
                case recorder.OperatorRecorded():
                    bar.update(event.step - 1 + event.done / event.total)
                case recorder.StepRecorded():
                    bar.update(event.step, f"loss {event.loss:.4f}")
                case recorder.RecordFinished():
                    finished = event
    console.print(f"Run root {finished.run_root.hex}")
    console.print(f"Wrote {shown(str(out))}, signed with the key {signing_key.public.key_id}.")


@app.command()
def inspect(
    bundle: BundleArgument,
    order: ClientOrderOption = None,
    trainer_key: TrainerKeyOption = None,
    heads: HeadsOption = None,
    allow_large: AllowLargeOption = False,
    quick: Annotated[
        bool,
        typer.Option(
            "--quick", help="Do not read the stored states, most of a large file; it then says that it did not."
        ),
    ] = False,
    json: JsonOption = False,
) -> None:
    """Anyone: say what is in a bundle, and check what can be checked without replaying it.

    Exit code 0 when every such check passed, 3 when one failed: a part of the file is not what was ordered or signed;
    2 when the program is larger than the limits.

    Example: counterfoil inspect run.cfoil --order job.cfoil
    """
    public = load_public_key(trainer_key) if trainer_key else None
    with cancel_on_interrupt() as cancel, terminal.progress("Checking", terminal.console(stderr=True), "states") as bar:
        from counterfoil.audit import inspection
        from counterfoil.program.limits import limits_for

        def show(done: int, total: int) -> None:
            if done == 0:
                bar.start(total)
            bar.update(done)

        limits = limits_for(allow_large)
        summary = inspection.inspect(bundle, order, public, cancel, heads, limits, quick=quick, progress=show)
    if json:
        terminal.print_json(summary)
    else:
        terminal.show_summary(terminal.console(), summary)
    states = {check.state for check in summary.checks}
    outcome = Outcome.INCONCLUSIVE if CheckState.SKIPPED in states else Outcome.VERIFIED
    raise _Done((Outcome.REFUSED if CheckState.FAILED in states else outcome).exit_code)


@app.command()
def audit(
    run: Annotated[Path, typer.Argument(help="The trainer's run, a .cfoil file.", show_default=False)],
    order: ClientOrderOption = None,
    verdict: Annotated[
        Path | None, typer.Option(help="Write the signed verdict to this file; needs --key.", show_default=False)
    ] = None,
    key: Annotated[
        Path | None, typer.Option(help="Your private key, from 'counterfoil keygen'.", show_default=False)
    ] = None,
    data: DataOption = None,
    trainer_key: TrainerKeyOption = None,
    heads: HeadsOption = None,
    csv: Annotated[
        Path | None, typer.Option(help="Write the table of replayed steps to this file.", show_default=False)
    ] = None,
    capsule: Annotated[
        Path | None,
        typer.Option(
            help="On a confirmed dispute, write a capsule (.cfoil) of the disputed step to this file, for 'counterfoil "
            "adjudicate' on any machine.",
            show_default=False,
        ),
    ] = None,
    segments: Annotated[
        str | None,
        typer.Option(
            help="Which segments to replay, from one checkpoint to the next: all, a number of them drawn at random "
            "(5), or a list (3,7-9; a single one as 7-7). 'counterfoil plan' shows what each costs.",
            show_default="all",
        ),
    ] = None,
    confidence: Annotated[
        float | None,
        typer.Option(
            min=0.0,
            max=1.0,
            help="Draw as many segments at random as it takes to catch a run with --bad-fraction of bad ones with this "
            "probability, for instance 0.99.",
            show_default=False,
        ),
    ] = None,
    bad_fraction: BadFractionOption = 0.01,
    nonce: Annotated[
        str | None,
        typer.Option(
            help="The randomness of the sample, 64 hexadecimal digits, to draw one again. It must not be known to the "
            "trainer before the run is signed.",
            show_default="a fresh one",
        ),
    ] = None,
    resume: Annotated[
        bool,
        typer.Option(
            "--resume",
            help="Go on where an audit of this file with the same options was stopped or killed; it ends with the same "
            "verdict as one that was not.",
        ),
    ] = False,
    progress: Annotated[
        Path | None,
        typer.Option(
            help="Keep the progress of the audit in this file while it runs, and look for it there.",
            show_default="a file of its own in your state folder",
        ),
    ] = None,
    device: DeviceOption = "cpu",
    threads: ThreadsOption = None,
    allow_large: AllowLargeOption = False,
    json: JsonOption = False,
    force: ForceOption = False,
) -> None:
    """Auditor: replay a run step by step, compare every step with what the trainer signed, and give a verdict.

    Exit code 0 VERIFIED, 1 DISPUTED, 2 INCONCLUSIVE, 3 REFUSED, 4 ERROR. Ctrl-C stops the replay: INCONCLUSIVE; what
    was judged by then is kept, and --resume goes on from there.

    Example: counterfoil audit run.cfoil --order job.cfoil --verdict verdict.json --key auditor.pem
    """
    if (verdict is None) != (key is None):
        raise typer.BadParameter("--verdict and --key belong together: a verdict is signed.")
    if key is None:
        drop_passphrase()
    # Whatever could fail is tried before the replay, which may take hours.
    for target in (verdict, csv, capsule):
        if target is not None:
            _check_target(target, force)
    signing_key = _open_key(key, "audit", run) if key is not None else None
    public = load_public_key(trainer_key) if trainer_key else None
    from counterfoil.audit.values.sampling import SegmentRequest

    chosen = SegmentRequest.parse(segments, confidence, bad_fraction, nonce)

    console = terminal.console(stderr=json)
    rows: list[StepRow] = []
    finished: AuditFinished | None = None
    restoring = resume
    with cancel_on_interrupt() as cancel, terminal.progress("Replay", console) as bar:
        from counterfoil.audit import kept, replay
        from counterfoil.audit.values import events
        from counterfoil.program.limits import limits_for

        request = replay.AuditRequest(
            run=run,
            order=order,
            device=device,
            threads=threads,
            trainer_key=public,
            data=data,
            segments=chosen,
            heads=heads,
            limits=limits_for(allow_large),
            progress=progress if progress is not None else kept.state_folder(),
            resume=resume,
        )
        for event in replay.run_audit(request, cancel):
            match event:
                case events.AuditStarted():
                    bar.start(event.planned_steps)
                    if event.kept is not None and not resume:
                        console.print(
                            f"An earlier audit of this run judged {_judged(event.kept)}. Stop this one with Ctrl-C and "
                            "give --resume to go on from there."
                        )
                    if event.sample is not None and event.sample.nonce:
                        console.print(f"Sample drawn with the nonce {event.sample.nonce}")
                case events.CheckChanged() if event.check.state is CheckState.RUNNING:
                    bar.update(0, event.check.detail)
                case events.OperatorDone():
                    bar.update(len(rows) + event.done / event.total)
                case events.StepReplayed():
                    rows.append(event.row)
                    if not restoring:
                        bar.update(len(rows), event.row.match.value)
                case events.ProgressRestored():
                    restoring = False
                    bar.go_on_from(len(rows))
                    console.print(f"Goes on from an earlier audit, which judged {_judged(event.kept)}.")
                case events.AuditFinished():
                    finished = event
    assert finished is not None, "an audit ends in a report"
    report, evidence = finished.report, finished.evidence

    if json:
        terminal.print_json(report)
    else:
        terminal.show_report(console, report)
    if finished.kept is not None:
        console.print(f"Kept: {_judged(finished.kept)}. The same command with --resume goes on from there.")
    if finished.problem:
        console.print(shown(finished.problem))
    if csv is not None:
        from counterfoil.audit.table import write_steps_csv

        write_steps_csv(rows, csv)
        console.print(f"Wrote {shown(str(csv))}.")
    if capsule is not None:
        if evidence is None:
            console.print("No capsule was written: there is no single step that accuses the trainer.")
        else:
            from counterfoil.bundle.capsulewriter import write_capsule

            write_capsule(evidence, capsule)
            console.print(f"Wrote {shown(str(capsule))}. Anybody can check it with 'counterfoil adjudicate'.")
    if verdict is not None and signing_key is not None:
        if report.bundle_digest is None:
            # There is nothing that a verdict could be about; the exit code says the rest.
            console.print("No verdict was written: the file could not be read as a bundle, or changed meanwhile.")
        else:
            from counterfoil.audit.statement.verdict import preview_verdict

            _sign(preview_verdict(report, datetime.now(UTC)), signing_key, verdict)
            console.print(f"Wrote {shown(str(verdict))}, signed with the key {signing_key.public.key_id}.")
    raise _Done(report.outcome.exit_code)


def _judged(kept: Kept) -> str:
    return f"{kept.segments} of {kept.chosen} segments, up to step {kept.step}"


@app.command()
def adjudicate(
    capsule: Annotated[Path, typer.Argument(help="The dispute capsule, a .cfoil file.", show_default=False)],
    order: ClientOrderOption = None,
    verdict: Annotated[
        Path | None,
        typer.Option(help="Write the signed adjudication to this file; needs --key.", show_default=False),
    ] = None,
    key: Annotated[
        Path | None, typer.Option(help="Your private key, from 'counterfoil keygen'.", show_default=False)
    ] = None,
    trainer_key: TrainerKeyOption = None,
    device: DeviceOption = "cpu",
    threads: ThreadsOption = None,
    allow_large: AllowLargeOption = False,
    json: JsonOption = False,
    force: ForceOption = False,
) -> None:
    """Anyone: replay the one step of a dispute capsule, and say whether the trainer or the auditor is right.

    Exit code 0 REJECTED (the trainer is right), 1 CONFIRMED (the step is not what was ordered), 2 INCONCLUSIVE,
    3 REFUSED, 4 ERROR.

    Example: counterfoil adjudicate dispute.cfoil --order job.cfoil
    """
    if (verdict is None) != (key is None):
        raise typer.BadParameter("--verdict and --key belong together: an adjudication is signed.")
    if key is None:
        drop_passphrase()
    if verdict is not None:
        _check_target(verdict, force)
    signing_key = _open_key(key, "audit", capsule) if key is not None else None
    public = load_public_key(trainer_key) if trainer_key else None
    console = terminal.console(stderr=json)
    with cancel_on_interrupt() as cancel, terminal.progress("Replay", console) as bar:
        from counterfoil.audit import adjudicator as hearing
        from counterfoil.audit.values import events
        from counterfoil.program.limits import limits_for

        first = 1
        for event in hearing.adjudicate(
            capsule,
            order=order,
            trainer_key=public,
            device=device,
            threads=threads,
            cancel=cancel,
            limits=limits_for(allow_large),
        ):
            match event:
                case hearing.AdjudicationStarted():
                    first = event.first
                    bar.start(event.last - first + 1)
                case events.OperatorDone():
                    bar.update(event.step - first + event.done / event.total)
                case hearing.AdjudicationFinished():
                    report = event.report
    if json:
        terminal.print_json(report)
    else:
        terminal.show_adjudication(console, report)
    if verdict is not None and signing_key is not None:
        if report.capsule_digest is None:
            console.print("Nothing was signed: the file could not be read, or changed meanwhile.")
        else:
            from counterfoil.audit.statement.verdict import preview_adjudication

            _sign(preview_adjudication(report, datetime.now(UTC)), signing_key, verdict)
            console.print(f"Wrote {shown(str(verdict))}, signed with the key {signing_key.public.key_id}.")
    raise _Done(report.outcome.exit_code)


@app.command()
def plan(
    run: Annotated[Path, typer.Argument(help="The trainer's run, a .cfoil file.", show_default=False)],
    data: DataOption = None,
    bad_fraction: BadFractionOption = 0.01,
    device: DeviceOption = "cpu",
    threads: ThreadsOption = None,
    allow_large: AllowLargeOption = False,
    json: JsonOption = False,
) -> None:
    """Auditor: measure a few steps here, and show what each confidence costs in segments and in time.

    Example: counterfoil plan run.cfoil --bad-fraction 0.05
    """
    console = terminal.console(stderr=json)
    with cancel_on_interrupt() as cancel, terminal.progress("Measuring", console) as bar:
        from counterfoil.audit.timing import plan_audit
        from counterfoil.audit.values.plan import Plan, PlanProgress
        from counterfoil.program.limits import limits_for

        for event in plan_audit(
            run,
            data=data,
            bad_fraction=bad_fraction,
            device=device,
            threads=threads,
            cancel=cancel,
            limits=limits_for(allow_large),
        ):
            match event:
                case PlanProgress():
                    if event.done == 0:
                        bar.start(event.total)
                    bar.update(event.done)
                case Plan():
                    found = event
    if json:
        terminal.print_json(found)
    else:
        terminal.show_plan(console, found)


@app.command()
def referee(
    first: Annotated[Path, typer.Argument(help="One provider's run, a .cfoil file.", show_default=False)],
    second: Annotated[Path, typer.Argument(help="Another provider's run of the same order.", show_default=False)],
    order: ClientOrderOption = None,
    data: DataOption = None,
    device: DeviceOption = "cpu",
    threads: ThreadsOption = None,
    allow_large: AllowLargeOption = False,
    json: JsonOption = False,
) -> None:
    """Client: two providers ran one order and differ; find the step by binary search, replay it, and say who is wrong.

    Exit code 0 AGREED, 1 EXPOSED, 2 UNDECIDED, 3 REFUSED, 4 ERROR. The step in which they part is replayed, and the
    steps after it only if honest rounding explains it.

    Example: counterfoil referee a.cfoil b.cfoil --order job.cfoil
    """
    _compare([first, second], order, data, device, threads, allow_large, json)


@app.command()
def panel(
    runs: Annotated[list[Path], typer.Argument(help="Runs of the same order, two or more.", show_default=False)],
    order: ClientOrderOption = None,
    data: DataOption = None,
    device: DeviceOption = "cpu",
    threads: ThreadsOption = None,
    allow_large: AllowLargeOption = False,
    json: JsonOption = False,
) -> None:
    """Client: compare the runs of several providers; one honest one among them exposes the others.

    Every run that differs from the largest group that agrees is compared with it, and replayed from where they part
    until a step decides: the replay decides, not the majority. Exit codes as for 'counterfoil referee'.

    Example: counterfoil panel a.cfoil b.cfoil c.cfoil --order job.cfoil
    """
    _compare(runs, order, data, device, threads, allow_large, json)


def _compare(
    runs: Sequence[Path],
    order: Path | None,
    data: Path | None,
    device: str,
    threads: int | None,
    allow_large: bool,
    json: bool,
) -> None:
    console = terminal.console(stderr=json)
    with cancel_on_interrupt() as cancel, terminal.progress("Replay", console) as bar:
        from counterfoil.audit import panel, referee
        from counterfoil.program.limits import limits_for

        done = expected = 0
        events = panel.run_panel(
            runs,
            order=order,
            data=data,
            device=device,
            threads=threads,
            cancel=cancel,
            limits=limits_for(allow_large),
        )
        for event in events:
            match event:
                case panel.PanelCompared():
                    expected = event.steps
                    bar.start(expected)
                case referee.StepJudged():
                    done += 1
                    if done >= expected:  # the step in which two runs part has not decided
                        bar.start(done + 1)
                    bar.update(done, f"step {event.step}")
                case panel.PanelRuled():
                    done += 1
                    bar.update(done, f"step {event.parting.ruled_step}")
                case panel.PanelFinished():
                    report = event.report
    if json:
        terminal.print_json(report)
    else:
        terminal.show_panel(console, report)
    raise _Done(report.outcome.exit_code)


@app.command()
def verify(
    verdict: Annotated[Path, typer.Argument(help="The verdict, a .json file.", show_default=False)],
    key: Annotated[Path, typer.Option(help="The auditor's public key, a .pub.pem file.", show_default=False)],
    bundle: Annotated[
        Path | None, typer.Option(help="Check too that the verdict is about this file.", show_default=False)
    ] = None,
    json: JsonOption = False,
) -> None:
    """Anyone: check the signature of a verdict, or of an adjudication, and show what it says.

    The exit code is the verdict's: 0 only if it holds and says VERIFIED. It is 3 (REFUSED) if the verdict does not
    hold, was signed with another key, or is about another file.

    Example: counterfoil verify verdict.json --key auditor.pub.pem --bundle run.cfoil
    """
    from counterfoil.audit.statement.verdict import check_bundle_file, verify_signed

    checked = verify_signed(_read_verdict(verdict), load_public_key(key))
    if bundle is not None:
        with cancel_on_interrupt() as cancel, terminal.progress("Hashing", terminal.console(stderr=True), "MB") as bar:

            def show(done: int, total: int) -> None:
                if done == PIECE_BYTES:
                    bar.start(total // 10**6)
                bar.update(done / 10**6)

            check_bundle_file(checked, bundle, cancel, show)
    if json:
        terminal.print_json(checked)
    else:
        console = terminal.console()
        terminal.show_verdict(console, checked)
        about = f", and is about {shown(str(bundle))}" if bundle is not None else ""
        console.print(f"The verdict's signature holds{about}.")
    raise _Done(checked.outcome.exit_code)


@app.command()
def sign(
    statement: Annotated[
        Path, typer.Argument(help="What an audit could not sign, a .unsigned file.", show_default=False)
    ],
    out: OutOption,
    key: Annotated[Path, typer.Option(help="Your private key, from 'counterfoil keygen'.", show_default=False)],
    force: ForceOption = False,
) -> None:
    """Auditor: sign a verdict whose audit ended without its signature, for instance because the signer was ended.

    Shows what is signed. The file may have been brought here from the machine that replayed.

    Example: counterfoil sign verdict.json.unsigned --key auditor.pem --out verdict.json
    """
    _check_target(out, force)
    with _open_key(key, "audit") as signing_key:
        from counterfoil.audit.statement.verdict import verify_signed

        data = read_input(statement, "a statement to sign", DataError, most=MAX_STATEMENT_BYTES)
        envelope = signing_key.sign(data)
        # What contradicts itself, or is no verdict, is not written: nobody could use it.
        checked = verify_signed(envelope, signing_key.public)
        write_whole(out, envelope, what="the signed statement")
    console = terminal.console()
    terminal.show_verdict(console, checked)
    console.print(f"Wrote {shown(str(out))}, signed with the key {signing_key.public.key_id}.")


@app.command()
def gui(
    files: Annotated[
        list[Path] | None,
        typer.Argument(help="A bundle to open, or several to replay one after the other, or a verdict to read."),
    ] = None,
    order: ClientOrderOption = None,
    fresh: Annotated[bool, typer.Option("--fresh", help="Start without your stored settings.")] = False,
) -> None:
    """Auditor: open the window.

    Example: counterfoil gui run.cfoil --order job.cfoil
    """
    window = _window_module("main")
    raise _Done(window.run(files or [], order, fresh=fresh))


@app.command()
def demo(
    folder: Annotated[Path, typer.Option(help="Where the demo's files go.")] = Path("counterfoil-demo"),
) -> None:
    """Newcomer: see the whole job on handwritten digits, in about two minutes.

    Orders a training, records an honest and a tampered run of it, replays both in the window, and writes the signed
    verdicts. Without a display the window is drawn off screen and saved as pictures.

    Example: counterfoil demo
    """
    raise _Done(_window_module("demo").run(folder))


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
    _check_target(out, force=True)
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


@app.command()
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


def _window_module(name: str) -> Any:
    """Import a module of the window's package, which need not be installed."""
    try:
        return importlib.import_module(f"counterfoil_app.{name}")
    except ModuleNotFoundError as error:
        raise CounterfoilError(
            f"The window cannot be shown, because {error.name} is not installed.",
            remedy="Install it with: pip install 'counterfoil[gui]'",
        ) from error


@contextmanager
def cancel_on_interrupt() -> Iterator[CancelToken]:
    """Let Ctrl-C and a request to end set the token; a second one ends the process at once."""
    token = CancelToken()
    previous = {number: signal.getsignal(number) for number in (signal.SIGINT, signal.SIGTERM)}

    def stop(number: int, frame: object) -> None:
        token.cancel()
        signal.signal(number, signal.default_int_handler)

    for number in previous:
        signal.signal(number, stop)
    try:
        yield token
    finally:
        for number, handler in previous.items():
            signal.signal(number, handler)


def _open_key(path: Path, purpose: str, about: Path | None = None) -> SignerProcess:
    """Start the process that holds the private key; this one, which reads files of strangers, never does."""
    return start_signer(path, purpose, _passphrase(), about=about.name if about is not None else "")


def _passphrase() -> Passphrase:
    descriptor = take_descriptor()
    if descriptor is not None:
        return Passphrase.read_from(descriptor)
    return Passphrase.asked() if sys.stdin.isatty() else Passphrase.none()


def _sign(statement: bytes, signer: SignerProcess, target: Path) -> None:
    """Sign and write; what cannot be signed is kept, since it may be the work of days."""
    try:
        envelope = signer.sign(statement)
    except CounterfoilError as error:
        kept = target.with_name(f"{target.name}.unsigned")
        write_whole(kept, statement, what="the statement")
        raise SignerError(
            f"{error.sentence} What was to be signed is in {kept}, and nothing else is lost.",
            remedy=f"Sign it with: counterfoil sign {kept} --key KEY --out {target}",
            detail=str(error),
        ) from error
    finally:
        signer.close()
    write_whole(target, envelope, what="the signed statement")


def _check_target(path: Path, force: bool) -> None:
    """Refuse a file that cannot be written, before hours of work rather than after."""
    check_target(path, what="the file")
    if path.exists() and not force:
        raise FileWriteError(f"{path} exists already.", remedy="Choose another name, or add --force to replace it.")
    for part in remove_leftovers(path):
        terminal.console(stderr=True).print(f"Removed {shown(str(part))}, which a stopped process left behind.")


def _read_verdict(path: Path) -> bytes:
    return read_input(path, "a verdict", DataError, most=MAX_VERDICT_BYTES)


if __name__ == "__main__":
    sys.exit(main())
