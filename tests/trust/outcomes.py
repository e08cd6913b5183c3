"""Every kind of statement, with everything that can befall it, before every command and question that reads it.

``python -m tests.trust --write docs/threat-model.md`` writes the table; a test makes it again.
"""

from __future__ import annotations

import shutil
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import numpy as np
from cryptography import x509
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from cryptography.hazmat.primitives.serialization import Encoding
from cryptography.x509.oid import NameOID

import counterfoil
from counterfoil.signing.kinds import Cause, DataNote, Reply, Revocation, RevocationList, Withdrawal
from counterfoil.signing.privatekeys import generate_key, load_private_key
from counterfoil.trust.afterwards import verdict_digest
from counterfoil.trust.folder import TrustFolder
from counterfoil_app.engine.port import Engine, LedgerRequest, RulesRequest
from counterfoil_core.base.cancel import CancelToken
from counterfoil_core.base.digest import Digest
from counterfoil_core.base.errors import CounterfoilError
from counterfoil_core.bundle.reader import BundleReader
from counterfoil_core.signing.envelope import attach_certificates
from counterfoil_core.signing.keys import SigningKey
from counterfoil_core.signing.statements import sign_said
from counterfoil_core.statement.verdict import sign_adjudication, sign_verdict
from counterfoil_core.values.adjudication import AdjudicationOutcome
from counterfoil_core.values.report import AuditReport
from support.asked import asked
from support.capsules import crafted, crafted_part, write_capsule
from support.jobs import Job, another_order, digits_order, record_job, sign_again
from support.reports import adjudication_report
from support.shared import shared_order
from support.trusted import store_of

PAST, FUTURE = "2020-01-01T00:00:00Z", "2099-01-01T00:00:00Z"
PEOPLE = ("client", "trainer", "other", "auditor", "list", "party")
NOT_ASKED = "not asked"
"""Where nothing hangs on it."""


@dataclass(frozen=True)
class Case:
    """What befalls a statement: who signed it, what lists and later statements say, which run it is held against."""

    name: str
    signer: str = "auditor"
    revoked: str = ""
    cause: Cause = Cause.COMPROMISED
    since: str = PAST
    later: str = ""
    run: str = "run"
    party: bool = False
    certificate: str = ""

    @property
    def shared(self) -> bool:
        """Whether it is about a run of whose shares a party signed some."""
        return self.revoked == "party"


CASES = (
    Case("nothing"),
    Case("withdrawn", later="withdrawn"),
    Case("superseded", later="superseded"),
    Case("replied to", later="replied"),
    Case("withdrawn by a stranger", later="stranger"),
    Case("signer's key retired before", revoked="auditor", cause=Cause.RETIRED),
    Case("signer's key retired since", revoked="auditor", cause=Cause.RETIRED, since=FUTURE),
    Case("signer's key compromised", revoked="auditor"),
    Case("trainer's key compromised", revoked="trainer"),
    Case("client's key compromised", revoked="client"),
    Case("party's key retired since", revoked="party", cause=Cause.RETIRED, since=FUTURE),
    Case("party's key compromised", revoked="party"),
    Case("signed by the run's trainer", signer="trainer"),
    Case("signed by a party of its shares", party=True),
    Case("held against a run of another order", run="other-order"),
    Case("held against another trainer's run", run="other-trainer"),
    Case("expired certificate", certificate="expired"),
)


class Desk:
    """A folder with a run, the same records under another order and under another trainer's key, and people's keys."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        for name in PEOPLE:
            generate_key(folder / f"{name}.pem", None)
        self.keys = {name: load_private_key(folder / f"{name}.pem", None) for name in PEOPLE}
        job = record_job(folder, digits_order(), self.keys["trainer"], self.keys["client"])
        self.job = job
        for name in ("other-order", "other-trainer"):
            shutil.copy(job.run, folder / f"{name}.cfoil")
        digest = another_order(self.run("other-order"))
        sign_again(self.run("other-order"), self.keys["trainer"], order=digest)
        sign_again(self.run("other-trainer"), self.keys["other"])
        (shared := folder / "shared").mkdir()
        order = shared_order(2).signed_by_parties((None, self.keys["party"].public))
        party = {1: self.keys["party"]}
        both = record_job(shared, order, self.keys["trainer"], self.keys["client"], share_keys=party)
        write_capsule(crafted(job.run, 3), folder / "capsule.cfoil")
        write_capsule(crafted_part(both.run, 3, 1), shared / "capsule.cfoil")
        self.reports = {folder: self._prepared(job), shared: self._prepared(both)}
        rules = f'[verdict]\nauditors = ["{self.key_id("auditor")}", "{self.key_id("trainer")}"]\n'
        (folder / "rules.toml").write_text(rules)

    def _prepared(self, job: Job) -> AuditReport:
        """Write the weights of a run and a row of its data beside it, and audit it."""
        for _ in counterfoil.export_weights(job.run, job.run.with_name("model")):
            pass
        np.save(job.run.with_name("row.npy"), first_row(job.run))
        client = self.keys["client"].public
        *_, last = counterfoil.run_audit(counterfoil.AuditRequest(job.run, client_key=client, threads=1))
        found: AuditReport = last.report
        return found

    def place(self, case: Case) -> Path:
        """The folder of what a case is about."""
        return self.folder / "shared" if case.shared else self.folder

    def run(self, name: str) -> Path:
        """A run, by its name."""
        return self.job.run if name == "run" else self.folder / f"{name}.cfoil"

    def public(self, name: str) -> str:
        """The file of somebody's public key."""
        return str(self.folder / f"{name}.pub.pem")

    def key_id(self, name: str) -> str:
        """The id of somebody's key."""
        return self.keys[name].public.key_id


