"""What is lied about: files of each kind, who lies, how well the lie is told, and what becomes of it.

A liar signs again whatever its own key signs, and makes right every digest that nobody's key binds. What comes of a lie
is decided by the product alone, as a user would call it.
"""

from __future__ import annotations

import hashlib
import hmac
import json
import os
import random
import shutil
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import replace
from pathlib import Path

import msgspec
import numpy as np
from torch import Tensor, nn
from torch.nn import functional

from counterfoil.audit import progressfile
from counterfoil.audit.hearings import adjudicate
from counterfoil.audit.parts import partfile as parts
from counterfoil.audit.parts.partial import replay_part
from counterfoil.audit.values.delivery import DeliveryOutcome
from counterfoil.base.seal import SEAL_BYTES
from counterfoil.bundle.capsulewriter import write_capsule
from counterfoil.delivery.export import export_weights
from counterfoil.signing.privatekeys import generate_key, load_private_key
from counterfoil.training.order import OrderDraft
from counterfoil.training.tamper import LabelFlip
from counterfoil_core.arithmetic.grid.log import ZERO_SCALE, SiteLog
from counterfoil_core.base.cancel import CancelToken
from counterfoil_core.base.digest import DIGEST_BYTES
from counterfoil_core.base.errors import CounterfoilError
from counterfoil_core.base.generators import finish
from counterfoil_core.base.precision import AnyPrecision, ExactPrecision
from counterfoil_core.signing.keys import SigningKey
from counterfoil_core.values.events import AdjudicationFinished
from counterfoil_core.values.request import AuditRequest
from counterfoil_core.values.workers import PartFiles
from lies.ranks import RankedRun
from lies.shares import Shares
from lies.statements import ROLES, Statements
from lies.subject import (
    Change,
    Copy,
    Document,
    Subject,
    audit,
    bundle_fields,
    datasets,
    document_change,
    generic,
    payload_of,
    tuples,
)  # fmt: skip
from lies.values import field_name, json_paths, lie_in_array, lie_in_json
from support.capsules import crafted, evidence_of
from support.delivered import basis_for, compared
from support.forgery import rewrite_log
from support.jobs import Job, audited, classify, draw, own_order, record_job, record_run
from support.resuming import progress_of

STEPS = 4
PROFILES: dict[str, AnyPrecision | None] = {"": None, " under exact-20": ExactPrecision(20)}
CHEAT = 3
"""The step at which the cheat's labels were flipped."""


