"""Writing an order."""

from __future__ import annotations

import os
import warnings
from collections.abc import Generator, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
import numpy.typing as npt
from torch import Tensor

from counterfoil.bundle.writer import BundleWriter, write_data_file
from counterfoil.program.capture import CapturedStep
from counterfoil.program.recompute import AUTO, Segments, recompute_activations
from counterfoil.program.update import UpdateRule
from counterfoil.signing.partykeys import Party, public_keys
from counterfoil.training.capture import unite_turns
from counterfoil.training.stages import Preparing, run_stage
from counterfoil.training.trial import CoarseGridWarning, Trial, TrialEvent, try_steps
from counterfoil_core.arithmetic.beforehand import beforehand
from counterfoil_core.base.arrays import Array
from counterfoil_core.base.cancel import CancelToken
from counterfoil_core.base.errors import BundleError, DataError, ProgramError
from counterfoil_core.base.generators import finish
from counterfoil_core.base.precision import AnyPrecision, Precision
from counterfoil_core.base.sentence import say
from counterfoil_core.base.stoprule import StopRule
from counterfoil_core.base.turns import Turns
from counterfoil_core.bundle.lastcheckpoint import slots_to_leave_out
from counterfoil_core.bundle.reader import BundleReader
from counterfoil_core.bundle.schema import ArraySpec, ModuleNames, OrderManifest, check_file_name
from counterfoil_core.bundle.shares import STACK, SUM, Shares
from counterfoil_core.commit.rowtree import new_row_key, row_root
from counterfoil_core.commit.state import state_root, tensor_digest
from counterfoil_core.order.admission import check_inputs
from counterfoil_core.order.executable import LoadedOrder
from counterfoil_core.program.graph import Program
from counterfoil_core.program.limits import Estimate, largest_estimate
from counterfoil_core.program.torchdtypes import TORCH_DTYPES
from counterfoil_core.signing.claims import SignedOrder
from counterfoil_core.signing.keys import SigningKey
from counterfoil_core.signing.statements import sign_said


@dataclass(frozen=True)
class Recomputation:
    """What it brought to recompute activations: what a step took before, and what it takes."""

    before: Estimate
    after: Estimate


@dataclass(frozen=True)
class Sharing:
    """How the steps of an order are divided into shares."""

    count: int  #: How many shares a step has.
    rule: str  #: How what they give is combined.
    updates: Turns[Program]  #: The update programs.

    @property
    def shares(self) -> Shares:
        """What the order says of them."""
        return Shares(self.count, self.rule, self.updates.map(lambda program: program.digest))


