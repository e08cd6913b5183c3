"""What the window asks of the engine: each question is declared once, and carried out here.

The window calls an :class:`Engine` from its worker thread. That one is a ``ProcessEngine`` (engine/process.py), which
has each question carried out by another process, so that the window's process never loads torch.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import closing
from dataclasses import dataclass, replace
from datetime import datetime
from functools import wraps
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any, Concatenate, ParamSpec, TypeVar

import counterfoil
from counterfoil import (
    NO_TRUST,
    Adjudication,
    AdjudicationReport,
    AuditReport,
    AuditRequest,
    BundleSummary,
    CancelToken,
    CapsuleSubject,
    CheckedRules,
    CommandEnded,
    CommandProgress,
    CounterfoilError,
    DataPreview,
    DeliveryProgress,
    DeliveryReport,
    Device,
    Difference,
    DifferenceProgress,
    Digest,
    DisputedRows,
    Event,
    FactsProgress,
    FollowRequest,
    FollowState,
    Kept,
    Ledger,
    LedgerProgress,
    Limits,
    Located,
    LocateProgress,
    LookProgress,
    MachinePage,
    MachineProgress,
    OperatorDone,
    OperatorLook,
    OrderWritten,
    PanelEvent,
    Plan,
    PlanProgress,
    RatePolicy,
    Recognised,
    RevocationList,
    RunFacts,
    SignatureError,
    StepTable,
    TensorSides,
    TrustStore,
    Validity,
    Verdict,
)
from counterfoil.audit.boxed.files import PART_NAME
from counterfoil.audit.values.capsulecontents import HandedOut
from counterfoil.talk.port import Port
from counterfoil_app.engine import recordings
from counterfoil_app.engine.incoming import Incoming, look_apart, look_at_each
from counterfoil_app.engine.recordings import (
    FollowingEvent,
    KnownFollow,
    Listing,
    RecordingEvent,
    RecordRequest,
    Sign,
)
from counterfoil_app.engine.sample import SampleKind, SampleProgress, record_sample
from counterfoil_app.engine.search import SearchProgress, Wanted, search
from counterfoil_core.base.inputs import read_input
from counterfoil_core.base.sentence import joined, say
from counterfoil_core.remote.address import Address, place_of
from counterfoil_core.values.events import AdjudicationEvent

if TYPE_CHECKING:
    from counterfoil.audit.outside import LocalOutside

MAX_VERDICT_BYTES = 64 * 2**20
MOST_FETCHED = 2**40
"""Bytes of a file that is copied from elsewhere."""
MAX_LIST_BYTES = 2**24
"""Bytes of a list of revoked keys."""
"""A verdict on a million steps is far smaller; more is not read."""


COUNTS = Validity()
_PIECE_BYTES = 2**20
STANDARD = Limits()
USUAL_RATES = RatePolicy()
P = ParamSpec("P")
T = TypeVar("T")


@dataclass(frozen=True)
class VerdictReading:
    """What a file with a verdict or an adjudication turned out to be."""

    key_ids: tuple[str, ...]  #: The keys that it says it was signed with; nothing is proved by that.
    #: What was signed; None when none of the given keys is among them, so that nothing could be checked.
    verdict: Verdict | Adjudication | None = None
    key: str = ""  #: The public key for which its signature holds; empty without the verdict.
    #: Whether it speaks of the bundle it was compared with; None when it was not compared.
    bundle_matches: bool | None = None
    validity: Validity = COUNTS  #: How it stands for the reader, and what was said of it afterwards.
    #: The name in the certificate beside the signature, which nobody checked; mostly there is none.
    claimed_name: str = ""
    counted: tuple[bytes, ...] = ()  #: Those of the given statements that count, for whoever keeps them.


@dataclass(frozen=True)
class ReadRevocations:
    """A list of revoked keys whose signature holds."""

    envelope: bytes  #: The file, a DSSE envelope as JSON bytes.
    found: RevocationList  #: What it says.


@dataclass(frozen=True)
class KnownRequest(AuditRequest):
    """What the window asks an audit to do: it holds the keys of others by their content."""

    trainer: str = ""  #: The trainer's public key as 64 hexadecimal digits, where the user knows it; else empty.
    client: str = ""  #: The same of the client, whose key signed the order.


Asked = AuditRequest | KnownRequest
"""What an audit can be asked for with; keys that a process has loaded stay in it."""


@dataclass(frozen=True)
class ProvidersRequest:
    """What providers are to be compared on."""

    runs: tuple[Path, ...]  #: Their runs, two or more.
    order: Path | None = None  #: The client's own order; None takes that of the first run that can be read.
    data: Path | None = None  #: The data file, for an order that keeps data outside.
    replay: bool = False  #: Whether the steps in which they part are replayed.
    device: str = "cpu"  #: Where.
    threads: int | None = None  #: Threads on the CPU; None for torch's choice.
    limits: Limits = STANDARD  #: How large the program may be.


@dataclass(frozen=True)
class BundlesRequest:
    """Which two runs are to be compared, of one order or of two."""

    first: Path  #: A run.
    second: Path  #: Another.
    data: Path | None = None  #: The data file, for an order that keeps data outside.
    replay: bool = False  #: Whether the step in which they part is replayed, to compare single elements.
    device: str = "cpu"  #: Where.
    threads: int | None = None  #: Threads on the CPU; None for torch's choice.


@dataclass(frozen=True)
class LookRequest:
    """What of a step is to be looked at closely."""

    run: Path  #: The run.
    step: int  #: The step, from 1.
    part: str = ""  #: The part of the step that is meant, where shares make it; else empty.
    tensor: str = ""  #: Name of the tensor, where one is to be compared.
    data: Path | None = None  #: The data file, for an order that keeps data outside.
    device: str = "cpu"  #: Where it is replayed.
    threads: int | None = None  #: Threads on the CPU; None for torch's choice.


@dataclass(frozen=True)
class LedgerRequest:
    """Which verdicts are to be put together."""

    folder: Path  #: Where they lie.
    keys: tuple[str, ...]  #: Public keys of the auditors who count, as hexadecimal digits.
    policy: RatePolicy = USUAL_RATES  #: What the proposed rates are to be sure of.
    store: TrustStore = NO_TRUST  #: What the user trusts.


@dataclass(frozen=True)
class FetchProgress:
    """How much of a file that lies elsewhere has come."""

    done: int  #: Bytes that came.
    total: int  #: All of them; 0 where its server does not say it.


@dataclass(frozen=True)
class LocateRequest:
    """What is looked for in a run."""

    run: Path  #: The run.
    wanted: Digest | Path  #: A hash, or a safetensors file or a folder of them.


@dataclass(frozen=True)
class FactsRequest:
    """Which run is to be counted."""

    run: Path  #: The run.
    order: Path | None = None  #: The client's own order file, if it is given.


@dataclass(frozen=True)
class RulesRequest:
    """Which rules are to be checked on which run."""

    run: Path  #: The run.
    rules: Path  #: The file of rules.
    verdicts: tuple[Path, ...] = ()  #: Verdicts on the run.
    store: TrustStore = NO_TRUST  #: What the user trusts: the keys of auditors, and what no longer counts.
    order: Path | None = None  #: The client's own order file, if it is given.


Signable = AuditReport | AdjudicationReport
"""What an auditor can sign."""
DeliveryEvent = DeliveryProgress | DeliveryReport
"""What a comparison of delivered weights brings; the report comes last."""


PROGRESS = (
    DeliveryProgress, DifferenceProgress, FactsProgress, FetchProgress, FollowState, recordings.InsideStep,
    LedgerProgress, LocateProgress, LookProgress, MachineProgress, OperatorDone, PlanProgress, recordings.RecordingSize,
    SampleProgress,
)  # fmt: skip
"""Kinds of values that say how far a question is, of which only the newest matters."""
ENGINE = Port["Engine"]()
"""What the engine's process may be asked: the methods that are questions."""
TRAITS: dict[str, Traits] = {}
"""What is known of each."""


