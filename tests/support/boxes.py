"""Tests of boxes import ``closed``: elsewhere the tests' own setting leaves boxes open."""

from __future__ import annotations

import os
from collections.abc import Iterator

import pytest

from counterfoil.sandbox.box import SWITCH


@pytest.fixture(scope="module", autouse=True)
def closed() -> Iterator[None]:
    """Let processes close their boxes."""
    with pytest.MonkeyPatch.context() as patch:
        patch.delenv(SWITCH)
        assert SWITCH not in os.environ
        yield
