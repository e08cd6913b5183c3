from __future__ import annotations

import pytest

from counterfoil.remote import files
from counterfoil.remote.transfer import Patience


@pytest.fixture(autouse=True)
def little_patience(monkeypatch: pytest.MonkeyPatch) -> Patience:
    """A server of this machine that says nothing for so long will say nothing."""
    patience = Patience(silence=0.4, tries=2, pause=0.01, grace=2.0)
    monkeypatch.setattr(files, "PATIENCE", patience)
    return patience
