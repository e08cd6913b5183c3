"""What the recipes of ``counterfoil order`` have in common: their options, and how their orders are written."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, TypedDict

import typer

from counterfoil.base.interrupt import cancel_on_interrupt
from counterfoil.base.oneline import one_line
from counterfoil.cli import terminal
from counterfoil.cli.commandevents import OrderWritten, Tell, report_target
from counterfoil.cli.keys import open_key
from counterfoil.cli.options import ForceOption, OutOption, numbered_files
from counterfoil.cli.places import OPENS_KEY, READS_NUMBERED, WRITES
from counterfoil.cli.stages import show_stages
from counterfoil.cli.targets import check_writable
from counterfoil.cli.terminal import markup
from counterfoil.signer.client import SignerProcess
from counterfoil.signer.environment import drop_passphrase
from counterfoil_core.base.errors import BundleError, CancelledError, DataError
from counterfoil_core.base.precision import PROFILES, AnyPrecision, ExactPrecision, Precision, profile_name
from counterfoil_core.base.stoprule import StopRule

if TYPE_CHECKING:
    from rich.console import Console

    from counterfoil.program.recompute import Segments
    from counterfoil.signing.comparedsteps import ComparedLine
    from counterfoil.training.division import Division
    from counterfoil.training.order import OrderDraft, Recomputation
    from counterfoil.training.secondlook import SecondLook
    from counterfoil.training.trial import Trial
    from counterfoil_core.bundle.schema import OrderManifest
    from counterfoil_core.signing.keys import PublicKey

# mypy wants the members spelt out; they would be a second list.
ProfileName = StrEnum("Profile", {name: name for name in PROFILES})  # type: ignore[misc]
"""Precision profiles that an order can name: compute dtype, then significand bits or format of the grid; or exact, then
the bits of a product's operands."""
DEFAULT_PROFILE = ProfileName("float64-24")


class SharedBuffers(StrEnum):
    """What becomes of a model's buffers where steps have shares."""

    FIRST = "first"
    MEAN = "mean"


class LastCheckpoint(StrEnum):
    """What the last stored state of a run holds."""

    WHOLE = "whole"
    WEIGHTS = "weights"


class Margins(StrEnum):
    """Where the margins of an order come from."""

    PROVEN = "proven"
    CALIBRATED = "calibrated"


class RecipeSettings(TypedDict):
    """What every recipe takes under these names."""

    seed: int
    commit_every: int
    checkpoint_every: int
    precision: AnyPrecision


SharesOption = Annotated[
    int | None,
    typer.Option(
        "--shares",
        min=1,
        metavar="W",
        help="Divide each batch into so many shares, so that several devices can train it. Their gradients are "
        "combined exactly: the run is the same on any number of devices.",
        show_default="a step is one program",
    ),
]


