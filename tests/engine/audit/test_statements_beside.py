"""What was said of a verdict afterwards is found in its folder, and nothing else is."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from counterfoil.signing.kinds import Reply, Withdrawal
from counterfoil.trust import afterwards as module
from counterfoil.trust.afterwards import statements_beside
from counterfoil_core.base.digest import Digest
from counterfoil_core.signing.keys import SigningKey
from counterfoil_core.signing.kinds import WITHDRAWAL
from counterfoil_core.signing.statements import sign_said

VERDICT, OTHER = Digest.of(b"verdict"), Digest.of(b"another")


@pytest.fixture
def verdict(tmp_path: Path) -> Path:
    (tmp_path / "v.json").write_text("{}")
    return tmp_path / "v.json"


def test_only_statements_about_this_verdict_are_found(verdict: Path, trainer_key: SigningKey) -> None:
    folder = verdict.parent
    ours = {
        "back.json": sign_said(Withdrawal(VERDICT, "why", None), trainer_key),
        "Reply.JSON": sign_said(Reply(VERDICT, "no"), trainer_key),
    }
    for name, content in ours.items():
        (folder / name).write_bytes(content)
    (folder / "other.json").write_bytes(sign_said(Reply(OTHER, "no"), trainer_key))
    (folder / "notes.json").write_text(f'{{"verdict": "{VERDICT.hex}"}}')
    (folder / "large.json").write_bytes(ours["back.json"].ljust(WITHDRAWAL.most + 1))
    (folder / "folder.json").mkdir()
    os.mkfifo(folder / "pipe.json")
    found, unread = statements_beside(verdict, VERDICT)
    assert dict(found) == ours
    assert unread == ()


def test_what_was_not_looked_at_is_said(
    verdict: Path, trainer_key: SigningKey, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "MAX_BESIDE", 2)
    for number in range(3):
        (verdict.parent / f"{number}.json").write_bytes(sign_said(Reply(VERDICT, str(number)), trainer_key))
    found, unread = statements_beside(verdict, VERDICT)
    assert [name for name, _ in found] == ["0.json", "1.json"]
    assert unread == (
        "The folder of the verdict holds 3 such files; only the first 2 were looked at for statements about it.",
    )
    found, unread = statements_beside(verdict.parent / "gone" / "v.json", VERDICT)
    assert found == []
    assert "cannot be searched" in unread[0]
