"""Thousands of groups within each other: walking them by recursion or by name takes minutes."""

from __future__ import annotations

from pathlib import Path

import pytest

from support.hostile import hostile_bundle, refuse


@pytest.mark.parametrize("depth", [7, 3000])
def test_deep_nesting_is_refused(tmp_path: Path, depth: int) -> None:
    with hostile_bundle(tmp_path) as (path, file):
        group = file["order/initial"]
        for _ in range(depth):
            group = group.create_group("g")
    refuse(path, "nested more than 8 deep")
