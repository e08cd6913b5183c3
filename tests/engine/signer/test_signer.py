"""The signer's process: what it takes, what it refuses, and what it says when something goes wrong."""

from __future__ import annotations

import dataclasses
import json
import os
import pickle
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from msgspec import structs

from counterfoil.base.joberrors import SignerError
from counterfoil.signer import client
from counterfoil.signer.client import Passphrase, SignerProcess, start_signer
from counterfoil.signer.environment import take_descriptor
from counterfoil.signer.passphrase import Secret
from counterfoil.signer.server import SIGNER_PORT, Desk
from counterfoil.signing.privatekeys import generate_key, load_private_key
from counterfoil.talk.frames import read_frame
from counterfoil.talk.messages import decode, encode
from counterfoil.talk.port import Answer, Delivery, Raised, Returned
from counterfoil.talk.programs import PASSPHRASE_VARIABLE, program_command
from counterfoil.talk.table import MOST_STATEMENT
from counterfoil_core.base import canonical
from counterfoil_core.base.digest import Digest
from counterfoil_core.base.errors import FileWriteError, KeyFileError, SignatureError
from counterfoil_core.signing.claims import RunClaim, TreeHead
from counterfoil_core.signing.envelope import open_statement
from counterfoil_core.signing.keys import load_public_key
from counterfoil_core.signing.kinds import ADJUDICATION, RUN, TREE_HEAD, VERDICT, Kind
from counterfoil_core.signing.statements import sign_said
from counterfoil_core.statement.verdict import preview_adjudication, preview_verdict
from counterfoil_core.values.adjudication import AdjudicationOutcome
from support.reports import adjudication_report, verified_report

SECRET = "correct horse battery staple"
WHEN = datetime(2026, 1, 31, 12, tzinfo=UTC)
posix = pytest.mark.skipif(os.name != "posix", reason="signals and descriptors of POSIX")


