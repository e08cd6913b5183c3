"""A file with a verdict or an adjudication: the one way to read it, with how it stands for the reader."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

from counterfoil.trust.afterwards import statements_beside, verdict_digest
from counterfoil.trust.store import TrustStore
from counterfoil.trust.validity import Validity, validity_of
from counterfoil_core.base.digest import Digest
from counterfoil_core.base.errors import DataError, RefusedError, SignatureError
from counterfoil_core.base.inputs import read_input
from counterfoil_core.base.sentence import joined, say
from counterfoil_core.signing.envelope import claimed_key_ids
from counterfoil_core.signing.keys import PublicKey
from counterfoil_core.signing.kinds import VERDICT
from counterfoil_core.signing.publickeys import pem_of
from counterfoil_core.statement.judgement import Adjudication, Verdict
from counterfoil_core.statement.verdict import verify_signed
from counterfoil_core.values.trust import check_independent


@dataclass(frozen=True)
class Judgement:
    """What an auditor signed, and how it stands."""

    envelope: bytes  #: The file, a DSSE envelope as JSON bytes.
    key: PublicKey  #: The key for which its signature holds.
    said: Verdict | Adjudication  #: What it says.
    validity: Validity  #: How it stands for the reader.

    @property
    def digest(self) -> Digest:
        """The digest by which it is named."""
        return verdict_digest(self.envelope)

    def counted(self) -> Verdict:
        """Return the verdict, where it counts.

        Raises:
            RefusedError: It does not.
            SignatureError: It is an adjudication.
        """
        if not isinstance(self.said, Verdict):
            raise SignatureError(say("It is an adjudication, and no verdict."))
        self.check()
        return self.said

    def check(self) -> None:
        """Raise RefusedError where it does not count."""
        check_independent(self.said.key_id, self.said.trainer_key, self.said.parties)
        if not self.validity.counts:
            raise RefusedError(
                say("The {0} does not count. {1}", self.said.kind, joined(*self.validity.why)),
                remedy=say("Ask for one that counts. 'counterfoil verify' shows all that is known of this one."),
            )


def auditors_of(store: TrustStore, given: Sequence[PublicKey] = ()) -> tuple[PublicKey, ...]:
    """Return the keys that verdicts are checked with: those that were given, and those of the reader's auditors."""
    return (*given, *(PublicKey.from_pem(pem_of(public).encode()) for public in store.auditors))


def claimed_key(envelope: bytes, keys: Iterable[PublicKey]) -> PublicKey | None:
    """Return that one of some keys with which an envelope says to be signed; None where it says so of none."""
    claimed = claimed_key_ids(envelope)
    return next((key for key in keys if key.key_id in claimed), None)


def read_judgement(path: Path, store: TrustStore, keys: Sequence[PublicKey]) -> Judgement:
    """Read a verdict or an adjudication from a file, with what lies beside it that says something of it.

    What lies beside a verdict can only take away from it: nobody is trusted for it but the auditor who signed both.

    Args:
        path: The file.
        store: What the reader trusts.
        keys: The keys that count.

    Raises:
        DataError: The file cannot be read.
        SignatureError: It is signed with none of the keys, does not hold, or is neither.
    """
    envelope = read_input(path, say("a verdict"), DataError, most=VERDICT.most)
    beside, _ = statements_beside(path, verdict_digest(envelope))
    return open_judgement(envelope, store, keys, beside)


def open_judgement(
    envelope: bytes,
    store: TrustStore,
    keys: Sequence[PublicKey],
    beside: Sequence[tuple[str, bytes]] = (),
) -> Judgement:
    """Check a verdict or an adjudication with that one of some keys which it says to be signed with.

    Args:
        envelope: A DSSE envelope as JSON bytes; may be junk.
        store: What the reader trusts.
        keys: The keys that count; of one alone what it says of keys is not asked.
        beside: Name and content of files that may say something of it; may be junk.

    Raises:
        SignatureError: It is signed with none of the keys, does not hold, or is neither.
    """
    key = keys[0] if len(keys) == 1 else claimed_key(envelope, keys)
    if key is None:
        raise SignatureError(say("It is signed with none of the auditors' keys that were given."))
    said = verify_signed(envelope, key)
    return Judgement(envelope, key, said, validity_of(store, said, verdict_digest(envelope), beside))