@dataclass(frozen=True)
class Traits:
    """What is known of a question to the engine, beside its types."""

    beside: bool = False  #: Looks at files and computes nothing: beside a replay, and without waiting for its loading.
    own: bool = False  #: Reads nothing of a stranger's: a trainer's own order and files, and the names in a folder.
    early: bool = False  #: Carried out by a process that has no box yet.
    here: bool = False  #: What is signed, and keys, which are read on the window's machine, wherever the engine works.
    writes: str = ""  #: The parameter that names a file or a folder that is written.
    statements: bool = False  #: Looks through the folders of the verdicts that it is given.
    comparison: bool = False  #: Reads what lies beside an order as its comparison with a script.
    later: str = ""  #: A field of its request that names what is made meanwhile, and is not read.
    apart: bool = False  #: Carried out by a process of its own, which starts one for each file and then ends.
    leaves: bool = False  #: Leaves in memory what a later question needs, until :meth:`Engine.release` is asked.


def question(
    **traits: Any,
) -> Callable[[Callable[Concatenate[Engine, P], T]], Callable[Concatenate[Engine, P], T]]:
    """Declare a method of the engine as a question, which another process may carry out; takes :class:`Traits`."""

    def declare(method: Callable[Concatenate[Engine, P], T]) -> Callable[Concatenate[Engine, P], T]:
        ENGINE.offer(method)
        TRAITS[method.__name__] = Traits(**traits)

        @wraps(method)
        def ask(engine: Engine, /, *arguments: P.args, **named: P.kwargs) -> T:
            return engine._carry_out(method, *arguments, **named)

        return ask

    return declare


