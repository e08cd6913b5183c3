"""What is lied about, and how: a file or a document, its fields, the lies about each, and what becomes of it."""

from __future__ import annotations

import base64
import json
import random
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from securesystemslib.dsse import Envelope

from counterfoil_core.base import canonical
from counterfoil_core.base.digest import Digest
from counterfoil_core.base.errors import CounterfoilError, RefusedError
from counterfoil_core.bundle.reader import BundleReader
from counterfoil_core.signing.claims import Acceptance, SignedOrder
from counterfoil_core.signing.keys import SigningKey
from counterfoil_core.signing.kinds import PAYLOAD_TYPE
from counterfoil_core.signing.statements import open_said, sign_said
from counterfoil_core.values.outcome import Outcome
from lies.redigest import redigest
from lies.values import Array, field_name, json_paths, lie_in_array, lie_in_json
from support.bundles import opened_for_change
from support.jobs import audited, replace_bytes, sign_again

CRASHED, UNTOLD = "crashed:", "no lie"
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
        kinds: The predicate types of the statements that are lied about.
    """

    name: str
    fields: Mapping[str, tuple[Change, ...]]
    begin: Callable[[], Any]
    outcome: Callable[[Any], str]
    wrong: Callable[[str, frozenset[str]], bool]
    kinds: tuple[str, ...] = ()

    def told(self, fields: Sequence[str], chance: random.Random) -> str:
        """Lie about some fields, each once, and return what is concluded; without fields, what is true."""
        copy = self.begin()
        for field in fields:
            chance.choice(self.fields[field])(copy, chance)
        # Of two lies the second may have taken back the first.
        if fields and isinstance(copy, Document) and copy.value == self.begin().value:
            return UNTOLD
        try:
            return self.outcome(copy)
        except Exception as error:  # the point is to find out which escape
            return f"{CRASHED} {type(error).__name__}"


class Document:
    """A JSON document that is being lied about."""

    def __init__(self, value: Any) -> None:
        self.value = value if not isinstance(value, list) else list(value)


class Copy:
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
            replace_bytes(self.path, "/order/manifest", written(lied(document, self.manifest)))
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
                replace_bytes(self.path, f"/run/{name}", signed(written(lied(claim, lies)), key))


def lied(document: Any, lies: Iterable[Callable[[Any], Any]]) -> Any:
    for lie in lies:
        # A lie before this one may have taken the place away.
        with suppress(LookupError, TypeError):
            document = lie(document)
    return document


def array_change(name: str, twin: Array | None) -> Change:
    def change(copy: Copy, chance: random.Random) -> None:
        copy.order_changed |= name.startswith("order/")
        copy.bytes_changed.add(name)
        with opened_for_change(copy.path) as file:
            target = file[name]
            target[...] = lie_in_array(np.asarray(target[...]), chance, twin).reshape(target.shape)

    return change


def json_change(name: str, place: tuple[str | int, ...]) -> Change:
    def change(copy: Copy, chance: random.Random) -> None:
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


def document_change(place: tuple[str | int, ...], *twins: Any) -> Change:
    """Return a lie about a place in a document, one of whose twins may be true of something else."""

    def change(copy: Document, chance: random.Random) -> None:
        # A lie before this one may have taken the place away.
        with suppress(LookupError, TypeError):
            copy.value = lie_in_json(copy.value, place, chance, chance.choice(twins) if twins else None)

    return change


def audit(run: Path, order: Path | None, **settings: Any) -> str:
    try:
        return audited(run, order, **settings).report.outcome.value
    except CounterfoilError as error:
        # The command line shows it, and exits with its code.
        return Outcome.REFUSED.value if isinstance(error, RefusedError) else Outcome.ERROR.value


def datasets(path: Path) -> dict[str, Array]:
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


def bundle_fields(path: Path, twin: Path) -> dict[str, tuple[Change, ...]]:
    """Every dataset of a file; of JSON every field."""
    fields: dict[str, list[Change]] = {}
    contents, others = datasets(path), datasets(twin)
    for name, array in contents.items():
        if name in ("run/claim", "run/acceptance", "run/log"):
            continue
        if name.startswith("order/manifest") or name.startswith("order/program"):
            document = json.loads(array.tobytes())
            for place in json_paths(document):
                field = f"{name}: {generic(field_name(place))}"
                fields.setdefault(field, []).append(json_change(name, place))
        elif array.size:
            fields.setdefault(generic(name), []).append(array_change(name, others.get(name)))
    return {name: tuple(changes) for name, changes in sorted(fields.items())}


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
