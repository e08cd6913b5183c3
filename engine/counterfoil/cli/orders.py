"""The commands that write an order: one for each recipe, and one for a client's own model."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from enum import StrEnum
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, TypedDict

import typer

from counterfoil.audit.values.filekind import WEIGHTS_SUFFIX
from counterfoil.base.interrupt import cancel_on_interrupt
from counterfoil.cli import terminal
from counterfoil.cli.commands import group_of_commands
from counterfoil.cli.groups import Defaults
from counterfoil.cli.keys import open_key
from counterfoil.cli.options import COUNTS, CountsOption, KeyOption, OutOption, named
from counterfoil.cli.order_options import (
    DEFAULT_PROFILE,
    AnyOrder,
    OrderOptions,
    ProfileName,
    SharesOption,
    signed_by_client,
    write_order,
)
from counterfoil.cli.places import READS, READS_FOLDER, READS_MODULE, SIGNS_AGAIN, WRITES
from counterfoil.cli.scripts import OrderCommands, draft_order, look_again, order_script, write_compared
from counterfoil.cli.stages import show_stages
from counterfoil.cli.targets import check_writable
from counterfoil.cli.terminal import markup
from counterfoil.training.finetuning import Scheduler, Task
from counterfoil_core.base.errors import DataError
from counterfoil_core.base.inputs import read_input
from counterfoil_core.base.precision import PROFILES

if TYPE_CHECKING:
    from counterfoil.program.recompute import Segments
    from counterfoil.training.datasets import ImageSet
    from counterfoil.training.evaluation import GivenWeights
    from counterfoil.training.huggingface import FineTuning
    from counterfoil.training.order import OrderDraft
    from counterfoil.training.scripts.handover import Wanted

DEFAULT_SEQUENCE = 64
"""Length of a training sequence for a public size of GPT-2, whose context is much longer."""
_COLUMNS = "--columns is written text=content, or prompt=question,completion=answer."
_EVALUATED = 8
"""Rows of a step of an evaluation."""
MAX_TEXT_BYTES = 4 * 2**30
"""A text to learn from is held in memory."""


order_app = group_of_commands(name="order", cls=OrderCommands, no_args_is_help=True)

StepsOption = Annotated[int, typer.Option(min=1, help="Training steps.")]
BatchOption = Annotated[int, typer.Option(min=1, help="Rows of the data per step.")]
LengthOption = Annotated[
    int | None, typer.Option(min=1, help="Most tokens of a row.", show_default="256, or what the model can see")
]
WarmupOption = Annotated[int, typer.Option(min=0, help="Steps over which the learning rate rises.")]


@dataclass(frozen=True, kw_only=True)
class Learning:
    """How long and how fast a model learns."""

    steps: StepsOption
    batch_size: BatchOption
    learning_rate: Annotated[float, typer.Option(min=0.0, help="Highest learning rate.")]

    @property
    def settings(self) -> LearningSettings:
        """What a recipe is called with."""
        return LearningSettings(steps=self.steps, batch_size=self.batch_size, learning_rate=self.learning_rate)


class LearningSettings(TypedDict):
    """What recipes take under these names."""

    steps: int
    batch_size: int
    learning_rate: float


@dataclass(frozen=True, kw_only=True)
class ImageOptions:
    """Images to learn from, and how they are shifted and mirrored."""

    data: Annotated[
        Path,
        READS_FOLDER,
        typer.Option(
            help="Folder of the images: CIFAR-10, binary version (data_batch_1.bin, ...), or the IDX files of MNIST or "
            "Fashion-MNIST (train-images-idx3-ubyte, ..., also as .gz).",
            show_default=False,
        ),
    ]
    rows: Annotated[
        int | None, typer.Option(min=1, help="Use only so many images, the first ones.", show_default="all of them")
    ] = None
    crop_padding: Annotated[
        int, typer.Option(min=0, help="Shift images at random by up to so many pixels; 0 for not at all.")
    ] = 4
    flip: Annotated[bool, typer.Option(help="Mirror images at random. Not for digits or letters.")] = True

    def read(self) -> ImageSet:
        """Read them; raises DataError."""
        from counterfoil.training.datasets import read_images

        return read_images(self.data).first(self.rows)


class ResNetModel(StrEnum):
    """Residual networks that can be ordered."""

    RESNET18 = "resnet18"
    RESNET34 = "resnet34"
    RESNET50 = "resnet50"


class Vgg11(StrEnum):
    """Layouts of VGG-11 that can be ordered."""

    SMALL = "small"
    TORCHVISION = "torchvision"


class Gpt2Checkpoint(StrEnum):
    """Sizes of public GPT-2 weights."""

    M124 = "124M"


@order_app.callback(invoke_without_command=True)
def order(
    context: typer.Context,
    *,
    source: Annotated[
        str | None,
        READS_MODULE,
        typer.Option(
            "--from",
            metavar="MODULE:FUNCTION",
            help="Order your own model: a function of yours that returns a counterfoil.CustomJob. It runs here and "
            "now, and never on the trainer's or the auditor's machine.",
            show_default=False,
        ),
    ] = None,
    script: Annotated[
        Path | None,
        READS,
        typer.Option(
            help="Order what a training script of yours trains, as it is; its arguments stand behind --. It runs here "
            "three times, in private copies of this folder (docs/for-trainers.md).",
            show_default=False,
        ),
    ] = None,
    out: Annotated[
        Path | None,
        WRITES,
        typer.Option("--out", "-o", help="The file to write, with --script or --from.", show_default=False),
    ] = None,
    max_steps: Annotated[
        int | None,
        typer.Option(min=1, help="Order at most so many steps, with --script.", show_default="as many as it trains"),
    ] = None,
    precision: Annotated[
        ProfileName | None,
        typer.Option(
            "--precision",
            help="How operators compute, with --script or --from: in the place of what the job says.",
            metavar="NAME",
            show_default="the job's own",
        ),
    ] = None,
    shares: SharesOption = None,
    second_look: Annotated[
        bool,
        typer.Option(
            help="Run the code once more in another process, with --from, while the first step is tried: a step that "
            "hangs on the order of a set, say, is another program there. --no-second-look for code that must not run "
            "twice."
        ),
    ] = True,
    compare: Annotated[
        int | None,
        typer.Option(
            min=0,
            help="Hold so many steps of the order against the script, with --script: it runs as it is, and each step "
            "is executed from its state. 0 compares nothing, and the order says so wherever it is shown.",
            show_default="all, or as many as it makes in two minutes",
        ),
    ] = None,
    answer: Annotated[
        list[str] | None,
        typer.Option(
            help="What the script decides by a value of its training beyond the steps that are compared, with "
            "--script: yes or no, or train.py:42=yes for one line.",
            show_default=False,
        ),
    ] = None,
    network: Annotated[
        bool,
        typer.Option(
            help="Let the script use the network the first time that it runs, with --script; the other times it has "
            "none."
        ),
    ] = True,
    every: AnyOrder,
) -> None:
    """Client: write an order, the file that says exactly what is to be trained.

    Example: counterfoil order --script train.py --out job.cfoil -- --lr 0.001

    Example: counterfoil order --from mypackage.module:make_job --out job.cfoil
    """
    if context.invoked_subcommand is not None:
        own = (source, script, out, max_steps, precision, shares, compare, answer)
        if any(each is not None for each in own) or every != AnyOrder() or not (second_look and network):
            raise typer.BadParameter(
                f"Options of '{context.invoked_subcommand}' stand behind it; --from and --script are used without a "
                "recipe."
            )
        return
    if (source is None) == (script is None) or out is None:
        raise typer.BadParameter("Name a recipe, or give --script FILE or --from MODULE:FUNCTION, and --out FILE.")
    if max_steps is not None and script is None:
        raise typer.BadParameter("--max-steps is for --script: a job says its own steps.")
    if script is None and (compare is not None or answer or not network):
        raise typer.BadParameter("--compare, --answer and --no-network are for --script.")
    if script is not None and not second_look:
        raise typer.BadParameter(
            "--no-second-look is for --from: a script runs again to be compared with its order, and --compare 0 leaves "
            "that out."
        )
    if shares is not None and script is not None:
        raise typer.BadParameter(
            "--shares is for --from and for recipes: of a script its steps are known, and not how their rows could be "
            "divided. Return a counterfoil.CustomJob with shares from a function, and name that with --from."
        )
    check_writable(out, every.force)
    segments = every.segments
    _ = every.stop_rule
    signer = every.signer
    profile = None if precision is None else PROFILES[precision.value]
    if script is not None:
        from counterfoil.training.following.answers import parse_answers
        from counterfoil.training.scripts.handover import Wanted

        wanted = Wanted(profile, max_steps, answers=parse_answers(answer or ()), compare=compare, network=network)
        _write_script(script, context.obj, wanted, segments, out, every)
        return
    assert source is not None
    from counterfoil.training.jobnames import load_job

    job = load_job(source)
    draft = draft_order(job if shares is None else job.divided(shares), profile, segments)
    look = look_again(draft, source, profile, segments, shares) if second_look else None
    write_order(every.shaped(draft), out, trial=every.trial, signer=signer, look=look)


def _write_script(
    script: Path, arguments: Sequence[str], wanted: Wanted, segments: Segments | None, out: Path, every: AnyOrder
) -> None:
    """Order what a script does, and write the order, with what was compared beside it."""
    from counterfoil.signing.comparedsteps import comparison_path

    check_writable(comparison_path(out), every.force)
    made = order_script(script, arguments, wanted, segments)
    draft = every.shaped(made.draft)
    beside = partial(write_compared, made.compared, draft.manifest, out, every.signer, every.force)
    write_order(draft, out, trial=every.trial, signer=every.signer, notes=made.notes, beside=beside)


@order_app.command("digits-cnn")
def order_digits_cnn(
    learning: Annotated[Learning, Defaults(steps=60, batch_size=32, learning_rate=0.1)],
    options: Annotated[OrderOptions, Defaults(checkpoint_every=5)],
    *,
    width: Annotated[int, typer.Option(min=1, help="Channels of the first block.")] = 16,
) -> None:
    """Order a small residual network on the handwritten digits that come with Counterfoil.

    Example: counterfoil order digits-cnn --out job.cfoil --steps 60
    """
    options.check()
    from counterfoil.training.recipes.digits import order_digits
    from counterfoil_resources.digits import load_digits

    images, labels = load_digits()
    draft = order_digits(
        images, labels, width=width, division=options.division, **learning.settings, **options.settings
    )
    options.write(draft)


@order_app.command("resnet")
def order_residual_network(
    pictures: ImageOptions,
    learning: Annotated[Learning, Defaults(steps=1000, batch_size=64, learning_rate=0.1)],
    options: Annotated[OrderOptions, Defaults(checkpoint_every=100)],
    *,
    model: Annotated[
        ResNetModel, typer.Option(help="Which network: 11, 21 or 24 million parameters.")
    ] = ResNetModel.RESNET50,
) -> None:
    """Order a residual network on CIFAR-10, MNIST or Fashion-MNIST.

    Example: counterfoil order resnet --model resnet18 --data cifar-10-batches-bin --out job.cfoil --steps 1000
    """
    options.check()
    from counterfoil.training.recipes.resnet import order_resnet

    read = pictures.read()
    draft = order_resnet(
        read.images,
        read.labels,
        model=model.value,
        crop_padding=pictures.crop_padding,
        flip=pictures.flip,
        division=options.division,
        **learning.settings,
        **options.settings,
    )
    options.write(draft)


@order_app.command("vgg11")
def order_vgg11(
    pictures: ImageOptions,
    learning: Annotated[Learning, Defaults(steps=1000, batch_size=16, learning_rate=0.01)],
    options: Annotated[OrderOptions, Defaults(checkpoint_every=100)],
    *,
    layout: Annotated[
        Vgg11, typer.Option(help="small: 10 million parameters, for 32x32 pixels; torchvision: 129 million.")
    ] = Vgg11.SMALL,
) -> None:
    """Order a VGG-11 on CIFAR-10, or on other images of at least 32x32 pixels.

    Example: counterfoil order vgg11 --data cifar-10-batches-bin --out job.cfoil --steps 1000
    """
    options.check()
    from counterfoil.training.recipes.vgg import order_vgg

    read = pictures.read()
    draft = order_vgg(
        read.images,
        read.labels,
        layout=layout.value,
        crop_padding=pictures.crop_padding,
        flip=pictures.flip,
        division=options.division,
        **learning.settings,
        **options.settings,
    )
    options.write(draft)


@order_app.command("logistic")
def order_logistic_regression(
    learning: Annotated[Learning, Defaults(steps=256, batch_size=1024, learning_rate=0.5)],
    options: Annotated[OrderOptions, Defaults(checkpoint_every=64)],
    *,
    data: Annotated[
        Path | None,
        READS,
        typer.Option(
            help="A table: an .npz file with the arrays features (rows x columns) and labels (0 or 1).",
            show_default="a table is made up",
        ),
    ] = None,
    rows: Annotated[int, typer.Option(min=1, help="Rows of the table that is made up.")] = 16_384,
    features: Annotated[int, typer.Option(min=1, help="Columns of the table that is made up.")] = 128,
) -> None:
    """Order logistic regression on a table of yours, or on one that is made up.

    Example: counterfoil order logistic --rows 262144 --features 1024 --out job.cfoil
    """
    options.check()
    from counterfoil.training.recipes.logistic import order_logistic, read_table, synthetic_table

    table = synthetic_table(rows, features, options.seed) if data is None else read_table(data)
    draft = order_logistic(
        table.features, table.labels, division=options.division, **learning.settings, **options.settings
    )
    options.write(draft)


@order_app.command("gpt2")
def order_gpt2_text(
    *,
    text: Annotated[
        Path, READS, typer.Option(help="Any file; the model learns its bytes, or its tokens.", show_default=False)
    ],
    tokenizer: Annotated[
        Path | None, READS, typer.Option(help="A tokenizer.json; the text is UTF-8 then.", show_default="bytes")
    ] = None,
    weights: Annotated[
        Path | None,
        READS,
        typer.Option(help="Public weights to start from, a .safetensors file.", show_default="random ones"),
    ] = None,
    size: Annotated[
        Gpt2Checkpoint | None,
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
    warmup: WarmupOption = 10,
    learning_rate: Annotated[
        float | None,
        typer.Option(min=0.0, help="Highest learning rate.", show_default="0.001; 0.00005 with --weights"),
    ] = None,
    options: Annotated[OrderOptions, Defaults(checkpoint_every=10)],
) -> None:
    """Order a GPT-2 of any size on the bytes or the tokens of a file, from random or from public weights.

    Example: counterfoil order gpt2 --text book.txt --out job.cfoil --layers 2 --width 64

    Example: counterfoil order gpt2 --text book.txt --out job.cfoil --size 124M --weights model.safetensors
    --tokenizer tokenizer.json
    """
    options.check()
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
        division=options.division,
        **options.settings,
    )
    options.write(draft)


@order_app.command("hf")
def order_fine_tuning(
    *,
    folder: Annotated[
        Path,
        READS_FOLDER,
        typer.Argument(
            metavar="MODEL_FOLDER",
            help="A local folder with config.json, weights as safetensors, and tokenizer.json or "
            "preprocessor_config.json. Nothing is downloaded.",
            show_default=False,
        ),
    ],
    data: Annotated[
        Path,
        READS,
        typer.Option(
            help="A file, or a folder of files: .jsonl or .parquet with the columns text, prompt and completion, text "
            "and label, image and label, or audio and text; images in a folder for each class; anything else is plain "
            "text.",
            show_default=False,
        ),
    ],
    task: Annotated[
        Task | None,
        typer.Option(help="What the model is trained for.", show_default="by the model and the data"),
    ] = None,
    lora: Annotated[
        str | None,
        typer.Option(
            help="Train low-rank adapters and leave the model's weights as they are: r=8, or "
            "r=8,alpha=16,dropout=0.05,modules=q_proj+v_proj.",
            metavar="SETTINGS",
            show_default="all weights learn",
        ),
    ] = None,
    epochs: Annotated[int, typer.Option(min=1, help="How often each row is seen.")] = 3,
    steps: Annotated[
        int | None, typer.Option(min=1, help="Training steps.", show_default="as many as --epochs take")
    ] = None,
    batch_size: BatchOption = 8,
    length: LengthOption = None,
    pack: Annotated[
        bool,
        typer.Option(
            "--pack",
            help="Join texts to full rows, in the place of a padded row for each; files of plain text always are.",
        ),
    ] = False,
    learning_rate: Annotated[
        float | None,
        typer.Option(
            "--learning-rate",
            "--lr",
            min=0.0,
            help="Highest learning rate.",
            show_default="0.00005; 0.0002 with --lora",
        ),
    ] = None,
    scheduler: Annotated[
        Scheduler, typer.Option(help="How the learning rate goes on after the warm-up.")
    ] = Scheduler.LINEAR,
    warmup: WarmupOption = 0,
    weight_decay: Annotated[float, typer.Option(min=0.0, help="Weight decay of matrices and embeddings.")] = 0.0,
    clip_norm: Annotated[
        float, typer.Option(min=0.0, help="Largest joint norm of the gradients; 0 for no limit.")
    ] = 1.0,
    columns: Annotated[
        str | None,
        typer.Option(
            help="What the data call these columns: text=content, or prompt=question,completion=answer.",
            metavar="NAMES",
            show_default=False,
        ),
    ] = None,
    options: Annotated[OrderOptions, Defaults(checkpoint_every=50)],
) -> None:
    """Order the fine-tuning of a Hugging Face model from a local folder, on local data.

    Example: counterfoil order hf gpt2-folder --data train.jsonl --lora r=8 --out job.cfoil
    """
    options.check()
    from counterfoil.training import huggingface

    settings = huggingface.FineTuning(
        task=task,
        lora=None if lora is None else huggingface.parse_lora(lora),
        steps=steps,
        epochs=epochs,
        batch_size=batch_size,
        micro_batches=options.micro_batches,
        shares=options.shares,
        buffers=options.buffers.value,
        aggregate=options.aggregate,
        faulty=options.faulty,
        worker_momentum=options.worker_momentum,
        length=length,
        pack=pack,
        learning_rate=learning_rate,
        scheduler=scheduler,
        warmup=warmup,
        weight_decay=weight_decay,
        clip_norm=clip_norm,
        columns=named(columns, _COLUMNS),
        **options.settings,
    )
    options.write(_prepared(folder, data, settings))


@order_app.command("evaluate")
def order_evaluation(
    context: typer.Context,
    *,
    folder: Annotated[
        Path | None,
        READS_FOLDER,
        typer.Argument(
            metavar="MODEL_FOLDER",
            help="A local folder as for 'order hf'. Nothing is downloaded, and no code of it is run.",
            show_default=False,
        ),
    ] = None,
    data: Annotated[
        Path | None, READS, typer.Option(help="What to score it on, as for 'order hf'.", show_default=False)
    ] = None,
    script: Annotated[
        Path | None,
        READS,
        typer.Option(
            help="Order what an evaluation script of yours counts, in the place of a folder and data; its arguments "
            "stand behind --. It runs here three times, in private copies of this folder (docs/evaluations.md).",
            show_default=False,
        ),
    ] = None,
    compare: Annotated[
        int | None,
        typer.Option(
            min=0,
            help="Hold so many steps of the order against the script, with --script; 0 compares nothing, and the order "
            "says so wherever it is shown.",
            show_default="all, or as many as it makes in two minutes",
        ),
    ] = None,
    counts: CountsOption = None,
    weights: Annotated[
        Path | None,
        READS,
        typer.Option(
            help="A run (.cfoil) whose final weights are scored, or a safetensors file.",
            show_default="those of the folder",
        ),
    ] = None,
    task: Annotated[
        Task | None,
        typer.Option(help="What the model is for.", show_default="by the model and the data"),
    ] = None,
    batch_size: BatchOption = _EVALUATED,
    length: LengthOption = None,
    pack: Annotated[
        bool, typer.Option("--pack", help="Join texts to full rows, in the place of a padded row for each.")
    ] = False,
    columns: Annotated[
        str | None,
        typer.Option(help="What the data call these columns, as for 'order hf'.", metavar="NAMES", show_default=False),
    ] = None,
    precision: Annotated[
        ProfileName, typer.Option("--precision", help="How operators compute.", metavar="NAME")
    ] = DEFAULT_PROFILE,
    checkpoint_every: Annotated[
        int | None,
        typer.Option(
            min=1,
            help="Store the state every so many steps: several machines can replay then, or a sample be drawn.",
            show_default="at the end",
        ),
    ] = None,
    out: OutOption,
    every: AnyOrder,
) -> None:
    """Order what a model scores on data: right answers and loss of a Hugging Face model, or what a script counts.

    The order is trained, replayed and judged as any other; nothing learns. 'counterfoil facts' and the verdict
    state the score. A model of your own is scored with a script, or with 'order --from' and a function that returns a
    counterfoil.Evaluation.

    Example: counterfoil order evaluate model-folder --data test.jsonl --weights run.cfoil --out score.cfoil

    Example: counterfoil order evaluate --script test.py --out score.cfoil -- --weights model.pt
    """
    check_writable(out, every.force)
    of_folder = (folder, data, weights, task, length, columns)
    if script is None and (folder is None or data is None):
        raise typer.BadParameter("Name a folder with a model, and --data; or give --script FILE.")
    if script is None and (compare is not None or counts is not None):
        raise typer.BadParameter("--compare and --counts are for --script.")
    if script is not None and (any(each is not None for each in of_folder) or pack or batch_size != _EVALUATED):
        raise typer.BadParameter("With --script the script says what is scored, and on which data, in which batches.")
    if every.segments is not None or every.stop_rule is not None:
        raise typer.BadParameter(
            "An evaluation has no backward pass, and reads every row: --recompute-activations and "
            "--stop-early-patience are for trainings."
        )
    _ = every.signer
    if script is not None:
        from counterfoil.training.scripts.handover import Wanted

        profile = PROFILES[precision.value]
        wanted = Wanted(
            profile,
            takeovers=False,
            compare=compare,
            evaluates=True,
            counts=named(counts, COUNTS),
            checkpoint_every=checkpoint_every,
        )
        _write_script(script, context.obj, wanted, None, out, every)
        return
    assert folder is not None
    assert data is not None
    from counterfoil.training import huggingface

    settings = huggingface.FineTuning(
        task=task,
        batch_size=batch_size,
        length=length,
        pack=pack,
        columns=named(columns, _COLUMNS),
        precision=PROFILES[precision.value],
        checkpoint_every=checkpoint_every or 0,
    )
    draft = _prepared(folder, data, settings, evaluates=True, weights=None if weights is None else _given(weights))
    write_order(every.shaped(draft), out, trial=every.trial, signer=every.signer)


def _given(weights: Path) -> GivenWeights:
    """The weights in a safetensors file, or those that a run ends with."""
    from counterfoil.training.evaluation import GivenWeights, read_weights

    if weights.suffix == WEIGHTS_SUFFIX:
        return read_weights(weights)
    import torch

    from counterfoil.delivery.export import final_weights

    return GivenWeights(weights, {name: torch.from_numpy(array) for name, array in final_weights(weights).items()})


def _prepared(
    folder: Path,
    data: Path,
    settings: FineTuning,
    *,
    evaluates: bool = False,
    weights: GivenWeights | None = None,
) -> OrderDraft:
    """Draft a fine-tuning, or an evaluation, with a bar for each stage, and show what was made of the data."""
    from counterfoil.training.huggingface import prepare_huggingface

    with cancel_on_interrupt() as cancel:
        prepared = show_stages(
            prepare_huggingface(folder, data, settings, cancel, evaluates=evaluates, weights=weights)
        )
    console = terminal.console()
    for note in prepared.notes:
        console.print(markup(note))
    return prepared.draft


def sign_order(
    order: Annotated[Path, READS, typer.Argument(help="Your order, a .cfoil file.", show_default=False)],
    key: KeyOption,
    out: Annotated[
        Path | None,
        SIGNS_AGAIN,
        typer.Option("--out", "-o", help="The file to write.", show_default="the order itself, replaced whole"),
    ] = None,
    force: Annotated[
        bool,
        typer.Option("--force", help="Replace a file that exists, and a signature that the order has."),
    ] = False,
) -> None:
    """Client: sign an order, so that a run of it shows who ordered it.

    The order and its digest stay as they are: only the signature is put beside it. The trainer gets the signed file.

    Example: counterfoil sign-order job.cfoil --key client.pem
    """
    if out is not None and out.resolve() != order.resolve():
        check_writable(out, force)
    with open_key(key, "order") as signer:
        from counterfoil.training.order import sign_order_file

        manifest = sign_order_file(order, order if out is None else out, signer, again=force)
        key_id = signer.public.key_id
    console = terminal.console()
    console.print(f"Order digest {manifest.digest.hex}")
    console.print(signed_by_client(key_id), soft_wrap=True)
    console.print(f"Wrote {markup(str(order if out is None else out))}. Keep it, and give the trainer a copy.")
