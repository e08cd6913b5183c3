"""Tests of boxes import ``closed``: elsewhere the tests' own setting leaves boxes open; and the box of a question."""

from __future__ import annotations

import os
from collections.abc import Iterator

import pytest

from counterfoil.sandbox.box import SWITCH
from counterfoil.talk.port import Enclosure
from counterfoil_app.engine import enclosures
from counterfoil_app.engine.broker import name_arguments
from counterfoil_app.engine.port import TRAITS


@pytest.fixture(scope="module", autouse=True)
def closed() -> Iterator[None]:
    """Let processes close their boxes."""
    with pytest.MonkeyPatch.context() as patch:
        patch.delenv(SWITCH)
        assert SWITCH not in os.environ
        yield


def enclosure_of(name: str, arguments: tuple[object, ...], why_open: str) -> Enclosure:
    return enclosures.enclosure_of(TRAITS[name], name_arguments(name, arguments), why_open)
