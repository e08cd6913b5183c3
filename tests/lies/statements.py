"""Lies in what people sign beside runs, of every kind: by nobody, by people of other roles, and by who is believed.

The fields of a statement are exchanged for those of true ones about something else: another run of the same order, the
same steps under another order, or signed by another trainer. Who is believed lies as well, and may be somebody whose
key was stolen: its reader has a list that says so.
"""

from __future__ import annotations

import base64
import importlib.util
import json
import os
import random
import shutil
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import h5py
import numpy as np

from counterfoil.audit import overview
from counterfoil.bundle.capsulewriter import write_capsule
from counterfoil.delivery.snapshots import make_line, sign_line, take_snapshot
from counterfoil.signing.comparedsteps import comparison_path
from counterfoil.signing.kinds import (
    Afterwards,
    Cause,
    Comparison,
    DataNote,
    Ending,
    LineKind,
    ReleaseList,
    Reply,
    Revocation,
    RevocationList,
    Withdrawal,
)  # fmt: skip
from counterfoil.training.tamper import LabelFlip
from counterfoil.trust.afterwards import verdict_digest
from counterfoil.trust.folder import TrustFolder
from counterfoil.trust.store import TrustStore
from counterfoil.trust.validity import validity_of
from counterfoil_core.base.canonical import CanonicalError
from counterfoil_core.base.digest import Digest
from counterfoil_core.base.errors import CounterfoilError
from counterfoil_core.bundle.reader import BundleReader
from counterfoil_core.parties.signatures import check_claim, subject_of
from counterfoil_core.signing import kinds
from counterfoil_core.signing.claims import Acceptance, RunClaim, SignedOrder
from counterfoil_core.signing.envelope import wrap_statement
from counterfoil_core.signing.keys import SigningKey
from counterfoil_core.signing.kinds import Kind
from counterfoil_core.signing.statements import sign_said
from counterfoil_core.statement.verdict import sign_adjudication, sign_verdict, verify_signed
from counterfoil_core.values.outcome import CheckState
from counterfoil_core.values.report import AuditReport
from lies.subject import (
    CRASHED,
    Change,
    Document,
    Subject,
    document_change,
    generic,
    payload_of,
    signed,
    tuples,
    written,
)
from lies.values import field_name, json_paths
from support.asked import BUG, asked
from support.capsules import adjudicated, crafted, evidence_of
from support.heads import record_with_heads
from support.jobs import Job, another_order, audited, sign_again

ACCEPTED, REFUSED = "accepted", "REFUSED"
NOBODY, BELIEVED, STOLEN, UNSIGNED = "nobody", "who is believed", "who stole that key", "nobody, without a signature"
ALL = "all of it"
"""The field of a lie that puts a true statement about something else in the place of this one."""
LINE = "a line left out"
ROLES = ("client", "trainer", "auditor", "stranger", "witness", "builder", "list", "party", "partner")
_CODES = (ACCEPTED, ACCEPTED, ACCEPTED, REFUSED, REFUSED, REFUSED)
"""What the exit codes of ``counterfoil verify`` say of a statement that is no verdict."""
_VERDICTS = ("VERIFIED", "DISPUTED", "INCONCLUSIVE", REFUSED, "ERROR", "SELF-SIGNED")
Fields = frozenset[str]


@dataclass(frozen=True)
class Reader:
    """What whoever reads a statement knows: the key of who is believed, and what lists say."""

    key: SigningKey
    trust: str  #: What ``--trust`` is given.
    store: TrustStore


