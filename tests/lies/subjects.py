"""What is lied about: files of each kind, who lies, how well the lie is told, and what becomes of it.

A liar signs again whatever its own key signs, and makes right every digest that nobody's key binds. What comes of a lie
is decided by the product alone, as a user would call it.
"""

from __future__ import annotations

import base64
import hashlib
import hmac
import json
import os
import random
import shutil
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import msgspec
import numpy as np
from securesystemslib.dsse import Envelope
from torch import Tensor, nn
from torch.nn import functional

from counterfoil.audit import keeping
from counterfoil.audit.hearings import adjudicate
from counterfoil.audit.parts import partfile as parts
from counterfoil.audit.parts.partial import replay_part
from counterfoil.audit.values.delivery import DeliveryOutcome
from counterfoil.base.sealing import SEAL_BYTES
from counterfoil.bundle.capsulewriter import write_capsule
from counterfoil.delivery.export import export_weights
from counterfoil.signing.privatekeys import generate_key, load_private_key
from counterfoil.training.order import OrderDraft
from counterfoil.training.tamper import LabelFlip
from counterfoil_core.arithmetic.grid.log import ZERO_SCALE, SiteLog
from counterfoil_core.base import canonical
from counterfoil_core.base.cancel import CancelToken
from counterfoil_core.base.digest import DIGEST_BYTES, Digest
from counterfoil_core.base.errors import CounterfoilError, RefusedError
from counterfoil_core.base.generators import finish
from counterfoil_core.base.precision import AnyPrecision, ExactPrecision
from counterfoil_core.bundle.reader import BundleReader
from counterfoil_core.signing.claims import Acceptance, SignedOrder
from counterfoil_core.signing.keys import SigningKey
from counterfoil_core.signing.kinds import PAYLOAD_TYPE
from counterfoil_core.signing.statements import open_said, sign_said
from counterfoil_core.statement.verdict import sign_verdict, verify_signed
from counterfoil_core.values.events import AdjudicationFinished
from counterfoil_core.values.outcome import Outcome
from counterfoil_core.values.request import AuditRequest
from counterfoil_core.values.workers import PartFiles
from lies.redigest import redigest
from lies.values import Array, field_name, json_paths, lie_in_array, lie_in_json
from support.bundles import opened_for_change
from support.capsules import crafted, evidence_of
from support.delivered import basis_for, compared
from support.forgery import rewrite_log
from support.jobs import Job, audited, classify, draw, own_order, record_job, record_run, replace_bytes, sign_again
from support.resuming import progress_of

CRASHED = "crashed:"
STEPS = 4
PROFILES: dict[str, AnyPrecision | None] = {"": None, " under exact-20": ExactPrecision(20)}
CHEAT = 3
"""The step at which the cheat's labels were flipped."""
Change = Callable[[Any, random.Random], None]
"""Changes what is being lied about, in place."""


@dataclass(frozen=True)
class Subject:
    """A file that is lied about.

    Attributes:
        name: What it is, and whose lie it is.
        fields: Its fields, each with the lies about it.
        begin: Makes a copy to be changed.
        outcome: What the product concludes of the copy.
        wrong: Whether that conclusion, reached with lies about these fields, is one that no lie may have.
    """

    name: str
    fields: Mapping[str, tuple[Change, ...]]
    begin: Callable[[], Any]
    outcome: Callable[[Any], str]
    wrong: Callable[[str, frozenset[str]], bool]

    def told(self, fields: Sequence[str], chance: random.Random) -> str:
        """Lie about some fields, each once, and return what is concluded; without fields, what is true."""
        copy = self.begin()
        for field in fields:
            chance.choice(self.fields[field])(copy, chance)
        try:
            return self.outcome(copy)
        except Exception as error:  # the point is to find out which escape
            return f"{CRASHED} {type(error).__name__}"