@dataclass(frozen=True)
class OrderDraft:
    """An order before it is written."""

    manifest: OrderManifest  #: The manifest.
    programs: Turns[Program]  #: The programs.
    schedule: npt.NDArray[np.int64]  #: int64 ``[steps, batch_size]``.
    scalars: npt.NDArray[np.float64]  #: float64 ``[steps, scalars]``.
    data: Mapping[str, Array]  #: The data arrays by name.
    initial: Mapping[str, Array]  #: The initial state by name.
    #: The learning rate of each step of an optimizer, by the name of its turn, or by none.
    rates: Mapping[str, Sequence[float]]
    notes: tuple[str, ...] = ()  #: Sentences on what was made of the job, for the user.
    #: What it brought to recompute activations; None where the programs are as they were captured.
    recomputation: Recomputation | None = None
    #: The update programs, where steps have shares; ``programs`` are the gradient programs then.
    updates: Turns[Program] | None = None
    #: The key of the salts of rows, 32 bytes, where rows are leaves of a tree of their own.
    row_key: bytes | None = None

    @property
    def all_programs(self) -> tuple[Program, ...]:
        """Every program of the order, each once."""
        return (*self.programs.all, *(() if self.updates is None else self.updates.all))

    @property
    def program(self) -> Program:
        """The order's only program; raises ValueError where several take turns."""
        return self.programs.only

    def recomputing(self, segments: Segments | None = AUTO) -> OrderDraft:
        """Return the order with programs whose backward pass computes activations again instead of keeping them.

        Known as activation, or gradient, checkpointing: a step takes less memory and more time. On a machine that gives
        the same result for the same operands, as CPUs do, states and losses are the same, bit for bit; under an exact
        profile they are on every machine.

        Args:
            segments: See :func:`counterfoil.program.recompute.recompute_activations`; None leaves the order as it is.

        Raises:
            DataError: ``segments`` is neither 2 to 1000 nor ``auto``.
        """
        return finish(self.recomputing_in_stages(segments))

    def recomputing_in_stages(
        self, segments: Segments | None = AUTO, cancel: CancelToken | None = None
    ) -> Generator[Preparing, None, OrderDraft]:
        """Do what :meth:`recomputing` does, and report how many plans of each program are weighed.

        Args:
            segments: As in :meth:`recomputing`.
            cancel: Looked at between plans.

        Raises:
            DataError: As :meth:`recomputing`.
            CancelledError: ``cancel`` was set.
        """
        if segments is None:
            return self
        item_bytes = TORCH_DTYPES[self.manifest.precision.compute].itemsize
        found = {}
        for name, program in self.programs.parts.items():
            work = recompute_activations(program, segments, item_bytes, cancel)
            found[name] = yield from run_stage("Recomputation", "plans", work)
        made = Turns(found, self.programs.pattern)
        programs = made.map(lambda each: each.program)
        taken = Recomputation(
            largest_estimate([each.before for each in made.all]), largest_estimate([each.after for each in made.all])
        )
        manifest = replace(self.manifest, programs=programs.map(lambda program: program.digest))
        return replace(self, manifest=manifest, programs=programs, recomputation=taken)

    def stopping_early(self, rule: StopRule | None) -> OrderDraft:
        """Return the order with a rule by which its run ends before its last step; None leaves it as it is.

        Raises:
            DataError: The rule would never fire.
        """
        if rule is None:
            return self
        try:
            return replace(self, manifest=replace(self.manifest, may_stop_early=rule))
        except BundleError as error:
            raise DataError(error.sentence, remedy="Choose a patience below the number of steps.") from error

    def ending_with_weights(self) -> OrderDraft:
        """Return the order with a last checkpoint that leaves the optimizer's slots out: a smaller run.

        The run is judged as any other, since the state root of the last step is over the slots as well. Nobody can
        train on from its end.

        Raises:
            DataError: The optimizer has no slots.
        """
        if not slots_to_leave_out(self.initial.keys()):
            raise DataError(
                "The optimizer of the order keeps nothing from step to step, so that the last checkpoint is of the "
                "weights alone as it is.",
                remedy="Order it without --last-checkpoint.",
            )
        return replace(self, manifest=replace(self.manifest, last_of_weights=True))

    def with_row_leaves(self, key: bytes | None = None) -> OrderDraft:
        """Return the order with a salted Merkle leaf for each row, so that a dispute hands out its step's rows alone.

        Args:
            key: The key of the salts, 32 bytes; a new random one unless given. Whoever has it and a capsule can try
                guesses of rows that the capsule does not hold.
        """
        key = new_row_key() if key is None else key
        data = {
            name: replace(spec, rows=row_root(key, name, self.data[name])) for name, spec in self.manifest.data.items()
        }
        return replace(self, manifest=replace(self.manifest, data=data), row_key=key)

    def signed_by_parties(self, signers: Sequence[Party | None]) -> OrderDraft:
        """Return the order with parties that answer for its shares; with none it stays as it is.

        Args:
            signers: The public key of the party of each share, or the file that holds it; None for a share that the
                trainer answers for.

        Raises:
            DataError: The steps of the order have no shares, or not as many.
            KeyFileError: A file holds no Ed25519 public key.
        """
        if not signers:
            return self
        shares = self.manifest.shares
        if shares is None or shares.count != len(signers):
            count = "no" if shares is None else shares.count
            raise DataError(
                f"Parties are named for {len(signers)} shares, and the steps of the order have {count} shares.",
                remedy="Name a key, or none, for each share of a step.",
            )
        named = replace(shares, signers=public_keys(signers))
        return replace(self, manifest=replace(self.manifest, shares=named))

    def try_first_step(self, cancel: CancelToken | None = None) -> Iterator[TrialEvent]:
        """Read the program as others will, and execute the first step on the CPU as its trainer will.

        Of several programs that take turns the first step of each is executed, all from the initial state. Where steps
        have shares the first share is executed, and the update as if all shares gave the same.

        :meth:`write` does it too; this is for a program that shows the progress.

        Args:
            cancel: Looked at between operators.

        Yields:
            TrialStarted, TrialProgress now and then, and the Trial.

        Raises:
            TrialError: The step fails, or nobody could read the program; the sentence says where, and what to do.
            CancelledError: ``cancel`` was set.
        """
        order = LoadedOrder(
            self.manifest, self.programs, self.initial, self.schedule, self.scalars, self.data, self.updates
        )
        return try_steps(order, sorted(map(self.programs.first, self.programs.parts)), cancel)

    def write(
        self,
        path: str | os.PathLike[str],
        *,
        external_data: str | os.PathLike[str] | None = None,
        trial: bool = True,
        key: SigningKey | None = None,
    ) -> OrderManifest:
        """Try the first step of the order and write it as a bundle; returns its manifest.

        Args:
            path: Where the order goes.
            external_data: Where the data goes, for data too large to lie in the order and in every run of it; the
                order then names each array by its digest. None keeps the data in the order.
            trial: Whether to try the first step (:meth:`try_first_step`), so that no order is written that nobody can
                train. It takes the time and the memory of a step on the CPU, twice.
            key: The client's key, which signs the order; None leaves it unsigned.

        Warns:
            CoarseGridWarning: The grid is too coarse for a gradient of the first step.

        Raises:
            TrialError: The first step fails, or nobody could read the program; nothing was written.
            DataError: The name of the data file is not allowed in an order, or rows are leaves, and the data would lie
                outside.
            FileWriteError: A file cannot be written.
        """
        manifest, inside = self.manifest, self.data
        if external_data is not None and self.row_key is not None:
            raise DataError(
                "The rows of the order are leaves of a tree of their own, and its data would lie in a data file.",
                remedy="Leave out --row-leaves, or keep the data in the order.",
            )
        if external_data is not None:
            name = _plain_name(Path(external_data))
            outside = {array: replace(spec, file=name) for array, spec in manifest.data.items()}
            manifest, inside = replace(manifest, data=outside), {}
        if trial:
            for event in self.try_first_step():
                if isinstance(event, Trial) and event.warning:
                    warnings.warn(event.warning, CoarseGridWarning, stacklevel=2)
        if external_data is not None:
            write_data_file(external_data, self.data)
        with BundleWriter.create(path) as writer:
            programs = self.programs.map(Program.to_bytes)
            updates = None if self.updates is None else self.updates.map(Program.to_bytes)
            signature = None if key is None else sign_said(SignedOrder(manifest.digest), key)
            writer.write_order(
                manifest,
                programs,
                self.schedule,
                self.scalars,
                inside,
                self.initial,
                signature,
                updates,
                row_key=self.row_key,
            )
        return manifest


