"""Public training scripts become what the kept results say; their sources are fetched by whoever runs this."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from tests.scripts.campaign import BrokenError, MissingError, tried
from tests.scripts.entries.table import SCRIPTS
from tests.scripts.entry import Script
from tests.scripts.results import results, row_of

pytestmark = pytest.mark.slow

SOURCES = os.environ.get("COUNTERFOIL_SCRIPTS")


@pytest.mark.skipif(SOURCES is None, reason="COUNTERFOIL_SCRIPTS does not name the folder of the fetched sources")
@pytest.mark.parametrize("script", SCRIPTS, ids=[script.name for script in SCRIPTS])
def test_becomes_what_the_results_say(script: Script, tmp_path: Path) -> None:
    assert SOURCES is not None
    known = results().get(script.name)
    if known is None:
        pytest.skip("was not tried yet")
    try:
        found = row_of(tried(script, Path(SOURCES), tmp_path))
    except (BrokenError, MissingError) as error:
        pytest.skip(str(error)[-200:])
    for name in ("changed", "verdicts"):
        assert found[name] == known[name], found["sentences"]
