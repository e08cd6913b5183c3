"""Commands that write what a run or a verdict holds in formats that others read."""

from __future__ import annotations

import shlex
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
import typer.core

from counterfoil.audit.values.delivery import DeliveryProgress
from counterfoil.base.interrupt import cancel_on_interrupt
from counterfoil.base.wholefiles import write_whole
from counterfoil.cli import monitor, terminal
from counterfoil.cli.commands import group_of_commands
from counterfoil.cli.options import (
    AverageOption,
    ForceOption,
    NewFile,
    RunArgument,
    VerdictArgument,
)
from counterfoil.cli.places import ASKS_SERVER, READS, READS_FOLDER, READS_VERDICT, WRITES, WRITES_INTO, WRITES_WEIGHTS
from counterfoil.cli.reader import Reader, VerdictReader
from counterfoil.cli.signedfile import SignedFile
from counterfoil.cli.targets import check_writable
from counterfoil.cli.terminal import markup
from counterfoil_core.signing.keys import load_public_key
from counterfoil_core.values.trust import check_independent

if TYPE_CHECKING:
    pass

_WEIGHTS = "weights"

FolderOption = Annotated[
    Path, WRITES_INTO, typer.Option("--out", "-o", help="The folder to write into.", show_default=False)
]


@dataclass(frozen=True, kw_only=True)
class Summary:
    """A verdict that is told in another form, and signed."""

    verdict: VerdictArgument
    file: SignedFile
    reader: Reader
    verdict_key: Annotated[
        Path | None,
        READS,
        typer.Option(
            "--verdict-key",
            help="The public key that signed the verdict, if it is not yours.",
            show_default="that of --key",
        ),
    ] = None
    timestamp: Annotated[
        str | None,
        ASKS_SERVER,
        typer.Option(
            "--timestamp",
            help="The address of a time-stamping server (RFC 3161), which learns a hash of the signature.",
            show_default=False,
        ),
    ] = None
    timestamp_ca: Annotated[
        Path | None,
        READS,
        typer.Option(
            "--timestamp-ca",
            help="The certificate (.pem) under which the server's stamp must stand; without it whoever reads it looks.",
            show_default=False,
        ),
    ] = None


