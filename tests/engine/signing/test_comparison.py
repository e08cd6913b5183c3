"""The comparison of an order with its script: what was written is read, what was changed refused, and who said it."""

from __future__ import annotations

import base64
import json
import re
import shutil
import subprocess
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from msgspec.structs import replace

from counterfoil.base.joberrors import TargetExistsError
from counterfoil.signer.client import Passphrase, start_signer
from counterfoil.signing.comparedsteps import (
    FROM_CODE,
    FROM_SCRIPT,
    FoundComparison,
    Standing,
    compared_in,
    comparison_line,
    comparison_path,
    ranges_of,
    standing_of,
)
from counterfoil.signing.comparison import comparison_beside, write_comparison
from counterfoil.signing.kinds import Comparison
from counterfoil.signing.privatekeys import PrivateKey, generate_key, load_private_key
from counterfoil_core.base import canonical
from counterfoil_core.base.digest import Digest
from counterfoil_core.base.errors import SignatureError
from counterfoil_core.signing import kinds
from counterfoil_core.signing.claims import SignedOrder
from counterfoil_core.signing.envelope import sign_statement, wrap_statement
from counterfoil_core.signing.kinds import COMPARISON, make_statement
from counterfoil_core.signing.statements import open_said, sign_said

ORDER, OTHER, SCRIPT = (Digest.of(text) for text in (b"order", b"other", b"script"))
MADE = Comparison(
    ORDER, SCRIPT, ("--lr", "0.1"), {"data/train.csv": Digest.of(b"rows"), "../it's a.txt": Digest.of(b"text")},
    "2.11.0", ((1, 400), (512, 512)), 5000,
)  # fmt: skip
HEX = OTHER.hex
PAGE = Path(__file__).parents[3] / "docs" / "comparison.md"


@pytest.fixture(scope="module")
def keys(tmp_path_factory: pytest.TempPathFactory) -> tuple[PrivateKey, PrivateKey]:
    """The client's, and another one."""
    folder = tmp_path_factory.mktemp("keys")
    for name in ("client", "other"):
        generate_key(folder / f"{name}.pem", None)
    return load_private_key(folder / "client.pem", None), load_private_key(folder / "other.pem", None)


def statement(
    key: PrivateKey | None = None, subject: Digest = ORDER, kind: str = COMPARISON.predicate, **changes: Any
) -> dict[str, Any]:
    """A statement whose fields somebody chose himself; a field that is ``left out`` is left out."""
    predicate = {
        "order": ORDER.hex, "script": SCRIPT.hex, "arguments": ["--lr", "0.1"], "files": {"a.csv": HEX},
        "torch": "2.11.0", "compared": [[1, 400]], "steps": 5000, "result": "agrees",
    }  # fmt: skip
    if key is not None:
        predicate |= {"signed_at": "2026-01-01T00:00:00Z", "public_key": key.public.pem}
    kept = {name: value for name, value in (predicate | changes).items() if value != "left out"}
    subjects = [
        {"name": name, "digest": {"sha256": each.hex}} for name, each in (("order", subject), ("script", SCRIPT))
    ]
    return make_statement(subjects, kind, kept)


def test_what_was_written_is_read(tmp_path: Path, keys: tuple[PrivateKey, PrivateKey]) -> None:
    order = tmp_path / "job.cfoil"
    path = write_comparison(order, MADE)
    assert path == tmp_path / "job.comparison.json"
    assert comparison_beside(order, ORDER, 5000) == FoundComparison(path.name, MADE)
    with pytest.raises(TargetExistsError):
        write_comparison(order, MADE)
    when = datetime(2026, 1, 31, 12, tzinfo=UTC)
    write_comparison(order, MADE, keys[0], force=True, when=when)
    signed = FoundComparison(path.name, MADE, "", keys[0].public.key_id, "2026-01-31T12:00:00Z")
    assert comparison_beside(order, ORDER, 5000) == signed
    assert comparison_beside(tmp_path / "other.cfoil", ORDER, 5000) is None


