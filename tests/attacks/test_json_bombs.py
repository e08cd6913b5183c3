"""Records of brackets, quotes and space are measured before they are parsed: a value takes much more than its text."""

from __future__ import annotations

import json
import re
import tempfile
import tracemalloc
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import counterfoil
import counterfoil_app
import counterfoil_core
from counterfoil.audit.outside import read_beacon
from counterfoil.training.huggingface import folder
from counterfoil_core.base import canonical
from counterfoil_core.base.digest import Digest
from counterfoil_core.base.errors import CounterfoilError, SignatureError
from counterfoil_core.parties.treeheads import read_tree_heads
from counterfoil_core.signing.claims import TreeHead
from counterfoil_core.signing.envelope import claimed_key_ids
from counterfoil_core.signing.statements import sign_said
from counterfoil_core.values.outcome import Outcome
from support.bundles import test_key as trainer_key
from support.hostile_programs import order_of
from support.measured import Measured, command

MIB = 2**20
BOMBS: dict[str, Callable[[], bytes]] = {
    "brackets": lambda: b"[" + b"[]," * (32 * MIB // 3) + b"[]]",
    "newlines": lambda: b"\n" * (64 * MIB),
    "fewer newlines": lambda: b"\n" * (31 * MIB),
    "spaces in a record": lambda: b'{"a":' + b" " * (31 * MIB) + b"1}",
    "texts": lambda: b"[" + b'"",' * (32 * MIB // 3) + b'""]',
    "one text": lambda: b'"' + b"a" * (31 * MIB) + b'"',
    "a text without an end": lambda: b'"\\' * (16 * MIB),
    "nested": lambda: b"[" * (32 * MIB),
    "characters of four bytes": lambda: '["\U0001f600'.encode() + b"a" * (7 * MIB) + b'"]',
    "numbers": lambda: b"[" + b"1," * (16 * MIB) + b"1]",
    # A character of which a byte is that of a quote: whoever measures bytes takes what follows for text.
    "UTF-16": lambda: ('["\u2200"' + ",[]" * (5 * MIB) + ',"\u2200"]').encode("utf-16-le"),
    "UTF-32": lambda: ('["\u2200"' + ",[]" * (5 * MIB // 2) + ',"\u2200"]').encode("utf-32-be"),
}


OWN = {
    "base/canonical.py": 1,
    "training/previews.py": 1,  # a line of a piece that was measured before
    "training/huggingface/records.py": 1,  # lines of the client's own text, decoded before
    "model/case_file.py": 1,  # kept by this user
    "verdict/report_document.py": 3,  # made by this window
    "verdict/signing_dialog.py": 1,
}


def _folder_config(data: bytes) -> None:
    with tempfile.TemporaryDirectory() as name:
        path = Path(name, "config.json")
        path.write_bytes(data)
        folder._json(path)


def _beacon(data: bytes) -> None:
    with tempfile.TemporaryDirectory() as name:
        path = Path(name, "round.json")
        path.write_bytes(data)
        read_beacon(path)


@pytest.fixture(scope="module")
def control(tmp_path_factory: pytest.TempPathFactory) -> Measured:
    """What the same command takes for a program that is none, but small."""
    return command("inspect", str(order_of(b"{}", tmp_path_factory.mktemp("control") / "control.cfoil")))


@pytest.mark.sampled(4)
@pytest.mark.parametrize("name", BOMBS)
def test_a_program_of_it_is_refused_in_little_time_and_memory(name: str, tmp_path: Path, control: Measured) -> None:
    done = command("inspect", str(order_of(BOMBS[name](), tmp_path / "bomb.cfoil")))
    assert (done.code, control.code) == (Outcome.REFUSED.exit_code,) * 2, done.said
    assert "The program " in done.said
    assert done.memory < control.memory + 320
    assert done.seconds < control.seconds + 5


@pytest.mark.parametrize("name", BOMBS)
def test_an_envelope_of_it_is_refused(name: str) -> None:
    with pytest.raises(SignatureError):
        claimed_key_ids(BOMBS[name]())


@pytest.mark.parametrize(
    "encoding", ["utf-16", "utf-16-le", "utf-16-be", "utf-32", "utf-32-le", "utf-32-be", "utf-8-sig"]
)
@pytest.mark.parametrize("read", [canonical.parse, canonical.decode, _folder_config, _beacon])
def test_json_is_utf8_without_a_mark(encoding: str, read: Callable[[bytes], Any]) -> None:
    """RFC 8259, section 8.1; what follows is a control."""
    text = '{"round":1,"signature":"' + "ab" * 48 + '"}'
    read(text.encode())
    with pytest.raises(CounterfoilError):
        read(text.encode(encoding))


def test_nobody_else_parses_the_json_of_strangers() -> None:
    found = {}
    for package in (counterfoil, counterfoil_core, counterfoil_app):
        root = Path(package.__file__ or "").parent
        for path in root.rglob("*.py"):
            count = len(re.findall(r"\bjson\.loads?\(", path.read_text(encoding="utf-8")))
            if count and "benchmark" not in path.parts:
                found[str(path.relative_to(root))] = count
    assert found == OWN


def test_an_envelope_may_have_space_and_no_key_twice() -> None:
    good = {"payload": "", "payloadType": "text", "signatures": [{"keyid": "ab", "sig": ""}]}
    assert claimed_key_ids(json.dumps(good, indent=4).encode()) == ("ab",)
    with pytest.raises(canonical.CanonicalError, match="same key twice"):
        canonical.parse(b'{"payload":"", "payload":""}')
    with pytest.raises(SignatureError):
        claimed_key_ids(b'{"payload":"","payload":"","payloadType":"","signatures":[]}')


def test_the_largest_records_that_are_read() -> None:
    assert canonical.decode(b"[" + b"1," * 999 + b"1]", max_values=1000) == [1] * 1000
    with pytest.raises(canonical.CanonicalError, match="more than 999 values"):
        canonical.decode(b"[" + b"1," * 999 + b"1]", max_values=999)
    deep = b"[" * canonical.MAX_DEPTH + b"]" * canonical.MAX_DEPTH
    assert canonical.encode(canonical.decode(deep)) == deep
    with pytest.raises(canonical.CanonicalError, match="levels deep"):
        canonical.decode(b"[" + deep + b"]")
    assert canonical.decode(b'"[[,,::{{ \\" "') == '[[,,::{{ " '


def test_a_file_of_tree_heads_with_millions_of_empty_lines(tmp_path: Path) -> None:
    key = trainer_key(tmp_path)
    head = TreeHead(Digest.of(b"order"), 2, Digest.of(b"root"), signed_at="2026-01-01T00:00:00Z")
    path = tmp_path / "heads.jsonl"
    path.write_bytes(sign_said(head, key) + b"\n")
    assert [each.root for each in read_tree_heads(path, key.public)] == [head.root]
    path.write_bytes(sign_said(head, key) + b"\n" * (60 * MIB))
    tracemalloc.start()
    with pytest.raises(SignatureError, match="Line 2"):
        read_tree_heads(path, key.public)
    _, most = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert most < 200 * MIB