class _Exports(typer.core.TyperGroup):
    """``export RUN --safetensors DIR`` is short for ``export weights RUN --safetensors DIR``."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        if args and args[0] not in self.commands and not args[0].startswith("-"):
            args = [_WEIGHTS, *args]
        return super().parse_args(ctx, args)


export_app = group_of_commands(
    name="export",
    cls=_Exports,
    help="Write a run's weights and curves, or a verdict, in formats that others read.\n\n"
    "'counterfoil export RUN --safetensors DIR' is short for 'counterfoil export weights RUN --safetensors DIR'.",
    no_args_is_help=True,
)


@export_app.command(_WEIGHTS)
def weights(
    run: RunArgument,
    safetensors: Annotated[
        Path,
        WRITES_WEIGHTS,
        typer.Option("--safetensors", help="The folder for model.safetensors.", show_default=False),
    ],
    step: Annotated[
        int | None, typer.Option(min=1, help="A step whose state is stored.", show_default="the last")
    ] = None,
    average: AverageOption = False,
    force: ForceOption = False,
) -> None:
    """Write the weights of a run as a safetensors file, with the names and dtypes of the client's module.

    Example: counterfoil export run.cfoil --safetensors model/
    """
    with cancel_on_interrupt() as cancel, terminal.progress("Weights", terminal.console(stderr=True), "tensors") as bar:
        with cancel.at_once():
            from counterfoil.delivery.export import export_weights

        for event in export_weights(run, safetensors, step=step, average=average, replace=force, cancel=cancel):
            match event:
                case DeliveryProgress():
                    bar.start(event.total)
                    bar.update(event.done)
                case written:
                    target = written
    terminal.console().print(f"Wrote {markup(str(target))}.", soft_wrap=True)


@export_app.command()
def svr(asked: Summary) -> None:
    """Write a VERIFIED verdict as in-toto's Simple Verification Result, signed, in a Sigstore bundle.

    Example: counterfoil export svr verdict.json --key auditor.pem --out svr.sigstore.json
    """
    _export_summary("svr", asked)


@export_app.command()
def vsa(asked: Summary) -> None:
    """Write a verdict as SLSA's Verification Summary, signed, in a Sigstore bundle.

    VERIFIED is PASSED, DISPUTED is FAILED; anything else is neither, and is refused.

    Example: counterfoil export vsa verdict.json --key auditor.pem --out vsa.sigstore.json
    """
    _export_summary("vsa", asked)


def _export_summary(kind: str, asked: Summary) -> None:
    path, timestamp = asked.verdict, asked.timestamp
    with asked.file.open("summary") as signer:
        from counterfoil.exports.sigstore import envelope_signature, sigstore_bundle
        from counterfoil.exports.summary import svr_statement, vsa_statement
        from counterfoil.exports.timestamp import ask_server, request_timestamp
        from counterfoil.trust.verdictfile import read_judgement
        from counterfoil_core.base import canonical
        from counterfoil_core.base.digest import Digest

        public = signer.public if asked.verdict_key is None else load_public_key(asked.verdict_key)
        judged = read_judgement(path, asked.reader.store, [public])
        said = judged.counted()
        check_independent(signer.public.key_id, said.trainer_key, said.parties)
        statement = svr_statement(said) if kind == "svr" else vsa_statement(said, path.name, Digest.of(judged.envelope))
        envelope = signer.sign(canonical.encode(statement))
        outside = monitor.current_monitor()
        ask = ask_server if outside is None else outside.ask_server
        stamps = (
            []
            if timestamp is None
            else [request_timestamp(timestamp, envelope_signature(envelope), asked.timestamp_ca, ask)]
        )
        write_whole(asked.file.out, sigstore_bundle(envelope, signer.public, stamps), what="the bundle")
    terminal.console().print(asked.file.signed(signer), soft_wrap=True)


@export_app.command("model-card")
def model_card(
    verdict: VerdictArgument,
    given: VerdictReader,
    out: Annotated[
        Path | None, WRITES, typer.Option("--out", "-o", help="The file to write.", show_default="standard output")
    ] = None,
    force: ForceOption = False,
) -> None:
    """Write what a verdict says as a section for a model's card, in Markdown.

    Example: counterfoil export model-card verdict.json --key auditor.pub.pem >> README.md
    """
    if out is not None:
        check_writable(out, force)
    from counterfoil.exports.modelcard import model_card as section

    text = section(given.read(verdict).counted(), given.key.name, verdict.name)
    if out is None:
        print(text)
    else:
        write_whole(out, text.encode(), what="the section")
        terminal.console().print(f"Wrote {markup(str(out))}.", soft_wrap=True)


@export_app.command()
def hub(
    run: RunArgument,
    source: Annotated[
        Path,
        READS_FOLDER,
        typer.Option(
            "--from",
            help="The model's folder, for its config.json and its tokenizer. Its weights are not looked at.",
            show_default=False,
        ),
    ],
    verdict: Annotated[
        Path, READS_VERDICT, typer.Option(help="The verdict on this run, a .json file.", show_default=False)
    ],
    given: VerdictReader,
    out: Annotated[
        Path, WRITES, typer.Option("--out", "-o", help="The folder to make; it must not exist.", show_default=False)
    ],
    base: Annotated[
        str,
        typer.Option(
            help="For a run that trained adapters: the name under which others find the model that was adapted.",
            show_default=False,
        ),
    ] = "",
    include: Annotated[
        list[str] | None,
        typer.Option(
            help="The name of another file in the model's folder to copy, as it is. Can be given several times.",
            show_default=False,
        ),
    ] = None,
    average: AverageOption = False,
    shard_mb: Annotated[int, typer.Option(min=1, help="Size of a file of weights at most, in MB.")] = 50_000,
) -> None:
    """Write a folder as a model hub holds it: weights, configuration, tokenizer, a card, the verdict and the keys.

    It loads with from_pretrained, passes 'counterfoil verify-weights', and its card says what the verdict says and no
    more. Nothing is sent anywhere: the command prints the line that does it.

    Example: counterfoil export hub run.cfoil --from model/ --verdict verdict.json --key auditor.pub.pem --out hub/
    """
    from counterfoil.hub.folder import Wanted, Written, write_folder
    from counterfoil.hub.source import read_source

    judged = given.read(verdict)
    judged.check()
    wanted = Wanted(base, average, shard_mb * 10**6)
    with cancel_on_interrupt() as cancel, terminal.progress("Folder", terminal.console(stderr=True), "%") as bar:
        bar.start(100)
        for event in write_folder(run, read_source(source, include or ()), judged, out, wanted, cancel):
            match event:
                case DeliveryProgress():
                    bar.update(100 * event.done / max(1, event.total))
                case Written():
                    written = event
    console = terminal.console()
    for note in written.notes:
        console.print(markup(note), soft_wrap=True)
    console.print(f"{written.delivered.outcome.value}  {markup(written.delivered.sentence)}", soft_wrap=True)
    console.print(f"Wrote {markup(str(out))}. To publish it with your own tool:", soft_wrap=True)
    name, folder = shlex.quote(f"YOUR-NAME/{out.resolve().name}"), shlex.quote(str(out))
    console.print(f"hf upload {markup(name)} {markup(folder)} .", soft_wrap=True)


@export_app.command()
def csv(run: RunArgument, file: NewFile) -> None:
    """Write the curves of a run, loss, learning rate and size of the log, as a table.

    Example: counterfoil export csv run.cfoil --out curves.csv
    """
    file.check()
    with cancel_on_interrupt() as cancel:
        from counterfoil.exports import curves

        curves.write_csv(curves.read_curves(run, cancel), file.out)
    terminal.console().print(f"Wrote {markup(str(file.out))}.", soft_wrap=True)


@export_app.command()
def tensorboard(run: RunArgument, out: FolderOption) -> None:
    """Write the curves of a run for TensorBoard; needs the package tensorboard.

    Example: counterfoil export tensorboard run.cfoil --out logs/
    """
    _export_curves("write_tensorboard", run, out)


@export_app.command()
def mlflow(run: RunArgument, out: FolderOption) -> None:
    """Write the curves of a run into an MLflow store of files; needs the package mlflow.

    Example: counterfoil export mlflow run.cfoil --out mlruns/
    """
    _export_curves("write_mlflow", run, out)


def _export_curves(how: str, run: Path, out: Path) -> None:
    with cancel_on_interrupt() as cancel, terminal.progress("Curves", terminal.console(stderr=True)) as bar:
        from counterfoil.exports import curves

        found = curves.read_curves(run, cancel)
        bar.start(found.steps)
        for done in getattr(curves, how)(found, out):
            cancel.check()
            bar.update(done)
    terminal.console().print(f"Wrote {found.steps} steps into {markup(str(out))}.", soft_wrap=True)