def test_an_unsigned_one_is_an_envelope_without_signatures_and_without_a_time(tmp_path: Path) -> None:
    first = write_comparison(tmp_path / "a.cfoil", MADE).read_bytes()
    assert write_comparison(tmp_path / "b.cfoil", MADE).read_bytes() == first
    envelope = json.loads(first)
    assert (envelope["payloadType"], envelope["signatures"]) == ("application/vnd.in-toto+json", [])
    said = json.loads(base64.b64decode(envelope["payload"]))
    assert said["predicateType"] == "urn:counterfoil:comparison:v1"
    assert said["predicate"].keys() == {
        "order", "script", "arguments", "files", "torch", "compared", "steps", "result"
    }  # fmt: skip
    assert said["predicate"]["compared"] == [[1, 400], [512, 512]]


def test_the_process_that_holds_the_key_signs_an_order_and_then_its_comparison(tmp_path: Path) -> None:
    generate_key(tmp_path / "client.pem", None)
    with start_signer(tmp_path / "client.pem", "order", Passphrase.none()) as signer:
        sign_said(SignedOrder(ORDER), signer)
        with pytest.raises(SignatureError, match="another order"):
            write_comparison(tmp_path / "other.cfoil", replace(MADE, order=OTHER), signer)
        write_comparison(tmp_path / "job.cfoil", MADE, signer)
        key_id = signer.public.key_id
    found = comparison_beside(tmp_path / "job.cfoil", ORDER, 5000)
    assert found is not None
    assert (found.said, found.key_id) == (MADE, key_id)
    assert not comparison_path(tmp_path / "other.cfoil").exists()


def test_where_it_lies() -> None:
    assert comparison_path("/a/job.v2.cfoil") == Path("/a/job.v2.comparison.json")
    assert comparison_path("/a/job") == Path("/a/job.comparison.json")


def test_ranges_have_one_form() -> None:
    assert ranges_of([512, 3, 1, 2, 2]) == ((1, 3), (512, 512))
    assert ranges_of([]) == ()
    assert ranges_of(range(1, 401)) == ((1, 400),)


BAD: dict[str, Any] = {
    "order": [HEX.upper(), HEX[:-1], 7, None, "left out"],
    "script": ["", "x" * 64, "left out"],
    "arguments": ["--lr", [1], [None], ["x" * 20_001], ["x"] * 10_001, "left out"],
    "files": [[], {"": HEX}, {"/etc/passwd": HEX}, {"x" * 4097: HEX}, {"a": "b"}, {"a": None}, "left out"],
    "torch": ["x" * 201, 2, None, "left out"],
    "compared": [
        [],
        [[1]],
        [[1, 2, 3]],
        [1, 2],
        [[2, 1]],
        [[0, 4]],
        [[1, 5001]],
        [[True, 2]],
        [[1, "2"]],
        [[1, 4], [5, 9]],
        [[1, 4], [4, 9]],
        [[6, 9], [1, 4]],
        [[1, 4], [1, 4]],
        {"1": 4},
        None,
        "left out",
    ],
    "steps": [0, -1, 10_000_001, 399, True, "5000", "left out"],
    "result": ["differs", "Agrees", "", True, "left out"],
    "more": ["x"],
    "signed_at": ["2026-01-01T00:00:00Z"],
    "public_key": ["-----BEGIN PUBLIC KEY-----"],
}


@pytest.mark.parametrize("signed", [False, True], ids=["unsigned", "signed"])
@pytest.mark.parametrize(("name", "value"), [(name, value) for name, values in BAD.items() for value in values])
def test_what_is_not_of_its_form_is_refused(
    name: str, value: Any, signed: bool, keys: tuple[PrivateKey, PrivateKey]
) -> None:
    if signed and name == "signed_at":
        value = "today"
    key = keys[0] if signed else None
    wrap: Callable[[dict[str, Any]], bytes] = wrap_statement if key is None else lambda made: sign_statement(made, key)
    assert open_said(Comparison, wrap(statement(key))).compared == ((1, 400),), "the control"
    with pytest.raises(SignatureError):
        open_said(Comparison, wrap(statement(key, **{name: value})))