@dataclass(frozen=True, kw_only=True)
class Statement:
    """A statement that is true of the run, as it is lied about."""

    name: str
    kind: Kind
    by: str  #: Who is believed.
    envelope: bytes  #: As it was signed; several lines where it is a list.
    others: Sequence[bytes]  #: True ones of the same kind, about something else.
    read: Callable[[bytes, Reader], str]  #: What its reader concludes.
    own: Callable[[str, Fields], bool]  #: Whether a conclusion rests on nothing but the word of who is believed.
    role: str = "trainer"  #: Somebody else, who has a key for something else.
    good: frozenset[str] = frozenset({ACCEPTED})  #: Conclusions that believe it.
    true: bool = True  #: Whether it is true of the run.
    free: Fields = frozenset()  #: What anybody may do to it.

    @property
    def by_lines(self) -> bool:
        """Whether it is a list of statements, a line each."""
        return self.kind in (kinds.TREE_HEAD, kinds.SNAPSHOT)


def _words(*fields: str) -> Callable[[str, Fields], bool]:
    """Fields that nothing shows but the word of whoever signs, as the pages say."""
    starts = tuple(f"{one}{more}" for one in fields for more in (".", "["))
    return lambda found, lied: all(each in fields or each.startswith(starts) for each in lied)


def _all_but_it(found: str, lied: Fields) -> bool:
    """Nothing but another statement in its place is held against anything."""
    return ALL not in lied