def first_row(run: Path) -> np.ndarray:
    """The first row of the first data array."""
    import h5py

    with h5py.File(run) as file:
        data = file["order/data"]
        return np.asarray(data[sorted(data)[0]][0])


@dataclass
class Scene:
    """One case, as files."""

    desk: Desk
    case: Case
    folder: Path

    @property
    def key(self) -> str:
        """The public key file of who signed."""
        return self.desk.public(self.case.signer)

    @property
    def against(self) -> str:
        """The run that it is held against."""
        return str(self.place / "run.cfoil" if self.case.run == "run" else self.desk.run(self.case.run))

    @property
    def place(self) -> Path:
        """The folder of what it is about."""
        return self.desk.place(self.case)

    @property
    def weights(self) -> Path:
        """The folder of the run's weights."""
        return self.place / "model"

    @property
    def trust(self) -> list[str]:
        """The option by which a command reads what is trusted."""
        return ["--trust", str(self.folder / "trust")]

    @property
    def signing(self) -> SigningKey:
        """Who signs."""
        return self.desk.keys[self.case.signer]

    def store(self) -> counterfoil.TrustStore:
        """What is trusted, for the window."""
        held = TrustFolder(self.folder / "trust").store()
        return replace(store_of(self.signing.public.public), lists=held.lists, later=held.later)

    def ask(self, command: str, *arguments: str) -> str:
        """Run a command; returns what it says by its exit code."""
        return f"{asked(*command.split(), *arguments, *self.trust)[0]}"


def scene(desk: Desk, case: Case, folder: Path) -> Scene:
    """Write the verdict of a case, and what the reader knows of keys."""
    folder.mkdir()
    signer = desk.keys[case.signer]
    report = desk.reports[desk.place(case)]
    report = replace(report, parties=(desk.key_id("auditor"),)) if case.party else report
    envelope = sign_verdict(report, signer)
    if case.certificate:
        root, chain = certificates(signer, expired=True)
        envelope = attach_certificates(envelope, chain)
        (folder / "root.pem").write_bytes(root)
    (folder / "verdict.json").write_bytes(envelope)
    trust = TrustFolder(folder / "trust")
    trust.path.mkdir(mode=0o700)
    if case.revoked:
        gone = Revocation(desk.key_id(case.revoked), case.since, case.cause, "lost")
        key = desk.keys["list"]
        trust.take_list(sign_said(RevocationList.of_keys([gone], 1), key), key.public.public)
    digest = verdict_digest(envelope)
    later: Mapping[str, Callable[[], bytes]] = {
        "withdrawn": lambda: sign_said(Withdrawal(digest, "Wrong.", None), desk.keys["auditor"]),
        "superseded": lambda: sign_said(Withdrawal(digest, "Wrong.", Digest.of(b"new")), desk.keys["auditor"]),
        "replied": lambda: sign_said(Reply(digest, "No."), desk.keys["trainer"]),
        "stranger": lambda: sign_said(Withdrawal(digest, "No.", None), desk.keys["other"]),
    }
    if case.later:
        trust.take_later(later[case.later]())
    return Scene(desk, case, folder)


