"""What a bundle says of itself, for the overview: plain frozen values without any handle on the file."""

from __future__ import annotations

from collections.abc import Callable, Collection
from dataclasses import dataclass

from counterfoil.signing.comparedsteps import ComparedLine, FoundComparison, comparison_line, standing_of
from counterfoil_core.base.digest import Digest
from counterfoil_core.program.limits import Estimate
from counterfoil_core.remote.ranges import Fetched
from counterfoil_core.signing.subject import Subject
from counterfoil_core.values.outcome import Check, OrderSource
from counterfoil_core.values.steptable import Recorded


@dataclass(frozen=True)
class ArraySummary:
    """One data array of the order.

    Attributes:
        name: Its name.
        dtype: Dtype name.
        shape: Shape.
        digest: Tensor digest.
        file: Name of the data file in which it lies, as the client called it; None when it lies in the bundle.
    """

    name: str
    dtype: str
    shape: tuple[int, ...]
    digest: Digest
    file: str | None = None


@dataclass(frozen=True)
class SourceSummary:
    """A file that a part of the order was made from, as the client says.

    Attributes:
        part: The part, ``model`` or ``data``.
        file: The file's name.
        size: Its size in bytes.
        digest: Its SHA-256.
        revision: The revision of the repository that it came from, if that is known.
    """

    part: str
    file: str
    size: int
    digest: Digest
    revision: str | None = None


SHOWN_PATTERN = 1000
"""Steps of the pattern of several programs that a summary holds."""


@dataclass(frozen=True)
class CombiningBytes:
    """The memory that the combination of the shares of a step takes, beside what a share takes.

    Attributes:
        recording: In a process that records every share: what each gives is kept until the exponents are known.
        replay: In a replay, which adds share by share.
    """

    recording: int
    replay: int


@dataclass(frozen=True)
class OrderSummary:
    """What was ordered.

    Attributes:
        title: The client's name for the job.
        recipe: Recipe that wrote the order, for instance ``digits-cnn``.
        digest: Digest of the order's manifest.
        steps: Ordered training steps.
        batch_size: Rows per step.
        seed: Seed of every random draw.
        precision: The precision profile in words.
        compute: Dtype in which it computes.
        optimizer: The optimizer in words.
        programs: Digest of each program with its name; an order's only one has none.
        pattern: The names in the order of the steps, where several programs take turns, the first of them where they
            are many; it starts again when it is through. Else empty.
        operators: Number of operators of the programs.
        rounded_operators: How many of them are of class rounded.
        repeated_operators: How many of these repeat in a backward pass what the forward pass computed.
        without_bound: Operator kinds with a margin that no error bound proves, sorted; None when the programs have not
            been read yet.
        parameters: Number of trainable values.
        state_tensors: Number of state tensors (parameters, buffers, optimizer slots).
        state_bytes: Size of one state.
        data: The data arrays.
        data_root: Merkle root over them.
        initial_root: State root of the initial state.
        commit_every: A state is digested every so many steps.
        checkpoint_every: A state is stored every so many steps.
        estimate: What the largest step takes; None when a program has not been read yet, or is larger than the
            limits.
        pattern_steps: Number of steps of the pattern; 0 where there is none.
        exact_bits: S of an exact profile, under which there is no margin; None of another one.
        sources: The files that it was made from, as the client says; most orders name none.
        client_key: Key id of who signed it as its client; empty for an unsigned order.
        signed_at: When, by the client's clock; empty for an unsigned order.
        may_stop_early: The rule by which a run ends before its last step, in words; empty where it must have all.
        shares: Into how many shares the rows of a step are divided; 0 where they are not.
        shares_added: Whether what they give is added exactly; else it is handed on side by side.
        parties: Key ids of the parties that answer for shares, ascending; none where the trainer alone does.
        combining: What the combination takes beside the step itself; None where the programs have not been read.
    """

    title: str
    recipe: str
    digest: Digest
    steps: int
    batch_size: int
    seed: int
    precision: str
    optimizer: str
    programs: tuple[tuple[str, Digest], ...]
    pattern: tuple[str, ...]
    operators: int
    rounded_operators: int
    parameters: int
    state_tensors: int
    state_bytes: int
    data: tuple[ArraySummary, ...]
    data_root: Digest
    initial_root: Digest
    commit_every: int
    checkpoint_every: int
    without_bound: tuple[str, ...] | None = None
    estimate: Estimate | None = None
    exact_bits: int | None = None
    pattern_steps: int = 0
    repeated_operators: int = 0
    sources: tuple[SourceSummary, ...] = ()
    client_key: str = ""
    signed_at: str = ""
    may_stop_early: str = ""
    shares: int = 0
    compute: str = "float64"
    shares_added: bool = False
    parties: tuple[str, ...] = ()
    combining: CombiningBytes | None = None