class Statements:
    """Makes the statements in a folder.

    Args:
        folder: Where keys lie, too.
        keys: Those of :data:`ROLES`.
        honest: An honest run.
        cheat: Another of the same order.
        reports: What an audit says of ``run`` and ``cheat``.
    """

    def __init__(
        self, folder: Path, keys: Mapping[str, SigningKey], honest: Job, cheat: Job, reports: Mapping[str, AuditReport]
    ) -> None:
        self._folder, self._keys, self._job = folder, keys, honest
        (folder / "rules.toml").write_text("[hyperparameters]\nsteps = [1, 1000]\n")
        with h5py.File(honest.run) as file:
            np.save(folder / "row.npy", np.asarray(file["order/data/x"][0]))
        for name in ("other-order", "other-trainer"):
            shutil.copy(honest.run, folder / f"{name}.cfoil")
        order, trainer = folder / "other-order.cfoil", folder / "other-trainer.cfoil"
        sign_again(order, keys["trainer"], order=another_order(order))
        sign_again(trainer, keys["stranger"])
        self._others = (cheat.run, order, trainer)
        self._runs = (honest.run, *self._others)
        self._reports = (reports["run"], *(audited(run).report for run in (order, trainer)))
        self._cheats = reports["cheat"]
        self._trust = {NOBODY: Reader(keys["auditor"], "none", TrustStore())}

    def subjects(self) -> tuple[Subject, ...]:
        """Everything that is lied about, with everybody who lies."""
        found = []
        for each in self._statements():
            hands = [NOBODY, "stranger", each.role, BELIEVED, STOLEN]
            hands += [] if each.kind.needs_signature else [UNSIGNED]
            if each.kind is kinds.REVOCATIONS:  # nobody but its owner says what is known of that key
                hands.remove(STOLEN)
            if each.kind is kinds.WITHDRAWAL:  # with that key its verdict counts for nothing, withdrawn or not
                hands.remove(STOLEN)
            if not each.true:  # who is believed would say what is true in its place
                hands.remove(BELIEVED)
            if each.by == "stranger":
                hands.remove("stranger")
            found += [self._subject(each, hand) for hand in hands]
        return (*found, self._withdrawn())

    def _statements(self) -> tuple[Statement, ...]:
        run, rules = self._runs[0], self._folder / "rules.toml"
        return (
            self._verdict(True),
            self._verdict(False),
            self._adjudication(),
            *(
                self._made(name, kind, command, against, own)
                for name, kind, command, against, own in (
                    ("facts of a run", kinds.FACTS, ("facts",), (run,), ("predicate.facts.energy_kwh",)),
                    ("what a run showed of rules", kinds.RULES, ("rules", rules), (rules, run), ()),
                    ("what a run did with a row", kinds.ROW_USE, ("locate", self._folder / "row.npy"), (run,), ()),
                )
            ),
            self._note(),
            *self._in_run(),
            self._heads(),
            *(self._later(said) for said in (Withdrawal, Reply)),
            self._revocations(),
            self._comparison(),
            self._release(),
            *self._answer(),
            *(self._log(true) for true in (True, False)),
        )

    # How each is lied about.

    def _subject(self, each: Statement, hand: str) -> Subject:
        truth = each.envelope.splitlines() if each.by_lines else [each.envelope]
        others = [other.splitlines() if each.by_lines else [other] for other in each.others]
        document = [payload_of(line) for line in truth]
        twins = [[payload_of(line) for line in other] for other in others]
        key = self._keys.get({BELIEVED: each.by, STOLEN: each.by}.get(hand, hand))
        reader = self._reader(self._keys[each.by], hand == STOLEN)
        fields: dict[str, list[Change]] = {}
        for place in json_paths(document):
            if len(place) > 1:
                fields.setdefault(generic(field_name(place[1:])), []).append(document_change(place, *twins))
        if each.by_lines:
            fields[LINE] = [_without_a_line]
        if twins:
            fields[ALL] = [lambda copy, chance: setattr(copy, "value", json.loads(json.dumps(chance.choice(twins))))]

        def outcome(copy: Document) -> str:
            lines = copy.value if isinstance(copy.value, list) else []
            if each.kind is kinds.SNAPSHOT and key is not None:
                lines = _chained(lines, document, key)
            told = [self._envelope(line, truth[_place(line, at, document)], key, hand) for at, line in enumerate(lines)]
            said = b"".join(line + b"\n" for line in told) if each.by_lines else told[0]
            return each.read(said, reader)

        def wrong(found: str, lied: Fields) -> bool:
            told = lied - each.free
            return (
                found in each.good
                and (hand == STOLEN or bool(told))
                and (hand != BELIEVED or not each.own(found, told))
            )

        name = f"{each.name}, signed by {hand if hand in (NOBODY, BELIEVED, STOLEN) else f'the {hand}'}"
        if hand == UNSIGNED:
            name = f"{each.name}, signed by {UNSIGNED}"
        return Subject(name, tuples(fields), lambda: Document(document), outcome, wrong, each.kind.predicates)

    def _envelope(self, statement: Any, truth: bytes, key: SigningKey | None, hand: str) -> bytes:
        """A statement as somebody signs it, who names the own key; nobody leaves the signature on the true one."""
        predicate = statement.get("predicate") if isinstance(statement, dict) else None
        if hand == UNSIGNED:
            if not isinstance(predicate, dict):
                return b"{}"
            shown = {name: predicate[name] for name in predicate if name not in ("public_key", "signed_at")}
            try:
                return wrap_statement({**statement, "predicate": shown})
            except CanonicalError:
                return b"{}"
        if key is None:
            if payload_of(truth) == statement:
                return truth
            envelope = json.loads(truth)
            envelope["payload"] = base64.b64encode(written(statement)).decode()
            return json.dumps(envelope).encode()
        named = json.loads(base64.b64decode(json.loads(truth)["payload"]))["predicate"].get("public_key")
        if isinstance(predicate, dict) and named and predicate.get("public_key") == named:
            statement = {**statement, "predicate": {**predicate, "public_key": key.public.pem}}
        return signed(written(statement), key)

    def _reader(self, key: SigningKey, stolen: bool) -> Reader:
        if not stolen:
            return Reader(key, "none", TrustStore())
        folder = self._folder / f"trust-{key.public.key_id[:8]}"
        if not folder.exists():
            gone = Revocation(key.public.key_id, "2026-01-01T00:00:00Z", Cause.COMPROMISED, "stolen")
            folder.mkdir(mode=0o700)
            owner = self._keys["list"]
            TrustFolder(folder).take_list(sign_said(RevocationList.of_keys([gone], 1), owner), owner.public.public)
        return Reader(key, str(folder), TrustFolder(folder).store())

    def _place(self, name: str, data: bytes) -> Path:
        # Several processes work with one set of files.
        path = self._folder / f"{os.getpid()}.{name}"
        path.write_bytes(data)
        return path

    def _verified(self, *against: Path, codes: Sequence[str] = _CODES, options: Sequence[str] = ()) -> Any:
        """Read by ``counterfoil verify``, held against what it is about."""

        def read(envelope: bytes, reader: Reader) -> str:
            key = self._place("pub.pem", reader.key.public.pem.encode())
            path = self._place("statement", envelope)
            return _ask(codes, "verify", path, *against, "--key", key, "--trust", reader.trust, *options)

        return read

    # Each kind.

    def _verdict(self, honest: bool) -> Statement:
        key = self._keys["auditor"]
        reports = (self._reports[0], self._cheats) if honest else (self._cheats, self._reports[0])
        envelope, other, *others = (sign_verdict(each, key) for each in (*reports, *self._reports[1:]))
        return Statement(
            name=f"verdict on {'an honest trainer' if honest else 'a cheat'}", kind=kinds.VERDICT, by="auditor",
            envelope=envelope, others=(other, *others),
            read=self._verified(self._runs[0 if honest else 1], codes=_VERDICTS),
            # What an auditor concludes is the auditor's own word, as long as it does not contradict itself.
            own=lambda found, lied: ALL not in lied and (honest or found != "VERIFIED"),
            good=frozenset(_VERDICTS[:3]),
        )  # fmt: skip

    def _withdrawn(self) -> Subject:
        """A verdict that its auditor took back; whoever hands it on holds no key, and writes the envelope otherwise."""
        key = self._keys["auditor"]
        envelope = sign_verdict(self._reports[0], key)
        folder = self._folder / "trust-withdrawn"
        folder.mkdir(mode=0o700)
        TrustFolder(folder).take_later(sign_said(Withdrawal(verdict_digest(envelope), "Wrong.", None), key))
        reader = Reader(key, str(folder), TrustFolder(folder).store())
        document = json.loads(envelope)
        read = self._verified(self._runs[0], codes=_VERDICTS)
        fields: dict[str, list[Change]] = {}
        for place in json_paths(document):
            fields.setdefault(f"envelope: {generic(field_name(place))}", []).append(document_change(place))
        return Subject(
            "verdict that its auditor withdrew, handed on by nobody",
            tuples(fields),
            lambda: Document(document),
            lambda copy: str(read(json.dumps(copy.value).encode(), reader)),
            lambda found, _: found in _VERDICTS[:3],
            kinds.VERDICT.predicates,
        )

    def _adjudication(self) -> Statement:
        capsules = []
        for name, contents in (
            ("cheat", evidence_of(self._others[0], self._job.order)), ("honest", crafted(self._runs[0], 3))
        ):  # fmt: skip
            write_capsule(contents, path := self._folder / f"judged-{name}.cfoil")
            capsules.append(path)
        said, *others = (sign_adjudication(adjudicated(path), self._keys["auditor"]) for path in capsules)
        codes = ("REJECTED", "CONFIRMED", "INCONCLUSIVE", *_VERDICTS[3:])
        return Statement(
            name="adjudication of a cheat's capsule", kind=kinds.ADJUDICATION, by="auditor", envelope=said,
            others=others, read=self._verified(capsules[0], codes=codes),
            own=lambda found, lied: ALL not in lied and found != "REJECTED", good=frozenset(codes[:3]),
        )  # fmt: skip

    def _made(
        self, name: str, kind: Kind, command: Sequence[str | Path], against: Sequence[Path], own: Sequence[str]
    ) -> Statement:
        """What commands find of a run, and sign."""
        row = ("--row",) if command[0] == "locate" else ()
        made = []
        for run in self._runs:
            out = self._folder / "made.json"
            key = ("--key", self._folder / "auditor.pem", "--out", out, "--force", "--trust", "none")
            _ask(_CODES, *command, run, *row, *key)
            made.append(out.read_bytes())
        return Statement(
            name=name, kind=kind, by="auditor", envelope=made[0], others=made[1:], read=self._verified(*against),
            own=_words("predicate.signed_at", *own),
        )  # fmt: skip

    def _note(self) -> Statement:
        with BundleReader.open(self._runs[0]) as reader:
            roots = (reader.manifest.data_root, Digest.of(b"other data"))
        key = self._keys["stranger"]
        said, other = (sign_said(DataNote(root, "Sampled by hand.", None), key) for root in roots)
        return Statement(
            name="note about data", kind=kinds.NOTE, by="stranger", envelope=said, others=(other,),
            read=self._verified(self._runs[0]), role="auditor",
            own=_words("predicate.says", "predicate.weights", "predicate.signed_at"),
        )  # fmt: skip

    def _in_run(self) -> Iterable[Statement]:
        """What a run holds of its client and its trainer, each by itself beside the run."""
        held: dict[str, list[bytes]] = {"order/signature": [], "run/acceptance": [], "run/claim": []}
        for run in self._runs:
            with h5py.File(run) as file:
                for name, found in held.items():
                    if name in file:
                        found.append(file[name][...].tobytes())
        held["order/signature"].append(sign_said(SignedOrder(Digest.of(b"another order")), self._keys["client"]))
        for name, form, by, own in (
            ("order/signature", SignedOrder, "client", ("predicate.signed_at",)),
            ("run/acceptance", Acceptance, "trainer", ("predicate.accepted_at",)),
            ("run/claim", RunClaim, "trainer", ("predicate.signed_at", "predicate.environment")),
        ):
            said, *others = held[name]
            others = [other for other in others if payload_of(other) != payload_of(said)]
            yield Statement(
                name=f"{form.KIND.what}, beside the run", kind=form.KIND, by=by, envelope=said, others=others,
                read=self._verified(self._runs[0]), own=_words(*own), role="auditor",
            )  # fmt: skip

    def _heads(self) -> Statement:
        key, place = self._keys["trainer"], self._folder / "heads"
        (other := place / "cheat").mkdir(parents=True)
        run, heads = record_with_heads(self._job.order, place, key)
        cheats = record_with_heads(self._job.order, other, key, tamper=LabelFlip(1))[1]

        def read(envelope: bytes, reader: Reader) -> str:
            path = self._place("heads", envelope)
            if reader.store.lists:  # of tree heads by themselves nobody asks: the run's own signature counts no more
                key = self._folder / "trainer.pub.pem"
                return _ask(_CODES, "inspect", run, "--heads", path, "--trainer-key", key, "--trust", reader.trust)
            try:
                found = overview.inspect(run, trainer_key=reader.key.public, heads=path, quick=True)
            except CounterfoilError:
                return REFUSED
            return REFUSED if any(check.state is CheckState.FAILED for check in found.checks) else ACCEPTED

        return Statement(
            name="tree heads", kind=kinds.TREE_HEAD, by="trainer", envelope=heads.read_bytes(),
            others=(cheats.read_bytes(),), read=read,
            own=_words("predicate.signed_at"), role="auditor", free=frozenset({LINE}),
        )  # fmt: skip

    def _later(self, form: type[Withdrawal] | type[Reply]) -> Statement:
        by, role = ("auditor", "trainer") if form is Withdrawal else ("trainer", "auditor")
        envelope = sign_verdict(self._reports[0], self._keys["auditor"])
        verdict, digest = verify_signed(envelope, self._keys["auditor"].public), verdict_digest(envelope)
        said, other = (
            sign_said(form(each, "Wrong.", None) if form is Withdrawal else form(each, "No."), self._keys[by])
            for each in (digest, Digest.of(b"another verdict"))
        )

        def read(data: bytes, reader: Reader) -> str:
            later: Afterwards = validity_of(replace(reader.store, later=(("later.json", data),)), verdict, digest).later
            return ACCEPTED if later.withdrawals or later.replies else REFUSED

        words = ("predicate.reason", "predicate.text", "predicate.signed_at", "predicate.superseded_by")
        return Statement(
            name=form.KIND.what, kind=form.KIND, by=by, envelope=said, others=(other,), read=read, own=_words(*words),
            role=role,
        )  # fmt: skip

    def _revocations(self) -> Statement:
        owner = self._keys["list"]
        gone = [Revocation(self._keys["stranger"].public.key_id, "2026-01-01T00:00:00Z", Cause.COMPROMISED, "lost")]
        lists = [sign_said(RevocationList.of_keys(gone, number), owner) for number in (2, 1)]

        def read(data: bytes, reader: Reader) -> str:
            shutil.rmtree(place := self._folder / f"{os.getpid()}.trust", ignore_errors=True)
            folder = TrustFolder(place)
            folder.take_list(lists[0], owner.public.public)
            try:
                folder.take_list(data, reader.key.public.public)
            except CounterfoilError:
                return REFUSED
            return ACCEPTED

        return Statement(
            name="list of revoked keys", kind=kinds.REVOCATIONS, by="list", envelope=lists[0], others=lists[1:],
            read=read, own=_all_but_it, role="auditor",
        )  # fmt: skip

    def _comparison(self) -> Statement:
        run = Path(shutil.copy(self._runs[0], self._folder / "compared.cfoil"))
        with BundleReader.open(run) as reader:
            order, steps = reader.manifest.digest, reader.manifest.steps
        said, *others = (
            sign_said(
                Comparison(each, Digest.of(b"script"), ("--lr", "0.1"), {"rows.csv": order}, "2.11.0", ((1, of),), of),
                self._keys["auditor"],
            )
            for each, of in ((order, steps), (Digest.of(b"another order"), steps), (order, steps + 1))
        )
        auditors = [self._keys[name].public.key_id for name in ("auditor", "trainer")]

        def read(data: bytes, reader: Reader) -> str:
            path = self._folder / f"{os.getpid()}.compared.cfoil"
            if not path.exists():
                os.link(run, path)
            comparison_path(path).write_bytes(data)
            line = overview.inspect(path, quick=True).compared(auditors, revoked=reader.store.covers)
            assert line is not None
            return ACCEPTED if "signed by a trusted auditor" in line.said else REFUSED

        own = ("script", "arguments", "files", "torch", "compared", "signed_at")
        return Statement(
            name="comparison with the script", kind=kinds.COMPARISON, by="auditor", envelope=said, others=others,
            read=read, own=_words(*(f"predicate.{name}" for name in own)),
        )  # fmt: skip

    def _release(self) -> Statement:
        files = {"counterfoil-1.whl": b"a wheel", "counterfoil-1.tar.gz": b"an archive"}
        (folder := self._folder / "release").mkdir()
        for name, data in files.items():
            (folder / name).write_bytes(data)
        listed = {name: Digest.of(data) for name, data in files.items()}
        others = ({**listed, "counterfoil-1.whl": Digest.of(b"another wheel")}, {**listed, "more.whl": Digest.of(b"")})
        said, *rest = (
            sign_said(ReleaseList("1.0", "a" * 40, each), self._keys["builder"]) for each in (listed, *others)
        )
        return Statement(
            name="list of a release", kind=kinds.RELEASE, by="builder", envelope=said, others=rest,
            read=self._verified(*(folder / name for name in files), options=("--all",)),
            own=_words("predicate.version", "predicate.commit"),
        )  # fmt: skip

    def _answer(self) -> Iterable[Statement]:
        """What a model answered, beside its folder and the question; none where the library of models is absent."""
        if importlib.util.find_spec("transformers") is None:
            return
        from support import small_models

        model, key = small_models.gpt2(self._folder / "model"), self._folder / "trainer.pem"
        made = []
        for place, prompt in enumerate(("the auditor replays", "the trainer signs")):
            question, out = self._folder / f"question-{place}.json", self._folder / f"answer-{place}.json"
            _ask(_CODES, "ask", "--prompt", prompt, "--tokens", "4", "--out", question)
            _ask(_CODES, "answer", model, question, "--key", key, "--out", out)
            made.append(out.read_bytes())
        question, codes = self._folder / "question-0.json", (ACCEPTED, *[REFUSED] * 5)

        def read(data: bytes, reader: Reader) -> str:
            path, key = self._place("answer", data), self._place("pub.pem", reader.key.public.pem.encode())
            options = ("--question", question, "--key", key, "--trust", reader.trust)
            return _ask(codes, "check-answer", path, model, *options)

        yield Statement(
            name="answer of a model", kind=kinds.ANSWER, by="trainer", envelope=made[0], others=made[1:], read=read,
            own=_words("predicate.signed_at", "predicate.verdict"), role="auditor",
        )  # fmt: skip

    def _log(self, true: bool) -> Statement:
        """The log of who witnessed this training, or a cheat's of the same order; the latter is of no run."""
        honest, cheat = (_witnessed(run, self._keys["witness"]) for run in self._runs[:2])

        def read(data: bytes, reader: Reader) -> str:
            key, log = self._place("witness.pem", reader.key.public.pem.encode()), self._place("log", data)
            codes = (ACCEPTED, "NONE", "CANNOT_BE_TOLD", REFUSED, REFUSED)
            return _ask(codes, "witness", "check", log, self._runs[0], "--key", key, "--trust", reader.trust)

        words = ("at", "nonce", "mean_seconds", *(f"snapshot.{name}" for name in ("tensor", "chunk", "leaf", "layout")))
        return Statement(
            name="witness's log of this training" if true else "witness's log of another training",
            kind=kinds.SNAPSHOT, by="witness", envelope=honest if true else cheat, others=(cheat,) if true else (),
            read=read, own=_words(LINE, *(f"predicate.{name}" for name in words)), true=true,
        )  # fmt: skip