@dataclass(frozen=True, kw_only=True)
class AnyOrder:
    """What every order can be asked for."""

    recompute_activations: Annotated[
        str | None,
        typer.Option(
            "--recompute-activations",
            help="Activation checkpointing: compute activations again in the backward pass instead of keeping them. "
            "Less memory, about a third more time, the same training. The number of segments of the forward pass, or "
            "auto.",
            metavar="auto|N",
            show_default="activations are kept",
        ),
    ] = None
    stop_early_patience: Annotated[
        int | None,
        typer.Option(
            "--stop-early-patience",
            min=1,
            metavar="N",
            help="End the run before its last step if the loss has not fallen in N steps. Where it ends follows from "
            "the recorded losses, and the audit checks it.",
            show_default="all steps are trained",
        ),
    ] = None
    stop_early_fall: Annotated[
        float | None,
        typer.Option(
            "--stop-early-fall",
            min=0.0,
            metavar="X",
            help="With --stop-early-patience: how much the loss must have fallen in these steps.",
            show_default="0: at all",
        ),
    ] = None
    last_checkpoint: Annotated[
        LastCheckpoint,
        typer.Option(
            "--last-checkpoint",
            help="weights: the last stored state leaves out what the optimizer keeps, so that the run is smaller. It "
            "is judged as any other; nobody can train on from its end.",
        ),
    ] = LastCheckpoint.WHOLE
    row_leaves: Annotated[
        bool,
        typer.Option(
            "--row-leaves",
            help="Commit to each row of the data by itself, so that a dispute shows its judge the rows of its step and "
            "no others. The order digest is another each time.",
        ),
    ] = False
    trial: Annotated[
        bool,
        typer.Option(
            help="Execute the first step here, on the CPU, before the order is written, so that it does not fail at "
            "the trainer. --no-trial for jobs that only a larger machine can execute."
        ),
    ] = True
    key: Annotated[
        Path | None,
        OPENS_KEY,
        typer.Option(
            "--key",
            help="Sign the order as its client with this private key, from 'counterfoil keygen'.",
            show_default="the order stays unsigned; 'counterfoil sign-order' signs it later",
        ),
    ] = None
    force: ForceOption = False

    @property
    def segments(self) -> Segments | None:
        """How activations are computed again; raises typer.BadParameter."""
        from counterfoil.program.recompute import AUTO, check_segments

        text = self.recompute_activations
        if text is None or text == AUTO:
            return text
        try:
            segments = int(text)
            check_segments(segments)
        except (ValueError, DataError) as error:
            raise typer.BadParameter(
                "--recompute-activations takes auto, or a number of segments, 2 to 1000."
            ) from error
        return segments

    @property
    def stop_rule(self) -> StopRule | None:
        """The rule by which a run ends early; raises typer.BadParameter."""
        if self.stop_early_patience is None:
            if self.stop_early_fall is not None:
                raise typer.BadParameter("--stop-early-fall needs --stop-early-patience: in how many steps.")
            return None
        try:
            return StopRule(self.stop_early_patience, self.stop_early_fall or 0.0)
        except BundleError as error:
            raise typer.BadParameter(error.sentence) from error

    @cached_property
    def signer(self) -> SignerProcess | None:
        """The process that signs the order as its client; None, and no passphrase is kept, without a key."""
        if self.key is None:
            drop_passphrase()
            return None
        return open_key(self.key, "order")

    def shaped(self, draft: OrderDraft) -> OrderDraft:
        """Return an order that ends, and commits to its rows, as asked; raises DataError where there are no slots."""
        draft = draft.stopping_early(self.stop_rule)
        draft = draft.ending_with_weights() if self.last_checkpoint is LastCheckpoint.WEIGHTS else draft
        return draft.with_row_leaves() if self.row_leaves else draft


