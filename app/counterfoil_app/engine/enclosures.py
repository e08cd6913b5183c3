"""What the process in the box may read for a call of the window, which names every file itself."""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import Any

from counterfoil.audit.boxed.files import paths_in
from counterfoil.signing.comparedsteps import comparison_path
from counterfoil.talk.port import Enclosure
from counterfoil_app.engine.port import Traits

STATEMENTS = ".json"
"""How the names of statements end that lie beside a verdict."""


def enclosure_of(traits: Traits, arguments: Mapping[str, Any], why_open: str) -> Enclosure:
    """Return the box that a call needs, without its folder.

    Args:
        traits: What is known of the question.
        arguments: Its arguments, by the names of its parameters.
        why_open: Why a process that computes for it is to have no box; empty where it has one.
    """
    if traits.own:  # which are told apart by nothing
        return Enclosure(open=why_open)
    read = [each for name, each in arguments.items() if name != traits.writes]
    made = [getattr(each, traits.later) for each in read] if traits.later else []
    named = [path for each in read for path in paths_in(each) if path not in made]
    reads = [os.path.abspath(path) for path in named]
    lists: list[str] = []
    if traits.statements:
        for verdict in (path for path in named if path.name.lower().endswith(STATEMENTS)):
            folder = os.path.abspath(verdict.parent)
            lists.append(folder)
            reads += [os.path.join(folder, name) for name in _statements(folder)]
    if traits.comparison:
        beside = (str(comparison_path(path)) for path in reads)
        reads += [path for path in beside if os.path.lexists(path)]
    return Enclosure(tuple(sorted(set(reads))), tuple(sorted(set(lists))), open=why_open)


def _statements(folder: str) -> list[str]:
    try:
        return sorted(name for name in os.listdir(folder) if name.lower().endswith(STATEMENTS))
    except OSError:  # whoever looks for them says so
        return []
