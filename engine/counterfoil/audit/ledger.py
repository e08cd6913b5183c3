"""Reads a folder of signed verdicts, and sorts what they say by the trainer's key; docs/ledger.md.

Only what is signed with a key that the reader gives counts: a verdict names no public key, and who could put one of
their own into the folder could make any past.
"""

from __future__ import annotations

import os
from collections import defaultdict
from collections.abc import Generator, Iterator, Sequence
from dataclasses import dataclass
from itertools import islice
from pathlib import Path

from counterfoil.audit.values.ledger import (
    Ledger,
    LedgerProgress,
    LedgerVerdict,
    NotCounted,
    RatePolicy,
    TrainerRecord,
    by_time,
    propose,
    run_of,
)
from counterfoil.trust.afterwards import afterwards, open_later, verdict_digest
from counterfoil.trust.store import NO_TRUST, TrustStore
from counterfoil.trust.validity import validity_of
from counterfoil.trust.verdictfile import claimed_key
from counterfoil_core.base.cancel import CancelToken
from counterfoil_core.base.digest import Digest
from counterfoil_core.base.errors import CounterfoilError, DataError, GivenFileError, SignatureError
from counterfoil_core.base.inputs import read_input
from counterfoil_core.base.sentence import joined, say
from counterfoil_core.signing.envelope import parse_statement, payload_of
from counterfoil_core.signing.keys import PublicKey
from counterfoil_core.signing.kinds import ADJUDICATION, REPLY, VERDICT, WITHDRAWAL
from counterfoil_core.statement.judgement import Adjudication, Signed, Verdict
from counterfoil_core.statement.verdict import verify_signed
from counterfoil_core.values.sampling import Selection

ENDING = ".json"
MOST_FILES = 100_000
MOST_DEPTH = 8
"""Folders below the one that is given."""
MOST_BYTES = 2**26
"""Bytes of a file that is read; larger ones are named."""


@dataclass(frozen=True)
class _Found:
    """A signed file that holds."""

    name: str
    signed: Signed
    digest: Digest


def read_ledger(
    folder: Path,
    auditors: Sequence[PublicKey],
    policy: RatePolicy,
    cancel: CancelToken | None = None,
    store: TrustStore = NO_TRUST,
) -> Generator[LedgerProgress, None, Ledger]:
    """Read what a folder holds of verdicts, adjudications, withdrawals and replies, and return what they say.

    Args:
        folder: Where they lie; folders in it are looked through, links are not followed.
        auditors: Keys of the auditors who count.
        policy: For the rates that are proposed.
        cancel: Stops it.
        store: What the reader trusts; nothing unless given.

    Yields:
        How many of how many files are read, after each.

    Raises:
        GivenFileError: The folder cannot be read, or holds too many files.
        CancelledError: It was stopped.
    """
    paths = _files(folder)
    found: dict[tuple[Digest, str], _Found] = {}
    later: dict[Digest, list[tuple[str, bytes]]] = defaultdict(list)
    left: list[NotCounted] = []
    for number, path in enumerate(paths, 1):
        if cancel is not None:
            cancel.check()
        name = path.relative_to(folder).as_posix()
        try:
            envelope = read_input(path, say("a signed statement"), DataError, most=MOST_BYTES)
            kind = parse_statement(payload_of(envelope))["predicateType"]
            if kind in (WITHDRAWAL.predicate, REPLY.predicate):
                later[open_later(envelope).verdict].append((name, envelope))
            elif kind in (VERDICT.predicate, ADJUDICATION.predicate):
                one = _Found(name, _opened(envelope, auditors), verdict_digest(envelope))
                same = found.setdefault((one.digest, one.signed.key_id), one)
                if same is not one:
                    left.append(NotCounted(name, say("It is the same verdict as {0}.", same.name)))
            else:
                left.append(NotCounted(name, say("It is neither a verdict nor about one.")))
        except CounterfoilError as error:
            left.append(NotCounted(name, error.sentence))
        yield LedgerProgress(number, len(paths))
    return _sorted_out(list(found.values()), later, left, policy, store)