@dataclass(frozen=True, kw_only=True)
class OrderOptions:
    """What every recipe can be asked for, beside what is its own."""

    out: OutOption
    seed: Annotated[
        int, typer.Option(min=0, max=2**64 - 1, help="Seed of initial weights, shuffling and every other random draw.")
    ] = 0
    commit_every: Annotated[int, typer.Option(min=1, help="Digest the state every so many steps.")] = 1
    checkpoint_every: Annotated[
        int, typer.Option(min=1, help="Store the state every so many steps; a multiple of --commit-every.")
    ]
    shares: SharesOption = None
    micro_batches: Annotated[
        int,
        typer.Option(
            min=1,
            help="Split a batch, or a share of it, into so many parts, whose gradients are accumulated.",
            metavar="M",
        ),
    ] = 1
    buffers: Annotated[
        SharedBuffers,
        typer.Option(
            help="With --shares: running statistics and other buffers of the first share, as under "
            "DistributedDataParallel, or the mean of all shares'."
        ),
    ] = SharedBuffers.FIRST
    aggregate: Annotated[
        str | None,
        typer.Option(
            "--aggregate",
            metavar="RULE",
            help="With shares of parties that may lie: the rule that makes one gradient of theirs, such as krum, "
            "median or centred-clipping,radius=5 (docs/aggregation.md).",
            show_default="they are added",
        ),
    ] = None
    faulty: Annotated[int, typer.Option(min=0, help="With --aggregate: how many shares may be faulty.")] = 0
    worker_momentum: Annotated[
        float,
        typer.Option(
            min=0.0, max=1.0, help="With --aggregate: how much of its momentum a share keeps at each step; 0 for none."
        ),
    ] = 0.0
    signers: Annotated[
        list[Path] | None,
        READS_NUMBERED,
        typer.Option(
            "--signers",
            metavar="NUMBER=FILE",
            help="With --shares: the public key of the party that answers for a share, such as 2=party.pub.pem; once "
            "for each share that one answers for. Each signs what its shares give.",
            show_default="the trainer answers for all",
        ),
    ] = None
    precision: Annotated[
        ProfileName,
        typer.Option(
            "--precision",
            help="How operators compute, and how many significand bits are kept. exact-20 and exact-13: results "
            "defined by mathematics, without a log. Which to take: docs/profiles.md.",
            metavar="NAME",
        ),
    ] = DEFAULT_PROFILE
    margins: Annotated[
        Margins | None,
        typer.Option(
            help="proven: from a bound on how far machines can differ, the default in float64; calibrated: from "
            "measured differences ('counterfoil calibrate' measures again), the default in float32.",
            show_default=False,
        ),
    ] = None
    external_data: Annotated[
        Path | None,
        WRITES,
        typer.Option(
            help="Write the data to this file (.cfdata) instead of into the order, and into every run of it: for large "
            "data. Trainer and auditor need the file too, and name it with --data.",
            show_default=False,
        ),
    ] = None
    every: AnyOrder

    @property
    def settings(self) -> RecipeSettings:
        """What the recipe is called with."""
        precision = PROFILES[self.precision.value]
        if self.margins is not None and isinstance(precision, Precision):
            precision = replace(precision, proven=self.margins is Margins.PROVEN)
        return RecipeSettings(
            seed=self.seed,
            commit_every=self.commit_every,
            checkpoint_every=self.checkpoint_every,
            precision=precision,
        )

    @property
    def division(self) -> Division:
        """How a step is divided; raises DataError."""
        from counterfoil.training.division import Division

        return Division.of(
            self.shares, self.micro_batches, self.buffers.value, self.aggregate, self.faulty, self.worker_momentum
        )

    def check(self) -> None:
        """Refuse what cannot work, before any data are read.

        Raises:
            FileWriteError: A file exists already, or cannot be written.
            DataError: A step cannot be divided so.
            KeyFileError: A file holds no public key of a party.
            typer.BadParameter: Two options contradict each other.
        """
        check_writable(self.out, self.every.force)
        if self.external_data is not None:
            check_writable(self.external_data, self.every.force)
            if self.external_data.resolve() == self.out.resolve():
                raise typer.BadParameter("--out and --external-data name the same file.")
            if self.every.row_leaves:
                raise typer.BadParameter("--row-leaves is for data that lie in the order: leave out --external-data.")
        if self.checkpoint_every % self.commit_every:
            raise typer.BadParameter(
                "--checkpoint-every must be a multiple of --commit-every: what is stored is digested."
            )
        if self.margins is not None and isinstance(PROFILES[self.precision.value], ExactPrecision):
            raise typer.BadParameter(
                f"--margins says nothing about the profile {self.precision.value}: its results have none."
            )
        _ = self.every.segments, self.every.stop_rule
        self._parties()
        if self.shares or self.aggregate or self.faulty or self.worker_momentum:
            _ = self.division
        _ = self.every.signer  # a wrong passphrase is said before the work

    def _parties(self) -> list[PublicKey | None]:
        """Return the party of each share; none where nobody but the trainer answers for any."""
        files = numbered_files(self.signers, "--signers")
        if not files:
            return []
        count = self.shares or 1
        if max(files) >= count:
            raise typer.BadParameter(f"--signers names share {max(files)}; the shares are 0 to {count - 1} (--shares).")
        from counterfoil_core.signing.keys import load_public_key

        keys = {share: load_public_key(path) for share, path in files.items()}
        return [keys.get(share) for share in range(count)]

    def write(self, draft: OrderDraft) -> None:
        """Write the order, after the trial of its first step if one is wanted."""
        draft = self.every.shaped(draft.signed_by_parties(self._parties()))
        with cancel_on_interrupt() as cancel:
            draft = show_stages(draft.recomputing_in_stages(self.every.segments, cancel))
        write_order(draft, self.out, self.external_data, trial=self.every.trial, signer=self.every.signer)