def certificates(key: SigningKey, *, expired: bool) -> tuple[bytes, tuple[bytes, ...]]:
    """A root of one's own, and a certificate of a key under it."""
    root_key = Ed25519PrivateKey.generate()
    now = datetime.now(UTC)
    end = now - timedelta(days=1) if expired else now + timedelta(days=30)

    def name(text: str) -> x509.Name:
        return x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, text)])

    def issued(subject: str, public: Any, until: datetime, authority: bool) -> bytes:
        builder = x509.CertificateBuilder().subject_name(name(subject)).issuer_name(name("Root")).public_key(public)
        builder = builder.serial_number(x509.random_serial_number()).not_valid_before(now - timedelta(days=90))
        builder = builder.not_valid_after(until)
        builder = builder.add_extension(x509.BasicConstraints(ca=authority, path_length=None), critical=True)
        return builder.sign(root_key, None).public_bytes(Encoding.PEM)

    from cryptography.hazmat.primitives.serialization import load_pem_public_key

    public = load_pem_public_key(key.public.pem.encode())
    root = issued("Root", root_key.public_key(), now + timedelta(days=90), True)
    return root, (issued("Auditor", public, end, False),)


# The readers of a verdict. Each says what comes of it, in a word or by its exit code.


def _verify(at: Scene) -> str:
    options = ["--roots", str(at.folder / "root.pem")] if at.case.certificate else []
    return at.ask("verify", str(at.folder / "verdict.json"), "--key", at.key, *options)


def _verify_with_run(at: Scene) -> str:
    return at.ask("verify", str(at.folder / "verdict.json"), at.against, "--key", at.key)


def _rules(at: Scene) -> str:
    verdict = ("--verdict", str(at.folder / "verdict.json"), "--auditor-key", at.key)
    return at.ask("rules", str(at.desk.folder / "rules.toml"), at.against, *verdict)


def _weights(at: Scene) -> str:
    verdict = ("--verdict", str(at.folder / "verdict.json"), "--key", at.key)
    return at.ask("verify-weights", str(at.weights), at.against, *verdict)


def _export(kind: str) -> Callable[[Scene], str]:
    def exported(at: Scene) -> str:
        signs = at.desk.folder / "client.pem"
        out = ("--key", str(signs), "--verdict-key", at.key, "--out", str(at.folder / f"{kind}.json"))
        return at.ask(f"export {kind}", str(at.folder / "verdict.json"), *out)

    return exported


def _card(at: Scene) -> str:
    return at.ask("export model-card", str(at.folder / "verdict.json"), "--key", at.key)


def _hand_over(at: Scene) -> str:
    out = at.folder / "handed"
    return at.ask("hand-over", str(at.folder / "verdict.json"), "--key", at.key, "--out", str(out))


def _ledger(at: Scene) -> str:
    folder = at.folder / "ledger"
    folder.mkdir(exist_ok=True)
    shutil.copy(at.folder / "verdict.json", folder)
    keys = [at.signing.public]
    reading = counterfoil.read_ledger(folder, keys, counterfoil.RatePolicy(), store=at.store())
    while True:
        try:
            next(reading)
        except StopIteration as end:
            return "counted" if end.value.trainers else "not counted"


def _window_reads(at: Scene) -> str:
    reading = Engine().read_verdict(at.folder / "verdict.json", at.store(), Path(at.against), ())
    if not reading.bundle_matches:
        return "another run"
    return "counts" if reading.validity.counts else "does not count"


def _window_weights(at: Scene) -> str:
    asked = (at.weights, Path(at.against), at.folder / "verdict.json", at.store(), None, CancelToken())
    try:
        *_, found = Engine().verify_weights(*asked)
    except CounterfoilError:
        return "refused"
    return str(found.outcome.value)  # type: ignore[union-attr]


def _window_rules(at: Scene) -> str:
    asked = RulesRequest(Path(at.against), at.desk.folder / "rules.toml", (at.folder / "verdict.json",), at.store())
    *_, found = Engine().check_rules(asked, CancelToken())
    return str(found.outcome.value)  # type: ignore[union-attr]


def _window_ledger(at: Scene) -> str:
    folder = at.folder / "window-ledger"
    folder.mkdir(exist_ok=True)
    shutil.copy(at.folder / "verdict.json", folder)
    *_, found = Engine().read_ledger(
        LedgerRequest(folder, (at.signing.public.public,), store=at.store()), CancelToken()
    )
    return "counted" if found.trainers else "not counted"  # type: ignore[union-attr]


VERDICT_READERS: Mapping[str, Callable[[Scene], str]] = {
    "verify": _verify,
    "verify with the run": _verify_with_run,
    "rules": _rules,
    "verify-weights": _weights,
    "export svr": _export("svr"),
    "export vsa": _export("vsa"),
    "export model-card": _card,
    "hand-over": _hand_over,
    "ledger": _ledger,
    "window: verdict": _window_reads,
    "window: weights": _window_weights,
    "window: rules": _window_rules,
    "window: ledger": _window_ledger,
}
WITH_RUN = ("verify with the run", "rules", "verify-weights", "window: verdict", "window: weights", "window: rules")
"""Readers that hold a verdict against a run."""