@pytest.fixture(scope="module")
def key(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("keys") / "auditor.pem"
    generate_key(path, SECRET)
    return path


@pytest.fixture
def signer(key: Path) -> Iterator[SignerProcess]:
    with start_signer(key, "audit", Passphrase.given(SECRET), about="run.cfoil") as signer:
        yield signer


def statement(name: str = "run.cfoil") -> bytes:
    return preview_verdict(replace(verified_report(), bundle_name=name), WHEN)


def raw(*patience: str) -> subprocess.Popen[bytes]:
    """The process itself, to talk to it as no client does."""
    command = program_command("counterfoil.signer.server", *patience)
    return subprocess.Popen(command, bufsize=0, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE)


def frame(body: bytes) -> bytes:
    return len(body).to_bytes(4, "little") + body


def opening(key: Path, passphrase: bytes = SECRET.encode()) -> bytes:
    return frame(encode(SIGNER_PORT.call(Desk.open_key, (key, "audit", "", Secret("pipe", passphrase), False), {})))


def heard(process: subprocess.Popen[bytes]) -> Answer:
    assert process.stdout is not None
    (answer,) = decode(read_frame(process.stdout, 2**20), Delivery)
    return answer


# What it signs.


@pytest.mark.parametrize("kind", [VERDICT, ADJUDICATION])
def test_it_signs_what_an_auditor_signs(signer: SignerProcess, key: Path, kind: Kind) -> None:
    public = load_public_key(key.with_name("auditor.pub.pem"))
    assert signer.public == public
    payload = statement()
    if kind is ADJUDICATION:
        report = adjudication_report(AdjudicationOutcome.CONFIRMED)
        payload = preview_adjudication(replace(report, capsule_name="run.cfoil"), WHEN)
    envelope = signer.sign(payload)
    assert canonical.encode(open_statement(envelope, public)) == payload
    assert envelope == load_private_key(key, SECRET).sign(payload)


_PLAIN = json.loads(statement())


def _other(**fields: Any) -> bytes:
    return canonical.encode({**_PLAIN, **fields})


REFUSED = {
    "a run's claim": (_other(predicateType=RUN.predicate), "signs a verdict or an adjudication, and nothing else"),
    "a tree head": (_other(predicateType=TREE_HEAD.predicate), "and nothing else"),
    "another type": (_other(predicateType="https://slsa.dev/provenance/v1"), "and nothing else"),
    "another file": (statement("other.cfoil"), "another file than run.cfoil"),
    "no subject": (_other(subject=[]), "not in the form"),
    "a second subject that is none": (_other(subject=[*_PLAIN["subject"], "run"]), "not in the form"),
    "subjects by name": (_other(subject={"name": "run.cfoil"}), "not in the form"),
    "no predicate": (_other(predicate=[1]), "not in the form"),
    "a predicate of another form": (_other(predicate={"result": "VERIFIED"}), "not in the form"),
    "more than its form has": (_other(predicate={**_PLAIN["predicate"], "more": 1}), "not in the form"),
    "not canonical": (json.dumps(_PLAIN).encode(), "canonical"),
    "no statement": (b"{}", "not an in-toto statement"),
    "no json": (b"\xff\x00", "canonical"),
    "nothing": (b"", "canonical"),
}


@pytest.mark.sampled(6)
@pytest.mark.parametrize("what", REFUSED)
def test_what_an_auditors_signer_refuses(signer: SignerProcess, what: str) -> None:
    payload, sentence = REFUSED[what]
    with pytest.raises(SignatureError, match=sentence):
        signer.sign(payload)
    assert signer.sign(statement()), "a refusal is no end: what may be signed still is"


def test_one_verdict_and_no_more(signer: SignerProcess) -> None:
    signer.sign(statement())
    with pytest.raises(SignatureError, match="already signed"):
        signer.sign(statement())


def test_a_trainers_signer(key: Path) -> None:
    order, root = Digest.of(b"order"), Digest.of(b"root")
    with start_signer(key, "train", Passphrase.given(SECRET)) as signer:
        for size in (1, 2):
            sign_said(TreeHead(order, size, root), signer)
        claim = RunClaim(order, root, 3, {})
        for refused, sentence in (
            (TreeHead(order, 2, Digest.of(b"other")), "already signed"),
            (structs.replace(claim, order=Digest.of(b"another")), "another order"),
        ):
            with pytest.raises(SignatureError, match=sentence):
                sign_said(refused, signer)
        with pytest.raises(SignatureError, match="the claim of a run or a tree head, and nothing else"):
            signer.sign(statement())
        sign_said(claim, signer)
        with pytest.raises(SignatureError, match="already signed"):
            sign_said(TreeHead(order, 3, root), signer)


@pytest.mark.own_process
@pytest.mark.skipif(sys.platform != "linux", reason="/proc of Linux")
def test_nobody_opens_what_its_client_asks_it_through(key: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A pipe of the client's can be opened by whoever has its user's rights, who would have something signed."""
    monkeypatch.setenv(PASSPHRASE_VARIABLE, SECRET)

    before = descriptors()
    given = take_descriptor()
    assert given is not None
    assert nobody_opens(descriptors() - before) == 1
    with start_signer(key, "audit", Passphrase.read_from(given)) as signer:
        assert nobody_opens(descriptors() - before) == 1
        assert signer.sign(statement())


def descriptors() -> set[tuple[Path, str]]:
    """Those of this process, each with what it leads to."""
    found = [(each, os.readlink(each)) for each in Path("/proc/self/fd").iterdir() if each.is_symlink()]
    return {(each, place) for each, place in found if "/proc/" not in place}


def nobody_opens(found: set[tuple[Path, str]]) -> int:
    """How many there are; each is a socket, which cannot be opened anew."""
    for each, place in found:
        assert place.startswith("socket:")
        for flags in (os.O_RDONLY, os.O_WRONLY):
            with pytest.raises(OSError, match="No such device or address"):
                os.open(each, flags)
    return len(found)


# Keys and passphrases.


def test_a_wrong_passphrase_is_found_at_the_start(key: Path, tmp_path: Path) -> None:
    with pytest.raises(KeyFileError, match=r"passphrase of auditor\.pem is wrong"):
        start_signer(key, "audit", Passphrase.given("wrong"))
    with pytest.raises(KeyFileError, match="needs a passphrase, and there is no terminal"):
        start_signer(key, "audit", Passphrase.none())
    with pytest.raises(KeyFileError, match="There is no file"):
        start_signer(tmp_path / "none.pem", "audit", Passphrase.none())
    generate_key(tmp_path / "open.pem", None)
    with pytest.raises(KeyFileError, match="has no passphrase"):
        start_signer(tmp_path / "open.pem", "audit", Passphrase.given("needless"))
    start_signer(tmp_path / "open.pem", "audit", Passphrase.none()).close()


def test_a_key_is_made_by_the_signer(tmp_path: Path) -> None:
    with start_signer(tmp_path / "new.pem", "audit", Passphrase.given(SECRET), create=True) as signer:
        assert signer.public == load_public_key(tmp_path / "new.pub.pem")
    assert b"ENCRYPTED" in (tmp_path / "new.pem").read_bytes()
    with pytest.raises(KeyFileError, match="never overwritten"):
        start_signer(tmp_path / "new.pem", "audit", Passphrase.given(SECRET), create=True)
    with pytest.raises(FileWriteError):
        start_signer(tmp_path / "none" / "new.pem", "audit", Passphrase.given(None), create=True)


@pytest.mark.sampled(2)
@posix
@pytest.mark.parametrize("ending", [b"", b"\n", b"\r\n"])
def test_a_passphrase_through_a_descriptor(key: Path, ending: bytes) -> None:
    reading, writing = os.pipe()
    os.write(writing, SECRET.encode() + ending)
    os.close(writing)
    with start_signer(key, "audit", Passphrase.read_from(reading)) as signer:
        assert signer.sign(statement())
    with pytest.raises(OSError, match="Bad file descriptor"):
        os.fstat(reading)


@pytest.mark.own_process
def test_passphrases_are_in_no_repr_and_no_argument(key: Path, tmp_path: Path) -> None:
    assert SECRET not in repr(Passphrase.given(SECRET))
    from counterfoil_app.verdict.export import SigningRequest

    request = SigningRequest(private_key=key, passphrase=SECRET, create=False, target=tmp_path / "v.json")
    assert SECRET not in repr(request)
    assert dataclasses.replace(request).passphrase == SECRET
    if sys.platform == "linux":
        with start_signer(key, "audit", Passphrase.given(SECRET)) as signer:
            process = Path(f"/proc/{signer.process_id}")
            assert SECRET.encode() not in (process / "cmdline").read_bytes()
            assert SECRET.encode() not in (process / "environ").read_bytes()


def test_a_private_key_is_in_no_pickle(key: Path) -> None:
    with pytest.raises(TypeError, match="not sent to another process"):
        pickle.dumps(load_private_key(key, SECRET))


# What is loaded, and what may be done to the process.


def test_it_loads_no_reader_and_no_numerics() -> None:
    code = "import sys; from counterfoil.signer import server, gate, client; print('\\n'.join(sys.modules))"
    done = subprocess.run([sys.executable, "-P", "-c", code], capture_output=True, text=True, check=True)
    loaded = set(done.stdout.split())
    assert "counterfoil.signer.server" in loaded
    for name in ("torch", "h5py", "numpy", "numba", "typer", "rich"):
        assert name not in loaded
    ours = {name for name in loaded if name.startswith(("counterfoil.", "counterfoil_core."))}
    beside = {name.removeprefix("counterfoil.") for name in ours if name.startswith("counterfoil.")}
    assert {name for name in beside if name.split(".")[0] != "signer"} <= {
        "base", "base.joberrors", "base.wholefiles", "signing", "signing.kinds", "signing.privatekeys", "talk",
        "talk.failure", "talk.frames", "talk.line", "talk.messages",
        "talk.port", "talk.process", "talk.programs", "talk.table",
    }  # fmt: skip
    assert {name.removeprefix("counterfoil_core.") for name in ours if name.startswith("counterfoil_core.")} <= {
        "base", "base.cancel", "base.canonical", "base.digest", "base.dtypes", "base.errors", "base.fields",
        "base.inputs", "base.memory", "base.obstacles", "base.plaintext", "base.precision", "base.sentence",
        "base.stoprule", "base.timestamps", "base.turns", "bundle", "bundle.extent", "bundle.pattern",
        "bundle.schema", "bundle.shares", "bundle.sources", "commit", "commit.merkle", "program", "program.limits",
        "remote", "remote.address", "remote.ranges", "signing", "signing.claims", "signing.keys",
        "signing.envelope", "signing.kinds", "signing.publickeys", "signing.statements",
        "signing.subject", "statement", "statement.factfields", "statement.model", "values", "values.adjudication",
        "values.beacon", "values.dispute", "values.outcome", "values.report", "values.runfacts", "values.sampling",
        "values.trust", "values.workers",
    }  # fmt: skip


@pytest.mark.own_process
def test_libraries_are_not_taken_from_the_folder_one_is_in(
    key: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "cryptography.py").write_text("raise SystemExit('a file beside a bundle was run')")
    monkeypatch.chdir(tmp_path)
    with start_signer(key, "audit", Passphrase.given(SECRET)) as signer:
        assert signer.sign(statement())


@pytest.mark.own_process
@pytest.mark.skipif(sys.platform != "linux", reason="prctl and /proc of Linux")
def test_no_core_is_dumped_and_nobody_may_trace_it(signer: SignerProcess) -> None:
    process = Path(f"/proc/{signer.process_id}")
    limits = (process / "limits").read_text()
    (core,) = (line for line in limits.splitlines() if line.startswith("Max core file size"))
    assert core.split()[4:6] == ["0", "0"]
    code = (
        "import ctypes; from counterfoil.signer.passphrase import protect_memory; protect_memory(); "
        "print(ctypes.CDLL(None).prctl(3, 0, 0, 0, 0))"  # PR_GET_DUMPABLE
    )
    done = subprocess.run([sys.executable, "-P", "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == "0\n"


@posix
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_ctrl_c_does_not_end_it(signer: SignerProcess, number: int) -> None:
    os.kill(signer.process_id, number)
    time.sleep(0.1)
    assert signer.sign(statement())


# What goes wrong.


@posix
def test_a_killed_signer_is_told(signer: SignerProcess) -> None:
    os.kill(signer.process_id, signal.SIGKILL)
    with pytest.raises(SignerError, match="ended before it had signed") as caught:
        signer.sign(statement())
    assert caught.value.remedy
    assert "exit code -9" in caught.value.detail
    with pytest.raises(SignerError):
        signer.sign(statement())


@posix
def test_a_signer_that_hangs_is_given_up(signer: SignerProcess, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(client, "ANSWER_SECONDS", 0.5)
    os.kill(signer.process_id, signal.SIGSTOP)
    started = time.monotonic()
    with pytest.raises(SignerError, match="ended before it had signed"):
        signer.sign(statement())
    assert time.monotonic() - started < 30


def test_it_ends_with_its_client(key: Path) -> None:
    process = raw()
    assert process.stdin is not None
    process.stdin.write(opening(key))
    assert isinstance(heard(process), Returned)
    process.stdin.close()
    assert process.wait(60) == 0


@pytest.mark.parametrize("size", [2 * MOST_STATEMENT, 2**32 - 1])
def test_a_huge_frame_is_refused_before_it_is_read(key: Path, size: int) -> None:
    process = raw()
    assert process.stdin is not None
    process.stdin.write(opening(key))
    assert isinstance(heard(process), Returned)
    process.stdin.write(size.to_bytes(4, "little"))
    assert process.wait(60) == 1


def test_a_key_is_opened_once(key: Path) -> None:
    process = raw()
    assert process.stdin is not None
    process.stdin.write(opening(key) * 2)
    answers: list[Answer] = []
    while len(answers) < 2:
        answers += decode(read_frame(process.stdout, 2**20), Delivery)
    first, second = answers
    assert isinstance(first, Returned)
    assert isinstance(second, Raised)
    assert second.failure.name == "SignerError"
    process.stdin.close()
    process.wait(60)


def test_a_huge_statement_is_not_even_sent(signer: SignerProcess) -> None:
    with pytest.raises(SignerError, match="the signer takes"):
        signer.sign(bytes(MOST_STATEMENT + 1))


@pytest.mark.sampled(1)
@pytest.mark.parametrize("begun", [b"", b"\x09", b"\x09\0\0\0half"], ids=["nothing", "a length", "half"])
def test_a_frame_that_does_not_come_ends_it(begun: bytes) -> None:
    process = raw("0.5")
    assert process.stdin is not None
    process.stdin.write(begun)
    assert process.wait(60) == 3


JUNK = {
    "no message": frame(b"XXXXXXXXXX"),
    "a length": b"\xff\xff\xff\xff",
    "no question": frame(encode((1, 2))),
}


@pytest.mark.parametrize("what", JUNK)
def test_junk_in_the_place_of_a_passphrase(what: str) -> None:
    out, err = raw().communicate(JUNK[what], timeout=60)
    assert out == err == b""


def test_what_is_not_to_be_called_is_told_and_nothing_of_it_quoted() -> None:
    process = raw()
    assert process.stdin is not None
    for call in (
        SIGNER_PORT.call(Desk.sign, (b"statement",), {}),
        dataclasses.replace(SIGNER_PORT.call(Desk.sign, (b"",), {}), name="__init__"),
    ):
        process.stdin.write(frame(encode(call)))
        answer = heard(process)
        assert isinstance(answer, Raised)
        assert (answer.failure.name, answer.failure.detail) == ("SignerError", "")
    process.stdin.close()
    process.wait(60)


def test_nothing_is_said_of_a_passphrase_that_is_no_text(key: Path) -> None:
    process = raw()
    assert process.stdin is not None
    process.stdin.write(opening(key, b"secret\xff"))
    answer = heard(process)
    assert isinstance(answer, Raised)
    assert "wrong" in answer.failure.sentence
    assert "secret" not in repr(answer)
    process.stdin.close()
    process.wait(60)


def test_what_a_library_prints_does_not_go_among_the_frames() -> None:
    code = (
        "import os\n"
        "from counterfoil.signer import server\n"
        "server.Desk.sign = lambda *_: os.write(1, b'printed') and b'signed'\n"
        "server.SIGNER_PORT._functions['sign'] = lambda *_: os.write(1, b'printed') and b'signed'\n"
        "import inspect; server.SIGNER_PORT.form = lambda name: __import__('collections').namedtuple('F', 'arguments "
        "brings yields')(tuple[bytes], bytes, False)\n"
        "server.main()\n"
    )
    pipe = subprocess.PIPE
    process = subprocess.Popen([sys.executable, "-c", code], bufsize=0, stdin=pipe, stdout=pipe, stderr=pipe)
    assert process.stdin is not None
    process.stdin.write(frame(encode(SIGNER_PORT.call(Desk.sign, (b"s",), {}))))
    # Whoever hangs up before it is answered has the call stopped.
    answer = heard(process)
    assert isinstance(answer, Returned), answer
    said, printed = process.communicate(timeout=60)
    assert printed == b"printed"
    assert said == b""