class Engine:
    """What the window asks of the engine: each question is a method, whose signature says what goes and comes.

    Here is the engine of the installed library. Its names are looked up when they are used, since the first of them
    imports torch, which takes seconds. The evidence of the last audit stays in here: it holds a whole state, which the
    window has no use for. Nor has it for the step table, whose rows it has had. Each method may block, and is called
    from the worker thread only.

    Args:
        outside: How a process in a box reaches what lies outside; None in one that does all itself.
        scratch: Where it puts what came out right of a recording that is followed; a folder of its own unless given.
        forks: Whether this process may fork, having one thread and no box.
    """

    def __init__(
        self, outside: LocalOutside | None = None, scratch: Path | None = None, *, forks: bool = False
    ) -> None:
        self._outside = outside
        self._forks = forks
        self._scratch = scratch
        self._own_scratch: TemporaryDirectory[str] | None = None
        self._last: counterfoil.AuditFinished | None = None

    def _carry_out(self, method: Callable[Concatenate[Engine, P], T], /, *arguments: P.args, **named: P.kwargs) -> T:
        """Answer a question; where the engine is in another process, that does."""
        return method(self, *arguments, **named)

    @question(own=True, early=True)
    def devices(self) -> Sequence[Device]:
        """Return the devices of this machine."""
        return tuple(counterfoil.list_devices())

    @question(beside=True, own=True)
    def examine(self, cancel: CancelToken) -> Iterator[MachineProgress | MachinePage]:
        """Examine the engine's machine; the last value is its page. Raises CancelledError."""
        yield from counterfoil.examine_machine(cancel)

    @question(beside=True, comparison=True)
    def outline(self, path: Path) -> BundleSummary:
        """Say what a bundle says of itself before anything large is read; raises CounterfoilError."""
        return next(counterfoil.inspect_stages(path))

    @question(beside=True, comparison=True)
    def inspect(
        self, path: Path, order: Path | None, clients: Sequence[str], cancel: CancelToken
    ) -> Iterator[BundleSummary]:
        """Say what a bundle says of itself, more in each summary.

        Args:
            path: The bundle.
            order: The client's own order file; None for none.
            clients: Public keys of clients: the one that signed the order counts as given.
            cancel: Ends it.

        Raises:
            CounterfoilError: It cannot be read, or ``order`` is none.
        """
        stages = counterfoil.inspect_stages(path, order, cancel=cancel)
        outline = next(stages)  # reads little, and knows who signed the order
        public = next((key for key in clients if counterfoil.key_id_of(key) == outline.order.client_key), "")
        if public:
            stages.close()
            yield from counterfoil.inspect_stages(path, order, cancel=cancel, client_key=_key(public))
        else:
            yield outline
            yield from stages

    @question(beside=True, comparison=True)
    def client_order(self, path: Path, audited: Path) -> BundleSummary:
        """Say what a client's own order file holds, for a file that it is compared with.

        Raises:
            CounterfoilError: It is no order, or that very file.
        """
        counterfoil.read_client_order(path, audited)
        return next(counterfoil.inspect_stages(path))

    @question()
    def plan(self, request: Asked, bad_fraction: float, cancel: CancelToken) -> Iterator[PlanProgress | Plan]:
        """Measure a few steps and say what audits would cost; raises CounterfoilError."""
        yield from counterfoil.plan_audit(
            request.file,
            order=request.order,
            data=request.data,
            bad_fraction=bad_fraction,
            device=request.device,
            cancel=cancel,
            limits=request.limits,
        )

    @question()
    def kept(self, request: Asked, order: Digest, run_root: Digest) -> Kept | None:
        """Return what is kept of an earlier replay of this run, to go on from; raises CounterfoilError."""
        return counterfoil.find_progress(keeping(request), order, run_root, self._outside)

    @question(leaves=True)
    def audit(self, request: Asked, cancel: CancelToken) -> Iterator[Event]:
        """Replay a run; raises CounterfoilError."""
        yield from self._audited(keeping(request), cancel)

    def _audited(self, request: AuditRequest, cancel: CancelToken) -> Iterator[Event]:
        self._last = None
        for event in counterfoil.run_audit(request, cancel, self._outside):
            if isinstance(event, counterfoil.AuditFinished):
                self._last = replace(event, steps=None)
                event = replace(self._last, evidence=None)
            yield event

    @question(later="run", leaves=True)
    def follow(self, request: KnownFollow, cancel: CancelToken) -> Iterator[FollowingEvent]:
        """Follow a recording that lies there, until its run is made or a step is not what was ordered.

        Raises:
            CounterfoilError: The order, the data file or that of the tree heads is not there, or is none.
        """
        known = None
        for event in counterfoil.follow(with_key(request), self._part, cancel):
            yield event
            if isinstance(event, FollowState) and (size := recordings.size_of(request.folder)) != known:
                known = size
                yield size

    @question(leaves=True)
    def audit_followed(self, request: KnownFollow, cancel: CancelToken) -> Iterator[Event]:
        """Audit the run that the recording came to which was followed last; raises CounterfoilError."""
        yield from self._audited(with_key(request).audit(self._part), cancel)

    @question(own=True)
    def record_run(self, request: RecordRequest, sign: Sign, cancel: CancelToken) -> Iterator[RecordingEvent]:
        """Record a run, or go on with one; what is finished stays when it is stopped.

        Args:
            request: What to record.
            sign: Has a statement signed with the trainer's key; called from the thread that takes the events.
            cancel: Stops it.

        Raises:
            CounterfoilError: It cannot be recorded, another process records it, or a statement is not signed.
        """
        from counterfoil_app.engine.recorder import record_run

        yield from record_run(request, sign, cancel)

    @question(beside=True, own=True)
    def has_begun(self, folder: Path, run: Path) -> bool:
        """Whether a recording lies in a folder, or the run that it comes to; raises CounterfoilError."""
        return recordings.has_begun(folder, run)

    @question(beside=True, own=True, writes="folder")
    def hand_over_run(self, run: Path, heads: Path | None, public: str, folder: Path) -> Path:
        """Copy a run, its tree heads and the public key into a folder that is made; raises CounterfoilError."""
        from counterfoil_app.engine.recorder import hand_over_run

        return hand_over_run(run, heads, public, folder)

    @question(beside=True, own=True)
    def list_folder(self, folder: Path) -> Listing:
        """Return the names in a folder of the engine's machine; raises CounterfoilError."""
        return recordings.list_folder(folder)

    @question(beside=True, own=True, early=True)
    def version(self) -> str:
        """Return which version of Counterfoil the engine is."""
        return counterfoil.__version__

    @property
    def where(self) -> str:
        """The machine that it works on; empty for this one."""
        return ""

    def note_file(self, path: Path) -> None:
        """Know that the user named a path as one of the engine's machine."""

    def another(self) -> Engine:
        """Return an engine on the same machine, for work beside what this one does."""
        return Engine()

    @property
    def _part(self) -> Path:
        """The file with what came out right of the recording that is followed."""
        if self._scratch is None:
            self._own_scratch = TemporaryDirectory(prefix="counterfoil-")
            self._scratch = Path(self._own_scratch.name)
        return self._scratch / PART_NAME

    @question(beside=True, early=True, apart=True)
    def incoming(self, paths: Sequence[Path], cancel: CancelToken) -> Iterator[Incoming]:
        """Say what files are, by their content, in any order; raises CancelledError."""
        return (look_apart if self._forks else look_at_each)(paths, cancel)

    def recognise(self, path: Path) -> Recognised:
        """Say what one file is; raises CounterfoilError."""
        (told,) = self.incoming((path,), CancelToken())
        if told.failure is not None:
            raise told.failure.error
        assert told.found is not None
        return told.found

    @question(beside=True, own=True, here=True)
    def fetch(self, address: str, target: Path, cancel: CancelToken) -> Iterator[FetchProgress | Path]:
        """Copy a file that lies at an address, which nobody reads before; the last value says where it is.

        Raises:
            CounterfoilError: There is none, or it cannot be copied.
        """
        from counterfoil.remote.files import open_transfer

        place = place_of(address)
        assert isinstance(place, Address)
        with closing(open_transfer(place, cancel)) as transfer, TemporaryDirectory(prefix="counterfoil-") as folder:
            copy, total = Path(folder) / "copy", transfer.size
            with copy.open("wb") as file:
                for done in transfer.copy_into(file, MOST_FETCHED):
                    yield FetchProgress(done, total)
            counterfoil.copy_whole(copy, target, what=say("the copy"))
        yield target

    @question(beside=True)
    def find(self, place: Path, wanted: Wanted, cancel: CancelToken) -> Iterator[SearchProgress]:
        """Look for a file that is no longer where it was, in a folder or at a file; raises CounterfoilError."""
        return search(self, place, wanted, cancel)

    @question(beside=True)
    def capsule_subject(self, capsule: Path) -> CapsuleSubject:
        """Say which step a dispute capsule says that it is about; raises CounterfoilError."""
        return counterfoil.capsule_subject(capsule)

    @question(beside=True, here=True)
    def handed_out(self, capsule: Path) -> HandedOut:
        """Say what a dispute capsule hands to whoever gets it; raises CounterfoilError."""
        from counterfoil.audit.capsulecontents import count_file_contents

        return count_file_contents(capsule)

    @question()
    def adjudicate(
        self, capsule: Path, order: Path | None, device: str, threads: int | None, cancel: CancelToken
    ) -> Iterator[AdjudicationEvent]:
        """Replay the steps of a dispute capsule and say who is right; raises CounterfoilError."""
        yield from counterfoil.adjudicate(capsule, order=order, device=device, threads=threads, cancel=cancel)

    @question(statements=True)
    def verify_weights(
        self,
        weights: Path,
        run: Path,
        verdict: Path | None,
        store: TrustStore,
        replay: AuditReport | None,
        cancel: CancelToken,
    ) -> Iterator[DeliveryEvent]:
        """Compare delivered weights with a run that a verdict, or a replay here, is about; raises CounterfoilError."""
        judged: Verdict | AuditReport | None = replay
        if verdict is not None:
            reading = self.read_verdict(verdict, store, None, ())
            signed = reading.verdict
            if reading.validity.later.withdrawals:
                raise SignatureError(
                    say("The verdict {0} was withdrawn by its auditor.", verdict.name),
                    remedy=say("Ask the auditor for the verdict that stands in its place."),
                )
            if not reading.validity.counts and not reading.validity.self_signed:
                raise SignatureError(
                    say("The verdict {0} does not count. {1}", verdict.name, joined(*reading.validity.why)),
                    remedy=say("Ask for one that counts."),
                )
            if signed is None:
                raise SignatureError(
                    say("The verdict {0} was signed with a key that you have not confirmed.", verdict.name),
                    remedy=say("Drop the auditor's public key on the window, and confirm it."),
                )
            if not isinstance(signed, Verdict):
                raise SignatureError(say("What is signed is not a verdict of Counterfoil."))
            judged = signed
        basis = None if judged is None else counterfoil.basis_of(judged)
        yield from counterfoil.verify_weights(weights, run, basis, cancel=cancel)

    @question(beside=True, here=True)
    def read_ledger(self, asked: LedgerRequest, cancel: CancelToken) -> Iterator[LedgerProgress | Ledger]:
        """Put the verdicts in a folder together; the last value is what they say. Raises CounterfoilError."""
        keys = [_key(public) for public in asked.keys]
        yield (yield from counterfoil.read_ledger(asked.folder, keys, asked.policy, cancel, asked.store))

    @question(beside=True)
    def locate(self, asked: LocateRequest, cancel: CancelToken) -> Iterator[LocateProgress | Located]:
        """Find which steps of a run hold something; the last value is what was found. Raises CounterfoilError."""
        if isinstance(asked.wanted, Digest):
            yield Located(places=(yield from counterfoil.locate_hash(asked.run, asked.wanted, cancel)))
        else:
            yield Located(weights=(yield from counterfoil.locate_weights(asked.wanted, asked.run, cancel)))

    @question()
    def compare_providers(self, asked: ProvidersRequest, cancel: CancelToken) -> Iterator[PanelEvent]:
        """Compare runs of one order, and replay where they part if that is asked for; raises CounterfoilError."""
        yield from counterfoil.run_panel(
            asked.runs,
            order=asked.order,
            data=asked.data,
            device=asked.device,
            threads=asked.threads,
            cancel=cancel,
            limits=asked.limits,
            replay=asked.replay,
        )

    @question()
    def compare_bundles(self, asked: BundlesRequest, cancel: CancelToken) -> Iterator[DifferenceProgress | Difference]:
        """Say where two runs first differ; the last value is what was found. Raises CounterfoilError."""
        yield (
            yield from counterfoil.run_difference(
                asked.first,
                asked.second,
                replay=asked.replay,
                data=asked.data,
                device=asked.device,
                threads=asked.threads,
                cancel=cancel,
            )
        )

    @question()
    def disputed_rows(self, asked: LookRequest, cancel: CancelToken) -> Iterator[LookProgress | DisputedRows]:
        """Show the rows that a step was ordered to read, and read; the last value has them. Raises CounterfoilError."""
        yield (
            yield from counterfoil.find_disputed_rows(asked.run, asked.step, asked.part, data=asked.data, cancel=cancel)
        )

    @question()
    def operator_look(self, asked: LookRequest, cancel: CancelToken) -> Iterator[LookProgress | OperatorLook]:
        """Replay up to a step, and show what its first differing operator was given; raises CounterfoilError."""
        yield (
            yield from counterfoil.look_at_operator(
                asked.run,
                asked.step,
                asked.part,
                data=asked.data,
                device=asked.device,
                threads=asked.threads,
                cancel=cancel,
            )
        )

    @question()
    def tensor_sides(self, asked: LookRequest, cancel: CancelToken) -> Iterator[LookProgress | TensorSides]:
        """Replay up to a stored state, and compare a tensor of it with it; the last value has both sides.

        Raises:
            CounterfoilError: There is no such state or tensor, or it cannot be replayed.
        """
        yield (
            yield from counterfoil.compare_tensor(
                asked.run,
                asked.step,
                asked.tensor,
                data=asked.data,
                device=asked.device,
                threads=asked.threads,
                cancel=cancel,
            )
        )

    @question(beside=True)
    def run_facts(self, asked: FactsRequest, cancel: CancelToken) -> Iterator[FactsProgress | RunFacts]:
        """Count what a run shows of itself; the last value has it. Raises CounterfoilError."""
        yield (yield from counterfoil.count_facts(asked.run, order=asked.order, cancel=cancel))

    @question(beside=True)
    def facts_as_json(self, facts: RunFacts) -> bytes:
        """Return facts as a JSON file that nobody signed."""
        return bytes(counterfoil.facts_as_json(facts))

    @question(beside=True, statements=True)
    def check_rules(self, asked: RulesRequest, cancel: CancelToken) -> Iterator[FactsProgress | CheckedRules]:
        """Check rules on a run; the last value has what came of each.

        Raises:
            CounterfoilError: The run or the rules cannot be read, a check fails, or a verdict is signed with none of
                the keys.
        """
        yield (
            yield from counterfoil.check_run(
                asked.run, asked.rules, asked.verdicts, asked.store, order=asked.order, cancel=cancel
            )
        )

    @question(beside=True)
    def preview(self, report: Signable, signed_at: datetime) -> bytes:
        """Return the statement that the signer is to sign, as canonical JSON; raises CounterfoilError."""
        if isinstance(report, AdjudicationReport):
            return bytes(counterfoil.preview_adjudication(report, signed_at))
        return bytes(counterfoil.preview_verdict(report, signed_at))

    @question(beside=True, statements=True)
    def read_verdict(
        self, path: Path, store: TrustStore, bundle: Path | None, statements: Sequence[Path]
    ) -> VerdictReading:
        """Check a verdict file with that one of the auditors' keys that signed it, and say how it stands.

        Args:
            path: The verdict. What was said of it afterwards is looked for in its folder.
            store: What the user trusts.
            bundle: A file that it should be about; None where none is compared.
            statements: More files with what was said of it.

        Raises:
            CounterfoilError: A file cannot be read, or the verdict's signature does not hold.
        """
        envelope = read_input(path, say("a verdict"), CounterfoilError, most=MAX_VERDICT_BYTES)
        key_ids = counterfoil.claimed_key_ids(envelope)
        key = counterfoil.claimed_key(envelope, counterfoil.auditors_of(store))
        if key is None:
            return VerdictReading(key_ids)
        beside, unread = counterfoil.statements_beside(path, counterfoil.verdict_digest(envelope))
        given = [
            (file.name, read_input(file, say("a statement"), CounterfoilError, most=MAX_VERDICT_BYTES))
            for file in statements
        ]
        judged = counterfoil.open_judgement(envelope, store, [key], (*beside, *given))
        found, said = judged.validity, judged.said
        each = [(one, counterfoil.afterwards(said, judged.digest, [one])) for one in given]
        counted = tuple(one[1] for one, later in each if later.withdrawals or later.replies)
        later = replace(found.later, ignored=(*found.later.ignored, *found.later.damaged, *unread))
        found = replace(found, later=later)
        claimed = counterfoil.claimed_beside(envelope, key)
        return VerdictReading(key_ids, said, key.public, _speaks_of(said, bundle), found, claimed, counted)

    @question(beside=True, here=True)
    def read_key(self, path: Path) -> str:
        """Return the public key in a file, in hexadecimal digits; raises CounterfoilError."""
        return counterfoil.load_public_key(path).public

    @question(beside=True, here=True)
    def read_revocations(self, path: Path, key: str) -> ReadRevocations:
        """Check a list of revoked keys with the public key that must have signed it; raises CounterfoilError."""
        envelope = read_input(path, say("a list of keys"), CounterfoilError, most=MAX_LIST_BYTES)
        return ReadRevocations(envelope, counterfoil.open_said(counterfoil.RevocationList, envelope, _key(key)))

    def write_steps(self, steps: StepTable, path: Path) -> None:
        """Write the step table as CSV; raises CounterfoilError."""
        counterfoil.write_steps_csv(steps, path)

    @question(own=True, writes="folder")
    def make_sample(self, folder: Path, kind: SampleKind, cancel: CancelToken) -> Iterator[SampleProgress]:
        """Record a run of the sample; raises CounterfoilError."""
        return record_sample(folder, kind, cancel)

    @question(beside=True, here=True)
    def preview_data(self, form: str, path: Path | None) -> DataPreview:
        """Return the first rows of data that an order of a form takes; raises CounterfoilError."""
        return counterfoil.preview_data(form, path)

    def order(
        self, arguments: Sequence[str], folder: Path | None, cancel: CancelToken
    ) -> Iterator[CommandProgress | OrderWritten]:
        """Write an order in a process of its own, and say at the end what was written.

        Other calls may be made meanwhile, from another thread.

        Args:
            arguments: Those of ``counterfoil order``.
            folder: The folder in which a client's own code runs; None where none does.
            cancel: Ends it; nothing is written then.

        Raises:
            CounterfoilError: No order was written; an OrderError names the option that this is about.
        """
        yield from counterfoil.make_order(arguments, folder, cancel)

    def run_command(
        self, arguments: tuple[str, ...], passphrase: str | None, cancel: CancelToken
    ) -> Iterator[CommandProgress | CommandEnded]:
        """Carry out a command of the command line on this machine, in a process of its own.

        Args:
            arguments: The command, and its arguments.
            passphrase: Of the key that it signs with; None where it opens none.
            cancel: Ends it.

        Raises:
            CounterfoilError: It failed; an OrderError names the option that this is about.
        """
        yield from counterfoil.run_command(arguments, passphrase, cancel)

    @question(writes="path")
    def write_capsule(self, report: AuditReport, path: Path) -> None:
        """Write the dispute capsule of the last audit, whose report this is; raises CounterfoilError."""
        evidence = self._evidence(report)
        if self._outside is None:
            counterfoil.write_capsule(evidence, path)
        else:
            self._outside.write_capsule(evidence, path)

    @question()
    def carry_capsule(self, report: AuditReport, cancel: CancelToken) -> Iterator[bytes]:
        """Yield the dispute capsule of the last audit piece by piece, for a file on another machine."""
        carried = self._part.with_name("carried.cfoil")
        counterfoil.write_capsule(self._evidence(report), carried)
        try:
            with carried.open("rb") as file:
                while piece := file.read(_PIECE_BYTES):
                    cancel.check()
                    yield piece
        finally:
            carried.unlink(missing_ok=True)

    @question()
    def release(self) -> None:
        """Let go of the evidence of the last audit: there is none, or its capsule lies in a file."""
        self._last = None

    def _evidence(self, report: AuditReport) -> counterfoil.CapsuleContents:
        """The evidence of a dispute; raises CounterfoilError where it is that of another one."""
        if self._last is None or self._last.evidence is None or _disputed(self._last.report) != _disputed(report):
            raise CounterfoilError(
                say("The evidence for a capsule of this dispute is no longer in memory."),
                remedy=say("Replay the run again."),
            )
        return self._last.evidence

    def close(self) -> None:
        """Let go of the evidence."""
        self._last = None
        if self._own_scratch is not None:
            self._own_scratch.cleanup()
            self._scratch = self._own_scratch = None


