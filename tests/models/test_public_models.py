"""Public architectures on their libraries' defaults: ordered, recorded and audited, or refused as the table says.

The libraries are those of the extra ``models``; what is not installed is skipped.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from support.public_models.entry import KINDS, Entry
from support.public_models.table import ENTRIES
from support.public_models.trying import tried

pytestmark = pytest.mark.slow


@pytest.mark.parametrize("profile", KINDS)
@pytest.mark.parametrize("entry", ENTRIES, ids=[entry.name for entry in ENTRIES])
def test_becomes_what_the_table_says(entry: Entry, profile: str, tmp_path: Path) -> None:
    pytest.importorskip(entry.library)
    found = tried(entry, profile, tmp_path)
    sentence = entry.refused.get(profile)
    if sentence is None:
        assert found == "VERIFIED"
    else:
        assert sentence in found