def _opened(envelope: bytes, keys: Sequence[PublicKey]) -> Signed:
    """Check a verdict by that one of the keys which it says to be signed with."""
    key = claimed_key(envelope, keys)
    if key is None:
        raise SignatureError(say("It is signed with none of the auditors' keys that were given."))
    return verify_signed(envelope, key)


def _files(folder: Path) -> list[Path]:
    try:
        paths = list(islice(_walk(folder, 0), MOST_FILES + 1))
    except OSError as error:
        raise GivenFileError(
            say("The folder {0} cannot be looked through: {1}.", folder.name, error.strerror or str(error)),
            remedy=say("Give a folder that holds signed verdicts, and that you may read."),
        ) from error
    if len(paths) > MOST_FILES:
        raise GivenFileError(
            say("The folder {0} holds more than {1} files that could be verdicts.", folder.name, MOST_FILES),
            remedy=say("Give a folder with verdicts alone."),
        )
    return sorted(paths)


def _walk(folder: Path, depth: int) -> Iterator[Path]:
    with os.scandir(folder) as entries:
        for entry in entries:
            if entry.is_file(follow_symlinks=False) and entry.name.lower().endswith(ENDING):
                yield Path(entry.path)
            elif entry.is_dir(follow_symlinks=False) and depth < MOST_DEPTH:
                yield from _walk(Path(entry.path), depth + 1)


def _sorted_out(
    found: Sequence[_Found],
    later: dict[Digest, list[tuple[str, bytes]]],
    left: list[NotCounted],
    policy: RatePolicy,
    store: TrustStore,
) -> Ledger:
    """Count what counts, by trainer and run."""
    runs: dict[str, dict[tuple[Digest, Digest | None], list[LedgerVerdict]]] = defaultdict(lambda: defaultdict(list))
    for one in found:
        about = later.get(one.digest, [])
        for name, envelope in about:
            said = afterwards(one.signed, one.digest, [(name, envelope)])
            left += [NotCounted(name, sentence) for sentence in said.ignored]
        told = validity_of(store, one.signed, one.digest, about)
        root = one.signed.run_root
        if root is None or not one.signed.trainer_key:
            left.append(NotCounted(one.name, say("It names no trainer: no signature of a run held.")))
        elif not told.counts:
            left.append(NotCounted(one.name, joined(*told.why)))
        else:
            runs[one.signed.trainer_key][root, one.signed.run_order].append(
                _entry(one, replied=bool(told.later.replies))
            )
    known = {one.digest for one in found}
    nowhere = say("It is about no verdict in this folder that holds.")
    left += [NotCounted(name, nowhere) for about, every in later.items() if about not in known for name, _ in every]
    return Ledger(
        tuple(_record(key, runs[key], policy) for key in sorted(runs)), tuple(sorted(left, key=lambda one: one.name))
    )


def _record(
    key_id: str, runs: dict[tuple[Digest, Digest | None], list[LedgerVerdict]], policy: RatePolicy
) -> TrainerRecord:
    told = by_time(run_of(root, verdicts, policy.bad_fraction) for (root, _), verdicts in runs.items())
    return TrainerRecord(key_id, told, propose(told, policy))


def _entry(one: _Found, *, replied: bool) -> LedgerVerdict:
    signed = one.signed
    sample = signed.sample if isinstance(signed, Verdict) else None
    return LedgerVerdict(
        name=one.name,
        kind="adjudication" if isinstance(signed, Adjudication) else "verdict",
        outcome=signed.outcome.value if isinstance(signed, (Verdict, Adjudication)) else "",
        auditor=signed.key_id,
        signed_at=signed.signed_at,
        run_root=signed.run_root,
        order=signed.run_order,
        title=signed.title,
        steps_replayed=signed.steps_replayed,
        steps_recorded=signed.steps_recorded,
        segments=0 if sample is None else sample.total,
        chosen=0 if sample is None else sample.count,
        random=sample is not None and (sample.whole or sample.selection is Selection.RANDOM),
        disputed_step=signed.disputed_step,
        replied=replied,
        judged=(signed.agreed_step + 1, signed.step) if isinstance(signed, Adjudication) else None,
    )