_COLUMNS = 32
_HEIGHTS = "▁▂▃▄▅▆▇█"


def write_order(
    draft: OrderDraft,
    out: Path,
    external_data: Path | None = None,
    *,
    trial: bool,
    signer: SignerProcess | None = None,
    look: SecondLook | None = None,
    notes: Sequence[str] = (),
    beside: Callable[[], ComparedLine] | None = None,
) -> None:
    """Write an order, after the trial of its first step if one is wanted, and say what was written.

    Args:
        draft: The order.
        out: Where it goes.
        external_data: Where its data goes; into the order unless given.
        trial: Whether its first step is tried.
        signer: Holds the client's key; unsigned unless given.
        look: A second look at the code that was ordered, which ends with this.
        notes: Sentences on what was made of a script, which were said already.
        beside: Writes what belongs beside the order once that lies there, and returns what is to be said of it.
    """
    console = terminal.console()
    tried = None
    try:
        if trial:
            tried = _try_order(draft, console)
        look_note = "" if look is None else look.compare(draft)
    finally:
        if look is not None:
            look.close()
    if look_note:
        console.print(f"[bold yellow]WARNING[/]  {markup(look_note)}", soft_wrap=True)
    manifest = draft.write(out, external_data=external_data, trial=False, key=signer)
    console.print(f"Ordered {manifest.steps} steps of: {markup(one_line(manifest.title))}")
    if manifest.shares is not None:
        console.print(f"Each step has {shares_in_words(manifest)}.", soft_wrap=True)
    for note in draft.notes:
        console.print(markup(note), soft_wrap=True)
    if manifest.may_stop_early is not None:
        console.print(f"Its run {manifest.may_stop_early.describe()}.")
    if manifest.has_row_leaves:
        console.print("Each row of its data is a leaf: a dispute shows the rows of its step and no others.")
    for name, rates in draft.rates.items():
        console.print(rates_in_words(rates, name))
    console.print(f"Order digest {manifest.digest.hex}")
    console.print(signed_by_client("" if signer is None else signer.public.key_id), soft_wrap=True)
    if draft.recomputation is not None:
        console.print(_recomputed(draft.recomputation))
    from counterfoil.arithmetic.compute.devicelist import device_advice
    from counterfoil_core.program.estimate import estimate
    from counterfoil_core.program.limits import largest_estimate

    advised = device_advice(manifest.precision.compute, largest_estimate([estimate(one) for one in draft.programs.all]))
    for advice in advised:
        console.print(f"[bold yellow]NOTE[/]  {markup(advice)}", soft_wrap=True)
    if external_data is None:
        console.print(f"Wrote {markup(str(out))}. Keep it, and give the trainer a copy.")
    else:
        console.print(
            f"Wrote {markup(str(out))}, and its data to {markup(str(external_data))}. Keep both, and give the trainer "
            "copies."
        )
    compared = None if beside is None else beside()
    # At the very end: whoever is told of an order takes all that belongs to it.
    if (tell := report_target()) is not None:
        coarse = "" if tried is None else tried.warning
        less = "" if compared is None or not compared.less else compared.said
        agreed = () if compared is None or compared.less else (compared.said,)
        warnings = [*filter(None, (coarse, look_note, less)), *advised]
        _tell_written(tell, draft, manifest, tried, (out, external_data), warnings, (*notes, *agreed))


