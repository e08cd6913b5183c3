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
    """One data array of the order."""

    name: str  #: Its name.
    dtype: str  #: Dtype name.
    shape: tuple[int, ...]  #: Shape.
    digest: Digest  #: Tensor digest.
    #: Name of the data file in which it lies, as the client called it; None when it lies in the bundle.
    file: str | None = None


@dataclass(frozen=True)
class SourceSummary:
    """A file that a part of the order was made from, as the client says."""

    part: str  #: The part, ``model`` or ``data``.
    file: str  #: The file's name.
    size: int  #: Its size in bytes.
    digest: Digest  #: Its SHA-256.
    revision: str | None = None  #: The revision of the repository that it came from, if that is known.


SHOWN_PATTERN = 1000
"""Steps of the pattern of several programs that a summary holds."""


@dataclass(frozen=True)
class CombiningBytes:
    """The memory that the combination of the shares of a step takes, beside what a share takes."""

    recording: int  #: In a process that records every share: what each gives is kept until the exponents are known.
    replay: int  #: In a replay, which adds share by share.


@dataclass(frozen=True)
class OrderSummary:
    """What was ordered."""

    title: str  #: The client's name for the job.
    recipe: str  #: Recipe that wrote the order, for instance ``digits-cnn``.
    digest: Digest  #: Digest of the order's manifest.
    steps: int  #: Ordered training steps.
    batch_size: int  #: Rows per step.
    seed: int  #: Seed of every random draw.
    precision: str  #: The precision profile in words.
    optimizer: str  #: The optimizer in words.
    programs: tuple[tuple[str, Digest], ...]  #: Digest of each program with its name; an order's only one has none.
    #: The names in the order of the steps, where several programs take turns, the first of them where they are many; it
    #: starts again when it is through. Else empty.
    pattern: tuple[str, ...]
    operators: int  #: Number of operators of the programs.
    rounded_operators: int  #: How many of them are of class rounded.
    parameters: int  #: Number of trainable values.
    state_tensors: int  #: Number of state tensors (parameters, buffers, optimizer slots).
    state_bytes: int  #: Size of one state.
    data: tuple[ArraySummary, ...]  #: The data arrays.
    data_root: Digest  #: Merkle root over them.
    initial_root: Digest  #: State root of the initial state.
    commit_every: int  #: A state is digested every so many steps.
    checkpoint_every: int  #: A state is stored every so many steps.
    #: Operator kinds with a margin that no error bound proves, sorted; None when the programs have not been read yet.
    without_bound: tuple[str, ...] | None = None
    #: What the largest step takes; None when a program has not been read yet, or is larger than the limits.
    estimate: Estimate | None = None
    exact_bits: int | None = None  #: S of an exact profile, under which there is no margin; None of another one.
    pattern_steps: int = 0  #: Number of steps of the pattern; 0 where there is none.
    repeated_operators: int = 0  #: How many of these repeat in a backward pass what the forward pass computed.
    #: The files that it was made from, as the client says; most orders name none.
    sources: tuple[SourceSummary, ...] = ()
    client_key: str = ""  #: Key id of who signed it as its client; empty for an unsigned order.
    signed_at: str = ""  #: When, by the client's clock; empty for an unsigned order.
    #: The rule by which a run ends before its last step, in words; empty where it must have all.
    may_stop_early: str = ""
    shares: int = 0  #: Into how many shares the rows of a step are divided; 0 where they are not.
    compute: str = "float64"  #: Dtype in which it computes.
    shares_added: bool = False  #: Whether what they give is added exactly; else it is handed on side by side.
    #: Key ids of the parties that answer for shares, ascending; none where the trainer alone does.
    parties: tuple[str, ...] = ()
    #: What the combination takes beside the step itself; None where the programs have not been read.
    combining: CombiningBytes | None = None


@dataclass(frozen=True)
class RunSummary:
    """What was run, as the trainer recorded and signed it."""

    order_digest: Digest  #: The order that the trainer says it ran.
    run_root: Digest | None  #: Merkle root over the steps; None when the signature does not hold.
    steps: int  #: Recorded steps.
    checkpoints: tuple[int, ...]  #: Steps at which a state is stored.
    trainer_key: str  #: SHA-256 key id of the key that signed; empty when its signature does not hold.
    trainer_public: str  #: That key itself, as 64 hexadecimal digits; empty with its id.
    signed_at: str  #: When the trainer signed, ISO 8601 in UTC, as the trainer says.
    environment: tuple[tuple[str, str], ...]  #: Device, library versions and switches of the trainer's machine.
    recorded: Recorded  #: What the trainer recorded of each step.
    #: When the trainer accepted the order, ISO 8601 in UTC, as the trainer says; empty when the acceptance does not
    #: hold.
    accepted_at: str = ""

    @property
    def about(self) -> Subject | None:
        """Which run it is; None where no signature of it holds."""
        return Subject.of(self.order_digest, self.run_root, self.trainer_key)


@dataclass(frozen=True)
class BundleSummary:
    """What is in a bundle."""

    path: str  #: Where the file lies.
    file_bytes: int  #: Its size.
    order: OrderSummary  #: What was ordered.
    run: RunSummary | None  #: What was run; None for an order that nobody has run yet.
    checks: tuple[Check, ...]  #: The checks that need no replay (1 to 6), each with its state.
    client_order: Digest | None  #: Digest of the client's own order file, when one was given.
    sentence: str  #: One plain sentence on what matches and what does not.
    states_checked: bool = False  #: Whether every stored state was compared with its state root, and has it.
    order_source: OrderSource = "bundle"  #: How it is known whose order it is.
    given_client_key: str = ""  #: Key id of the client's public key that was given; empty when none was.
    #: How much was fetched of a file that lies elsewhere; None of a file of this machine.
    fetched: Fetched | None = None
    #: What lies beside the file, or beside the client's own order file when one was given, as the comparison of this
    #: order with the script that it came from; None where nothing does.
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