def test_what_nobody_may_write_is_not_written(tmp_path: Path) -> None:
    for bad in (
        replace(MADE, compared=()),
        replace(MADE, compared=((1, 5001),)),
        replace(MADE, files={"/abs": SCRIPT}),
        replace(MADE, steps=0),
    ):
        with pytest.raises(SignatureError):
            write_comparison(tmp_path / "job.cfoil", bad)
    assert list(tmp_path.iterdir()) == []


def test_what_is_about_something_else_is_refused(keys: tuple[PrivateKey, PrivateKey]) -> None:
    key = keys[0]
    for bad in (
        wrap_statement(statement(subject=OTHER)),
        wrap_statement(statement(kind=kinds.ORDER.predicate)),
        sign_statement(statement(key, subject=OTHER), key),
        sign_statement(statement(key, kind=kinds.ORDER.predicate), key),
        sign_said(SignedOrder(ORDER), key),
        b"junk", b"{}", b"[]", b"", b" " * (COMPARISON.most + 1),
    ):  # fmt: skip
        with pytest.raises(SignatureError):
            open_said(Comparison, bad)


def test_a_signature_is_of_the_key_that_is_named_and_of_these_bytes(keys: tuple[PrivateKey, PrivateKey]) -> None:
    key, other = keys
    envelope = json.loads(sign_statement(statement(key), key))
    assert open_said(Comparison, canonical.encode(envelope)).key_id == key.public.key_id, "the control"
    for bad in (
        canonical.encode(envelope | {"signatures": []}),  # it still names the key
        canonical.encode(envelope | {"signatures": envelope["signatures"] * 2}),
        canonical.encode(envelope | {"payload": json.loads(wrap_statement(statement(key, steps=400)))["payload"]}),
        canonical.encode(envelope | {"payload": json.loads(wrap_statement(statement()))["payload"]}),  # names none
        canonical.encode(envelope | {"payloadType": "application/json"}),
        canonical.encode(json.loads(wrap_statement(statement())) | {"payloadType": "application/json"}),
        sign_statement(statement(key), other),
    ):
        with pytest.raises(SignatureError):
            open_said(Comparison, bad)


@pytest.mark.skipif(shutil.which("openssl") is None, reason="openssl is not installed")
def test_the_documented_openssl_lines_check_it(tmp_path: Path, keys: tuple[PrivateKey, PrivateKey]) -> None:
    section = PAGE.read_text("utf-8").split("\n## Check it without Counterfoil\n")[1]
    (block,) = re.findall(r"^```sh\n(.*?)^```", section, re.MULTILINE | re.DOTALL)

    def check() -> subprocess.CompletedProcess[str]:
        return subprocess.run(["sh", "-ec", block], cwd=tmp_path, capture_output=True, text=True, check=False)

    (tmp_path / "client.pub.pem").write_text(keys[0].public.pem)
    write_comparison(tmp_path / "job.cfoil", MADE, keys[0])
    done = check()
    assert done.returncode == 0, done.stderr
    assert "Signature Verified Successfully" in done.stdout
    for other in (keys[1], None):  # the control
        write_comparison(tmp_path / "job.cfoil", MADE, other, force=True)
        assert check().returncode != 0


def test_what_cannot_be_used_says_why(tmp_path: Path) -> None:
    order = tmp_path / "job.cfoil"
    path = write_comparison(order, MADE)
    found = comparison_beside(order, OTHER, 5000)
    assert found is not None
    assert found.said is None
    assert "another order" in found.problem
    found = comparison_beside(order, ORDER, 400)
    assert found is not None
    assert found.said is None
    assert "5,000 steps, and the order has 400" in found.problem
    path.unlink()
    path.symlink_to("nowhere")
    found = comparison_beside(order, ORDER, 5000)
    assert found is not None
    assert found.said is None
    assert "no file" in found.problem
    path.unlink()
    path.mkdir()
    found = comparison_beside(order, ORDER, 5000)
    assert found is not None
    assert found.said is None
    assert "is a folder" in found.problem


