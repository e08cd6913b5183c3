"""Everything about a bundle that can be checked without replaying: checks 1 to 6.

What needs only the structure of the file, the order's manifest and the signed claim comes first; what reads the whole
order (3 and 4) and the whole record of the run (6) follows, so that a large bundle shows its overview at once. The
states that a run stores are compared last: an inspection looks at all of them, an audit at each when it loads it.
"""

from __future__ import annotations

import math
import os
from collections.abc import Callable, Generator, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path

from counterfoil.arithmetic.profiles import arithmetic_of
from counterfoil.audit.published_heads import check_tree_heads, read_tree_heads
from counterfoil.audit.values.orders import GivenOrder, HeldOrder, OrderFinding, accepted_by, compare_orders
from counterfoil.audit.values.outcome import Check, CheckNumber, CheckState, OrderSource
from counterfoil.audit.values.steptable import Recorded
from counterfoil.audit.values.summary import (
    ArraySummary,
    BundleSummary,
    OrderSummary,
    RunSummary,
    SourceSummary,
)
from counterfoil.base.cancel import CancelToken
from counterfoil.base.digest import Digest
from counterfoil.base.dtypes import tensor_bytes
from counterfoil.base.errors import (
    BundleError,
    CommitmentError,
    GivenFileError,
    LimitError,
    RefusedError,
    SignatureError,
)
from counterfoil.base.plaintext import quoted
from counterfoil.base.precision import ExactPrecision
from counterfoil.base.sentence import joined, say
from counterfoil.base.trouble import obstacles_noticed
from counterfoil.bundle.checked import OnProgress
from counterfoil.bundle.reader import BundleReader, OrderContents
from counterfoil.bundle.schema import OrderManifest, RunClaim, StepRecord, run_tree
from counterfoil.commit.merkle import MerkleTree
from counterfoil.operators.catalogue import OperatorClass
from counterfoil.program.estimate import estimate
from counterfoil.program.limits import Estimate, Limits, largest_estimate
from counterfoil.program.recompute import computed_again
from counterfoil.program.torchdtypes import TORCH_DTYPES
from counterfoil.signing.consent import (
    Acceptance,
    SignedOrder,
    check_same_client,
    open_acceptance,
    open_signed_order,
)
from counterfoil.signing.envelope import open_claim
from counterfoil.signing.keys import PublicKey
from counterfoil.training.loaded import LoadedOrder, prepare_order

_NOT_THE_ORDER = say("The file was made for another order than the client's, so its contents are not compared.")


@dataclass(frozen=True)
class Keys:
    """Public keys that whoever looks at a file knows from elsewhere.

    Attributes:
        trainer: The trainer's.
        client: The client's.
    """

    trainer: PublicKey | None = None
    client: PublicKey | None = None


@dataclass
class Inspection:
    """An open bundle and what the checks found so far.

    Attributes:
        reader: The open bundle.
        checks: The checks that were made, by number.
        client_order: Digest of the client's own order, when one was given.
        given_client_key: Key id of the client's public key that was given; empty when none was.
        signed_order: The client's signature on the order, when there is one and it holds.
        acceptance: The trainer's acceptance of the order, once check 5 has passed.
        whose: What check 2 found, once it has passed.
        order: The order, once check 4 has passed; made of the very bytes that check 3 hashed.
        claim: The trainer's claim, once check 5 has passed.
        trainer_key: Key id of the key that signed, once check 5 has passed.
        records: The records of steps 0 to the last, once check 6 has passed.
        tree: The Merkle tree over their leaves, once check 6 has passed.
        failures: The errors of the checks that failed, by number.
        too_large: Why check 4 was not made: the program is larger than the limits.
        estimate: What a step takes, once check 4 has passed.
        repeated_operators: How many operators of backward passes repeat one of the forward pass.
        with_states: Whether the stored states are compared with their state roots too, as a part of check 6.
        states_checked: Whether they were, and all have them.
    """

    reader: BundleReader
    checks: dict[CheckNumber, Check] = field(default_factory=dict)
    client_order: Digest | None = None
    given_client_key: str = ""
    signed_order: SignedOrder | None = None
    acceptance: Acceptance | None = None
    whose: OrderFinding | None = None
    order: LoadedOrder | None = None
    claim: RunClaim | None = None
    trainer_key: str = ""
    records: tuple[StepRecord, ...] = ()
    tree: MerkleTree | None = None
    failures: dict[CheckNumber, RefusedError] = field(default_factory=dict)
    too_large: LimitError | None = None
    estimate: Estimate | None = None
    repeated_operators: int = 0
    with_states: bool = False
    states_checked: bool = False

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
    def client_key(self) -> str:
        """Key id of who signed the order as its client; empty where nobody did."""
        if self.whose is not None:
            return self.whose.client_key
        return "" if self.signed_order is None else self.signed_order.key_id

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
    trainer_key: PublicKey | None = None,
    cancel: CancelToken | None = None,
    heads: str | os.PathLike[str] | None = None,
    limits: Limits | None = None,
    client_key: PublicKey | None = None,
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
        make_checks(inspection, order_path, trainer_key, cancel, heads, limits, client_key)
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
        for _ in _stages(inspection, order_path, Keys(trainer_key, client_key), heads, cancel, limits):
            pass


