"""Everything about a bundle that can be checked without replaying: checks 1 to 6.

What needs only the structure of the file, the order's manifest and the signed claim comes first; what reads the whole
order (3 and 4) and the whole record of the run (6) follows, so that a large bundle shows its overview at once. The
states that a run stores are compared last: an inspection looks at all of them, an audit at each when it loads it.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Generator, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace

from counterfoil_core.base.cancel import CancelToken
from counterfoil_core.base.digest import Digest
from counterfoil_core.base.dtypes import ITEM_BYTES
from counterfoil_core.base.errors import (
    BundleError,
    CommitmentError,
    GivenFileError,
    LimitError,
    RefusedError,
)
from counterfoil_core.base.generators import ByPercent, relay
from counterfoil_core.base.plaintext import quote
from counterfoil_core.base.precision import ExactPrecision, exact_bits
from counterfoil_core.base.sentence import joined, say
from counterfoil_core.base.trouble import obstacles_noticed
from counterfoil_core.bundle.reader import BundleReader, OrderContents
from counterfoil_core.bundle.schema import OrderManifest, StepRecord, run_tree
from counterfoil_core.bundle.steady import SteadyFile
from counterfoil_core.bundle.strictfile import OnProgress
from counterfoil_core.commit.merkle import MerkleTree
from counterfoil_core.operators.facts import OperatorClass
from counterfoil_core.order.admission import AdmittedOrder, admit_order, places_of
from counterfoil_core.parties.signatures import Keys, Parties, own_contents, read_client_order
from counterfoil_core.parties.treeheads import check_tree_heads, read_tree_heads
from counterfoil_core.program.estimate import estimate
from counterfoil_core.program.limits import Estimate, Limits, largest_estimate
from counterfoil_core.remote.ranges import Fetched
from counterfoil_core.signing.keys import PublicKey
from counterfoil_core.signing.parties import SignedShares
from counterfoil_core.values.events import CheckChanged
from counterfoil_core.values.outcome import Check, CheckNumber, CheckState, OrderSource
from counterfoil_core.values.steptable import Recorded

_NOT_THE_ORDER = say("The file was made for another order than the client's, so its contents are not compared.")


@dataclass
class Inspection(Parties):
    """An open bundle and what the checks found so far."""

    reader: BundleReader  #: The open bundle.
    checks: dict[CheckNumber, Check] = field(default_factory=dict)  #: The checks that were made, by number.
    #: The order, once check 4 has passed; made of the very bytes that check 3 hashed.
    order: AdmittedOrder | None = None
    records: tuple[StepRecord, ...] = ()  #: The records of steps 0 to the last, once check 6 has passed.
    tree: MerkleTree | None = None  #: The Merkle tree over their leaves, once check 6 has passed.
    #: The errors of the checks that failed, by number.
    failures: dict[CheckNumber, RefusedError] = field(default_factory=dict)
    too_large: LimitError | None = None  #: Why check 4 was not made: the program is larger than the limits.
    estimate: Estimate | None = None  #: What a step takes, once check 4 has passed.
    #: Whether the stored states are compared with their state roots too, as a part of check 6.
    with_states: bool = False
    states_checked: bool = False  #: Whether they were, and all have them.

    @property
    def failure(self) -> RefusedError | LimitError | None:
        """Why nothing can be replayed: the first failed check, or a program beyond the limits; None when neither is."""
        return self.failures[min(self.failures)] if self.failures else self.too_large

    @property
    def broken_signature(self) -> bool:
        """Whether the file holds a client's signature that does not hold: the order then counts as nobody's."""
        return self.signed_order is None and self.reader.order_signature() is not None

    @property
    def order_source(self) -> OrderSource:
        """How it is known whose order it is."""
        if self.client_order is not None:
            return "client"
        return "bundle" if self.whose is None else self.whose.source

    @property
    def fetched(self) -> Fetched | None:
        """How much of a file that lies elsewhere was fetched; what is used is compared once check 6 has passed."""
        found = self.reader.file.fetched
        return None if found is None else replace(found, compared=self.tree is not None)

    def note(self, number: CheckNumber, state: CheckState, detail: str) -> None:
        """Record the result of a check."""
        self.checks[number] = Check(number, state, detail)

    def all_checks(self, rest: CheckState) -> tuple[Check, ...]:
        """All ten checks in order; those not made have the state ``rest``."""
        return tuple(self.checks.get(number, Check(number, rest)) for number in CheckNumber)


@contextmanager
def open_inspection(
    path: str | os.PathLike[str],
    order_path: str | os.PathLike[str] | None = None,
    *,
    cancel: CancelToken | None = None,
    limits: Limits | None = None,
) -> Iterator[Inspection]:
    """Open a bundle and run checks 1 to 6 on it; an order that nobody has run ends after check 4.

    A check that fails does not stop those that do not depend on it, so that the overview can show them all; the first
    failure is kept in :attr:`Inspection.failure`.

    Raises:
        BundleError: The file is no bundle (check 1): there is nothing to inspect.
        GivenFileError: A file that was named is not there, or the client's order is none.
        ObstacleError: The file changed while it was read, or this machine cannot read or hold it.
        CancelledError: ``cancel`` was set.
    """
    with BundleReader.open(path) as reader:
        inspection = Inspection(reader)
        make_checks(inspection, order_path, cancel=cancel, limits=limits)
        yield inspection


def make_checks(
    inspection: Inspection,
    order_path: str | os.PathLike[str] | None = None,
    trainer_key: PublicKey | None = None,
    cancel: CancelToken | None = None,
    heads: str | os.PathLike[str] | None = None,
    limits: Limits | None = None,
    client_key: PublicKey | None = None,
) -> None:
    """Run checks 1 to 6 on an open bundle, as :func:`open_inspection` does.

    Raises GivenFileError, ObstacleError and CancelledError.
    """
    with obstacles_noticed():
        for _ in stages(inspection, order_path, Keys(trainer_key, client_key), heads, cancel, limits):
            pass


def stages(
    inspection: Inspection,
    order_path: str | os.PathLike[str] | None,
    known: Keys,
    heads: str | os.PathLike[str] | None,
    cancel: CancelToken | None,
    limits: Limits | None,
    progress: OnProgress | None = None,
) -> Iterator[None]:
    """Make the checks; yields after those that read little, and after each that may read much.

    ``progress`` is called with the stored states compared and their total; of an inspection without these with the
    steps.
    """
    reader = inspection.reader
    inspection.note(CheckNumber.FORMAT, CheckState.PASSED, say("Every rule of the format is kept."))
    ordered = _attempt(inspection, CheckNumber.ORDER, lambda: _check_order(inspection, order_path, known))
    signed = reader.has_run and _attempt(
        inspection, CheckNumber.SIGNATURE, lambda: _check_signature(inspection, known.trainer)
    )
    if ordered:
        inspection.note(CheckNumber.ORDER_CONTENTS, CheckState.RUNNING, "")
    else:
        # What the file holds may well match the order in it; that is not the order that was asked for.
        inspection.note(CheckNumber.ORDER_CONTENTS, CheckState.SKIPPED, _NOT_THE_ORDER)
    yield
    contents: list[OrderContents] = []
    if ordered and _attempt(
        inspection, CheckNumber.ORDER_CONTENTS, lambda: _check_contents(inspection, order_path, contents, cancel)
    ):
        _attempt(inspection, CheckNumber.PROGRAM, lambda: _check_program(inspection, contents.pop(), limits, cancel))
    if signed:
        inspection.note(CheckNumber.COMMITMENTS, CheckState.RUNNING, "")
    yield
    if signed:
        manifest = reader.manifest
        # Where the states are read too they take the most of the time.
        told = None if inspection.with_states else progress
        held = _attempt(
            inspection, CheckNumber.COMMITMENTS, lambda: _check_commitments(inspection, manifest, heads, cancel, told)
        )
        if held and inspection.with_states:
            found = inspection.checks[CheckNumber.COMMITMENTS].detail
            inspection.note(CheckNumber.COMMITMENTS, CheckState.RUNNING, found)
            yield
            _attempt(inspection, CheckNumber.COMMITMENTS, lambda: _check_states(inspection, found, cancel, progress))
        yield


def _attempt(inspection: Inspection, number: CheckNumber, check: Callable[[], tuple[CheckState, str]]) -> bool:
    try:
        state, detail = check()
    except RefusedError as error:
        # A file that is being written to may show anything, and so may a server.
        inspection.reader.file.stand_by(error)
        inspection.note(number, CheckState.FAILED, error.sentence)
        inspection.failures[number] = error
        return False
    except LimitError as error:
        inspection.note(number, CheckState.SKIPPED, error.sentence)
        inspection.too_large = error
        return False
    inspection.note(number, state, detail)
    return True


def _check_order(
    inspection: Inspection, order_path: str | os.PathLike[str] | None, known: Keys
) -> tuple[CheckState, str]:
    reader = inspection.reader
    inspection.given_order = read_client_order(order_path, reader.path)
    inspection.given_client_key = "" if known.client is None else known.client.key_id
    envelopes = (reader.claim(), reader.acceptance()) if reader.has_run else None
    found = inspection.check_order(reader.manifest, reader.order_signature(), envelopes, known.trainer)
    return found.state, found.detail


def _check_contents(
    inspection: Inspection,
    order_path: str | os.PathLike[str] | None,
    contents: list[OrderContents],
    cancel: CancelToken | None,
) -> tuple[CheckState, str]:
    reader, manifest = inspection.reader, inspection.reader.manifest
    own = order_path if reader.file.fetched is not None or not reader.holds_initial else None
    if own is None and not reader.holds_initial:
        raise GivenFileError(
            say("The run names its initial weights by their digest, and leaves them to the client's order."),
            role="order",
            remedy=say("Give the client's order file, with --order, or choose it in the window."),
        )
    contents.append(reader.check_order_contents(cancel) if own is None else own_contents(own, manifest, cancel))
    if not reader.holds_initial:
        ordered = {name: (array.dtype.name, array.shape) for name, array in contents[0].initial.items()}
        if reader.state_layout() != ordered:
            raise BundleError(say("The stored states of the run have other tensors than the order's initial state."))
    if manifest.outside:
        names = ", ".join(sorted(manifest.outside))
        return (
            CheckState.WARNING,
            say(
                "Program, schedule, scalars and the initial state match the order. The data ({0}) lie in the data "
                "file {1}, which is checked before a replay.",
                names,
                quote(str(manifest.data_file)),
            ),
        )
    arrays = len(manifest.data)
    if own is not None:
        return CheckState.PASSED, say(
            "Program, schedule, scalars, {0} data arrays and the initial state match the order. They were read from "
            "the client's own file, and not fetched.",
            arrays,
        )
    return CheckState.PASSED, say(
        "Program, schedule, scalars, {0} data arrays and the initial state match the order.", arrays
    )


def _check_program(
    inspection: Inspection, contents: OrderContents, limits: Limits | None, cancel: CancelToken | None
) -> tuple[CheckState, str]:
    order = inspection.order = admit_order(inspection.reader.manifest, contents, limits, cancel)
    precision = order.manifest.precision
    item_bytes = ITEM_BYTES[precision.compute]
    found = [estimate(program, item_bytes, cancel, exact_bits(precision)) for program in order.all_programs]
    inspection.estimate = _of_a_step(order, found)
    nodes = [node for program in order.all_programs for node in program.nodes]
    if isinstance(order.manifest.precision, ExactPrecision):
        return CheckState.PASSED, say(
            "All {0} operators are on the allow-list, and each has an exact result.", len(nodes)
        )
    rounded = sum(node.entry.operator_class is OperatorClass.ROUNDED for node in nodes)
    return CheckState.PASSED, say("All {0} operators are on the allow-list; {1} are rounded.", len(nodes), rounded)


def _of_a_step(order: AdmittedOrder, programs: Sequence[Estimate]) -> Estimate:
    """Return what a step takes at the most, from what each program of the order does."""
    largest, shares = largest_estimate(programs), order.manifest.shares
    if shares is None:
        return largest
    # The gradient programs stand before the update programs.
    count = len(order.programs.all)
    share, update = largest_estimate(programs[:count]), largest_estimate(programs[count:])
    _, beside = order.combining_bytes()
    flops = shares.count * share.flops + update.flops
    return replace(largest, bytes=largest.bytes + beside, flops=flops, operators=share.operators + update.operators)


def _check_signature(inspection: Inspection, trainer_key: PublicKey | None) -> tuple[CheckState, str]:
    reader = inspection.reader
    envelopes, told = (reader.claim(), reader.acceptance()), not inspection.broken_signature
    return CheckState.PASSED, inspection.check_run(
        reader.manifest, envelopes, trainer_key, recorded=reader.extent.steps, signed=told
    )


def _check_commitments(
    inspection: Inspection,
    manifest: OrderManifest,
    heads: str | os.PathLike[str] | None,
    cancel: CancelToken | None,
    progress: OnProgress | None,
) -> tuple[CheckState, str]:
    assert inspection.claim is not None
    _check_columns(inspection)
    signed = SignedShares(manifest)
    records = tuple(inspection.reader.step_records(cancel, progress, shares_read=signed.look))
    tree = run_tree(records)
    if tree.root != inspection.claim.run_root:
        raise CommitmentError(
            say(
                "The recorded steps have the run root {0}, but the trainer signed {1}: the bundle was damaged or "
                "altered after it was signed.",
                tree.root.short,
                inspection.claim.run_root.short,
            ),
            remedy=say("Ask the trainer for the file again."),
        )
    signed.check()
    check_beginning(records[0], manifest)
    inspection.records, inspection.tree = records, tree
    detail = joined(
        say("The {0} steps have the signed run root {1}.", inspection.reader.extent.steps, tree.root.short),
        check_end(records, manifest),
        say("The parties signed the {0} shares that they answer for.", signed.checked) if signed.checked else "",
    )
    if heads is not None:
        key = PublicKey.from_pem(inspection.claim.public_key.encode())
        detail = joined(detail, check_tree_heads(read_tree_heads(heads, key), inspection.claim, tree))
    return CheckState.PASSED, detail


def check_beginning(record: StepRecord, manifest: OrderManifest) -> None:
    """Check that a run begins with the initial state that was ordered; raises CommitmentError."""
    if record.state_root != manifest.initial_root:
        raise CommitmentError(
            say("The run commits to another state before its first step than the initial state that was ordered."),
            remedy=say("Ask the trainer for a run of this order."),
        )


def check_end(records: Sequence[StepRecord], manifest: OrderManifest) -> str:
    """Check that a run ends where its order says, by the losses that its trainer signed.

    Args:
        records: The records of its steps, from step 0, whose leaves have the signed run root.
        manifest: The order's manifest.

    Returns:
        What was found, as a sentence; empty for an order that lets no run stop early.

    Raises:
        CommitmentError: The order's rule to stop early fires at another step, or at none.
    """
    rule, last, ordered = manifest.may_stop_early, len(records) - 1, manifest.steps
    if rule is None:
        return ""
    fired = rule.fires(record.loss for record in records[1:] if record.loss is not None)
    if fired is None and last < ordered:
        raise CommitmentError(
            say(
                "The run has {0} of {1} ordered steps. By the losses that the trainer signed, the order's rule to stop "
                "early does not fire after step {0}, so the run should have gone on.",
                last,
                ordered,
            ),
            remedy=say("Ask the trainer for a run of this order."),
        )
    if fired is not None and fired < last:
        raise CommitmentError(
            say(
                "The run has {0} of {1} ordered steps. By the losses that the trainer signed, the order's rule to stop "
                "early fires after step {2}, so the run should have ended there.",
                last,
                ordered,
                fired,
            ),
            remedy=say("Ask the trainer for a run of this order."),
        )
    if last == ordered:
        return say("By their losses the order's rule to stop early does not fire before the last step.")
    return say("By their losses the order's rule ends the run there: it has {0} of {1} ordered steps.", last, ordered)


def _check_states(
    inspection: Inspection, found: str, cancel: CancelToken | None, progress: OnProgress | None
) -> tuple[CheckState, str]:
    """Compare every stored state with its state root, which the run root covers; raises CommitmentError."""
    steps = inspection.reader.checkpoint_steps()
    for done, step in enumerate(steps):
        if progress:
            progress(done, len(steps))
        try:
            inspection.reader.verify_checkpoint(step, cancel)
        except CommitmentError as error:
            raise CommitmentError(
                say("{0} The bundle was damaged or altered after it was signed.", error.sentence),
                remedy=say("Ask the trainer for the file again."),
            ) from error
    if progress:
        progress(len(steps), len(steps))
    inspection.states_checked = True
    return CheckState.PASSED, say("{0} All {1} stored states have the state roots of their steps.", found, len(steps))


def _check_columns(inspection: Inspection) -> None:
    """Refuse fingerprints that cannot be compared with those of a replay; raises CommitmentError."""
    if inspection.order is None:  # check 4 has failed, so that nothing is compared
        return
    places, columns = places_of(inspection.order), inspection.reader.fingerprint_columns()
    shares = inspection.reader.share_columns()
    for name, each in places.parts.items():
        found, needed = columns.parts[name], each.step
        if shares is not None and found == needed:
            # What is said of fingerprints says it of exponents, too: both are columns for each place of a program.
            (found, tensors), needed = shares.parts[name], each.share
            found, needed = (found, needed) if found != needed else (tensors, each.tensors)
        if found != needed:
            raise CommitmentError(
                say("The run has {0} fingerprints for each step; a step of its program has {1}.", found, needed),
                remedy=say("Ask the trainer for a run that Counterfoil recorded."),
            )


def trainer_columns(reader: BundleReader, tree: MerkleTree | None = None) -> Recorded:
    """Return the columns of the step table that the trainer filled; with its leaves, once check 6 has passed."""
    leaves = () if tree is None else [tree.leaf(step) for step in range(1, reader.extent.steps + 1)]
    return Recorded.of(reader.losses(), reader.log_sizes(), reader.log_entries(), leaves)


def file_digest(file: SteadyFile, cancel: CancelToken | None) -> Generator[CheckChanged, None, Digest]:
    """Hash a file before it is looked at, and say how far that is where it takes long; raises as its ``settle``."""

    def hashing(percent: int) -> CheckChanged:
        return CheckChanged(Check(CheckNumber.FORMAT, CheckState.RUNNING, say("Hashing the file: {0} %.", percent)))

    return (yield from relay(file.settle(cancel), ByPercent(hashing, above=_LONG_BYTES)))


_LONG_BYTES = 2**28
"""Hashing a file of more than this takes so long that it is shown."""