class Liar:
    """Makes the files in a folder: an honest run and a cheat's of one order, with what belongs to them."""

    def __init__(self, folder: Path) -> None:
        """Record the runs, replay them, and keep what came of it."""
        self._folder = folder
        for name in ("client", "trainer", "auditor", "stranger"):
            generate_key(folder / f"{name}.pem", None)
        self._keys: dict[str, SigningKey] = {
            name: load_private_key(folder / f"{name}.pem", None)
            for name in ("client", "trainer", "auditor", "stranger")
        }
        key = self._keys["trainer"]
        self._runs: dict[str, Job] = {}
        for profile, precision in PROFILES.items():
            place = folder / (profile.strip() or "default")
            place.mkdir()
            honest = record_job(place, _order(precision), key, self._keys["client"])
            cheat = record_run(honest.order, place / "cheat.cfoil", key, tamper=LabelFlip(CHEAT))
            self._runs |= {f"honest{profile}": honest, f"cheat{profile}": Job(honest.order, cheat)}
        self._honest = self._runs["honest"]

    def subjects(self) -> tuple[Subject, ...]:
        """Everything that is lied about."""
        return (
            *(self._run(truth, profile) for profile in PROFILES for truth in ("honest", "cheat")),
            *(self._embedded_order(truth, known) for known in (False, True) for truth in ("honest", "cheat")),
            self._given_order(),
            *(self._capsule(truth) for truth in ("honest", "cheat")),
            *(self._verdict(truth, who) for truth in ("honest", "cheat") for who in ("nobody", "stranger", "auditor")),
            *(self._part(truth) for truth in ("honest", "cheat")),
            *(self._progress(truth) for truth in ("honest", "cheat")),
            self._weights(),
            *self._statements(),
        )

    def _statements(self) -> tuple[Subject, ...]:
        from lies.statements import Statements

        honest, cheat = self._runs["honest"], self._runs["cheat"]
        verdict = sign_verdict(audited(honest.run, honest.order).report, self._keys["auditor"])
        return Statements(self._folder, self._keys, (honest, cheat), verdict).subjects()

    def _place(self, name: str) -> Path:
        # Several processes work with one set of files.
        return self._folder / f"{name}.{os.getpid()}"

    # Runs: the trainer lies, and signs.

    def _run(self, truth: str, profile: str) -> Subject:
        job, twin = (self._runs[which + profile] for which in (truth, "cheat" if truth == "honest" else "honest"))
        fields = {
            name: changes for name, changes in self._bundle_fields(job.run, twin.run).items() if name.startswith("run/")
        }
        if not profile:
            fields |= {f"run/log: {name}": (change,) for name, change in self._log_lies().items()}
        fields |= self._signed_lies(job.run, twin.run, "claim")
        fields |= self._signed_lies(job.run, twin.run, "acceptance")

        def outcome(copy: _Copy) -> str:
            copy.sign(self._keys["trainer"])
            return _audit(copy.path, job.order)

        def wrong(found: str, lied: frozenset[str]) -> bool:
            return found == "VERIFIED" and (truth == "cheat" or not lied <= HARMLESS_IN_A_RUN)

        name = f"run of {_whose(truth)}{profile}, signed again"
        return Subject(name, fields, lambda: self._copied(job.run), outcome, wrong)

    def _embedded_order(self, truth: str, known: bool) -> Subject:
        """The trainer lies about the order within its run, and has it signed by a friend; nobody has the client's."""
        job, twin = self._runs[truth], self._runs["cheat" if truth == "honest" else "honest"]
        fields = {
            name: changes
            for name, changes in self._bundle_fields(job.run, twin.run).items()
            if name.startswith("order/")
        }
        settings = {"client_key": self._keys["client"].public} if known else {}

        def outcome(copy: _Copy) -> str:
            if copy.order_changed:
                copy.digest_order(self._keys["stranger"])
            copy.sign(self._keys["trainer"])
            return _audit(copy.path, None, **settings)

        def wrong(found: str, lied: frozenset[str]) -> bool:
            return found == "VERIFIED"

        hand = "the client's key at hand" if known else "nothing of the client's at hand"
        name = f"order within the run of {_whose(truth)}, {hand}"
        return Subject(name, fields, lambda: self._copied(job.run), outcome, wrong)

    def _given_order(self) -> Subject:
        """Somebody lies about the order's file that the auditor gets; the run is honest."""
        fields = self._bundle_fields(self._honest.order, self._honest.order)

        def outcome(copy: _Copy) -> str:
            if copy.order_changed:
                copy.digest_order(self._keys["stranger"])
            return _audit(self._honest.run, copy.path)

        def wrong(found: str, lied: frozenset[str]) -> bool:
            return found in ("VERIFIED", "DISPUTED")

        return Subject(
            "order's file beside an honest run", fields, lambda: self._copied(self._honest.order), outcome, wrong
        )

    def _copied(self, path: Path) -> _Copy:
        return _Copy(Path(shutil.copy(path, self._place("copy.cfoil"))))

    def _bundle_fields(self, path: Path, twin: Path) -> dict[str, tuple[Change, ...]]:
        """Every dataset of a file; of JSON every field."""
        fields: dict[str, list[Change]] = {}
        contents, others = _datasets(path), _datasets(twin)
        for name, array in contents.items():
            if name in ("run/claim", "run/acceptance", "run/log"):
                continue
            if name.startswith("order/manifest") or name.startswith("order/program"):
                document = json.loads(array.tobytes())
                for place in json_paths(document):
                    field = f"{name}: {generic(field_name(place))}"
                    fields.setdefault(field, []).append(_json_change(name, place))
            elif array.size:
                fields.setdefault(generic(name), []).append(_array_change(name, others.get(name)))
        return {name: tuple(changes) for name, changes in sorted(fields.items())}

    @staticmethod
    def _log_lies() -> dict[str, Change]:
        def told(edit: Callable[[list[SiteLog], Sequence[int], random.Random], None]) -> Change:
            def change(copy: _Copy, chance: random.Random) -> None:
                def rewritten(logs: list[SiteLog], elements: Sequence[int]) -> list[SiteLog]:
                    edit(logs, elements, chance)
                    return logs

                rewrite_log(copy.path, chance.randint(1, STEPS), rewritten)

            return change

        def some(logs: list[SiteLog], chance: random.Random) -> int:
            return chance.choice([number for number, log in enumerate(logs) if len(log.indices)] or [0])

        def direction(logs: list[SiteLog], elements: Sequence[int], chance: random.Random) -> None:
            site = some(logs, chance)
            ups = np.array(logs[site].ups)
            if ups.size:
                ups[chance.randrange(ups.size)] ^= True
            logs[site] = replace(logs[site], ups=ups)

        def left_out(logs: list[SiteLog], elements: Sequence[int], chance: random.Random) -> None:
            site = some(logs, chance)
            if len(logs[site].indices):
                gone = chance.randrange(len(logs[site].indices))
                log = logs[site]
                logs[site] = replace(log, indices=np.delete(log.indices, gone), ups=np.delete(log.ups, gone))

        def too_many(logs: list[SiteLog], elements: Sequence[int], chance: random.Random) -> None:
            site = chance.choice([number for number, log in enumerate(logs) if len(log.indices) < elements[number]])
            log = logs[site]
            new = chance.choice(sorted(set(range(elements[site])) - set(log.indices.tolist())))
            at = int(np.searchsorted(log.indices, new))
            ups = np.insert(log.ups, at, chance.random() < 0.5)
            logs[site] = replace(log, indices=np.insert(log.indices, at, new), ups=ups)

        def exponent(logs: list[SiteLog], elements: Sequence[int], chance: random.Random) -> None:
            site = chance.choice([number for number, log in enumerate(logs) if log.exponent != ZERO_SCALE])
            logs[site] = replace(logs[site], exponent=logs[site].exponent + chance.choice((1, -1, 10)))

        lies = {
            "a direction": direction,
            "an entry left out": left_out,
            "an entry too many": too_many,
            "a scale's exponent": exponent,
        }
        return {name: told(edit) for name, edit in lies.items()}

    def _signed_lies(self, path: Path, twin: Path, name: str) -> dict[str, tuple[Change, ...]]:
        """Lies about what the trainer signs in a run, by the names of its fields."""
        document, beside = (payload_of(_datasets(each)[f"run/{name}"].tobytes()) for each in (path, twin))
        fields: dict[str, list[Change]] = {}

        def told(place: tuple[str | int, ...]) -> Change:
            def change(copy: _Copy, chance: random.Random) -> None:
                # Both runs are of one order: what was said when it was accepted differs in the time alone.
                twin = beside if name == "claim" else None
                copy.signed[name].append(lambda claim: lie_in_json(claim, place, chance, twin))

            return change

        for place in json_paths(document):
            fields.setdefault(f"{name}: {generic(field_name(place))}", []).append(told(place))
        return {field: tuple(changes) for field, changes in fields.items()}

    # Capsules: the accuser lies, and has no key of the trainer's.

    def _capsule(self, truth: str) -> Subject:
        job = self._runs[truth]
        path = self._folder / f"{truth}.capsule.cfoil"
        if truth == "cheat":
            write_capsule(evidence_of(job.run, job.order), path)
        else:
            write_capsule(crafted(job.run, CHEAT), path)
        fields = self._bundle_fields(path, path)

        def outcome(copy: _Copy) -> str:
            if copy.order_changed:
                copy.digest_order(None)
            try:
                *_, end = adjudicate(copy.path, trainer_key=self._keys["trainer"].public, threads=1)
            except CounterfoilError:
                return "ERROR"
            assert isinstance(end, AdjudicationFinished)
            return end.report.outcome.value

        def wrong(found: str, lied: frozenset[str]) -> bool:
            return found == "CONFIRMED" or (truth == "cheat" and found == "REJECTED")

        return Subject(f"capsule of {_whose(truth)}", fields, lambda: self._copied(path), outcome, wrong)

    # Verdicts.

    def _verdict(self, truth: str, who: str) -> Subject:
        job, twin = self._runs[truth], self._runs["cheat" if truth == "honest" else "honest"]
        key = self._keys["auditor"]
        envelopes = [sign_verdict(audited(each.run, each.order).report, key) for each in (job, twin)]
        statement, beside = map(payload_of, envelopes)
        fields: dict[str, list[Change]] = {}
        for place in json_paths(statement):
            if len(place) == 1:
                # The twin's whole predicate would be another verdict of the auditor's, whom everybody trusts.
                continue
            fields.setdefault(generic(field_name(place)), []).append(document_change(place, beside))

        def outcome(copy: Document) -> str:
            envelope = json.loads(envelopes[0])
            payload = written(copy.value)
            if who == "nobody":
                envelope["payload"] = base64.b64encode(payload).decode()
                data = json.dumps(envelope).encode()
            else:
                data = signed(payload, self._keys[who])
            try:
                return str(verify_signed(data, key.public).outcome.value)
            except CounterfoilError:
                return "REFUSED"

        def wrong(found: str, lied: frozenset[str]) -> bool:
            if who != "auditor":
                return found != "REFUSED"
            return found == "VERIFIED" and truth == "cheat"

        name = f"verdict on {_whose(truth)}, signed by {'its auditor' if who == 'auditor' else who}"
        return Subject(name, tuples(fields), lambda: Document(statement), outcome, wrong)

    # Parts of an audit: who made one lies. An honest part of the same segments lies beside it.

    def _part(self, truth: str) -> Subject:
        job = self._runs[truth]
        path, other = self._folder / f"{truth}.part", self._folder / f"{truth}.honest.part"
        finish(replay_part(AuditRequest(job.run, job.order, threads=1), path, CancelToken()))
        shutil.copy(path, other)
        start = len(parts.MARK) + DIGEST_BYTES
        document = msgspec.msgpack.decode(path.read_bytes()[start:])
        fields: dict[str, list[Change]] = {}
        for place in json_paths(document):
            fields.setdefault(generic(field_name(place)), []).append(document_change(place, None))

        def outcome(copy: Document) -> str:
            with suppress(OverflowError, TypeError, UnicodeEncodeError):
                body = msgspec.msgpack.encode(copy.value)
                lied = self._place("lied.part")
                lied.write_bytes(parts.MARK + hashlib.sha256(body).digest() + body)
                return _audit(job.run, job.order, workers=PartFiles((lied, other)), recheck=0)
            return "REFUSED"

        def wrong(found: str, lied: frozenset[str]) -> bool:
            return found == ("VERIFIED" if truth == "cheat" else "DISPUTED")

        name = f"part of the audit of {_whose(truth)}, beside an honest part"
        return Subject(name, tuples(fields), lambda: Document(document), outcome, wrong)

    # Kept progress.

    def _progress(self, truth: str) -> Subject:
        job = self._runs[truth]
        old, keeping.LEAST_SECONDS = keeping.LEAST_SECONDS, -1e9
        try:
            path = progress_of(job, self._folder / f"{truth}.progress", 2)
        finally:
            keeping.LEAST_SECONDS = old
        start = len(keeping.MARK) + SEAL_BYTES
        data = path.read_bytes()
        document = msgspec.msgpack.decode(data[start:])
        fields: dict[str, list[Change]] = {}
        for place in json_paths(document):
            fields.setdefault(generic(field_name(place)), []).append(document_change(place, None))

        def outcome(copy: Document) -> str:
            with suppress(OverflowError, TypeError, UnicodeEncodeError):
                body = msgspec.msgpack.encode(copy.value)
                lied = self._place("progress")
                # Whoever lies here writes to the folder, and does not have the user's secret.
                seal = hmac.digest(b"a guess", keeping.MARK + body, "sha256")
                lied.write_bytes(keeping.MARK + seal + body)
                return _audit(job.run, job.order, progress=lied, resume=True)
            return "REFUSED"

        def wrong(found: str, lied: frozenset[str]) -> bool:
            return found in ("VERIFIED", "DISPUTED")

        name = f"progress of the audit of {_whose(truth)}"
        return Subject(name, tuples(fields), lambda: Document(document), outcome, wrong)

    # Delivered weights: whoever delivers lies.

    def _weights(self) -> Subject:
        *_, path = export_weights(self._honest.run, self._folder / "weights")
        assert isinstance(path, Path)
        data = path.read_bytes()
        start = 8 + int.from_bytes(data[:8], "little")
        header = json.loads(data[8:start])
        basis = basis_for(self._honest.run)
        fields: dict[str, list[Change]] = {}
        for place in json_paths(header):
            name = field_name(place[1:]) if len(place) > 1 and place[0] != "__metadata__" else "a tensor's entry"
            name = "metadata" if place[0] == "__metadata__" else name
            fields.setdefault(f"header: {name}", []).append(document_change((0, *place), None))

        def numbers(copy: Document, chance: random.Random) -> None:
            copy.value[1] = lie_in_array(np.frombuffer(copy.value[1], np.float32), chance).tobytes()

        fields["numbers"] = [numbers]

        def outcome(copy: Document) -> str:
            text = json.dumps(copy.value[0]).encode()
            folder = self._place("weights")
            folder.mkdir(exist_ok=True)
            (folder / "model.safetensors").write_bytes(len(text).to_bytes(8, "little") + text + copy.value[1])
            try:
                return compared(folder, self._honest.run, basis).outcome.value
            except CounterfoilError:
                return "REFUSED"

        def wrong(found: str, lied: frozenset[str]) -> bool:
            return found == DeliveryOutcome.DELIVERED.value and not lied <= {"header: metadata"}

        return Subject("delivered weights", tuples(fields), lambda: Document([header, data[start:]]), outcome, wrong)


