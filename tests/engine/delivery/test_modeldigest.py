"""The digest of a model's folder: of its files alone, and of no more of them than are looked at."""

from __future__ import annotations

from pathlib import Path

import pytest

from counterfoil.base.joberrors import WeightsError
from counterfoil.delivery import modelinbox


def test_no_more_files_than_are_looked_at(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(modelinbox, "MAX_FILES", 3)
    (tmp_path / "below").mkdir()
    for name in ("a", "b", "below/c"):
        (tmp_path / name).write_bytes(b"x")
    assert list(modelinbox.model_digest(tmp_path))
    (tmp_path / "below" / "d").write_bytes(b"x")
    with pytest.raises(WeightsError, match="more than 3 files"):
        list(modelinbox.model_digest(tmp_path))


def test_a_link_is_refused(tmp_path: Path) -> None:
    (tmp_path / "a").write_bytes(b"x")
    (tmp_path / "b").symlink_to(tmp_path / "a")
    with pytest.raises(WeightsError, match="neither a file nor a folder"):
        list(modelinbox.model_digest(tmp_path))