def sign_order_file(
    path: str | os.PathLike[str], out: str | os.PathLike[str], key: SigningKey, *, again: bool = False
) -> OrderManifest:
    """Sign an order that was written unsigned; every part of it is checked against its manifest first.

    Args:
        path: The order.
        out: Where the signed order goes; the same path replaces the file, whole or not at all.
        key: The client's key.
        again: Put the signature in the place of the one that the order has.

    Returns:
        The order's manifest, which stays as it is, and so does the order digest.

    Raises:
        DataError: It is a run, or signed already.
        RefusedError: The order is damaged.
        FileWriteError: The file cannot be written.
    """
    with BundleReader.open(path) as reader:
        if reader.has_run:
            raise DataError(
                say("{0} is a run: an order is signed before it is trained.", os.fspath(path)),
                remedy=say("Sign the order file that you keep."),
            )
        if reader.order_signature() is not None and not again:
            raise DataError(
                say("The order in {0} is signed already.", os.fspath(path)),
                remedy=say("Add --force to put your signature in the place of that one."),
            )
        manifest, contents = reader.manifest, reader.check_order_contents()
    with BundleWriter.create(out) as writer:
        writer.write_order(
            manifest,
            contents.programs,
            contents.schedule,
            contents.scalars,
            contents.data,
            contents.initial,
            sign_said(SignedOrder(manifest.digest), key),
            contents.updates,
            row_key=contents.row_key,
        )
    return manifest