@dataclass(frozen=True)
class RunSummary:
    """What was run, as the trainer recorded and signed it.

    Attributes:
        order_digest: The order that the trainer says it ran.
        run_root: Merkle root over the steps; None when the signature does not hold.
        steps: Recorded steps.
        checkpoints: Steps at which a state is stored.
        trainer_key: SHA-256 key id of the key that signed; empty when its signature does not hold.
        trainer_public: That key itself, as 64 hexadecimal digits; empty with its id.
        signed_at: When the trainer signed, ISO 8601 in UTC, as the trainer says.
        environment: Device, library versions and switches of the trainer's machine.
        recorded: What the trainer recorded of each step.
        accepted_at: When the trainer accepted the order, ISO 8601 in UTC, as the trainer says; empty when the
            acceptance does not hold.
    """

    order_digest: Digest
    run_root: Digest | None
    steps: int
    checkpoints: tuple[int, ...]
    trainer_key: str
    trainer_public: str
    signed_at: str
    environment: tuple[tuple[str, str], ...]
    recorded: Recorded
    accepted_at: str = ""

    @property
    def about(self) -> Subject | None:
        """Which run it is; None where no signature of it holds."""
        return Subject.of(self.order_digest, self.run_root, self.trainer_key)


@dataclass(frozen=True)
class BundleSummary:
    """What is in a bundle.

    Attributes:
        path: Where the file lies.
        file_bytes: Its size.
        order: What was ordered.
        run: What was run; None for an order that nobody has run yet.
        checks: The checks that need no replay (1 to 6), each with its state.
        client_order: Digest of the client's own order file, when one was given.
        sentence: One plain sentence on what matches and what does not.
        states_checked: Whether every stored state was compared with its state root, and has it.
        order_source: How it is known whose order it is.
        given_client_key: Key id of the client's public key that was given; empty when none was.
        fetched: How much was fetched of a file that lies elsewhere; None of a file of this machine.
        comparison: What lies beside the file, or beside the client's own order file when one was given, as the
            comparison of this order with the script that it came from; None where nothing does.
    """

    path: str
    file_bytes: int
    order: OrderSummary
    run: RunSummary | None
    checks: tuple[Check, ...]
    client_order: Digest | None
    sentence: str
    states_checked: bool = False
    order_source: OrderSource = "bundle"
    given_client_key: str = ""
    fetched: Fetched | None = None
    comparison: FoundComparison | None = None

    def compared(
        self,
        auditors: Collection[str] = (),
        *,
        client_known: bool = False,
        revoked: Callable[[str, str], bool] = lambda key_id, signed_at: False,
    ) -> ComparedLine | None:
        """Say how far the order was compared with the script that it came from; None where it came from none.

        Args:
            auditors: Key ids of auditors whom the reader trusts.
            client_known: Whether the reader knows the key that signed the order as the client's.
            revoked: Whether the reader knows that a key, by its id, no longer counts for what it signed at a time.
        """
        found, order = self.comparison, self.order
        if found is None:
            return comparison_line(None, None, order.recipe)
        client = order.client_key if client_known else self.given_client_key
        trainer = "" if self.run is None else self.run.trainer_key
        standing = standing_of(
            found,
            orderer=order.client_key,
            client=client,
            trainer=trainer,
            auditors=auditors,
            revoked=revoked(found.key_id, found.signed_at),
        )
        return comparison_line(found, standing, order.recipe)