def keeping(request: AuditRequest) -> AuditRequest:
    """The same, with its progress kept in this user's folder, and the known keys ready to check signatures."""
    trainer, client = request.trainer_key, request.client_key
    if isinstance(request, KnownRequest):
        trainer = _key(request.trainer) if request.trainer else trainer
        client = _key(request.client) if request.client else client
    return replace(request, progress=counterfoil.state_folder(), trainer_key=trainer, client_key=client)


def with_key(request: FollowRequest) -> FollowRequest:
    """The same, with the known key of the trainer ready to check signatures."""
    if isinstance(request, KnownFollow) and request.trainer:
        return replace(request, trainer_key=_key(request.trainer))
    return request


def _key(public: str) -> counterfoil.PublicKey:
    return counterfoil.PublicKey.from_pem(counterfoil.pem_of(public).encode())


def _speaks_of(verdict: Verdict | Adjudication, bundle: Path | None) -> bool | None:
    if bundle is None:
        return None
    try:
        counterfoil.check_bundle_file(verdict, bundle)
    except SignatureError:
        return False
    return True


def _disputed(report: AuditReport) -> tuple[object, ...]:
    """What tells the dispute of one report from that of another."""
    dispute = report.dispute
    return report.bundle_digest, *((dispute.trainer_leaf, dispute.replay_leaf) if dispute is not None else ())
