"""A file is recognised by what is in it, whatever its name is."""

from __future__ import annotations

import base64
from pathlib import Path

import pytest
import torch
from safetensors.torch import save_file

from counterfoil.audit.recognition import capsule_subject, recognise
from counterfoil.audit.values.filekind import FileUse
from counterfoil.bundle.capsulewriter import write_capsule
from counterfoil.cli import main
from counterfoil.signing.privatekeys import generate_key
from counterfoil.training.tamper import LabelFlip
from counterfoil_core.base.errors import BundleError, GivenFileError
from counterfoil_core.bundle.reader import BundleReader
from counterfoil_core.signing.keys import SigningKey
from support.jobs import Job, audited, digits_order, record_job


@pytest.fixture(scope="module")
def files(tmp_path_factory: pytest.TempPathFactory, digits_job: Job, trainer_key: SigningKey) -> dict[FileUse, Path]:
    folder = tmp_path_factory.mktemp("files")
    found = {FileUse.ORDER: digits_job.order, FileUse.RUN: digits_job.run}
    cheat = record_job(folder, digits_order(steps=2, checkpoint_every=1), trainer_key, tamper=LabelFlip(2))
    finished = audited(cheat.run).events[-1]
    found[FileUse.CAPSULE] = folder / "a"
    write_capsule(finished.evidence, found[FileUse.CAPSULE])  # type: ignore[union-attr,arg-type]
    digits_order(steps=1).write(folder / "outside.cfoil", external_data=folder / "b.cfdata")
    found[FileUse.DATA] = folder / "b.cfdata"
    generate_key(folder / "c.pem", "secret")
    found[FileUse.PRIVATE_KEY], found[FileUse.PUBLIC_KEY] = folder / "c.pem", folder / "c.pub.pem"
    generate_key(folder / "auditor.pem", None)
    found[FileUse.VERDICT] = folder / "d"
    sign = ["--verdict", str(folder / "d"), "--key", str(folder / "auditor.pem")]
    assert main(["audit", str(digits_job.run), "--segments", "1", *sign]) == 0
    found[FileUse.STATEMENT] = folder / "h"
    back = ["--reason", "wrong run", "--out", str(folder / "h")]
    assert main(["withdraw", str(folder / "d"), "--key", str(folder / "auditor.pem"), *back]) == 0
    generate_key(folder / "trainer.pem", None)
    train = ["train", str(digits_job.order), "--out", str(folder / "told.cfoil"), "--key", str(folder / "trainer.pem")]
    found[FileUse.HEADS] = folder / "e"
    assert main([*train, "--heads", str(folder / "e")]) == 0
    found[FileUse.WEIGHTS] = folder / "f"
    save_file({"weight": torch.zeros(3)}, folder / "f")
    seal = pytest.importorskip("pyrage", reason="the extra sealing is not installed")
    found[FileUse.SEALED] = folder / "i"
    found[FileUse.SEALED].write_bytes(seal.encrypt(b"anything", [seal.x25519.Identity.generate().to_public()]))
    found[FileUse.REVOCATIONS] = folder / "j"
    revoked = ["--reason", "stolen", "--key", str(folder / "trainer.pem"), "--out", str(folder / "j")]
    assert main(["revoke", str(folder / "c.pub.pem"), *revoked]) == 0
    found[FileUse.SIGNED] = folder / "k"
    assert main(["facts", str(digits_job.run), "--key", str(folder / "auditor.pem"), "--out", str(folder / "k")]) == 0
    found[FileUse.WITNESS] = folder / "l"
    line = base64.b64encode(b'{"predicateType": "urn:counterfoil:snapshot:v2"}').decode()
    found[FileUse.WITNESS].write_text(f'{{"payload": "{line}"}}\n' * 2)
    found[FileUse.ANSWER] = folder / "m"
    line = base64.b64encode(b'{"predicateType": "urn:counterfoil:answer:v1"}').decode()
    found[FileUse.ANSWER].write_text(f'{{"payload": "{line}"}}')
    found[FileUse.OTHER] = folder / "g"
    (folder / "g").write_text("{}")
    return found


def test_a_capsule_says_which_step_it_is_about(files: dict[FileUse, Path]) -> None:
    found = capsule_subject(files[FileUse.CAPSULE])
    assert (found.agreed_step, found.step, found.steps, found.part) == (1, 2, 2, "")
    assert found.order == recognise(files[FileUse.CAPSULE]).order
    with pytest.raises(BundleError):
        capsule_subject(files[FileUse.RUN])


@pytest.mark.parametrize("kind", FileUse)
def test_every_kind_is_told_from_the_others(files: dict[FileUse, Path], tmp_path: Path, kind: FileUse) -> None:
    nameless = tmp_path / "x"
    nameless.write_bytes(files[kind].read_bytes())
    found = recognise(nameless)
    assert (found.path, found.kind) == (nameless, kind)
    if kind in (FileUse.ORDER, FileUse.RUN):
        with BundleReader.open(nameless) as reader:
            assert found.order == reader.manifest.digest
    assert (found.order is not None) is (kind in (FileUse.ORDER, FileUse.RUN, FileUse.CAPSULE))


@pytest.mark.parametrize("junk", [b"", b"\0", b"-----BEGIN", b"{", b"[]", b'{"payload": 7}', b"\xff" * 9 + b"{"])
def test_junk_is_something_else(tmp_path: Path, junk: bytes) -> None:
    path = tmp_path / "junk"
    path.write_bytes(junk)
    assert recognise(path).kind in (FileUse.OTHER, FileUse.PRIVATE_KEY)


def test_a_damaged_bundle_is_opened_as_a_run_and_refused_there(tmp_path: Path, digits_job: Job) -> None:
    path = tmp_path / "damaged"
    path.write_bytes(digits_job.run.read_bytes()[:5000])
    assert recognise(path).kind is FileUse.RUN


def test_what_is_no_file(tmp_path: Path) -> None:
    for path in (tmp_path, tmp_path / "gone"):
        with pytest.raises(GivenFileError):
            recognise(path)


def test_a_folder_of_weights_and_a_pickle_are_weights(tmp_path: Path) -> None:
    with pytest.raises(GivenFileError, match="a folder"):
        recognise(tmp_path)
    for name in ("model-00001-of-00002.safetensors", "pytorch_model.bin"):
        (tmp_path / name).mkdir(parents=True)
        (tmp_path / name / name).write_bytes(b"")
        assert recognise(tmp_path / name).kind is FileUse.WEIGHTS
    assert recognise(tmp_path / "pytorch_model.bin" / "pytorch_model.bin").kind is FileUse.WEIGHTS