class _Net(nn.Module):
    """A little of everything: products, a norm with buffers, dropout, a function."""

    def __init__(self) -> None:
        super().__init__()
        self.first = nn.Linear(6, 16)
        self.norm = nn.BatchNorm1d(16)
        self.last = nn.Linear(16, 10)

    def forward(self, x: Tensor) -> Tensor:
        return self.last(functional.dropout(functional.silu(self.norm(self.first(x))), 0.25))


def _order(precision: AnyPrecision | None) -> OrderDraft:
    data = {"x": draw((48, 6), 1), "labels": (abs(draw((48,), 2)) * 10).astype("int64")}
    return own_order(_Net(), classify, data, steps=STEPS, batch_size=12, precision=precision)


HARMLESS_IN_A_RUN = frozenset(
    (
        "claim: predicate.signed_at",
        "claim: predicate.environment",
        "claim: predicate.environment.*",
        "acceptance: predicate.accepted_at",
    )
)
"""What a trainer says of itself: the pages say that nothing rests on it."""


class Document:
    """A JSON document that is being lied about."""

    def __init__(self, value: Any) -> None:
        self.value = value if not isinstance(value, list) else list(value)


class _Copy:
    """A copy of a file of arrays that is being lied about.

    Attributes:
        path: Where it lies.
        signed: Lies about claim and acceptance, told when these are signed.
        manifest: Lies about the order's manifest, told when its digests are right.
        order_changed: Whether the order's parts were changed.
        bytes_changed: Names of the arrays that were changed.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        self.signed: dict[str, list[Callable[[Any], Any]]] = {"claim": [], "acceptance": []}
        self.manifest: list[Callable[[Any], Any]] = []
        self.order_changed = False
        self.bytes_changed: set[str] = set()

    def digest_order(self, friend: SigningKey | None) -> None:
        """Make the manifest's digests right for what the order's parts are now, and then tell the lies about it.

        Args:
            friend: Signs the order as it is then; None leaves the signature that there is.
        """
        # What it cannot make sense of stays a plain lie.
        with suppress(LookupError, TypeError, ValueError, AttributeError):
            redigest(self.path)
        if self.manifest:
            with opened_for_change(self.path) as file:
                document = json.loads(file["order/manifest"][...].tobytes())
            replace_bytes(self.path, "/order/manifest", written(_lied(document, self.manifest)))
        if friend is not None and "order/signature" not in self.bytes_changed:
            with opened_for_change(self.path) as file:
                digest = Digest.of(file["order/manifest"][...].tobytes())
            replace_bytes(self.path, "/order/signature", sign_said(SignedOrder(digest), friend))

    def sign(self, key: SigningKey) -> None:
        """Sign the run as it is now, and then as the lies about what is signed have it."""
        with suppress(CounterfoilError, LookupError, ValueError):
            with BundleReader.open(self.path) as reader:
                digest = reader.manifest.digest
            sign_again(self.path, key, order=digest)
            if self.order_changed:
                with opened_for_change(self.path) as file:
                    signature = file["order/signature"][...].tobytes()
                client = open_said(SignedOrder, signature, order=digest)
                replace_bytes(self.path, "/run/acceptance", sign_said(Acceptance.of(digest, client), key))
        for name, lies in self.signed.items():
            if lies:
                with opened_for_change(self.path) as file:
                    claim = payload_of(file[f"run/{name}"][...].tobytes())
                replace_bytes(self.path, f"/run/{name}", signed(written(_lied(claim, lies)), key))


def _lied(document: Any, lies: Iterable[Callable[[Any], Any]]) -> Any:
    for lie in lies:
        # A lie before this one may have taken the place away.
        with suppress(LookupError, TypeError):
            document = lie(document)
    return document


def _array_change(name: str, twin: Array | None) -> Change:
    def change(copy: _Copy, chance: random.Random) -> None:
        copy.order_changed |= name.startswith("order/")
        copy.bytes_changed.add(name)
        with opened_for_change(copy.path) as file:
            target = file[name]
            target[...] = lie_in_array(np.asarray(target[...]), chance, twin).reshape(target.shape)

    return change


def _json_change(name: str, place: tuple[str | int, ...]) -> Change:
    def change(copy: _Copy, chance: random.Random) -> None:
        copy.order_changed = True
        if name == "order/manifest":
            copy.manifest.append(lambda manifest: lie_in_json(manifest, place, chance))
            return
        with opened_for_change(copy.path) as file:
            document = json.loads(file[name][...].tobytes())
        with suppress(LookupError, TypeError):
            document = lie_in_json(document, place, chance)
        replace_bytes(copy.path, f"/{name}", written(document))

    return change


def document_change(place: tuple[str | int, ...], twin: Any) -> Change:
    """Return a lie about a place in a document."""

    def change(copy: Document, chance: random.Random) -> None:
        # A lie before this one may have taken the place away.
        with suppress(LookupError, TypeError):
            copy.value = lie_in_json(copy.value, place, chance, twin)

    return change


def _audit(run: Path, order: Path | None, **settings: Any) -> str:
    try:
        return audited(run, order, **settings).report.outcome.value
    except CounterfoilError as error:
        # The command line shows it, and exits with its code.
        return Outcome.REFUSED.value if isinstance(error, RefusedError) else Outcome.ERROR.value


def _datasets(path: Path) -> dict[str, Array]:
    found: dict[str, Array] = {}
    with opened_for_change(path) as file:
        file.visititems(
            lambda name, item: found.update({name: np.asarray(item[...])}) if hasattr(item, "dtype") else None
        )
    return found


def payload_of(envelope: bytes) -> Any:
    """Return what an envelope signs, as JSON values."""
    return json.loads(base64.b64decode(json.loads(envelope)["payload"]))


def signed(payload: bytes, key: SigningKey) -> bytes:
    """Sign some bytes, whatever they are."""
    envelope = Envelope(payload, PAYLOAD_TYPE, {})
    envelope.sign(key._signer)  # type: ignore[attr-defined]
    return canonical.encode(envelope.to_dict())


def written(document: Any) -> bytes:
    """Return a document as bytes; as canonical JSON where it has that form."""
    try:
        return canonical.encode(document)
    except canonical.CanonicalError:
        return json.dumps(document).encode()


def tuples(fields: Mapping[str, list[Change]]) -> dict[str, tuple[Change, ...]]:
    """Return fields, sorted by name."""
    return {name: tuple(changes) for name, changes in sorted(fields.items())}


def _whose(truth: str) -> str:
    return "an honest trainer" if truth == "honest" else "a cheat"


def generic(name: str) -> str:
    """A field without the names that a model or a machine chose."""
    head, colon, tail = name.partition(": ")
    if head.startswith(("run/checkpoints/", "capsule/state/", "order/initial/", "order/data/")):
        head = "/".join(head.split("/")[:2]) + "/*"
    words = (tail or head).split(".")
    for holder in ("environment", "auditor", "trainer", "data", "updates", "module", "sources", "switches"):
        if holder in words[:-1] and holder not in ("auditor", "trainer"):
            words = [*words[: words.index(holder) + 1], "*"]
    joined = ".".join(words)
    return f"{head}: {joined}" if colon else joined if not tail else head