def outcome(reader: str, at: Scene) -> str:
    """What a reader says in a case."""
    if at.case.run != "run" and reader not in WITH_RUN:
        return NOT_ASKED
    if at.case.certificate and reader != "verify":
        return NOT_ASKED
    return VERDICT_READERS[reader](at)


# Other statements: what is about a run, an order or its data, and who signed the run and its order.


def _statement(kind: str, at: Scene) -> Path:
    """A statement of a kind by the case's signer, about the run; what others read in it is made by commands."""
    path = at.place / f"{at.case.signer}.{kind}.json"
    if path.exists():  # it hangs on nothing else of the case
        return path
    key = ("--key", str(at.desk.folder / f"{at.case.signer}.pem"), "--out", str(path), "--trust", "none")
    run = str(at.place / "run.cfoil")
    made = {
        "facts": ["facts", run, *key],
        "rules": ["rules", str(at.desk.folder / "steps.toml"), run, *key],
        "rows": ["locate", str(at.place / "row.npy"), run, "--row", *key],
    }
    if kind == "note":
        with BundleReader.open(run) as reader:
            note = DataNote(reader.manifest.data_root, "Sampled by hand.", None)
        path.write_bytes(sign_said(note, at.signing))
    elif kind == "adjudication":
        report = adjudication_report(AdjudicationOutcome.CONFIRMED)
        path.write_bytes(sign_adjudication(replace(report, trainer_key=at.desk.key_id("trainer")), at.signing))
    else:
        asked(*made[kind])
    return path


def _verify_statement(kind: str) -> Callable[[Scene], str]:
    def verified(at: Scene) -> str:
        path = str(_statement(kind, at))
        against = {
            "rules": [str(at.desk.folder / "steps.toml"), at.against],
            "adjudication": [],
        }.get(kind, [at.against])
        return at.ask("verify", path, *against, "--key", at.key)

    return verified


def _signed_run(command: str, file: str = "") -> Callable[[Scene], str]:
    def asked(at: Scene) -> str:
        client = ("--client-key", at.desk.public("client"))
        options: Sequence[str] = client if command.split()[0] in ("inspect", "audit", "adjudicate") else ()
        return at.ask(command, str(at.place / (file or "run.cfoil")), *options)

    return asked


def _locate(at: Scene) -> str:
    return at.ask("locate", str(at.place / "row.npy"), str(at.place / "run.cfoil"), "--row")


OTHER_READERS: Mapping[str, Callable[[Scene], str]] = {
    "verify: adjudication": _verify_statement("adjudication"),
    "verify: facts": _verify_statement("facts"),
    "verify: rules": _verify_statement("rules"),
    "verify: rows": _verify_statement("rows"),
    "verify: note": _verify_statement("note"),
    "inspect: run and order": _signed_run("inspect"),
    "audit: run and order": _signed_run("audit"),
    "adjudicate: capsule": _signed_run("adjudicate", "capsule.cfoil"),
    "facts: run": _signed_run("facts"),
    "locate: run": _locate,
}
_OF_A_RUN = ("verify: facts", "verify: rules", "verify: rows", "verify: note")
_BY_TRAINER = ("verify: adjudication", "verify: facts", "verify: rules", "verify: rows")


def other_outcome(reader: str, at: Scene) -> str:
    """What a reader of another statement says in a case."""
    case = at.case
    asked = {
        "verdict's": bool(case.later or case.party or case.certificate),
        "run's": case.run != "run" and reader not in _OF_A_RUN,
        "signer's": case.revoked == "auditor" and not reader.startswith("verify"),
        "shares'": case.shared and reader == "verify: adjudication",
        "trainer's": case.signer == "trainer" and reader not in _BY_TRAINER,
    }
    return NOT_ASKED if any(asked.values()) else OTHER_READERS[reader](at)


def tables(desk: Desk, folder: Path, cases: Sequence[Case] = CASES) -> str:
    """The two tables, in Markdown, with these cases."""
    (desk.folder / "steps.toml").write_text("[hyperparameters]\nsteps = [1, 1000]\n")
    scenes = [scene(desk, case, folder / str(number)) for number, case in enumerate(cases)]
    parts = []
    for what, readers, said in (
        ("a verdict", VERDICT_READERS, outcome),
        ("another statement", OTHER_READERS, other_outcome),
    ):
        lines = [f"| {what}, of which | {' | '.join(readers)} |", "|---" * (len(readers) + 1) + "|"]
        lines += [f"| {at.case.name} | {' | '.join(said(reader, at) for reader in readers)} |" for at in scenes]
        parts.append("\n".join(lines))
    return "\n\n".join(parts)