def _witnessed(run: Path, key: SigningKey) -> bytes:
    """The log of a witness who saw the stored states of a run but the first, which all runs of the order share."""
    with BundleReader.open(run) as reader:
        states = [dict(reader.checkpoint(step)) for step in reader.checkpoint_steps()]
        about = subject_of(check_claim(reader.claim(), reader.manifest, None, None))
    lines: list[bytes] = []

    def add(kind: LineKind, **more: Any) -> None:
        before = lines[-1] if lines else None
        lines.append(sign_line(make_line(kind, before, len(lines), 60, **more), key))

    add(LineKind.BEGUN)
    for state in states[1:]:
        add(LineKind.SNAPSHOT, snapshot=take_snapshot(state, 0))
    add(LineKind.ENDED, ending=Ending.RUN, run=about)
    return b"".join(line + b"\n" for line in lines)


def _place(line: Any, at: int, truth: Sequence[Any]) -> int:
    """Where the line stood before others were left out."""
    return next((place for place, each in enumerate(truth) if each == line), min(at, len(truth) - 1))


def _without_a_line(copy: Document, chance: random.Random) -> None:
    if copy.value:
        del copy.value[chance.randrange(len(copy.value))]


def _chained(lines: Sequence[Any], truth: Sequence[Any], key: SigningKey) -> list[Any]:
    """Lines that follow each other again, as whoever signs them makes them; a lie about that itself stays."""
    chained: list[Any] = []
    befores = {line["predicate"]["before"] for line in truth}
    for number, line in enumerate(lines):
        line = json.loads(json.dumps(line))
        with suppress(LookupError, TypeError):  # what has no such place any more stays as it is
            fields, old = line["predicate"], line["predicate"]["before"]
            if chained and old in befores:
                chained[-1]["predicate"]["public_key"] = key.public.pem
                fields["before"] = Digest.of(signed(written(chained[-1]), key)).hex
                if line["subject"][0]["digest"]["sha256"] == old:
                    line["subject"][0]["digest"]["sha256"] = fields["before"]
            if len(lines) != len(truth):
                fields["number"] = number
        chained.append(line)
    return chained


def _ask(codes: Sequence[str], *arguments: str | Path) -> str:
    code, said = asked(*arguments)
    return f"{CRASHED} a bug" if BUG in said else codes[code]
