"""Files of every kind, before the commands that read them: what a kind is, a true one, how it is changed, who reads it.

A case fails where a command ends in a bug; a new kind of file is a line of :meth:`Files._kinds`.
"""

from __future__ import annotations

import io
import os
import random
import shutil
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from PySide6.QtCore import QSettings

from counterfoil.delivery.export import export_weights
from counterfoil.delivery.snapshots import make_line, sign_line, take_snapshot
from counterfoil.sealed.recipients import read_recipients, recipients_path
from counterfoil.sealed.seal import seal_file
from counterfoil.sealed.server import Desk, load_identities, make_identity
from counterfoil.signing.kinds import (
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
from counterfoil.signing.privatekeys import generate_key, load_private_key
from counterfoil.training.previews import preview_data
from counterfoil.trust.afterwards import verdict_digest
from counterfoil.trust.folder import TrustFolder
from counterfoil.trust.keyfile import KeyFile, KnownKey, Role
from counterfoil_app.model.settings import Setting, Settings
from counterfoil_core.base.cancel import CancelToken
from counterfoil_core.base.digest import Digest
from counterfoil_core.base.errors import CounterfoilError
from counterfoil_core.bundle.reader import BundleReader
from counterfoil_core.parties.signatures import check_claim, subject_of
from counterfoil_core.signing.envelope import attach_certificates
from counterfoil_core.signing.keys import SigningKey
from counterfoil_core.signing.statements import sign_said
from counterfoil_core.statement.verdict import sign_adjudication, sign_verdict
from counterfoil_core.values.adjudication import AdjudicationOutcome
from fuzz.mutations import spoil_bytes, spoil_envelope, spoil_json, spoil_lines, spoil_pem
from support.asked import BUG, asked
from support.reports import adjudication_report, disputed_report, verified_report
from support.servers import Served, serving
from trust.outcomes import certificates

Spoil = Callable[[bytes, random.Random], bytes]


class EndedError(CounterfoilError):
    """A command refused its file."""


@dataclass(frozen=True)
class FileKind:
    """A kind of file."""

    name: str
    seeds: tuple[bytes, ...]  #: True ones.
    spoil: Spoil  #: Changes one of them.
    #: Who reads it: a function of its path that raises an error of ours, or the words of a command, in which ``{x}``
    #: is the file and ``{d}`` its folder.
    read: Callable[[Path], Any] | str
    place: str = "file"  #: Its name in a folder of its own.
    refusing: str = ""  #: What the command says of one that it refuses although it goes on.
    codes: tuple[int, ...] = (0, 1)  #: Its exit codes for a true one.


class Files:
    """Makes them in a folder.

    Args:
        folder: The folder.
        run: A run.
        heads: Its tree heads.
        spoil_file: Changes a file of arrays.
    """

    def __init__(self, folder: Path, run: Path, heads: bytes, spoil_file: Spoil) -> None:
        folder.mkdir()
        self._folder, self._run, self._heads, self._spoil_file = folder, run, heads, spoil_file
        for name in ("auditor", "list"):
            generate_key(folder / f"{name}.pem", None)
        self._key: SigningKey = load_private_key(folder / "auditor.pem", None)
        (folder / "rules.toml").write_text("[hyperparameters]\nsteps = [1, 1000]\nbatch_size = [1, 64]\n")
        with BundleReader.open(run) as reader:
            self._about = reader.manifest
            data = reader.check_order_contents().data
        np.save(folder / "row.npy", np.asarray(data[sorted(data)[0]][0]))
        (folder / "verdict.json").write_bytes(sign_verdict(verified_report(), self._key))
        make_identity(folder / "judge.key", None)
        self._served: dict[int, tuple[object, Served]] = {}

    def readers(self) -> tuple[tuple[str, tuple[bytes, ...], Spoil, Callable[[bytes], Any]], ...]:
        """Name, true ones, changes and reader of every kind."""
        return tuple((kind.name, kind.seeds, kind.spoil, self._reader(kind)) for kind in self._kinds())

    def _reader(self, kind: FileKind) -> Callable[[bytes], Any]:
        def read(data: bytes) -> Any:
            # Several processes may work on one corpus.
            shutil.rmtree(place := self._folder / f"{os.getpid()}", ignore_errors=True)
            path = place / kind.place
            path.parent.mkdir(parents=True, mode=0o700)
            path.write_bytes(data)
            if callable(kind.read):
                return kind.read(path)
            words = kind.read.split()
            code, said = asked(*(word.format(x=path, d=place, f=self._folder, run=self._run) for word in words))
            assert BUG not in said, said
            if code not in kind.codes or (kind.refusing and kind.refusing in said):
                raise EndedError(said)
            return code, said.replace(str(place), "")

        return read

    def _kinds(self) -> tuple[FileKind, ...]:
        by = "--key {f}/auditor.pub.pem --trust none"
        sign = spoil_envelope(self._key)
        lines = spoil_lines(sign)
        verdict = (self._folder / "verdict.json").read_bytes()
        digest = verdict_digest(verdict)
        root, chain = certificates(self._key, expired=False)
        certified = attach_certificates(verdict, chain)
        (self._folder / "certified.json").write_bytes(certified)
        (self._folder / "root.pem").write_bytes(root)
        return (
            FileKind("run", (self._run.read_bytes(),), self._spoil_file, "inspect {x} --trust none"),
            FileKind("run that lies elsewhere", (self._run.read_bytes(),), self._spoil_file, self._elsewhere),
            FileKind("sealed capsule", (self._sealed(),), spoil_bytes, self._unsealed),
            FileKind("sealing key", ((self._folder / "judge.key").read_bytes(),), spoil_bytes,
                     lambda path: [str(each.to_public()) for each in _open_sealing_key(path)]),
            FileKind(
                "public sealing key", (recipients_path(self._folder / "judge.key").read_bytes(),), spoil_bytes,
                lambda path: read_recipients([path]),
            ),
            FileKind("facts", (self._made("facts", "{run}"),), sign, f"verify {{x}} {{run}} {by}"),
            FileKind(
                "statement on rules", (self._made("rules", "{f}/rules.toml", "{run}"),), sign,
                f"verify {{x}} {{f}}/rules.toml {{run}} {by}",
            ),
            FileKind(
                "rules", ((self._folder / "rules.toml").read_bytes(),), spoil_bytes, "rules {x} {run} --trust none"
            ),
            FileKind("statement on rows", (self._rows(),), sign, f"verify {{x}} {{run}} {by}"),
            FileKind(
                "rows", ((self._folder / "row.npy").read_bytes(),), spoil_bytes,
                "locate {x} {run} --row --trust none", "row.npy",
            ),
            FileKind(
                "proof of rows", ((self._folder / "proof.json").read_bytes(),), spoil_json,
                f"verify {{f}}/rows.json --row {{f}}/row.npy --proof {{x}} {by}",
            ),
            FileKind("note", (self._said(DataNote(self._about.data_root, "By hand.", None)),), sign,
                     f"verify {{x}} {{run}} {by}"),
            FileKind(
                "withdrawal, reply", (self._said(Withdrawal(digest, "Wrong.", None)), self._said(Reply(digest, "No."))),
                sign, f"verify {{x}} {{f}}/verdict.json {by}",
            ),
            FileKind(
                "verdict, adjudication, verified",
                (verdict, sign_verdict(disputed_report(), self._key),
                 sign_adjudication(adjudication_report(AdjudicationOutcome.CONFIRMED), self._key)),
                sign, f"verify {{x}} {by}",
            ),
            FileKind(
                "certificates beside a verdict", (certified,), spoil_json,
                "verify {x} --roots {f}/root.pem --trust none",
            ),
            FileKind("root certificates", (root,), spoil_pem, "verify {f}/certified.json --roots {x} --trust none"),
            FileKind("ledger", (verdict,), sign, "ledger {d} --auditor-key {f}/auditor.pub.pem --trust none",
                     "verdict.json", "Not counted"),
            FileKind("hand-over", (verdict,), sign,
                     "hand-over {x} --key {f}/auditor.pub.pem --out {d}/out --trust none"),
            FileKind("list of revoked keys", (self._list(),), sign,
                     "trust take {x} --key {f}/auditor.pub.pem --trust {d}/trust"),
            FileKind("keys that are trusted", (self._keys(),), spoil_json,
                     "verify {f}/verdict.json --trust {d}/trust", "trust/keys.json"),
            FileKind("tree heads, inspected", (self._heads,), lines, "inspect {run} --quick --heads {x} --trust none"),
            FileKind("witness's log", (self._log(),), lines, f"witness check {{x}} {{run}} {by}"),
            FileKind("list of a release", (self._said(ReleaseList("1.0", "a" * 40, {"row.npy": Digest.of(
                (self._folder / "row.npy").read_bytes())})),), sign, f"verify {{x}} {{f}}/row.npy {by}"),
            FileKind("comparison beside an order", (self._comparison(),), sign, self._compared, "run.comparison.json"),
            FileKind("weights, verified", (self._weights(),), spoil_bytes, "verify-weights {d} {run} --trust none",
                     "model.safetensors", codes=(2,)),
            FileKind("table of data", (_arrays(),), spoil_bytes,
                     lambda path: repr(preview_data("logistic", path)), "data.npz"),
            FileKind("settings of the window", (self._settings(),), spoil_bytes, _read_settings, "window.ini"),
        )  # fmt: skip

    # True ones.

    def _said(self, said: Any) -> bytes:
        return sign_said(said, self._key)

    def _made(self, *command: str) -> bytes:
        out = self._folder / "made.json"
        words = (word.format(f=self._folder, run=self._run) for word in command)
        code, said = asked(*words, "--key", self._folder / "auditor.pem", "--out", out, "--force", "--trust", "none")
        assert code == 0, said
        return out.read_bytes()

    def _rows(self) -> bytes:
        proof = ("--proof", f"{self._folder / 'proof.json'}", "--neighbours")
        made = self._made("locate", f"{self._folder / 'row.npy'}", "{run}", "--row", *proof)
        (self._folder / "rows.json").write_bytes(made)
        return made

    def _list(self) -> bytes:
        return self._said(
            RevocationList.of_keys([Revocation("a" * 64, "2026-01-01T00:00:00Z", Cause.RETIRED, "old")], 1)
        )

    def _keys(self) -> bytes:
        folder = TrustFolder(self._folder / "trust")
        known = KnownKey(self._key.public.public, Role.AUDITOR, "auditor", "", "2026-11-22")
        folder.change(lambda held: KeyFile(held.format, (known,), held.lists))
        return (folder.path / "keys.json").read_bytes()

    def _log(self) -> bytes:
        with BundleReader.open(self._run) as reader:
            states = [dict(reader.checkpoint(step)) for step in reader.checkpoint_steps()]
            about = subject_of(check_claim(reader.claim(), reader.manifest, None, None))
        lines: list[bytes] = []

        def add(kind: LineKind, **more: Any) -> None:
            before = lines[-1] if lines else None
            lines.append(sign_line(make_line(kind, before, len(lines), 60, **more), self._key))

        add(LineKind.BEGUN)
        for state in states:
            add(LineKind.SNAPSHOT, snapshot=take_snapshot(state, 0))
        add(LineKind.ENDED, ending=Ending.RUN, run=about)
        return b"".join(line + b"\n" for line in lines)

    def _comparison(self) -> bytes:
        shutil.copy(self._run, self._folder / "compared.cfoil")
        steps = self._about.steps
        return self._said(Comparison(self._about.digest, Digest.of(b""), (), {}, "2.11.0", ((1, steps),), steps))

    def _compared(self, path: Path) -> Any:
        os.link(self._folder / "compared.cfoil", run := path.with_name("run.cfoil"))
        code, said = asked("inspect", run, "--quick", "--trust", "none")
        assert code == 0, said
        assert BUG not in said
        if "cannot be used" in said:
            raise EndedError(said)
        return said.replace(str(path.parent), "")

    def _weights(self) -> bytes:
        *_, path = export_weights(self._run, self._folder / "weights")
        assert isinstance(path, Path)
        return path.read_bytes()

    def _settings(self) -> bytes:
        path = self._folder / "window.ini"
        store = QSettings(str(path), QSettings.Format.IniFormat)
        settings = Settings(store, folder=self._folder)
        settings.threads, settings.auditor_name, settings.searches = 2, "A. Auditor", ("loss > 1", "step 3")
        store.sync()
        return path.read_bytes()

    def _sealed(self) -> bytes:
        sealed = self._folder / "sealed.cfoil.age"
        seal_file(self._run, sealed, read_recipients([recipients_path(self._folder / "judge.key")]))
        return sealed.read_bytes()

    # Readers that are no command of this process.

    def _unsealed(self, path: Path) -> bytes:
        desk = Desk()
        desk._identities = _open_sealing_key(self._folder / "judge.key")
        for _ in desk.open_file(path, out := path.with_name("opened"), CancelToken(), lambda told: None):
            pass
        return out.read_bytes()

    def _elsewhere(self, path: Path) -> Any:
        """A server gives it in pieces."""
        if os.getpid() not in self._served:
            self._served[os.getpid()] = (serves := serving(b"")), serves.__enter__()
        _, served = self._served[os.getpid()]  # which ends when the first is forgotten
        served.data = path.read_bytes()
        code, said = asked("inspect", served.url, "--trust", "none")
        assert BUG not in said, said
        if code:
            raise EndedError(said)
        return said.replace(served.url, "")


def _open_sealing_key(path: Path) -> list[Any]:
    return load_identities(path, None)


def _arrays() -> bytes:
    with io.BytesIO() as file:
        np.savez(file, features=np.arange(12, dtype=np.float32).reshape(4, 3), labels=np.arange(4))
        return file.getvalue()


def _read_settings(path: Path) -> Any:
    """All that the window reads of its settings, which are never an error; those of a fresh start count as refused."""
    names = [name for name, value in vars(Settings).items() if isinstance(value, Setting)]
    settings = Settings(QSettings(str(path), QSettings.Format.IniFormat), folder=path.parent)
    found = {name: getattr(settings, name) for name in names}
    if not settings.auditor_name:
        raise EndedError("A fresh start.")
    return repr(found).replace(str(path.parent), "")