class Liar:
    """Makes the files in a folder: an honest run and a cheat's of one order, with what belongs to them."""

    def __init__(self, folder: Path) -> None:
        """Record the runs, replay them, and keep what came of it."""
        self._folder = folder
        for name in ROLES:
            generate_key(folder / f"{name}.pem", None)
        self._keys: dict[str, SigningKey] = {name: load_private_key(folder / f"{name}.pem", None) for name in ROLES}
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
            *(self._part(truth) for truth in ("honest", "cheat")),
            *(self._progress(truth) for truth in ("honest", "cheat")),
            self._weights(),
            *self._statements(),
            *Shares(self._folder, self._keys).subjects(),
            RankedRun(self._folder).subject(),
        )

    def _statements(self) -> tuple[Subject, ...]:
        honest, cheat = self._runs["honest"], self._runs["cheat"]
        reports = {name: audited(job.run, job.order).report for name, job in (("run", honest), ("cheat", cheat))}
        return Statements(self._folder, self._keys, honest, cheat, reports).subjects()

    def _place(self, name: str) -> Path:
        # Several processes work with one set of files.
        return self._folder / f"{name}.{os.getpid()}"

    # Runs: the trainer lies, and signs.

    def _run(self, truth: str, profile: str) -> Subject:
        job, twin = (self._runs[which + profile] for which in (truth, "cheat" if truth == "honest" else "honest"))
        fields = {
            name: changes for name, changes in bundle_fields(job.run, twin.run).items() if name.startswith("run/")
        }
        if not profile:
            fields |= {f"run/log: {name}": (change,) for name, change in self._log_lies().items()}
        fields |= self._signed_lies(job.run, twin.run, "claim")
        fields |= self._signed_lies(job.run, twin.run, "acceptance")

        def outcome(copy: Copy) -> str:
            copy.sign(self._keys["trainer"])
            return audit(copy.path, job.order)

        def wrong(found: str, lied: frozenset[str]) -> bool:
            return found == "VERIFIED" and (truth == "cheat" or not lied <= HARMLESS_IN_A_RUN)

        name = f"run of {_whose(truth)}{profile}, signed again"
        return Subject(name, fields, lambda: self._copied(job.run), outcome, wrong)

    def _embedded_order(self, truth: str, known: bool) -> Subject:
        """The trainer lies about the order within its run, and has it signed by a friend; nobody has the client's."""
        job, twin = self._runs[truth], self._runs["cheat" if truth == "honest" else "honest"]
        fields = {
            name: changes for name, changes in bundle_fields(job.run, twin.run).items() if name.startswith("order/")
        }
        settings = {"client_key": self._keys["client"].public} if known else {}

        def outcome(copy: Copy) -> str:
            if copy.order_changed:
                copy.digest_order(self._keys["stranger"])
            copy.sign(self._keys["trainer"])
            return audit(copy.path, None, **settings)

        def wrong(found: str, lied: frozenset[str]) -> bool:
            return found == "VERIFIED"

        hand = "the client's key at hand" if known else "nothing of the client's at hand"
        name = f"order within the run of {_whose(truth)}, {hand}"
        return Subject(name, fields, lambda: self._copied(job.run), outcome, wrong)

    def _given_order(self) -> Subject:
        """Somebody lies about the order's file that the auditor gets; the run is honest."""
        fields = bundle_fields(self._honest.order, self._honest.order)

        def outcome(copy: Copy) -> str:
            if copy.order_changed:
                copy.digest_order(self._keys["stranger"])
            return audit(self._honest.run, copy.path)

        def wrong(found: str, lied: frozenset[str]) -> bool:
            return found in ("VERIFIED", "DISPUTED")

        return Subject(
            "order's file beside an honest run", fields, lambda: self._copied(self._honest.order), outcome, wrong
        )

    def _copied(self, path: Path) -> Copy:
        return Copy(Path(shutil.copy(path, self._place("copy.cfoil"))))

    @staticmethod
    def _log_lies() -> dict[str, Change]:
        def told(edit: Callable[[list[SiteLog], Sequence[int], random.Random], None]) -> Change:
            def change(copy: Copy, chance: random.Random) -> None:
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
        document, beside = (payload_of(datasets(each)[f"run/{name}"].tobytes()) for each in (path, twin))
        fields: dict[str, list[Change]] = {}

        def told(place: tuple[str | int, ...]) -> Change:
            def change(copy: Copy, chance: random.Random) -> None:
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
        fields = bundle_fields(path, path)

        def outcome(copy: Copy) -> str:
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
            fields.setdefault(generic(field_name(place)), []).append(document_change(place))

        def outcome(copy: Document) -> str:
            with suppress(OverflowError, TypeError, UnicodeEncodeError):
                body = msgspec.msgpack.encode(copy.value)
                lied = self._place("lied.part")
                lied.write_bytes(parts.MARK + hashlib.sha256(body).digest() + body)
                return audit(job.run, job.order, workers=PartFiles((lied, other)), recheck=0)
            return "REFUSED"

        def wrong(found: str, lied: frozenset[str]) -> bool:
            return found == ("VERIFIED" if truth == "cheat" else "DISPUTED")

        name = f"part of the audit of {_whose(truth)}, beside an honest part"
        return Subject(name, tuples(fields), lambda: Document(document), outcome, wrong)

    # Kept progress.

    def _progress(self, truth: str) -> Subject:
        job = self._runs[truth]
        old, progressfile.LEAST_SECONDS = progressfile.LEAST_SECONDS, -1e9
        try:
            path = progress_of(job, self._folder / f"{truth}.progress", 2)
        finally:
            progressfile.LEAST_SECONDS = old
        start = len(progressfile.MARK) + SEAL_BYTES
        data = path.read_bytes()
        document = msgspec.msgpack.decode(data[start:])
        fields: dict[str, list[Change]] = {}
        for place in json_paths(document):
            fields.setdefault(generic(field_name(place)), []).append(document_change(place))

        def outcome(copy: Document) -> str:
            with suppress(OverflowError, TypeError, UnicodeEncodeError):
                body = msgspec.msgpack.encode(copy.value)
                lied = self._place("progress")
                # Whoever lies here writes to the folder, and does not have the user's secret.
                seal = hmac.digest(b"a guess", progressfile.MARK + body, "sha256")
                lied.write_bytes(progressfile.MARK + seal + body)
                return audit(job.run, job.order, progress=lied, resume=True)
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
            fields.setdefault(f"header: {name}", []).append(document_change((0, *place)))

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


def _whose(truth: str) -> str:
    return "an honest trainer" if truth == "honest" else "a cheat"
