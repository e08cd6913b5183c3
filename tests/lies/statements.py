"""Lies in what people sign beside runs and verdicts: facts, rules, rows, notes, withdrawals, lists of revoked keys.

Fields that say which run a statement is about are exchanged for those of another run, too; and who lies may be a
stranger, nobody who signs at all, or the very person who is believed.
"""

from __future__ import annotations

import base64
import json
import os
from collections.abc import Callable, Mapping, Sequence
from contextlib import redirect_stderr, redirect_stdout
from io import StringIO
from pathlib import Path
from typing import Any

import numpy as np

from counterfoil.cli import main
from counterfoil.signing.kinds import Cause, DataNote, Revocation, RevocationList, Withdrawal
from counterfoil.trust.afterwards import verdict_digest
from counterfoil.trust.folder import TrustFolder
from counterfoil.trust.store import TrustStore
from counterfoil.trust.validity import validity_of
from counterfoil_core.base.errors import CounterfoilError
from counterfoil_core.bundle.reader import BundleReader
from counterfoil_core.signing.keys import SigningKey
from counterfoil_core.signing.statements import sign_said
from counterfoil_core.statement.verdict import verify_signed
from lies.subjects import Document, Subject, document_change, generic, payload_of, signed, tuples, written
from lies.values import field_name, json_paths
from support.jobs import Job

ACCEPTED, REFUSED = "accepted", "REFUSED"
OWN_WORDS = frozenset(("predicate.signed_at", "predicate.facts.energy_kwh"))
"""What nothing shows but the word of whoever signs, as the pages say."""
WHO = ("nobody", "stranger", "auditor")


class Statements:
    """Makes the statements in a folder.

    Args:
        folder: Where keys lie, too.
        keys: Those of the auditor and of a stranger.
        runs: An honest run, and another of the same order.
        verdict: A verdict of the auditor's on the first.
    """

    def __init__(self, folder: Path, keys: Mapping[str, SigningKey], runs: tuple[Job, Job], verdict: bytes) -> None:
        self._folder, self._keys, self._runs, self._verdict = folder, keys, runs, verdict
        (folder / "rules.toml").write_text("[hyperparameters]\nsteps = [1, 1000]\n")
        import h5py

        with h5py.File(runs[0].run) as file:
            np.save(folder / "row.npy", np.asarray(file["order/data/x"][0]))

    def subjects(self) -> tuple[Subject, ...]:
        """Everything that is lied about."""
        run = [str(self._runs[0].run)]
        rules = [str(self._folder / "rules.toml"), *run]
        return (
            *(self._about_run("facts of a run", ["facts"], run, who) for who in WHO),
            *(self._about_run("what a run showed of rules", ["rules", rules[0]], rules, who) for who in WHO),
            *(self._about_run("what a run did with a row", ["locate", str(self._folder / "row.npy")], run, who)
              for who in WHO),
            *(self._note(who) for who in WHO[:2]),
            *(self._withdrawal(who) for who in WHO[:2]),
            *(self._revocations(who) for who in WHO[:2]),
        )  # fmt: skip

    def _made(self, command: Sequence[str], run: Job) -> Any:
        out = self._folder / f"made.{os.getpid()}.json"
        row = ["--row"] if command[0] == "locate" else []
        key = ["--key", str(self._folder / "auditor.pem"), "--out", str(out), "--force", "--trust", "none"]
        _ask(*command, str(run.run), *row, *key)
        return payload_of(out.read_bytes())

    def _envelope(self, statement: Any, truth: bytes, who: str) -> bytes:
        """A statement as somebody signs it; nobody leaves the signature on the true one."""
        if who != "nobody":
            return signed(written(statement), self._keys[who])
        envelope = json.loads(truth)
        envelope["payload"] = base64.b64encode(written(statement)).decode()
        return json.dumps(envelope).encode()

    def _subject(
        self,
        name: str,
        who: str,
        statements: tuple[Any, Any],
        outcome: Callable[[bytes], str],
        wrong: Callable[[str, frozenset[str]], bool],
    ) -> Subject:
        statement, twin = statements
        truth = signed(written(statement), self._keys["auditor"])
        fields: dict[str, list[Any]] = {}
        for place in json_paths(statement):
            if len(place) > 1:  # the twin's whole predicate would be another true statement
                fields.setdefault(generic(field_name(place)), []).append(document_change(place, twin))
        hand = "by who is believed" if who == "auditor" else f"by {who}" if who == "nobody" else f"by a {who}"
        return Subject(
            f"{name}, signed {hand}",
            tuples(fields),
            lambda: Document(statement),
            lambda copy: outcome(self._envelope(copy.value, truth, who)),
            wrong,
        )

    def _verify(self, *against: str) -> Callable[[bytes], str]:
        def outcome(envelope: bytes) -> str:
            path = self._folder / f"lied.{os.getpid()}.json"
            path.write_bytes(envelope)
            key = str(self._folder / "auditor.pub.pem")
            code = _ask("verify", str(path), *against, "--key", key, "--trust", "none")
            return ACCEPTED if code in (0, 1, 2) else REFUSED

        return outcome

    def _about_run(self, name: str, command: list[str], against: list[str], who: str) -> Subject:
        made = self._made(command, self._runs[0]), self._made(command, self._runs[1])

        def wrong(found: str, lied: frozenset[str]) -> bool:
            return found == ACCEPTED and not (who == "auditor" and lied <= OWN_WORDS)

        return self._subject(name, who, made, self._verify(*against), wrong)

    def _note(self, who: str) -> Subject:
        with BundleReader.open(self._runs[0].run) as reader:
            said = DataNote(reader.manifest.data_root, "Sampled by hand.", None)
        made = payload_of(sign_said(said, self._keys["auditor"]))
        outcome = self._verify(str(self._runs[0].run))
        return self._subject("note about data", who, (made, made), outcome, lambda found, _: found == ACCEPTED)

    def _withdrawal(self, who: str) -> Subject:
        verdict = verify_signed(self._verdict, self._keys["auditor"].public)
        digest = verdict_digest(self._verdict)
        made = payload_of(sign_said(Withdrawal(digest, "Wrong.", None), self._keys["auditor"]))

        def outcome(envelope: bytes) -> str:
            store = TrustStore(later=(("withdrawal.json", envelope),))
            return ACCEPTED if validity_of(store, verdict, digest).later.withdrawals else REFUSED

        return self._subject("withdrawal", who, (made, made), outcome, lambda found, _: found == ACCEPTED)

    def _revocations(self, who: str) -> Subject:
        gone = [Revocation(self._keys["stranger"].public.key_id, "2026-01-01T00:00:00Z", Cause.COMPROMISED, "lost")]
        made = payload_of(sign_said(RevocationList.of_keys(gone, 1), self._keys["auditor"]))

        def outcome(envelope: bytes) -> str:
            try:
                folder = TrustFolder(self._folder / f"trust.{os.getpid()}")
                folder.take_list(envelope, self._keys["auditor"].public.public)
            except CounterfoilError:
                return REFUSED
            return ACCEPTED

        return self._subject("list of revoked keys", who, (made, made), outcome, lambda found, _: found == ACCEPTED)


def _ask(*arguments: str) -> int:
    with StringIO() as out, redirect_stdout(out), redirect_stderr(out):
        return main(list(arguments))