def draft_order(
    *,
    title: str,
    recipe: str,
    captured: CapturedStep | Turns[CapturedStep],
    rule: UpdateRule,
    learning_rates: Sequence[float],
    schedule: npt.NDArray[np.int64],
    data: Mapping[str, Array],
    seed: int,
    precision: AnyPrecision | None = None,
    commit_every: int = 1,
    checkpoint_every: int = 10,
    notes: Sequence[str] = (),
) -> OrderDraft:
    """Put an order together.

    Args:
        title: The client's name for the job.
        recipe: Name of the recipe.
        captured: The captured step, or those that take turns.
        rule: The optimizer's update rule that was captured with it.
        learning_rates: One for each step.
        schedule: int64 ``[steps, batch_size]``: the dataset rows of each step.
        data: The arrays that the batch inputs read, by name; the first axis is the row.
        seed: Seed of every random draw, 0 to 2^64 - 1.
        precision: The precision profile; float64 to 24 significand bits by default.
        commit_every: See :class:`counterfoil_core.bundle.schema.OrderManifest`.
        checkpoint_every: See the same.
        notes: See :class:`OrderDraft`.

    Raises:
        DataError: The schedule, the data and the program do not fit together.
        ProgramError: The profile is exact, and an operator has no exact result.
    """
    scalars = np.array([rule.scalars(step, lr) for step, lr in enumerate(learning_rates, start=1)], np.float64)
    turns = captured if isinstance(captured, Turns) else Turns.alone(captured)
    made = unite_turns(turns.parts)
    return assemble_order(
        title=title,
        recipe=recipe,
        optimizer=describe_optimizer(turns.of(1), rule),
        programs=Turns(made.programs, turns.pattern),
        scalar_names=rule.scalar_names,
        scalars=scalars.reshape(len(learning_rates), len(rule.scalar_names)),
        state=made.state,
        module=made.module,
        schedule=schedule,
        data=data,
        seed=seed,
        precision=precision,
        commit_every=commit_every,
        checkpoint_every=checkpoint_every,
        rates={"": learning_rates},
        notes=notes_of(turns, notes),
        sharing=sharing_of(turns, made.updates),
    )


def notes_of(captured: Turns[CapturedStep], notes: Sequence[str]) -> tuple[str, ...]:
    """Return sentences for the user, each once: some, and those of steps that were captured."""
    return tuple(dict.fromkeys((*notes, *(note for step in captured.all for note in step.notes))))


def sharing_of(captured: Turns[CapturedStep], updates: Mapping[str, Program]) -> Sharing | None:
    """Return how the steps of an order are divided; None where they have no shares.

    Args:
        captured: The captured steps, which have all as many shares, or none.
        updates: Their update programs.
    """
    if not updates:
        return None
    step = captured.of(1)
    return Sharing(step.shares, STACK if step.stacked else SUM, Turns(dict(updates), captured.pattern))


