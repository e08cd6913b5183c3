"""Lies about signed shares: what a party gave, what was added of it, and what each signed of that.

Every lie about the numbers goes to the end: whoever lies signs the shares that it changed, and the trainer the run.
"""

from __future__ import annotations

import base64
import json
import os
import shutil
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any

import numpy as np

import counterfoil
from counterfoil.signing.partykeys import sign_as_party
from counterfoil_core.base.digest import Digest
from counterfoil_core.base.errors import CounterfoilError
from counterfoil_core.bundle.reader import BundleReader
from counterfoil_core.bundle.stepshares import StepShares
from counterfoil_core.signing import kinds
from counterfoil_core.signing.claims import Share
from counterfoil_core.signing.keys import SigningKey
from counterfoil_core.signing.kinds import statement_of
from counterfoil_core.signing.parties import Sum
from lies.subject import (
    Change,
    Copy,
    Document,
    Subject,
    audit,
    bundle_fields,
    document_change,
    generic,
    signed,
    tuples,
    written,
)
from lies.values import field_name, json_paths
from support.bundles import change
from support.jobs import record_job, record_run
from support.shared import LIE, SHARES, STEPS, other_rows, shared_order

SHARE, OTHER_SHARE = 2, 1
"""Shares of two parties."""
OWN_WORDS = frozenset(("run/shares/sums", "run/shares/added"))
"""What all parties say of a sum that is right: it tells who lied where one is not, and nothing else rests on it."""
HANDS = ("nobody", "its party", "another party", "trainer", "stranger")