def _stages(
    inspection: Inspection,
    order_path: str | os.PathLike[str] | None,
    known: Keys,
    heads: str | os.PathLike[str] | None,
    cancel: CancelToken | None,
    limits: Limits | None,
    progress: OnProgress | None = None,
) -> Iterator[None]:
    """Make the checks; yields after those that read little, and after each that may read much."""
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
    if ordered and _attempt(inspection, CheckNumber.ORDER_CONTENTS, lambda: _check_contents(reader, contents, cancel)):
        _attempt(inspection, CheckNumber.PROGRAM, lambda: _check_program(inspection, contents.pop(), limits, cancel))
    if signed:
        inspection.note(CheckNumber.COMMITMENTS, CheckState.RUNNING, "")
    yield
    if signed:
        manifest = reader.manifest
        held = _attempt(
            inspection, CheckNumber.COMMITMENTS, lambda: _check_commitments(inspection, manifest, heads, cancel)
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
        # A file that is being written to may show anything.
        inspection.reader.file.check_unchanged()
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
    given = read_client_order(order_path, reader.path)
    inspection.client_order = None if given is None else given.digest
    inspection.given_client_key = "" if known.client is None else known.client.key_id
    signature = reader.order_signature()
    inspection.signed_order = open_client_signature(signature, reader.manifest)
    envelopes = (reader.claim(), reader.acceptance()) if reader.has_run else None
    held = held_order(reader.manifest, inspection.signed_order, envelopes, known.trainer)
    found = inspection.whose = compare_orders(held, given, inspection.given_client_key)
    return found.state, found.detail


def open_client_signature(envelope: bytes | None, manifest: OrderManifest) -> SignedOrder | None:
    """Check the client's signature that a file holds; None for an unsigned order.

    Raises:
        SignatureError: It does not hold, or is about another order.
    """
    if envelope is None:
        return None
    try:
        return open_signed_order(envelope, manifest.digest)
    except SignatureError as error:
        raise SignatureError(
            say("The file holds a client's signature that nobody can rely on. {0}", error.sentence),
            remedy=say("Ask for the file again."),
            detail=error.detail,
        ) from error


def held_order(
    manifest: OrderManifest,
    signed: SignedOrder | None,
    envelopes: tuple[bytes, bytes] | None,
    trainer_key: PublicKey | None,
) -> HeldOrder:
    """Return the order of a file with those who stand by it; a trainer whose signature does not hold is left out.

    Args:
        manifest: The order's manifest.
        signed: The client's signature, if there is one.
        envelopes: Claim and acceptance of the run; None for an order that nobody has run.
        trainer_key: The trainer's public key, when it is known.
    """
    held = HeldOrder(manifest.digest, "" if signed is None else signed.key_id)
    if envelopes is None:
        return held
    try:
        claim = check_claim(envelopes[0], manifest, trainer_key)
        acceptance = check_acceptance(envelopes[1], claim, signed)
    except SignatureError:  # what check 5 says of it is said there
        return held
    return replace(held, trainer_key=acceptance.key_id, accepted_at=acceptance.accepted_at)


def check_acceptance(envelope: bytes, claim: RunClaim, signed: SignedOrder | None) -> Acceptance:
    """Check that whoever signed a run accepted its order when training began, from the client who signed it.

    Raises:
        SignatureError: The acceptance does not hold, or is of another order, trainer or client.
    """
    acceptance = open_acceptance(envelope, claim.order, PublicKey.from_pem(claim.public_key.encode()))
    check_same_client(acceptance, signed)
    return acceptance


def read_client_order(
    path: str | os.PathLike[str] | None, audited: str | os.PathLike[str] | None = None
) -> GivenOrder | None:
    """Return what the client's own order file says, if it was given.

    Args:
        path: The client's order file; None when none was given.
        audited: The file that is compared with it.

    Raises:
        GivenFileError: It is no order: a run holds the order that its trainer put there, and nothing confirms itself.
        ObstacleError: It changed meanwhile, or the system fails to read it.
    """
    if path is None:
        return None
    name = os.fspath(path)
    if audited is not None and _same_file(path, audited):
        raise GivenFileError(
            say("{0} was given as the client's order of itself.", name), role="order", remedy=_OWN_ORDER
        )
    try:
        with BundleReader.open(path) as client:
            if client.has_run:
                raise GivenFileError(
                    say("{0} is a trainer's run. The order in it is what the trainer put there.", name),
                    role="order",
                    remedy=_OWN_ORDER,
                )
            signed = open_client_signature(client.order_signature(), client.manifest)
            return GivenOrder(client.manifest.digest, "" if signed is None else signed.key_id)
    except (BundleError, SignatureError) as error:
        raise GivenFileError(
            say("{0} is no order of a client's. {1}", name, error.sentence),
            role="order",
            remedy=_OWN_ORDER,
            detail=error.detail,
        ) from error
    except GivenFileError as error:
        raise GivenFileError(
            error.sentence, role="order", remedy=error.remedy or _OWN_ORDER, detail=error.detail
        ) from error


_OWN_ORDER = say("Choose the order file that the client wrote and kept.")


def _same_file(one: str | os.PathLike[str], other: str | os.PathLike[str]) -> bool:
    try:
        return os.path.samefile(one, other)
    except OSError:  # whoever opens the one that is not there will say so
        return False


def _check_contents(
    reader: BundleReader, contents: list[OrderContents], cancel: CancelToken | None
) -> tuple[CheckState, str]:
    contents.append(reader.check_order_contents(cancel))
    manifest = reader.manifest
    if manifest.outside:
        names = ", ".join(sorted(manifest.outside))
        return (
            CheckState.WARNING,
            say(
                "Program, schedule, scalars and the initial state match the order. The data ({0}) lie in the data "
                "file {1}, which is checked before a replay.",
                names,
                quoted(str(manifest.data_file)),
            ),
        )
    arrays = len(manifest.data)
    return CheckState.PASSED, say(
        "Program, schedule, scalars, {0} data arrays and the initial state match the order.", arrays
    )


def _check_program(
    inspection: Inspection, contents: OrderContents, limits: Limits | None, cancel: CancelToken | None
) -> tuple[CheckState, str]:
    order = inspection.order = prepare_order(inspection.reader.manifest, contents, limits, cancel)
    item_bytes = TORCH_DTYPES[order.manifest.precision.compute].itemsize
    inspection.estimate = largest_estimate([estimate(program, item_bytes, cancel) for program in order.programs.all])
    inspection.repeated_operators = sum(map(computed_again, order.programs.all))
    nodes = [node for program in order.programs.all for node in program.nodes]
    if isinstance(order.manifest.precision, ExactPrecision):
        return CheckState.PASSED, say(
            "All {0} operators are on the allow-list, and each has an exact result.", len(nodes)
        )
    rounded = sum(node.entry.operator_class is OperatorClass.ROUNDED for node in nodes)
    return CheckState.PASSED, say("All {0} operators are on the allow-list; {1} are rounded.", len(nodes), rounded)


def _check_signature(inspection: Inspection, trainer_key: PublicKey | None) -> tuple[CheckState, str]:
    reader = inspection.reader
    claim = check_claim(reader.claim(), reader.manifest, trainer_key)
    key_id = key_id_of(claim)
    if inspection.broken_signature:
        accepted = ""  # check 2 has failed: whose signature the trainer accepted cannot be told
    else:
        acceptance = check_acceptance(reader.acceptance(), claim, inspection.signed_order)
        inspection.acceptance = acceptance
        accepted = accepted_by(acceptance.key_id, acceptance.client_key or "", acceptance.accepted_at)
    inspection.claim, inspection.trainer_key = claim, key_id
    return CheckState.PASSED, joined(signed_by(claim, trainer_key), accepted)


def check_claim(envelope: bytes, manifest: OrderManifest, trainer_key: PublicKey | None) -> RunClaim:
    """Check the trainer's signature, and that it is about a whole run of this order.

    Raises:
        SignatureError: It does not hold, or is about something else.
    """
    claim = open_claim(envelope, trainer_key)
    if claim.order != manifest.digest:
        raise SignatureError(
            say(
                "The trainer signed a run of the order {0}, but the file holds the order {1}.",
                claim.order.short,
                manifest.digest.short,
            )
        )
    if claim.steps != manifest.steps:
        raise SignatureError(say("The trainer signed {0} steps, but the order has {1}.", claim.steps, manifest.steps))
    return claim


def key_id_of(claim: RunClaim) -> str:
    """Return the key id of the public key that a checked claim names."""
    return PublicKey.from_pem(claim.public_key.encode()).key_id


def signed_by(claim: RunClaim, trainer_key: PublicKey | None) -> str:
    """Say whose signature holds, and how that is known."""
    known = (
        say("the key you gave")
        if trainer_key
        else say("a key that the file itself names; compare it with the trainer's")
    )
    return say("Signed by {0}, {1}.", key_id_of(claim)[:12], known)


def _check_commitments(
    inspection: Inspection,
    manifest: OrderManifest,
    heads: str | os.PathLike[str] | None,
    cancel: CancelToken | None,
) -> tuple[CheckState, str]:
    assert inspection.claim is not None
    _check_columns(inspection)
    records = tuple(inspection.reader.step_records(cancel))
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
    if records[0].state_root != manifest.initial_root:
        raise CommitmentError(
            say("The run commits to another state before its first step than the initial state that was ordered."),
            remedy=say("Ask the trainer for a run of this order."),
        )
    inspection.records, inspection.tree = records, tree
    detail = say("The {0} steps have the signed run root {1}.", manifest.steps, tree.root.short)
    if heads is not None:
        key = PublicKey.from_pem(inspection.claim.public_key.encode())
        detail = joined(detail, check_tree_heads(read_tree_heads(heads, key), inspection.claim, tree))
    return CheckState.PASSED, detail


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
    columns = inspection.reader.fingerprint_columns()
    for name, program in inspection.order.programs.parts.items():
        found, needed = columns.parts[name], len(program.places)
        if found != needed:
            raise CommitmentError(
                say("The run has {0} fingerprints for each step; a step of its program has {1}.", found, needed),
                remedy=say("Ask the trainer for a run that Counterfoil recorded."),
            )


def inspect(
    path: str | os.PathLike[str],
    order_path: str | os.PathLike[str] | None = None,
    trainer_key: PublicKey | None = None,
    cancel: CancelToken | None = None,
    heads: str | os.PathLike[str] | None = None,
    limits: Limits | None = None,
    *,
    client_key: PublicKey | None = None,
    quick: bool = False,
    progress: OnProgress | None = None,
) -> BundleSummary:
    """Say what is in a bundle and what can be checked without replaying it.

    Args:
        path: An order or a run.
        order_path: The client's own order, to compare with.
        trainer_key: The trainer's public key, when it is known.
        cancel: Looked at while long files are read.
        heads: Tree heads that the trainer published while training.
        limits: How large the program may be that is looked at; the default limits unless given.
        client_key: The client's public key, when it is known: the order must be signed with it.
        quick: Leave out the comparison of the stored states, most of a large file, with their state roots.
        progress: Called with the stored states compared and their total.

    Raises:
        BundleError: The file is no bundle.
        GivenFileError: A file that was named is not there, or the client's order is none.
        CancelledError: ``cancel`` was set.
    """
    with obstacles_noticed(), BundleReader.open(path) as reader:
        inspection = Inspection(reader, with_states=not quick)
        for _ in _stages(inspection, order_path, Keys(trainer_key, client_key), heads, cancel, limits, progress):
            pass
        return summarise(inspection)


def inspect_stages(
    path: str | os.PathLike[str],
    order_path: str | os.PathLike[str] | None = None,
    trainer_key: PublicKey | None = None,
    cancel: CancelToken | None = None,
    heads: str | os.PathLike[str] | None = None,
    limits: Limits | None = None,
    client_key: PublicKey | None = None,
) -> Generator[BundleSummary, None, None]:
    """Say what :func:`inspect` says, as soon as it is known.

    The first summary comes before anything large is read; the checks that are still to come are RUNNING or PENDING in
    it, and the operators are not counted yet. Each further one knows the result of another check; the last is that
    of :func:`inspect`.

    Yields:
        Two summaries or more.

    Raises:
        BundleError: The file is no bundle.
        GivenFileError: A file that was named is not there, or the client's order is none.
        CancelledError: ``cancel`` was set.
    """
    with obstacles_noticed(), BundleReader.open(path) as reader:
        inspection = Inspection(reader, with_states=True)
        for _ in _stages(inspection, order_path, Keys(trainer_key, client_key), heads, cancel, limits):
            yield summarise(inspection)


def summarise(inspection: Inspection) -> BundleSummary:
    """Return the overview of an inspected bundle."""
    reader = inspection.reader
    return BundleSummary(
        path=str(Path(reader.path).resolve()),
        file_bytes=reader.file_bytes,
        order=_order_summary(inspection),
        run=_run_summary(inspection) if reader.has_run else None,
        checks=inspection.all_checks(CheckState.PENDING),
        client_order=inspection.client_order,
        sentence=_sentence(inspection),
        states_checked=inspection.states_checked,
        order_source=inspection.order_source,
        given_client_key=inspection.given_client_key,
    )


def _sentence(inspection: Inspection) -> str:
    if inspection.failures and inspection.failure is not None:
        return say("{0} Nothing can be concluded about the training.", inspection.failure.sentence)
    if inspection.too_large is not None:
        return joined(inspection.too_large.sentence, inspection.too_large.remedy)
    if not inspection.reader.has_run:
        return say("This is an order that nobody has run yet.")
    if inspection.tree is None or (inspection.with_states and not inspection.states_checked):
        return say("The run is signed. What it holds is being compared with what the trainer signed.")
    if not inspection.states_checked:
        return say("The run is signed, and its steps are those that were signed. Its stored states were not looked at.")
    if inspection.order_source == "bundle":
        return say("The run is signed and complete. Compare it with the client's own order before you rely on it.")
    return say("The run is signed, complete, and was made for the client's order. Replay it to see whether it is true.")


def _order_summary(inspection: Inspection) -> OrderSummary:
    manifest = inspection.reader.manifest
    layout = inspection.reader.state_layout()
    sizes = {name: math.prod(shape) for name, (_, shape) in layout.items()}
    programs = inspection.order.programs.all if inspection.order is not None else None
    nodes = [node for program in programs or () for node in program.nodes]
    slots = {name.split(":", 1)[1] for name in layout if ":" in name}
    # Buffers change in the forward pass; what the update rule changes are the parameters.
    updated = {node.module for node in nodes if node.phase == "update"}
    trainable = {name for name, (dtype, _) in layout.items() if dtype == "float32" and ":" not in name}
    parameters = (slots | updated) & trainable
    return OrderSummary(
        title=manifest.title,
        recipe=manifest.recipe,
        digest=manifest.digest,
        steps=manifest.steps,
        batch_size=manifest.batch_size,
        seed=manifest.seed,
        precision=manifest.precision.describe(),
        optimizer=manifest.optimizer,
        programs=tuple(sorted(manifest.programs.parts.items())),
        pattern=manifest.programs.pattern if manifest.programs.several else (),
        operators=len(nodes),
        rounded_operators=sum(node.entry.operator_class is OperatorClass.ROUNDED for node in nodes),
        parameters=sum(sizes[name] for name in parameters),
        state_tensors=len(layout),
        state_bytes=sum(tensor_bytes(dtype, shape) for dtype, shape in layout.values()),
        data=tuple(ArraySummary(n, s.dtype, s.shape, s.digest, s.file) for n, s in sorted(manifest.data.items())),
        data_root=manifest.data_root,
        initial_root=manifest.initial_root,
        commit_every=manifest.commit_every,
        checkpoint_every=manifest.checkpoint_every,
        without_bound=None if programs is None else arithmetic_of(manifest.precision).kinds_without_proof(programs),
        exact_bits=manifest.precision.bits if isinstance(manifest.precision, ExactPrecision) else None,
        estimate=inspection.estimate,
        repeated_operators=inspection.repeated_operators,
        sources=tuple(
            SourceSummary(part, name, file.size, file.digest, source.revision)
            for part, source in sorted(manifest.sources.items())
            for name, file in sorted(source.files.items())
        ),
        client_key=inspection.client_key,
        signed_at="" if inspection.signed_order is None else inspection.signed_order.signed_at,
    )


def recorded(reader: BundleReader) -> Recorded:
    """Return the columns of the step table that the trainer filled."""
    return Recorded.of(reader.losses(), reader.log_sizes(), reader.log_entries())


def _run_summary(inspection: Inspection) -> RunSummary:
    reader, claim = inspection.reader, inspection.claim
    return RunSummary(
        order_digest=claim.order if claim is not None else reader.manifest.digest,
        run_root=claim.run_root if claim is not None else None,
        steps=reader.manifest.steps,
        checkpoints=reader.checkpoint_steps(),
        trainer_key=inspection.trainer_key,
        trainer_public=PublicKey.from_pem(claim.public_key.encode()).public if claim is not None else "",
        signed_at=claim.signed_at if claim is not None else "",
        environment=claim.environment if claim is not None else (),
        recorded=recorded(reader),
        accepted_at="" if inspection.acceptance is None else inspection.acceptance.accepted_at,
    )