def describe_optimizer(captured: CapturedStep, rule: UpdateRule) -> str:
    """Return an optimizer in words, for people."""
    return rule.describe() + (f", {captured.micro_batches} micro-batches" * (captured.micro_batches > 1))


def assemble_order(
    *,
    title: str,
    recipe: str,
    optimizer: str,
    programs: Turns[Program],
    scalar_names: tuple[str, ...],
    scalars: npt.NDArray[np.float64],
    state: Mapping[str, Tensor],
    module: ModuleNames | None,
    schedule: npt.NDArray[np.int64],
    data: Mapping[str, Array],
    seed: int,
    precision: AnyPrecision | None,
    commit_every: int,
    checkpoint_every: int,
    rates: Mapping[str, Sequence[float]],
    notes: Sequence[str] = (),
    sharing: Sharing | None = None,
) -> OrderDraft:
    """Put an order together from what its steps were turned into.

    Args:
        title: The client's name for the job.
        recipe: Name of the recipe.
        optimizer: The optimizer in words.
        programs: The programs, and how they take turns.
        scalar_names: Names of the per-step scalars.
        scalars: float64 ``[steps, scalars]``.
        state: The initial state.
        module: How files of the client's module name its tensors.
        schedule: int64 ``[steps, batch_size]``.
        data: The data arrays by name.
        seed: Seed of every random draw.
        precision: The precision profile; float64 to 24 significand bits by default.
        commit_every: See :class:`counterfoil_core.bundle.schema.OrderManifest`.
        checkpoint_every: See the same.
        rates: See :class:`OrderDraft`.
        notes: See the same.
        sharing: How steps are divided into shares; None where they are not.

    Raises:
        DataError: The schedule, the data and the programs do not fit together.
        ProgramError: The profile is exact, and an operator has no exact result.
    """
    schedule = np.ascontiguousarray(schedule, np.int64)
    if schedule.ndim != 2 or schedule.shape[0] != len(scalars) or not schedule.size:
        raise DataError("The schedule must hold one row of dataset rows for each step's learning rate.")
    if not 0 <= seed < 2**64:
        raise DataError(f"The seed {seed} does not fit 64 bits.", remedy="Choose one in 0 to 2^64 - 1.")
    for name, array in data.items():
        if schedule.min() < 0 or schedule.max() >= len(array):
            raise DataError(f"The schedule asks for rows that the data array {name!r} does not have.")
    initial = {name: tensor.detach().cpu().contiguous().numpy() for name, tensor in state.items()}
    updates = None if sharing is None else sharing.updates
    for program in (*programs.all, *(() if updates is None else updates.all)):
        beforehand(precision or Precision()).check_program(program)
    manifest = OrderManifest(
        title=title,
        recipe=recipe,
        optimizer=optimizer,
        seed=seed,
        steps=schedule.shape[0],
        batch_size=schedule.shape[1],
        commit_every=commit_every,
        checkpoint_every=checkpoint_every,
        precision=precision or Precision(),
        programs=programs.map(lambda program: program.digest),
        schedule=_spec("schedule", schedule),
        scalars=_spec("scalars", scalars),
        scalar_names=scalar_names,
        data={name: _spec(name, array) for name, array in data.items()},
        data_root=state_root(data),
        initial_root=state_root(initial),
        module=module,
        shares=None if sharing is None else sharing.shares,
    )
    draft = OrderDraft(manifest, programs, schedule, scalars, data, initial, rates, tuple(notes), updates=updates)
    try:
        check_inputs(manifest, programs, initial, updates)
    except ProgramError as error:
        raise DataError(f"The order does not fit together. {error.sentence}") from error
    return draft


def _plain_name(path: Path) -> str:
    try:
        return check_file_name(path.name)
    except BundleError as error:
        raise DataError(error.sentence, remedy="Choose a plain file name of at most 200 characters.") from error


def _spec(name: str, array: Array) -> ArraySpec:
    return ArraySpec(array.dtype.name, tuple(array.shape), tensor_digest(name, array))