def shares_in_words(manifest: OrderManifest) -> str:
    """Return how the steps of an order are divided: ``8 shares of 2 rows, which are added exactly``."""
    assert manifest.shares is not None
    how = "which are added exactly" if manifest.shares.sums else "of which a rule of aggregation makes one"
    return f"{manifest.shares.count} shares of {manifest.program_rows} rows, {how}"


def signed_by_client(key_id: str) -> str:
    """Say who signed an order; ``key_id`` is empty for an unsigned one."""
    if key_id:
        return f"Signed as its client with the key {key_id}."
    return "The order is unsigned: nothing in it shows that you ordered it. 'counterfoil sign-order' signs it."


def rates_in_words(rates: Sequence[float], name: str = "") -> str:
    """Return the learning rates of an order in a line: first, highest, last, and their course.

    Args:
        rates: One for each step.
        name: Of the turn whose they are; empty for none.
    """
    begin = f"Learning rate of {markup(name)}" if name else "Learning rate"
    highest = max(rates)
    if min(rates) == highest:
        return f"{begin}: {highest:g} in every step"
    step = rates.index(highest) + 1
    return f"{begin}: first {rates[0]:g}, highest {highest:g} at step {step}, last {rates[-1]:g}  {_course(rates)}"


def _course(rates: Sequence[float]) -> str:
    """Draw numbers that are not negative as columns of eight heights, at most so many."""
    count = min(len(rates), _COLUMNS)
    parts = [rates[len(rates) * i // count : len(rates) * (i + 1) // count] for i in range(count)]
    most = max(rates)
    return "".join(_HEIGHTS[min(7, int(8 * max(part) / most))] for part in parts)


def _recomputed(found: Recomputation) -> str:
    before, after = found.before, found.after
    if before == after:
        return "Activations are kept: to recompute them would not save memory."
    return (
        f"Activations are recomputed: a step takes about {after.bytes / 2**20:,.1f} MiB in the place of "
        f"{before.bytes / 2**20:,.1f} MiB, and {after.flops / max(before.flops, 1):.2f} times the operations."
    )


def _try_order(draft: OrderDraft, console: Console) -> Trial:
    """Execute the first step of an order, with a bar, and show and return what was found."""
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
    said = [] if found.shown_loss is None else [f"loss {found.shown_loss:.4f}"]
    said += [f"{one_line(name)} {count:,}" for name, count in found.scores]
    console.print(f"First step tried here: {markup(', '.join([*said, terminal.duration(found.seconds)]))}.")
    if found.warning:
        console.print(f"[bold yellow]WARNING[/]  {markup(found.warning)}", soft_wrap=True)
    return found


def _tell_written(
    tell: Tell,
    draft: OrderDraft,
    manifest: OrderManifest,
    tried: Trial | None,
    files: tuple[Path, Path | None],
    warnings: Sequence[str],
    notes: Sequence[str],
) -> None:
    """Tell a program that called the command what was written."""
    from counterfoil.training.expectation import expected_of

    out, data = files
    rates = [rates_in_words(each, name) for name, each in draft.rates.items()]
    recomputed = [] if draft.recomputation is None else [_recomputed(draft.recomputation)]
    tell(
        OrderWritten(
            manifest.digest.hex,
            manifest.title,
            manifest.optimizer,
            profile_name(manifest.precision) or manifest.precision.describe(),
            manifest.steps,
            manifest.batch_size,
            0 if manifest.shares is None else manifest.shares.count,
            manifest.seed,
            manifest.checkpoint_every,
            tuple(f"{name}: {spec.dtype} {list(spec.shape)}" for name, spec in manifest.data.items()),
            out.stat().st_size,
            0 if data is None else data.stat().st_size,
            expected_of(draft, tried, data_outside=data is not None),
            tuple(warnings),
            (*notes, *draft.notes, *rates, *recomputed),
        )
    )