def by(key_id: str) -> FoundComparison:
    return FoundComparison("job.comparison.json", MADE, "", key_id, "2026-01-01T00:00:00Z" if key_id else "")


def test_who_says_it() -> None:
    known = {"orderer": "o", "client": "c", "trainer": "t", "auditors": ("a", "b")}
    found = {key: standing_of(by(key), **known) for key in ("", "o", "c", "t", "a", "b", "x")}  # type: ignore[arg-type]
    assert found == {
        "": Standing.WORD, "o": Standing.ORDERER, "c": Standing.CLIENT, "t": Standing.TRAINER, "a": Standing.AUDITOR,
        "b": Standing.AUDITOR, "x": Standing.OTHER,
    }  # fmt: skip
    assert [each for each in Standing if each.counts] == [Standing.CLIENT, Standing.ORDERER, Standing.AUDITOR]
    for key in "coab":
        assert standing_of(by(key), revoked=True, **known) is Standing.REVOKED  # type: ignore[arg-type]
    assert standing_of(by(""), orderer="") is Standing.WORD
    assert standing_of(by("x"), orderer="") is Standing.OTHER


def test_a_trainer_never_counts_whoever_else_it_is() -> None:
    for others in ({"orderer": "t"}, {"orderer": "o", "client": "t"}, {"orderer": "o", "auditors": ("t",)}):
        standing = standing_of(by("t"), trainer="t", **others)  # type: ignore[arg-type]
        assert standing is Standing.TRAINER
        assert not standing.counts
    line = comparison_line(by("t"), Standing.TRAINER, FROM_SCRIPT)
    assert line is not None
    assert line.less
    assert "400" not in line.said


def test_the_steps_in_words() -> None:
    assert compared_in(((1, 5000),), 5000) == "Compared with the script in all 5,000 steps"
    assert compared_in(((1, 400),), 5000) == "Compared with the script in steps 1 to 400 of 5,000"
    assert compared_in(((7, 7),), 5000) == "Compared with the script in step 7 of 5,000"
    assert compared_in(((1, 1),), 1) == "Compared with the script in its only step"
    assert compared_in(MADE.compared, 5000) == "Compared with the script in steps 1 to 400 and 512 of 5,000"
    many = ((1, 400), (500, 500), (600, 600), (700, 700), (4000, 4999))
    assert compared_in(many, 5000) == "Compared with the script in 1,403 of 5,000 steps, first in 1 to 400"


def test_the_line() -> None:
    word = comparison_line(by(""), Standing.WORD, FROM_SCRIPT)
    assert word is not None
    assert word.said.endswith("1 to 400 and 512 of 5,000 (the file's word: nobody has signed it).")
    assert word.less
    whole = FoundComparison("job.comparison.json", replace(MADE, compared=((1, 5000),)), "", "c", "")
    line = comparison_line(whole, Standing.CLIENT, FROM_CODE)
    assert line is not None
    assert line.said == "Compared with the script in all 5,000 steps (signed by the client)."
    assert not line.less
    broken = comparison_line(FoundComparison("x.json", None, "It is junk."), Standing.WORD, "digits-cnn")
    assert broken is not None
    assert broken.less
    assert "x.json cannot be used. It is junk." in broken.said


def test_what_is_said_without_one_hangs_on_where_the_order_came_from() -> None:
    script, code = comparison_line(None, None, FROM_SCRIPT), comparison_line(None, None, FROM_CODE)
    assert script is not None
    assert (script.said, script.less) == ("Not compared with the script.", True)
    assert code is not None
    assert not code.less
    assert comparison_line(None, None, "digits-cnn") is None


def test_the_recipes_are_those_that_orders_name() -> None:
    from counterfoil.training import custom
    from counterfoil.training.following import draft

    assert (draft.RECIPE, custom.RECIPE) == (FROM_SCRIPT, FROM_CODE)