class Shares:
    """Records an honest run whose shares parties sign, and one of which a party trained on other rows.

    Args:
        folder: Where they lie.
        keys: Those of trainer, stranger, and the two parties, ``party`` and ``partner``.
    """

    def __init__(self, folder: Path, keys: Mapping[str, SigningKey]) -> None:
        self._folder, self._keys = folder, keys
        self._party = {OTHER_SHARE: keys["partner"], SHARE: keys["party"], SHARES - 1: keys["partner"]}
        signers = [None if share not in self._party else self._party[share].public for share in range(SHARES)]
        draft = shared_order(precision=counterfoil.ExactPrecision(20)).signed_by_parties(signers)
        (place := folder / "shares").mkdir()
        self._job = record_job(place, draft, keys["trainer"], share_keys=self._party)
        self._cheat = record_run(
            self._job.order, place / "cheat.cfoil", keys["trainer"], share_keys=self._party, tamper=other_rows(SHARE)
        )

    def subjects(self) -> tuple[Subject, ...]:
        """Everything that is lied about."""
        runs = {"honest parties": self._job.run, "a party that cheats": self._cheat}
        return (
            *(self._numbers(whose, run, hand) for whose, run in runs.items() for hand in HANDS[:4]),
            *(self._statement(kind, hand) for kind in (kinds.SHARE, kinds.ADDITION) for hand in HANDS),
        )

    def _key(self, hand: str, share: int) -> SigningKey | None:
        if hand == "another party":
            return self._keys["partner" if share == SHARE else "party"]
        return self._party.get(share) if hand == "its party" else self._keys.get(hand)

    def _copied(self, run: Path) -> Copy:
        return Copy(Path(shutil.copy(run, self._folder / f"{os.getpid()}.shares.cfoil")))

    def _numbers(self, whose: str, run: Path, hand: str) -> Subject:
        twin = self._cheat if run == self._job.run else self._job.run
        fields = {name: changes for name, changes in bundle_fields(run, twin).items() if name.startswith("run/shares/")}

        def outcome(copy: Copy) -> str:
            with suppress(CounterfoilError, LookupError, ValueError):
                self._sign(copy, run, hand)
            copy.sign(self._keys["trainer"])
            return audit(copy.path, self._job.order)

        def wrong(found: str, lied: frozenset[str]) -> bool:
            return found == "VERIFIED" and not (run == self._job.run and hand == "its party" and lied <= OWN_WORDS)

        name = f"shares of {whose}, signed again by {hand}"
        return Subject(name, fields, lambda: self._copied(run), outcome, wrong)

    def _sign(self, copy: Copy, run: Path, hand: str) -> None:
        """Sign the shares that were changed, and what was added of them."""
        with BundleReader.open(copy.path) as reader, BundleReader.open(run) as before:
            order, records = reader.manifest.digest, reader.step_records()
            steps = [(reader.shares(step), before.shares(step)) for step in range(1, STEPS + 1)]
        shares, sums = {}, {}
        for step, (now, old) in enumerate(steps, 1):
            state = records[step - 1].state_root
            assert now is not None
            assert old is not None
            assert state is not None
            added = _sum(order, step, state, now)
            for share in range(SHARES):
                key = self._key(hand, share)
                if key is None:
                    continue
                if now.records[share] != old.records[share]:
                    shares[step - 1, share] = sign_as_party(Share.of(order, step, state, now.records[share]), key)
                hashes = now.additions and now.additions.hashes[share].tobytes()
                if hashes and (added, hashes) != (_sum(order, step, state, old), _hashes(old, share)):
                    sums[step - 1, share] = sign_as_party(added.addition(share, hashes), key)
        for name, signatures in (("signatures", shares), ("sum_signatures", sums)):
            if signatures and f"run/shares/{name}" not in copy.bytes_changed:
                _put(copy.path, name, signatures)

    def _statement(self, kind: kinds.Kind, hand: str) -> Subject:
        """What a party signs of one share, in itself; the numbers in the run stay what they are."""
        documents = [self._said(kind, *about) for about in ((self._job.run, LIE, SHARE), (self._cheat, LIE, SHARE))]
        documents += [self._said(kind, self._job.run, *about) for about in ((LIE + 1, SHARE), (LIE, OTHER_SHARE))]
        truth, *twins = documents
        twins.append({**truth, "subject": [{"digest": {"sha256": "a" * 64}, "name": "order"}]})
        column = "signatures" if kind is kinds.SHARE else "sum_signatures"
        key, party = self._key(hand, SHARE), self._keys["party"]
        fields: dict[str, list[Change]] = {}
        for place in json_paths(truth):
            fields.setdefault(generic(field_name(place)), []).append(document_change(place, *twins))
        fields["all of it"] = [lambda copy, chance: setattr(copy, "value", chance.choice(twins))]

        def outcome(copy: Document) -> str:
            run = self._copied(self._job.run).path
            # Nobody can sign: a signature of the party's on something else lies there then.
            said, by = (copy.value, key) if key is not None else (truth if copy.value == truth else {}, party)
            signature = base64.b64decode(json.loads(signed(written(said), by))["signatures"][0]["sig"])
            _put(run, column, {(LIE - 1, SHARE): signature})
            return audit(run, self._job.order)

        return Subject(
            f"{kind.what}, signed by {hand}",
            tuples(fields),
            lambda: Document(truth),
            outcome,
            lambda found, _: found == "VERIFIED",
            kind.predicates,
        )

    def _said(self, kind: kinds.Kind, run: Path, step: int, share: int) -> Any:
        with BundleReader.open(run) as reader:
            order, state, held = reader.manifest.digest, reader.step_records()[step - 1].state_root, reader.shares(step)
        assert held is not None
        assert state is not None
        if kind is kinds.SHARE:
            return statement_of(Share.of(order, step, state, held.records[share]))
        return statement_of(_sum(order, step, state, held).addition(share, _hashes(held, share)))


def _sum(order: Digest, step: int, state: Digest, held: StepShares) -> Sum:
    assert held.root.exponents is not None
    assert held.additions is not None
    return Sum(order, step, state, held.root.root, held.root.exponents, held.additions.seen)


def _hashes(held: StepShares, share: int) -> bytes:
    assert held.additions is not None
    return bytes(held.additions.hashes[share].tobytes())


def _put(run: Path, column: str, signatures: Mapping[tuple[int, int], bytes]) -> None:
    def edit(array: Any) -> Any:
        for place, signature in signatures.items():
            array[place] = np.frombuffer(signature, np.uint8)
        return array

    change(run, f"/run/shares/{column}", edit)
